"""Facts about a person across sessions: remembered by a tool, given to later plans and answers, and forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import (
    ActionRecorded,
    ApprovalRequested,
    FactsForgotten,
    FactStated,
    KnownFact,
    MessageCompleted,
    PlanRequested,
    ToolDenied,
    ToolSucceeded,
    Touched,
)
from libs.events.committee import Task
from libs.models.ports import ModelText, PlanDraft
from tests.support.platform import SERVICES, TENANT, RunningPlatform, plan, run_platform, scripted_model
from tests.support.scripted import Scripted

ALL = (*SERVICES, "memory_service")
TEXT = "invoices go to Finance/2026"
REMEMBER = plan(("memory.remember", {"text": TEXT, "subject": "invoices", "key": "go to", "value": "Finance/2026"}))
LIST = plan(("manage-files.list", {"path": "."}))
READ = plan(("edit-files.read", {"path": "page.txt"}), complete=False)


async def ends(at: RunningPlatform, text: str, session: str, **more: Any) -> str:
    """Say it, and return the answer once all of it is done."""
    await at.ended(turn := await at.say(text, session=session, **more), session=session)
    await kept(at, session)
    said = [event for event in await at.logged(session) if isinstance(event, MessageCompleted)]
    return next((event.text for event in said if event.turn_id == turn), "")


async def kept(at: RunningPlatform, session: str) -> None:
    """Wait until the memory service has handled what a session asked to remember or to forget."""
    for event in await at.logged(session):
        facts = event.facts[:1] if isinstance(event, FactsForgotten) else ()
        for id in (event.fact_id,) if isinstance(event, FactStated) else facts:
            await at.until(ActionRecorded, session=session, where=partial(_is_about, id))


def _is_about(id: str, record: ActionRecorded) -> bool:
    return record.resource == id


async def given(at: RunningPlatform, session: str) -> Sequence[KnownFact]:
    """Return the facts that the last plan of a session was asked for with."""
    return [event for event in await at.logged(session) if isinstance(event, PlanRequested)][-1].task.facts


def moved(at: RunningPlatform, folder: str) -> Path:
    return at.folder("invoice-1.pdf", "notes.txt", at=folder)


@pytest.mark.requirement("S2-26", "S2-28", "S0-08")
async def test_a_fact_changes_a_plan_of_the_next_session(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, names=ALL) as at:
        assert "I will remember" in await ends(at, f"remember that {TEXT}", "one")
        folder = moved(at, "two")
        await at.finish(await at.say("put away the invoices", session="two", root=folder), session="two")
        assert (folder / "Finance" / "2026" / "invoice-1.pdf").exists()
        assert "Finance/2026" in await ends(at, "where do invoices go?", "three")


class Noting(Scripted):
    """Keeps the facts of its last answer."""

    known: tuple[KnownFact, ...] = ()

    @override
    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        self.known = task.facts
        async for text in super().answer(task):
            yield text


async def test_a_models_plans_and_answers_get_the_facts(home: Dsns, tmp_path: Path) -> None:
    approved = ['{"approved": true}'] * 2
    model = Noting(plans=map(PlanDraft, (REMEMBER, LIST)), reviews=approved, answers=[("do", "ne")] * 2)
    async with run_platform(home, tmp_path, names=ALL, model=model) as at:
        await ends(at, f"remember that {TEXT}", "one")
        await ends(at, "tidy up", "two", root=moved(at, "two"))
        [fact] = await given(at, "two")
        assert (fact.subject, fact.key, fact.value) == ("invoices", "go to", "Finance/2026")
        assert (model.known, fact.touched.untrusted) == ((fact,), False)


async def test_forgetting_ends_a_fact_for_every_session(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, names=ALL) as at:
        await ends(at, f"remember that {TEXT}", "one")
        assert await ends(at, "forget where invoices go", "two") == "Forgot 1 fact."
        await ends(at, "what do you remember about me?", "three")
        assert await given(at, "three") == ()
        pool = at.platform.database
        async with pool.read("memory_service", TENANT) as connection:
            rows = await connection.fetch("select text from memory.memories")
        assert not [row["text"] for row in rows if "Finance" in row["text"]]


async def test_an_interrupted_call_states_its_fact_once(home: Dsns, tmp_path: Path) -> None:
    attempts: list[str] = []

    def failing(point: str) -> None:
        if point == "tool_executor:tool:run:after":
            attempts.append(point)
            if len(attempts) == 1:
                raise Unavailable("interrupted")

    async with run_platform(home, tmp_path, names=ALL, point=failing) as at:
        await ends(at, f"remember that {TEXT}", "one")
        assert len(attempts) == 2
        assert len([event for event in await at.logged("one") if isinstance(event, FactStated)]) == 1
        await ends(at, "what do you remember about me?", "two")
        assert len(await given(at, "two")) == 1


async def test_forgetting_the_unknown_changes_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, names=ALL) as at:
        assert await ends(at, "forget my bank", "one") == "I do not remember that."
        assert not [event for event in await at.logged("one") if isinstance(event, FactsForgotten)]


@pytest.mark.requirement("S3-53")
async def test_remembering_needs_the_scope_of_memory(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, names=ALL) as at:
        scopes = ("chat", "files:read", "files:write")
        await ends(at, f"remember that {TEXT}", "one", scopes=scopes)
        assert [event.link for event in await at.logged("one") if isinstance(event, ToolDenied)] in ([], ["policy"])
        assert not [event for event in await at.logged("one") if isinstance(event, FactStated)]


@pytest.mark.requirement("S3-52")
async def test_a_fact_from_a_file_is_approved_and_stays_untrusted(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(READ, plan(("memory.remember", {"text": "my bank is Evil"})), LIST, LIST)
    async with run_platform(home, tmp_path, names=ALL, model=model) as at:
        folder = at.folder("page.txt")
        turn = await at.say("read page.txt", session="one", root=folder)
        question = await at.asked(session="one")
        assert isinstance(question, ApprovalRequested)
        assert not [event for event in await at.logged("one") if isinstance(event, FactStated)]
        await at.decide(question, session="one")
        await at.ended(turn, session="one")
        await kept(at, "one")
        [stated] = [event for event in await at.logged("one") if isinstance(event, FactStated)]
        assert (stated.source, stated.touched.untrusted) == ("person", True)
        await ends(at, "list", "two", root=folder)
        assert [fact.touched.untrusted for fact in await given(at, "two")] == [True]
        touched = [event.touched for event in await at.logged("two") if isinstance(event, ToolSucceeded)]
        assert touched == [Touched(private=True, untrusted=False, secret=False)]
        state = await marks(at, "two")
        assert state == {"private": True, "untrusted": True, "secret": False}


async def marks(at: RunningPlatform, session: str) -> Mapping[str, bool]:
    """Return what a session rests on, as its next question to policy says."""
    await at.ended(await at.say("list", session=session), session=session)
    told = [about for action, about in at.judge.told if action == "tool.execute" and about["session"] == session]
    touched: Any = told[-1]["touched"]
    return dict(touched)
