"""The offline critic disagrees with plans that do not fit the request, whoever made them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted
from libs.skills import ToolDefinition
from tests.libs.models.offline.phrasings import NAMES, PHRASINGS

Catalogue = Sequence[ToolDefinition]


def plan(*steps: tuple[str, dict[str, Any]]) -> Plan:
    made = (
        Step(step_id=f"s{n}", ordinal=n, description=tool, skill=tool.split(".")[0], tool=tool, args=args)
        for n, (tool, args) in enumerate(steps, start=1)
    )
    return Plan(plan_id="p", steps=tuple(made))


async def verdict(model: OfflineModel, catalogue: Catalogue, text: str, proposed: Plan) -> dict[str, Any]:
    task = Task(text=text, intent="", workspace={"names": list(NAMES)})
    said: dict[str, Any] = json.loads((await model.review(task, proposed, catalogue)).text)
    return said


@pytest.mark.requirement("S0-12", "S0-16")
@pytest.mark.parametrize("text", [text for text, expected in PHRASINGS if not isinstance(expected, str)])
async def test_a_plan_that_fits_its_request_is_approved(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    task = Task(text=text, intent="", root="/home/u/Downloads", workspace={"names": list(NAMES)})
    outcome = await model.plan(task, catalogue)
    assert isinstance(outcome, Drafted)
    said = json.loads((await model.review(task, outcome.plan, catalogue)).text)
    assert said == {"approved": True, "reason": ""}


@pytest.mark.requirement("S0-16", "S0-17")
async def test_a_change_that_nobody_asked_for_is_rejected_by_its_step(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    proposed = plan(("manage-files.get_metadata", {"path": "a.txt"}), ("manage-files.delete", {"paths": ["a.txt"]}))
    said = await verdict(model, catalogue, "tell me what is here", proposed)
    assert said == {
        "approved": False,
        "reason": "Step 2 would delete files, which the request does not ask for.",
        "step": 2,
    }


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize(
    ("text", "approved"),
    [
        ("lösch die Minutes mit board im Namen", False),
        ("delete the Minutes older than a year", False),
        ("delete the folder Minutes and the files with tmp in the name", True),
        ("delete Minutes", True),
    ],
)
async def test_a_folder_is_not_taken_whole_where_the_words_name_a_part_of_it(
    model: OfflineModel, catalogue: Catalogue, text: str, approved: bool
) -> None:
    paths = ["Minutes/board May.md", "Minutes/agenda.md", "a tmp.txt"]
    task = Task(text=text, intent="", workspace={"names": ["Minutes/", "a tmp.txt"], "paths": paths})
    proposed = plan(("manage-files.get_metadata", {"path": "Minutes"}), ("manage-files.delete", {"paths": ["Minutes"]}))
    said: dict[str, Any] = json.loads((await model.review(task, proposed, catalogue)).text)
    assert said["approved"] is approved, said["reason"]


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize("text", ["sort by type but don't move anything", "organize, and change nothing"])
async def test_a_change_that_the_request_rules_out_is_rejected(
    model: OfflineModel, catalogue: Catalogue, text: str
) -> None:
    proposed = plan(("organize-by-type.sort", {"source": ["a.txt"], "by": "extension_category", "target": "."}))
    said = await verdict(model, catalogue, text, proposed)
    assert (said["approved"], said["step"]) == (False, 1)
    assert "rules out" in said["reason"]


@pytest.mark.requirement("S0-16")
async def test_what_is_to_be_left_alone_may_not_be_listed_for_a_change(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    sort = ("organize-by-type.sort", {"source": "$step(1).nodes", "by": "extension_category", "target": "."})
    careless = plan(("manage-files.list", {"path": "."}), sort)
    said = await verdict(model, catalogue, "sort by type but leave the PDFs alone", careless)
    assert (said["approved"], said["step"]) == (False, 1)
    careful = plan(("manage-files.list", {"path": ".", "exclude": ["*.pdf"]}), sort)
    assert (await verdict(model, catalogue, "sort by type but leave the PDFs alone", careful))["approved"]


@pytest.mark.requirement("S0-16")
async def test_a_step_that_names_what_is_to_be_left_alone_is_rejected(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    proposed = plan(("manage-files.delete", {"paths": ["a.txt", "report.pdf"]}))
    said = await verdict(model, catalogue, "delete a.txt, but keep the PDFs", proposed)
    assert not said["approved"]
    assert "report.pdf" in said["reason"]


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize("proposed", [plan(), plan(("shell.run", {"command": "ls"}))])
async def test_an_empty_plan_and_an_unknown_tool_are_rejected(
    model: OfflineModel, catalogue: Catalogue, proposed: Plan
) -> None:
    assert not (await verdict(model, catalogue, "remove duplicates", proposed))["approved"]


LISTED = "$step(1).nodes"
DELETE: tuple[str, dict[str, Any]] = ("manage-files.delete", {"paths": LISTED})
TO_ARCHIVE: tuple[str, dict[str, Any]] = ("manage-files.move", {"source": LISTED, "target": "Archive"})
PACK: tuple[str, dict[str, Any]] = ("archive-files.pack", {"paths": LISTED, "archive": "old.zip", "remove": True})
RENAME: tuple[str, dict[str, Any]] = ("batch-rename.rename", {"paths": LISTED, "prefix": "x_"})
MB = 1_000_000
BOUNDED: list[tuple[str, tuple[str, dict[str, Any]], dict[str, Any], list[dict[str, Any]]]] = [
    (
        "delete all files larger than 10 MB",
        DELETE,
        {"larger_than": 10 * MB},
        [{}, {"smaller_than": 10 * MB}, {"larger_than": MB}, {"larger_than": 10 * MB, "smaller_than": 20 * MB}],
    ),
    ("lösche alle Dateien über 5 MB", DELETE, {"larger_than": 5 * MB}, [{}, {"larger_than": 5}]),
    ("borra los archivos de más de 2 GB", DELETE, {"larger_than": 2000 * MB}, [{}, {"larger_than": 2 * MB}]),
    (
        "move the pdfs older than two weeks to Archive",
        TO_ARCHIVE,
        {"include": ["*.pdf"], "modified_before": "2026-05-01T12:00:00Z"},
        [
            {"include": ["*.pdf"]},
            {"include": ["*.pdf"], "modified_after": "2026-05-01T12:00:00Z"},
            {"include": ["*.pdf"], "modified_before": "2026-05-13T12:00:00Z"},
        ],
    ),
    (
        "packe die Dateien vom letzten Jahr in old.zip und lösche sie danach",
        PACK,
        {"modified_after": "2025-01-01", "modified_before": "2026-01-01"},
        [{}, {"modified_before": "2026-01-01"}, {"modified_after": "2024-01-01", "modified_before": "2025-01-01"}],
    ),
    (
        "borra los archivos modificados antes del 1 de mayo de 2024",
        DELETE,
        {"modified_before": "2024-05-01"},
        [{}, {"modified_after": "2024-05-01"}, {"modified_before": "2024-05-03"}],
    ),
    (
        "delete the five largest files",
        DELETE,
        {"order": "largest", "most": 5},
        [{}, {"order": "largest"}, {"order": "smallest", "most": 5}, {"order": "largest", "most": 50}],
    ),
    (
        "verschiebe die drei ältesten Dateien nach Archive",
        TO_ARCHIVE,
        {"order": "oldest", "most": 3},
        [{}, {"order": "newest", "most": 3}],
    ),
    ("borra los archivos vacíos", DELETE, {"empty": True}, [{}, {"empty": False}]),
    ("delete empty files", DELETE, {"empty": True}, [{}, {"larger_than": 0}]),
    (
        "add the prefix x_ to files smaller than 1 MB",
        RENAME,
        {"smaller_than": MB},
        [{}, {"larger_than": MB}],
    ),
    ("find the files over 10 MB and delete them", DELETE, {"larger_than": 10 * MB}, [{}]),
    (
        "move all files to Archive, but only those larger than 10 MB",
        TO_ARCHIVE,
        {"larger_than": 10 * MB},
        [{}, {"larger_than": 1}],
    ),
]


def filtered(change: tuple[str, dict[str, Any]], **filters: Any) -> Plan:
    return plan(("manage-files.list", {"path": ".", **filters}), change)


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize(("text", "change", "right"), [case[:3] for case in BOUNDED])
async def test_a_change_that_keeps_to_the_stated_bounds_is_approved(
    model: OfflineModel, catalogue: Catalogue, text: str, change: tuple[str, dict[str, Any]], right: dict[str, Any]
) -> None:
    assert await verdict(model, catalogue, text, filtered(change, **right)) == {"approved": True, "reason": ""}


@pytest.mark.requirement("S0-16", "S0-17")
@pytest.mark.parametrize(
    ("text", "change", "wrong"), [(text, change, wrong) for text, change, _, many in BOUNDED for wrong in many]
)
async def test_a_change_of_more_or_other_files_than_the_bounds_let_through_is_rejected_by_its_listing(
    model: OfflineModel, catalogue: Catalogue, text: str, change: tuple[str, dict[str, Any]], wrong: dict[str, Any]
) -> None:
    said = await verdict(model, catalogue, text, filtered(change, **wrong))
    assert (said["approved"], said["step"]) == (False, 1)
    assert "Step 1" in said["reason"]


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("delete all files larger than 10 MB", {"larger_than": 10 * 1024 * 1024}),
        ("delete all files larger than 10 MB", {"larger_than": 10 * MB - 1}),
        ("delete files between 1 MB and 5 MB", {"larger_than": MB, "smaller_than": 5 * MB}),
        ("delete files older than two weeks", {"modified_before": "2026-05-01"}),
        ("delete files older than two weeks", {"modified_before": "2026-05-01T23:59:59+00:00"}),
        ("delete files older than six months", {"modified_before": "2025-11-16"}),
        ("delete the files from before 1 May 2024", {"modified_before": "2024-04-30T22:00:00Z"}),
        ("delete empty files", {"smaller_than": 1}),
        ("delete the log files", {"include": ["*.log"], "modified_before": "2026-01-01"}),
        ("delete the newest files first", {"order": "newest"}),
    ],
)
async def test_the_same_bound_said_otherwise_is_no_other_bound(
    model: OfflineModel, catalogue: Catalogue, text: str, filters: dict[str, Any]
) -> None:
    said = await verdict(model, catalogue, text, filtered(DELETE, **filters))
    assert said["approved"], said["reason"]


@pytest.mark.requirement("S0-16")
async def test_each_clause_keeps_its_own_bound(model: OfflineModel, catalogue: Catalogue) -> None:
    text = "delete the zips and move files larger than 10 MB to Archive"
    move = ("manage-files.move", {"source": "$step(3).nodes", "target": "Archive"})
    zips = ("manage-files.list", {"path": ".", "include": ["*.zip"]})
    right = plan(zips, DELETE, ("manage-files.list", {"path": ".", "larger_than": 10 * MB}), move)
    wrong = plan(zips, DELETE, ("manage-files.list", {"path": "."}), move)
    assert (await verdict(model, catalogue, text, right))["approved"]
    said = await verdict(model, catalogue, text, wrong)
    assert (said["approved"], said["step"]) == (False, 3)


@pytest.mark.requirement("S0-16")
async def test_a_bounded_wish_among_unbounded_ones_is_not_forgotten(model: OfflineModel, catalogue: Catalogue) -> None:
    text = "delete the zips and remove the files that are older than two weeks"
    everything = ("manage-files.delete", {"paths": "$step(3).nodes"})
    zips = ("manage-files.list", {"path": ".", "include": ["*.zip"]})
    said = await verdict(
        model, catalogue, text, plan(zips, DELETE, ("manage-files.list", {"path": ".", "recursive": True}), everything)
    )
    assert not said["approved"]
    assert "modified_before" in said["reason"]


@pytest.mark.requirement("S0-16")
async def test_files_named_by_a_guess_do_not_keep_to_a_bound(model: OfflineModel, catalogue: Catalogue) -> None:
    guessed = plan(("manage-files.list", {"path": "."}), ("manage-files.delete", {"paths": ["a.txt", "report.pdf"]}))
    said = await verdict(model, catalogue, "delete the two largest files", guessed)
    assert (said["approved"], said["step"]) == (False, 2)


ONE_COPY: tuple[str, dict[str, Any]] = ("manage-files.copy", {"source": "a.txt", "target": "Docs"})


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize(
    ("text", "step", "would"),
    [
        ("move a.txt to Docs", ONE_COPY, "would copy files"),
        ("put a.txt into Docs", ONE_COPY, "would copy files"),
        ("copy a.txt to Docs", ("manage-files.move", {"source": "a.txt", "target": "Docs"}), "would move files"),
        (
            "put a copy of a.txt into Docs",
            ("manage-files.move", {"source": "a.txt", "target": "Docs"}),
            "would move files",
        ),
        (
            "make a copy of a.txt called c.txt",
            ("manage-files.rename", {"path": "a.txt", "new_name": "c.txt"}),
            "would rename files",
        ),
        ("delete the copy of a.txt", ONE_COPY, "would copy files"),
    ],
)
async def test_moving_and_copying_are_never_taken_for_each_other(
    model: OfflineModel, catalogue: Catalogue, text: str, step: tuple[str, dict[str, Any]], would: str
) -> None:
    said = await verdict(model, catalogue, text, plan(step))
    assert not said["approved"]
    assert would in said["reason"]


@pytest.mark.requirement("S0-16")
async def test_a_copy_that_is_ruled_out_or_of_what_is_spared_is_rejected(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    said = await verdict(model, catalogue, "copy the PDFs to Docs, but not report.pdf", plan(ONE_COPY))
    assert said["approved"]
    spared = plan(("manage-files.copy", {"source": ["report.pdf"], "target": "Docs"}))
    said = await verdict(model, catalogue, "copy the PDFs to Docs, but not report.pdf", spared)
    assert "left alone" in said["reason"]
    said = await verdict(model, catalogue, "make a folder Docs, and never copy anything", plan(ONE_COPY))
    assert "rules out" in said["reason"]
