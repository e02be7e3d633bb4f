"""A small platform with known faults, by which the tests of the trial know what it must count.

What a turn suffers is its effect's name: `plain` runs again after a crash, `keyed` does so with a key, `hasty` records
its outcome before it makes the effect, and `silent` is never taken up again.
"""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg

from tests.trial import world
from tests.trial.wire import BEGUN, DONE, RETURNED, Wire

CALLS = "create table if not exists calls (turn text primary key, done boolean not null default false)"
OPEN = "select turn from calls where not done"
KNOWN = "select done from calls where turn = $1"
INTEND = "insert into calls (turn) values ($1)"
END = "update calls set done = true where turn = $1"


async def _run(socket: str, name: str, dsn: str, elsewhere: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=1) as own, asyncpg.create_pool(elsewhere, min_size=1) as outside:
        await own.execute(CALLS)
        wire = Wire(socket, name)

        async def act(turn: str, effect: str, seconds: float) -> None:
            known = await own.fetchval(KNOWN, turn)
            if known is None:
                await own.execute(INTEND, turn)
            elif effect == "silent":
                return
            if not known:
                await make(turn, effect, seconds)
                await own.execute(END, turn)
            wire.say(ended=turn, state="completed")

        async def make(turn: str, effect: str, seconds: float) -> None:
            if effect == "hasty":
                await own.execute(END, turn)
            await wire.arrive(turn, BEGUN)
            await outside.execute(world.KEYED if effect == "keyed" else world.PLAIN, turn, turn, 1)
            await wire.arrive(turn, DONE)
            await asyncio.sleep(seconds)
            wire.tell(turn, RETURNED)

        wire.say(versions={"planted": "1"})
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(act(**await wire.take()))


def main(*arguments: Any) -> None:
    asyncio.run(_run(*arguments))
