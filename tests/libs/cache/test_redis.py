"""Deltas on a real Redis: ordered, bounded, separate per tenant, and a lost Redis delays nothing."""

import asyncio
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from libs.cache import START, Delta, Deltas, Stream, StreamEntry
from libs.cache.redis import PORTION, RedisDeltas, connect
from libs.errors import Unavailable
from tests.libs.cache.servers import Server

TURN = Stream("acme", "turn-1")
LONG = 10.0
"""Seconds; long enough that no test reaches it."""


def delta(text: str, *, attempt: int = 1) -> Delta:
    return Delta("call-1", attempt, text)


async def read(deltas: Deltas, stream: Stream = TURN, *, after: str = START) -> list[StreamEntry]:
    return list((await deltas.read({stream: after}, block=0)).get(stream, ()))


async def texts(deltas: Deltas, stream: Stream = TURN, *, after: str = START) -> list[str]:
    return [entry.delta.text for entry in await read(deltas, stream, after=after) if entry.delta]


async def test_deltas_are_read_as_written(deltas: Deltas) -> None:
    said = [delta("Hel"), delta("lo \n\x00ü🙂"), Delta("call-2", 3, "")]
    for each in said:
        await deltas.append(TURN, each)
    assert [entry.delta for entry in await read(deltas)] == said


@pytest.mark.parametrize(
    "garbage",
    [
        {"x": "y"},
        {"call": "c", "attempt": "one", "text": "t"},
        {"call": "c", "attempt": "", "text": ""},
        {b"\xff": b"\xff"},
    ],
)
async def test_entry_that_is_no_delta_costs_only_itself(deltas: Deltas, redis: Redis, garbage: dict[str, str]) -> None:
    await deltas.append(TURN, delta("before"))
    await redis.xadd(f"deltas:{TURN.tenant}:{TURN.turn}", garbage)  # type: ignore[arg-type]
    await deltas.append(TURN, delta("after"))
    found = await read(deltas)
    assert [entry.delta and entry.delta.text for entry in found] == ["before", None, "after"]


async def test_reading_goes_on_behind_the_last_position(deltas: Deltas) -> None:
    for text in ("a", "b", "c"):
        await deltas.append(TURN, delta(text))
    first, *_ = await read(deltas)
    assert await texts(deltas, after=first.position) == ["b", "c"]


async def test_a_long_stream_comes_in_portions_without_a_gap(deltas: Deltas) -> None:
    said = [str(number) for number in range(PORTION + 10)]
    for text in said:
        await deltas.append(TURN, delta(text))
    portion = await read(deltas)
    rest = await texts(deltas, after=portion[-1].position)
    assert [entry.delta.text for entry in portion if entry.delta] + rest == said


async def test_a_reader_that_waits_is_woken_by_the_next_delta(deltas: Deltas) -> None:
    reading = asyncio.create_task(deltas.read({TURN: START}, block=LONG))
    while not reading.done():
        await deltas.append(TURN, delta("word"))
    (entry, *_) = (await reading)[TURN]
    assert entry.delta == delta("word")


@pytest.mark.parametrize("block", [0, 0.01])
async def test_a_reader_without_news_comes_back_empty(deltas: Deltas, block: float) -> None:
    assert await deltas.read({TURN: START}, block=block) == {}
    assert await deltas.read({}, block=block) == {}


async def test_one_read_serves_many_turns(deltas: Deltas) -> None:
    turns = [Stream("acme", f"turn-{number}") for number in range(3)]
    for turn in turns[:2]:
        await deltas.append(turn, delta(turn.turn))
    found = await deltas.read(dict.fromkeys(turns, START), block=LONG)
    assert {turn: [entry.delta and entry.delta.text for entry in entries] for turn, entries in found.items()} == {
        turns[0]: ["turn-0"],
        turns[1]: ["turn-1"],
    }


@pytest.mark.requirement("A29")
@pytest.mark.parametrize(
    "stranger", [Stream("other", "turn-1"), Stream("acme:turn-1", ""), Stream("", "acme:turn-1"), Stream("*", "*")]
)
async def test_a_turn_of_another_tenant_is_another_stream(deltas: Deltas, stranger: Stream) -> None:
    await deltas.append(TURN, delta("secret"))
    assert await texts(deltas, stranger) == []


@pytest.mark.requirement("A29")
async def test_each_pair_of_tenant_and_turn_has_its_own_stream(deltas: Deltas) -> None:
    streams = [Stream("a", "b:c"), Stream("a:b", "c"), Stream("a%3Ab", "c"), Stream("A", "b:c")]
    for number, stream in enumerate(streams):
        await deltas.append(stream, delta(str(number)))
    assert [await texts(deltas, stream) for stream in streams] == [["0"], ["1"], ["2"], ["3"]]


async def test_stream_length_is_bounded(redis: Redis) -> None:
    deltas = RedisDeltas(redis, max_entries=100)
    for number in range(500):
        await deltas.append(TURN, delta(str(number)))
    kept = await texts(deltas)
    # Redis trims by whole nodes of 100.
    assert 100 <= len(kept) <= 200
    assert kept[-1] == "499"


async def test_a_stream_ends_some_time_after_its_last_delta(redis: Redis) -> None:
    await RedisDeltas(redis, ttl=timedelta(seconds=60)).append(TURN, delta("word"))
    (name,) = await redis.keys("*")
    assert 0 < await redis.ttl(name) <= 60


@pytest.mark.requirement("A17")
async def test_dead_redis_is_unavailable_until_a_new_one_starts(mortal: Server) -> None:
    async with connect(mortal.url) as redis:
        deltas = RedisDeltas(redis)
        await deltas.append(TURN, delta("lost"))
        mortal.stop()
        with pytest.raises(Unavailable):
            await deltas.append(TURN, delta("lost"))
        with pytest.raises(Unavailable):
            await deltas.read({TURN: START}, block=0)
        mortal.start()
        await deltas.append(TURN, delta("word"))
        assert await texts(deltas) == ["word"]


@pytest.mark.requirement("A17")
async def test_a_reader_that_waits_notices_that_redis_died(mortal: Server) -> None:
    async with connect(mortal.url) as redis:
        deltas = RedisDeltas(redis)
        await deltas.append(TURN, delta("word"))
        (last,) = await read(deltas)
        waiting = asyncio.create_task(deltas.read({TURN: last.position}, block=LONG))
        async with asyncio.timeout(LONG):
            while not await blocked(redis):
                pass
        mortal.stop()
        with pytest.raises(Unavailable):
            await waiting


async def blocked(redis: Redis) -> list[dict[str, str]]:
    return [client for client in await redis.client_list() if "b" in client["flags"]]


@pytest.mark.requirement("A17")
async def test_hanging_redis_times_out_and_mixes_up_no_answers(mortal: Server) -> None:
    async with connect(mortal.url) as redis:
        patient, hasty = RedisDeltas(redis), RedisDeltas(redis, timeout=0.05)
        await patient.append(TURN, delta("before"))
        with mortal.frozen():
            async with asyncio.timeout(LONG):
                with pytest.raises(Unavailable):
                    await hasty.append(TURN, delta("during"))
                with pytest.raises(Unavailable):
                    await hasty.read({TURN: START}, block=0.05)
        await patient.append(TURN, delta("after"))
        said = await texts(patient)
        assert (said[0], said[-1]) == ("before", "after")


async def test_invalid_unicode_does_not_break_the_stream(deltas: Deltas) -> None:
    await deltas.append(TURN, delta("half \ud83d"))
    assert await texts(deltas) == ["half ?"]
