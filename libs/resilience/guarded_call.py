"""Calls to one dependency: a time limit, a circuit breaker, metrics, and retries within a budget."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

from libs.errors import Conflict, Rejected, Unavailable
from libs.resilience.circuit_breaker import Breaker, Rules, State
from libs.resilience.degradation import CallWindow, Level
from libs.telemetry import metrics
from libs.telemetry.logs import logger

T = TypeVar("T")

RETRIES = 2
"""Retries after the first attempt, for calls that are safe to repeat; 150 ms before the first (S3, degradation)."""
WAIT_FIRST, WAIT_MOST = 0.15, 2.0
BUDGET_MOST, BUDGET_SHARE = 10.0, 0.1
"""At most a tenth of the calls are retries, with bursts of ten, so that an outage causes no retry storm."""
STATES = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}

log = logger("outbound")


class CircuitOpen(Unavailable):
    """The dependency is unavailable; retrying later (circuit open)."""

    code = "CIRCUIT_OPEN"
    lasting = True

    def __init__(self, name: str, wait: float, last: str = "") -> None:
        why = f"; the last error: {last}" if last else ""
        super().__init__(f"{name} is unavailable; retrying later (circuit open{why})")
        self.retry_after, self.last = wait, last


class CallTimedOut(Unavailable):
    """The dependency did not answer in time."""

    code = "CALL_TIMED_OUT"


class CallFailed(Unavailable):
    """The dependency answered that this one request failed."""

    code = "CALL_FAILED"
    lasting = True


class GuardedCall:
    """Guards the calls of one process to one dependency.

    A call fails when it raises `Unavailable`, times out, or crashes. A refusal (`Rejected`, `Conflict`) and a failure
    of one request (`CallFailed`) count as a success: the dependency answered.
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
        self._breaker, self._last = Breaker(rules), ""
        self._recent = CallWindow()
        self._budget = BUDGET_MOST
        metrics.breaker_state.labels(name).set(0)

    @property
    def state(self) -> State:
        return self._breaker.state

    def level(self, *, healthy: bool = True) -> Level:
        return self._recent.level(self._now(), healthy=healthy, shut=self.state is State.OPEN)

    def probe_now(self) -> None:
        """Let the next call start: the dependency was observed to answer."""
        self._replace_breaker(self._breaker.probed_now())

    @asynccontextmanager
    async def call_scope(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Run the block as one call of at most `seconds`; `inf` for a stream, which limits each of its waits itself.

        Raises:
            CircuitOpen: immediately; the block does not run.
            CallTimedOut: the block exceeded its time limit.
        """
        generation, began = self._enter(), self._now()
        most = self._seconds if seconds is None else seconds
        bound = asyncio.timeout(None if most == math.inf else most)
        try:
            async with bound:
                yield
        except (Rejected, Conflict, CallFailed):
            self._answered(generation, began, most)
            raise
        except TimeoutError as late:
            timed_out = CallTimedOut(f"{self.name} did not answer in time")
            # The block may raise a TimeoutError of its own before the limit.
            self._failed(generation, began, most, timed_out, how="timeout" if bound.expired() else "failed")
            raise timed_out from late
        except Exception as error:
            self._failed(generation, began, most, error, how="failed")
            raise
        except BaseException:
            self._replace_breaker(self._breaker.withdrawn(generation))
            raise
        self._answered(generation, began, most)

    async def call(self, ask: Callable[[], Awaitable[T]], *, seconds: float | None = None) -> T:
        """Make one attempt. Raises what `ask` and `call_scope` raise."""
        async with self.call_scope(seconds):
            return await ask()

    async def repeat(self, ask: Callable[[], Awaitable[T]], *, seconds: float | None = None) -> T:
        """Make a call that is safe to repeat: retry after 150 ms or more, with jitter, while the budget lasts."""
        async for attempt in self.tries():
            with attempt:
                return await self.call(ask, seconds=seconds)
        raise AssertionError("the last try answers or raises")

    def tries(self) -> AsyncIterable[AbstractContextManager[object]]:
        """Iterate over attempts of several calls: `async for attempt in tries(): with attempt: return …`."""
        import stamina  # imported late: it loads tenacity

        self._budget = min(BUDGET_MOST, self._budget + BUDGET_SHARE)
        # No limit over all attempts: each has its own.
        return stamina.retry_context(on=self._worth_another, attempts=1 + RETRIES, timeout=None, **_WAITS)

    def _worth_another(self, error: Exception) -> bool | float:
        """Return whether to retry, or the seconds to wait where the dependency gave Retry-After."""
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
            raise CircuitOpen(self.name, self._breaker.wait(self._now()), self._last)
        # Before the first await: a half-open circuit must not admit two probes.
        self._replace_breaker(admitted)
        return admitted.generation

    def _answered(self, generation: int, began: float, most: float) -> None:
        self._note(began, most, "ok")
        self._replace_breaker(self._breaker.answered(generation))

    def _failed(self, generation: int, began: float, most: float, error: Exception, *, how: str) -> None:
        self._last = str(error)
        self._note(began, most, how)
        self._replace_breaker(self._breaker.failed(generation, self._now()))

    def _note(self, began: float, most: float, result: str) -> None:
        took = self._now() - began
        # A stream lasts as long as its content, so its duration does not indicate degradation.
        self._recent.note(self._now(), 0.0 if most == math.inf else took, ok=result == "ok")
        metrics.outbound_calls.labels(self.name, result).inc()
        metrics.outbound_seconds.labels(self.name).observe(took)

    def _replace_breaker(self, breaker: Breaker) -> None:
        before, self._breaker = self._breaker, breaker
        if before.state is not breaker.state:
            log.warning("circuit changed state", dependency=self.name, before=before.state, after=breaker.state)
            metrics.breaker_state.labels(self.name).set(STATES[breaker.state])


_WAITS = {"wait_initial": WAIT_FIRST, "wait_max": WAIT_MOST, "wait_jitter": WAIT_FIRST}

# Required values (decision 0023): turns go on without memories, and want them back soon.
RULES: Mapping[str, Rules] = {"memory_service": Rules(failures=3, rest=15.0)}


class GuardedCalls:
    """The guarded calls of one process by dependency name; each is created on first use."""

    def __init__(self) -> None:
        self._calls: dict[str, GuardedCall] = {}

    def to(self, name: str) -> GuardedCall:
        if name not in self._calls:
            self._calls[name] = GuardedCall(name, RULES.get(name, Rules()))
        return self._calls[name]

    def __iter__(self) -> Iterator[GuardedCall]:
        return iter(self._calls.values())
