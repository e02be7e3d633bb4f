"""Redis: deltas in streams, capped by MAXLEN and EXPIRE, and values that expire; with a timeout on every call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from datetime import timedelta
from typing import Any, cast
from urllib.parse import quote

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError
from redis.typing import EncodableT, FieldT, KeyT, StreamIdT

from libs.cache.ports import VALUE_MOST, Delta, Notice, Stream, StreamEntry
from libs.cache.windows import Counted, Limit, LimitState, limit_state
from libs.errors import Rejected, Unavailable

_Found = Sequence[tuple[str, Sequence[tuple[str, Mapping[str, str]]]]]
"""An answer of XREAD over RESP2, decoded: (stream, ((position, fields) …)) …"""

REACH_SECONDS = 10.0
CONNECTIONS_MOST = 32
PORTION = 500
"""Most entries of one stream that one read returns."""


def connect(url: str) -> Redis:
    """Return a client of `redis://…`, `rediss://…` or `unix://…`, which connects at its first call; `aclose()` it at
    the end.

    It neither retries nor times out by itself: callers set the timeouts, and must not retry. A burst waits for a
    connection; the client's own pool would refuse it.
    """
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        url,
        max_connections=CONNECTIONS_MOST,
        timeout=None,
        decode_responses=True,
        # Bytes that are no text cost their own entry, not the whole read.
        encoding_errors="replace",
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=None,
        socket_connect_timeout=None,
    )
    return Redis.from_pool(pool)


class BadRedis(Rejected):
    """Redis refuses the connection, or its URL is invalid."""

    code = "BAD_REDIS"


async def reach(url: str) -> str:
    """Check that Redis accepts the connection. Return its version, or nothing if this user may not read it.

    Raises:
        BadRedis: it refuses.
        Unavailable: it does not answer.
    """
    try:
        client = connect(url)
    except ValueError as error:
        raise BadRedis(str(error)) from None
    async with client, _bounded(REACH_SECONDS):
        try:
            await client.ping()
            with suppress(NoPermissionError):
                return str((await client.info("server"))["redis_version"])
        except (AuthenticationError, ResponseError) as error:
            raise BadRedis(f"Redis: {error}") from None
    return ""


class RedisDeltas:
    """`Deltas` over a client made by `connect`. `timeout` is in seconds and excludes blocking time."""

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
            # Approximate: Redis then drops whole blocks, which costs far less than an exact length.
            both.xadd(name, _fields(delta), maxlen=self._max_entries, approximate=True)
            # With each entry, so that no turn that ends early leaves its stream behind.
            both.expire(name, self._ttl)
            await both.execute()

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[StreamEntry]]:
        if not after:
            return {}
        streams = {_name(stream): stream for stream in after}
        positions: dict[KeyT, StreamIdT] = {name: after[stream] for name, stream in streams.items()}
        # BLOCK 0 would block forever.
        wait = max(1, round(block * 1000)) if block > 0 else None
        async with _bounded(self._timeout + block):
            found = cast("_Found | None", await self._redis.xread(positions, count=PORTION, block=wait))
        return {streams[name]: [_entry(position, said) for position, said in entries] for name, entries in found or ()}


ADMIT = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local seen, reached = {}, 0
for i, key in ipairs(KEYS) do
    local most, seconds = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
    local number = math.floor(now / seconds)
    local kept = redis.call('HMGET', key, 'number', 'current', 'previous')
    local last, current, previous = tonumber(kept[1]) or number, tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
    if last == number - 1 then current, previous = 0, current
    elseif last ~= number then current, previous = 0, 0 end
    local passed = now - number * seconds
    if reached == 0 and previous * (1 - passed / seconds) + current + 1 > most then reached = i end
    seen[i] = {current, previous, tostring(passed), number, seconds}
end
if reached == 0 then
    for i, key in ipairs(KEYS) do
        seen[i][1] = seen[i][1] + 1
        redis.call('HSET', key, 'number', seen[i][4], 'current', seen[i][1], 'previous', seen[i][2])
        redis.call('PEXPIRE', key, math.ceil(seen[i][5] * 2000))
    end
end
return {reached, seen}
"""
"""Two counters per limit, on Redis's clock: replicas need not agree on the time."""


class RedisWindows:
    """`Windows` over a client made by `connect`: `rate_limit:{tenant}`, followed by the limit's name.

    The braces keep a tenant's keys on one cluster node.
    """

    def __init__(self, redis: Redis, *, timeout: float = 0.25) -> None:
        self._timeout = timeout
        # Called by its hash: the text travels only to a server that does not know it yet.
        self._admit = redis.register_script(ADMIT)

    async def admit(self, limits: Sequence[Limit]) -> Sequence[LimitState]:
        keys = [_of_limit(limit) for limit in limits]
        arguments = [number for limit in limits for number in (limit.most, limit.seconds)]
        async with _bounded(self._timeout):
            reached, seen = cast("tuple[int, list[Any]]", await self._admit(keys, arguments))
        return [
            limit_state(limit, Counted(int(current), int(previous), float(passed)), refused=place == reached)
            for place, (limit, (current, previous, passed, *_)) in enumerate(zip(limits, seen, strict=True), start=1)
        ]


class RedisBoard:
    """`Board` over a client made by `connect`: `policy:requeue:{id}`, as JSON."""

    def __init__(self, redis: Redis, *, ttl: timedelta = timedelta(hours=1), timeout: float = 1.0) -> None:
        self._redis, self._ttl, self._timeout = redis, ttl, timeout

    async def put(self, notice: Notice) -> None:
        async with _bounded(self._timeout):
            await self._redis.set(_of_notice(notice.id), json.dumps(asdict(notice)), ex=self._ttl)

    async def drop(self, id: str) -> None:
        async with _bounded(self._timeout):
            await self._redis.delete(_of_notice(id))


class RedisCache:
    """`Cache` over a client made by `connect`: `cache:{tenant}:{name}`."""

    def __init__(self, redis: Redis, *, timeout: float = 0.25) -> None:
        self._redis, self._timeout = redis, timeout

    async def get(self, tenant: str, name: str) -> str | None:
        async with _bounded(self._timeout):
            return cast("str | None", await self._redis.get(_of_value(tenant, name)))

    async def put(self, tenant: str, name: str, value: str, *, seconds: int) -> None:
        if len(value) <= VALUE_MOST:
            async with _bounded(self._timeout):
                await self._redis.set(_of_value(tenant, name), value, ex=seconds)


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


def _of_limit(limit: Limit) -> str:
    whose = f":{quote(limit.whose, safe='')}" if limit.whose else ""
    return f"rate_limit:{{{quote(limit.tenant, safe='')}}}{whose}"


def _of_value(tenant: str, name: str) -> str:
    return f"cache:{quote(tenant, safe='')}:{quote(name, safe='')}"


def _of_notice(id: str) -> str:
    return f"policy:requeue:{quote(id, safe='')}"


def _fields(delta: Delta) -> dict[FieldT, EncodableT]:
    step: dict[FieldT, EncodableT] = {"step": delta.step} if delta.step is not None else {}
    return {"call": delta.call, "attempt": delta.attempt, "text": delta.text, **step}


def _entry(position: str, said: Mapping[str, str]) -> StreamEntry:
    """Return an entry. Anything may write to a cache, and what does not fit costs only itself."""
    try:
        return StreamEntry(position, Delta(said["call"], int(said["attempt"]), said["text"], said.get("step")))
    except (KeyError, ValueError):
        return StreamEntry(position, None)
