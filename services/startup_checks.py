"""Startup checks: wait for servers until they answer, with a time limit, and log the waiting.

An orchestrator starts everything at once. A process that exited at the first refusal would only be restarted, with
longer and longer pauses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

from libs.errors import Unavailable
from libs.telemetry import logger

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
Ask = Callable[[], Awaitable[object]]

log = logger("start")


class NoAnswer(Unavailable):
    """A server did not answer in time; check that it runs."""

    code = "NO_ANSWER"


async def answered(asks: Mapping[str, Ask], *, within: float) -> None:
    """Return once every server has answered; all share `within` seconds.

    Raises:
        NoAnswer: a server did not answer; the text gives the reason.
        Rejected: a server refuses us, which waiting would not change.
    """
    deadline = asyncio.get_running_loop().time() + within
    for name, ask in asks.items():
        await _answered(name, ask, deadline, within)


async def _answered(name: str, ask: Ask, deadline: float, within: float) -> None:
    loop = asyncio.get_running_loop()
    for pause in _pauses():
        try:
            await ask()
        except Unavailable as error:
            if loop.time() + pause > deadline:
                raise NoAnswer(f"{name} did not answer within {within:g} s: {error}") from error
            log.warning("waiting for server", server=name, reason=str(error))
        else:
            return
        await asyncio.sleep(pause)


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)
