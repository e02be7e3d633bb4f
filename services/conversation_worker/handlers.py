"""One coroutine per event: load the conversation, let the turn decide, return the changeset.

Each may run twice: the input's id is the changeset's, and the session's version guards every row. Where policy does not
answer, the input is tried again for a minute, and nothing runs meanwhile; then it is refused (DESIGN §8).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import (
    ActionRecorded,
    ApprovalDecided,
    EffectResolved,
    MessageReceived,
    PlanApproved,
    PlanRejected,
    PlanUnclear,
    RollbackRequested,
    ToolDenied,
    ToolFailed,
    ToolSucceeded,
    ToolUnknown,
    TurnCancelRequested,
)
from libs.events.envelope import Envelope
from libs.events.values import Plan
from libs.leases.ports import NewLease
from libs.policy.ports import PolicyUnanswered
from libs.policy.retry_deadline import RetryDeadline
from libs.telemetry.logs import logger
from services.conversation_worker.domain import event_sizes, reasons
from services.conversation_worker.domain.call_results import Result
from services.conversation_worker.turn import (
    commit,
    decisions,
    finish,
    gathering,
    plan,
    results,
    rollback,
    start,
    unknown_effects,
)
from services.conversation_worker.turn.context import LOST, TurnContext, recorded
from services.conversation_worker.turn.state import Outcome, QueuedMessage, TurnState
from services.conversation_worker.turn.transitions import Effect, Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

COMMITTEE_SAYS_NO = ("COMMITTEE_REJECTED", "POLICY_UNAVAILABLE", "POLICY_DENIED")
NO_FOLDER = "This session has no folder to work in. Start one in a folder, as with `suma run … --in DIR`."

log = logger("conversation")
Decide = Callable[[UnitOfWork], Awaitable[None]]
OnPolicyTimeout = Callable[[UnitOfWork, Outcome], None]


class Handlers:
    def __init__(self, context: TurnContext) -> None:
        self._context, self._store = context, context.store
        self._policy_deadline = RetryDeadline(context.platform.clock, context.settings.policy_seconds)

    # conversation.inbound

    async def message(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        message = QueuedMessage.model_validate(event.data.model_dump())

        async def decide(uow: UnitOfWork) -> None:
            await self._receive(uow, message, event.data)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            start.refuse(uow, message, refused.reason or "", refused.detail)

        return await self.decide(cause, decide, on_policy_timeout)

    async def approval(self, cause: Cause, event: Envelope[ApprovalDecided]) -> Changeset:
        """Handle a decision. If policy does not answer, the decision does not count and the question stays open."""

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            uow.reject_stale(event.data, f"{refused.reason}: {refused.detail}")

        return await self.decide(cause, lambda uow: decisions.decide(self._context, uow, event.data), on_policy_timeout)

    async def effect(self, cause: Cause, event: Envelope[EffectResolved]) -> Changeset:
        """Handle a finding. If policy does not answer, the finding does not count and the question stays open."""

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            uow.reject_stale(event.data, f"{refused.reason}: {refused.detail}")

        return await self.decide(
            cause, lambda uow: unknown_effects.resolve(self._context, uow, event.data), on_policy_timeout
        )

    async def cancel(self, cause: Cause, event: Envelope[TurnCancelRequested]) -> Changeset:
        uow = await self.uow(cause)
        decisions.cancel(self._context, uow, event.data)
        return self.close(uow)

    async def rollback(self, cause: Cause, event: Envelope[RollbackRequested]) -> Changeset:
        message = rollback.message_of(event.data)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            start.refuse(uow, message, refused.reason or "", refused.detail)

        return await self.decide(
            cause, lambda uow: rollback.roll_back(self._context, uow, event.data), on_policy_timeout
        )

    # committee.decisions

    async def approved(self, cause: Cause, event: Envelope[PlanApproved]) -> Changeset:
        approved = event.data

        async def decide(uow: UnitOfWork) -> None:
            if uow.accepts(Input.PLAN_APPROVED, approved.request_id):
                plan.record_planning(self._context, uow, approved.usage)
                uow.update_turn(wish=approved.wish or uow.turn.wish)
                await self._planned(uow, approved)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            if uow.accepts(Input.PLAN_APPROVED, approved.request_id):
                finish.stop(self._context, uow, refused)

        return await self.decide(cause, decide, on_policy_timeout)

    async def rejected(self, cause: Cause, event: Envelope[PlanRejected]) -> Changeset:
        uow, no = await self.uow(cause), event.data
        if not uow.accepts(Input.PLAN_REJECTED, no.request_id):
            return self.close(uow)
        uow.take(Input.PLAN_REJECTED, no.request_id)
        plan.record_planning(self._context, uow, no.usage)
        state = TurnState.REFUSED if no.code in COMMITTEE_SAYS_NO else TurnState.FAILED
        finish.stop(self._context, uow, Outcome(state=state, reason=no.code, detail=no.reason))
        return self.close(uow)

    async def unclear(self, cause: Cause, event: Envelope[PlanUnclear]) -> Changeset:
        uow = await self.uow(cause)
        if not uow.accepts(Input.PLAN_UNCLEAR, event.data.request_id):
            return self.close(uow)
        uow.take(Input.PLAN_UNCLEAR, event.data.request_id)
        plan.record_planning(self._context, uow, event.data.usage)
        plan.ask_clarification(self._context, uow, event.data)
        return self.close(uow)

    # tool.results

    async def result(
        self, cause: Cause, event: Envelope[ToolSucceeded | ToolFailed | ToolDenied | ToolUnknown]
    ) -> Changeset:
        result = event.data

        async def decide(uow: UnitOfWork) -> None:
            if results.is_awaited(uow, result):
                await results.receive(self._context, uow, result)
            elif not await unknown_effects.record_late(self._context, uow, result):
                log.info("ignored a result that no turn awaits", call_id=result.call_id, turn=result.turn_id)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            if results.is_awaited(uow, result):
                _leave(self._context, uow, result, refused)

        return await self.decide(cause, decide, on_policy_timeout)

    # Dead messages

    def on_dead_letter(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """End the turn of an event that cannot be handled, as soon as the turn can be loaded."""
        turn = dead.header("turnid") or str(dead.fields().get("turn_id", ""))
        if not turn or cause.session is None:
            return Changeset(cause)
        about = {"turn_id": turn, "code": error.code, "detail": f"{dead.type} could not be handled"}
        return Changeset(cause).start(NewLease(ids.new(), LOST, about))

    # What all share

    async def uow(self, cause: Cause) -> UnitOfWork:
        if cause.session is None:
            raise Rejected("the event names no session")
        return UnitOfWork(cause, await self._store.load(cause.tenant, cause.session))

    async def decide(self, cause: Cause, decide: Decide, on_policy_timeout: OnPolicyTimeout) -> Changeset:
        """Return what follows from an input. If policy has not answered for too long, refuse the input instead."""
        uow = await self.uow(cause)
        try:
            await decide(uow)
            start.continue_mailbox(self._context, uow)
            await gathering.gather_soon(self._context, uow)
        except Unavailable as error:
            if not self._policy_deadline.over(cause.id):
                raise
            code = "POLICY_UNAVAILABLE" if isinstance(error, PolicyUnanswered) else error.code
            uow = await self.uow(cause)
            on_policy_timeout(uow, Outcome(state=TurnState.REFUSED, reason=code, detail=str(error)))
            start.continue_mailbox(self._context, uow)
        return uow.close(self._store)

    def close(self, uow: UnitOfWork) -> Changeset:
        """Return what follows. After a turn that has ended, the next message of the mailbox begins."""
        start.continue_mailbox(self._context, uow)
        return uow.close(self._store)

    async def _receive(self, uow: UnitOfWork, message: QueuedMessage, said: MessageReceived) -> None:
        if uow.has_seen(message.turn_id):
            if message.turn_id in uow.session.ended:
                uow.emit(_stale(message))
            return
        if message.turn_id in uow.session.cancelled:
            uow.end_turn(message.turn_id, Outcome(state=TurnState.CANCELLED, reason="CANCELLED"))
            return
        if event_sizes.size(said.text) > event_sizes.TEXT_MOST:
            start.refuse(uow, message, "MESSAGE_TOO_LARGE", f"a message has at most {event_sizes.TEXT_MOST} bytes")
            return
        decision = await self._context.decide("conversation.send", uow, message, length=len(said.text))
        uow.emit(recorded(decision, message, turn_id=message.turn_id, resource=message.message_id))
        if not decision.allowed:
            start.refuse(uow, message, "POLICY_DENIED", decision.reason)
            return
        if said.root is not None and uow.session.root is None:
            uow.update_session(root=said.root)
        start.receive(self._context, uow, message, on_busy=said.on_busy)

    async def _planned(self, uow: UnitOfWork, approved: PlanApproved) -> None:
        answer, reason = approved.answer, reasons.of_answer(approved)
        if uow.session.root is None and self._needs_folder(approved.plan):
            answer, reason = NO_FOLDER, reasons.DECLINED
        elif approved.plan.steps or answer is None:
            uow.take(Input.PLAN_APPROVED, approved.request_id)
            await plan.propose(self._context, uow, approved)
            return
        if Effect.ASK_COMMIT in uow.take(Input.PLAN_ANSWERED, approved.request_id):
            await commit.ask(self._context, uow)
        else:
            finish.complete(self._context, uow, answer, reason=reason)

    def _needs_folder(self, proposed: Plan) -> bool:
        """Return whether a step works in the session's folder. Tools from outside need none."""
        named = {step.tool for step in proposed.steps}
        return not named <= {tool.name for tool in self._context.platform.skills.tools if not tool.in_workspace}


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


def _leave(context: TurnContext, uow: UnitOfWork, result: Result, refused: Outcome) -> None:
    """Record a result whose consequences policy cannot decide, and stop the turn."""
    if uow.turn.working == result.call_id:
        uow.take(Input.LOST)
        uow.update_turn(working=None, commit_id=None)
        finish.stop(context, uow, uow.turn.outcome or refused)
        return
    results.record(context, uow, result)
    if uow.turn.outcome is None:
        finish.stop(context, uow, refused)
    else:
        finish.finish_when_idle(context, uow)
