"""Turns as A2A tasks, and a turn's events as updates of its task. Pure functions: facts in, protocol objects out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from libs import ids
from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    Asset,
    ClarificationReplied,
    ClarificationRequested,
    MessageCompleted,
    StepChanged,
    TurnEnded,
    TurnQueued,
)
from services.gateway.sessions import outcomes
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.viewer import TextDelta
from services.gateway.surfaces import questions
from services.gateway.surfaces.a2a.store import ExchangedMessage, TaskFile, TaskTurn, made_file, question_id
from services.gateway.surfaces.turns import Question

EXTENSION = "urn:suma:a2a:turn:v1"
"""Our extension: what a message may say of its turn, and what an update says of its event."""
PARTIAL_TEXT = "urn:suma:a2a:partial-text:v1"
"""An extension that a client activates to receive the answer piece by piece. Pieces differ from stream to stream, which
the specification (3.5.2) forbids for a task's ordinary events.
"""
ANSWER = "answer"
"""The id of the artifact that holds the answer."""
SHORT_DIGEST = 16
"""Letters of an approval's digest that bind an answer in words to what was shown."""
STATES: Mapping[str, TaskState] = {
    "received": TaskState.TASK_STATE_SUBMITTED,
    "queued": TaskState.TASK_STATE_SUBMITTED,
    "running": TaskState.TASK_STATE_WORKING,
    "awaiting_approval": TaskState.TASK_STATE_INPUT_REQUIRED,
    "awaiting_clarification": TaskState.TASK_STATE_INPUT_REQUIRED,
    "completed": TaskState.TASK_STATE_COMPLETED,
    "refused": TaskState.TASK_STATE_REJECTED,
    "failed": TaskState.TASK_STATE_FAILED,
    "cancelled": TaskState.TASK_STATE_CANCELED,
}
"""The task's state for each state of a turn."""
SHOWN_OF_STEP = {"ordinal", "tool", "description", "state", "summary", "error"}


@dataclass(frozen=True, slots=True)
class Facts:
    """The known facts of one turn."""

    turn: TaskTurn
    at: datetime
    """When it got its status."""
    question: Question | None = None
    files: Sequence[TaskFile] = ()
    exchange: Sequence[ExchangedMessage] = ()


def turn_states(state: TaskState) -> Sequence[str] | None:
    """Return the states of turns that are this state of a task; None for all."""
    if state == TaskState.TASK_STATE_UNSPECIFIED:
        return None
    return [name for name, found in STATES.items() if found == state]


def task_of(facts: Facts, *, base: str, history: int | None, artifacts: bool = True) -> Task:
    """Return a turn as a task, with at most `history` of its last messages; None: all. `base` is our address."""
    turn = facts.turn
    said = _history(facts)
    return Task(
        id=turn.turn_id,
        context_id=turn.context_id,
        status=_status(facts),
        artifacts=_artifacts(facts, base) if artifacts else [],
        history=said if history is None else said[len(said) - min(history, len(said)) :],
        metadata=_struct({EXTENSION: {"state": turn.state, **({"reason": turn.reason} if turn.reason else {})}}),
    )


class Updates:
    """A turn's events as updates of its task. All streams of a task get equal updates in one order."""

    def __init__(self, turn: TaskTurn, *, base: str) -> None:
        self._turn, self._base = turn, base
        self._piece: tuple[str, int] | None = None

    def of(self, item: Numbered) -> Iterator[TaskStatusUpdateEvent | TaskArtifactUpdateEvent]:
        """Yield what an event changes of the task."""
        match item.event:
            case ApprovalClosed(outcome=outcomes.STALE) | ClarificationReplied(instead=str()):
                return
            case MessageCompleted(text=text):
                yield self._artifact(_answer(text), last=True)
                return
            case StepChanged(result=Asset() as made):
                file = TaskFile(self._turn.turn_id, made.asset_id, made.filename, made.media_type)
                yield self._artifact(_file(file, self._base), last=True)
            case StepChanged() as step if (drawn := made_file(step)) is not None:
                yield self._artifact(_file(drawn, self._base), last=True)
        if item.type != "message.accepted":
            yield self._update(item, _status_after(item, self._turn))

    def piece(self, delta: TextDelta) -> TaskArtifactUpdateEvent:
        """Return partial text as a piece of the answer. Another call or attempt replaces the earlier pieces."""
        same = self._piece == (delta.call, delta.attempt)
        self._piece = delta.call, delta.attempt
        return self._artifact(_answer(delta.text), append=same)

    def _update(self, item: Numbered, status: TaskStatus) -> TaskStatusUpdateEvent:
        step = item.event.model_dump(mode="json", include=SHOWN_OF_STEP) if isinstance(item.event, StepChanged) else {}
        shown = {name: value for name, value in step.items() if value}
        return TaskStatusUpdateEvent(
            task_id=self._turn.turn_id,
            context_id=self._turn.context_id,
            status=status,
            metadata=_struct({EXTENSION: {"seq": item.seq, "event": item.type, **shown}}),
        )

    def _artifact(self, artifact: Artifact, *, append: bool = False, last: bool = False) -> TaskArtifactUpdateEvent:
        return TaskArtifactUpdateEvent(
            task_id=self._turn.turn_id,
            context_id=self._turn.context_id,
            artifact=artifact,
            append=append,
            last_chunk=last,
        )


def how(approval: ApprovalRequested) -> str:
    """Return how a client answers an approval, with words that are bound to it."""
    return questions.how(approval, digest=f" {approval.digest[:SHORT_DIGEST]}")


def pauses(state: TaskState) -> bool:
    """Return whether a stream closes in this state: it is terminal, or waits for the client (11.7)."""
    return state not in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)


def _status_after(item: Numbered, turn: TaskTurn) -> TaskStatus:
    """Return the status that an event leads to."""
    state, message = TaskState.TASK_STATE_WORKING, None
    match item.event:
        case TurnQueued():
            state = TaskState.TASK_STATE_SUBMITTED
        case TurnEnded() as ended:
            state = STATES[ended.state]
            message = _agent_message(turn, item.correlation or turn.turn_id, ended.detail or ended.reason or "")
        case ClarificationRequested() | ApprovalRequested() as asked:
            state, message = TaskState.TASK_STATE_INPUT_REQUIRED, _question(turn, Question(item, asked))
    return TaskStatus(state=state, message=message, timestamp=_time(item.time))


def _status(facts: Facts) -> TaskStatus:
    turn, message = facts.turn, None
    if facts.question is not None:
        message = _question(turn, facts.question)
    elif turn.ended_at is not None and turn.state != "completed":
        message = _agent_message(turn, turn.turn_id, turn.detail or turn.reason or "")
    return TaskStatus(state=STATES[turn.state], message=message, timestamp=_time(facts.at))


def _history(facts: Facts) -> list[Message]:
    turn = facts.turn
    first = ExchangedMessage(turn.turn_id, turn.message_id or turn.turn_id, "user", turn.text, turn.created_at)
    return [
        _message(turn, said) for said in (first, *(each for each in facts.exchange if each.turn_id == turn.turn_id))
    ]


def _message(turn: TaskTurn, said: ExchangedMessage) -> Message:
    role = Role.ROLE_USER if said.role == "user" else Role.ROLE_AGENT
    return Message(
        message_id=said.message_id,
        context_id=turn.context_id,
        task_id=turn.turn_id,
        role=role,
        parts=[Part(text=said.text, media_type="text/plain")],
    )


def _artifacts(facts: Facts, base: str) -> list[Artifact]:
    files = [_file(file, base) for file in facts.files if file.turn_id == facts.turn.turn_id]
    return [*files, *([_answer(facts.turn.answer)] if facts.turn.answer is not None else [])]


def _answer(text: str) -> Artifact:
    return Artifact(artifact_id=ANSWER, name=ANSWER, parts=[Part(text=text, media_type="text/plain")])


def _file(file: TaskFile, base: str) -> Artifact:
    where = base + (file.path or f"/v1/assets/{file.asset_id}")
    part = Part(url=where, filename=file.filename, media_type=file.media_type)
    return Artifact(artifact_id=file.asset_id, name=file.filename, parts=[part])


def _question(turn: TaskTurn, question: Question) -> Message:
    """Return the message of a status that waits for the client."""
    asked = question.asked
    if isinstance(asked, ApprovalRequested):
        name, text = asked.approval_id, "\n".join((*questions.described(asked), how(asked)))
        about = {"type": "approval", **asked.model_dump(mode="json")}
    else:
        name, text = question_id(turn.turn_id, question.event.seq), asked.question
        about = {"type": "clarification", **asked.model_dump(mode="json", include={"candidates", "missing"})}
    data = Part(data=ParseDict(about, Value()), media_type="application/json")
    return Message(
        message_id=name,
        context_id=turn.context_id,
        task_id=turn.turn_id,
        role=Role.ROLE_AGENT,
        parts=[Part(text=text, media_type="text/plain"), data],
    )


def _agent_message(turn: TaskTurn, name: str, text: str) -> Message | None:
    if not text:
        return None
    return _message(turn, ExchangedMessage(turn.turn_id, ids.derived(name, text), "agent", text, turn.created_at))


def _struct(content: Mapping[str, Any]) -> Struct:
    found = Struct()
    found.update(content)
    return found


def _time(at: datetime) -> Timestamp:
    found = Timestamp()
    found.FromDatetime(at)
    return found
