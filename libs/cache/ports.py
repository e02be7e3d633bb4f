"""The port for token deltas: a model's words on their way to whoever watches, while they are still being said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

START = "0-0"
"""The position before the first entry of every stream."""


class Stream(NamedTuple):
    """The deltas of one turn."""

    tenant: str
    turn: str


@dataclass(frozen=True, slots=True)
class Delta:
    """Words that a model call has just said. A viewer who sees a higher attempt of a call drops what the lower said."""

    call: str
    attempt: int
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A delta and its position, from which reading goes on."""

    position: str
    delta: Delta


@dataclass(frozen=True, slots=True)
class Notice:
    """A parked event that waits for policy, as people are shown it: no content."""

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
    """What waits for policy, for people to see (S3-41): each notice for an hour after it was put there last.

    A mirror that nothing rests on. Both calls raise `Unavailable` when the store does not answer in time: go on
    without.
    """

    async def put(self, notice: Notice) -> None: ...
    async def drop(self, id: str) -> None: ...


class NoBoard:
    """Nobody looks."""

    async def put(self, notice: Notice) -> None:
        """It is not shown."""

    async def drop(self, id: str) -> None:
        """It was not shown."""


class Deltas(Protocol):
    """One bounded stream per turn, for eyes only: no decision rests on it, and `message.completed` replaces it.

    Entries come in the order in which they were appended, each at most once per reader. The oldest are dropped when a
    stream grows beyond its bound, and all of it some time after the last one: a reader then sees a gap, or nothing.
    When the store does not answer in time, both calls raise `Unavailable`: go on without.
    """

    async def append(self, stream: Stream, delta: Delta) -> None:
        """Costs O(len(delta.text)), however long the stream is. Never retried: that could say a word twice."""
        ...

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[Entry]]:
        """What came behind these positions, in bounded portions; streams without news are absent.

        Waits up to `block` seconds for the first news on any of them (0: not at all). One call serves many streams, so
        that a gateway with a thousand viewers needs one connection.
        """
        ...
