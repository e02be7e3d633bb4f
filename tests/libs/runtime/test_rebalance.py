"""A handler that is slower than its partition's ownership, and a rebalance in the middle of it (A15)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from libs.bus.ports import OWNED_SECONDS
from libs.events import RememberRequested
from libs.events.envelope import Envelope
from tests import infrastructure
from tests.libs.runtime.conftest import Workshop


@asynccontextmanager
async def another(workshop: Workshop) -> AsyncIterator[Workshop]:
    """A second member of the same group."""
    async with infrastructure.platform(workshop.where) as platform:
        other = Workshop(workshop.where, platform, workshop.eye)
        async with other.open():
            yield other


def slow(workshop: Workshop) -> None:
    """Its handler goes on until the test lets it end."""

    async def wait(_: Envelope[RememberRequested]) -> None:
        workshop.started.set()
        await workshop.go_on.wait()

    workshop.on_event = wait


@pytest.mark.requirement("A15")
async def test_what_a_slow_member_holds_is_handled_once_when_another_takes_its_partitions(workshop: Workshop) -> None:
    slow(workshop)
    keys = [f"k{n}" for n in range(12)]
    async with workshop.open():
        for key in keys:
            await workshop.say(key, key)
        await workshop.started.wait()
        async with another(workshop) as other:
            await workshop.later(OWNED_SECONDS + 1)
            await other.until(lambda: len(other.handled) > 0)
            workshop.go_on.set()
            await other.until(lambda: len(other.handled) + len(workshop.handled) >= len(keys))
    assert sorted([*workshop.handled, *other.handled]) == sorted(keys)


@pytest.mark.requirement("A15", "P1", "P2")
async def test_a_member_that_stops_in_a_slow_handler_loses_and_doubles_nothing(workshop: Workshop) -> None:
    slow(workshop)
    async with workshop.open():
        await workshop.say("one")
        await workshop.say("two")
        await workshop.started.wait()
        asyncio.get_running_loop().call_later(0.1, workshop.go_on.set)
    async with another(workshop) as other:
        await other.say("three")
        await other.until(lambda: len(other.handled) + len(workshop.handled) == 3)
    assert sorted([*workshop.handled, *other.handled]) == ["one", "three", "two"]


@pytest.mark.requirement("A15")
async def test_someone_in_a_hurry_does_not_wait_for_a_slow_handler_and_another_member_handles_it(
    workshop: Workshop,
) -> None:
    slow(workshop)
    async with workshop.open():
        await workshop.say("one")
        await workshop.started.wait()
        for _ in range(2):
            workshop.platform.leaving.ask()
    assert workshop.handled == []
    async with another(workshop) as other:
        await other.until(lambda: other.handled == ["one"])
