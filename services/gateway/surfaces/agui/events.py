"""The events of a run: text, tool calls and steps as they happen, the turn's state, and how the run ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import orjson
from ag_ui.core import (
    PROTOCOL_VERSION,
    AssistantMessage,
    BaseEvent,
    Interrupt,
    Message,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TokenUsage,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    ToolMessage,
)

from services.gateway.sessions.store import Numbered
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces import questions, segments
from services.gateway.surfaces.segments import Segment, Text

APPROVAL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean"},
        "exclude": {"type": "array", "items": {"type": "string"}, "description": "ids of the items to leave out"},
        "reason": {"type": "string"},
    },
    "required": ["approve"],
}
CLARIFICATION: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
STATE = ("state", "description", "summary", "error", "tool")
"""Members of a step that a run's state shows."""
OVER = ("succeeded", "failed", "denied", "skipped", "rolled_back", "unknown", "cancelled")


class Run:
    """A run in the making. Its state holds the ids of session and turn, the plan, the steps, and the open question."""

    def __init__(self, thread_id: str, run_id: str, *, versioned: bool = True) -> None:
        self._thread, self._run = thread_id, run_id
        # A client that names no protocol version is of 0.x, which knows two outcomes.
        self._versioned = versioned
        self._segment = Segment("", "", 0)
        self._state: dict[str, Any] = {"status": "running", "plan": None, "steps": {}, "question": None}
        self._text, self._speaks = Text(), False
        self._args: dict[str, Any] = {}
        self._called: set[str] = set()
        self._held: set[str] = set()
        """The ids of tool calls and results that the client holds: sent again, it would have them twice."""
        self._steps: dict[str, str] = {}
        """The names of the running steps."""
        self._usage: list[TokenUsage] | None = None

    def begin(self, segment: Segment, earlier: Sequence[Numbered], held: Iterable[Message]) -> None:
        """Set the segment that the run shows, what happened in its turn before, and the messages that the client holds:
        of a run that lost its connection, they are a part.
        """
        self._segment = segment
        for message in held:
            if isinstance(message, ToolMessage):
                self._held.add(message.id)
            elif isinstance(message, AssistantMessage):
                self._held.update(call.id for call in message.tool_calls or () if call.function.arguments)
                if message.id == segment.name and message.content:
                    self._text.resume(message.content)
        self._state |= {"session_id": segment.session_id, "turn_id": segment.turn_id}
        for event in earlier:
            match event:
                case Numbered(type="plan.proposed"):
                    self._state |= {"plan": self._planned(event), "steps": {}}
                case Numbered(type="step.changed"):
                    step = event.data
                    self._state["steps"][str(step["ordinal"])] = {name: step[name] for name in STATE}
                    if step["state"] == "awaiting_approval":
                        # An earlier run has shown this call.
                        self._called.add(step["step_id"])

    def started(self) -> Iterator[BaseEvent]:
        yield RunStartedEvent(thread_id=self._thread, run_id=self._run, protocol_version=PROTOCOL_VERSION)
        yield StateSnapshotEvent(snapshot=self._state)

    def take(self, item: Numbered | TextDelta | Heartbeat) -> Iterator[BaseEvent]:
        """Take what happened; yield the events that report it."""
        match item:
            case TextDelta():
                yield from self._say(self._text.piece(item))
            case Numbered(type="message.completed"):
                yield from self._say(self._text.rest(item.data["text"]))
                self._usage = [_usage(item.data.get("usage") or {})]
            case Numbered(type="plan.proposed"):
                yield _changed("/plan", self._planned(item))
                yield _changed("/steps", {})
            case Numbered(type="step.changed"):
                yield from self._step(item.data)
            case Numbered(type="turn.ended"):
                yield from self._ended(item)
            case Numbered() if segments.ends(item):
                yield from self._interrupted(item)

    def _planned(self, event: Numbered) -> dict[str, Any]:
        plan: dict[str, Any] = event.data["plan"]
        self._args = {step["step_id"]: step["args"] for step in plan["steps"]}
        return plan

    def _step(self, step: Mapping[str, Any]) -> Iterator[BaseEvent]:
        id, state = step["step_id"], step["state"]
        yield _changed(f"/steps/{step['ordinal']}", {name: step[name] for name in STATE}, op="add")
        if state == "running" and id not in self._steps:
            self._steps[id] = f"{step['ordinal']}. {step['description']}"
            yield StepStartedEvent(step_name=self._steps[id])
        if state in ("running", "awaiting_approval", "succeeded") and id not in self._called:
            self._called.add(id)
            if id not in self._held:
                yield from self._call(step)
        if state in OVER and id in self._called:
            self._called.discard(id)
            said, result = step["summary"] or step["error"] or state, f"{id}-result"
            if result not in self._held:
                yield ToolCallResultEvent(message_id=result, tool_call_id=id, content=said, role="tool")
        if state in OVER and id in self._steps:
            yield StepFinishedEvent(step_name=self._steps.pop(id))

    def _call(self, step: Mapping[str, Any]) -> Iterator[BaseEvent]:
        id = step["step_id"]
        yield ToolCallStartEvent(tool_call_id=id, tool_call_name=step["tool"])
        yield ToolCallArgsEvent(tool_call_id=id, delta=orjson.dumps(self._args.get(id, {})).decode())
        yield ToolCallEndEvent(tool_call_id=id)

    def _interrupted(self, question: Numbered) -> Iterator[BaseEvent]:
        approval = questions.is_approval(question)
        yield _changed("/status", "awaiting_approval" if approval else "awaiting_clarification")
        yield _changed("/question", question.data)
        yield from self._closed()
        asked = Interrupt(
            id=questions.name_of(question),
            reason="approval" if approval else "clarification",
            message=questions.text_of(question),
            tool_call_id=question.data.get("step_id"),
            response_schema=APPROVAL if approval else CLARIFICATION,
            expires_at=_expiry(question),
            metadata={"question": question.data},
        )
        yield self._finished(RunFinishedInterruptOutcome(interrupts=[asked]))

    def _ended(self, ended: Numbered) -> Iterator[BaseEvent]:
        state = ended.data["state"]
        yield _changed("/status", state)
        yield from self._closed()
        match state:
            case "completed":
                yield self._finished(RunFinishedSuccessOutcome())
            case "cancelled":
                yield self._finished(RunFinishedCancelledOutcome() if self._versioned else RunFinishedSuccessOutcome())
            case _ if self._segment.resumes:
                # A client forgets the interrupt that it answered only when a run finishes.
                yield from self._say(segments.end_text(ended))
                yield from self._closed()
                yield self._finished(RunFinishedSuccessOutcome())
            case _:
                yield RunErrorEvent(message=segments.end_text(ended), code=ended.data.get("reason") or state.upper())

    def _finished(self, outcome: Any) -> BaseEvent:
        return RunFinishedEvent(thread_id=self._thread, run_id=self._run, outcome=outcome, usage=self._usage)

    def _say(self, text: str) -> Iterator[BaseEvent]:
        if not text:
            return
        if not self._speaks:
            self._speaks = True
            yield TextMessageStartEvent(message_id=self._segment.name, role="assistant")
        yield TextMessageContentEvent(message_id=self._segment.name, delta=text)

    def _closed(self) -> Iterator[BaseEvent]:
        """End what is open: a run ends with nothing open."""
        if self._speaks:
            yield TextMessageEndEvent(message_id=self._segment.name)
        for name in self._steps.values():
            yield StepFinishedEvent(step_name=name)
        self._steps, self._speaks = {}, False


def _changed(path: str, value: Any, *, op: str = "replace") -> BaseEvent:
    return StateDeltaEvent.model_validate({"delta": [{"op": op, "path": path, "value": value}]})


def _expiry(question: Numbered) -> str | None:
    seconds = question.data.get("expires_in")
    return (question.time + timedelta(seconds=seconds)).isoformat() if seconds is not None else None


def _usage(used: Mapping[str, Any]) -> TokenUsage:
    sent, made = int(used.get("input_tokens", 0)), int(used.get("output_tokens", 0))
    return TokenUsage(model=used.get("model"), input_tokens=sent, output_tokens=made, total_tokens=sent + made)
