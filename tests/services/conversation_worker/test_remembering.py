"""What a turn leaves to the next: the files that it has named, and why it came to nothing."""

from __future__ import annotations

from pathlib import Path

from libs.database import Dsns
from libs.events import ClarificationRequested, PlanRequested
from libs.events.committee import Exchange
from libs.events.values import Hitl
from libs.models.ports import ClarificationNeeded, PlanDraft
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

LOOK = plan(("manage-files.list", {"path": ".", "include": ["*.tmp"], "recursive": True}))
ALL = plan(("manage-files.list", {"path": "."}))
TIDY = plan(
    ("manage-files.list", {"path": ".", "include": ["*.tmp"]}),
    ("manage-files.delete", {"paths": "$step(1).nodes"}),
)
LOST = plan(("manage-files.list", {"path": "nowhere"}))
SCAN = plan(("remove-duplicates.scan", {"path": ".", "strategy": "hash"}))


async def left_by(at: RunningPlatform, *says: str, verdict: str = "approve") -> tuple[Exchange, ...]:
    """What the turn after these knows of them. Each that changes something is answered so."""
    for text in says:
        turn = await at.say(text, session="s", root=at.folder("a.tmp", "b.txt", "deep/c.tmp"), hitl=Hitl.BYPASS)
        if text == "tidy":
            await at.decide(await at.asked(session="s"), verdict, session="s")
        await at.ended(turn, session="s")
    await at.ended(await at.say("look", session="s"), session="s")
    planned = [event.task for event in await at.logged("s") if isinstance(event, PlanRequested)]
    return planned[-1].history


async def test_next_turn_knows_the_found_files(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(LOOK, LOOK)) as at:
        assert [sorted(each.shown) for each in await left_by(at, "find")] == [["a.tmp", "deep/c.tmp"]]


async def test_next_turn_knows_the_removable_copies(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(SCAN, LOOK)) as at:
        first = at.folder("a.tmp") / "a.tmp"
        (first.parent / "a (1).tmp").write_bytes(first.read_bytes())
        (told,) = await left_by(at, "scan")
        assert told.shown == ("a (1).tmp",)


async def test_next_turn_knows_the_files_of_a_denied_change(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TIDY, LOOK)) as at:
        (told,) = await left_by(at, "tidy", verdict="deny")
        assert (told.reason, told.shown) == ("DENIED", ("a.tmp",))


async def test_change_clears_the_remembered_files(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(LOOK, TIDY, LOOK)) as at:
        assert [each.shown for each in await left_by(at, "find", "tidy")] == [(), ()]


async def test_only_the_last_list_is_remembered(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(LOOK, ALL, LOOK)) as at:
        first, second = await left_by(at, "find", "list")
        assert (first.shown, "b.txt" in second.shown) == ((), True)


async def test_failed_turn_is_remembered_with_its_reason(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(("no.such", {})), LOOK)) as at:
        (told,) = await left_by(at, "lost")
        assert told.reason == "OUT_OF_REPLIES"
        assert told.answer


async def test_clarified_request_is_remembered(home: Dsns, tmp_path: Path) -> None:
    heard = (ClarificationNeeded("Which?"), PlanDraft(LOOK, wish="find the tmp files"), LOOK)
    async with run_platform(home, tmp_path, model=scripted_model(*heard)) as at:
        turn = await at.say("find them", session="s", root=at.folder("a.tmp"), hitl=Hitl.BYPASS)
        await at.until(ClarificationRequested, session="s")
        await at.say("the tmp files", session="s", answers=turn)
        await at.ended(turn, session="s")
        await at.ended(await at.say("look", session="s"), session="s")
        asked = [event.task for event in await at.logged("s") if isinstance(event, PlanRequested)]
        assert [(each.text, each.about) for each in asked[-1].history] == [("find them", "find the tmp files")]


async def test_a_step_that_failed_gives_the_reason_of_its_turn(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(LOST, LOOK)) as at:
        (told,) = await left_by(at, "look")
        assert told.reason == "NO_SUCH_PATH"


async def test_cancelled_question_leaves_no_files_to_those(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(LOOK, ClarificationNeeded("Which ones?"), LOOK)
    async with run_platform(home, tmp_path, model=model) as at:
        await at.ended(await at.say("find", session="s", root=at.folder("a.tmp")), session="s")
        narrowing = await at.say("only the good ones", session="s")
        await at.until(ClarificationRequested, session="s")
        await at.cancel(narrowing, session="s")
        await at.ended(narrowing, session="s")
        await at.ended(await at.say("look", session="s"), session="s")
        planned = [event.task for event in await at.logged("s") if isinstance(event, PlanRequested)]
        assert planned[-1].history[-1].shown == ()
