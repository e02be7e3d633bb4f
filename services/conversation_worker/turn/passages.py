"""Retrieval before planning: the passages of files and of knowledge bases that fit a request (S0-27).

They are contents of files, so the session is marked as having read what others may have written. The planner is given
those of the folder only where the search tool might read them: its policy and its gates are asked. For those of
knowledge bases policy is asked as for any reading of files. The offline planner reads none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from libs.clients import executor, knowledge
from libs.errors import SumaError
from libs.events import Passage, Touched
from libs.hooks import Point
from libs.telemetry import logger
from services.conversation_worker.domain import digests
from services.conversation_worker.turn import tool_calls
from services.conversation_worker.turn.context import TurnContext, recorded
from services.conversation_worker.turn.state import Conversation
from services.conversation_worker.turn.unit_of_work import UnitOfWork

TOOL = "search-files.search"
CONTENTS = Touched(private=True, untrusted=True, secret=False)
SECONDS = 0.5
"""How long a plan waits for passages; without them it can still search."""
KNOWN_MOST, KNOWN_LETTERS = 3, 1_500
"""Passages of knowledge bases in a plan, and letters of each."""
SHOWN = ("path", "first", "last", "unit", "base")
QUERY_MOST = 500
"""Letters of a request that are searched for."""

log = logger("conversation")


async def fitting(context: TurnContext, tenant: str, conversation: Conversation) -> tuple[Passage, ...]:
    """Return the passages that fit the message of the turn under way; none if they are not found soon."""
    session, turn = conversation.session, conversation.turn
    assert turn is not None
    # What is staged is not indexed. A given call is not planned.
    if session.root is None or turn.dirty or turn.message.call is not None or _is_offline(context):
        return ()
    text = turn.message.text[:QUERY_MOST]
    try:
        async with asyncio.timeout(SECONDS):
            found = await executor.passages(context.platform, tenant, session.session_id, session.root, text)
    except (SumaError, TimeoutError) as error:
        log.info("planned without passages", error=str(error))
        return ()
    return tuple(found)


async def permit(context: TurnContext, uow: UnitOfWork, found: Sequence[Passage]) -> bool:
    """Return whether the author of the turn's message may read these passages, and record that they are read."""
    # No answer is never a yes; the plan goes on without.
    if not found or not await _allowed(context, uow, len(found)):
        return False
    uow.touch(CONTENTS, source=found[0].path)
    return True


async def known(context: TurnContext, tenant: str, conversation: Conversation) -> tuple[Passage, ...]:
    """Return the passages of the author's knowledge bases that fit the message; none if they are not found soon."""
    assert conversation.turn is not None
    message = conversation.turn.message
    if message.call is not None or _is_offline(context):
        return ()
    text = message.text[:QUERY_MOST]
    try:
        async with asyncio.timeout(SECONDS):
            found = await knowledge.search(context.platform, tenant, text, message.principal, KNOWN_MOST)
    except (SumaError, TimeoutError) as error:
        log.info("planned without knowledge", error=str(error))
        return ()
    # A passage has at most 8,000 letters: one could take the room of all others.
    return tuple(
        Passage(**{name: one[name] for name in SHOWN} | {"text": one["text"][:KNOWN_LETTERS]}) for one in found
    )


async def permit_known(context: TurnContext, uow: UnitOfWork, found: Sequence[Passage]) -> bool:
    """Return whether the author may read passages of knowledge bases, and record that they are read."""
    if not found:
        return False
    message = uow.turn.message
    try:
        decision = await context.decide("workspace.read", uow, message)
    except SumaError as error:
        log.info("planned without knowledge", error=str(error))
        return False
    uow.emit(recorded(decision, message, resource=f"knowledge:{found[0].base}", turn_id=message.turn_id))
    if decision.allowed:
        uow.touch(CONTENTS, source=f"{found[0].base}: {found[0].path}")
    return decision.allowed


async def _allowed(context: TurnContext, uow: UnitOfWork, count: int) -> bool:
    message = uow.turn.message
    args = {"query": message.text[:QUERY_MOST], "path": ".", "top_k": count}
    try:
        tool = context.tool(TOOL)
        decision = await tool_calls.ask_policy(context, uow, tool, args, approved=False)
        uow.emit(recorded(decision, message, resource=TOOL, turn_id=message.turn_id))
        if not decision.allowed or decision.obligations:
            return False
        digest, kind = digests.of_call(TOOL, args), tool.effect_class.value
        about = {"args": args, "args_digest": digest, "effect_class": kind, "risks": tool.risks}
        return await context.gate(Point.TOOL_CALL, uow, message, tools=(TOOL,), **about) is None
    except SumaError as error:
        log.info("planned without passages", error=str(error))
        return False


def _is_offline(context: TurnContext) -> bool:
    model = context.platform.model
    return model is None or model.name == "offline"
