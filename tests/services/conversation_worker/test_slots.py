"""Slots: turns that find none wait as rows, before anything of them has begun, and all of them end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import TurnEnded, TurnQueued, TurnStarted
from services.conversation_worker.admission import LOOK_SECONDS, Key, Slots
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

READ = plan(("manage-files.list", {"path": "."}))
MAKE = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_full_slots_leave_a_place_for_another_tenant() -> None:
    slots = Slots(2, 2)
    for session in "xy":
        slots.work(("a", session))
    assert not slots.free("a")
    assert slots.free("b"), "who has none may have one"
    slots.work(("b", "z"))
    assert not slots.free("b")
    slots.rest(("a", "x"))
    slots.rest(("a", "x"))
    assert not slots.free("a")
    slots.rest(("b", "z"))
    assert slots.free("a")


def test_admitted_turn_takes_its_slot_before_its_commit() -> None:
    slots = Slots(1, 1)
    assert slots.admit(("a", "x"))
    assert not slots.admit(("a", "y"))
    assert slots.admit(("a", "x"))
    slots.rest(("a", "x"))
    assert slots.admit(("a", "y"))


class Truth(list[Key]):
    """What is at work, and how often someone has asked."""

    asked = 0

    async def __call__(self, keys: Sequence[Key]) -> list[Key]:
        self.asked += 1
        return [key for key in keys if key in self]


async def test_turn_that_ended_elsewhere_keeps_its_slot_until_a_look() -> None:
    clock, truth = Clock(), Truth([("a", "y")])
    slots = Slots(2, 2, now=clock)
    for session in "xy":
        slots.work(("a", session))
    clock.now = LOOK_SECONDS
    assert not slots.free("a")
    await slots.look(truth)
    assert slots.free("a")
    slots.work(("a", "z"))
    assert not slots.free("a")


async def test_recent_turns_need_no_look_and_many_looks_become_one() -> None:
    clock, truth = Clock(), Truth()
    slots = Slots(1, 1, now=clock)
    clock.now = LOOK_SECONDS
    slots.work(("a", "x"))
    for _ in range(10):
        await slots.look(truth)
    assert (slots.free("a"), truth.asked) == (False, 1)


async def test_change_during_a_look_outweighs_its_answer() -> None:
    clock = Clock()
    slots = Slots(1, 1, now=clock)
    slots.work(("a", "x"))
    clock.now = LOOK_SECONDS

    async def meanwhile(keys: Sequence[Key]) -> list[Key]:
        clock.now += 1
        slots.work(("a", "x"))
        return []

    await slots.look(meanwhile)
    assert not slots.free("a")


async def test_waiting_turn_gets_the_freed_slot_and_keeps_it() -> None:
    slots = Slots(1, 1)
    slots.work(("a", "x"))
    taking = [asyncio.ensure_future(slots.take(("a", session), Truth())) for session in "yz"]
    await asyncio.sleep(0)
    assert slots.awaited("a")
    slots.rest(("a", "x"))
    done, waiting = await asyncio.wait(taking, timeout=0.05)
    assert (len(done), len(waiting)) == (1, 1)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert not slots.awaited("a")


ONE_SLOT = {"conversation_worker": {"turns_at_once_per_tenant": 1}}


async def ended(at: RunningPlatform, sessions: int) -> None:
    for n in range(sessions):
        await at.until(TurnEnded, session=f"s{n}")


@pytest.mark.requirement("P1")
async def test_turns_of_many_sessions_all_end_with_one_slot(home: Dsns, tmp_path: Path) -> None:
    sessions = 6
    async with run_platform(
        home, tmp_path, model=scripted_model(*[READ] * sessions, answers=sessions), settings=ONE_SLOT
    ) as at:
        for n in range(sessions):
            await at.say("look", session=f"s{n}", root=at.folder("a"))
        await ended(at, sessions)
        await at.quiet()
        told = [await at.logged(f"s{n}") for n in range(sessions)]
    assert any(isinstance(event, TurnQueued) for each in told for event in each)


async def test_turn_that_awaits_a_person_leaves_its_slot(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE, READ), settings=ONE_SLOT) as at:
        asking = await at.say("make", session="s0", root=at.folder())
        question = await at.asked(session="s0")
        await at.ended(await at.say("look", session="s1", root=at.folder()), session="s1")
        await at.decide(question, session="s0")
        await at.finish(asking, session="s0")
        await at.quiet()


async def test_cancelled_queued_turn_never_begins_and_blocks_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(READ, READ, READ), settings=ONE_SLOT) as at:
        turns = [await at.say("look", session=f"s{n}", root=at.folder("a")) for n in range(3)]
        await at.cancel(turns[1], session="s1")
        ends = {n: await at.ended(turn, session=f"s{n}") for n, turn in enumerate(turns)}
        await at.quiet()
        begun = any(isinstance(event, TurnStarted) for event in await at.logged("s1"))
    assert {ends[0].state, ends[2].state} == {"completed"}
    assert (ends[1].state == "cancelled") or begun


async def test_process_that_stops_with_queued_turns_loses_none(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(*[READ] * 8, answers=8)
    async with run_platform(home, tmp_path, model=model, settings=ONE_SLOT) as at:
        for n in range(4):
            await at.say("look", session=f"s{n}", root=at.folder("a"))
    async with run_platform(home, tmp_path, model=model, settings=ONE_SLOT) as at:
        await ended(at, 4)
        await at.quiet()
