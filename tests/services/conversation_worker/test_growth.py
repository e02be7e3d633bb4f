"""A turn of many calls with large results: what is stored grows with the calls, and no event is too large (A17b)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import asyncpg
import pytest

from libs.database import Dsns
from libs.events.envelope import MAX_EVENT_BYTES
from libs.events.values import Plan
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

FILES = 400
FEW, MANY = 10, 100
WRITTEN = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"


def looks(count: int, *, rounds: bool) -> list[Plan]:
    """Each look shows the whole folder anew; all in one plan, or one in each round."""
    calls = [("manage-files.list", {"path": ".", "include": ["*", f"{n}"]}) for n in range(count)]
    if not rounds:
        return [plan(*calls)]
    return [plan(call, complete=n == count) for n, call in enumerate(calls, 1)]


async def written(at: RunningPlatform, where: Dsns, session: str) -> float:
    """Bytes that Postgres wrote for a turn, whatever was rewritten among them."""
    eye = await asyncpg.connect(where.bus)
    try:
        began = await eye.fetchval(WRITTEN)
        turn = await at.say("look", session=session, root=at.folder())
        assert (await at.ended(turn, session=session)).state == "completed"
        await at.quiet()
        return float(await eye.fetchval(WRITTEN) - began)
    finally:
        await eye.close()


@pytest.mark.requirement("A17b")
@pytest.mark.parametrize("rounds", [False, True], ids=["one plan", "rounds"])
async def test_storage_of_a_turn_grows_no_faster_than_its_calls(home: Dsns, tmp_path: Path, rounds: bool) -> None:
    model = scripted_model(*looks(2, rounds=rounds), *looks(FEW, rounds=rounds), *looks(MANY, rounds=rounds))
    settings = {"conversation_worker": {"limits": {"rounds": 2 * MANY, "calls": MANY}}}
    async with run_platform(home, tmp_path, model=model, settings=settings) as at:
        at.folder(*(hashlib.sha256(b"%d" % n).hexdigest() for n in range(FILES)))
        await written(at, home, "warm")
        few, many = [await written(at, home, session) for session in ("few", "many")]
        events = [event for session in ("few", "many") for event in await at.logged(session)]
        assert max(len(event.model_dump_json()) for event in events) < MAX_EVENT_BYTES
        assert (many / MANY) / (few / FEW) <= 1.3
