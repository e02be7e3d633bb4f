"""A turn's beginning and end: the mailbox, the context, thinking, the answer."""

from __future__ import annotations

from libs import ids
from libs.events import (
    RememberRequested,
    TurnAnalysed,
    TurnQueued,
    TurnStarted,
)
from libs.leases.ports import Start
from libs.telemetry import metrics
from services.conversation_worker.domain import event_sizes
from services.conversation_worker.domain.analysis import analyse
from services.conversation_worker.turn.context import CONTEXT, TURN, Office
from services.conversation_worker.turn.state import Ending, QueuedMessage, Turn, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

REPLIES_MOST = 8
"""Replies to questions of one turn that are kept beside the last."""
MAILBOX_BYTES = 512 * 1024
"""Text that waits in one session's mailbox: the mailbox is part of the session's row, written with each change."""
MEMORY_MOST = 4000
"""Characters of a message that are worth remembering."""


def receive(office: Office, scene: Scene, letter: QueuedMessage, *, on_busy: str) -> None:
    """A message: it answers our question, starts a turn, waits in the mailbox, or is turned away."""
    turn = scene.talk.turn
    if turn is None and not scene.session.queue and office.slots.admit((scene.cause.tenant, scene.session.session_id)):
        begin(office, scene, letter)
    elif turn is not None and turn.state is TurnState.AWAITING_CLARIFICATION:
        _clarified(office, scene, letter)
    elif turn is not None and on_busy == "reject":
        refuse(scene, letter, "BUSY", "another turn is under way")
    elif len(scene.session.queue) >= office.settings.queue_most:
        refuse(scene, letter, "MAILBOX_FULL", f"{office.settings.queue_most} messages wait already")
    elif sum(event_sizes.size(waiting.text) for waiting in (*scene.session.queue, letter)) > MAILBOX_BYTES:
        refuse(scene, letter, "MAILBOX_FULL", f"more than {MAILBOX_BYTES} bytes of messages would wait")
    else:
        if turn is None and not scene.session.queue:
            wait_for_a_slot(scene)
        queue = (*scene.session.queue, letter)
        scene.set_session(queue=queue)
        scene.say(TurnQueued(turn_id=letter.turn_id, message_id=letter.message_id, position=len(queue)))


def wait_for_a_slot(scene: Scene) -> None:
    """The session's next turn begins when there is a slot for it (`slots`)."""
    scene.start(Start(ids.derived(scene.cause.id, TURN), TURN, {}))


def begin_next(office: Office, scene: Scene) -> None:
    """The first letter of the mailbox becomes a turn, if one waits and none is under way."""
    turn = scene.talk.turn
    if (turn is not None and not turn.state.has_ended) or not scene.session.queue:
        return
    letter, *rest = scene.session.queue
    scene.set_session(queue=tuple(rest))
    begin(office, scene, letter)


def begin(office: Office, scene: Scene, letter: QueuedMessage) -> None:
    """Analyse, and build the context (S3-09)."""
    found = analyse(letter.text)
    scene.open_turn(
        Turn(
            turn_id=letter.turn_id,
            state=TurnState.CONTEXT,
            letter=letter,
            intent=found.intent,
            skill=letter.skill,
        )
    )
    keep_message(scene, letter.message_id, "user", letter.text)
    scene.say(
        TurnStarted(turn_id=letter.turn_id, message_id=letter.message_id, text=letter.text),
        TurnAnalysed(turn_id=letter.turn_id, intent=found.intent, sentiment=found.sentiment, tags=found.tags),
        memory_of(letter, letter.message_id, "message", letter.text),
    )
    metrics.messages.labels("accepted").inc()
    gather(office, scene)


def refuse(scene: Scene, letter: QueuedMessage, reason: str, detail: str) -> None:
    """A message that never becomes a turn under way."""
    metrics.messages.labels("refused").inc()
    scene.end_turn(letter.turn_id, Ending(state=TurnState.REFUSED, reason=reason, detail=detail))


def gather(office: Office, scene: Scene) -> None:
    """Collect what the planner may know, under a lease: it asks other services."""
    start = Start(
        ids.derived(scene.cause.id, CONTEXT), CONTEXT, {"turn_id": scene.turn.turn_id, "round": scene.turn.round}
    )
    scene.set_turn(state=TurnState.CONTEXT, working=start.id, since=office.now().timestamp())
    scene.start(start)


def _clarified(office: Office, scene: Scene, letter: QueuedMessage) -> None:
    """The answer to our question: its own turn ends with it, and the one that asked goes on."""
    turn = scene.turn
    if turn.working is not None:
        scene.end(turn.working)
    keep_message(scene, letter.message_id, "user", letter.text)
    scene.say(
        TurnStarted(turn_id=letter.turn_id, message_id=letter.message_id, text=letter.text),
        memory_of(letter, letter.message_id, "message", letter.text),
    )
    answered = Ending(state=TurnState.COMPLETED, reason="ANSWERED_CLARIFICATION", detail=turn.turn_id)
    scene.end_turn(letter.turn_id, answered)
    before = (*turn.replies, turn.clarification) if turn.clarification is not None else turn.replies
    scene.set_turn(clarification=letter.text, replies=before[-REPLIES_MOST:], skill=letter.skill or turn.skill)
    gather(office, scene)


def keep_message(scene: Scene, message_id: str, role: str, text: str) -> None:
    scene.change(
        "message.add",
        session_id=scene.session.session_id,
        message_id=message_id,
        turn_id=scene.turn.turn_id,
        role=role,
        text=text,
    )


def memory_of(letter: QueuedMessage, memory_id: str, kind: str, text: str) -> RememberRequested:
    return RememberRequested(
        memory_id=memory_id, kind=kind, text=text[:MEMORY_MOST], user=letter.principal, scopes=letter.scopes
    )
