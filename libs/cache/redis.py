"""Deltas in Redis streams, capped by MAXLEN and EXPIRE, with a bound in time on every call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast
from urllib.parse import quote

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.typing import EncodableT, FieldT, KeyT, StreamIdT

from libs.cache.ports import Delta, Entry, Stream
from libs.errors import Unavailable

_Found = Sequence[tuple[str, Sequence[tuple[str, Mapping[str, str]]]]]
"""What XREAD answers over RESP2, decoded: (stream, ((position, fields) …)) …"""

PORTION = 500
"""Entries of one stream that one read returns at most."""


def connect(url: str) -> Redis:
    """A client of `redis://…`, `rediss://…` or `unix://…`, which connects at its first call; `aclose()` it at the end.

    It neither retries nor times out by itself: the callers here do the second, and must not do the first.
    """
    return Redis.from_url(
        url,
        decode_responses=True,
        encoding_errors="replace",
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=None,
        socket_connect_timeout=None,
    )


class RedisDeltas:
    """`Deltas` over a client made by `connect`. `timeout` is in seconds, for a call apart from its waiting."""

    def __init__(
        self,
        redis: Redis,
        *,
        max_entries: int = 10_000,
        ttl: timedelta = timedelta(minutes=15),
        timeout: float = 1.0,
    ) -> None:
        self._redis = redis
        self._max_entries = max_entries
        self._ttl = ttl
        self._timeout = timeout

    async def append(self, stream: Stream, delta: Delta) -> None:
        name = _name(stream)
        async with _bounded(self._timeout), self._redis.pipeline(transaction=False) as both:
            both.xadd(name, _fields(delta), maxlen=self._max_entries, approximate=True)
            both.expire(name, self._ttl)
            await both.execute()

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[Entry]]:
        if not after:
            return {}
        streams = {_name(stream): stream for stream in after}
        positions: dict[KeyT, StreamIdT] = {name: after[stream] for name, stream in streams.items()}
        # BLOCK 0 would mean for ever.
        wait = max(1, round(block * 1000)) if block > 0 else None
        async with _bounded(self._timeout + block):
            found = cast("_Found | None", await self._redis.xread(positions, count=PORTION, block=wait))
        return {streams[name]: [_entry(position, said) for position, said in entries] for name, entries in found or ()}


@asynccontextmanager
async def _bounded(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except (RedisError, OSError) as error:
        raise Unavailable(f"Redis: {str(error) or 'no answer in time'}") from error


def _name(stream: Stream) -> str:
    # Quoted, so that no tenant's name can spell another tenant's stream.
    return f"deltas:{quote(stream.tenant, safe='')}:{quote(stream.turn, safe='')}"


def _fields(delta: Delta) -> dict[FieldT, EncodableT]:
    return {"call": delta.call, "attempt": delta.attempt, "text": delta.text}


def _entry(position: str, said: Mapping[str, str]) -> Entry:
    return Entry(position, Delta(said["call"], int(said["attempt"]), said["text"]))
