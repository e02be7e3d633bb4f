"""The bus's vocabulary and its port."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import orjson

from libs.events.base import Event
from libs.events.envelope import Envelope, Malformed, parse

OWNED_SECONDS = 15.0
"""Seconds of database time after which a partition that is not renewed is free."""


class Partition(NamedTuple):
    topic: str
    part: int


class Logged(NamedTuple):
    """A record's position in the log when another transport delivers it, and the position up to which its sender knew
    that every record of this partition was delivered before it.
    """

    position: int
    safe: int


@dataclass(frozen=True, slots=True)
class Record:
    """An event at a position of a partition. `data` is JSON, parsed when a subscription matches its type."""

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
    """The parsed event when this process published it, which saves parsing it again."""
    flaw: str | None = None
    """Why the message is malformed, where writers other than ours may have produced it."""
    logged: Logged | None = field(default=None, compare=False)

    def envelope(self) -> Envelope[Event]:
        """Return the event.

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
        """Return the data as plain JSON values, whether or not it fits its class."""
        return orjson.loads(self.data)

    def fields(self) -> Mapping[str, Any]:
        """Return the data's fields; empty when it is no JSON object. For reports on malformed events."""
        try:
            data = self.raw()
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}

    def header(self, name: str) -> str | None:
        return self.headers.get(name)


class Bus(Protocol):
    """Transport of records; writing is always a changeset's publish into `bus.log`.

    Records of one partition arrive in position order and none is skipped, whatever transactions are open; a record may
    arrive again at any time, at this member or another. Ownership only saves work: two owners of one partition are
    safe. All methods raise `Unavailable` when the transport does not answer.
    """

    @property
    def dense(self) -> bool:
        """Whether positions are those of the log, without gaps. If so, a record at the next position may be delivered
        in process and is not read. If not, every record is observed at its own position, and one that was delivered
        locally is recognised by its `logged` position.
        """
        ...

    @property
    def problem(self) -> str | None:
        """Why nothing is carried, for `/readyz`; None while it is."""
        ...

    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        """Renew this member's partitions, take a fair share, release the rest. Call it well within 15 s of the last
        time.

        Returns, for each group, this member's partitions with the last position that the group has done.
        """
        ...

    async def moved(self, within: float) -> None:
        """Return when partitions were assigned or revoked, or after `within` seconds."""
        ...

    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        """Return, for each group, the next records after each position, at most `limit` per partition; gapless, in
        order, perhaps repeated.
        """
        ...

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        """Store per group that all records up to these positions are done. A hint: the inbox is the truth."""
        ...

    async def wake(self, topics: Sequence[str]) -> None:
        """Notify other processes after a commit. A hint: they also look by themselves."""
        ...

    async def waiting(self) -> None:
        """Return when another process has sent a notification, or after a second."""
        ...

    async def leave(self, groups: Sequence[str]) -> None:
        """Release every partition at once."""
        ...

    async def lag(self, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
        """Return the number of records not yet done, by (group, topic)."""
        ...
