"""The door to one dependency: a bound in time, the breaker, the counting, and retries that cannot become a storm."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

from libs.errors import Conflict, Rejected, Unavailable
from libs.outbound.breaker import Breaker, Rules, State
from libs.outbound.levels import Level, Recent
from libs.telemetry import metrics
from libs.telemetry.logs import logger

T = TypeVar("T")

RETRIES = 2
"""After the first try, where a call may be repeated safely; 150 ms before the first (S3 linked)."""
WAIT_FIRST, WAIT_MOST = 0.15, 2.0
BUDGET_MOST, BUDGET_SHARE = 10.0, 0.1
"""Retries are a tenth of the calls at most, and ten at once: while everything fails, nothing is asked three times."""
STATES = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}

log = logger("outbound")


class CircuitOpen(Unavailable):
    """It has not answered for some time, and is not asked now."""

    code = "CIRCUIT_OPEN"
    lasting = True

    def __init__(self, name: str, wait: float) -> None:
        super().__init__(f"{name} has not answered for some time, and is not asked now")
        self.retry_after = wait


class CallTimedOut(Unavailable):
    """There was no answer in time."""

    code = "CALL_TIMED_OUT"


class Door:
    """To one dependency, from one process.

    A call fails when it raises `Unavailable`, takes too long, or crashes. A refusal (`Rejected`, `Conflict`) is an
    answer.
    """

    def __init__(
        self,
        name: str,
        rules: Rules = Rules(),  # noqa: B008 - frozen
        *,
        seconds: float = 10.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._seconds, self._now = seconds, now
        self._breaker = Breaker(rules)
        self._recent = Recent()
        self._budget = BUDGET_MOST
        metrics.breaker_state.labels(name).set(0)

    @property
    def state(self) -> State:
        return self._breaker.state

    def level(self, *, healthy: bool = True) -> Level:
        return self._recent.level(self._now(), healthy=healthy, shut=self.state is State.OPEN)

    def rouse(self) -> None:
        """It was seen to answer: the next call is tried."""
        self._become(self._breaker.roused())

    @asynccontextmanager
    async def passing(self, seconds: float | None = None) -> AsyncIterator[None]:
        """The block is one call, of at most `seconds`; `inf` for a stream, which bounds each of its waits itself.

        Raises:
            CircuitOpen: at once; the block does not run.
            CallTimedOut: it took too long.
        """
        era, began = self._enter(), self._now()
        most = self._seconds if seconds is None else seconds
        bound = asyncio.timeout(None if most == math.inf else most)
        try:
            async with bound:
                yield
        except (Rejected, Conflict):
            self._answered(era, began, most)
            raise
        except TimeoutError as late:
            self._failed(era, began, most, how="timeout" if bound.expired() else "failed")
            raise CallTimedOut(f"{self.name} did not answer in time") from late
        except Exception:
            self._failed(era, began, most, how="failed")
            raise
        except BaseException:
            self._become(self._breaker.withdrawn(era))
            raise
        self._answered(era, began, most)

    async def call(self, ask: Callable[[], Awaitable[T]], *, seconds: float | None = None) -> T:
        """One try. Raises what `ask` raises, and what `passing` does."""
        async with self.passing(seconds):
            return await ask()

    async def repeat(self, ask: Callable[[], Awaitable[T]], *, seconds: float | None = None) -> T:
        """For what may be asked twice: tries again after 150 ms and more, with jitter, while the budget lasts."""
        async for attempt in self.tries():
            with attempt:
                return await self.call(ask, seconds=seconds)
        raise AssertionError("the last try answers or raises")

    def tries(self) -> AsyncIterable[AbstractContextManager[object]]:
        """The same for more than one call: `async for attempt in tries(): with attempt: return …`."""
        import stamina  # not at the start: it brings tenacity along

        self._budget = min(BUDGET_MOST, self._budget + BUDGET_SHARE)
        return stamina.retry_context(on=self._worth_another, attempts=1 + RETRIES, timeout=None, **_WAITS)

    def _worth_another(self, error: Exception) -> bool | float:
        """Whether, or after how many seconds where the other side has said so. What lasts is no better then."""
        if not isinstance(error, Unavailable) or getattr(error, "lasting", False) or self._budget < 1.0:
            return False
        self._budget -= 1.0
        metrics.outbound_retries.labels(self.name).inc()
        asked: float | None = getattr(error, "retry_after", None)
        return True if asked is None else max(asked, WAIT_FIRST)

    def _enter(self) -> int:
        admitted = self._breaker.admitted(self._now())
        if admitted is None:
            metrics.outbound_calls.labels(self.name, "rejected").inc()
            raise CircuitOpen(self.name, self._breaker.wait(self._now()))
        self._become(admitted)
        return admitted.era

    def _answered(self, era: int, began: float, most: float) -> None:
        self._note(began, most, "ok")
        self._become(self._breaker.answered(era))

    def _failed(self, era: int, began: float, most: float, *, how: str) -> None:
        self._note(began, most, how)
        self._become(self._breaker.failed(era, self._now()))

    def _note(self, began: float, most: float, result: str) -> None:
        took = self._now() - began
        # A stream is as long as what it says: that it lasted is no sign of illness.
        self._recent.note(self._now(), 0.0 if most == math.inf else took, ok=result == "ok")
        metrics.outbound_calls.labels(self.name, result).inc()
        metrics.outbound_seconds.labels(self.name).observe(took)

    def _become(self, breaker: Breaker) -> None:
        before, self._breaker = self._breaker, breaker
        if before.state is not breaker.state:
            log.warning("a circuit has changed", dependency=self.name, before=before.state, after=breaker.state)
            metrics.breaker_state.labels(self.name).set(STATES[breaker.state])


_WAITS = {"wait_initial": WAIT_FIRST, "wait_max": WAIT_MOST, "wait_jitter": WAIT_FIRST}

RULES: Mapping[str, Rules] = {"memory_service": Rules(failures=3, rest=15.0)}


class Doors:
    """The doors of one process, by the name of what stands behind them; each made when it is first asked for."""

    def __init__(self) -> None:
        self._doors: dict[str, Door] = {}

    def to(self, name: str) -> Door:
        if name not in self._doors:
            self._doors[name] = Door(name, RULES.get(name, Rules()))
        return self._doors[name]

    def __iter__(self) -> Iterator[Door]:
        return iter(self._doors.values())
