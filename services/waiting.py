"""Waiting at the start: servers that come up beside us are asked until they answer, within a bound, and aloud.

An orchestrator starts everything at once; a process that gave up at the first refusal would only be started again, with
longer and longer pauses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

from libs.errors import Unavailable
from libs.telemetry.logs import logger

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
Ask = Callable[[], Awaitable[None]]

log = logger("start")


class NoAnswer(Unavailable):
    """A server did not answer in time."""

    code = "NO_ANSWER"


async def answered(asks: Mapping[str, Ask], *, within: float) -> None:
    """Return once every server has answered; `within` seconds for all together.

    Raises:
        NoAnswer: one did not, and says why.
        Rejected: one refuses us, which waiting would not mend.
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
            log.warning("waiting for a server", server=name, reason=str(error))
        else:
            return
        await asyncio.sleep(pause)


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)
