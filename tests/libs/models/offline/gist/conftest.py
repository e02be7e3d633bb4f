"""What a story comes to in a folder: the question that it is asked, and what a yes to that does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition

Told = dict[str, dict[str, Any]]
Offered = Callable[[str, Sequence[str]], Awaitable[Told]]


def alike(paths: Sequence[str], rule: dict[str, Any]) -> Told:
    """One rule for all of these."""
    return dict.fromkeys(paths, rule)


def task(text: str, paths: Sequence[str], *, reply: str | None = None) -> Task:
    tops = dict.fromkeys(path.partition("/")[0] + "/" * ("/" in path) for path in paths)
    said = {} if reply is None else {"clarification": reply}
    facts = {"names": list(tops), "paths": list(paths)}
    return Task(text=text, intent="", root="/home/u/Mine", workspace=facts, **said)


@pytest.fixture(scope="session")
def renamed(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> Offered:
    """The rule that each file is renamed by after a yes; nothing where no renaming is offered."""

    async def come_to(text: str, paths: Sequence[str]) -> Told:
        if not isinstance(await model.plan(task(text, paths), catalogue), Unclear):
            return {}
        outcome = await model.plan(task(text, paths, reply="yes"), catalogue)
        return _rules(outcome) if isinstance(outcome, Drafted) else {}

    return come_to


def _rules(outcome: Drafted) -> Told:
    """By the files that each step is about."""
    steps = {step.ordinal: step for step in outcome.plan.steps}
    told: Told = {}
    for step in outcome.plan.steps:
        args = {name: value for name, value in step.args.items() if name not in ("path", "paths")}
        if step.tool == "manage-files.rename":
            told[str(step.args["path"])] = args
        elif step.tool == "batch-rename.rename":
            listing = steps[int(str(step.args["paths"])[len("$step(") :].partition(")")[0])]
            told |= dict.fromkeys(listing.args["include"], args)
    return told


Goal = tuple[str, tuple[str, ...]]
Placed = Callable[[str, Sequence[str]], Awaitable[list[Goal]]]


@pytest.fixture(scope="session")
def placed(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> Placed:
    """Where the files go that a yes to what is offered moves, copies, packs or sorts; nothing where none of it is."""

    async def come_to(text: str, paths: Sequence[str]) -> list[Goal]:
        if not isinstance(await model.plan(task(text, paths), catalogue), Unclear):
            return []
        outcome = await model.plan(task(text, paths, reply="yes"), catalogue)
        return _goals(outcome) if isinstance(outcome, Drafted) else []

    return come_to


def _goals(outcome: Drafted) -> list[Goal]:
    listings = [step for step in outcome.plan.steps if not step.mutates]
    changes = [step for step in outcome.plan.steps if step.mutates]
    return [
        (_goal(step.args), tuple(listing.args["include"]))
        for listing, step in zip(listings, changes, strict=True)
        if {"target", "archive"} & {*step.args}
    ]


def _goal(args: Any) -> str:
    gone = " and gone" if args.get("remove") else ""
    by = f" by {args['by']}" if "by" in args else ""
    return f"{args.get('target') or args.get('archive')}{by}{gone}"
