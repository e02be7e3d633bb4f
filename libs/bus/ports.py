"""The bus's words and its port."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import orjson

from libs.events.base import Event
from libs.events.envelope import Envelope, Malformed, parse

OWNED_SECONDS = 15.0
"""How long a partition stays a member's that does not renew it, in database time."""


class Partition(NamedTuple):
    topic: str
    part: int


class Logged(NamedTuple):
    """Where a record stands in the log, when something else has brought it; and up to where its sender knew all records
    of this partition of the log to be there before it."""

    position: int
    safe: int


@dataclass(frozen=True, slots=True)
class Record:
    """An event at a position of a partition. `data` is JSON; it is parsed when someone listens to its type."""

    topic: str
    part: int
    position: int
    event_id: str
    tenant: str
    key: str
    type: str
    headers: Mapping[str, str]
    data: bytes
    known: Envelope[Event] | None = field(default=None, compare=False, repr=False)
    """The event itself when it was published by this very process, so that it need not be parsed again."""
    flaw: str | None = None
    """What is wrong with it as a message, where others than our writer may have written it."""
    logged: Logged | None = field(default=None, compare=False)

    def envelope(self) -> Envelope[Event]:
        """The event.

        Raises:
            Malformed: it does not fit its class.
        """
        if self.known is not None:
            return self.known
        if self.flaw is not None:
            raise Malformed(f"{self.type}: {self.flaw}")
        try:
            return parse(
                id=self.event_id,
                type=self.type,
                tenant=self.tenant,
                key=self.key,
                headers=dict(self.headers),
                data=self.raw(),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise Malformed(f"{self.type}: {error}") from error

    def raw(self) -> Any:
        """The data as plain JSON values, whether it fits its class or not."""
        return orjson.loads(self.data)

    def fields(self) -> Mapping[str, Any]:
        """The data's fields; none where it is no object, or no JSON: for who must tell of an event that is garbage."""
        try:
            data = self.raw()
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}

    def header(self, name: str) -> str | None:
        return self.headers.get(name)


class Bus(Protocol):
    """Transport alone: writing is always a changeset's publish into `bus.log`.

    Records of one partition come in position order and none is ever skipped, whatever transactions are open; a record
    may come again at any time, to this member or another. Ownership is only economy: two owners of one partition are
    safe. All verbs raise `Unavailable` when the transport does not answer.
    """

    @property
    def dense(self) -> bool:
        """Are its positions the log's own, one after the other? Then what our writer publishes at the very next one may
        be handed over in the process, and is not read. Otherwise positions may have gaps, and everything is met at its
        own: what was handed over before is known by where its record was `logged`."""
        ...

    @property
    def problem(self) -> str | None:
        """Why nothing is being carried, for `/readyz`."""
        ...

    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        """Renew what is ours of each group's topics, take a fair share, give up the rest; to be called well within 15 s
        of the last time.

        For each group: the partitions that are this member's now, with the last position that the group has done.
        """
        ...

    async def moved(self, within: float) -> None:
        """Returns when partitions have come or gone by themselves, or after so many seconds."""
        ...

    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        """For each group the next records after each of its positions, at most `limit` of each partition; gapless, in
        order, may repeat."""
        ...

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        """Remember, per group, that all records up to these positions are done. A hint: the inbox is the truth."""
        ...

    async def wake(self, topics: Sequence[str]) -> None:
        """Tell other processes, after a commit, that there is something to read. A hint: they look every second."""
        ...

    async def waiting(self) -> None:
        """Returns when another process has woken us, or after a second."""
        ...

    async def leave(self, groups: Sequence[str]) -> None:
        """Give every partition back at once."""
        ...

    async def lag(self, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
        """Records not yet done, by (group, topic)."""
        ...
