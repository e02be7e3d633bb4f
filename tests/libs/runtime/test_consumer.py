"""Handling: faults of a handler, and their effect on other events."""

from __future__ import annotations

import asyncio

import pytest

from libs.errors import Conflict, Rejected, SumaError
from libs.events import RememberRequested
from libs.events.envelope import Envelope
from tests.libs.runtime.conftest import Workshop


def bad_at(text: str, error: BaseException, workshop: Workshop) -> None:
    async def handle(event: Envelope[RememberRequested]) -> None:
        if event.data.text == text:
            raise error

    workshop.on_event = handle


@pytest.mark.requirement("A13")
@pytest.mark.parametrize(
    "error", [asyncio.CancelledError(), SumaError("of no kind"), ZeroDivisionError(), KeyError("x")], ids=repr
)
async def test_failing_handler_parks_its_event_and_others_continue(workshop: Workshop, error: BaseException) -> None:
    bad_at("bad", error, workshop)
    async with workshop.open() as running:
        event = await workshop.say("bad")
        await workshop.say("good", key="other")
        await workshop.until(lambda: workshop.handled == ["good"])
        assert not running.failed.done()
    assert await workshop.eye.fetchval("select state from bus.inbox where id = $1", event) == "parked"


async def test_a_conflict_is_decided_again_five_times_and_then_parked(workshop: Workshop) -> None:
    tries: list[str] = []

    async def handle(event: Envelope[RememberRequested]) -> None:
        tries.append(event.id)
        raise Conflict

    workshop.on_event = handle
    async with workshop.open():
        event = await workshop.say("contended")
        await workshop.until(lambda: len(tries) >= 5)
        async with asyncio.timeout(60):
            while await workshop.eye.fetchval("select state from bus.inbox where id = $1", event) != "parked":
                await asyncio.sleep(0.01)


async def test_failing_report_stops_only_its_lane_and_readiness(workshop: Workshop) -> None:
    workshop.report_fails = True
    bad_at("bad", Rejected("no"), workshop)
    async with workshop.open() as running:
        await workshop.say("bad")
        await workshop.say("behind it")
        await workshop.say("good", key="other")
        await workshop.until(lambda: workshop.handled == ["good"] and running.problems() != [])
        assert "stopped" in running.problems()[0]
        assert not running.failed.done()
    assert await workshop.eye.fetchval("select count(*) from bus.inbox where state = 'dead'") == 0


async def test_stopped_events_are_handled_after_a_restart(workshop: Workshop) -> None:
    workshop.report_fails = True
    bad_at("bad", Rejected("no"), workshop)
    async with workshop.open() as running:
        await workshop.say("bad")
        await workshop.say("behind it")
        await workshop.until(lambda: running.problems() != [])
    workshop.on_event = None
    async with workshop.open():
        await workshop.until(lambda: workshop.handled == ["bad", "behind it"])
