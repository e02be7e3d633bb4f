"""Mending a rejected plan: drafted anew where the draft differs, else without the step that was objected to."""

from __future__ import annotations

import re
from collections.abc import Callable

from libs.events.values import Plan, Step
from libs.skills import REFERENCE, sources


def same(left: Plan, right: Plan) -> bool:
    """Do both plans do the same, whatever their ids and reasons?"""
    return [(step.tool, step.args) for step in left.steps] == [(step.tool, step.args) for step in right.steps]


def without(plan: Plan, reason: str, *, new_id: Callable[[], str]) -> Plan:
    """The plan without the step that the reason names and all that need it; unchanged where that would leave nothing.

    The step that stays out is told in the reasoning: leaving out what was asked for is no secret.
    """
    named = re.search(r"[Ss]tep (\d+)", reason)
    out = _dependents(plan, int(named.group(1))) if named else set()
    kept = [step for step in plan.steps if step.ordinal not in out]
    if not out or not any(step.mutates for step in kept):
        return plan
    renumbered = {step.ordinal: n for n, step in enumerate(kept, start=1)}
    steps = tuple(_moved(step, renumbered, new_id) for step in kept)
    return Plan(plan_id=new_id(), reasoning=f"{plan.reasoning} Left out: {reason}".strip(), steps=steps)


def _dependents(plan: Plan, ordinal: int) -> set[int]:
    out = {ordinal} & {step.ordinal for step in plan.steps}
    for step in plan.steps:
        if out & set(step.depends_on):
            out.add(step.ordinal)
    return out


def _moved(step: Step, numbers: dict[int, int], new_id: Callable[[], str]) -> Step:
    args = {name: _renumbered(value, numbers) for name, value in step.args.items()}
    return step.model_copy(
        update={"step_id": new_id(), "ordinal": numbers[step.ordinal], "args": args, "depends_on": sources(args)}
    )


def _renumbered(value: object, numbers: dict[int, int]) -> object:
    match = REFERENCE.match(value) if isinstance(value, str) else None
    return f"$step({numbers[int(match.group(1))]}).{match.group(2)}" if match else value
