"""One coroutine per event: load the conversation, let the turn decide, return the changeset.

Each may run twice: the input's id is the changeset's, and the session's version guards every row. Where policy does not
answer, the input is tried again for a minute, and nothing runs meanwhile; then it is refused (architecture.md 9).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from libs import ids
from libs.bus import Record
from libs.changes import Cause, Changeset
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import (
    ApprovalDecided,
    CallsEraseRequested,
    EffectResolved,
    Envelope,
    EraseRequested,
    MemoryEraseRequested,
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
from libs.identity import BadProof, grants
from libs.leases import NewLease
from libs.policy import PolicyUnanswered, RetryDeadline
from libs.telemetry import logger
from services.conversation_worker.rows import SessionErased
from services.conversation_worker.turn import (
    decisions,
    effects,
    finish,
    gathering,
    plan,
    results,
    rollback,
    start,
    unknown_effects,
)
from services.conversation_worker.turn.context import LOST, TurnContext
from services.conversation_worker.turn.state import Outcome, QueuedMessage, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

log = logger("conversation")
Decide = Callable[[UnitOfWork], Awaitable[None]]
OnPolicyTimeout = Callable[[UnitOfWork, Outcome], None]


class Handlers:
    def __init__(self, context: TurnContext) -> None:
        self._context, self._store = context, context.store
        self._policy_deadline = RetryDeadline(context.platform.clock)

    # conversation.inbound

    async def message(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        message = QueuedMessage.model_validate(event.data.model_dump())

        async def decide(uow: UnitOfWork) -> None:
            await start.receive(self._context, uow, message, event.data)

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
        decisions.cancel(uow, event.data)
        return await self.close(uow)

    async def rollback(self, cause: Cause, event: Envelope[RollbackRequested]) -> Changeset:
        message = rollback.message_of(event.data)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            start.refuse(uow, message, refused.reason or "", refused.detail)

        return await self.decide(
            cause, lambda uow: rollback.roll_back(self._context, uow, event.data), on_policy_timeout
        )

    async def erase(self, cause: Cause, event: Envelope[EraseRequested]) -> Changeset:
        """Erase the session, then let those erase that keep something of it or of its person.

        All turns of the session have ended. Its key orders the events: what its turns have sent to other services
        arrives there before this.
        """
        asked = event.data
        changeset = Changeset(cause).emit(MemoryEraseRequested(user=asked.principal, scopes=asked.scopes))
        if cause.session is None:
            return changeset
        grant = grants.issue_erasure(self._context.platform.keys, cause.tenant, cause.session)
        return changeset.put(SessionErased(cause.session)).emit(CallsEraseRequested(grant=grant))

    # committee.decisions

    async def approved(self, cause: Cause, event: Envelope[PlanApproved]) -> Changeset:
        decide = partial(plan.approve, self._context, approved=event.data)
        return await self._planned(cause, Input.PLAN_APPROVED, event.data.request_id, decide)

    async def rejected(self, cause: Cause, event: Envelope[PlanRejected]) -> Changeset:
        decide = partial(plan.reject, self._context, rejected=event.data)
        return await self._planned(cause, Input.PLAN_REJECTED, event.data.request_id, decide)

    async def _planned(self, cause: Cause, input: Input, request_id: str, decide: Decide) -> Changeset:
        """Let the turn that waits for this plan decide. If policy does not answer, the turn stops."""

        async def decide_if_awaited(uow: UnitOfWork) -> None:
            if uow.accepts(input, request_id):
                await decide(uow)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            if uow.accepts(input, request_id):
                finish.stop(uow, refused)

        return await self.decide(cause, decide_if_awaited, on_policy_timeout)

    async def unclear(self, cause: Cause, event: Envelope[PlanUnclear]) -> Changeset:
        uow = await self.uow(cause)
        if uow.accepts(Input.PLAN_UNCLEAR, event.data.request_id):
            uow.take(Input.PLAN_UNCLEAR, event.data.request_id, event.data)
        return await self.close(uow)

    # tool.results

    async def result(
        self, cause: Cause, event: Envelope[ToolSucceeded | ToolFailed | ToolDenied | ToolUnknown]
    ) -> Changeset:
        result = event.data

        async def decide(uow: UnitOfWork) -> None:
            if results.is_awaited(uow, result):
                results.receive(self._context, uow, result)
            elif not await unknown_effects.record_late(self._context, uow, result):
                log.info("ignored a result that no turn awaits", call_id=result.call_id, turn=result.turn_id)

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            if results.is_awaited(uow, result):
                results.leave(self._context, uow, result, refused)

        return await self.decide(cause, decide, on_policy_timeout)

    # Dead messages

    def on_dead_letter(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """End the turn of an event that cannot be handled, as soon as the turn can be loaded."""
        turn = dead.header("turnid") or str(dead.fields().get("turn_id", ""))
        if not turn or cause.session is None:
            return Changeset(cause)
        # By a lease, since the report on a dead letter loads nothing (bus.md 16).
        about = {"turn_id": turn, "code": error.code, "detail": f"{dead.type} could not be handled"}
        return Changeset(cause).start(NewLease(ids.new(), LOST, about))

    def on_dead_request(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """End the turn of a request that cannot be handled, unless it was not from the gateway."""
        # A forged event must not end the turn that it names.
        return Changeset(cause) if isinstance(error, BadProof) else self.on_dead_letter(cause, dead, error)

    # What all share

    async def uow(self, cause: Cause) -> UnitOfWork:
        if cause.session is None:
            raise Rejected("the event names no session")
        conversation = await self._store.load(cause.tenant, cause.session)
        return UnitOfWork(cause, conversation, self._context.platform.skills)

    async def decide(self, cause: Cause, decide: Decide, on_policy_timeout: OnPolicyTimeout) -> Changeset:
        """Return what follows from an input. If policy has not answered for too long, refuse the input instead."""
        uow = await self.uow(cause)
        try:
            await decide(uow)
            await self._follow(uow)
            await gathering.gather_soon(self._context, uow)
            await effects.perform(self._context, uow)
        except Unavailable as error:
            if not self._policy_deadline.over(cause.id):
                raise
            code = "POLICY_UNAVAILABLE" if isinstance(error, PolicyUnanswered) else error.code
            # Loaded anew: the first unit of work holds half of a decision that was not reached.
            uow = await self.uow(cause)
            on_policy_timeout(uow, Outcome(state=TurnState.REFUSED, reason=code, detail=str(error)))
            await self._follow(uow)
        return uow.close(self._store)

    async def close(self, uow: UnitOfWork) -> Changeset:
        """Return what follows from the inputs that were taken."""
        await self._follow(uow)
        return uow.close(self._store)

    async def _follow(self, uow: UnitOfWork) -> None:
        """Perform the effects. After a turn that has ended, the next message of the mailbox begins."""
        await effects.perform(self._context, uow)
        await start.continue_mailbox(self._context, uow)
        await effects.perform(self._context, uow)
