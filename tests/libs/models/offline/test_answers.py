"""The answer says what the steps showed, with their numbers, in the language of the request."""

from __future__ import annotations

from typing import Any

import pytest

from libs.events.committee import Task
from libs.events.values import Observation, StepState
from libs.models.offline import OfflineModel

SCANNED = {"groups": [{"id": "g1"}, {"id": "g2"}], "files": 3, "bytes": 12_000_000}
REMOVED = {"deleted": ["a", "b", "c"], "files": 3, "bytes": 12_000_000}
SORTED = {"moved": [], "files": 44, "folders": ["Images", "Documents", "Audio", "Code"]}
REPORTED = {
    "files": 1044,
    "directories": 4,
    "bytes": 1_260_000_000,
    "by_category": {"Images": {"files": 1000, "bytes": 1}, "Audio": {"files": 44, "bytes": 2}},
    "largest": [{"path": "Images/a.png", "size": 999_949}],
    "duplicates": {"groups": 0, "files": 0, "bytes": 0},
}


def saw(tool: str, data: Any = None, state: StepState = StepState.SUCCEEDED, **more: Any) -> Observation:
    return Observation(ordinal=1, tool=tool, description=f"Did {tool}.", state=state, data=data, **more)


async def told(model: OfflineModel, text: str, *seen: Observation) -> str:
    return "".join([said.text async for said in model.answer(Task(text=text, intent="", observations=seen))])


@pytest.mark.requirement("S4-48")
async def test_the_worked_example_is_told_with_its_numbers(model: OfflineModel) -> None:
    seen = [
        saw("remove-duplicates.scan", SCANNED),
        saw("remove-duplicates.remove", REMOVED),
        saw("manage-files.list", {"nodes": ["x"], "count": 1}),
        saw("organize-by-type.sort", SORTED),
    ]
    answer = await told(model, "clean up: remove duplicates and sort by type", *seen)
    assert answer == "Removed 3 duplicate files (saved 12 MB). Organized 44 files into 4 subfolders."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Lösche die Duplikate", "3 doppelte Dateien entfernt (12 MB gespart)."),
        ("Borra los duplicados", "Eliminé 3 archivos duplicados (12 MB ahorrados)."),
    ],
)
async def test_the_answer_speaks_the_language_of_the_request(model: OfflineModel, text: str, answer: str) -> None:
    assert await told(model, text, saw("remove-duplicates.remove", REMOVED)) == answer


async def test_a_report_counts_by_kind_and_names_the_largest(model: OfflineModel) -> None:
    answer = await told(model, "what is here?", saw("analyze-directory.report", REPORTED))
    assert answer == (
        "There are 1,044 files in 4 folders (1.3 GB). By kind: 1,000 Images, 44 Audio. Largest: Images/a.png (1 MB)."
    )
    german = await told(model, "Was liegt hier?", saw("analyze-directory.report", REPORTED))
    assert german.startswith("Es sind 1.044 Dateien in 4 Ordner")


async def test_one_is_told_as_one(model: OfflineModel) -> None:
    answer = await told(model, "remove duplicates", saw("remove-duplicates.remove", {"files": 1, "bytes": 1}))
    assert answer == "Removed 1 duplicate file (saved 1 bytes)."


async def test_no_duplicates_is_an_answer(model: OfflineModel) -> None:
    assert (
        await told(model, "any duplicates?", saw("remove-duplicates.scan", {"groups": [], "files": 0}))
        == "There are no duplicates."
    )


async def test_a_search_shows_where_and_warns_of_what_the_index_missed(model: OfflineModel) -> None:
    data = {"matches": [{"path": "a.txt", "score": 0.9, "excerpt": "the tax return"}], "stale": 2}
    answer = await told(model, "find tax", saw("search-files.search", data))
    assert answer.splitlines() == [
        "Found in 1 file:",
        "- a.txt: the tax return",
        "2 files changed since they were indexed, so this may be incomplete.",
    ]


@pytest.mark.requirement("S4-36")
@pytest.mark.parametrize("state", [StepState.DENIED, StepState.FAILED, StepState.SKIPPED, StepState.UNKNOWN])
async def test_what_was_not_done_is_said(model: OfflineModel, state: StepState) -> None:
    seen = [saw("remove-duplicates.scan", SCANNED), saw("remove-duplicates.remove", None, state, error="no")]
    answer = await told(model, "remove duplicates", *seen)
    assert "2 groups" in answer
    assert answer.endswith("Not done: Did remove-duplicates.remove (no).")


async def test_an_unknown_tool_is_told_by_its_own_summary(model: OfflineModel) -> None:
    assert (
        await told(model, "transcode it", saw("video.transcode", {"x": 1}, summary="Transcoded 2 clips."))
        == "Transcoded 2 clips."
    )


async def test_long_lists_are_cut_and_counted(model: OfflineModel) -> None:
    nodes = [f"f{n}" for n in range(12)]
    answer = await told(model, "list the files", saw("manage-files.list", {"nodes": nodes, "count": 12}))
    assert answer.startswith("12 items: f0, f1")
    assert answer.endswith("f9, and 2 more.")


async def test_after_its_steps_have_ended_the_planner_answers_instead_of_planning_again(model: OfflineModel) -> None:
    outcome = await model.plan(
        Task(text="remove duplicates", intent="", observations=(saw("remove-duplicates.remove", REMOVED),)), ()
    )
    assert getattr(outcome, "text", None) == "Removed 3 duplicate files (saved 12 MB)."
