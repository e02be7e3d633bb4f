"""The start of a turn: a message is refused, queued, or begins a turn with its analysis."""

from __future__ import annotations

from dataclasses import dataclass

from libs import ids
from libs.events import (
    ActionRecorded,
    ClarificationReplied,
    MessageReceived,
    RememberRequested,
    TurnAnalysed,
    TurnQueued,
    TurnStarted,
)
from libs.hooks import HOOK_REFUSED, TEXT_MOST, Point
from libs.leases import NewLease
from libs.runtime import UnknownAgent
from libs.telemetry import metrics
from services.conversation_worker.domain import event_sizes
from services.conversation_worker.domain.analysis import analyse
from services.conversation_worker.turn.context import TURN, TurnContext, recorded
from services.conversation_worker.turn.state import Outcome, QueuedMessage, Turn, TurnState, attached
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

REPLIES_MOST = 8
"""Replies to questions of one turn that are kept beside the last."""
MAILBOX_BYTES = 512 * 1024
"""Text that waits in one session's mailbox: the mailbox is part of the session's row, written with each change."""
MEMORY_MOST = 4000
"""Characters of a message that are worth remembering."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message, and why it cannot be queued, as code and detail."""

    message: QueuedMessage
    full: tuple[str, str] = ("", "")


async def receive(context: TurnContext, uow: UnitOfWork, message: QueuedMessage, said: MessageReceived) -> None:
    """Refuse a message, or take it. One that was seen before changes nothing."""
    if uow.has_seen(message.turn_id):
        if message.turn_id in uow.session.ended:
            uow.emit(_stale(message))
        return
    if message.turn_id in uow.session.cancelled:
        uow.end_turn(message.turn_id, Outcome(state=TurnState.CANCELLED, reason="CANCELLED"))
        return
    if message.answers is not None and not uow.accepts(Input.REPLY, message.answers):
        message = _begins_own_turn(uow, message)
    if event_sizes.size(said.text) > event_sizes.TEXT_MOST:
        refuse(uow, message, "MESSAGE_TOO_LARGE", f"a message has at most {event_sizes.TEXT_MOST} bytes")
        return
    if message.agent is None and uow.session.agent is not None:
        message = message.model_copy(update={"agent": uow.session.agent})
    if message.agent is not None and message.agent not in context.platform.agents:
        refuse(uow, message, UnknownAgent.code, f"there is no agent {message.agent}")
        return
    decision = await context.decide("conversation.send", uow, message, length=len(said.text))
    uow.emit(recorded(decision, message, turn_id=message.answers or message.turn_id, resource=message.message_id))
    if not decision.allowed:
        refuse(uow, message, "POLICY_DENIED", decision.reason)
        return
    # An answer to a question starts no task.
    if message.answers is None:
        refusal = await context.gate(Point.TASK_START, uow, message, text=said.text[:TEXT_MOST])
        if refusal is not None:
            refuse(uow, message, HOOK_REFUSED, refusal)
            return
    # The first one counts: a session works in one folder (architecture.md 10).
    if said.root is not None and uow.session.root is None:
        uow.update_session(root=said.root)
    if message.agent != uow.session.agent:
        uow.update_session(agent=message.agent)
    _take(context, uow, message, on_busy=said.on_busy)


def _take(context: TurnContext, uow: UnitOfWork, message: QueuedMessage, *, on_busy: str) -> None:
    """Let the turn take a message: as the answer to a clarification, as its begin, into the mailbox, or not at all."""
    turn = uow.conversation.turn
    key = uow.cause.tenant, uow.session.session_id
    if message.answers is not None:
        uow.take(Input.REPLY, message.answers, message)
        return
    if message.call is not None and turn is not None and turn.state is TurnState.AWAITING_CLARIFICATION:
        # Its client would wait as long as the question does.
        refuse(uow, message, "BUSY", "another turn waits for an answer")
        return
    # A message behind a queued one must not overtake it, even with a free slot.
    slot = turn is None and not uow.session.queue and context.slots.admit(key)
    full = _full(context, uow, message, on_busy)
    uow.take(Input.MESSAGE, message.turn_id, Incoming(message, full or ("", "")), slot=slot, room=full is None)


def _full(context: TurnContext, uow: UnitOfWork, message: QueuedMessage, on_busy: str) -> tuple[str, str] | None:
    """Return why the mailbox does not take this message, as code and detail."""
    waiting, most = uow.session.queue, context.settings.queue_most
    if uow.conversation.turn is not None and on_busy == "reject":
        return "BUSY", "another turn is under way"
    if len(waiting) >= most:
        return "MAILBOX_FULL", f"{most} messages wait already"
    if sum(event_sizes.size(each.text) for each in (*waiting, message)) > MAILBOX_BYTES:
        return "MAILBOX_FULL", f"more than {MAILBOX_BYTES} bytes of messages would wait"
    return None


async def queue(_: TurnContext, uow: UnitOfWork, given: Incoming) -> None:
    """Put a message into the mailbox."""
    message, queue = given.message, (*uow.session.queue, given.message)
    uow.update_session(queue=queue)
    uow.emit(TurnQueued(turn_id=message.turn_id, message_id=message.message_id, position=len(queue)))


async def wait_for_slot(_: TurnContext, uow: UnitOfWork, __: object = None) -> None:
    """Start the wait after which the session's next turn begins (`admission`)."""
    uow.start(NewLease(ids.derived(uow.cause.id, TURN), TURN, {}))


async def continue_mailbox(context: TurnContext, uow: UnitOfWork) -> None:
    """Begin the next message of the mailbox, or wait for a slot, if the turn has ended in this unit of work."""
    turn = uow.conversation.turn
    if turn is None or not turn.state.has_ended or not uow.session.queue:
        return
    if context.slots.awaited(uow.cause.tenant):
        # Other sessions of this tenant were here before.
        await wait_for_slot(context, uow)
    else:
        begin_next(uow)


def begin_next(uow: UnitOfWork) -> None:
    """Begin the turn of the first queued message, if no turn is under way."""
    if not uow.session.queue or not uow.accepts(Input.SLOT_FREE):
        return
    message, *rest = uow.session.queue
    uow.take(Input.SLOT_FREE, given=Incoming(message))
    # Out of the mailbox in the same changeset: a repeat of this input finds the turn begun.
    uow.update_session(queue=tuple(rest))


async def begin(context: TurnContext, uow: UnitOfWork, given: Incoming) -> None:
    """Begin a turn: analyse the message (S3-09)."""
    message = given.message
    found = analyse(message.text)
    uow.open_turn(
        Turn(
            turn_id=message.turn_id,
            state=TurnState.CONTEXT,
            message=message,
            intent=found.intent,
            skill=message.skill,
            attachments=message.attachments,
        )
    )
    _attach(uow, message)
    uow.emit(
        TurnStarted(turn_id=message.turn_id, message_id=message.message_id, text=message.text, agent=message.agent),
        TurnAnalysed(turn_id=message.turn_id, intent=found.intent, sentiment=found.sentiment, tags=found.tags),
    )
    if message.call is None:
        uow.emit(memory_request(message, message.message_id, "message", message.text))
    metrics.messages.labels("accepted").inc()


def refuse(uow: UnitOfWork, message: QueuedMessage, reason: str, detail: str) -> None:
    """Refuse a message before it becomes a turn."""
    metrics.messages.labels("refused").inc()
    _begins_own_turn(uow, message)
    uow.end_turn(message.turn_id, Outcome(state=TurnState.REFUSED, reason=reason, detail=detail))


async def refuse_full(_: TurnContext, uow: UnitOfWork, given: Incoming) -> None:
    """Refuse a message for which the mailbox has no room."""
    refuse(uow, given.message, *given.full)


def _stale(message: QueuedMessage) -> ActionRecorded:
    """Return the record of a message that arrives again after its turn, such as from a dead letter."""
    return ActionRecorded(
        action="conversation.send",
        phase="decision",
        verdict="stale",
        principal=message.principal,
        resource=message.message_id,
        turn_id=message.turn_id,
    )


async def answer_clarification(_: TurnContext, uow: UnitOfWork, message: QueuedMessage) -> None:
    """Take the answer to the turn's clarification."""
    turn = uow.turn
    # The wait for this answer, which would end the turn as unanswered.
    if turn.working is not None:
        uow.end(turn.working)
    uow.emit(
        ClarificationReplied(turn_id=turn.turn_id, message_id=message.message_id, text=message.text),
        memory_request(message, message.message_id, "message", message.text),
    )
    # It has no turn of its own; noted all the same, so that a repetition begins none.
    uow.note_ended(message.turn_id)
    before = (*turn.replies, turn.clarification) if turn.clarification is not None else turn.replies
    _attach(uow, message)
    uow.update_turn(attachments=attached(turn.attachments, message.attachments))
    uow.update_turn(clarification=message.text, replies=before[-REPLIES_MOST:], skill=message.skill or turn.skill)


def _begins_own_turn(uow: UnitOfWork, message: QueuedMessage) -> QueuedMessage:
    """Return a message that answers no question any more, and report its turn if it was to answer one."""
    if message.answers is None:
        return message
    # One that is refused may be larger than an event.
    about = {"message_id": message.message_id, "text": message.text[: event_sizes.ANSWER_MOST]}
    uow.emit(ClarificationReplied(turn_id=message.answers, instead=message.turn_id, **about))
    return message.model_copy(update={"answers": None})


def _attach(uow: UnitOfWork, message: QueuedMessage) -> None:
    if message.attachments:
        uow.update_session(attachments=attached(uow.session.attachments, message.attachments))


def memory_request(message: QueuedMessage, memory_id: str, kind: str, text: str) -> RememberRequested:
    return RememberRequested(
        memory_id=memory_id, kind=kind, text=text[:MEMORY_MOST], user=message.principal, scopes=message.scopes
    )
