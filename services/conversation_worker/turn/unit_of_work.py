"""The unit of work: the handling of one input. It holds the conversation as it changes, and the events and leases that
follow.

Everything that changes goes through it, so that the changeset at the end has each changed row once and each event in
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from libs.changes import Cause, Change, Changeset, Row
from libs.events import (
    ApprovalClosed,
    ApprovalDecided,
    Asset,
    EffectResolved,
    Event,
    Json,
    Mark,
    StepChanged,
    StepState,
    Touched,
    TurnEnded,
    Usage,
)
from libs.leases import NewLease
from libs.skills import Skills
from libs.telemetry import metrics
from libs.texts import proposed
from services.conversation_worker.store import Rows, Store
from services.conversation_worker.turn import transitions
from services.conversation_worker.turn.state import (
    ENDED_MOST,
    Approval,
    Conversation,
    Outcome,
    Session,
    StepRun,
    Turn,
    TurnState,
)
from services.conversation_worker.turn.transitions import Effect, Input, Move, Position, Refusal

V = TypeVar("V", Session, Turn, StepRun)


class UnitOfWork:
    def __init__(self, cause: Cause, conversation: Conversation, skills: Skills) -> None:
        self.cause, self._skills = cause, skills
        self.conversation = self._loaded = conversation
        # Lists, of which `close` makes the changeset: a changeset per added event would be most of the work.
        self._changes: list[Change] = []
        self._events: list[Event] = []
        self._starts: list[NewLease] = []
        self._ends: list[str] = []
        self._cancels: list[str] = []
        self._effects: list[tuple[Effect, object]] = []
        self._turns: dict[str, Turn] = {}
        self._steps: dict[str, tuple[str, StepRun]] = {}
        self._former: dict[str, StepRun] = {}
        self._approvals: dict[str, tuple[str, Approval]] = {}

    @property
    def session(self) -> Session:
        return self.conversation.session

    @property
    def turn(self) -> Turn:
        """Return the turn under way. Raises LookupError if there is none."""
        if self.conversation.turn is None:
            raise LookupError("no turn is under way")
        return self.conversation.turn

    def is_active(self, turn_id: str) -> bool:
        """Return whether this turn is under way."""
        turn = self.conversation.turn
        return turn is not None and turn.turn_id == turn_id and not turn.state.has_ended

    def has_seen(self, turn_id: str) -> bool:
        """Return whether this turn is under way, queued or over."""
        waiting = {message.turn_id for message in self.session.queue}
        if self.conversation.turn is not None and self.conversation.turn.restoring is not None:
            waiting.add(self.conversation.turn.restoring.turn_id)
        return self.is_active(turn_id) or turn_id in waiting or turn_id in self.session.ended

    def end_turn(self, turn_id: str, outcome: Outcome) -> None:
        """Report that a turn has ended, and remember it: no turn ends twice."""
        self.note_ended(turn_id)
        turn, about = self.conversation.turn, {"state": outcome.state.value, "reason": outcome.reason}
        usage = turn.usage if turn is not None and turn.turn_id == turn_id else Usage()
        self.emit(TurnEnded(turn_id=turn_id, detail=outcome.detail[:2000], usage=usage, **about))

    def note_ended(self, turn_id: str) -> None:
        """Remember a turn as over, or as never to begin."""
        # Kept with the session, so that a late input of this turn is known as such; bounded, as the row is.
        self.update_session(ended=(*self.session.ended, turn_id)[-ENDED_MOST:])

    def has_running_calls(self) -> bool:
        """Return whether a call of a step is running."""
        return any(run.state is StepState.RUNNING for run in self.conversation.steps)

    def update_session(self, **update: Any) -> None:
        self.conversation = replace(self.conversation, session=_updated(self.session, update))

    def touch(self, more: Touched, *, step_id: str = "", source: str = "") -> None:
        """Remember what the session's next thoughts may rest on, and what of each kind was the first."""
        if (union := self.session.touched.plus(more)) is not self.session.touched:
            about = {"turn_id": self.turn.turn_id, "step_id": step_id, "source": source}
            kinds = [kind for kind, now in union.facts.items() if now and not self.session.touched.facts[kind]]
            new = (Mark.model_validate({"kind": kind, **about}) for kind in kinds)
            self.update_session(touched=union, marks=(*self.session.marks, *new))

    def open_turn(self, turn: Turn) -> None:
        self.conversation = Conversation(self.session, turn)
        self._turns[turn.turn_id] = turn

    def update_turn(self, **update: Any) -> Turn:
        """Change the turn, except for its state, which only `take` changes."""
        if "state" in update:
            raise TypeError("a turn's state changes by an input; use take")
        return self._put_turn(_updated(self.turn, update))

    def _put_turn(self, turn: Turn) -> Turn:
        self.conversation = replace(self.conversation, turn=turn)
        self._turns[turn.turn_id] = turn
        return turn

    def position(self) -> Position:
        """Return the facts on which the state machine decides."""
        turn, runs = self.conversation.turn, self.conversation.steps
        waiting = frozenset(message.turn_id for message in self.session.queue)
        seen = waiting.union(self.session.ended)
        if turn is None or turn.state.has_ended:
            return Position(seen=seen, queued=bool(waiting))
        calls = frozenset(run.call_id for run in runs if run.state is StepState.RUNNING and run.call_id)
        approvals = frozenset(approval.approval_id for approval in self.conversation.approvals if approval.open)
        work = {turn.working} if turn.working is not None else frozenset[str]()
        plan = {turn.plan_request_id} if turn.state is TurnState.THINKING else frozenset[str]()
        mine = {turn.turn_id, turn.restoring.turn_id} if turn.restoring is not None else {turn.turn_id}
        return Position(
            state=turn.state,
            turn_id=turn.turn_id,
            stopping=turn.outcome is not None,
            calls=self.has_running_calls(),
            staged=turn.dirty,
            incomplete=turn.plan is not None and not turn.plan.complete,
            asking=any(run.state is StepState.AWAITING_APPROVAL for run in runs),
            queued=bool(waiting),
            waits_for=calls | approvals | work | plan,
            seen=seen | mine,
        )

    def accepts(self, input: Input, about: str = "") -> bool:
        """Return whether the turn, as it is, takes this input."""
        return isinstance(transitions.decide(self.position(), input, about), Move)

    def take(
        self, input: Input, about: str = "", given: object = None, *, slot: bool = True, room: bool = True
    ) -> None:
        """Move the turn by an input. `effects.perform` does what follows, before anything that an earlier input left.

        `given` is what the effects need and the turn does not hold; each effect's function declares its class.

        Raises:
            LookupError: the turn does not take it; ask `accepts` where that may be.
        """
        move = transitions.decide(replace(self.position(), slot=slot, room=room), input, about)
        if isinstance(move, Refusal):
            raise LookupError(f"{input}: {move}")
        to = move.position.state
        if self.conversation.turn is not None and to is not None and Effect.BEGIN_TURN not in move.effects:
            self._move(to)
        # Nothing more follows for a turn that is over.
        self._effects = [] if move.ends else [*((effect, given) for effect in move.effects), *self._effects]

    def next_effect(self) -> tuple[Effect, object] | None:
        """Return the effect that is to be performed now, with what it was given."""
        return self._effects.pop(0) if self._effects else None

    def close_turn(self, outcome: Outcome) -> None:
        """Give the turn its final state."""
        self.take(Input.END)
        self.update_turn(outcome=outcome, working=None)
        self._move(outcome.state)

    def _move(self, state: TurnState) -> None:
        if state is not self.turn.state:
            metrics.transitions.labels(self.turn.state.value, state.value).inc()
            self._put_turn(self.turn.model_copy(update={"state": state}))

    def add_steps(self, *steps: StepRun) -> None:
        self.conversation = replace(self.conversation, steps=(*self.conversation.steps, *steps))
        self._steps.update({run.step_id: (self.turn.turn_id, run) for run in steps})

    def update_step(self, run: StepRun, **update: Any) -> StepRun:
        """Change a step; a change of its state is reported to viewers."""
        changed = self.update_step_of(self.turn.turn_id, run, **update)
        self.conversation = self.conversation.with_step(changed)
        return changed

    def update_step_of(self, turn_id: str, run: StepRun, **update: Any) -> StepRun:
        """Change a step of a turn that is over."""
        changed = _updated(run, update)
        if run.step_id not in self._steps:
            # A caller may hold a copy that is ahead of the row, such as one with a new verdict.
            self._former[run.step_id] = self._loaded.step_run(run.step_id) or run
        self._steps[run.step_id] = (turn_id, changed)
        if changed.state is not run.state:
            marks = tuple(mark for mark in self.session.marks if mark.step_id == changed.step_id)
            self.emit(_step_changed(turn_id, changed, self._shown_data(turn_id, changed), marks))
        return changed

    def _shown_data(self, turn_id: str, run: StepRun) -> Json:
        if self._of_given_call(turn_id):
            return _data(run)
        # A command's output, and an asset, stay with their turn when its changes are discarded.
        shown = self._skills.runs_program(run.step.tool) or self._skills.makes_asset(run.step.tool)
        return _data_or_excerpt(run) if shown else None

    def _of_given_call(self, turn_id: str) -> bool:
        turn = self.conversation.turn
        return turn is not None and turn.turn_id == turn_id and turn.message.call is not None

    @property
    def has_unknown_effect(self) -> bool:
        """Return whether it is not known if an effect happened."""
        return any(approval.open and approval.outlives_turn for approval in self.conversation.approvals)

    def ask(self, approval: Approval) -> None:
        self.conversation = self.conversation.with_approval(approval)
        self.ask_of(self.turn.turn_id, approval)

    def ask_of(self, turn_id: str, approval: Approval) -> None:
        """Add a question of a turn that is over."""
        self._approvals[approval.approval_id] = (turn_id, approval)

    def close_approval(
        self, approval: Approval, outcome: str, *, principal: str | None = None, reason: str = ""
    ) -> None:
        """Close an open question, and end its wait."""
        closed = self.close_approval_of(self.turn.turn_id, approval, outcome, principal=principal, reason=reason)
        self.conversation = self.conversation.with_approval(closed)
        self.end(approval.approval_id)

    def close_approval_of(
        self, turn_id: str, approval: Approval, outcome: str, *, principal: str | None = None, reason: str = ""
    ) -> Approval:
        """Close a question of a turn that is over; no wait is left to end."""
        closed = approval.model_copy(update={"open": False, "outcome": outcome})
        self.ask_of(turn_id, closed)
        about = {"turn_id": turn_id, "approval_id": approval.approval_id, "outcome": outcome}
        self.emit(ApprovalClosed.model_validate({**about, "principal": principal, "reason": reason}))
        return closed

    def reject_stale(self, answer: ApprovalDecided | EffectResolved, reason: str) -> None:
        """Report to the author that the answer changes nothing."""
        turn = self.conversation.turn
        self.emit(
            ApprovalClosed(
                turn_id=turn.turn_id if turn else "",
                approval_id=answer.approval_id,
                outcome="stale",
                principal=answer.principal,
                reason=reason,
            )
        )

    def close_open_approvals(self, outcome: str, *, principal: str | None = None) -> None:
        """Close every open question that has no meaning once the turn goes on or ends."""
        for approval in self.conversation.approvals:
            if approval.open and not approval.outlives_turn:
                self.close_approval(approval, outcome, principal=principal)

    def emit(self, *events: Event) -> None:
        self._events += events

    def start(self, *starts: NewLease) -> None:
        self._starts += starts

    @property
    def starts(self) -> tuple[NewLease, ...]:
        """The leases that this handling starts."""
        return tuple(self._starts)

    def withdraw(self, start: NewLease) -> None:
        """Do not start this lease after all."""
        self._starts = [kept for kept in self._starts if kept is not start]

    def end(self, *ids: str) -> None:
        self._ends += ids

    def cancel(self, *ids: str) -> None:
        self._cancels += ids

    def put(self, *rows: Row) -> None:
        self._changes += (Change(*row.into, row.columns()) for row in rows)

    def close(self, store: Store) -> Changeset:
        """Return all changes as one changeset.

        It contains the session's version even if nothing else follows: an outdated copy must not drop an awaited
        input.

        Raises:
            LookupError: an effect of a move was not performed. The turn would wait for it for ever.
        """
        if self._effects:
            raise LookupError(f"the turn moved without: {', '.join(effect for effect, _ in self._effects)}")
        still_open = tuple(approval for approval in self.conversation.approvals if approval.open)
        rows = Rows(
            self._loaded,
            self.session,
            self.conversation.turn,
            self.conversation.steps,
            still_open,
            self._turns,
            self._steps,
            self._former,
            self._approvals,
        )
        changeset = Changeset(
            self.cause,
            tuple(self._changes),
            tuple(self._events),
            tuple(self._starts),
            tuple(self._ends),
            tuple(self._cancels),
        )
        return store.save(changeset, rows)


def _updated(value: V, update: Mapping[str, Any]) -> V:
    """Return a copy with other fields. Unknown names are an error; `model_copy` would ignore them."""
    if unknown := update.keys() - type(value).model_fields.keys():
        raise TypeError(f"{type(value).__name__} has no {', '.join(sorted(unknown))}")
    return value.model_copy(update=update)


def _step_changed(turn_id: str, run: StepRun, data: Json, marks: tuple[Mark, ...]) -> StepChanged:
    return StepChanged(
        turn_id=turn_id,
        plan_id=run.plan_id,
        step_id=run.step_id,
        ordinal=run.step.ordinal,
        tool=run.step.tool,
        description=run.step.description,
        state=run.state,
        summary=run.summary[:2000],
        proposed=proposed(run.summary[:2000]) if run.snapshot is not None else "",
        error=run.error[:2000] if run.error else None,
        snapshot=run.snapshot,
        result=_result(run),
        data=data,
        verdict=run.verdict,
        rule=run.rule,
        marks=marks,
    )


def _data(run: StepRun) -> Json:
    """Return the step's result, if it fits into an event."""
    body = run.data
    return body.json_ if run.state is StepState.SUCCEEDED and body is not None and body.sha256 is None else None


def _data_or_excerpt(run: StepRun) -> Json:
    """Return the result of a step that ran, as far as it fits into an event; also if its changes were discarded."""
    if run.state not in (StepState.SUCCEEDED, StepState.ROLLED_BACK) or run.data is None:
        return None
    return run.data.json_ if run.data.sha256 is None else run.data.excerpt


def _result(run: StepRun) -> Asset | None:
    """Return the step's result as an asset, if it was stored as a blob."""
    body = run.data
    if run.state is not StepState.SUCCEEDED or run.call_id is None or body is None or body.sha256 is None:
        return None
    name = f"step-{run.step.ordinal}-{run.step.tool}.json"
    return Asset(asset_id=run.call_id, filename=name, media_type="application/json", sha256=body.sha256, size=body.size)
