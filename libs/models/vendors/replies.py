"""What a model said, read strictly: JSON of the form that was asked for, tools that exist, args that fit them.

What cannot be used is `Nonsense`, in words that the model can mend it by. Whether a plan may be carried out is not
decided here: the committee's checks come after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from libs import ids
from libs.events.values import Plan, Step
from libs.models.ports import Answered, Drafted, Nonsense, PlannerOutcome, Unclear, Why
from libs.skills import REFERENCE, ToolDefinition, sources, strings

STEPS_MOST = 20
FAULTS_MOST = 5
REASONING_MOST, DESCRIPTION_MOST, TEXT_MOST, SCHEMA_MOST = 2000, 300, 40_000, 2000
FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)


class Wanted(BaseModel):
    """One step as the model writes it (S0-11)."""

    model_config = ConfigDict(extra="ignore")

    tool: str
    args: dict[str, Any] = Field(default_factory=dict)
    description: str = ""


class Reply(BaseModel):
    """What a planner may say."""

    model_config = ConfigDict(extra="ignore")

    kind: Literal["plan", "answer", "question", "decline"] = "plan"
    reasoning: str = ""
    steps: list[Wanted] = Field(default_factory=list)
    complete: bool = True
    text: str = ""
    missing: list[str] = Field(default_factory=list)


class Verdict(BaseModel):
    """What a critic may say (S0-17). Only its schema is used: its words are read by whoever asked."""

    approved: bool
    reason: str
    step: int | None = None


def outcome(text: str, tools: Sequence[ToolDefinition], *, cut: bool) -> PlannerOutcome:
    """A plan, an answer or a question. Raises `Nonsense`."""
    reply = _reply(text, cut=cut)
    match reply.kind:
        case "plan":
            return drafted(reply, tools)
        case "answer" | "decline":
            why = Why.ANSWER if reply.kind == "answer" else Why.DECLINED
            return Answered(_said(reply)[:TEXT_MOST], why)
        case "question":
            return Unclear(_said(reply), missing=tuple(reply.missing[:20]))


def revised(text: str, tools: Sequence[ToolDefinition], *, cut: bool) -> Drafted:
    """A plan and nothing else. Raises `Nonsense`."""
    reply = _reply(text, cut=cut)
    if reply.kind != "plan":
        raise Nonsense('A revised plan is needed: kind "plan", with steps.')
    return drafted(reply, tools)


def drafted(reply: Reply, tools: Sequence[ToolDefinition]) -> Drafted:
    """The reply's steps as a plan of ours; what a step is comes from the tool, not from the model."""
    known = {tool.name: tool for tool in tools}
    faults = list(_faults(reply.steps, known))
    if faults:
        raise Nonsense(" ".join(faults[:FAULTS_MOST]))
    steps = tuple(_step(n, wanted, known[wanted.tool]) for n, wanted in enumerate(reply.steps, start=1))
    plan = Plan(plan_id=ids.new(), reasoning=reply.reasoning[:REASONING_MOST], steps=steps, complete=reply.complete)
    return Drafted(plan)


def unfenced(text: str) -> str:
    """The JSON in a fence that is all of the text: many models write one, whatever they are told."""
    match = FENCED.fullmatch(text)
    return match.group(1) if match else text


def _reply(text: str, *, cut: bool) -> Reply:
    if cut:
        raise Nonsense("The answer was cut off because it was too long. Say the same in fewer words and steps.")
    try:
        said = json.loads(unfenced(text), parse_constant=_no_number)
        if not isinstance(said, dict):
            raise Nonsense("It is not a JSON object.")
        return Reply.model_validate(said)
    except ValidationError as wrong:
        raise Nonsense(" ".join(_complaint(error) for error in wrong.errors()[:FAULTS_MOST])) from None
    except json.JSONDecodeError as wrong:
        raise Nonsense(f"It is not JSON alone: {wrong.msg} at character {wrong.pos}.") from None
    except (ValueError, RecursionError):
        raise Nonsense("It holds what JSON cannot say.") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _complaint(error: Any) -> str:
    return f"{'.'.join(map(str, error['loc'])) or 'the object'}: {error['msg']}."


def _said(reply: Reply) -> str:
    if not reply.text.strip():
        raise Nonsense(f'"text" is empty, and kind "{reply.kind}" needs it.')
    return reply.text.strip()


def _faults(steps: Sequence[Wanted], known: Mapping[str, ToolDefinition]) -> Iterator[str]:
    if not steps:
        yield 'A plan needs at least one step; without one, say kind "answer".'
    if len(steps) > STEPS_MOST:
        yield f"A plan has at most {STEPS_MOST} steps, this one has {len(steps)}."
    for n, wanted in enumerate(steps, start=1):
        tool = known.get(wanted.tool)
        if tool is None:
            yield f"Step {n}: there is no tool {wanted.tool[:100]!r}; the tools are {', '.join(known)[:SCHEMA_MOST]}."
            continue
        misfits = [*_misfits(tool, wanted), *_lost(n, wanted, steps, known)]
        if misfits:
            schema = json.dumps(tool.params, ensure_ascii=False, default=str)[:SCHEMA_MOST]
            yield f"Step {n}, {tool.name}: {'; '.join(misfits)[:SCHEMA_MOST]}. Its params are {schema}."


def _misfits(tool: ToolDefinition, wanted: Wanted) -> Iterator[str]:
    checked = tool.validate(wanted.args)
    yield from (f"{name} is missing" for name in checked.missing)
    yield from (f"{name} is unknown" for name in checked.extra)
    yield from checked.problems


def _lost(n: int, wanted: Wanted, steps: Sequence[Wanted], known: Mapping[str, ToolDefinition]) -> Iterator[str]:
    """References that lead nowhere (S4-31)."""
    for text in strings(wanted.args):
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


def _step(ordinal: int, wanted: Wanted, tool: ToolDefinition) -> Step:
    return Step(
        step_id=ids.new(),
        ordinal=ordinal,
        description=(wanted.description.strip() or tool.description)[:DESCRIPTION_MOST],
        skill=tool.skill,
        tool=tool.name,
        args=wanted.args,
        depends_on=sources(wanted.args),
        mutates=tool.mutates,
    )
