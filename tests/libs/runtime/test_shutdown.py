"""Shutdown: patient at the first signal, hurried at the second."""

from __future__ import annotations

import asyncio

import pytest

from libs.runtime.shutdown import Shutdown


async def test_shutdown_waits_for_work_that_ends_in_time() -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, ended.set)
    await Shutdown().within(10, ended.wait())
    assert ended.is_set()


async def test_wait_ends_at_its_limit_and_cancels_the_awaitable() -> None:
    cancelled = asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    await Shutdown().within(0.01, endless())
    assert cancelled.is_set()


async def test_second_shutdown_request_ends_every_wait() -> None:
    leaving = Shutdown()
    leaving.ask()
    waiting = asyncio.ensure_future(leaving.within(600, asyncio.Event().wait()))
    await asyncio.sleep(0)
    assert leaving.problems()
    leaving.ask()
    await asyncio.wait_for(waiting, 5)
    await asyncio.wait_for(leaving.within(600, asyncio.Event().wait()), 5)


async def test_failure_of_awaited_work_is_raised() -> None:
    async def fails() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        await Shutdown().within(5, fails())
