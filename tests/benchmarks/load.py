"""The load, the same for every contender: sessions side by side, each with one turn after another.

Each contender is a process of its own that reads what to run as lines of JSON and answers with what it measured. This
module runs in environments that have nothing of ours, so it imports the standard library alone.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import resource
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Turn = Callable[[str], Awaitable[None]]
"""One turn of a session; returns when its answer can be seen."""
Settle = Callable[[], Awaitable[float]]
"""Waits until nothing is left to do behind the answers; the seconds that it took."""

TURNS_OF_A_SESSION = 4
"""Histories that grow would be measured otherwise."""
LONGEST_CALL_SECONDS = 0.004

_random = random.Random(7)


async def call() -> None:
    """What a model or a tool takes: 0 to 4 ms. (Equal times would lock the sessions in step and flatter batching.)"""
    await asyncio.sleep(_random.uniform(0, LONGEST_CALL_SECONDS))


async def settled() -> float:
    """For who has nothing behind the answers."""
    return 0.0


async def serve(turn: Turn, settle: Settle = settled) -> None:
    """Run what is asked for until there is no more: `{"sessions": 16, "turns": 160}` on each line."""
    loop = asyncio.get_running_loop()
    # As our own processes do once they have started; the others get the same.
    gc.collect()
    gc.freeze()
    _say({"ready": True})
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        _say(await run_turns(turn, settle, **json.loads(line)))


async def run_turns(turn: Turn, settle: Settle, *, sessions: int, turns: int) -> dict[str, Any]:
    latencies: list[float] = []
    began, used = time.perf_counter(), _cpu()
    await asyncio.gather(*(_lane(turn, turns // sessions, latencies) for _ in range(sessions)))
    lag = await settle()
    wall = time.perf_counter() - began
    return {"latencies": latencies, "wall": wall, "cpu": _cpu() - used, "lag": lag}


async def _lane(turn: Turn, turns: int, latencies: list[float]) -> None:
    session = ""
    for n in range(turns):
        if n % TURNS_OF_A_SESSION == 0:
            session = str(uuid.UUID(int=_random.getrandbits(128), version=4))
        began = time.perf_counter()
        await turn(session)
        latencies.append(time.perf_counter() - began)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def run(contender: Coroutine[Any, Any, None]) -> None:
    """Run a contender on the loop that all of them use."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(contender)
