"""An effect of which nobody knows whether it happened: the turn waits, the question outlives it, one answer counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import pytest_asyncio

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import ApprovalClosed, ApprovalRequested, MessageCompleted, StepChanged, TurnQueued
from libs.events.values import Plan, StepState
from libs.leases.ports import NewLease
from services.conversation_worker.turn.context import LOST
from tests.support import effect_tools, platform
from tests.support.effect_tools import Breaking, Gate, Near, Put, Send, World
from tests.support.platform import TENANT, WHO, RunningPlatform

SETTINGS: dict[str, dict[str, Any]] = {
    "tool_executor": {"settle_seconds": 0, "effect_attempts": 2},
    "conversation_worker": {"unknown_seconds": 600.0},
}
LATER = 601.0
Open: TypeAlias = Callable[..., AbstractAsyncContextManager[RunningPlatform]]


@pytest_asyncio.fixture(loop_scope="session")
async def there(world: str) -> World:
    """The other database; the answer to the first effect is lost."""
    made = World(world, Breaking("run:after", [ConnectionResetError("the line went dead")]))
    await made.prepare()
    return made


@pytest.fixture
def opened(home: Dsns, tmp_path: Path, there: World) -> Open:
    @asynccontextmanager
    async def opened(*plans: Plan) -> AsyncIterator[RunningPlatform]:
        model = platform.scripted_model(*(plans or (effect_tools.plan(Send.name),)))
        async with platform.run_platform(
            home, tmp_path, model=model, tools=effect_tools.tools(there), settings=SETTINGS
        ) as running:
            yield running

    return opened


async def doubted(platform: RunningPlatform, session: str) -> tuple[str, ApprovalRequested]:
    """A turn whose effect is unknown, and the question about it."""
    turn = await platform.say("go", session=session)
    await platform.decide(await platform.asked(session=session), session=session)
    return turn, await platform.asked(session=session)


async def last(platform: RunningPlatform, session: str) -> StepChanged:
    return [event for event in await platform.logged(session) if isinstance(event, StepChanged)][-1]


async def closed(platform: RunningPlatform, session: str) -> ApprovalClosed:
    return await platform.until(ApprovalClosed, session=session, where=lambda event: event.outcome != "approved")


async def test_question_names_the_unknown_effect_and_its_key(opened: Open, there: World) -> None:
    async with opened() as platform:
        _, question = await doubted(platform, "key")
        assert (await last(platform, "key")).state is StepState.UNKNOWN
    (row,) = await there.made("key")
    assert (question.kind, question.tool, question.intent) == ("effect", Send.name, row["intent"])
    assert "nobody to ask" in question.detail


async def test_effect_that_happened_continues_the_turn_with_its_data(opened: Open) -> None:
    first, second = effect_tools.plan(Send.name, Near.name).steps
    linked = second.model_copy(update={"args": {"text": "x", "row": "$step(1).row"}, "depends_on": (1,)})
    async with opened(effect_tools.plan().model_copy(update={"steps": (first, linked)})) as platform:
        turn, question = await doubted(platform, "yes")
        await platform.find_out(question, session="yes", data={"row": 7}, reason="seen in the books")
        assert (await platform.ended(turn, session="yes")).state == "completed"
        assert (await platform.steps("yes")) == {1: StepState.SUCCEEDED, 2: StepState.SUCCEEDED}


async def test_effect_that_did_not_happen_counts_as_a_failed_step(opened: Open, there: World) -> None:
    async with opened(effect_tools.plan(Send.name, Near.name)) as platform:
        turn, question = await doubted(platform, "no")
        await platform.find_out(question, "did_not_happen", session="no")
        assert (await platform.ended(turn, session="no")).state == "completed"
        assert (await platform.steps("no")) == {1: StepState.FAILED, 2: StepState.SUCCEEDED}
    assert [verb for verb, _ in there.asked if verb == "run"] == ["run", "run"]  # the send, and the step behind it


async def test_turn_starts_nothing_else_while_an_effect_is_unknown(opened: Open) -> None:
    async with opened(effect_tools.plan(Send.name, Near.name)) as platform:
        await doubted(platform, "held")
        await platform.say("and now?", session="held")
        await platform.until(TurnQueued, session="held")
        assert (await platform.steps("held")) == {1: StepState.UNKNOWN}


async def test_the_turn_waits_until_its_deadline_and_the_question_longer(opened: Open) -> None:
    async with opened() as platform:
        turn, question = await doubted(platform, "late")
        await platform.later(LATER)
        ended = await platform.ended(turn, session="late")
        assert (ended.state, ended.reason) == ("failed", "EFFECT_UNKNOWN")
        assert [e.outcome for e in await platform.logged("late") if isinstance(e, ApprovalClosed)] == ["approved"]
        await platform.find_out(question, session="late", reason="it is in the books")
        answer = await closed(platform, "late")
        assert (answer.outcome, answer.turn_id, (await last(platform, "late")).state) == (
            "happened",
            turn,
            StepState.SUCCEEDED,
        )


async def test_answer_after_the_deadline_changes_only_its_step(opened: Open) -> None:
    async with opened(effect_tools.plan(Send.name), effect_tools.plan(Send.name)) as platform:
        turn, question = await doubted(platform, "next")
        await platform.later(LATER)
        await platform.ended(turn, session="next")
        following = await platform.say("again", session="next")
        asked = await platform.asked(session="next")
        await platform.find_out(question, "did_not_happen", session="next")
        assert (await closed(platform, "next")).outcome == "did_not_happen"
        await platform.decide(asked, session="next")
        assert (await platform.ended(following, session="next")).state == "completed"


@pytest.mark.requirement("A22a")
@pytest.mark.parametrize("after", [0.0, LATER])
async def test_a_second_answer_changes_nothing(opened: Open, after: float) -> None:
    session = f"twice-{after}"
    async with opened() as platform:
        turn, question = await doubted(platform, session)
        if after:
            await platform.later(after)
            await platform.ended(turn, session=session)
        await platform.find_out(question, session=session)
        await closed(platform, session)
        await platform.find_out(question, "did_not_happen", session=session)
        assert (await closed(platform, session)).outcome == "stale"
        assert (await last(platform, session)).state is StepState.SUCCEEDED


@pytest.mark.requirement("A22a")
@pytest.mark.parametrize("wrong", [{"digest": "other"}, {"verdict": "perhaps"}, {"scopes": ("chat",)}])
async def test_invalid_effect_answer_changes_nothing(opened: Open, wrong: dict[str, Any]) -> None:
    session = f"wrong-{'-'.join(wrong)}"
    async with opened() as platform:
        _, question = await doubted(platform, session)
        await platform.find_out(question, session=session, **wrong)
        assert (await closed(platform, session)).outcome == "stale"
        assert (await last(platform, session)).state is StepState.UNKNOWN


async def test_approval_does_not_answer_an_effect_question(opened: Open) -> None:
    async with opened() as platform:
        _, question = await doubted(platform, "approve")
        await platform.decide(question, session="approve")
        assert (await closed(platform, "approve")).outcome == "stale"


async def test_another_session_cannot_answer(opened: Open) -> None:
    async with opened() as platform:
        _, question = await doubted(platform, "mine")
        await platform.find_out(question, session="theirs")
        assert (await closed(platform, "theirs")).outcome == "stale"
        assert (await last(platform, "mine")).state is StepState.UNKNOWN


async def test_a_cancel_ends_the_turn_and_leaves_the_question(opened: Open) -> None:
    async with opened() as platform:
        turn, question = await doubted(platform, "gone")
        await platform.cancel(turn, session="gone")
        ended = await platform.ended(turn, session="gone")
        assert (ended.state, "not known" in ended.detail) == ("cancelled", True)
        await platform.find_out(question, session="gone")
        assert (await closed(platform, "gone")).outcome == "happened"
        await platform.quiet()


@pytest.mark.requirement("P6")
async def test_intents_outcomes_and_findings_are_recorded(opened: Open) -> None:
    async with opened() as platform:
        turn, question = await doubted(platform, "record")
        await platform.find_out(question, session="record", reason="I asked them")
        await platform.until(MessageCompleted, session="record")
        told = await platform.audited("record")
    calls = [(one.phase, one.verdict) for one in told if one.action == "tool.execute" and one.call_id]
    assert calls == [("decision", "allow"), ("intent", "begin"), ("outcome", "unknown")]
    decision, outcome = [one for one in told if one.action == "effect.resolve"]
    assert (decision.verdict, outcome.verdict, outcome.principal) == ("allow", "happened", WHO)
    assert (outcome.turn_id, "I asked them" not in str(told), list(outcome.digests)) == (turn, True, ["reason"])


async def abandoned(platform: RunningPlatform, session: str, gate: Gate) -> str:
    """A turn that ended because something about it could not be handled, while its call goes on."""
    turn = await platform.say("go", session=session)
    await platform.decide(await platform.asked(session=session), session=session)
    await gate.reached.wait()
    key = f"{TENANT}:{session}"
    cause = Cause.request("conversation_worker", id=ids.new(), tenant=TENANT, key=key, session=session, turn=turn)
    # What a dead letter of the turn leaves behind.
    lost = NewLease(ids.new(), LOST, {"turn_id": turn, "code": "GARBLED", "detail": "it could not be handled"})
    await platform.platform.writer.apply(Changeset(cause).start(lost))
    assert (await platform.ended(turn, session=session)).state == "failed"
    return turn


@pytest.mark.parametrize(("tool", "state"), [(Put.name, StepState.SUCCEEDED), (Send.name, StepState.UNKNOWN)])
async def test_late_result_of_a_call_is_recorded_after_its_turn(
    opened: Open, there: World, tool: str, state: StepState
) -> None:
    session = f"over-{tool}"
    there.trouble = gate = Gate("run:after", [ConnectionResetError("dead")] if tool == Send.name else [])
    async with opened(effect_tools.plan(tool)) as platform:
        await abandoned(platform, session, gate)
        gate.opened.set()
        if state is StepState.UNKNOWN:
            await platform.find_out(await platform.asked(session=session), session=session)
            assert (await closed(platform, session)).outcome == "happened"
        else:
            await platform.until(StepChanged, session=session, where=lambda event: event.state is state)
        assert (await last(platform, session)).state is StepState.SUCCEEDED
