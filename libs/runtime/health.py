"""Health: asks what the process stands on, about once a second and within a bound, whether it is there.

`/readyz` tells the last answers, so that it is cheap and soon tells the truth: a refusal and a recovery within two
seconds, silence within four. For one silence proves little: it is what a busy machine hears of a dependency that is
there. It counts as slow where an answer came shortly before, and as gone when the next look meets it too. An answer
wakes a circuit that had opened; a policy bundle that changed is taken up on the way. How much is lost of each is its
degradation level.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from libs.cache.ports import START, Stream
from libs.errors import SumaError, Unavailable
from libs.outbound import Level, State
from libs.telemetry import metrics
from libs.telemetry.logs import logger

if TYPE_CHECKING:
    from libs.runtime.platform import Platform

EVERY_SECONDS = 0.5
ASK_SECONDS = 1.5
"""Together two seconds: no refusal and no recovery is told later, and no silence later than twice that."""
FRESH_SECONDS = 10.0
"""An answer that is older excuses no silence: we have stood still meanwhile, and know nothing."""
RARELY_SECONDS = 3.0
"""What lies in this process cannot go away between two looks, and a look at it reads files."""

log = logger("health")
Ask = Callable[[], Awaitable[str]]
"""Returns what there is to say of it, or raises."""


@runtime_checkable
class Asked(Protocol):
    """A part that lies outside and says itself whether it is there."""

    async def alive(self) -> str:
        """What there is to say of it. Raises `Unavailable`."""
        ...


class Ailing(Unavailable):
    """It answers, and says that something is wrong with it."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was last known of a dependency."""

    ok: bool
    detail: str = ""
    level: Level = Level.NONE
    circuit: State = State.CLOSED


class Health:
    """Of one process."""

    def __init__(
        self, platform: Platform, groups: Sequence[str] = (), *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._platform, self._now = platform, now
        self._asks = _asks(platform, groups)
        self._checks: dict[str, Check] = {}
        self._answered: dict[str, float] = {}
        """When each has answered, where it did at the last look."""
        self.watched_at: float | None = None
        """When all have been asked for the last time, by `time.monotonic`; None while nobody watches."""

    async def run(self) -> None:
        """Watch for ever."""
        while True:
            await self.look()
            self.watched_at = time.monotonic()
            await asyncio.sleep(EVERY_SECONDS)

    async def look(self) -> None:
        """Ask all of them now, side by side."""
        asks = {**self._asks, **self._services()}
        found = await asyncio.gather(*(self._asked(name, ask) for name, ask in asks.items()))
        self._checks = dict(zip(asks, found, strict=True))

    @property
    def checks(self) -> Mapping[str, Check]:
        return self._checks

    @property
    def level(self) -> Level:
        """That of the dependency which has lost most."""
        return max((check.level for check in self._checks.values()), default=Level.NONE)

    def known(self) -> dict[str, Any]:
        """What was last known of each dependency, and the level, as `/readyz` tells it."""
        return {
            "level": self.level.name.lower(),
            "checks": {
                name: {"ok": c.ok, "detail": c.detail, "level": c.level.name.lower(), "circuit": c.circuit.value}
                for name, c in self._checks.items()
            },
        }

    def problems(self) -> Sequence[str]:
        """Why the process is not ready: what it cannot be without."""
        essential = self._platform.essential
        return [f"{name}: {c.detail}" for name, c in self._checks.items() if not c.ok and name in essential]

    async def _asked(self, name: str, ask: Ask) -> Check:
        try:
            async with asyncio.timeout(ASK_SECONDS):
                detail = await ask()
        except TimeoutError:
            return self._failed(name, f"no answer within {ASK_SECONDS:g} s", silent=True)
        except SumaError as error:
            return self._failed(name, str(error), silent=_timed_out(error))
        self._answered[name] = self._now()
        door = self._platform.doors.to(name)
        if door.state is State.OPEN:
            door.rouse()
        return self._noted(name, True, detail)

    def _failed(self, name: str, detail: str, *, silent: bool) -> Check:
        """Gone; or slow, if it said nothing and has answered just before. What fails next finds no such answer."""
        answered = self._answered.pop(name, None)
        if silent and answered is not None and self._now() - answered < FRESH_SECONDS:
            return self._noted(name, True, f"slow: {detail}")
        return self._noted(name, False, detail)

    def _noted(self, name: str, ok: bool, detail: str) -> Check:
        door = self._platform.doors.to(name)
        check = Check(ok, detail, door.level(healthy=ok), door.state)
        before = self._checks.get(name)
        if before is not None and before.ok is not ok:
            (log.info if ok else log.warning)("a dependency has changed", dependency=name, ok=ok, detail=detail)
        metrics.dependency_up.labels(name).set(ok)
        metrics.degradation.labels(name).set(check.level)
        return check

    def _services(self) -> Mapping[str, Ask]:
        """Those of our own services that this process has called; without them it does less, and says so."""
        known = [door.name for door in self._platform.doors if door.name in self._platform.clients]
        return {name: partial(_service, self._platform, name) for name in known}


def _timed_out(error: BaseException | None) -> bool:
    """Did the adapter give up waiting, rather than be told something?"""
    while error is not None and not isinstance(error, TimeoutError):
        error = error.__cause__
    return error is not None


def _asks(platform: Platform, groups: Sequence[str]) -> dict[str, Ask]:
    """How each port is asked; small tests lack some."""
    asks: dict[str, Ask] = {
        "postgres": partial(_postgres, platform),
        "policy": _often_enough(platform.policy, partial(_policy, platform)),
        "bus": partial(_bus, platform, groups),
    }
    if platform.deltas is not None:
        asks["redis"] = partial(_redis, platform)
    if platform.objects is not None:
        asks["objects"] = _often_enough(platform.objects, partial(_objects, platform))
    if isinstance(platform.model, Asked):
        asks["model"] = platform.model.alive
    return asks


def _behind(port: Any) -> Any:
    """The port itself, where a guard stands before it: an open circuit must not keep us from asking."""
    return getattr(port, "behind", port)


def _often_enough(port: Any, ask: Ask) -> Ask:
    """Each time where the port lies outside, behind a guard; else now and then."""
    return ask if hasattr(port, "behind") else Rarely(ask)


class Rarely:
    """An ask whose last answer, good or bad, holds for some seconds."""

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
        raise Ailing("there is no bundle")
    return str(policy.revision)


async def _bus(platform: Platform, groups: Sequence[str]) -> str:
    behind = sum((await platform.bus.lag(groups)).values())
    if platform.bus.problem is not None:
        raise Ailing(platform.bus.problem)
    return f"{behind} records behind"


async def _redis(platform: Platform) -> str:
    await _behind(platform.deltas).read({Stream("", "readiness"): START}, block=0)
    return ""


async def _objects(platform: Platform) -> str:
    await _behind(platform.objects).alive()
    return ""


async def _service(platform: Platform, name: str) -> str:
    # Imported where it is needed: a process that calls no other service has no HTTP client.
    from libs.clients.calls import alive

    await alive(platform, name)
    return ""
