"""Fairness: who waits is taken round-robin by tenant, so that one tenant's thousand do not hold up another's one.

A `Line` is a queue that keeps each tenant's order. A `Batches` has queues within each tenant, and a
batch takes one item of each. A `Gate` lets so many in at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
Lane = tuple[str, str]


class Line(Generic[T]):
    """A queue for each tenant, of which the next is taken in turn."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, deque[T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, tenant: str, item: T) -> None:
        """Behind the tenant's others."""
        self._tenants.setdefault(tenant, deque()).append(item)
        self._length += 1

    def take(self, may: Callable[[str], bool] = lambda tenant: True) -> T | None:
        """The first item of the tenant whose turn it is, among those who may; None when nobody may."""
        tenant = next(filter(may, self._tenants), None)
        if tenant is None:
            return None
        waiting = self._tenants[tenant]
        item = waiting.popleft()
        self._length -= 1
        if waiting:
            self._tenants.move_to_end(tenant)
        else:
            del self._tenants[tenant]
        return item


class Batches(Generic[T]):
    """Queues by lane, within tenants. A batch has at most one item of each lane; tenants take turns, then lanes."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, OrderedDict[Lane, deque[T]]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, tenant: str, lane: Lane, item: T) -> None:
        """Behind the lane's others."""
        self._tenants.setdefault(tenant, OrderedDict()).setdefault(lane, deque()).append(item)
        self._length += 1

    def take(self, most: int) -> list[T]:
        """Up to `most` items; the next batch begins with those who were left out."""
        turns: deque[tuple[str, Iterator[Lane]]] = deque(
            (tenant, iter(list(islice(lanes, most)))) for tenant, lanes in self._tenants.items()
        )
        taken: list[T] = []
        while turns and len(taken) < most:
            tenant, lanes = turns.popleft()
            if (lane := next(lanes, None)) is not None:
                taken.append(self._pop(tenant, lane))
                turns.append((tenant, lanes))
        return taken

    def _pop(self, tenant: str, lane: Lane) -> T:
        lanes = self._tenants[tenant]
        item = lanes[lane].popleft()
        self._length -= 1
        if lanes[lane]:
            lanes.move_to_end(lane)
        else:
            del lanes[lane]
        if lanes:
            self._tenants.move_to_end(tenant)
        else:
            del self._tenants[tenant]
        return item


class Gate:
    """Lets `most` in at once, and `each` of one tenant; who waits is let in round-robin by tenant."""

    def __init__(self, most: int, *, each: int) -> None:
        self._most, self._each = most, each
        self._inside: Counter[str] = Counter()
        self._waiting: Line[tuple[str, asyncio.Future[None]]] = Line()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def through(self, tenant: str) -> AsyncIterator[None]:
        """Inside until the block ends."""
        if self._admits(tenant):
            self._inside[tenant] += 1
        else:
            await self._called(tenant)
        try:
            yield
        finally:
            self._leave(tenant)

    def _admits(self, tenant: str) -> bool:
        return self._inside.total() < self._most and self._inside[tenant] < self._each

    async def _called(self, tenant: str) -> None:
        """Wait for our turn. Who calls us in has counted us."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.put(tenant, (tenant, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # Called in at the very moment in which we gave up.
                self._leave(tenant)
            raise

    def _leave(self, tenant: str) -> None:
        self._inside[tenant] -= 1
        if not self._inside[tenant]:
            del self._inside[tenant]
        while (next_one := self._waiting.take(self._admits)) is not None:
            called, turn = next_one
            if not turn.done():
                self._inside[called] += 1
                turn.set_result(None)
