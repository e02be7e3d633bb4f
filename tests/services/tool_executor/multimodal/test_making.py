"""A call that makes an asset: its attempts, its result, what policy and the flag forbid, and what a crash leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from libs.database import Dsns
from libs.events import ToolSucceeded
from libs.multimodal.ports import Producer
from libs.objects import bodies
from tests.support import platform, producers
from tests.support.platform import RunningPlatform, plan, scripted_model, skills
from tests.support.producers import SVG, Drawing

SOURCE: dict[str, Any] = {"title": "Parts", "source": "flowchart LR; a-->b"}
Start = Callable[..., AbstractAsyncContextManager[RunningPlatform]]


@pytest.fixture
def start(home: Dsns, tmp_path: Path) -> Start:
    """Run a platform with these producers and one plan of these calls."""

    @asynccontextmanager
    async def started(
        *makers: Producer, calls: tuple[tuple[str, dict[str, Any]], ...], enabled: bool = True, **ports: Any
    ) -> AsyncIterator[RunningPlatform]:
        producers.PRODUCERS[:] = makers
        settings = {"tool_executor": {"multimodal": {"producers": ["tests.support.producers:given"]}}}
        async with platform.run_platform(
            home,
            tmp_path,
            model=scripted_model(plan(*calls)),
            skills=replace(skills(), multimodal=enabled),
            settings=settings,
            **ports,
        ) as at:
            yield at

    return started


async def run(at: RunningPlatform, *, session: str = "s") -> list[Any]:
    """Say something, approve everything, and return the session's events."""
    turn = await at.say("draw it", session=session, root=at.folder("a.txt"))
    await at.finish(turn, session=session)
    return await at.logged(session)


def first(events: list[Any], kind: type[Any]) -> Any:
    return next(event for event in events if isinstance(event, kind))


async def result(at: RunningPlatform, events: list[Any]) -> dict[str, Any]:
    data: dict[str, Any] = await bodies.load(at.platform.objects, platform.TENANT, first(events, ToolSucceeded).data)
    return data


async def attempts(at: RunningPlatform) -> list[tuple[str, str]]:
    async with at.platform.database.read("tool_executor", platform.TENANT) as reader:
        rows = await reader.fetch("select provider, status from executor.multimodal_executions order by at, attempt")
    return [(row["provider"], row["status"]) for row in rows]


@pytest.mark.requirement("S3-15", "S3-38")
async def test_diagram_becomes_an_asset_and_a_staged_file(start: Start) -> None:
    maker = Drawing()
    call = ("make-documents.diagram", {**SOURCE, "save_as": "docs/parts.svg"})
    async with start(maker, calls=(call,)) as at:
        events = await run(at)
        made = await result(at, events)
        assert (made["provider"], made["tool_id"], made["media_type"]) == ("test", "drawing", "image/svg+xml")
        assert (at.root / "work" / "docs" / "parts.svg").read_bytes() == SVG
        assert await attempts(at) == [("test", "succeeded")]
        assert maker.briefs[0].source == SOURCE["source"]


@pytest.mark.requirement("S3-13")
async def test_switched_off_the_tools_neither_appear_nor_run(start: Start) -> None:
    maker = Drawing()
    async with start(maker, calls=(("make-documents.diagram", SOURCE),), enabled=False) as at:
        events = await run(at)
        assert not [event for event in events if isinstance(event, ToolSucceeded)]
        assert "make-documents.diagram" not in {tool.name for tool in at.platform.skills.tools_for(platform.TENANT)}
    assert maker.briefs == []
