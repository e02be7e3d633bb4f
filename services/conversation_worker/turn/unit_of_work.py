"""A scene: one handling of one input. It holds the conversation as it becomes, and what is said and started meanwhile.

Everything that changes goes through it, so that the changeset at the end has each changed row once and each event in
order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from libs.changes import Cause, Changeset
from libs.events import ApprovalClosed, ApprovalDecided, EffectResolved, StepChanged, TurnEnded
from libs.events.base import Event
from libs.events.values import Asset, StepState
from libs.leases.ports import Start
from libs.telemetry import metrics
from services.conversation_worker.store import Rows, Store
from services.conversation_worker.turn.state import (
    ENDED_MOST,
    Approval,
    Ending,
    Session,
    StepRun,
    Talk,
    Turn,
    TurnState,
)


class Scene:
    def __init__(self, cause: Cause, talk: Talk) -> None:
        self.cause = cause
        self.talk = talk
        self._changeset = Changeset(cause)
        self._turns: dict[str, Turn] = {}
        self._steps: dict[str, tuple[str, StepRun]] = {}
        self._approvals: dict[str, tuple[str, Approval]] = {}

    @property
    def session(self) -> Session:
        return self.talk.session

    @property
    def turn(self) -> Turn:
        """The turn under way; there is one wherever this is asked."""
        if self.talk.turn is None:
            raise LookupError("no turn is under way")
        return self.talk.turn

    def active(self, turn_id: str) -> bool:
        """Is this the turn under way?"""
        turn = self.talk.turn
        return turn is not None and turn.turn_id == turn_id and not turn.state.has_ended

    def knows(self, turn_id: str) -> bool:
        """Is this turn under way, waiting or over?"""
        waiting = {letter.turn_id for letter in self.session.queue}
        if self.talk.turn is not None and self.talk.turn.restoring is not None:
            waiting.add(self.talk.turn.restoring.turn_id)
        return self.active(turn_id) or turn_id in waiting or turn_id in self.session.ended

    def end_turn(self, turn_id: str, ending: Ending) -> None:
        """Say that a turn has ended, and remember it: no turn ends twice."""
        self.set_session(ended=(*self.session.ended, turn_id)[-ENDED_MOST:])
        state, reason = ending.state.value, ending.reason
        self.say(TurnEnded(turn_id=turn_id, state=state, reason=reason, detail=ending.detail[:2000]))

    def running(self) -> bool:
        """Is a call of a step under way?"""
        return any(doing.state is StepState.RUNNING for doing in self.talk.steps)

    def set_session(self, **update: Any) -> None:
        self.talk = replace(self.talk, session=self.session.model_copy(update=update))

    def open_turn(self, turn: Turn) -> None:
        self.talk = Talk(self.session, turn)
        self._turns[turn.turn_id] = turn

    def set_turn(self, **update: Any) -> Turn:
        turn = self.turn.model_copy(update=update)
        self.talk = replace(self.talk, turn=turn)
        self._turns[turn.turn_id] = turn
        return turn

    def move(self, state: TurnState) -> None:
        metrics.transitions.labels(self.turn.state.value, state.value).inc()
        self.set_turn(state=state)

    def add_steps(self, *steps: StepRun) -> None:
        self.talk = replace(self.talk, steps=(*self.talk.steps, *steps))
        self._steps.update({doing.step_id: (self.turn.turn_id, doing) for doing in steps})

    def set_step(self, doing: StepRun, **update: Any) -> StepRun:
        """Change a step; viewers hear of it when its state changes."""
        changed = self.set_step_of(self.turn.turn_id, doing, **update)
        self.talk = self.talk.with_step(changed)
        return changed

    def set_step_of(self, turn_id: str, doing: StepRun, **update: Any) -> StepRun:
        """The same for a turn that is over."""
        changed = doing.model_copy(update=update)
        self._steps[doing.step_id] = (turn_id, changed)
        if changed.state is not doing.state:
            self.say(_told(turn_id, changed))
        return changed

    @property
    def doubtful(self) -> bool:
        """Does nobody know yet whether something happened?"""
        return any(approval.open and approval.outlives for approval in self.talk.approvals)

    def ask(self, approval: Approval) -> None:
        self.talk = self.talk.with_approval(approval)
        self.ask_of(self.turn.turn_id, approval)

    def ask_of(self, turn_id: str, approval: Approval) -> None:
        """The same for a turn that is over."""
        self._approvals[approval.approval_id] = (turn_id, approval)

    def close_approval(
        self, approval: Approval, outcome: str, *, principal: str | None = None, reason: str = ""
    ) -> None:
        """Settle an open question; its wait is over."""
        closed = self.close_approval_of(self.turn.turn_id, approval, outcome, principal=principal, reason=reason)
        self.talk = self.talk.with_approval(closed)
        self.end(approval.approval_id)

    def close_approval_of(
        self, turn_id: str, approval: Approval, outcome: str, *, principal: str | None = None, reason: str = ""
    ) -> Approval:
        """The same for a turn that is over, which waits for nothing."""
        closed = approval.model_copy(update={"open": False, "outcome": outcome})
        self.ask_of(turn_id, closed)
        about = {"turn_id": turn_id, "approval_id": approval.approval_id, "outcome": outcome}
        self.say(ApprovalClosed.model_validate({**about, "principal": principal, "reason": reason}))
        return closed

    def void(self, answer: ApprovalDecided | EffectResolved, reason: str) -> None:
        """The answer changes nothing, and its author is told."""
        turn = self.talk.turn
        self.say(
            ApprovalClosed(
                turn_id=turn.turn_id if turn else "",
                approval_id=answer.approval_id,
                outcome="stale",
                principal=answer.principal,
                reason=reason,
            )
        )

    def lapse(self, outcome: str, *, principal: str | None = None) -> None:
        """Settle every open question that means nothing without the turn as it was."""
        for approval in self.talk.approvals:
            if approval.open and not approval.outlives:
                self.close_approval(approval, outcome, principal=principal)

    def say(self, *events: Event) -> None:
        self._changeset = self._changeset.emit(*events)

    def start(self, *starts: Start) -> None:
        self._changeset = self._changeset.start(*starts)

    def end(self, *ids: str) -> None:
        self._changeset = self._changeset.end(*ids)

    def cancel(self, *ids: str) -> None:
        self._changeset = self._changeset.cancel(*ids)

    def change(self, kind: str, **row: Any) -> None:
        self._changeset = self._changeset.change("conversation", kind, **row)

    def close(self, store: Store) -> Changeset:
        """All of it as one changeset. That nothing follows rests on the conversation as it was loaded, too: a copy that
        is out of date must not let go of what someone waits for."""
        still_open = tuple(approval for approval in self.talk.approvals if approval.open)
        rows = Rows(
            self.session, self.talk.turn, self.talk.steps, still_open, self._turns, self._steps, self._approvals
        )
        return store.save(self._changeset, rows)


def _told(turn_id: str, doing: StepRun) -> StepChanged:
    return StepChanged(
        turn_id=turn_id,
        plan_id=doing.plan_id,
        step_id=doing.step_id,
        ordinal=doing.step.ordinal,
        tool=doing.step.tool,
        description=doing.step.description,
        state=doing.state,
        summary=doing.summary[:2000],
        error=doing.error[:2000] if doing.error else None,
        snapshot=doing.snapshot,
        result=_result(doing),
    )


def _result(doing: StepRun) -> Asset | None:
    """What a person may fetch of it: a result that travelled as a blob."""
    body = doing.data
    if doing.state is not StepState.SUCCEEDED or doing.call_id is None or body is None or body.sha256 is None:
        return None
    name = f"step-{doing.step.ordinal}-{doing.step.tool}.json"
    return Asset(
        asset_id=doing.call_id, filename=name, media_type="application/json", sha256=body.sha256, size=body.size
    )
