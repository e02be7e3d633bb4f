"""What cannot be handled ends the turn that waits for it, and does nothing when it is replayed afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from libs import ids
from libs.changes import Cause, Changeset, DeadLetterAction
from libs.database import Dsns
from libs.events import MessageReceived, PlanRequested, TurnEnded
from tests.support.platform import TENANT, RunningPlatform, run_platform

GROUP = "conversation_worker"


async def dies(at: RunningPlatform) -> str:
    """Time passes until something is dead; its id."""
    pool = await at.platform.database.bus()
    async with asyncio.timeout(60):
        while (dead := await pool.fetchval("select id from bus.inbox where state = 'dead'")) is None:
            await at.later(61)
            await asyncio.sleep(0.05)
    return str(dead)


@pytest.mark.requirement("A14")
async def test_dead_message_ends_its_turn_and_is_stale_when_replayed(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        at.judge.failing.add("conversation.send")
        turn = await at.say("hello", session="s")
        dead = await dies(at)
        ended = await at.ended(turn, session="s")
        assert (ended.state, ended.reason) == ("failed", "HANDLER_CRASHED")

        at.judge.failing.clear()
        cause = Cause.request("gateway", id=ids.new(), tenant=TENANT, key=f"{TENANT}:operator")
        await at.platform.writer.apply(Changeset(cause).act_on_dead_letters(DeadLetterAction("replay", GROUP, dead)))
        while [r.verdict for r in await at.audited("s")][-1:] != ["stale"]:
            await at.platform.bus.waiting()
        await at.quiet()
        kinds = [type(event) for event in await at.logged("s")]
        assert (kinds.count(MessageReceived), kinds.count(TurnEnded), kinds.count(PlanRequested)) == (1, 1, 0)
