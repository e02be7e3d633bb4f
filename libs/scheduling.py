"""Fair scheduling: waiting items are taken round-robin by tenant, so that a thousand of one do not delay another's.

A `FairQueue` keeps the order within each tenant. `FairBatches` keeps one queue per lane within each tenant and takes
one item of each lane per batch. A `FairSemaphore` limits how many run at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
Lane = tuple[str, str]


class FairQueue(Generic[T]):
    """One queue per tenant; tenants take turns."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, deque[T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, tenant: str, item: T) -> None:
        """Append to the tenant's queue."""
        self._tenants.setdefault(tenant, deque()).append(item)
        self._length += 1

    def take(self, may: Callable[[str], bool] = lambda tenant: True) -> T | None:
        """Take the first item of the next tenant for which `may` is true; None when there is none."""
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


class FairBatches(Generic[T]):
    """One queue per lane within each tenant. A batch takes one item per lane; tenants take turns, then lanes."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, OrderedDict[Lane, deque[T]]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, tenant: str, lane: Lane, item: T) -> None:
        """Append to the lane's queue."""
        self._tenants.setdefault(tenant, OrderedDict()).setdefault(lane, deque()).append(item)
        self._length += 1

    def take(self, most: int) -> list[T]:
        """Take up to `most` items; the next batch starts with the tenants that were left out."""
        # Copies of the lanes, because `_pop` changes their order.
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


_places: ContextVar[_Place | None] = ContextVar("place", default=None)


def leave_gate() -> None:
    """Give up this task's place in a gate before its block ends, as work follows that the gate need not bound."""
    if (place := _places.get()) is not None:
        place.leave()


class FairSemaphore:
    """Admit `most` holders at once and `each` per tenant; waiting callers are admitted round-robin by tenant."""

    def __init__(self, most: int, *, each: int) -> None:
        self._most, self._each = most, each
        self._inside: Counter[str] = Counter()
        self._waiting: FairQueue[tuple[str, asyncio.Future[None]]] = FairQueue()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def through(self, tenant: str) -> AsyncIterator[None]:
        """Hold one place until the block ends."""
        if self.admits(tenant):
            self._inside[tenant] += 1
        else:
            await self._called(tenant)
        place = _Place(self, tenant)
        token = _places.set(place)
        try:
            yield
        finally:
            _places.reset(token)
            place.leave()

    def admits(self, tenant: str) -> bool:
        """Return whether this tenant would get a place without waiting."""
        return self._inside.total() < self._most and self._inside[tenant] < self._each

    async def _called(self, tenant: str) -> None:
        """Wait for a place; the releasing holder has already counted it for this caller."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.put(tenant, (tenant, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # Called in at the very moment in which we gave up.
                self.leave(tenant)
            raise

    def leave(self, tenant: str) -> None:
        """Free a place of this tenant, and admit the next caller."""
        self._inside[tenant] -= 1
        if not self._inside[tenant]:
            del self._inside[tenant]
        while (next_one := self._waiting.take(self.admits)) is not None:
            called, turn = next_one
            # A caller that was cancelled while it waited takes no place.
            if not turn.done():
                self._inside[called] += 1
                turn.set_result(None)


class _Place:
    """A place in a gate, given up once."""

    __slots__ = ("_gate", "_left", "_tenant")

    def __init__(self, gate: FairSemaphore, tenant: str) -> None:
        self._gate, self._tenant, self._left = gate, tenant, False

    def leave(self) -> None:
        if not self._left:
            self._left = True
            self._gate.leave(self._tenant)
