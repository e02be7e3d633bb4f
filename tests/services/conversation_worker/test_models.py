"""A turn that thinks with a real model: a vendor on a real port plans, judges and answers, and fails by script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from libs.budgets import Limits
from libs.budgets.postgres import PostgresBudgets
from libs.cache.ports import Delta, Stream, StreamEntry
from libs.database import Database, Dsns
from libs.events import MessageCompleted
from libs.models.choice import Key, chosen
from libs.models.vendors import Bounds, Price, VendorModel, opened
from libs.resilience import GuardedCalls, State
from libs.runtime.health import Health
from tests.infrastructure import PLENTY
from tests.infrastructure.vendor import APPROVED, KEY, Turn, Vendor, planned, refused, said, vendor
from tests.support.platform import RunningPlatform, run_platform

LIST = planned(("manage-files.list", {"path": "."}))
MAKE = planned(
    ("manage-files.list", {"path": "."}),
    ("manage-files.create", {"path": ".", "name": "new", "type": "directory"}),
)


LEFT = "select extract(epoch from due_at - bus.now()) from bus.leases where owner is null and attempts > 0"


class Watched:
    """Deltas as a viewer gets them: a later attempt replaces what the earlier one said."""

    def __init__(self) -> None:
        self.heard: list[Delta] = []

    async def append(self, stream: Stream, delta: Delta) -> None:
        self.heard.append(delta)

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, list[StreamEntry]]:
        return {}

    @property
    def seen(self) -> str:
        last = max((delta.attempt for delta in self.heard), default=0)
        return "".join(delta.text for delta in self.heard if delta.attempt == last)


class Scenario:
    def __init__(self, at: RunningPlatform, there: Vendor, watched: Watched) -> None:
        self.at, self.there, self.watched = at, there, watched

    async def say(self, text: str = "list my files") -> str:
        return await self.at.say(text, session="s", root=self.at.folder("a.txt", "b.txt"))

    async def answer(self) -> MessageCompleted:
        return await self.at.until(MessageCompleted, session="s")

    async def waits(self) -> float:
        """Seconds until the lease that was given back falls due."""
        pool = await self.at.platform.database.bus()
        async with asyncio.timeout(60):
            while (left := await pool.fetchval(LEFT)) is None:
                await self.at.platform.bus.waiting()
        return float(left)

    @property
    def forms(self) -> list[str]:
        return [asked.form or "words" for asked in self.there.asked]


@asynccontextmanager
async def scenario(
    home: Dsns, folder: Path, *turns: Turn, limits: Limits = PLENTY, **bounds: float
) -> AsyncIterator[Scenario]:
    """A house that thinks with a vendor which plays these turns, and pays for it within these limits."""
    guarded_calls, watched, database = GuardedCalls(), Watched(), Database(home)
    async with vendor(*turns) as there, AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        which = chosen("openai:toy", url=there.url, key=Key(SecretStr(KEY), None, {}), output="tool")
        line = await stack.enter_async_context(opened(which, Bounds(**bounds)))  # type: ignore[arg-type]
        guard, budgets = guarded_calls.to("model"), PostgresBudgets(database, limits)
        model = VendorModel(line, guard, price=Price(1, 2), now=lambda: datetime.now(UTC), budgets=budgets)
        async with run_platform(
            home, folder, model=model, deltas=watched, guarded_calls=guarded_calls, budgets=budgets
        ) as at:
            yield Scenario(at, there, watched)


async def test_vendor_model_plans_acts_and_streams_its_answer(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, LIST, said("There are ", "two ", "files.")) as on:
        turn = await on.say()
        answer, ended = await on.answer(), await on.at.ended(turn, session="s")
        used = ended.usage.input_tokens, ended.usage.cost_micros
        assert (answer.text, on.forms) == ("There are two files.", ["propose", "words"])
        assert [delta.text for delta in on.watched.heard] == ["There are ", "two ", "files."]
        assert (answer.usage.input_tokens, answer.usage.cost_micros) == (200, 280) == used
        assert "a.txt" in on.there.asked[1].text


@pytest.mark.requirement("S0-16")
async def test_change_is_judged_by_the_model_before_it_happens(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, MAKE, APPROVED, said("Made.")) as on:
        turn = await on.say("make a folder new")
        assert (await on.at.finish(turn, session="s")).state == "completed"
        assert on.forms == ["propose", "judge", "words"]
        assert (on.at.root / "work" / "new").is_dir()


@pytest.mark.requirement("S0-20")
async def test_critic_answering_in_prose_is_no_approval(home: Dsns, tmp_path: Path) -> None:
    talk = said("I think this is fine, go ahead!")
    async with scenario(home, tmp_path, MAKE, talk, MAKE, talk, MAKE, talk) as on:
        turn = await on.say("make a folder new")
        ended = await on.at.ended(turn, session="s")
        assert (ended.state, ended.reason) == ("refused", "COMMITTEE_REJECTED")
        assert not (on.at.root / "work" / "new").exists()


async def test_model_repairs_its_invalid_plan(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, said("Sure, I will list them!"), LIST, said("Two.")) as on:
        await on.say()
        assert (await on.answer()).usage.input_tokens == 300
        assert on.forms == ["propose", "propose", "words"]


async def test_model_that_only_talks_ends_the_turn_without_calls(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, *[said("Let me think about that.")] * 3) as on:
        ended = await on.at.ended(await on.say(), session="s")
        assert (ended.state, ended.reason) == ("failed", "MODEL_OUTPUT_INVALID")
        assert await on.at.steps("s") == {}
        assert len(on.there.asked) == 3


async def test_busy_vendor_is_retried_after_its_retry_after(home: Dsns, tmp_path: Path) -> None:
    busy = refused(429, retry_after_ms="30")
    async with scenario(home, tmp_path, busy, busy, LIST, busy, said("Two.")) as on:
        turn = await on.say()
        assert (await on.answer()).text == "Two."
        assert (await on.at.ended(turn, session="s")).state == "completed"


async def test_vendor_that_asks_for_half_a_minute_gets_it(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, refused(429, retry_after="30"), LIST, said("Two.")) as on:
        await on.say()
        await on.there.heard(1)
        assert 20 < await on.waits() <= 30, "not the second that we would wait of ourselves"
        await on.at.later(31)
        assert (await on.answer()).text == "Two."


async def test_health_reports_an_absent_model_and_closes_its_circuit_later(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, *[refused(500)] * 5) as on:
        on.there.listed = 503
        await on.say()
        health, guard = Health(on.at.platform), on.at.platform.guarded_calls.to("model")
        async with asyncio.timeout(60):
            while guard.state is not State.OPEN:
                await on.at.platform.bus.waiting()
        await health.look()
        assert (health.checks["model"].ok, guard.state) == (False, State.OPEN)
        assert "model" not in str(health.problems()), "a platform without its model still shows what it has"
        on.there.listed = 200
        async with asyncio.timeout(60):
            while guard.state is State.OPEN:
                await health.look()


async def test_a_refused_key_ends_the_turn_at_once_by_name(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, refused(401, f"bad key {KEY}")) as on:
        ended = await on.at.ended(await on.say(), session="s")
        assert (ended.state, ended.reason, len(on.there.asked)) == ("failed", "MODEL_KEY_REFUSED", 1)


async def test_hanging_model_call_is_abandoned_and_repeated(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, Turn(hangs=True), LIST, said("Two."), first=1.5) as on:
        await on.say()
        assert (await on.answer()).text == "Two."
        assert on.there.left == 1


async def test_interrupted_answer_is_repeated_once_completely(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, LIST, said("There are tw", breaks=True), said("There ", "are two.")) as on:
        await on.say()
        assert (await on.answer()).text == "There are two."
        assert on.watched.heard[0].text == "There are tw"
        assert on.watched.seen == "There are two."


async def test_failed_answer_reports_the_completed_steps(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, MAKE, APPROVED, refused(400, "no such field")) as on:
        turn = await on.say("make a folder new")
        ended = await on.at.finish(turn, session="s")
        assert (ended.state, ended.reason) == ("failed", "MODEL_REFUSED")
        assert "2 of 2 steps are done and stay so" in ended.detail
        assert (on.at.root / "work" / "new").is_dir()


@pytest.mark.requirement("A23")
@pytest.mark.parametrize("turns", [(Turn(hangs=True),), (LIST, said("Once upon", hangs=True))])
async def test_a_cancel_closes_the_call_at_once(home: Dsns, tmp_path: Path, turns: tuple[Turn, ...]) -> None:
    async with scenario(home, tmp_path, *turns) as on:
        turn = await on.say()
        await on.there.heard(len(turns))
        await on.at.cancel(turn, session="s")
        assert (await on.at.ended(turn, session="s")).state == "cancelled"
        await on.there.gone()


async def test_the_key_is_in_nothing_that_was_written(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, LIST, refused(400, f"odd key {KEY}")) as on:
        await on.at.ended(await on.say(), session="s")
        await on.at.quiet()
        events = "".join(event.model_dump_json() for event in await on.at.logged("s"))
        files = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert (KEY in events, KEY.encode() in files) == (False, False)
