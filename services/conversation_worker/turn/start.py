"""The start of a turn: a message is refused, queued, or begins a turn with its analysis."""

from __future__ import annotations

from libs import ids
from libs.events import (
    ActionRecorded,
    MessageReceived,
    RememberRequested,
    TurnAnalysed,
    TurnQueued,
    TurnStarted,
)
from libs.events.reasons import ANSWERED_CLARIFICATION
from libs.leases.ports import NewLease
from libs.telemetry import metrics
from services.conversation_worker.domain import event_sizes
from services.conversation_worker.domain.analysis import analyse
from services.conversation_worker.rows import MessageRow
from services.conversation_worker.turn import gathering
from services.conversation_worker.turn.context import TURN, TurnContext, recorded
from services.conversation_worker.turn.state import Outcome, QueuedMessage, Turn, TurnState, attached
from services.conversation_worker.turn.transitions import Effect, Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

REPLIES_MOST = 8
"""Replies to questions of one turn that are kept beside the last."""
MAILBOX_BYTES = 512 * 1024
"""Text that waits in one session's mailbox: the mailbox is part of the session's row, written with each change."""
MEMORY_MOST = 4000
"""Characters of a message that are worth remembering."""


async def receive(context: TurnContext, uow: UnitOfWork, message: QueuedMessage, said: MessageReceived) -> None:
    """Refuse a message, or take it. One that was seen before changes nothing."""
    if uow.has_seen(message.turn_id):
        if message.turn_id in uow.session.ended:
            uow.emit(_stale(message))
        return
    if message.turn_id in uow.session.cancelled:
        uow.end_turn(message.turn_id, Outcome(state=TurnState.CANCELLED, reason="CANCELLED"))
        return
    if event_sizes.size(said.text) > event_sizes.TEXT_MOST:
        refuse(uow, message, "MESSAGE_TOO_LARGE", f"a message has at most {event_sizes.TEXT_MOST} bytes")
        return
    decision = await context.decide("conversation.send", uow, message, length=len(said.text))
    uow.emit(recorded(decision, message, turn_id=message.turn_id, resource=message.message_id))
    if not decision.allowed:
        refuse(uow, message, "POLICY_DENIED", decision.reason)
        return
    if said.root is not None and uow.session.root is None:
        uow.update_session(root=said.root)
    _take(context, uow, message, on_busy=said.on_busy)


def _take(context: TurnContext, uow: UnitOfWork, message: QueuedMessage, *, on_busy: str) -> None:
    """Take a message: it answers a clarification, begins a turn, is queued, or is refused."""
    turn = uow.conversation.turn
    key = uow.cause.tenant, uow.session.session_id
    if message.call is not None and turn is not None and turn.state is TurnState.AWAITING_CLARIFICATION:
        # A call answers no question.
        refuse(uow, message, "BUSY", "another turn waits for an answer")
        return
    # A message behind a queued one must not overtake it, even with a free slot.
    slot = turn is None and not uow.session.queue and context.slots.admit(key)
    full = _full(context, uow, message, on_busy)
    effects = uow.take(Input.MESSAGE, message.turn_id, slot=slot, room=full is None)
    if Effect.BEGIN_TURN in effects:
        begin(context, uow, message)
    elif Effect.TAKE_CLARIFICATION in effects:
        _answer_clarification(context, uow, message)
    elif full is not None:
        refuse(uow, message, *full)
    else:
        if Effect.WAIT_FOR_SLOT in effects:
            wait_for_slot(uow)
        _queue(uow, message)


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


def _queue(uow: UnitOfWork, message: QueuedMessage) -> None:
    uow.done(Effect.QUEUE_MESSAGE)
    queue = (*uow.session.queue, message)
    uow.update_session(queue=queue)
    uow.emit(TurnQueued(turn_id=message.turn_id, message_id=message.message_id, position=len(queue)))


def wait_for_slot(uow: UnitOfWork) -> None:
    """Start the wait after which the session's next turn begins (`admission`)."""
    uow.done(Effect.WAIT_FOR_SLOT)
    uow.start(NewLease(ids.derived(uow.cause.id, TURN), TURN, {}))


def continue_mailbox(context: TurnContext, uow: UnitOfWork) -> None:
    """Begin the next message of the mailbox, or wait for a slot, if the turn has ended in this unit of work."""
    turn = uow.conversation.turn
    if turn is None or not turn.state.has_ended or not uow.session.queue:
        return
    if context.slots.awaited(uow.cause.tenant):
        # Other sessions of this tenant were here before.
        wait_for_slot(uow)
    else:
        begin_next(context, uow)


def begin_next(context: TurnContext, uow: UnitOfWork) -> None:
    """Begin the turn of the first queued message, if no turn is under way."""
    if not uow.session.queue or not uow.accepts(Input.SLOT_FREE):
        return
    uow.take(Input.SLOT_FREE)
    message, *rest = uow.session.queue
    # Out of the mailbox in the same changeset: a repeat of this input finds the turn begun.
    uow.update_session(queue=tuple(rest))
    begin(context, uow, message)


def begin(context: TurnContext, uow: UnitOfWork, message: QueuedMessage) -> None:
    """Begin a turn: analyse the message, and gather the context (S3-09)."""
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
    add_message(uow, message.message_id, "user", message.text)
    uow.emit(
        TurnStarted(turn_id=message.turn_id, message_id=message.message_id, text=message.text),
        TurnAnalysed(turn_id=message.turn_id, intent=found.intent, sentiment=found.sentiment, tags=found.tags),
    )
    if message.call is None:
        uow.emit(memory_request(message, message.message_id, "message", message.text))
    metrics.messages.labels("accepted").inc()
    gathering.begin(context, uow)


def refuse(uow: UnitOfWork, message: QueuedMessage, reason: str, detail: str) -> None:
    """Refuse a message before it becomes a turn."""
    uow.done(Effect.REFUSE_MESSAGE)
    metrics.messages.labels("refused").inc()
    uow.end_turn(message.turn_id, Outcome(state=TurnState.REFUSED, reason=reason, detail=detail))


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


def _answer_clarification(context: TurnContext, uow: UnitOfWork, message: QueuedMessage) -> None:
    """Take the answer to a clarification: its own turn ends with it, and the turn that asked continues."""
    uow.done(Effect.TAKE_CLARIFICATION)
    turn = uow.turn
    # The wait for this answer, which would end the turn as unanswered.
    if turn.working is not None:
        uow.end(turn.working)
    add_message(uow, message.message_id, "user", message.text)
    uow.emit(
        TurnStarted(turn_id=message.turn_id, message_id=message.message_id, text=message.text),
        memory_request(message, message.message_id, "message", message.text),
    )
    answered = Outcome(state=TurnState.COMPLETED, reason=ANSWERED_CLARIFICATION, detail=turn.turn_id)
    uow.end_turn(message.turn_id, answered)
    before = (*turn.replies, turn.clarification) if turn.clarification is not None else turn.replies
    _attach(uow, message)
    uow.update_turn(attachments=attached(turn.attachments, message.attachments))
    uow.update_turn(clarification=message.text, replies=before[-REPLIES_MOST:], skill=message.skill or turn.skill)
    gathering.begin(context, uow)


def _attach(uow: UnitOfWork, message: QueuedMessage) -> None:
    if message.attachments:
        uow.update_session(attachments=attached(uow.session.attachments, message.attachments))


def add_message(uow: UnitOfWork, message_id: str, role: str, text: str) -> None:
    uow.put(
        MessageRow(
            session_id=uow.session.session_id,
            message_id=message_id,
            turn_id=uow.turn.turn_id,
            role=role,
            text=text,
        )
    )


def memory_request(message: QueuedMessage, memory_id: str, kind: str, text: str) -> RememberRequested:
    return RememberRequested(
        memory_id=memory_id, kind=kind, text=text[:MEMORY_MOST], user=message.principal, scopes=message.scopes
    )
