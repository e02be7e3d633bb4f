"""Knowledge in plans: passages of the author's bases that fit, with their place, as data, as far as policy allows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from libs.clients import knowledge
from libs.database import Dsns
from libs.events import Passage, PlanRequested, ToolRequested
from libs.events.values import Hitl
from libs.models.ports import Answered, Model
from tests.libs.documents.samples import pdf
from tests.services.memory_service.running import Points
from tests.support.platform import SERVICES, TENANT, WHO, RunningPlatform, plan, run_platform, scripted_model

RULE = "Invoices of the landlord go to Finance/2026."
ASKED = "where do invoices of the landlord go?"
LIST = ("manage-files.list", {"path": "."})


@asynccontextmanager
async def informed(
    home: Dsns, folder: Path, model: Model | None = None, *, who: str = WHO, **files: bytes
) -> AsyncIterator[RunningPlatform]:
    """Run a platform whose person has a knowledge base of these files."""
    points, names = Points(), (*SERVICES, "memory_service")
    async with run_platform(home, folder, model=model, names=names, point=points) as at:
        (at.root / "house").mkdir()
        for name, content in files.items():
            (at.root / "house" / name.replace("_dot_", ".")).write_bytes(content)
        about = {"source": str(at.root / "house"), "scopes": ["memory"]}
        await knowledge.add(at.platform, TENANT, who, "house", about)
        await points.passed("memory_service:knowledge:finish:after", 1)
        yield at


async def given(at: RunningPlatform, **message: Any) -> tuple[Passage, ...]:
    """Return the passages that the planner is given for a message in a session without a folder."""
    turn = await at.say(ASKED, session="s", **message)
    await at.finish(turn, session="s")
    return next(e.task.passages for e in await at.logged("s") if isinstance(e, PlanRequested))


@pytest.mark.requirement("S0-27")
async def test_plan_is_given_the_passage_with_base_and_place(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(Answered("Finance/2026."))
    async with informed(home, tmp_path, model, rules_dot_pdf=pdf("Plums are blue.", RULE)) as at:
        expected = Passage(path="rules.pdf", first=2, last=2, unit="page", text=RULE, base="house")
        assert await given(at) == (expected,)


async def test_base_of_another_person_is_not_given(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(Answered("I do not know."))
    async with informed(home, tmp_path, model, who="bob", rules_dot_md=RULE.encode()) as at:
        assert await given(at) == ()


async def test_knowledge_needs_the_scope_to_read_files(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(Answered("I do not know."))
    async with informed(home, tmp_path, model, rules_dot_md=RULE.encode()) as at:
        assert await given(at, scopes=("chat", "memory")) == ()
        assert ("workspace.read", "deny") in {(one.action, one.verdict) for one in await at.audited("s")}


async def test_silent_policy_gives_no_knowledge(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(Answered("I do not know."))
    async with informed(home, tmp_path, model, rules_dot_md=RULE.encode()) as at:
        at.judge.silent.add("workspace.read")
        assert await given(at) == ()


@pytest.mark.requirement("S0-27")
async def test_knowledge_marks_the_session_as_untrusted(home: Dsns, tmp_path: Path) -> None:
    async with informed(home, tmp_path, scripted_model(plan(LIST)), rules_dot_md=RULE.encode()) as at:
        assert await given(at, root=at.folder("notes.txt"), hitl=Hitl.BYPASS)
        [call] = [e for e in await at.logged("s") if isinstance(e, ToolRequested)]
        assert (call.touched.private, call.touched.untrusted, call.touched.secret) == (True, True, False)
