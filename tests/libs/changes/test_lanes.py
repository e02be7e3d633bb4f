"""Lanes: one job at a time per key, different keys concurrently."""

from __future__ import annotations

import asyncio

import pytest

from libs.changes.lanes import Job, Lanes, Stopped


def noting(seen: list[str], what: str, until: asyncio.Event | None = None) -> Job:
    async def job() -> None:
        if until is not None:
            await until.wait()
        seen.append(what)

    return job


async def stop() -> None:
    raise Stopped


async def crash() -> None:
    raise RuntimeError


async def test_a_key_goes_in_order_and_another_passes_it() -> None:
    lanes, seen, gate = Lanes(), list[str](), asyncio.Event()
    lanes.submit("g", "a", noting(seen, "a1", gate))
    lanes.submit("g", "a", noting(seen, "a2"))
    lanes.submit("g", "b", noting(seen, "b1", asyncio.Event()))
    lanes.submit("h", "a", noting(seen, "h1"))
    await asyncio.sleep(0)
    assert seen == ["h1"]
    gate.set()
    await asyncio.sleep(0.01)
    assert seen == ["h1", "a1", "a2"]
    await lanes.close()


async def test_held_lane_goes_on_when_released() -> None:
    lanes, seen = Lanes(), list[str]()
    assert lanes.hold("g", "a")
    assert not lanes.hold("g", "a")
    lanes.submit("g", "a", noting(seen, "a1"))
    lanes.submit("g", "b", noting(seen, "b1"))
    await asyncio.sleep(0.01)
    assert seen == ["b1"]
    lanes.release("g", "a")
    await lanes.idle()
    assert seen == ["b1", "a1"]


async def test_busy_lane_cannot_be_held() -> None:
    lanes, gate = Lanes(), asyncio.Event()
    lanes.submit("g", "a", noting([], "a1", gate))
    assert not lanes.hold("g", "a")
    gate.set()
    await lanes.idle()
    assert lanes.hold("g", "a")


async def test_crash_of_a_job_is_reported_to_the_host() -> None:
    lanes = Lanes()
    lanes.submit("g", "a", crash)
    with pytest.raises(RuntimeError):
        await lanes.failed


async def test_stopped_lane_holds_later_jobs_and_is_not_awaited() -> None:
    lanes, seen = Lanes(), list[str]()
    lanes.submit("g", "a", stop)
    lanes.submit("g", "a", noting(seen, "behind"))
    lanes.submit("g", "b", noting(seen, "beside"))
    await lanes.idle()
    lanes.submit("g", "a", noting(seen, "later"))
    lanes.submit("g", "b", noting(seen, "again"))
    await lanes.idle()
    assert seen == ["beside", "again"]
    assert not lanes.failed.done()
