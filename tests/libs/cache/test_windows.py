"""Rate windows: in one process, and shared by all in Redis."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis

from libs.cache.redis import RedisWindows
from libs.cache.windows import KEPT_MOST, Counted, Limit, LimitState, LocalWindows, Windows, wait

MINUTE = 60.0


@dataclass
class Clock:
    now: float = 1000 * MINUTE

    def __call__(self) -> float:
        return self.now


def limit(most: int, *, tenant: str = "acme", whose: str = "", seconds: float = MINUTE) -> Limit:
    return Limit("RATE_LIMITED", tenant, most, seconds, whose)


async def admitted(windows: Windows, *limits: Limit, tries: int) -> int:
    return sum([await fits(windows, *limits) for _ in range(tries)])


async def fits(windows: Windows, *limits: Limit) -> bool:
    return not any(state.wait for state in await windows.admit(limits))


@dataclass
class Shop:
    """Windows with a clock that the test moves."""

    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.windows = LocalWindows(self.clock)


@pytest.mark.requirement("S3-43")
async def test_refused_request_fits_after_its_retry_after() -> None:
    shop = Shop()
    assert await admitted(shop.windows, limit(10), tries=30) == 10
    (reached,) = await shop.windows.admit([limit(10)])
    assert reached.left == 0
    shop.clock.now += reached.wait - 0.1
    assert not await fits(shop.windows, limit(10))
    shop.clock.now += 0.2
    assert await fits(shop.windows, limit(10))


async def test_standing_reports_the_remaining_requests_and_the_window_end() -> None:
    shop = Shop(Clock(1000 * MINUTE + 20))
    assert await shop.windows.admit([limit(10), limit(3, whose="ada")]) == [
        LimitState(limit(10), left=9, reset=40.0),
        LimitState(limit(3, whose="ada"), left=2, reset=40.0),
    ]


async def test_burst_across_two_windows_gets_one_share() -> None:
    shop = Shop(Clock(1000 * MINUTE - 1))
    assert await admitted(shop.windows, limit(100), tries=100) == 100
    shop.clock.now += 2
    assert await admitted(shop.windows, limit(100), tries=100) <= 2


async def test_request_over_one_limit_counts_against_none() -> None:
    shop = Shop()
    mine, ours = limit(3, whose="ada"), limit(5)
    assert await admitted(shop.windows, ours, mine, tries=10) == 3
    assert await admitted(shop.windows, ours, limit(9, whose="bob"), tries=10) == 2


async def test_tenants_have_windows_of_their_own() -> None:
    shop = Shop()
    assert await admitted(shop.windows, limit(1), tries=3) == 1
    assert await admitted(shop.windows, limit(1, tenant="other"), tries=3) == 1


async def test_the_windows_that_a_process_keeps_are_bounded() -> None:
    shop = Shop()
    for n in range(KEPT_MOST + 1):
        await shop.windows.admit([limit(1, tenant=str(n))])
    assert not await fits(shop.windows, limit(1, tenant=str(KEPT_MOST)))
    assert await fits(shop.windows, limit(1, tenant="0")), "the oldest was forgotten"


@given(st.integers(1, 50), st.integers(0, 60), st.integers(0, 60), st.floats(0, 59.9))
def test_retry_after_is_barely_longer_than_needed(most: int, current: int, previous: int, passed: float) -> None:
    seconds = wait(limit(most), Counted(current, previous, passed))
    if seconds == 0:
        assert previous * (1 - passed / MINUTE) + current + 1 <= most
        return
    later = passed + seconds + 1e-6
    then = Counted(current, previous, later) if later < MINUTE else Counted(0, current, later - MINUTE)
    if then.passed < MINUTE:
        assert wait(limit(most), then) <= 1e-3


@pytest.mark.requirement("S3-43")
async def test_replicas_share_one_window_in_redis(redis: Redis) -> None:
    one, two = RedisWindows(redis, timeout=5.0), RedisWindows(redis, timeout=5.0)
    ours, mine = limit(6, seconds=3600.0), limit(4, whose="a:da", seconds=3600.0)
    assert [await fits(each, ours, mine) for each in (one, two, one, two, one)] == [True] * 4 + [False]
    left, reached = await two.admit([ours, mine])
    assert (left.left, left.wait, reached.limit, reached.left) == (2, 0.0, mine, 0)
    assert 0 < reached.wait <= 2 * 3600
    assert 0 < reached.reset <= 3600
    assert sorted(await redis.keys("rate_limit:*")) == ["rate_limit:{acme}", "rate_limit:{acme}:a%3Ada"]
    assert 0 < await redis.pttl("rate_limit:{acme}") <= 2 * 3600_000


@pytest.mark.requirement("S3-43")
async def test_concurrent_requests_never_exceed_a_limit_in_redis(redis: Redis) -> None:
    """Two replicas ask 300 times at once, each for a route of its own under one key's limit."""
    replicas = [RedisWindows(redis, timeout=30.0) for _ in range(2)]
    key = limit(100, whose="key", seconds=3600.0)
    routes = [limit(90, whose=f"key route-{n}", seconds=3600.0) for n in range(2)]
    asked = [(n % 2, replicas[n // 2 % 2].admit([key, routes[n % 2]])) for n in range(300)]
    answers = await asyncio.gather(*(answer for _, answer in asked))
    admitted = Counter(
        route for (route, _), answer in zip(asked, answers, strict=True) if not any(s.wait for s in answer)
    )
    assert admitted.total() == 100
    assert max(admitted.values()) <= 90
