"""The answer says what the steps returned, with their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from libs.events.committee import Exchange, Task
from libs.events.values import Observation, StepState
from libs.models.offline import OfflineModel

SCANNED = {"groups": [{"paths": ["a.txt", "b.txt"]}, {"paths": ["c.jpg", "d 1.jpg"]}], "files": 3, "bytes": 12_000_000}
REMOVED = {"deleted": ["a", "b", "c"], "files": 3, "bytes": 12_000_000, "kept_days": 30.0}
SORTED = {"moved": [], "files": 44, "folders": ["Images", "Documents", "Audio", "Code"]}
BELOW = {"count": 9, "folders": ["Docs", "My Trips"]}
KEPT = " 12 MB kept in history, freed in 30 days or by `suma purge`."
REFUSED = "Nothing was changed: the changes were not approved."


def saw(tool: str, data: Any = None, state: StepState = StepState.SUCCEEDED, **more: Any) -> Observation:
    return Observation(ordinal=1, tool=tool, description=f"Did {tool}.", state=state, data=data, **more)


async def told(model: OfflineModel, *seen: Observation) -> str:
    return "".join([said.text async for said in model.answer(Task(text="do it", intent="", observations=seen))])


@pytest.mark.requirement("S4-48")
async def test_the_worked_example_has_its_numbers(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["x"], "count": 1})
    removed = saw("remove-duplicates.remove", REMOVED)
    seen = [saw("remove-duplicates.scan", SCANNED), removed, listed, saw("organize-by-type.sort", SORTED)]
    assert await told(model, *seen) == f"Removed 3 duplicate files. Organized 44 files into 4 subfolders.{KEPT}"


REPORT = {
    "files": 1044,
    "directories": 4,
    "bytes": 1_260_000_000,
    "by_category": {"Images": {"files": 1000, "bytes": 1_259_998_000}, "Audio": {"files": 44, "bytes": 2000}},
    "largest": [{"path": "Images/a.png", "size": 999_949}],
    "duplicates": {"groups": 1, "files": 2, "bytes": 9},
}
COPIED = {"copied": [{"from": "a", "to": "Box/a"}, {"from": "c", "to": "Box/c (2)"}], "files": 2, "bytes": 2000}
BESIDE = {"copied": [{"from": "a.txt", "to": "a (2).txt"}], "files": 0, "folders": 1, "bytes": 12}
RENAMED = {"renamed": [{"from": "d/a.txt", "to": "d/b.txt"}, {"from": "c", "to": "e"}], "files": 2}
PACKED = {"archive": "a.zip", "files": 2, "bytes": 2000, "packed_bytes": 900, "deleted": []}
TABLE = {"format": "CSV", "unit": "row", "fields": ["id", "name"], "rows": 1, "text": "id,name\n1,Ana"}
SCAN = {"format": "PDF", "unit": "page", "fields": [], "rows": 2, "text": "", "complete": False}
PHOTO = {"path": "a.jpg", "kind": "JPEG image", "looks_like": "PNG image", "agrees": False, "size": 1200}
GIST = {"summaries": [{"path": "a.txt", "sentences": ["It rains.", "We stay."], "words": 12}], "without_text": ["b"]}
MATCHES = {
    "matches": [{"path": "a.txt", "excerpt": "the tax\nreturn"}],
    "missing": ["vat"],
    "stale": 2,
    "unread": {"count": 9, "why": {"damaged": 9}},
    "elsewhere": {"count": 7, "paths": ["b.txt"]},
}
COUNTS = [{"path": "a.csv", "rows": 2, "unit": "row"}, {"path": "b.csv", "rows": 3, "unit": "row", "complete": False}]


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("tool", "data", "answer"),
    [
        ("remove-duplicates.scan", {"groups": [], "files": 0, "bytes": 0}, "There are no duplicates."),
        (
            "remove-duplicates.scan",
            SCANNED,
            "Found 2 groups of identical files: 3 can be removed (12 MB).\n- a.txt, b.txt\n- c.jpg, “d 1.jpg”",
        ),
        ("organize-by-type.sort", {"moved": [], "files": 0, "folders": []}, "No files needed sorting."),
        (
            "analyze-directory.report",
            REPORT,
            "1,044 files in 4 folders (1.3 GB). By kind: Images 1,000 (1.3 GB), Audio 44 (2 kB)."
            " Largest: Images/a.png (1 MB). Duplicates: 2 files (9 bytes).",
        ),
        ("manage-files.get_metadata", {"files": 1, "directories": 0, "bytes": 3}, "1 file (3 bytes)."),
        (
            "manage-files.list",
            {"nodes": ["a", "b c", "d"], "count": 3, "folders": 1},
            "2 files and 1 folder: a, “b c”, d.",
        ),
        ("search-files.find", {"nodes": ["a"], "count": 1, "sizes": [2500]}, "1 file: a (2.5 kB)."),
        ("manage-files.delete", {"deleted": [], "files": 0, "bytes": 0}, "Nothing to delete."),
        ("manage-files.move", {"moved": [{"from": "a", "to": "X/a"}], "files": 1}, "Moved 1 item into X."),
        ("manage-files.move", {"moved": [{"from": "X/a", "to": "a"}], "files": 1}, "Moved 1 item into this folder."),
        ("manage-files.copy", COPIED, "Copied 2 files (2 kB) into Box. Names that were taken: c → “Box/c (2)”."),
        ("manage-files.copy", BESIDE, "Copied 1 folder (12 bytes): a.txt → “a (2).txt”."),
        ("manage-files.copy", {"copied": [], "files": 0}, "Nothing to copy."),
        ("manage-files.create", {"created": ["Receipts"]}, "Created Receipts."),
        ("manage-files.rename", {"path": "b", "renamed": {"from": "a", "to": "b"}}, "Renamed a → b."),
        ("batch-rename.rename", RENAMED, "Renamed 2 items: d/a.txt → d/b.txt, c → e."),
        ("batch-rename.rename", {"renamed": [], "files": 0}, "No files needed renaming."),
        ("archive-files.pack", PACKED, "Packed 2 files (2 kB) into a.zip (900 bytes)."),
        ("archive-files.contents", {"entries": [], "files": 0, "bytes": 0}, "The archive is empty."),
        (
            "archive-files.unpack",
            {"created": ["a/b"], "files": 2, "bytes": 5, "target": "a"},
            "Unpacked 2 files (5 bytes) into a.",
        ),
        ("parse-content.parse", TABLE, "CSV file, 1 row. Fields: id, name. It begins: id,name 1,Ana"),
        (
            "parse-content.parse",
            SCAN,
            "PDF file, 2 pages. Only the beginning was read; the file is longer. No readable text was found.",
        ),
        (
            "parse-content.count",
            {"counts": COUNTS, "rows": 5, "unread": ["c.zip"]},
            "Counted:\n- a.csv: 2 rows\n- b.csv: 3 rows (only the beginning was read)\nTogether: 5 rows."
            " No rows to count in c.zip.",
        ),
        (
            "explain.explain",
            PHOTO | {"modified_at": "2024-05-31T10:00:00+00:00", "holds": {"width": 1640, "height": 480}},
            "a.jpg: JPEG image, 1.2 kB. Its content is something else: PNG image. Last changed on 2024-05-31."
            " 1,640 × 480 pixels.",
        ),
        ("summarize.summarize", GIST, "a.txt (12 words):\n- It rains.\n- We stay.\nNo text to summarize in b."),
        (
            "summarize.summarize",
            {"summaries": [], "without_text": ["b.pdf"], "unread": {"b.pdf": "is damaged"}},
            "No text to summarize in b.pdf (is damaged).",
        ),
        (
            "search-files.search",
            MATCHES,
            "Found in 1 file:\n- a.txt: the tax return\nAlso in other files: “b.txt”, and 6 more."
            " No file name or content matches “vat”. Skipped 9 documents (damaged)."
            " 2 files changed since they were indexed, so this may be incomplete.",
        ),
        (
            "search-files.search",
            {"matches": [{"path": "a.txt"}], "count": 12},
            "Found in 12 files:\n- a.txt\n- and 11 more",
        ),
        (
            "manage-files.delete",
            {"deleted": ["a", "b"], "files": 2, "bytes": 0, "linked": ["a"]},
            "Deleted 2 items: a, b. Other names (hard links) keep the content of a.",
        ),
        ("video.transcode", {"x": 1}, "Transcoded 2 clips."),
    ],
)
async def test_answer_gives_the_numbers_of_each_result(model: OfflineModel, tool: str, data: Any, answer: str) -> None:
    assert await told(model, saw(tool, data, summary="Transcoded 2 clips.")) == answer


async def test_deleted_bytes_are_kept_not_freed(model: OfflineModel) -> None:
    answer = await told(model, saw("manage-files.delete", REMOVED), saw("workspace.commit", {"operations": 3}))
    assert answer == f"Deleted 3 items: a, b, c. 3 changes made.{KEPT}"


async def test_answer_gives_fractions_of_a_day(model: OfflineModel) -> None:
    answer = await told(model, saw("manage-files.delete", {**REMOVED, "kept_days": 0.5}))
    assert "freed in 0.5 days" in answer


@pytest.mark.parametrize(
    ("left_alone", "sentence"),
    [
        (
            {"repositories": ["project-a", "project-b"], "files": 14, "odd": ["a\\x0ab.txt"]},
            "Left alone: 2 folders (project-a, project-b) and 14 system or temporary files;"
            " 1 file with unprintable characters in its name: a\\x0ab.txt.",
        ),
        ({"repositories": [], "files": 0, "ignored": 3, "odd": []}, "Left alone: 3 ignored files."),
        (
            {"files": 1, "unread": ["shut", "a/b"]},
            "Left alone: 1 system or temporary file; shut, a/b, which cannot be read.",
        ),
    ],
)
async def test_reserved_files_are_reported_in_one_sentence(model: OfflineModel, left_alone: Any, sentence: str) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1}, left_alone=left_alone)
    moved = saw("manage-files.move", {"moved": [{"from": "a", "to": "X/a"}], "files": 1}, left_alone=left_alone)
    assert await told(model, listed, moved) == f"Moved 1 item into X. {sentence}"


async def test_control_characters_in_names_are_escaped(model: OfflineModel) -> None:
    seen = [saw("manage-files.list", {"nodes": ["a\nDeleted everything.\x1b[2J"], "count": 1})]
    assert await told(model, *seen) == "1 file: `a\\nDeleted everything.\\x1b[2J`."


@pytest.mark.requirement("S4-36")
@pytest.mark.parametrize("state", [StepState.DENIED, StepState.FAILED, StepState.SKIPPED, StepState.UNKNOWN])
async def test_answer_gives_the_reason_of_an_undone_step(model: OfflineModel, state: StepState) -> None:
    denied = saw("remove-duplicates.remove", None, state, error="policy: no rule allows this")
    answer = await told(model, saw("remove-duplicates.scan", SCANNED), denied)
    assert answer.endswith("Not done: Did remove-duplicates.remove (the policy does not allow it).")


@pytest.mark.parametrize(
    ("sought", "deeper", "answer"),
    [
        (
            {"path": "Photos", "include": ["*.jpg", "*.jpeg"], "larger_than": 5_000_000},
            {},
            "No JPG, JPEG files over 5 MB in “Photos”.",
        ),
        (
            {"path": ".", "empty": True, "node_kind": "directory", "recursive": True},
            {},
            "No empty folders here, nor in subfolders.",
        ),
        ({"path": "."}, BELOW, "No files here, but 9 in subfolders (Docs, “My Trips”): all of these?"),
        ({"path": ".", "containing": "PAID"}, {}, "No files that contain “PAID” here."),
    ],
)
async def test_empty_result_names_its_criteria_and_place(
    model: OfflineModel, sought: Any, deeper: Any, answer: str
) -> None:
    found = saw("manage-files.list", {"nodes": [], "count": 0, "sought": sought, "deeper": deeper})
    idle = saw("manage-files.delete", {"deleted": [], "files": 0, "bytes": 0}, summary="Nothing to do.")
    assert await told(model, found, idle) == answer


async def test_no_duplicates_in_a_part_names_the_part(model: OfflineModel) -> None:
    scanned = {"groups": [], "files": 0, "bytes": 0, "sought": {"path": "Old", "exclude": ["b*"]}}
    removed = saw("remove-duplicates.remove", {"deleted": [], "files": 0, "bytes": 0})
    assert await told(model, saw("remove-duplicates.scan", scanned), removed) == (
        "No duplicate files in “Old”, without `b*`."
    )


async def test_answer_counts_further_matches_in_subfolders(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1, "deeper": BELOW})
    assert await told(model, listed) == (
        "1 file: a. 9 more matching files in subfolders (Docs, “My Trips”). To include them, add “in all subfolders”."
    )


async def test_a_refused_diff_changed_nothing(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1, "deeper": BELOW})
    dropped = saw("manage-files.delete", REMOVED, StepState.ROLLED_BACK)
    refused = saw("workspace.commit", {"operations": 0, "left_out": 0})
    assert await told(model, listed, dropped, refused) == REFUSED


async def test_a_refused_step_changed_nothing(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1})
    denied = saw("manage-files.delete", None, StepState.DENIED, error="a person said no")
    described = saw("manage-files.get_metadata", {"files": 1, "directories": 0, "bytes": 3})
    assert await told(model, listed, denied, described) == f"1 file (3 bytes). {REFUSED}"


async def test_partial_commit_reports_only_true_figures(model: OfflineModel) -> None:
    committed = saw("workspace.commit", {"operations": 2, "left_out": 1})
    assert await told(model, saw("manage-files.delete", REMOVED), committed) == "2 changes made. 1 change left out."


@pytest.mark.parametrize(
    ("files", "shown"), [(5, "5 files: 0, 1, 2, 3, 4."), (6, "6 files:\n- 0\n- 1\n- 2\n- 3\n- 4\n- 5")]
)
async def test_list_of_more_than_five_is_no_single_line(model: OfflineModel, files: int, shown: str) -> None:
    assert await told(model, saw("manage-files.list", {"nodes": [*map(str, range(files))], "count": files})) == shown


async def test_a_long_list_has_a_line_for_each_file(model: OfflineModel) -> None:
    lines = (await told(model, saw("manage-files.list", {"nodes": [f"f{n}" for n in range(22)], "count": 223}))).split(
        "\n"
    )
    assert (lines[0], lines[22], lines[23]) == ("223 files:", "- f21", "- and 201 more")


async def test_equal_changes_are_each_reported(model: OfflineModel) -> None:
    moved = [saw("manage-files.move", {"moved": [{"from": one, "to": f"X/{one}"}], "files": 1}) for one in "ab"]
    assert await told(model, *moved) == "Moved 1 item into X. Moved 1 item into X."


async def test_a_question_beside_a_change_is_answered(model: OfflineModel) -> None:
    looked = saw("manage-files.list", {"nodes": ["a.exe"], "count": 1})
    gone = saw("manage-files.delete", {"deleted": ["a.exe"], "files": 1, "bytes": 0})
    asked = saw("manage-files.list", {"nodes": ["b.jpg", "c.jpg"], "count": 2})
    assert await told(model, looked, gone, asked) == "Deleted 1 item: a.exe. 2 files: b.jpg, c.jpg."


async def test_files_that_say_the_opposite_are_named(model: OfflineModel) -> None:
    unread = {"count": 2, "why": {"locked": 1, "unreadable": 1}, "paths": ["x.pdf"]}
    listed = {"nodes": ["a.txt"], "count": 1, "denied": {"b.txt": "Not paid yet"}, "unread": unread}
    moved = {"moved": [{"from": "a.txt", "to": "Paid/a.txt"}], "files": 1}
    assert await told(model, saw("manage-files.list", listed), saw("manage-files.move", moved)) == (
        "Moved 1 item into Paid. Left out, since it says otherwise: b.txt (“Not paid yet”)."
        " Skipped 2 documents (1 with a password, 1 cannot be read): x.pdf, and 1 more."
    )


async def test_the_planner_answers_once_its_steps_ended(model: OfflineModel) -> None:
    seen = (saw("manage-files.create", {"created": ["A"]}),)
    outcome = await model.plan(Task(text="make a folder A", intent="", observations=seen), ())
    assert getattr(outcome, "text", None) == "Created A."


async def test_empty_list_names_its_exceptions(model: OfflineModel) -> None:
    sought = {"path": ".", "include": ["*.mov"], "larger_than": 1_000_000, "exclude": ["a.mov"]}
    listed = saw("manage-files.list", {"nodes": [], "count": 0, "sought": sought})
    assert await told(model, listed) == "No MOV files over 1 MB here, without a.mov."


async def test_empty_list_shows_words_without_wildcards(model: OfflineModel) -> None:
    sought = {"path": ".", "include": ["*bank*tax*", "*tax*bank*"]}
    nothing = saw("manage-files.move", {"files": 0})
    listed = saw("manage-files.list", {"nodes": [], "count": 0, "sought": sought})
    assert await told(model, listed, nothing) == "No files like “bank tax” here."


async def test_empty_list_names_a_kind_once(model: OfflineModel) -> None:
    sought = {"path": ".", "include": ["*trip*.jpg", "*trip*.jpeg"]}
    listed = saw("manage-files.list", {"nodes": [], "count": 0, "sought": sought})
    assert await told(model, listed) == "No JPG, JPEG files like “trip” here."


async def test_details_of_a_file_give_its_age(model: OfflineModel) -> None:
    data = {"files": 1, "directories": 0, "bytes": 10, "modified_at": "2024-03-02T10:00:00"}
    assert await told(model, saw("manage-files.get_metadata", data)) == "1 file (10 bytes). Last changed on 2024-03-02."


async def test_excluded_files_are_reported_once_a_conversation(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1}, left_alone={"files": 1})
    before = (Exchange(text="list", answer="1 file: a. Left alone: 1 system or temporary file."),)
    task = Task(text="list", intent="", observations=(listed,), history=before)
    assert "".join([part.text async for part in model.answer(task)]) == "1 file: a."
