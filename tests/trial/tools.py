"""The trial's tools for Suma, one of each effect class, each keeping the promise of its class (libs.tools.ports).

The world is a database, so it can hold what refuses late attempts: a row `(key, attempt)` in `fences`, which `probe`
and `undo` raise and `run` locks in the statement that makes its effect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from typing_extensions import override

from libs.errors import Unavailable
from libs.tools import Effect, Intent, Outcome, Tool
from tests.trial import world
from tests.trial.wire import BEGUN, DONE, RETURNED, Wire

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"seconds": {"type": "number"}},
    "required": ["seconds"],
    "additionalProperties": False,
}
MADE = Outcome({"made": True}, "It is done.")


class TooLate(Unavailable):
    """This attempt did nothing: a later one has begun."""

    code = "TOO_LATE"


@dataclass(frozen=True)
class Hands:
    """What a tool reaches the world and the trial with."""

    wire: Wire
    pool: asyncpg.Pool[asyncpg.Record]


@dataclass
class Act:
    """An effect without a contract of its own, and what all classes share. Without hands it can be planned, not run."""

    name: str = field(init=False)
    effect: Effect
    hands: Hands | None = None
    description: str = "Make an effect in the world"
    parameters: Mapping[str, Any] = field(default_factory=lambda: PARAMETERS)
    leaves_machine: bool = False

    def __post_init__(self) -> None:
        self.name = f"trial.{self.effect}"

    async def run(self, intent: Intent) -> Outcome:
        wire = self._hands.wire
        await self._begin(intent)
        await self._make(intent)
        await wire.arrive(intent.turn, DONE)
        await asyncio.sleep(float(intent.args["seconds"]))
        wire.tell(intent.turn, RETURNED)
        return MADE

    async def _begin(self, intent: Intent) -> None:
        """Nothing may come between the answer and the effect: the world refuses nothing."""
        await self._hands.wire.arrive(intent.turn, BEGUN)
        _check(intent)

    async def _make(self, intent: Intent) -> None:
        await self._hands.pool.execute(world.PLAIN, intent.turn, intent.id, intent.attempt)

    @property
    def _hands(self) -> Hands:
        assert self.hands is not None
        return self.hands


class Guarded(Act):
    """An effect that the world itself keeps from happening twice. So its process may be killed and stopped in the worst
    place of all: after it was told that it may act, and before it does."""

    @override
    async def _begin(self, intent: Intent) -> None:
        _check(intent)
        await self._hands.wire.arrive(intent.turn, BEGUN)


class Keyed(Guarded):
    """An effect that the world makes once for each key."""

    @override
    async def _make(self, intent: Intent) -> None:
        await self._hands.pool.execute(world.KEYED, intent.turn, intent.id, intent.attempt)


class Fenced(Guarded):
    """An effect that the world refuses to attempts lower than one that has asked about it."""

    @override
    async def _make(self, intent: Intent) -> None:
        made = await self._hands.pool.fetch(world.FENCED, intent.turn, intent.id, intent.attempt)
        if not made:
            raise TooLate

    async def _fence(self, intent: Intent) -> None:
        await self._hands.pool.execute(world.FENCE, intent.id, intent.attempt)


class Probed(Fenced):
    async def probe(self, intent: Intent) -> Outcome | None:
        await self._fence(intent)
        return MADE if await self._hands.pool.fetchval(world.HAPPENED, intent.id) else None


class Undone(Fenced):
    async def undo(self, intent: Intent) -> None:
        await self._fence(intent)
        await self._hands.pool.execute(world.UNDO, intent.id, intent.attempt)


def _check(intent: Intent) -> None:
    if not intent.valid():
        raise TooLate


def tools(hands: Hands | None = None) -> Sequence[Tool]:
    """One of each class that has an effect outside."""
    return (
        Keyed(Effect.IDEMPOTENT, hands),
        Probed(Effect.RECONCILABLE, hands),
        Undone(Effect.COMPENSABLE, hands),
        Act(Effect.AT_MOST_ONCE, hands),
    )
