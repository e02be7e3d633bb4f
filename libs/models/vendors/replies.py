"""Strict parsing of a model's replies: JSON of the requested form, existing tools, and args that fit them.

An unusable reply raises `InvalidModelOutput` with a message that lets the model repair it. The committee decides later
whether a plan may run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from libs import ids
from libs.events.values import Plan, Step
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, InvalidModelOutput, PlanDraft, PlannerOutcome
from libs.multimodal import compiler, dsl
from libs.skills import REFERENCE, ToolDefinition, sources, strings

FAULTS_MOST, NEAREST_MOST = 5, 8
REASONING_MOST, DESCRIPTION_MOST, TEXT_MOST, SCHEMA_MOST = 2000, 300, 40_000, 2000
FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)


class ProposedStep(BaseModel):
    """One step as the model writes it (S0-11)."""

    model_config = ConfigDict(extra="ignore")

    tool: str
    args: dict[str, Any] = Field(default_factory=dict)
    description: str = ""


class Reply(BaseModel):
    """A planner's reply."""

    model_config = ConfigDict(extra="ignore")

    kind: Literal["plan", "answer", "question", "decline"] = "plan"
    reasoning: str = ""
    steps: list[ProposedStep] = Field(default_factory=list)
    complete: bool = True
    text: str = ""
    missing: list[str] = Field(default_factory=list)


class Verdict(BaseModel):
    """A critic's verdict (S0-17). Only its schema is used; the caller of the review parses the text."""

    approved: bool
    reason: str
    step: int | None = None


def outcome(text: str, tools: Sequence[ToolDefinition], *, cut: bool) -> PlannerOutcome:
    """Parse a plan, an answer or a question; a plan may also be a document of the Task DSL. Raises
    `InvalidModelOutput`.
    """
    if not cut and (written := _document(text, tools)) is not None:
        return written
    reply = _reply(text, cut=cut)
    match reply.kind:
        case "plan":
            return drafted(reply, tools)
        case "answer" | "decline":
            kind = AnswerKind.ANSWER if reply.kind == "answer" else AnswerKind.DECLINED
            return Answered(_required_text(reply)[:TEXT_MOST], kind)
        case "question":
            return ClarificationNeeded(_required_text(reply), missing=tuple(reply.missing[:20]))


def revised(text: str, tools: Sequence[ToolDefinition], *, cut: bool) -> PlanDraft:
    """Parse a plan; any other kind is an error. Raises `InvalidModelOutput`."""
    if not cut and (written := _document(text, tools)) is not None:
        return written
    reply = _reply(text, cut=cut)
    if reply.kind != "plan":
        raise InvalidModelOutput('A revised plan is needed: kind "plan", with steps.')
    return drafted(reply, tools)


def _document(text: str, tools: Sequence[ToolDefinition]) -> PlanDraft | None:
    """Return the plan of a document of the Task DSL; None for another reply."""
    try:
        plan = compiler.planned(text, tools)
    except dsl.PlanRefused as refused:
        raise InvalidModelOutput(" ".join(refused.problems[:FAULTS_MOST])) from None
    return PlanDraft(plan.model_copy(update={"reasoning": ""})) if plan is not None else None


def drafted(reply: Reply, tools: Sequence[ToolDefinition]) -> PlanDraft:
    """Convert the reply's steps to a plan; each step's properties come from its tool, not from the model."""
    known = {tool.name: tool for tool in tools}
    faults = list(_faults(reply.steps, known))
    if faults:
        raise InvalidModelOutput(" ".join(faults[:FAULTS_MOST]))
    steps = tuple(_step(n, proposed, known[proposed.tool]) for n, proposed in enumerate(reply.steps, start=1))
    plan = Plan(plan_id=ids.new(), reasoning=reply.reasoning[:REASONING_MOST], steps=steps, complete=reply.complete)
    return PlanDraft(plan)


def unfenced(text: str) -> str:
    """Return the JSON inside a code fence around the whole text: many models write one despite the prompt."""
    match = FENCED.fullmatch(text)
    return match.group(1) if match else text


def _reply(text: str, *, cut: bool) -> Reply:
    if cut:
        raise InvalidModelOutput(
            "The answer was cut off because it was too long. Say the same in fewer words and steps."
        )
    try:
        parsed = json.loads(unfenced(text), parse_constant=_refuse_constant)
        if not isinstance(parsed, dict):
            raise InvalidModelOutput("It is not a JSON object.")
        return Reply.model_validate(parsed)
    except ValidationError as wrong:
        raise InvalidModelOutput(" ".join(_validation_text(error) for error in wrong.errors()[:FAULTS_MOST])) from None
    except json.JSONDecodeError as wrong:
        raise InvalidModelOutput(f"The reply is not valid JSON: {wrong.msg} at character {wrong.pos}.") from None
    except (ValueError, RecursionError):
        raise InvalidModelOutput("The reply holds a value that JSON cannot represent.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _validation_text(error: Any) -> str:
    return f"{'.'.join(map(str, error['loc'])) or 'the object'}: {error['msg']}."


def _required_text(reply: Reply) -> str:
    if not reply.text.strip():
        raise InvalidModelOutput(f'"text" is empty, and kind "{reply.kind}" needs it.')
    return reply.text.strip()


def _faults(steps: Sequence[ProposedStep], known: Mapping[str, ToolDefinition]) -> Iterator[str]:
    if not steps:
        yield 'A plan needs at least one step; without one, say kind "answer".'
    for n, proposed in enumerate(steps, start=1):
        tool = known.get(proposed.tool)
        if tool is None:
            yield f"Step {n}: there is no tool {proposed.tool[:100]!r}; {_nearest(proposed.tool, known)}."
            continue
        misfits = [*_misfits(tool, proposed), *_bad_references(n, proposed, steps, known)]
        if misfits:
            schema = json.dumps(tool.params, ensure_ascii=False, default=str)[:SCHEMA_MOST]
            yield f"Step {n}, {tool.name}: {'; '.join(misfits)[:SCHEMA_MOST]}. Its params are {schema}."


def _nearest(name: str, known: Mapping[str, ToolDefinition]) -> str:
    """Name the tools with the most similar names."""
    near = get_close_matches(name[:100], known, n=NEAREST_MOST, cutoff=0.0)
    return f"the nearest of {len(known)} tools are {', '.join(near)}"


def _misfits(tool: ToolDefinition, proposed: ProposedStep) -> Iterator[str]:
    checked = tool.validate(proposed.args)
    yield from (f"{name} is missing" for name in checked.missing)
    yield from (f"{name} is unknown" for name in checked.extra)
    yield from checked.problems


def _bad_references(
    n: int, proposed: ProposedStep, steps: Sequence[ProposedStep], known: Mapping[str, ToolDefinition]
) -> Iterator[str]:
    """Yield references that cannot be resolved (S4-31)."""
    for text in strings(proposed.args):
        if not text.startswith("$step("):
            continue
        match = REFERENCE.match(text)
        if match is None:
            yield f'{text[:100]!r} is no reference: write "$step(1).field", and nothing else in the value'
            continue
        source, field = int(match[1]), match[2]
        if not 1 <= source < n:
            yield f"{text!r} names a step that does not come before"
            continue
        tool = known.get(steps[source - 1].tool)
        if tool is not None and field not in tool.returns:
            yield f"step {source} returns no {field!r} but {', '.join(tool.returns) or 'nothing'}"


def _step(ordinal: int, proposed: ProposedStep, tool: ToolDefinition) -> Step:
    return Step(
        step_id=ids.new(),
        ordinal=ordinal,
        description=(proposed.description.strip() or tool.description)[:DESCRIPTION_MOST],
        skill=tool.skill,
        tool=tool.name,
        args=proposed.args,
        depends_on=sources(proposed.args),
        mutates=tool.mutates,
    )
