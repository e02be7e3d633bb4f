"""A turn's beginning and end: the mailbox, the context, thinking, the answer."""

from __future__ import annotations

from libs import ids
from libs.events import (
    ActionRecorded,
    ClarificationRequested,
    MessageCompleted,
    PlanRequested,
    PlanUnclear,
    RememberRequested,
    TurnAnalysed,
    TurnQueued,
    TurnStarted,
)
from libs.events.committee import Exchange, Task
from libs.events.values import Body, Json, Observation, StepState, Usage
from libs.leases.ports import Start
from libs.telemetry import metrics
from services.conversation_worker.domain import bounds, naming, reasons
from services.conversation_worker.domain.analysis import analyse
from services.conversation_worker.domain.talk import Doing, Ending, Letter, Talk, Turn, TurnState
from services.conversation_worker.office import COMMIT, Office
from services.conversation_worker.scene import Scene
from services.conversation_worker.settings import Settings

REPLIES_MOST = 8
"""Replies to questions of one turn that are kept beside the last."""
TURN, CONTEXT, ANSWER, CLARIFICATION = "turn", "context", "answer", "clarification"
MAILBOX_BYTES = 512 * 1024
"""Text that waits in one session's mailbox: the mailbox is part of the session's row, written with each change."""
MEMORY_MOST = 4000
"""Characters of a message that are worth remembering."""


def move(scene: Scene, state: TurnState) -> None:
    metrics.transitions.labels(scene.turn.state.value, state.value).inc()
    scene.set_turn(state=state)


def receive(office: Office, scene: Scene, letter: Letter, *, on_busy: str) -> None:
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
    elif sum(bounds.size(waiting.text) for waiting in (*scene.session.queue, letter)) > MAILBOX_BYTES:
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
    if (turn is not None and not turn.state.ended) or not scene.session.queue:
        return
    letter, *rest = scene.session.queue
    scene.set_session(queue=tuple(rest))
    begin(office, scene, letter)


def begin(office: Office, scene: Scene, letter: Letter) -> None:
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
    _keep(scene, letter.message_id, "user", letter.text)
    scene.say(
        TurnStarted(turn_id=letter.turn_id, message_id=letter.message_id, text=letter.text),
        TurnAnalysed(turn_id=letter.turn_id, intent=found.intent, sentiment=found.sentiment, tags=found.tags),
        _memory(letter, letter.message_id, "message", letter.text),
    )
    metrics.messages.labels("accepted").inc()
    gather(office, scene)


def refuse(scene: Scene, letter: Letter, reason: str, detail: str) -> None:
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


def think(scene: Scene, task: Task) -> None:
    """Ask the committee for a plan."""
    turn = scene.set_turn(state=TurnState.THINKING, working=None, asked=scene.turn.asked + 1)
    scene.say(PlanRequested(request_id=request_id(turn), turn_id=turn.turn_id, round=turn.round, task=task))


def request_id(turn: Turn) -> str:
    return ids.derived(turn.turn_id, "plan", str(turn.asked))


def thought(office: Office, scene: Scene, usage: Usage) -> None:
    """The committee has answered: what that cost, and how long it took."""
    turn = scene.turn
    took = max(0.0, office.now().timestamp() - turn.since) if turn.since is not None else 0.0
    scene.set_turn(usage=turn.usage.plus(usage), worked=turn.worked + took, since=None)


def ask_back(office: Office, scene: Scene, unclear: PlanUnclear) -> None:
    """The request is unclear: the next message is the answer (S4-32, S4-46)."""
    turn = scene.turn
    wait = ids.derived(scene.cause.id, CLARIFICATION)
    scene.set_turn(state=TurnState.AWAITING_CLARIFICATION, working=wait)
    scene.start(Start(wait, CLARIFICATION, {"turn_id": turn.turn_id}, delay=office.settings.clarification_seconds))
    scene.say(
        ClarificationRequested(
            turn_id=turn.turn_id,
            question=unclear.question[:2000],
            candidates=unclear.candidates[:10],
            missing=unclear.missing[:20],
        )
    )


def _clarified(office: Office, scene: Scene, letter: Letter) -> None:
    """The answer to our question: its own turn ends with it, and the one that asked goes on."""
    turn = scene.turn
    if turn.working is not None:
        scene.end(turn.working)
    _keep(scene, letter.message_id, "user", letter.text)
    scene.say(
        TurnStarted(turn_id=letter.turn_id, message_id=letter.message_id, text=letter.text),
        _memory(letter, letter.message_id, "message", letter.text),
    )
    answered = Ending(state=TurnState.COMPLETED, reason="ANSWERED_CLARIFICATION", detail=turn.turn_id)
    scene.end_turn(letter.turn_id, answered)
    before = (*turn.replies, turn.clarification) if turn.clarification is not None else turn.replies
    scene.set_turn(clarification=letter.text, replies=before[-REPLIES_MOST:], skill=letter.skill or turn.skill)
    gather(office, scene)


def answer(scene: Scene) -> None:
    """Have the answer written, under a lease: it is a model call."""
    start = Start(ids.derived(scene.cause.id, ANSWER), ANSWER, {"turn_id": scene.turn.turn_id})
    scene.set_turn(state=TurnState.ANSWERING, working=start.id)
    scene.start(start)


def complete(office: Office, scene: Scene, text: str, usage: Usage | None = None, *, reason: str | None = None) -> None:
    """The answer stands, and with it the turn ends."""
    turn, text = scene.turn, text[: bounds.ANSWER_MOST]
    message_id = ids.derived(turn.turn_id, "answer")
    _keep(scene, message_id, "assistant", text)
    scene.say(
        MessageCompleted(turn_id=turn.turn_id, message_id=message_id, text=text, usage=usage or turn.usage),
        _memory(turn.letter, message_id, "answer", text),
    )
    _remember(scene, text, reason)
    finish(office, scene, Ending(state=TurnState.COMPLETED, reason=reason))


def _remember(scene: Scene, answer: str, reason: str | None) -> None:
    """Put the turn to the session's working memory."""
    shown, steps = naming.named(scene.turn.settled, scene.talk.steps), scene.talk.steps
    text, wish = scene.turn.letter.text[:2000], scene.turn.wish
    # The next plan rests on what kept this one from being done; an answer that declines speaks for itself.
    kept = None if reason == reasons.DECLINED else reason
    told = Exchange(text=text, answer=answer[:2000], wish=wish, reason=kept, shown=shown)
    scene.set_session(history=naming.remembered(scene.session.history, told, talked=not steps))


def finish(office: Office, scene: Scene, ending: Ending) -> None:
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
        wait_for_a_slot(scene)
    else:
        begin_next(office, scene)


PLANNED_MOST = 20
"""Calls to which a plan may always bring a turn."""


def task_of(
    talk: Talk, settings: Settings, *, memories: tuple[str, ...] = (), facts: dict[str, object] | None = None
) -> Task:
    """All that a model may know of this turn (S0-10)."""
    turn = talk.turn
    if turn is None:
        raise LookupError("no turn is under way")
    return Task(
        text=turn.letter.text,
        intent=turn.intent,
        skill=turn.skill,
        clarification=turn.clarification,
        replies=turn.replies,
        history=bounds.history(talk.session.history),
        observations=bounds.observed(observations(talk)),
        memories=bounds.fitting(memories, bounds.MEMORY_BYTES),
        root=talk.session.root,
        workspace=bounds.facts(facts or {}, bounds.size([turn.letter.text, turn.clarification, *turn.replies])),
        read=bounds.read({path: epoch for path, epoch in talk.session.read.items() if epoch == talk.session.epoch}),
        tools=settings.tools,
        # A lower limit ends the turn at the call that exceeds it: what came before it stays to be seen.
        calls_most=max(PLANNED_MOST, settings.limits.calls),
    )


SEEN_MOST = 8 * 1024
"""Bytes of one step's data that a model sees; of more, only the summary."""


def observations(talk: Talk) -> tuple[Observation, ...]:
    """What the steps of the turn have shown, and what became of the diff."""
    turn, seen = talk.turn, tuple(map(_observation, talk.steps))
    if turn is None or turn.decided is None:
        return seen
    last = Observation(
        ordinal=len(seen) + 1,
        tool=COMMIT,
        description=turn.decided,
        state=StepState.SUCCEEDED,
        summary=turn.decided,
        data=turn.settled.model_dump(mode="json") if turn.settled is not None else None,
    )
    return (*seen, last)


def _observation(doing: Doing) -> Observation:
    return Observation(
        ordinal=doing.step.ordinal,
        tool=doing.step.tool,
        description=doing.step.description,
        state=doing.state,
        summary=doing.summary,
        data=_seen(doing.data),
        left_alone=_left_alone(doing.data),
        error=doing.error,
    )


def _seen(body: Body | None) -> object:
    return body.json_ if body is not None and body.sha256 is None and body.size <= SEEN_MOST else None


def _left_alone(body: Body | None) -> dict[str, Json] | None:
    """Return what a step left alone, also where its data is too large to be seen."""
    if body is None or body.sha256 is not None:
        return body.left_alone if body is not None else None
    return body.json_.get("left_alone") if isinstance(body.json_, dict) else None


def _keep(scene: Scene, message_id: str, role: str, text: str) -> None:
    scene.change(
        "message.add",
        session_id=scene.session.session_id,
        message_id=message_id,
        turn_id=scene.turn.turn_id,
        role=role,
        text=text,
    )


def _memory(letter: Letter, memory_id: str, kind: str, text: str) -> RememberRequested:
    return RememberRequested(
        memory_id=memory_id, kind=kind, text=text[:MEMORY_MOST], user=letter.principal, scopes=letter.scopes
    )
