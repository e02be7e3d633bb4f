"""The offline critic: does each step do what the request asks, and nothing that it forbids (S0-16)?

It reads the request by itself and knows nothing of how the plan was made, so that it can disagree with any planner.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.offline import quantities
from libs.models.offline.archives import into_archive
from libs.models.offline.clauses import ACTIONS, Clause, Item, Measure, Mood, Name, Named, Reading
from libs.models.offline.drafting import paths
from libs.models.offline.earlier import in_full
from libs.models.offline.filling import BOUNDS, choosing
from libs.models.offline.goals import FORBIDS, keeps_some, wanted
from libs.models.offline.ground import Ground, NoSuchPlace, Outside
from libs.models.offline.grouping import makes_groups
from libs.models.offline.owned import told_by_names
from libs.models.offline.places import places
from libs.models.offline.reading import read
from libs.models.offline.scenes import Scene, bounds, sparing
from libs.models.offline.selection import spared
from libs.models.ports import Call
from libs.retrieval.lexicon import listed
from libs.retrieval.words import fold
from libs.skills import Categories, Effect, ToolDefinition, is_reference, selected, sources

ASKED_BY = {
    Effect.DELETE: frozenset(("remove", "clean", "duplicate")),
    Effect.MOVE: frozenset(("move", "organize", "clean", "type")),
    Effect.RENAME: listed("rename name change swap prefix suffix lower upper titlecase snake number date type"),
    Effect.CREATE: listed("create move copy organize pack unpack archives"),
}
"""Words of which at least one must stand in the request before a step may have the effect."""
COPIES = listed("copy create duplicate keep pack unpack archives")
"""And before a step may copy: where something is to be moved, a second one is not what was asked for."""
OF_A_COPY = listed("copy create folder pack archives")
"""What a clause of copying asks for; the name that it gives is the copy's, and nothing goes anywhere else."""

UNITS_APART = tuple(1.024**n for n in range(-4, 5))
"""10 MB are 10,000,000 bytes to us and 10,485,760 to others: the same size."""
DAY = timedelta(days=1)
ZONES = timedelta(hours=14)
"""A day begins so much earlier or later elsewhere."""

Bounds = Mapping[str, Any]
Objection = tuple[int | None, str]


APPROVED = json.dumps({"approved": True, "reason": ""})


def just_that(calls: Sequence[Call], plan: Plan) -> bool:
    """Is the plan, step by step, what somebody has been shown and has agreed to?"""
    return bool(calls) and [(step.tool, step.args) for step in plan.steps] == [
        (tool, dict(args)) for tool, args in calls
    ]


def review(
    task: Task, plan: Plan, catalogue: Sequence[ToolDefinition], *, categories: Categories, now: datetime
) -> str:
    """A verdict as JSON: `{"approved", "reason", "step"}`; the first objection decides."""
    objection = next(
        _objections(task, plan, {tool.name: tool for tool in catalogue}, categories=categories, now=now), None
    )
    if objection is None:
        return APPROVED
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
            yield from _misfits(step, tool, reading, ground)
    yield from _touched(plan, tools, reading, ground, categories)
    yield from _taken_whole(plan, tools, reading, ground)
    yield from _unbounded(task, plan, tools, reading, scene=Scene(reading.text, ground, categories), now=now)


def _misfits(step: Step, tool: ToolDefinition, reading: Reading, ground: Ground) -> Iterator[Objection]:
    asked = {concept for clause in reading.wishes(Mood.DO) for concept in _asked(clause)}
    if any(map(keeps_some, reading.wishes(Mood.DO))):  # one of those that were spoken of before
        asked |= {concept for clause in reading.wishes(Mood.TOLD) for concept in clause.concepts & {"duplicate"}}
    sent = tool.effect is Effect.MOVE and any(_sends(clause, ground) for clause in reading.wishes(Mood.DO))
    packed = tool.effect is Effect.CREATE and any(into_archive(clause) for clause in reading.wishes(Mood.DO))
    if tool.method == "copy_nodes" and asked.isdisjoint(COPIES):
        yield step.ordinal, f"Step {step.ordinal} would copy files, which the request does not ask for."
    elif asked.isdisjoint(ASKED_BY[tool.effect]) and not (sent or packed):
        yield step.ordinal, f"Step {step.ordinal} would {tool.effect} files, which the request does not ask for."
    ruled_out = [clause for clause in reading.wishes(Mood.NEVER) if _rules_out(clause, tool)]
    if ruled_out:
        yield step.ordinal, f"Step {step.ordinal} would {tool.effect} files, which the request rules out."


def _asked(clause: Clause) -> frozenset[str]:
    return clause.concepts & OF_A_COPY if clause.says("copy") else clause.concepts


def _sends(clause: Clause, ground: Ground) -> bool:
    """ "PDFs to Docs", "a folder for each year": where something goes is said without a verb. What is copied
    stays where it is.
    """
    return not clause.says("copy") and (makes_groups(clause) or any(place.target for place in places(clause, ground)))


def _rules_out(clause: Clause, tool: ToolDefinition) -> bool:
    if clause.says("duplicate"):
        return tool.skill == "remove-duplicates"
    return any(tool.effect in FORBIDS[concept] for concept in clause.concepts & FORBIDS.keys())


def _touched(
    plan: Plan, tools: Mapping[str, ToolDefinition], reading: Reading, ground: Ground, categories: Categories
) -> Iterator[Objection]:
    """What shall be left alone is neither named by a change nor listed for one."""
    try:
        patterns = [pattern for clause in sparing(reading) for pattern in spared(clause, ground, categories).patterns]
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
            if not set(patterns) <= {*source.args.get("exclude", ()), *source.args.get("spare", ())}:
                yield source.ordinal, f"Step {source.ordinal} does not exclude what the request wants left alone."


def _taken_whole(
    plan: Plan, tools: Mapping[str, ToolDefinition], reading: Reading, ground: Ground
) -> Iterator[Objection]:
    """A folder is not changed as a whole where the words that name it say which of its files: "the minutes with board
    in the name", where a folder is called Minutes.
    """
    for step in plan.steps:
        tool = tools.get(step.tool)
        asking = _asking(tool, reading, ground) if tool is not None and tool.mutates else []
        for path in (path for path in _paths(step.args) if asking and ground.below(path)):
            told = [group for clause in asking for group in clause.groups(clause.items) if _names(group, path)]
            if told and all(map(_limits, told)):
                yield step.ordinal, f"Step {step.ordinal} takes all of {path}, of which the request names a part."


def _names(group: Sequence[Item], path: str) -> bool:
    return any(isinstance(item, Named) and f"/{path}".endswith(f"/{item.text.strip('/')}") for item in group)


def _limits(group: Sequence[Item]) -> bool:
    return any(
        (isinstance(item, Named) and item.kind is Name.GLOB) or (isinstance(item, Measure) and bool(item.filters))
        for item in group
    )


def _unbounded(
    task: Task, plan: Plan, tools: Mapping[str, ToolDefinition], reading: Reading, *, scene: Scene, now: datetime
) -> Iterator[Objection]:
    """A change gets no more than the sizes, times and counts of the clause that asks for it let through."""
    changes = [step for step in plan.steps if step.tool in tools and tools[step.tool].mutates]
    listings = {step.ordinal: _listings(step, plan, tools) for step in changes}
    asking = {step.ordinal: _asking(tools[step.tool], reading, scene.ground) for step in changes}
    kept: list[Clause] = []
    for step in changes:
        told = [(clause, _stated(clause, tools[step.tool], reading, scene)) for clause in asking[step.ordinal]]
        if not listings[step.ordinal]:
            seen = task.history or task.observations
            if told and not seen and _paths(step.args) and all(bounds and not clause.names for clause, bounds in told):
                yield step.ordinal, f"Step {step.ordinal} names files, where the request {_says(told[0][1])}."
            continue
        for source in listings[step.ordinal]:
            fitting = [clause for clause, bounds in told if _keeps(source.args, bounds, now)]
            if told and not fitting:
                yield source.ordinal, f"Step {source.ordinal} does not keep to it: the request {_says(told[0][1])}."
            kept += fitting
    for step in changes:
        for clause in asking[step.ordinal] if listings[step.ordinal] else ():
            bounds = _stated(clause, tools[step.tool], reading, scene)
            if bounds and clause not in kept and _asks_outright(clause, tools[step.tool]):
                source = listings[step.ordinal][0]
                yield source.ordinal, f"Step {source.ordinal} does not keep to it: the request {_says(bounds)}."


def _listings(step: Step, plan: Plan, tools: Mapping[str, ToolDefinition]) -> list[Step]:
    """The reads that a step's files come from, through other changes where these hand them on."""
    found = [source for source in _sources(step, plan) if source.ordinal < step.ordinal and source.tool in tools]
    return [
        listing
        for source in found
        for listing in (_listings(source, plan, tools) if tools[source.tool].mutates else [source])
    ]


def _asking(tool: ToolDefinition, reading: Reading, ground: Ground) -> list[Clause]:
    """The clauses that this change may be the answer to."""
    return [
        clause
        for clause in (told_by_names(wish, ground) for wish in wanted(reading))
        if not _asked(clause).isdisjoint(ASKED_BY[tool.effect])
        or (tool.effect is Effect.MOVE and _sends(clause, ground))
    ]


def _asks_outright(clause: Clause, tool: ToolDefinition) -> bool:
    """By its verb, and for nothing but a change."""
    looks = clause.says("list", "find", "report", "howmany")
    return not looks and not clause.concepts.isdisjoint(ASKED_BY[tool.effect] & ACTIONS)


def _stated(clause: Clause, tool: ToolDefinition, reading: Reading, scene: Scene) -> dict[str, Any]:
    """The bounds of a clause and of the whole request. An order without a count leaves nothing out."""
    told = bounds(reading)
    part = choosing(tool, clause, scene)
    told |= part.filters
    if (empty := quantities.emptiness(part)) is not None:
        told["empty"] = empty
    if (most := quantities.most(part)) is not None:
        told |= {"order": quantities.ranking(part), "most": most}
    return told


def _keeps(args: Bounds, stated: Bounds, now: datetime) -> bool:
    """Is each size, time and count that the request states the listing's too? What it does not state is free: our
    reading may have missed what a planner understood.
    """
    return all(_same(names, args, stated, now) for _, names in BOUNDS if any(name in stated for name in names))


def _same(names: Iterable[str], args: Bounds, stated: Bounds, now: datetime) -> bool:
    if "empty" in names:
        bare = args.get("smaller_than") == 1 if stated["empty"] else args.get("larger_than") == 0
        return args.get("empty") is stated["empty"] or bare
    return all(_alike(name, args.get(name), stated.get(name), now) for name in names)


def _alike(name: str, given: object, stated: object, now: datetime) -> bool:
    if given is None or stated is None:
        # Larger than nothing, and newer than the beginning, bound nothing.
        return given is stated or (stated is None and name == "larger_than" and given in (0, -1))
    if name in ("order", "most"):
        return given == stated
    if name in ("containing", "lacking"):
        return fold(str(given)) == fold(str(stated))
    if name in ("larger_than", "smaller_than"):
        return isinstance(given, int) and any(abs(_int(stated) * apart - given) <= 2 for apart in UNITS_APART)
    moment = _moment(given)
    return moment is not None and abs(moment - _when(stated)) <= _tolerance(str(stated), now)


def _tolerance(stated: str, now: datetime) -> timedelta:
    """A named day is that day, wherever. An age is rolling: a day more or less, months of 30 days or the calendar's."""
    if "T" not in stated:
        return ZONES
    age = abs(now - _when(stated))
    return min(0.75 * age, DAY + 0.03 * age)


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _when(stated: object) -> datetime:
    """What our own reader wrote."""
    return _moment(stated) or datetime.max.replace(tzinfo=UTC)


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _says(bounds: Bounds) -> str:
    families = [family for family, names in BOUNDS if any(name in bounds for name in names)]
    told = ", ".join(f"{name} {value}" for name, value in bounds.items())
    return f"bounds the {' and '.join(families)} of the files ({told})"


def _sources(step: Step, plan: Plan) -> list[Step]:
    numbers = sources(step.args)
    return [other for other in plan.steps if other.ordinal in numbers]


def _paths(args: Mapping[str, Any]) -> list[str]:
    given = (args[key] for key in ("path", "paths", "source") if key in args)
    return [path for value in given if not is_reference(value) for path in paths(value)]
