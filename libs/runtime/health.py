"""Health: checks each dependency of the process about once a second, with a timeout.

`/readyz` reports the last results, so it is cheap. It shows a refusal or a recovery within two seconds, and silence
within four. One timeout proves little, because a busy machine causes it as well: after a recent answer it counts as
slow, and as down when the next check times out too. An answer makes an open circuit probe at once. A changed policy
bundle is loaded in passing. The degradation level says how much of each dependency is lost.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from libs import __version__
from libs.cache.ports import START, Stream
from libs.errors import SumaError, Unavailable
from libs.resilience import Level, State
from libs.telemetry import metrics
from libs.telemetry.logs import logger

if TYPE_CHECKING:
    from libs.runtime.platform import Platform

EVERY_SECONDS, AILING_SECONDS = 1.0, 0.5
"""The pause between two rounds of checks, and while a dependency does not answer."""
ASK_SECONDS = 1.5
"""Together two seconds: the longest delay before a refusal or a recovery shows; silence takes at most twice that."""
FRESH_SECONDS = 10.0
"""Seconds for which an answer excuses a timeout. An older one does not: this process may have been stopped since."""
RARELY_SECONDS = 5.0
"""Seconds between checks of an in-process port. It cannot go away, and each check reads files."""

log = logger("health")
Ask = Callable[[], Awaitable[str]]
"""Return details to report, or raise."""


@runtime_checkable
class Asked(Protocol):
    """A port outside the process that checks itself."""

    async def alive(self) -> str:
        """Return details to report. Raises `Unavailable`."""
        ...


class Ailing(Unavailable):
    """The dependency answers, but reports a problem."""


@dataclass(frozen=True, slots=True)
class Check:
    """The last known state of a dependency."""

    ok: bool
    detail: str = ""
    level: Level = Level.NONE
    circuit: State = State.CLOSED


class Health:
    """The health of one process and its dependencies."""

    def __init__(
        self,
        platform: Platform,
        groups: Sequence[str] = (),
        *,
        now: Callable[[], float] = time.monotonic,
        ask_seconds: float = ASK_SECONDS,
    ) -> None:
        self._platform, self._services_here, self._now = platform, tuple(groups), now
        self._ask_seconds = ask_seconds
        self._asks = _asks(platform, groups)
        self._checks: dict[str, Check] = {}
        self._answered: dict[str, float] = {}
        """When each dependency last answered, unless its last check failed."""
        self.watched_at: float | None = None
        """When the last round of checks ended, by `time.monotonic`; None before the first one."""

    async def run(self) -> None:
        """Check all dependencies, for ever."""
        while True:
            await self.look()
            self.watched_at = time.monotonic()
            await asyncio.sleep(EVERY_SECONDS if self._answered.keys() >= self._checks.keys() else AILING_SECONDS)

    async def look(self) -> None:
        """Check all dependencies once, concurrently."""
        asks = {**self._asks, **self._services()}
        found = await asyncio.gather(*(self._asked(name, ask) for name, ask in asks.items()))
        # Replaced as a whole, so that `/readyz` never mixes two rounds.
        self._checks = dict(zip(asks, found, strict=True))

    @property
    def checks(self) -> Mapping[str, Check]:
        return self._checks

    @property
    def level(self) -> Level:
        """The highest degradation level of any dependency."""
        return max((check.level for check in self._checks.values()), default=Level.NONE)

    def known(self) -> dict[str, Any]:
        """Return the body of `/readyz`: the process, its degradation level, and the last known state of each
        dependency.

        `pid` proves which process answers on a port.
        """
        return {
            "pid": os.getpid(),
            "version": __version__,
            "services": list(self._services_here),
            "level": self.level.name.lower(),
            "checks": {
                name: {"ok": c.ok, "detail": c.detail, "level": c.level.name.lower(), "circuit": c.circuit.value}
                for name, c in self._checks.items()
            },
        }

    def problems(self) -> Sequence[str]:
        """Return why the process is not ready: the essential dependencies that are down."""
        essential = self._platform.essential
        return [f"{name}: {c.detail}" for name, c in self._checks.items() if not c.ok and name in essential]

    async def _asked(self, name: str, ask: Ask) -> Check:
        try:
            async with asyncio.timeout(self._ask_seconds):
                detail = await ask()
        except TimeoutError:
            return self._failed(name, f"no answer within {self._ask_seconds:g} s", silent=True)
        except SumaError as error:
            return self._failed(name, str(error), silent=_timed_out(error))
        self._answered[name] = self._now()
        guard = self._platform.guarded_calls.to(name)
        if guard.state is State.OPEN:
            # The dependency has answered: do not let callers wait for the circuit's own time.
            guard.probe_now()
        return self._recorded(name, True, detail)

    def _failed(self, name: str, detail: str, *, silent: bool) -> Check:
        """Record a failed check: slow if it timed out shortly after an answer, else down. The next timeout finds no
        such answer.
        """
        answered = self._answered.pop(name, None)
        if silent and answered is not None and self._now() - answered < FRESH_SECONDS:
            return self._recorded(name, True, f"slow: {detail}")
        return self._recorded(name, False, detail)

    def _recorded(self, name: str, ok: bool, detail: str) -> Check:
        guard = self._platform.guarded_calls.to(name)
        check = Check(ok, detail, guard.level(healthy=ok), guard.state)
        before = self._checks.get(name)
        # A first check that succeeds is no change.
        if ok is not (before is None or before.ok):
            (log.info if ok else log.warning)("dependency changed", dependency=name, ok=ok, detail=detail)
        metrics.dependency_up.labels(name).set(ok)
        metrics.degradation.labels(name).set(check.level)
        return check

    def _services(self) -> Mapping[str, Ask]:
        """Return checks of the services that this process has called; without them it is degraded."""
        known = [guard.name for guard in self._platform.guarded_calls if guard.name in self._platform.clients]
        return {name: partial(_service, self._platform, name) for name in known}


def _timed_out(error: BaseException | None) -> bool:
    """Return whether the adapter timed out, rather than received an error."""
    while error is not None and not isinstance(error, TimeoutError):
        error = error.__cause__
    return error is not None


def _asks(platform: Platform, groups: Sequence[str]) -> dict[str, Ask]:
    """Return the check of each port; small tests lack some ports."""
    asks: dict[str, Ask] = {
        "postgres": partial(_postgres, platform),
        "policy": _rarely_in_process(platform.policy, partial(_policy, platform)),
        "bus": _bus_check(platform, groups),
    }
    if platform.deltas is not None:
        asks["redis"] = partial(_redis, platform)
    if platform.objects is not None:
        asks["objects"] = _rarely_in_process(platform.objects, partial(_objects, platform))
    if isinstance(model := _behind(platform.model), Asked):
        asks["model"] = model.alive
    return asks


def _behind(port: Any) -> Any:
    """Return the port itself instead of its guard: an open circuit must not prevent the check."""
    return getattr(port, "behind", port)


def _rarely_in_process(port: Any, ask: Ask) -> Ask:
    """Check a port outside the process each time, and one inside it at most every `RARELY_SECONDS`."""
    return ask if hasattr(port, "behind") else Rarely(ask)


class Rarely:
    """A check whose last result, good or bad, is reused for `RARELY_SECONDS`."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asked = float("-inf")
        self._answer: str | SumaError = ""

    async def __call__(self) -> str:
        if time.monotonic() - self._asked >= RARELY_SECONDS:
            try:
                self._answer = await self._ask()
            except SumaError as error:
                self._answer = error
            self._asked = time.monotonic()
        if isinstance(self._answer, SumaError):
            raise self._answer
        return self._answer


async def _postgres(platform: Platform) -> str:
    await platform.database.alive()
    return ""


async def _policy(platform: Platform) -> str:
    policy = _behind(platform.policy)
    await policy.reload()
    if policy.problem is not None:
        raise Ailing(policy.problem)
    if not policy.revision:
        raise Ailing("no policy bundle is active")
    remark = getattr(policy, "remark", "")
    return f"{policy.revision}; {remark}" if remark else str(policy.revision)


def _bus_check(platform: Platform, groups: Sequence[str]) -> Ask:
    async def behind() -> str:
        return f"{sum((await platform.bus.lag(groups)).values())} records behind"

    rarely = Rarely(behind)

    async def ask() -> str:
        # On Postgres, the check of Postgres already says whether the bus can be reached.
        detail = await (rarely if platform.bus.dense else behind)()
        if platform.bus.problem is not None:
            raise Ailing(platform.bus.problem)
        return detail

    return ask


async def _redis(platform: Platform) -> str:
    await _behind(platform.deltas).read({Stream("", "readiness"): START}, block=0)
    return ""


async def _objects(platform: Platform) -> str:
    await _behind(platform.objects).alive()
    return ""


async def _service(platform: Platform, name: str) -> str:
    # Imported here: a process that calls no other service needs no HTTP client.
    from libs.clients.calls import alive

    await alive(platform, name)
    return ""
