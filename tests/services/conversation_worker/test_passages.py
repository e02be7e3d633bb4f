"""Retrieval before planning: a plan is given the passages of files that fit, as far as they may be read (S0-27)."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import Passage, PlanRequested, ToolRequested
from libs.events.values import Hitl
from libs.models.ports import Answered
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

SEARCH = ("search-files.search", {"query": "harbour", "top_k": 3, "path": "."})
LIST = ("manage-files.list", {"path": "."})
ASKED = "what does the dentist say about the crown in his letter?"
LETTER = "Dear Ann,\n\nthe dentist says in his letter: the crown must be replaced.\n"


async def given(at: RunningPlatform, text: str = ASKED, session: str = "s") -> tuple[Passage, ...]:
    """Return the passages that the planner is given for a message, once another session has indexed the folder."""
    for said, where in (("search", "other"), (text, session)):
        turn = await at.say(said, session=where, root=at.folder(), hitl=Hitl.BYPASS)
        await at.finish(turn, session=where)
    return next(e.task.passages for e in await at.logged(session) if isinstance(e, PlanRequested))


@pytest.mark.requirement("S0-27", "S0-08")
async def test_a_plan_is_given_the_passage_with_file_and_lines(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), Answered("Replaced."))) as at:
        (at.folder("notes.txt") / "letter.txt").write_text(LETTER)
        assert await given(at) == (Passage(path="letter.txt", first=1, last=3, text=LETTER.strip()),)


async def test_a_request_about_no_file_is_given_none(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), plan(LIST))) as at:
        (at.folder() / "letter.txt").write_text(LETTER)
        assert await given(at, "list the files") == ()


async def test_a_changed_file_is_given_with_its_new_text(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(plan(SEARCH), Answered("a"), plan(SEARCH), Answered("b"))
    async with run_platform(home, tmp_path, model=model) as at:
        (at.folder() / "letter.txt").write_text(LETTER)
        await given(at)
        (at.folder() / "letter.txt").write_text(LETTER.replace("replaced", "repaired with gold"))
        [passage] = await given(at, session="t")
        assert "repaired with gold" in passage.text


@pytest.mark.parametrize("name", ["credentials", "secrets.txt"])
async def test_a_file_named_like_a_secret_is_not_given(home: Dsns, tmp_path: Path, name: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), plan(LIST))) as at:
        (at.folder() / name).write_text(LETTER)
        assert await given(at) == ()


async def test_denied_reads_give_no_passages_and_are_recorded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), Answered("No."))) as at:
        (at.folder() / "letter.txt").write_text(LETTER)
        turn = await at.say("search", session="other", root=at.folder(), hitl=Hitl.BYPASS)
        await at.finish(turn, session="other")
        at.judge.denied.add("tool.execute")
        turn = await at.say(ASKED, session="s", root=at.folder(), hitl=Hitl.BYPASS)
        await at.finish(turn, session="s")
        [asked] = [e for e in await at.logged("s") if isinstance(e, PlanRequested)]
        assert asked.task.passages == ()
        assert ("tool.execute", "deny") in {(one.action, one.verdict) for one in await at.audited("s")}


@pytest.mark.requirement("S0-27")
async def test_passages_mark_the_session_as_untrusted(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), plan(LIST))) as at:
        (at.folder() / "letter.txt").write_text(LETTER)
        assert await given(at)
        [call] = [e for e in await at.logged("s") if isinstance(e, ToolRequested)]
        assert (call.touched.private, call.touched.untrusted, call.touched.secret) == (True, True, False)
