"""Fairness: each tenant's order is kept, and nobody's thousand stand before another's one."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from libs.scheduling import FairBatches, FairQueue, FairSemaphore, leave_gate

TENANTS = st.sampled_from("abc")
LANES = st.sampled_from([("g", "1"), ("g", "2"), ("h", "1")])


def test_single_item_behind_another_tenants_thousand_is_second() -> None:
    line: FairQueue[str] = FairQueue()
    for n in range(1000):
        line.put("a", f"a{n}")
    line.put("b", "b0")
    assert [line.take() for _ in range(4)] == ["a0", "b0", "a1", "a2"]


def test_refused_tenant_is_skipped_and_keeps_its_place() -> None:
    line: FairQueue[str] = FairQueue()
    for item in ("a0", "a1", "b0"):
        line.put(item[0], item)
    assert line.take(lambda tenant: tenant != "a") == "b0"
    assert line.take(lambda tenant: tenant == "b") is None
    assert [line.take(), line.take(), line.take()] == ["a0", "a1", None]


@given(st.lists(TENANTS))
def test_queue_loses_nothing_and_keeps_each_tenants_order(tenants: list[str]) -> None:
    line: FairQueue[tuple[str, int]] = FairQueue()
    for n, tenant in enumerate(tenants):
        line.put(tenant, (tenant, n))
    taken = [item for _ in tenants if (item := line.take()) is not None]
    assert sorted(taken) == sorted(zip(tenants, range(len(tenants)), strict=True))
    assert all([n for t, n in taken if t == each] == sorted(n for t, n in taken if t == each) for each in "abc")


@given(st.lists(st.tuples(TENANTS, LANES)), st.integers(1, 4))
def test_batches_take_one_per_lane_and_keep_its_order(items: list[tuple[str, tuple[str, str]]], most: int) -> None:
    waiting: FairBatches[tuple[tuple[str, tuple[str, str]], int]] = FairBatches()
    for n, (tenant, lane) in enumerate(items):
        waiting.put(tenant, lane, ((tenant, lane), n))
    seen: dict[object, list[int]] = defaultdict(list)
    while batch := waiting.take(most):
        assert len(batch) == len({where for where, _ in batch}) <= most
        for where, n in batch:
            seen[where].append(n)
    assert all(order == sorted(order) for order in seen.values())
    assert sum(map(len, seen.values())) == len(items)
    assert len(waiting) == 0


def test_batch_shares_among_tenants_and_the_next_begins_after_it() -> None:
    waiting: FairBatches[str] = FairBatches()
    for n in range(200):
        waiting.put("a", ("g", str(n)), "a")
    for tenant in "bcdef":
        waiting.put(tenant, ("g", tenant), tenant)
    assert waiting.take(3) == ["a", "b", "c"]
    assert waiting.take(4) == ["d", "e", "f", "a"]


async def test_gate_admits_another_tenant_before_more_of_the_first() -> None:
    gate, inside, leave = FairSemaphore(2, each=1), list[str](), asyncio.Event()

    async def visit(tenant: str) -> None:
        async with gate.through(tenant):
            inside.append(tenant)
            await leave.wait()

    visits = [asyncio.ensure_future(visit(tenant)) for tenant in "aaab"]
    await asyncio.sleep(0)
    assert inside == ["a", "b"], "one place of each tenant, though another is free"
    leave.set()
    await asyncio.gather(*visits)
    assert (Counter(inside), gate.waiting) == (Counter(a=3, b=1), 0)


async def test_cancelled_waiter_takes_no_place() -> None:
    gate, first = FairSemaphore(1, each=1), asyncio.Event()

    async def visit(until: asyncio.Event) -> None:
        async with gate.through("a"):
            await until.wait()

    inside = asyncio.ensure_future(visit(first))
    await asyncio.sleep(0)
    given_up = [asyncio.ensure_future(visit(first)) for _ in range(3)]
    await asyncio.sleep(0)
    given_up[0].cancel()
    first.set()
    await inside
    given_up[1].cancel()
    await asyncio.gather(*given_up, return_exceptions=True)
    async with asyncio.timeout(60), gate.through("a"):
        assert gate.waiting == 0


async def test_place_left_early_admits_the_next_once() -> None:
    gate, left, end = FairSemaphore(1, each=1), asyncio.Event(), asyncio.Event()

    async def visit() -> None:
        async with gate.through("a"):
            leave_gate()
            left.set()
            await end.wait()

    visiting = asyncio.ensure_future(visit())
    await left.wait()
    async with asyncio.timeout(60), gate.through("a"):
        end.set()
        await visiting
        third = asyncio.ensure_future(visit())
        await asyncio.sleep(0)
        assert gate.waiting == 1, "the end of the first block frees no second place"
    await third
