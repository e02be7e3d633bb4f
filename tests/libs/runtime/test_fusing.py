"""Fusing: what joins the commit of its cause, and what is left to its lane."""

from __future__ import annotations

from libs.events import RememberRequested
from libs.events.envelope import Envelope
from libs.runtime.consumer import DECIDING_EACH
from tests.libs.runtime.conftest import Workshop, raising

TRANSACTIONS = "select count(distinct xmin::text) from bus.inbox"


async def test_consequence_is_handled_before_its_request_returns(workshop: Workshop) -> None:
    workshop.fuses = True
    async with workshop.open():
        await workshop.say("hi", by="gateway")
        assert workshop.handled == ["hi"]
        assert await workshop.eye.fetchval(TRANSACTIONS) == 1


async def test_nothing_is_fused_right_after_a_death(workshop: Workshop) -> None:
    workshop.fuses = workshop.after_death = True
    async with workshop.open():
        await workshop.say("hi", by="gateway")
        await workshop.until(lambda: workshop.handled == ["hi"])
        assert await workshop.eye.fetchval(TRANSACTIONS) == 2


async def test_record_of_a_fused_event_is_not_decided_again(workshop: Workshop) -> None:
    workshop.fuses, decided = True, list[str]()
    workshop.on_event = lambda event: _note(decided, event)
    async with workshop.open():
        await workshop.say("fused", by="gateway")
        await workshop.say("behind it")
        await workshop.until(lambda: workshop.handled == ["fused", "behind it"])
    assert decided == ["fused", "behind it"]


async def test_failing_consequence_is_left_to_its_lane(workshop: Workshop) -> None:
    workshop.fuses, workshop.on_event = True, raising(KeyError("x"))
    async with workshop.open():
        event = await workshop.say("bad", by="gateway")
        workshop.on_event = None
        await workshop.until(lambda: workshop.handled == ["bad"])
    assert await workshop.eye.fetchval("select state from bus.inbox where id = $1", event) == "done"


async def test_slow_consequence_does_not_delay_its_request(workshop: Workshop) -> None:
    workshop.fuses, workshop.on_event = True, lambda event: _wait(workshop)
    async with workshop.open():
        await workshop.say("slow", by="gateway")
        assert workshop.handled == []
        workshop.released.set()
        await workshop.until(lambda: workshop.handled == ["slow"])


async def test_full_gate_lets_no_consequence_join(workshop: Workshop) -> None:
    decided = list[str]()

    async def wait(event: Envelope[RememberRequested]) -> None:
        decided.append(event.data.text)
        await workshop.released.wait()

    workshop.fuses, workshop.on_event = True, wait
    async with workshop.open():
        for n in range(DECIDING_EACH):
            await workshop.say("busy", key=f"{n}")
        await workshop.until(lambda: len(decided) == DECIDING_EACH)
        await workshop.say("late", key="late", by="gateway")
        assert "late" not in decided
        workshop.released.set()
        await workshop.until(lambda: "late" in workshop.handled)


async def _note(decided: list[str], event: Envelope[RememberRequested]) -> None:
    decided.append(event.data.text)


async def _wait(workshop: Workshop) -> None:
    await workshop.released.wait()
