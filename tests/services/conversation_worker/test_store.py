"""Stored conversations: written by the previous release, or through a pooler."""

from __future__ import annotations

from pathlib import Path

import asyncpg

from libs.database import Dsns
from tests.support.platform import plan, run_platform, scripted_model
from tests.support.pooler import pooled

MAKE = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))

FORMER = """
update conversation.turns
set doc = (doc - 'message' - 'outcome') || jsonb_build_object('letter', doc -> 'message', 'ending', doc -> 'outcome')
"""


async def test_turn_of_the_previous_release_continues(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        turn = await at.say("make a folder", session="s", root=at.folder("a.txt"))
        question = await at.asked(session="s")
    connection = await asyncpg.connect(home.owner)
    try:
        await connection.execute("set suma.tenants = '{local}'")
        assert await connection.execute(FORMER) == "UPDATE 1"
    finally:
        await connection.close()
    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        await at.decide(question, session="s")
        assert (await at.finish(turn, session="s")).state == "completed"


async def test_turn_runs_behind_a_transaction_pooler(home: Dsns, tmp_path: Path) -> None:
    async with pooled(home) as pooler, run_platform(pooler.dsns, tmp_path, model=scripted_model(MAKE)) as at:
        turn = await at.say("make a folder", session="s", root=at.folder("a.txt"))
        assert (await at.finish(turn, session="s")).state == "completed"
        await at.quiet()
    assert pooler.transactions
