"""Retrieval before planning: the passages of the folder's files that fit a request (S0-27).

They are contents of files, so the planner is given them only where the search tool might read them: its policy and its
gates are asked, and the session is marked as having read what others may have written. The offline planner reads none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from libs.clients import executor
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
