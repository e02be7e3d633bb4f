"""A handler that outlasts its partition's ownership, and a rebalance during it (A15)."""

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
    """Its handler continues until the test ends it."""

    async def wait(_: Envelope[RememberRequested]) -> None:
        workshop.started.set()
        await workshop.released.wait()

    workshop.on_event = wait


@pytest.mark.requirement("A15")
async def test_slow_members_record_is_handled_once_after_a_takeover(workshop: Workshop) -> None:
    slow(workshop)
    keys = [f"k{n}" for n in range(12)]
    async with workshop.open():
        for key in keys:
            await workshop.say(key, key)
        await workshop.started.wait()
        async with another(workshop) as other:
            await workshop.later(OWNED_SECONDS + 1)
            await other.until(lambda: len(other.handled) > 0)
            workshop.released.set()
            await other.until(lambda: len(other.handled) + len(workshop.handled) >= len(keys))
    assert sorted([*workshop.handled, *other.handled]) == sorted(keys)


@pytest.mark.requirement("A15", "P1", "P2")
async def test_stop_during_a_slow_handler_loses_and_repeats_nothing(workshop: Workshop) -> None:
    slow(workshop)
    async with workshop.open():
        await workshop.say("one")
        await workshop.say("two")
        await workshop.started.wait()
        asyncio.get_running_loop().call_later(0.1, workshop.released.set)
    async with another(workshop) as other:
        await other.say("three")
        await other.until(lambda: len(other.handled) + len(workshop.handled) == 3)
    assert sorted([*workshop.handled, *other.handled]) == ["one", "three", "two"]


@pytest.mark.requirement("A15")
async def test_second_stop_signal_leaves_a_slow_record_to_another_member(
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
