"""The compiler: a Task DSL document to a plan of the skill `make-documents`, in topological order (S3-27).

It is pure, and refuses a document with everything that is wrong with it. An asset goes on by `$step(n).asset` (S4-35).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Any

from libs.events.values import Plan, Step
from libs.multimodal import dsl
from libs.multimodal.dsl import Document, PlanRefused, Task
from libs.multimodal.ports import StepType
from libs.skills import ToolDefinition, sources, strings
from libs.telemetry import span

SKILL = "make-documents"
DEPTH_MOST = 20
"""Tasks in the longest chain of dependencies."""
RESERVED = frozenset(("title", "prompt", "format", "max_resolution", "rubric", "max_cost_cents"))
"""Parameters that a task gives by fields of its own, not by `inputs`."""
TAKES_PICTURES = (StepType.COMPOSE, StepType.ARRANGE)
FALLBACK_FORMATS: Mapping[StepType, tuple[str, ...]] = {StepType.CAPTURE: ("png",)}
"""The formats of tools without a parameter for it."""
TITLES: Mapping[StepType, str] = {
    StepType.DIAGRAM: "Diagram",
    StepType.CHART: "Chart",
    StepType.IMAGE: "Picture",
    StepType.ARRANGE: "Pictures",
    StepType.CAPTURE: "Page",
    StepType.COMPOSE: "Software Requirements Specification",
}


def makers(tools: Sequence[ToolDefinition]) -> dict[StepType, ToolDefinition]:
    """Return the tool of each step type, as far as they are offered."""
    types = {str(each): each for each in StepType}
    return {types[tool.method]: tool for tool in tools if tool.skill == SKILL and tool.method in types}


def planned(text: str, tools: Sequence[ToolDefinition]) -> Plan | None:
    """Return the plan of a text that is a document of the Task DSL; None for any other text. Raises `PlanRefused`."""
    found = dsl.found_in(text)
    return compiled(dsl.read(found), tools) if found is not None else None


def compiled(document: Document, tools: Sequence[ToolDefinition]) -> Plan:
    """Return the plan. A step's id is its task's. Raises `PlanRefused` with every problem, step by step."""
    with span("plan_compilation"):
        return _Compiler(document, makers(tools)).plan()


def worded(plan: Plan, text: str) -> Plan:
    """Return the plan with the words of its request in each step that makes an asset and has none (S3-39)."""
    if not text.strip() or dsl.looks_like_one(text):
        return plan
    steps = (
        step.model_copy(update={"args": {**step.args, "prompt": text[: dsl.PROMPT_MOST]}})
        if step.skill == SKILL and not step.args.get("prompt")
        else step
        for step in plan.steps
    )
    return plan.model_copy(update={"steps": tuple(steps)})


class _Compiler:
    def __init__(self, document: Document, offered: Mapping[StepType, ToolDefinition]) -> None:
        self._tasks, self._offered = {task.task_id: task for task in document.tasks}, offered
        self._document = document
        self._number: dict[str, int] = {}

    def plan(self) -> Plan:
        problems = [*self._twins(), *self._strangers()]
        order = self._ordered(problems)
        self._number = {name: n for n, name in enumerate(order, start=1)}
        steps = []
        for task in (self._tasks[name] for name in order) if order else self._document.tasks:
            found = [*self._problems(task)]
            problems += [f'Step "{task.task_id}": {each}.' for each in found]
            if not problems:
                steps.append(self._step(task))
        if problems:
            raise PlanRefused(problems)
        return Plan(plan_id="task-dsl", reasoning="The request is this document.", steps=tuple(steps))

    def _twins(self) -> Iterator[str]:
        names = [task.task_id for task in self._document.tasks]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f'Step "{name}": {names.count(name)} tasks have this id; give each its own.'

    def _strangers(self) -> Iterator[str]:
        for task in self._document.tasks:
            known = ", ".join([*self._tasks][:10])
            for name in sorted({*task.depends_on} - self._tasks.keys()):
                yield f'Step "{task.task_id}": it depends on "{name}", which is no task; the tasks are {known}.'

    def _ordered(self, problems: list[str]) -> list[str]:
        """Return the ids in topological order, as near to the document's as it allows; none if there is a cycle."""
        place = {name: n for n, name in enumerate(self._tasks)}
        graph = {name: [each for each in _waits(task) if each in place] for name, task in self._tasks.items()}
        sorter = TopologicalSorter(graph)
        try:
            sorter.prepare()
        except CycleError as cycle:
            names = cycle.args[1]
            problems.append(f'Step "{names[0]}": it waits for itself ({" → ".join(names)}); remove a dependency.')
            return []
        names = [*place]
        ready: list[int] = []
        depth: dict[str, int] = {}
        while sorter.is_active():
            for name in sorter.get_ready():
                heappush(ready, place[name])
            name = names[heappop(ready)]
            depth[name] = 1 + max((depth[each] for each in graph[name]), default=0)
            sorter.done(name)
        if (most := max(depth.values())) > DEPTH_MOST:
            last = max(depth, key=depth.__getitem__)
            problems.append(
                f'Step "{last}": {most} steps wait for each other in a row, at most {DEPTH_MOST} may; merge some.'
            )
        return [*depth]

    def _problems(self, task: Task) -> Iterator[str]:
        tool = self._offered.get(task.step_type)
        if tool is None:
            known = ", ".join(self._offered) or "none, since multimodal work is off"
            yield f"no tool does {task.step_type}; the available step types are {known}"
            return
        yield from self._modalities(task)
        formats = tool.properties.get("format", {}).get("enum") or FALLBACK_FORMATS.get(task.step_type, ())
        wanted = task.constraints.format
        if wanted is not None and wanted not in formats:
            yield f"constraints.format {wanted!r} is not supported by {task.step_type}; use {', '.join(formats)}"
        if task.constraints.max_resolution is not None and "max_resolution" not in tool.properties:
            yield f"constraints.max_resolution does not apply to {task.step_type}; remove it"
        if task.quality_gate.enabled and task.quality_gate.rubric and "rubric" not in tool.properties:
            yield f"quality_gate.rubric does not apply to {task.step_type}; remove it"
        for name in sorted(RESERVED & task.inputs.keys()):
            yield f"inputs.{name} has a field of its own; write it there"
        if any(text.startswith("$step(") for text in strings(task.inputs)):
            yield "inputs refer to a step by number; name the task's id in a list of assets, and in depends_on"
        yield from self._missing(task)
        checked = tool.validate(self._args(task, tool))
        known = ", ".join(name for name in tool.properties if name not in RESERVED)
        yield from (f"inputs.{name} is unknown; use {known}" for name in checked.extra if name not in RESERVED)
        yield from (f"inputs.{name} is missing; add it" for name in checked.missing if name != "prompt")
        yield from (each.replace("$.", "inputs.", 1) for each in checked.problems if not each.startswith("$.format"))

    def _modalities(self, task: Task) -> Iterator[str]:
        made = task.step_type.modality
        if task.modality is not made:
            yield f"modality {task.modality} does not fit; {task.step_type} makes a result of modality {made}"
        for name in _waits(task) if task.step_type in TAKES_PICTURES else ():
            other = self._tasks.get(name)
            if other is not None and other.step_type is StepType.COMPOSE and name != task.task_id:
                yield f'it depends on "{name}", a document, where pictures are needed; name steps that make pictures'

    def _missing(self, task: Task) -> Iterator[str]:
        given = task.inputs.keys()
        match task.step_type:
            case StepType.IMAGE if not task.prompt.strip():
                yield "a picture needs a prompt; describe it in the field prompt"
            case StepType.CHART if not {"of", "x"} & given:
                yield (
                    "a chart needs data; give inputs.of (such as file_types), or inputs.path of a table with inputs.x, "
                    "the column of its names or times"
                )
            case StepType.ARRANGE if not (task.depends_on or {"files", "assets"} & given):
                yield "there are no pictures to arrange; name steps in depends_on, or files in inputs.files"
            case StepType.COMPOSE if not (task.depends_on or {"sections", "assets"} & given):
                yield "the document would be empty; name steps in depends_on, or give inputs.sections"

    def _step(self, task: Task) -> Step:
        tool = self._offered[task.step_type]
        args = self._args(task, tool)
        waits = {self._number[name] for name in task.depends_on}
        return Step(
            step_id=task.task_id,
            ordinal=self._number[task.task_id],
            description=(task.title or task.prompt or tool.description)[:300],
            skill=tool.skill,
            tool=tool.name,
            args=args,
            depends_on=tuple(sorted({*sources(args), *waits})),
            constraints=task.constraints.model_dump(exclude_none=True),
            quality_gate=task.quality_gate.model_dump(),
            mutates=tool.mutates,
        )

    def _args(self, task: Task, tool: ToolDefinition) -> dict[str, Any]:
        """Return the tool's args. A budget reaches the tool that can cost something; the others are free."""
        gate, said = task.quality_gate, f"{task.title} {task.prompt}".casefold()
        inputs = {name: value for name, value in task.inputs.items() if name not in RESERVED}
        fields = {
            "title": task.title.strip() or " ".join(task.prompt.split())[:200] or TITLES[task.step_type],
            "prompt": task.prompt,
            "format": task.constraints.format,
            "max_resolution": task.constraints.max_resolution,
            # An empty rubric asks nothing of the result.
            "rubric": gate.rubric if gate.enabled else {},
            "max_cost_cents": task.budget.max_cost_cents if task.budget else None,
        }
        given = {name: value for name, value in fields.items() if value not in (None, "") and name in tool.properties}
        if gate.enabled and not gate.rubric:
            given.pop("rubric", None)
        if task.step_type is StepType.DIAGRAM and not {"of", "source"} & inputs.keys():
            given["of"] = "sequence" if "sequence" in said else "components"
        if task.step_type in TAKES_PICTURES:
            inputs = self._placed(inputs)
            placed = {*strings(inputs)}
            left = [asset for asset in map(self._asset, dict.fromkeys(task.depends_on)) if asset not in placed]
            if left:
                inputs["assets"] = [*inputs.get("assets", ()), *left]
        return {**given, **inputs}

    def _placed(self, value: Any, *, asset: bool = False) -> Any:
        """Replace the ids of tasks in lists of assets by references."""
        match value:
            case str() if asset and value in self._tasks:
                return self._asset(value)
            case list():
                return [self._placed(each, asset=asset) for each in value]
            case dict():
                return {name: self._placed(each, asset=name == "assets") for name, each in value.items()}
        return value

    def _asset(self, name: str) -> str:
        return f"$step({self._number.get(name, 0)}).asset"


def _waits(task: Task) -> list[str]:
    """Return the tasks that it depends on, with those whose assets its inputs name."""
    named = _assets(task.inputs) if task.step_type in TAKES_PICTURES else ()
    return [*dict.fromkeys((*task.depends_on, *named))]


def _assets(value: Any, *, inside: bool = False) -> Iterator[str]:
    match value:
        case str() if inside:
            yield value
        case list():
            for each in value:
                yield from _assets(each, inside=inside)
        case dict():
            for name, each in value.items():
                yield from _assets(each, inside=name == "assets")
