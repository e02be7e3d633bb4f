"""Effects happen once, whatever an attempt ended with: each class through the real services, on another database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import asyncpg
import orjson
import pytest
import pytest_asyncio
from typing_extensions import override

from libs import ids
from libs.database import Dsns
from libs.errors import Rejected
from libs.events import ApprovalRequested, ToolFailed, ToolRequested, ToolSucceeded, ToolUnknown, TurnEnded
from libs.events.values import StepState
from libs.identity import grants
from libs.leases.ports import Lease
from libs.tools import Intent, Outcome
from services.tool_executor.calls import LeaseLost
from services.tool_executor.effects.external_calls import UNKEPT
from services.tool_executor.effects.ledger import Ledger
from services.tool_executor.effects.recovery import RecoveryAction
from tests.support import effect_tools, platform
from tests.support.effect_tools import Book, Breaking, Gate, Near, Note, NotNow, Put, Send, World
from tests.support.platform import TENANT, RunningPlatform

QUICK: dict[str, dict[str, Any]] = {"tool_executor": {"settle_seconds": 0, "effect_attempts": 3, "cancel_seconds": 0.2}}
DROPPED = ConnectionResetError("the line went dead")
ACTING = [Put.name, Note.name, Book.name, Send.name]


class Open(Protocol):
    def __call__(self, *names: str) -> AbstractAsyncContextManager[RunningPlatform]: ...


@pytest_asyncio.fixture(loop_scope="session")
async def there(world: str) -> World:
    """The other database."""
    made = World(world)
    await made.prepare()
    return made


@pytest.fixture
def opened(home: Dsns, tmp_path: Path, there: World) -> Open:
    """A platform whose model plans these tools."""

    @asynccontextmanager
    async def opened(*names: str) -> AsyncIterator[RunningPlatform]:
        model = platform.scripted_model(effect_tools.plan(*names))
        async with platform.run_platform(
            home, tmp_path, model=model, tools=effect_tools.tools(there), settings=QUICK
        ) as running:
            yield running

    return opened


async def done(platform: RunningPlatform, session: str, **fields: Any) -> TurnEnded:
    """A turn to its end, with everything approved."""
    return await platform.finish(await platform.say("go", session=session, **fields), session=session)


async def told(platform: RunningPlatform, kind: type[Any], session: str) -> list[Any]:
    return [event for event in await platform.logged(session) if isinstance(event, kind)]


@pytest.mark.parametrize("tool", ACTING)
async def test_effect_happens_and_reports_its_outcome(opened: Open, there: World, tool: str) -> None:
    async with opened(tool) as platform:
        assert (await done(platform, tool)).state == "completed"
        (told_,) = await told(platform, ToolSucceeded, tool)
    (row,) = await there.made(tool)
    assert (told_.data.json_, row["attempt"]) == ({"row": row["id"]}, 1)


@pytest.mark.requirement("A17a")
@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        (Put.name, [("run", 1), ("run", 2)]),
        (Note.name, [("run", 1), ("probe", 2)]),
        (Book.name, [("run", 1), ("undo", 2), ("run", 2)]),
    ],
)
async def test_an_effect_whose_answer_was_lost_is_not_made_twice(
    opened: Open, there: World, tool: str, asked: list[tuple[str, int]]
) -> None:
    there.trouble = Breaking("run:after", [DROPPED])
    async with opened(tool) as platform:
        assert (await done(platform, f"lost-{tool}")).state == "completed"
    assert len(await there.made(f"lost-{tool}")) == 1
    assert there.asked == asked


@pytest.mark.requirement("A17a")
@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        (Put.name, [("run", 1), ("run", 2)]),
        (Note.name, [("run", 1), ("probe", 2), ("run", 2)]),
        (Book.name, [("run", 1), ("undo", 2), ("run", 2)]),
    ],
)
async def test_an_effect_that_was_interrupted_before_it_happened_happens(
    opened: Open, there: World, tool: str, asked: list[tuple[str, int]]
) -> None:
    there.trouble = Breaking("run:before", [DROPPED])
    async with opened(tool) as platform:
        assert (await done(platform, f"cut-{tool}")).state == "completed"
    assert len(await there.made(f"cut-{tool}")) == 1
    assert there.asked == asked


@pytest.mark.requirement("A17a")
async def test_at_most_once_effect_is_asked_about_instead_of_retried(opened: Open, there: World) -> None:
    there.trouble = Breaking("run:after", [DROPPED])
    async with opened(Send.name) as platform:
        await platform.say("go", session="once")
        await platform.decide(await platform.asked(session="once"), session="once")
        await platform.until(ToolUnknown, session="once")
        question = await platform.asked(session="once")
    assert (question.kind, there.asked) == ("effect", [("run", 1)])
    assert len(await there.made("once")) == 1


@pytest.mark.parametrize("tool", [*ACTING, Near.name])
async def test_an_attempt_that_did_nothing_leaves_no_doubt(opened: Open, there: World, tool: str) -> None:
    there.trouble = Breaking("run:before", [NotNow()])
    async with opened(tool) as platform:
        assert (await done(platform, f"none-{tool}")).state == "completed"
    assert there.asked == [("run", 1), ("run", 2)]


@pytest.mark.parametrize("tool", ACTING)
async def test_effect_that_the_tool_refuses_did_not_happen(opened: Open, there: World, tool: str) -> None:
    there.trouble = Breaking("run:before", [Rejected("the account is closed", code="CLOSED")])
    async with opened(tool) as platform:
        await done(platform, f"no-{tool}")
        (failed,) = await told(platform, ToolFailed, f"no-{tool}")
    assert (failed.code, failed.error) == ("CLOSED", "the account is closed")
    assert (there.asked, await there.made(f"no-{tool}")) == ([("run", 1)], [])


@pytest.mark.parametrize(("tool", "point"), [(Note.name, "probe:before"), (Book.name, "undo:before")])
async def test_effect_unprobed_within_the_time_limit_is_unknown(
    opened: Open, there: World, tool: str, point: str
) -> None:
    async def trouble(reached: str, intent: Intent) -> None:
        if reached == "run:after":
            raise DROPPED
        if reached == point:
            raise NotNow()

    there.trouble = trouble
    async with opened(tool) as platform:
        await platform.say("go", session=f"dark-{tool}")
        await platform.decide(await platform.asked(session=f"dark-{tool}"), session=f"dark-{tool}")
        unknown = await platform.until(ToolUnknown, session=f"dark-{tool}")
    assert "EXHAUSTED" in unknown.reason or "UNAVAILABLE" in unknown.reason
    assert [verb for verb, _ in there.asked] == ["run", point.split(":")[0], point.split(":")[0]]


async def test_keyed_effect_whose_answers_are_lost_is_unknown_not_failed(opened: Open, there: World) -> None:
    there.trouble = Breaking("run:after", [DROPPED] * 3)
    async with opened(Put.name) as platform:
        await platform.say("go", session="silent")
        await platform.decide(await platform.asked(session="silent"), session="silent")
        await platform.until(ToolUnknown, session="silent")
    assert len(await there.made("silent")) == 1


@pytest.mark.requirement("A23")
@pytest.mark.parametrize(
    ("tool", "code", "left"), [(Book.name, "CANCELLED", 0), (Note.name, None, 1), (Put.name, None, 1)]
)
async def test_cancel_during_an_effect_reports_its_outcome(
    opened: Open, there: World, tool: str, code: str | None, left: int
) -> None:
    session = f"cancel-{tool}"
    there.trouble = gate = Gate("run:after")
    async with opened(tool) as platform:
        turn = await platform.say("go", session=session)
        await platform.decide(await platform.asked(session=session), session=session)
        await gate.reached.wait()
        await platform.cancel(turn, session=session)
        if tool == Put.name:
            gate.opened.set()
        assert (await platform.ended(turn, session=session)).state == "cancelled"
        ends = [*await told(platform, ToolFailed, session), *await told(platform, ToolSucceeded, session)]
    assert [getattr(end, "code", None) for end in ends] == [code]
    assert len(await there.made(session)) == left


DEAD = (
    "update bus.leases set owner = 'elsewhere', token = token + 1, deaths = 3, due_at = bus.now() where kind = 'effect'"
)


@pytest.mark.requirement("A17a")
@pytest.mark.parametrize(("tool", "code", "left"), [(Book.name, "PROCESS_DIED", 0), (Note.name, None, 1)])
async def test_an_effect_whose_process_keeps_dying_is_settled(
    opened: Open, home: Dsns, there: World, tool: str, code: str | None, left: int
) -> None:
    session = f"dying-{tool}"
    there.trouble = gate = Gate("run:after")
    async with opened(tool) as platform:
        turn = await platform.say("go", session=session)
        await platform.decide(await platform.asked(session=session), session=session)
        await gate.reached.wait()
        eye = await asyncpg.connect(home.bus)
        await eye.execute(DEAD)
        await eye.close()
        await platform.ended(turn, session=session)
        ends = [*await told(platform, ToolFailed, session), *await told(platform, ToolSucceeded, session)]
        assert not await told(platform, ToolUnknown, session)
    assert [getattr(end, "code", None) for end in ends] == [code]
    assert len(await there.made(session)) == left


@pytest.mark.requirement("A23")
async def test_cancel_of_an_at_most_once_effect_leaves_a_question(opened: Open, there: World) -> None:
    there.trouble = gate = Gate("run:after")
    async with opened(Send.name) as platform:
        turn = await platform.say("go", session="stop")
        await platform.decide(await platform.asked(session="stop"), session="stop")
        await gate.reached.wait()
        await platform.cancel(turn, session="stop")
        ended = await platform.ended(turn, session="stop")
        assert (await platform.asked(session="stop")).kind == "effect"
        assert (await platform.steps("stop"))[1] is StepState.UNKNOWN
    assert (ended.state, "not known" in ended.detail) == ("cancelled", True)


async def test_local_tool_without_effects_is_not_asked_about(opened: Open, there: World) -> None:
    async with opened(Near.name) as platform:
        turn = await platform.say("go", session="near")
        assert (await platform.ended(turn, session="near")).state == "completed"


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("tool", ACTING)
async def test_approval_states_that_an_effect_cannot_be_undone(opened: Open, there: World, tool: str) -> None:
    async with opened(tool) as platform:
        turn = await platform.say("go", session=f"say-{tool}")
        asked: ApprovalRequested = await platform.asked(session=f"say-{tool}")
        await platform.cancel(turn, session=f"say-{tool}")
        await platform.ended(turn, session=f"say-{tool}")
    known = {kind.name: kind.effect for kind in (Put, Note, Book, Send)}
    assert asked.undo.endswith(f"(Effect class: {known[tool]}.)")
    assert "cannot be undone" in asked.undo


async def test_steps_may_refer_to_the_result_of_a_tool(home: Dsns, tmp_path: Path, there: World) -> None:
    first, second = effect_tools.plan(Near.name, Note.name).steps
    linked = second.model_copy(update={"args": {"text": "x", "row": "$step(1).row"}, "depends_on": (1,)})
    model, rows = platform.scripted_model(effect_tools.plan().model_copy(update={"steps": (first, linked)})), []

    async def trouble(point: str, intent: Intent) -> None:
        rows.append(intent.args.get("row"))

    there.trouble = trouble
    async with platform.run_platform(
        home, tmp_path, model=model, tools=effect_tools.tools(there), settings=QUICK
    ) as running:
        assert (await done(running, "linked")).state == "completed"
    assert rows[-1] == 0


async def once_more(platform: RunningPlatform, session: str) -> ToolRequested:
    """The call that was made, asked for again under another name, with a grant of its own."""
    real = next(event for event in await platform.logged(session) if isinstance(event, ToolRequested))
    keys, now = platform.platform.keys, platform.platform.clock.now()
    claims = grants.verify(keys, real, tenant=TENANT, session=session, now=now)
    again = real.model_copy(update={"call_id": ids.new()})
    token = grants.issue(keys, claims.model_copy(update={"request": grants.digest_of(again)}))
    await platform.publish(again.model_copy(update={"grant": token}), session=session)
    return again


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("tool", ACTING)
async def test_same_intent_is_one_effect_answered_from_the_record(opened: Open, there: World, tool: str) -> None:
    async with opened(tool) as platform:
        await done(platform, f"same-{tool}")
        again = await once_more(platform, f"same-{tool}")
        mine = await platform.until(ToolSucceeded, session=f"same-{tool}", where=lambda e: e.call_id == again.call_id)
        first = (await told(platform, ToolSucceeded, f"same-{tool}"))[0]
    assert (mine.data, mine.summary) == (first.data, first.summary)
    assert len(await there.made(f"same-{tool}")) == 1


async def test_same_intent_waits_for_the_running_one(opened: Open, there: World) -> None:
    there.trouble = gate = Gate("run:after")
    async with opened(Put.name) as platform:
        turn = await platform.say("go", session="both")
        await platform.decide(await platform.asked(session="both"), session="both")
        await gate.reached.wait()
        again = await once_more(platform, "both")
        while "suma.tool.requested.v1" not in await platform.open():
            await platform.platform.bus.waiting()
        gate.opened.set()
        await platform.ended(turn, session="both")
        await platform.until(ToolSucceeded, session="both", where=lambda event: event.call_id == again.call_id)
    assert (len(await there.made("both")), there.asked) == (1, [("run", 1)])


async def test_repeated_call_of_an_unknown_effect_stays_unknown(opened: Open, there: World) -> None:
    there.trouble = Breaking("run:after", [DROPPED])
    async with opened(Send.name) as platform:
        await platform.say("go", session="still")
        await platform.decide(await platform.asked(session="still"), session="still")
        await platform.until(ToolUnknown, session="still")
        again = await once_more(platform, "still")
        await platform.until(ToolUnknown, session="still", where=lambda event: event.call_id == again.call_id)
    assert len(await there.made("still")) == 1


@pytest.mark.requirement("A18")
async def test_one_of_two_claimed_owners_begins_the_effect(opened: Open, there: World) -> None:
    there.trouble = gate = Gate("run:before")
    async with opened(Note.name) as platform:
        turn = await platform.say("go", session="two")
        await platform.decide(await platform.asked(session="two"), session="two")
        await gate.reached.wait()
        held = await leased(platform)
        ledger = Ledger(platform.platform.database, platform.platform.writer)
        seen = await ledger.record(held)
        tries = (ledger.begin(replace(held, token=token), seen, RecoveryAction.PROBE) for token in (7, 8))
        found = await asyncio.gather(*tries, return_exceptions=True)
        gate.opened.set()
        await platform.ended(turn, session="two")
    assert {type(one) for one in found} == {LeaseLost, int}


async def leased(platform: RunningPlatform) -> Lease:
    """The lease of the one effect that is under way."""
    pool = await platform.platform.database.bus()
    (row,) = await pool.fetch("select * from bus.leases where kind = 'effect'")
    about = (row["grp"], row["kind"], row["tenant"], row["key"], row["token"], row["attempts"])
    return Lease(row["id"], *about, orjson.loads(row["input"]))


@pytest.mark.parametrize("data", [object(), float("nan"), {"text": "a\0b"}, "\ud800"])
async def test_effect_with_an_unstorable_result_still_counts_as_done(
    home: Dsns, tmp_path: Path, there: World, data: Any
) -> None:
    class Odd(Send):
        @override
        async def run(self, intent: Intent) -> Outcome:
            await super().run(intent)
            return Outcome(data, "sent \0 \ud800")

    model = platform.scripted_model(effect_tools.plan(Send.name))
    async with platform.run_platform(home, tmp_path, model=model, tools=[Odd(there)], settings=QUICK) as running:
        ended = await done(running, (session := f"odd-{ids.new()}"))
        (kept,) = await told(running, ToolSucceeded, session)
    assert (ended.state, kept.data.json_, kept.warnings, kept.summary) == ("completed", None, (UNKEPT,), "sent  ?")


async def test_effect_that_takes_too_long_is_probed_and_not_failed(home: Dsns, tmp_path: Path, there: World) -> None:
    there.trouble = Gate("run:after")
    settings = {**QUICK, "conversation_worker": {"call_seconds": 0.3}}
    model = platform.scripted_model(effect_tools.plan(Note.name))
    async with platform.run_platform(
        home, tmp_path, model=model, tools=effect_tools.tools(there), settings=settings
    ) as running:
        assert (await done(running, "slow")).state == "completed"
    assert (len(await there.made("slow")), there.asked) == (1, [("run", 1), ("probe", 2)])


@pytest.mark.requirement("A23")
@pytest.mark.parametrize(("tool", "left", "kind"), [(Note.name, 1, ToolSucceeded), (Book.name, 0, ToolFailed)])
async def test_cancel_between_two_attempts_reports_the_outcome(
    opened: Open, there: World, tool: str, left: int, kind: type[Any]
) -> None:
    session, cancelled, asked = f"between-{tool}", asyncio.Event(), asyncio.Event()

    async def trouble(point: str, intent: Intent) -> None:
        if point == "run:after":
            raise DROPPED
        if point in ("probe:before", "undo:before") and not cancelled.is_set():
            asked.set()
            raise NotNow()

    there.trouble = trouble
    async with opened(tool) as platform:
        turn = await platform.say("go", session=session)
        await platform.decide(await platform.asked(session=session), session=session)
        await asked.wait()
        cancelled.set()
        await platform.cancel(turn, session=session)
        assert (await platform.ended(turn, session=session)).state == "cancelled"
        assert len(await told(platform, kind, session)) == 1
        await platform.quiet()
    assert len(await there.made(session)) == left
