"""The events of a run: text, tool calls and steps as they happen, the turn's state, and how the run ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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

from libs.events import (
    ApprovalRequested,
    ClarificationRequested,
    MessageCompleted,
    PlanProposed,
    StepChanged,
    StepState,
    TurnEnded,
    Usage,
)
from services.gateway.multimodal.jobs import in_words, linked
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces import questions, segments
from services.gateway.surfaces.questions import Asked
from services.gateway.surfaces.segments import Segment, Text
from services.gateway.surfaces.turn_view import TurnView, fold

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
STATE = {"state", "description", "summary", "error", "tool"}
"""Members of a step that a run's state shows."""
CALLED = (StepState.RUNNING, StepState.AWAITING_APPROVAL, StepState.SUCCEEDED)
"""States of a step that show its call."""
OPEN = (StepState.PENDING, StepState.AWAITING_APPROVAL, StepState.RUNNING)


class Run:
    """A run in the making. Its state holds the ids of session and turn, the plan, the steps, and the open question.
    `base` is our address.
    """

    def __init__(self, thread_id: str, run_id: str, base: str, *, versioned: bool = True) -> None:
        self._thread, self._run, self._base = thread_id, run_id, base
        # A client that names no protocol version is of 0.x, which knows two outcomes.
        self._versioned = versioned
        self._segment = Segment("", "", 0)
        self._text, self._speaks = Text(), False
        self._view = TurnView()
        self._called: set[str] = set()
        self._held: set[str] = set()
        """The ids of tool calls and results that the client holds: sent again, it would have them twice."""
        self._steps: dict[str, str] = {}
        """The names of the running steps."""

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
        self._view = TurnView.of(earlier)
        steps = (item.event for item in earlier if isinstance(item.event, StepChanged))
        # An earlier run has shown these calls.
        self._called = {step.step_id for step in steps if step.state is StepState.AWAITING_APPROVAL}

    def started(self) -> Iterator[BaseEvent]:
        yield RunStartedEvent(thread_id=self._thread, run_id=self._run, protocol_version=PROTOCOL_VERSION)
        state = {
            "status": "running",
            "plan": self._view.plan.model_dump(mode="json") if self._view.plan is not None else None,
            "steps": {str(ordinal): _shown(step) for ordinal, step in self._view.steps.items()},
            "question": None,
            "session_id": self._segment.session_id,
            "turn_id": self._segment.turn_id,
        }
        yield StateSnapshotEvent(snapshot=state)

    def take(self, item: Numbered | TextDelta | Heartbeat) -> Iterator[BaseEvent]:
        """Take what happened; yield the events that report it."""
        if isinstance(item, Numbered):
            self._view = fold(self._view, item)
        match item:
            case TextDelta():
                yield from self._say(self._text.piece(item))
            case Numbered(event=MessageCompleted(text=text)):
                yield from self._say(self._text.rest(linked(text, self._view.made.values(), self._base)))
            case Numbered(event=PlanProposed(plan=plan)):
                yield _changed("/plan", plan.model_dump(mode="json"))
                yield _changed("/steps", {})
            case Numbered(event=StepChanged() as step):
                yield from self._step(step)
            case Numbered(event=TurnEnded() as ended):
                yield from self._ended(ended)
            case Numbered(event=ApprovalRequested() | ClarificationRequested() as asked):
                yield from self._interrupted(item, asked)

    def _step(self, step: StepChanged) -> Iterator[BaseEvent]:
        id, over = step.step_id, step.state not in OPEN
        yield _changed(f"/steps/{step.ordinal}", _shown(step), op="add")
        if step.state is StepState.RUNNING and id not in self._steps:
            self._steps[id] = f"{step.ordinal}. {step.description}"
            yield StepStartedEvent(step_name=self._steps[id])
        if step.state in CALLED and id not in self._called:
            self._called.add(id)
            if id not in self._held:
                yield ToolCallStartEvent(tool_call_id=id, tool_call_name=step.tool)
                yield ToolCallArgsEvent(tool_call_id=id, delta=orjson.dumps(self._view.args(id)).decode())
                yield ToolCallEndEvent(tool_call_id=id)
        if over and id in self._called:
            self._called.discard(id)
            said, result = in_words(step) or step.error or step.state.value, f"{id}-result"
            if result not in self._held:
                yield ToolCallResultEvent(message_id=result, tool_call_id=id, content=said, role="tool")
        if over and id in self._steps:
            yield StepFinishedEvent(step_name=self._steps.pop(id))

    def _interrupted(self, item: Numbered, asked: Asked) -> Iterator[BaseEvent]:
        yield _changed("/status", self._view.state)
        yield _changed("/question", item.data)
        yield from self._closed()
        approval = asked if isinstance(asked, ApprovalRequested) else None
        interrupt = Interrupt(
            id=questions.name_of(item),
            reason="approval" if approval else "clarification",
            message=questions.text_of(asked),
            tool_call_id=approval.step_id if approval else None,
            response_schema=APPROVAL if approval else CLARIFICATION,
            expires_at=(item.time + timedelta(seconds=approval.expires_in)).isoformat() if approval else None,
            metadata={"question": item.data},
        )
        yield self._finished(RunFinishedInterruptOutcome(interrupts=[interrupt]))

    def _ended(self, ended: TurnEnded) -> Iterator[BaseEvent]:
        yield _changed("/status", ended.state)
        yield from self._closed()
        match ended.state:
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
                yield RunErrorEvent(message=segments.end_text(ended), code=ended.reason or ended.state.upper())

    def _finished(self, outcome: Any) -> BaseEvent:
        usage = [_usage(self._view.usage)] if self._view.usage is not None else None
        return RunFinishedEvent(thread_id=self._thread, run_id=self._run, outcome=outcome, usage=usage)

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


def _shown(step: StepChanged) -> dict[str, Any]:
    return step.model_dump(mode="json", include=STATE)


def _usage(used: Usage) -> TokenUsage:
    sent, made = used.input_tokens, used.output_tokens
    return TokenUsage(model=used.model, input_tokens=sent, output_tokens=made, total_tokens=sent + made)
