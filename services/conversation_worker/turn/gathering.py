"""Context for the planner: memories of the session, facts about the person and the folder, and passages that fit.

Other services hold them. Where they run in this process, a message is handled together with its context, if the answers
come soon; otherwise a lease waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from libs import ids
from libs.clients import NotConfigured, executor, is_near, memory
from libs.errors import SumaError
from libs.events import (
    NAMES,
    KnownFact,
    MemoriesRecalled,
    Passage,
    PlanRequested,
    RecalledMemory,
    Touched,
    TurnDegraded,
)
from libs.leases import Lease, NewLease
from libs.scheduling import leave_gate
from libs.telemetry import logger
from services.conversation_worker.turn import passages
from services.conversation_worker.turn.context import CONTEXT, TurnContext
from services.conversation_worker.turn.state import Conversation
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

WITHOUT_MEMORIES = "The memory service does not answer; this turn knows only the last messages of this session."
RECALL_MOST = 5
"""Memories that a turn's context takes."""
SOON_SECONDS = 0.25
"""How long the handling of a message waits for its context. It reads the database a few times and a small folder."""
FUSED_SECONDS = 0.05
"""The same where the input's cause waits for its handling, such as a request."""

ATTACHED = "attachments"
"""The source of what attached files show."""

log = logger("conversation")

Remembered: TypeAlias = Mapping[str, Any]
"""A memory: `id`, `text`, `score` and `sources`."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """`memories` is None if their service is unavailable; `known` are facts about the person."""

    memories: Sequence[Remembered] | None = None
    known: tuple[KnownFact, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()
    knowledge: tuple[Passage, ...] = ()


async def begin(context: TurnContext, uow: UnitOfWork, _: object) -> None:
    """Start to gather the context, under a lease: it asks other services."""
    start = NewLease(
        ids.derived(uow.cause.id, CONTEXT), CONTEXT, {"turn_id": uow.turn.turn_id, "round": uow.turn.round}
    )
    uow.update_turn(working=start.id, since=context.now().timestamp())
    uow.start(start)


async def gather(context: TurnContext, tenant: str, conversation: Conversation) -> Gathered:
    """Return the context of the turn under way.

    Raises:
        SumaError: the folder's facts are unavailable.
    """
    memories, (facts, fitting), about_person, knowledge = await asyncio.gather(
        _memories(context, tenant, conversation),
        _files(context, tenant, conversation),
        known(context, tenant, conversation),
        passages.known(context, tenant, conversation),
    )
    return Gathered(memories, about_person, facts, fitting, knowledge)


async def gather_soon(context: TurnContext, uow: UnitOfWork) -> None:
    """Gather the context now if the turn waits for it and it is near; otherwise leave it to the lease."""
    waiting = next((start for start in uow.starts if start.kind == CONTEXT), None)
    asked, uncommitted = (memory.SERVICE, executor.SERVICE), uow.cause.uncommitted
    if waiting is None or not all(is_near(context.platform, name) for name in asked):
        return
    # Their answers would lack what the same commit is about to write: the lease reads after it.
    if not uncommitted.isdisjoint(asked):
        return
    # Other inputs are decided meanwhile; how many turns gather at once is bounded by their slots.
    leave_gate()
    gathering = asyncio.ensure_future(gather(context, uow.cause.tenant, uow.conversation))
    try:
        await asyncio.wait({gathering}, timeout=FUSED_SECONDS if uncommitted else SOON_SECONDS)
    except asyncio.CancelledError:
        gathering.cancel()
        raise
    if not gathering.done():
        # A large folder: its lease, which begins here as a rule, continues to wait for the same answers.
        context.late.put(waiting.id, gathering)
        return
    if isinstance(error := gathering.exception(), SumaError):
        log.info("left the context to a lease", error=str(error))
        return
    uow.withdraw(waiting)
    uow.take(Input.CONTEXT_GATHERED, waiting.id, gathering.result())


async def gather_late(context: TurnContext, lease: Lease, conversation: Conversation) -> Gathered:
    """Return the context for a lease; a gathering that began with the message goes on."""
    begun = context.late.take(lease.id)
    if begun is not None:
        # If it failed, gather again: the lease has the time that the handling of a message lacks.
        with suppress(SumaError):
            found: Gathered = await begun
            return found
    return await gather(context, lease.tenant, conversation)


async def request_plan(context: TurnContext, uow: UnitOfWork, found: Gathered) -> None:
    """Ask the committee for a plan, with this context."""
    if found.memories is None:
        uow.emit(TurnDegraded(turn_id=uow.turn.turn_id, missing="memory", detail=WITHOUT_MEMORIES))
    memories = found.memories or ()
    if memories and not uow.turn.asked:
        recalled = tuple(RecalledMemory.model_validate(one) for one in memories)
        uow.emit(MemoriesRecalled(turn_id=uow.turn.turn_id, memories=recalled))
    if memories or found.facts:
        # Memories are of this session, so what they rest on is known; the facts are names and counts.
        uow.touch(NAMES)
    for fact in found.known:
        # A fact that was read from a page stays a text of others, in any session.
        uow.touch(fact.touched, source=memory.SERVICE)
    fitting = found.passages if await passages.permit(context, uow, found.passages) else ()
    knowledge = found.knowledge if await passages.permit_known(context, uow, found.knowledge) else ()
    task = context.task(
        uow.conversation,
        memories=tuple(one["text"] for one in memories),
        passages=(*knowledge, *fitting),
        known=found.known,
        facts=found.facts,
    )
    if any(file.sha256 for file in task.attachments):
        # A model that sees is shown them at once, as if a step had read them.
        uow.touch(Touched(private=True, untrusted=True, secret=False), source=ATTACHED)
    turn = uow.update_turn(working=None, asked=uow.turn.asked + 1)
    uow.emit(PlanRequested(request_id=turn.plan_request_id, turn_id=turn.turn_id, round=turn.round, task=task))


async def _memories(context: TurnContext, tenant: str, conversation: Conversation) -> Sequence[Remembered] | None:
    """Return the memories; None if their service is unavailable, so that the turn goes on without and says so."""
    assert conversation.turn is not None
    message, session = conversation.turn.message, conversation.session.session_id
    try:
        return await memory.recall(context.platform, tenant, session, message.text, message.principal, RECALL_MOST)
    except NotConfigured:
        return []
    except SumaError as error:
        log.warning("continued without memories", error=str(error))
        return None


async def _files(
    context: TurnContext, tenant: str, conversation: Conversation
) -> tuple[dict[str, Any], tuple[Passage, ...]]:
    """Return the folder's facts and, of the same look at the disk, the passages that fit."""
    facts = await _facts(context, tenant, conversation)
    return facts, await passages.fitting(context, tenant, conversation) if facts else ()


async def known(context: TurnContext, tenant: str, conversation: Conversation) -> tuple[KnownFact, ...]:
    """Return facts about the author of the turn's message; without their service, none."""
    assert conversation.turn is not None
    message = conversation.turn.message
    try:
        return tuple(await memory.known(context.platform, tenant, message.principal, message.text))
    except NotConfigured:
        return ()
    except SumaError as error:
        log.warning("continued without facts", error=str(error))
        return ()


async def _facts(context: TurnContext, tenant: str, conversation: Conversation) -> dict[str, Any]:
    assert conversation.turn is not None
    session, turn = conversation.session, conversation.turn
    if session.root is None:
        return {}
    return await executor.workspace_facts(
        context.platform, tenant, session.session_id, session.root, turn.turn_id, unstaged=not turn.dirty
    )
