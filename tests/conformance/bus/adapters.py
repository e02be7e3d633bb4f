"""Every adapter of the bus port for the suite: a place that many processes can reach."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import asyncpg
from typing_extensions import override

from libs import ids
from libs.bus.kafka import Address
from libs.bus.ports import Bus, Partition, Record
from libs.database import Dsns
from libs.events.topics import TOPICS
from libs.runtime.platform import Platform
from tests import infrastructure
from tests.infrastructure import buses

SHARES = "select member, count(*) as held from bus.partitions where grp = $1 and member is not null group by member"


class Place(Protocol):
    """A prepared database and the transport of its events; picklable, so that child processes can use it."""

    @property
    def where(self) -> Dsns: ...

    def platform(self, member: str | None = None, **ports: Any) -> AbstractAsyncContextManager[Platform]:
        """The parts of one process, including the relay."""
        ...

    async def shares(self, group: str) -> Mapping[str, int]:
        """Return the number of partitions per member."""
        ...

    def greedy(self, bus: Bus) -> Bus:
        """Return the same bus for a member that owns every partition, regardless of other members."""
        ...


@dataclass(frozen=True)
class PostgresPlace:
    where: Dsns

    def platform(self, member: str | None = None, **ports: Any) -> AbstractAsyncContextManager[Platform]:
        return infrastructure.platform(self.where, member, **ports)

    async def shares(self, group: str) -> Mapping[str, int]:
        eye = await asyncpg.connect(self.where.bus)
        try:
            return {row["member"]: row["held"] for row in await eye.fetch(SHARES, group)}
        finally:
            await eye.close()

    def greedy(self, bus: Bus) -> Bus:
        return Greedy(bus)


@dataclass(frozen=True)
class KafkaPlace:
    where: Dsns
    address: Address

    def platform(self, member: str | None = None, **ports: Any) -> AbstractAsyncContextManager[Platform]:
        return buses.kafka_platform(self.where, self.address, member, **ports)

    async def shares(self, group: str) -> Mapping[str, int]:
        return await buses.shares(self.address, group)

    def greedy(self, bus: Bus) -> Bus:
        return Apart(bus)


class Passing:
    """A bus that delegates to another."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus

    @property
    def dense(self) -> bool:
        return self.bus.dense

    @property
    def problem(self) -> str | None:
        return self.bus.problem

    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        return await self.bus.assignments(groups)

    async def moved(self, within: float) -> None:
        await self.bus.moved(within)

    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        return await self.bus.read(after, limit=limit)

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        await self.bus.advance(done)

    async def wake(self, topics: Sequence[str]) -> None:
        await self.bus.wake(topics)

    async def waiting(self) -> None:
        await self.bus.waiting()

    async def leave(self, groups: Sequence[str]) -> None:
        await self.bus.leave(groups)

    async def lag(self, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
        return await self.bus.lag(groups)


class Greedy(Passing):
    """A bus that claims every partition from its start."""

    @override
    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        return {
            group: {Partition(topic, part): 0 for topic in topics for part in range(TOPICS[topic].partitions)}
            for group, topics in groups.items()
        }


class Apart(Passing):
    """A bus that is the only member of its own Kafka group."""

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus)
        self._suffix = f".{ids.new()}"

    @override
    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        return self._inner(await self.bus.assignments(self._outer(groups)))

    @override
    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        return self._inner(await self.bus.read(self._outer(after), limit=limit))

    @override
    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        await self.bus.advance(self._outer(done))

    @override
    async def leave(self, groups: Sequence[str]) -> None:
        await self.bus.leave([group + self._suffix for group in groups])

    def _outer(self, groups: Mapping[str, Any]) -> dict[str, Any]:
        return {group + self._suffix: value for group, value in groups.items()}

    def _inner(self, groups: Mapping[str, Any]) -> dict[str, Any]:
        return {group.removesuffix(self._suffix): value for group, value in groups.items()}


Make = Callable[[Dsns, str], Place]
ADAPTERS: Mapping[str, Make] = MappingProxyType(
    {
        "postgres": lambda where, bootstrap: PostgresPlace(where),
        "kafka": lambda where, bootstrap: KafkaPlace(where, Address(bootstrap, prefix=f"{ids.new()}.")),
    }
)
"""(database, broker address) → a place for one test."""
