"""The offline critic and resolver: by rule, whoever made the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from libs.events.committee import Exchange, Task
from libs.events.values import Plan, Step
from libs.models.offline import review
from libs.skills import Skills, ToolDefinition, sources

BUNDLED = Path(__file__).parents[4] / "skills"
NAMES = ["a.txt", "report.pdf", "bu\u0308ro.pdf", "remove.txt", "Docs/"]
Call = tuple[str, dict[str, Any]]
MB = 1_000_000
LISTED = "$step(1).nodes"
DELETE: Call = ("manage-files.delete", {"paths": LISTED})
SORT: Call = ("organize-by-type.sort", {"source": LISTED, "by": "extension_category", "target": "."})
MOVE: Call = ("manage-files.move", {"source": LISTED, "target": "Docs"})
COPY: Call = ("manage-files.copy", {"source": "a.txt", "target": "Docs"})
MOVE_ONE: Call = ("manage-files.move", {"source": "a.txt", "target": "Docs"})
RENAME_ONE: Call = ("manage-files.rename", {"path": "a.txt", "new_name": "c.txt"})
PACK: Call = ("archive-files.pack", {"paths": LISTED, "archive": "old.zip", "remove": True})
DEDUPE: Call = ("remove-duplicates.remove", {"groups": "$step(1).groups"})


@pytest.fixture(scope="session")
def catalogue() -> Sequence[ToolDefinition]:
    return Skills.load([BUNDLED]).tools


def listing(**filters: Any) -> Call:
    return ("manage-files.list", {"path": ".", **filters})


def plan(catalogue: Sequence[ToolDefinition], *steps: Call) -> Plan:
    changing = {tool.name for tool in catalogue if tool.mutates}
    made = (
        Step(
            step_id=f"s{n}",
            ordinal=n,
            description=tool,
            tool=tool,
            args=args,
            depends_on=sources(args),
            mutates=tool in changing,
        )
        for n, (tool, args) in enumerate(steps, start=1)
    )
    return Plan(plan_id="p", steps=tuple(made))


def verdict(catalogue: Sequence[ToolDefinition], text: str, *steps: Call, **more: Any) -> dict[str, Any]:
    task = Task(text=text, intent="", workspace={"names": NAMES}, **more)
    said: dict[str, Any] = json.loads(review.review(task, plan(catalogue, *steps), catalogue))
    return said


@pytest.mark.requirement("S0-12", "S0-16")
@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("delete the tmp files", (listing(include=["*.tmp"]), DELETE)),
        ("get rid of a.txt", (("manage-files.delete", {"paths": ["a.txt"]}),)),
        ("the PDFs can go", (listing(include=["*.pdf"]), DELETE)),
        ("clean up: remove duplicates", (("remove-duplicates.scan", {"path": ".", "strategy": "hash"}), DEDUPE)),
        ("sort by type", (listing(), SORT)),
        ("sort by type but leave the PDFs alone", (listing(exclude=["*.pdf"]), SORT)),
        ("put the PDFs into Docs", (listing(include=["*.pdf"]), MOVE)),
        ("PDFs to Docs", (listing(include=["*.pdf"]), MOVE)),
        ("copy a.txt to Docs", (COPY,)),
        ("put a copy of a.txt into Docs", (COPY,)),
        ("call a.txt c.txt", (RENAME_ONE,)),
        ("remove “x” from the names", (listing(), ("batch-rename.rename", {"paths": LISTED, "find": "x"}))),
        ("move the txt files into an archive", (listing(include=["*.txt"]), PACK)),
        ("zip everything but keep the originals", (listing(), ("archive-files.pack", {"paths": LISTED}))),
        ("unzip a.zip", (("archive-files.unpack", {"path": "a.zip"}),)),
        ("make a folder Receipts", (("manage-files.create", {"path": ".", "name": "Receipts", "type": "directory"}),)),
        ("delete all files larger than 10 MB", (listing(larger_than=10 * 1024 * 1024), DELETE)),
        ("delete files older than two weeks", (listing(modified_before="2026-05-01"), DELETE)),
        ("delete the five largest files", (listing(order="largest", most=5), DELETE)),
        ("delete the empty files", (listing(empty=True), DELETE)),
        ("what is here?", (("analyze-directory.report", {"path": "."}),)),
    ],
)
def test_a_plan_that_fits_is_approved(catalogue: Sequence[ToolDefinition], text: str, steps: tuple[Call, ...]) -> None:
    assert verdict(catalogue, text, *steps) == {"approved": True, "reason": ""}


@pytest.mark.requirement("S0-16", "S0-17")
@pytest.mark.parametrize(
    ("text", "steps", "reason"),
    [
        ("tell me what is here", (listing(), DELETE), "Step 2 would delete files, which the request does not ask for."),
        ("show me remove.txt", (("manage-files.delete", {"paths": ["remove.txt"]}),), "would delete files"),
        ("sort by type", (listing(), DELETE), "would delete files"),
        ("remove “x” from the names", (listing(), DELETE), "would delete files"),
        ("zip the txt files", (listing(), PACK), "would delete files"),
        ("delete everything but keep the originals", (listing(), DELETE), "Step 1 does not exclude"),
        ("find the empty folders", (listing(empty=True), DELETE), "would delete files"),
        ("move a.txt to Docs", (COPY,), "would copy files"),
        ("delete the copy of a.txt", (COPY,), "would copy files"),
        ("copy a.txt to Docs", (MOVE_ONE,), "would move files"),
        ("put a copy of a.txt into Docs", (MOVE_ONE,), "would move files"),
        ("make a copy of a.txt", (RENAME_ONE,), "would rename files"),
        ("sort by type but don't move anything", (listing(), SORT), "rules out"),
        ("organize, and change nothing", (listing(), SORT), "rules out"),
        ("make a folder Docs, and never copy anything", (COPY,), "rules out"),
        ("sort by type but leave the PDFs alone", (listing(), SORT), "Step 1 does not exclude"),
        ("delete a.txt, but keep report.pdf", (("manage-files.delete", {"paths": ["report.pdf"]}),), "left alone"),
        ("delete a.txt, but keep büro.pdf", (("manage-files.delete", {"paths": ["bu\u0308ro.pdf"]}),), "left alone"),
        ("delete all files larger than 10 MB", (listing(larger_than=MB), DELETE), "limits the size"),
        ("delete all files larger than 10 MB", (listing(smaller_than=10 * MB), DELETE), "limits the size"),
        ("delete files older than two weeks", (listing(), DELETE), "the request limits the files"),
        ("delete the two largest files", (listing(), DELETE), "the request limits the files"),
        ("remove the duplicates", (listing(), DELETE), "the request limits the files"),
        ("remove duplicates", (), "no step"),
        ("remove duplicates", (("shell.run", {"command": "ls"}),), "no tool of the catalogue"),
    ],
)
def test_a_plan_that_does_not_fit_is_rejected(
    catalogue: Sequence[ToolDefinition], text: str, steps: tuple[Call, ...], reason: str
) -> None:
    said = verdict(catalogue, text, *steps)
    assert not said["approved"]
    assert reason in said["reason"]


@pytest.mark.requirement("S0-16")
def test_short_reply_is_reviewed_with_the_previous_request(catalogue: Sequence[ToolDefinition]) -> None:
    before = Exchange(text="delete the PDFs", answer="No PDFs here, but 3 in subfolders: all of these?")
    steps = (listing(include=["*.pdf"], recursive=True), DELETE)
    assert verdict(catalogue, "yes", *steps, history=(before,))["approved"]
    assert not verdict(catalogue, "yes", *steps)["approved"]


def resolved(whole: Plan, reason: str) -> Plan:
    return review.without(whole, reason, new_id=lambda: "new")


@pytest.mark.requirement("S0-18")
def test_the_rejected_step_goes_with_its_dependents(catalogue: Sequence[ToolDefinition]) -> None:
    scan = ("remove-duplicates.scan", {"path": ".", "strategy": "hash"})
    later = ("organize-by-type.sort", {"source": "$step(3).nodes", "by": "year", "target": "."})
    whole = plan(catalogue, scan, DEDUPE, listing(), later)
    mended = resolved(whole, "Step 1 is not wanted.")
    assert [step.tool for step in mended.steps] == ["manage-files.list", "organize-by-type.sort"]
    assert mended.steps[1].args["source"] == "$step(1).nodes"
    assert [step.ordinal for step in mended.steps] == [1, 2]
    assert mended.reasoning == "Left out: Step 1 is not wanted."


@pytest.mark.requirement("S0-18", "S0-19")
@pytest.mark.parametrize("reason", ["It does not fit.", "Step 1 is not wanted."])
def test_a_plan_without_another_change_comes_back(catalogue: Sequence[ToolDefinition], reason: str) -> None:
    whole = plan(catalogue, listing(), DELETE)
    assert resolved(whole, reason) == whole
