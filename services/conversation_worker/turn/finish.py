"""A turn that is to end: nothing new starts, what is under way ends first, what is staged is dropped."""

from __future__ import annotations

from libs import ids
from libs.events import ActionRecorded, MessageCompleted, ToolCancelRequested
from libs.events.committee import Exchange
from libs.events.values import StepState, Usage
from libs.leases.ports import Start
from libs.telemetry import metrics
from services.conversation_worker.domain import event_sizes, memory_window, reasons, referenced_files
from services.conversation_worker.turn import start, tool_calls
from services.conversation_worker.turn.context import ANSWER, Office
from services.conversation_worker.turn.state import DROP, Ending, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

EFFECT_UNKNOWN = "EFFECT_UNKNOWN"
BUSY = (TurnState.COMMITTING, TurnState.DROPPING, TurnState.ROLLING_BACK, TurnState.RESTORING)
"""The executor works on the workspace for the turn itself, and will tell how that went."""


def stop(office: Office, scene: Scene, ending: Ending) -> None:
    """End the turn as soon as what is under way has ended; nothing new starts."""
    turn = scene.set_turn(ending=ending)
    for doing in scene.talk.steps:
        if doing.state in (StepState.PENDING, StepState.AWAITING_APPROVAL):
            scene.set_step(doing, state=StepState.CANCELLED)
    scene.lapse("cancelled")
    if turn.working is not None and turn.state in (TurnState.CONTEXT, TurnState.ANSWERING):
        # Its end will tell: until then the turn is not over (`Handlers.failed`).
        scene.cancel(turn.working)
        return
    if turn.working is not None and turn.state is TurnState.AWAITING_CLARIFICATION:
        scene.end(turn.working)
    if scene.running():
        scene.say(ToolCancelRequested(turn_id=turn.turn_id))
    wind_down(office, scene)


def wind_down(office: Office, scene: Scene) -> None:
    """Wait for running calls and for a commit that has begun, drop what is staged, then end."""
    turn = scene.turn
    if turn.ending is None or turn.state in BUSY or scene.running():
        return
    if turn.dirty:
        drop(office, scene)
    else:
        end(office, scene, _told(scene, turn.ending))


def _told(scene: Scene, ending: Ending) -> Ending:
    """The ending, which says so where something is left open."""
    if not scene.doubtful or ending.reason == EFFECT_UNKNOWN:
        return ending
    return ending.model_copy(
        update={"detail": f"{ending.detail} (whether one of its effects happened is not known)".strip()}
    )


def drop(office: Office, scene: Scene) -> None:
    """Have the stage forgotten. No file was touched and none will be, so only the executor asks policy about it."""
    tool_calls.send(office, scene, DROP, {}, TurnState.DROPPING, revision=office.platform.policy.revision)


def answer(scene: Scene) -> None:
    """Have the answer written, under a lease: it is a model call."""
    writing = Start(ids.derived(scene.cause.id, ANSWER), ANSWER, {"turn_id": scene.turn.turn_id})
    scene.set_turn(state=TurnState.ANSWERING, working=writing.id)
    scene.start(writing)


def complete(office: Office, scene: Scene, text: str, usage: Usage | None = None, *, reason: str | None = None) -> None:
    """The answer stands, and with it the turn ends."""
    turn, text = scene.turn, text[: event_sizes.ANSWER_MOST]
    message_id = ids.derived(turn.turn_id, "answer")
    start.keep_message(scene, message_id, "assistant", text)
    scene.say(
        MessageCompleted(turn_id=turn.turn_id, message_id=message_id, text=text, usage=usage or turn.usage),
        start.memory_of(turn.letter, message_id, "answer", text),
    )
    _remember(scene, text, reason)
    end(office, scene, Ending(state=TurnState.COMPLETED, reason=reason))


def _remember(scene: Scene, answer: str, reason: str | None) -> None:
    """Put the turn to the session's working memory."""
    shown, steps = referenced_files.named(scene.turn.settled, scene.talk.steps), scene.talk.steps
    text, wish = scene.turn.letter.text[:2000], scene.turn.wish
    # The next plan rests on what kept this one from being done; an answer that declines speaks for itself.
    kept = None if reason == reasons.DECLINED else reason
    told = Exchange(text=text, answer=answer[:2000], wish=wish, reason=kept, shown=shown)
    scene.set_session(history=memory_window.remembered(scene.session.history, told, talked=not steps))


def end(office: Office, scene: Scene, ending: Ending) -> None:
    """End the turn, and take the next letter out of the mailbox."""
    turn = scene.turn
    if turn.asked and ending.state in (TurnState.REFUSED, TurnState.FAILED):
        # The next message may ask why, or say how else.
        _remember(scene, ending.detail, ending.reason)
    scene.lapse("cancelled")
    # What is left asks whether something happened: nobody waits for the answer any more, but it is still to be given.
    scene.end(*(approval.approval_id for approval in scene.talk.approvals if approval.open))
    if turn.restoring is not None:
        scene.end_turn(turn.restoring.turn_id, ending)
    scene.set_turn(state=ending.state, ending=ending, working=None)
    metrics.transitions.labels(turn.state.value, ending.state.value).inc()
    metrics.turns.labels(ending.state.value).inc()
    began = ids.made_at(turn.turn_id)
    if began is not None:
        took = office.now().timestamp() - began
        metrics.processing_seconds.labels(ending.state.value).observe(max(0.0, took))
    scene.say(
        ActionRecorded(
            action="turn",
            phase="outcome",
            verdict=ending.state.value,
            principal=turn.letter.principal,
            resource=turn.turn_id,
            rule=ending.reason or "",
            turn_id=turn.turn_id,
        )
    )
    scene.end_turn(turn.turn_id, ending)
    if scene.session.queue and office.slots.awaited(scene.cause.tenant):
        # Other sessions of this tenant were here before.
        start.wait_for_a_slot(scene)
    else:
        start.begin_next(office, scene)
