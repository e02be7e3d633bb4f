"""The offline critic: does each step do what the request asks, and nothing that it forbids (S0-16)?

It reads the request by itself and knows nothing of how the plan was made, so that it can disagree with any planner.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.offline.earlier import in_full
from libs.models.offline.goals import FORBIDS
from libs.models.offline.places import Ground, NoSuchPlace, Outside, places
from libs.models.offline.reading import Clause, Mood, Reading, read
from libs.models.offline.selection import spared
from libs.retrieval.lexicon import listed
from libs.skills import REFERENCE, Categories, Effect, ToolDefinition, is_reference, selected

ASKED_BY = {
    Effect.DELETE: frozenset(("remove", "clean", "duplicate")),
    Effect.MOVE: frozenset(("move", "organize", "clean", "type")),
    Effect.RENAME: listed("rename name change swap prefix suffix lower upper titlecase snake number date type"),
    Effect.CREATE: listed("create move organize pack unpack archives"),
}
"""Words of which at least one must stand in the request before a step may have the effect."""

Objection = tuple[int | None, str]


def review(
    task: Task, plan: Plan, catalogue: Sequence[ToolDefinition], *, categories: Categories, now: datetime
) -> str:
    """A verdict as JSON: `{"approved", "reason", "step"}`; the first objection decides."""
    objection = next(
        _objections(task, plan, {tool.name: tool for tool in catalogue}, categories=categories, now=now), None
    )
    if objection is None:
        return json.dumps({"approved": True, "reason": ""})
    step, reason = objection
    return json.dumps({"approved": False, "reason": reason, "step": step}, ensure_ascii=False)


def _objections(
    task: Task, plan: Plan, tools: Mapping[str, ToolDefinition], *, categories: Categories, now: datetime
) -> Iterator[Objection]:
    ground = Ground.of(task.root, task.workspace)
    full = in_full(task, ground, now)
    text = full if isinstance(full, str) else task.text
    reading = read(". ".join(filter(None, (text, task.clarification, task.skill))), ground.spoken, now=now)
    if not plan.steps:
        yield None, "The plan has no step."
    for step in plan.steps:
        tool = tools.get(step.tool)
        if tool is None:
            yield step.ordinal, f"Step {step.ordinal} uses {step.tool}, which is no tool of the catalogue."
        elif tool.effect is Effect.ACT:
            yield step.ordinal, f"Step {step.ordinal} acts outside the workspace; words cannot judge that."
        elif tool.mutates:
            yield from _misfits(step, tool, reading)
    yield from _touched(plan, tools, reading, ground, categories)


def _misfits(step: Step, tool: ToolDefinition, reading: Reading) -> Iterator[Objection]:
    asked = {concept for clause in reading.wishes(Mood.DO) for concept in clause.concepts}
    sent = tool.effect is Effect.MOVE and any(_sends(clause) for clause in reading.wishes(Mood.DO))
    if asked.isdisjoint(ASKED_BY[tool.effect]) and not sent:
        yield step.ordinal, f"Step {step.ordinal} would {tool.effect} files, which the request does not ask for."
    ruled_out = [clause for clause in reading.wishes(Mood.NEVER) if _rules_out(clause, tool)]
    if ruled_out:
        yield step.ordinal, f"Step {step.ordinal} would {tool.effect} files, which the request rules out."


def _sends(clause: Clause) -> bool:
    """ "PDFs to Docs": where something goes is said without a verb."""
    return any(place.target for place in places(clause, Ground()))


def _rules_out(clause: Clause, tool: ToolDefinition) -> bool:
    if clause.says("duplicate"):
        return tool.skill == "remove-duplicates"
    return any(tool.effect in FORBIDS[concept] for concept in clause.concepts & FORBIDS.keys())


def _touched(
    plan: Plan, tools: Mapping[str, ToolDefinition], reading: Reading, ground: Ground, categories: Categories
) -> Iterator[Objection]:
    """What shall be left alone is neither named by a change nor listed for one."""
    try:
        patterns = [
            pattern for clause in reading.wishes(Mood.SPARE) for pattern in spared(clause, ground, categories).patterns
        ]
    except (Outside, NoSuchPlace):
        yield None, "The request spares something that is not in the workspace."
        return
    for step in plan.steps if patterns else ():
        if step.tool not in tools or not tools[step.tool].mutates:
            continue
        hit = next((path for path in _paths(step.args) if not selected(path, exclude=patterns)), None)
        if hit:
            yield step.ordinal, f"Step {step.ordinal} changes {hit}, which the request wants left alone."
        for source in _sources(step, plan):
            if not set(patterns) <= set(source.args.get("exclude", ())):
                yield source.ordinal, f"Step {source.ordinal} does not exclude what the request wants left alone."


def _sources(step: Step, plan: Plan) -> list[Step]:
    numbers = {
        int(match.group(1)) for value in step.args.values() if is_reference(value) and (match := REFERENCE.match(value))
    }
    return [other for other in plan.steps if other.ordinal in numbers]


def _paths(args: Mapping[str, Any]) -> list[str]:
    found = [args[key] for key in ("path", "paths", "source") if key in args and not is_reference(args[key])]
    return [
        path for value in found for path in (value if isinstance(value, list) else [value]) if isinstance(path, str)
    ]
