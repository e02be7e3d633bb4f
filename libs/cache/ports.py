"""The ports on storage that may be lost: deltas, the text of a model or of a command on its way to viewers while it is
written; notices for operators; and values that can be computed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

START = "0-0"
"""The position before the first entry of every stream."""

VALUE_MOST = 100_000
"""Most characters of a cached value."""


class Stream(NamedTuple):
    """The deltas of one turn."""

    tenant: str
    turn: str


@dataclass(frozen=True, slots=True)
class Delta:
    """New text of a model call, or of a tool call's command. A viewer that sees a higher attempt of a call discards the
    lower one's text.
    """

    call: str
    attempt: int
    text: str
    step: str | None = None
    """The step whose command wrote this; None for the text of a model."""


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A delta and its position, from which reading continues. `delta` is None for what is no delta."""

    position: str
    delta: Delta | None


@dataclass(frozen=True, slots=True)
class Notice:
    """A parked event that waits for policy, as operators see it: no content."""

    id: str
    tenant: str
    group: str
    topic: str
    type: str
    session: str | None
    turn: str | None
    error: str
    attempts: int


class Board(Protocol):
    """Events that wait for policy, for operators to see (S3-41); each notice expires after an hour.

    A mirror that nothing depends on. Both calls raise `Unavailable` when the store does not answer in time: go on
    without.
    """

    async def put(self, notice: Notice) -> None: ...
    async def drop(self, id: str) -> None: ...


class NoBoard:
    """A board without a store."""

    async def put(self, notice: Notice) -> None:
        """Do nothing."""

    async def drop(self, id: str) -> None:
        """Do nothing."""


class Cache(Protocol):
    """Values that can be computed again, by tenant and name. No decision of policy rests on one, and each expires.

    Both calls raise `Unavailable` when the store does not answer in time: go on without.
    """

    async def get(self, tenant: str, name: str) -> str | None:
        """Return a value; None if there is none, or no longer. Anything may write to the store: check what it holds."""
        ...

    async def put(self, tenant: str, name: str, value: str, *, seconds: int) -> None:
        """Keep a value for so many seconds; one of more than `VALUE_MOST` characters is not kept."""
        ...


class NoCache:
    """A cache without a store: it keeps nothing."""

    async def get(self, tenant: str, name: str) -> str | None:
        return None

    async def put(self, tenant: str, name: str, value: str, *, seconds: int) -> None:
        """Do nothing."""


class Deltas(Protocol):
    """One bounded stream per turn, for display only: no decision rests on it, and `message.completed` replaces it.

    Entries arrive in the order in which they were appended, each at most once per reader. The oldest are dropped when a
    stream exceeds its bound, and the whole stream some time after its last entry: a reader then sees a gap, or nothing.
    When the store does not answer in time, both calls raise `Unavailable`: go on without.
    """

    async def append(self, stream: Stream, delta: Delta) -> None:
        """Append a delta in O(len(delta.text)), however long the stream is. Never retried: that could repeat text."""
        ...

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[StreamEntry]]:
        """Return what follows these positions, in bounded portions; streams without news are absent.

        Waits up to `block` seconds for the first news on any stream (0: not at all). One call serves many streams, so a
        gateway with a thousand viewers needs one connection.
        """
        ...
