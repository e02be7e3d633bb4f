"""The turn's leases: gathering the context, writing the answer, and every wait for a person."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

from libs.budgets import Payer, paid_by
from libs.cache import Delta, Stream
from libs.changes import Cause, Changeset
from libs.clients import mind
from libs.errors import SumaError, Unavailable
from libs.events import Usage
from libs.leases import Cancelled, Lease
from libs.models.ports import InvalidModelOutput, ModelText
from libs.telemetry import logger
from services.conversation_worker.domain import event_sizes, reasons
from services.conversation_worker.handlers import Handlers
from services.conversation_worker.turn import decisions, finish, gathering, start
from services.conversation_worker.turn.context import TurnContext
from services.conversation_worker.turn.finish import Answer
from services.conversation_worker.turn.gathering import Gathered
from services.conversation_worker.turn.state import Conversation, Outcome, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

log = logger("conversation")
Written = tuple[str, Usage]
OFFLINE = "offline"
DEFAULT_AGENT = "default"
"""The name of the default agent's persona."""


class TurnLeases:
    def __init__(self, context: TurnContext, handlers: Handlers) -> None:
        self._context, self._platform, self._store = context, context.platform, context.store
        self._uow, self._close, self._deciding = handlers.uow, handlers.close, handlers.decide

    # The context

    async def gather(self, lease: Lease) -> Gathered:
        """Return what the planner may know: memories, and facts of the workspace."""
        conversation = await self._store.peek(lease.tenant, Cause.of_lease(lease).session or "", working=lease.id)
        if conversation.turn is None:
            return Gathered()
        return await gathering.gather_late(self._context, lease, conversation)

    async def gathered(self, lease: Lease, found: Gathered) -> Changeset:
        return await self._go_on(lease, Input.CONTEXT_GATHERED, lambda _: found)

    # The answer

    async def write(self, lease: Lease) -> Written:
        """Write the answer, and stream it to viewers meanwhile."""
        session = Cause.of_lease(lease).session or ""
        conversation = await self._store.peek(lease.tenant, session, working=lease.id)
        if conversation.turn is None:
            return "", Usage()
        if conversation.turn.message.call is not None:
            return _answer_of_a_call(conversation), Usage()
        model = self._platform.model
        assert model is not None
        stream, text, usage = Stream(lease.tenant, conversation.turn.turn_id), "", Usage()
        known = await gathering.known(self._context, lease.tenant, conversation)
        task = self._context.task(conversation, known=known)
        task = task.model_copy(update={"manner": await self._manner(lease, conversation)})
        with paid_by(Payer(lease.tenant, session, stream.turn)):
            async with _closing(model.answer(task)) as answer:
                async for said in answer:
                    text += said.text
                    usage = usage.plus(said.usage)
                    if said.text:
                        # With the attempt: viewers drop the text of one whose process died.
                        await self._show(stream, Delta(lease.id, lease.attempts, said.text))
                    # The rest would be cut off, and every token of it is paid for.
                    if len(text) > event_sizes.ANSWER_MOST:
                        break
        return text, usage

    async def written(self, lease: Lease, answer: Written) -> Changeset:
        def completed(uow: UnitOfWork) -> Answer:
            text, usage = answer
            uow.update_turn(usage=uow.turn.usage.plus(usage))
            return Answer(text, reasons.of(uow.turn.commit_result, uow.conversation.steps))

        return await self._go_on(lease, Input.ANSWER_WRITTEN, completed)

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """End the turn: its context could not be gathered, or its answer not be written."""
        uow = await self._uow(Cause.of_lease(lease))
        if uow.accepts(Input.WORK_FAILED, lease.id):
            if isinstance(error, InvalidModelOutput):
                # An answer that cannot be used was paid for as well.
                uow.update_turn(usage=uow.turn.usage.plus(error.usage))
            finish.give_up(uow, Input.WORK_FAILED, lease.id, error)
        return await self._close(uow)

    # Waits for people

    async def wait(self, lease: Lease) -> None:
        """Do nothing: a wait only ends."""

    async def expired(self, lease: Lease, _: None) -> Changeset:
        async def decide(uow: UnitOfWork) -> None:
            if uow.is_active(lease.input["turn_id"]):
                decisions.expire(uow, lease.input["approval_id"])

        def on_policy_timeout(uow: UnitOfWork, refused: Outcome) -> None:
            if uow.is_active(lease.input["turn_id"]) and uow.turn.outcome is None:
                finish.stop(uow, refused)

        return await self._deciding(Cause.of_lease(lease), decide, on_policy_timeout)

    async def unanswered(self, lease: Lease, _: None) -> Changeset:
        uow = await self._uow(Cause.of_lease(lease))
        if uow.accepts(Input.CLARIFICATION_EXPIRED, lease.id):
            uow.take(Input.CLARIFICATION_EXPIRED, lease.id)
            uow.update_turn(outcome=Outcome(state=TurnState.FAILED, reason="CLARIFICATION_EXPIRED"))
        return await self._close(uow)

    # What could not be handled

    async def lost(self, lease: Lease, _: None) -> Changeset:
        """End a turn of which an event or a wait could not be handled; one that never began ends as well."""
        uow, about = await self._uow(Cause.of_lease(lease)), lease.input
        over = Outcome(state=TurnState.FAILED, reason=about.get("code", "LOST"), detail=about.get("detail", ""))
        if uow.is_active(about["turn_id"]):
            finish.abandon(uow, over)
        elif not uow.has_seen(about["turn_id"]):
            uow.end_turn(about["turn_id"], over)
        return await self._close(uow)

    async def waiting_failed(self, lease: Lease, error: SumaError) -> Changeset:
        """End the turn if the end of a wait cannot be decided; it must not wait for ever."""
        uow = await self._uow(Cause.of_lease(lease))
        if uow.is_active(lease.input["turn_id"]):
            finish.abandon(uow, Outcome(state=TurnState.FAILED, reason=error.code, detail=str(error)))
        return await self._close(uow)

    # Helpers

    async def _go_on(self, lease: Lease, input: Input, given: Callable[[UnitOfWork], object]) -> Changeset:
        uow = await self._uow(Cause.of_lease(lease))
        if not uow.accepts(input, lease.id):
            return await self._close(uow)
        if uow.turn.outcome is not None:
            finish.give_up(uow, input, lease.id, Cancelled())
        else:
            uow.take(input, lease.id, given(uow))
        return await self._close(uow)

    async def _manner(self, lease: Lease, conversation: Conversation) -> str:
        """Return how the person wants the answer written; nothing if the memory service does not answer."""
        model, turn = self._platform.model, conversation.turn
        # The offline model has a manner of its own, and need not wait.
        if model is None or model.name == OFFLINE or turn is None:
            return ""
        about = turn.message.principal, turn.message.agent or DEFAULT_AGENT
        try:
            return await mind.manner(self._platform, lease.tenant, *about)
        except SumaError as error:
            log.info("wrote without a persona", error=str(error))
            return ""

    async def _show(self, stream: Stream, delta: Delta) -> None:
        try:
            await self._platform.deltas.append(stream, delta)
        # Partial text is a courtesy to viewers; the finished answer does not depend on it.
        except Unavailable:
            log.warning("could not publish deltas", turn=stream.turn)


def _answer_of_a_call(conversation: Conversation) -> str:
    """Return the answer of a turn of one given call, which no model writes."""
    turn = conversation.turn
    said = [run.error or run.summary for run in conversation.steps]
    decided = [turn.decided] if turn is not None and turn.decided else []
    return " ".join(text.strip() for text in (*said, *decided) if text.strip()) or "Done."


@asynccontextmanager
async def _closing(answer: AsyncIterator[ModelText]) -> AsyncIterator[AsyncIterator[ModelText]]:
    """Close the model's call as soon as its reader stops, not when garbage is collected."""
    try:
        yield answer
    finally:
        if isinstance(answer, AsyncGenerator):
            await answer.aclose()


QUEUED_AT_ONCE, QUEUED_EACH = 128, 4
"""Waiting turns that queue for the slots of this process, in all and of one tenant; the others are rows alone."""


class SlotQueue:
    def __init__(self, context: TurnContext, handlers: Handlers) -> None:
        self._slots, self._store, self._context = context.slots, context.store, context
        self._uow, self._close = handlers.uow, handlers.close

    async def wait(self, lease: Lease) -> None:
        """Wait until this session has a slot."""
        await self._slots.take(_key(lease), self._store.at_work)

    async def begin(self, lease: Lease, _: None) -> Changeset:
        """Begin the session's next turn, if it is still wanted."""
        uow = await self._uow(Cause.of_lease(lease))
        start.begin_next(uow)
        # Its commit gives the slot back where no turn is at work after all.
        return await self._close(uow)

    async def begin_without_slot(self, lease: Lease, _: SumaError) -> Changeset:
        """Begin the turn although no slot could be waited for: its message was accepted."""
        return await self.begin(lease, None)


def _key(lease: Lease) -> tuple[str, str]:
    return lease.tenant, Cause.of_lease(lease).session or ""
