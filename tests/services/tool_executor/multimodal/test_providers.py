"""A picture by a configured provider, judged by a configured model: through the executor, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from libs.budgets import Amount, Limits
from libs.budgets.postgres import PostgresBudgets
from libs.database import Dsns
from libs.events import ToolFailed, ToolSucceeded
from libs.objects import bodies
from libs.resilience import State
from tests.infrastructure import FEW, databases
from tests.infrastructure.fake_images import Images, chatted, images, openai, told
from tests.libs.documents.test_pictures import drawn
from tests.libs.multimodal.test_critic import picture
from tests.support import platform
from tests.support.platform import RunningPlatform, plan, scripted_model, skills

PICTURE = drawn("PNG", (1024, 1024))
CALL = ("make-documents.picture", {"title": "A cat", "prompt": "a cat on a roof", "rubric": {"relevance": 0.7}})

HEALTHY = {"/models": told({"data": []})}
"""The answer to a health check, which comes at any time."""


def judged(relevance: float, critique: str = "Show the roof.") -> Any:
    return chatted(json.dumps({"scores": {"relevance": relevance}, "critique": [critique]}))


@asynccontextmanager
async def started(
    home: Dsns, place: Path, paint: Images, eye: Images | None = None, **ports: Any
) -> AsyncIterator[RunningPlatform]:
    """Run a platform with this provider and this judge."""
    provider = {"kind": "openai", "url": paint.url, "private": True, "model": "dall-e-3", "cost_micros": 40_000}
    settings: dict[str, Any] = {"image_providers": {"paint": provider}}
    if eye is not None:
        settings["vision"] = {
            "url": eye.url,
            "private": True,
            "model": "toy-vision",
            "input_price": 2,
            "output_price": 8,
        }
    async with platform.run_platform(
        home,
        place,
        model=scripted_model(plan(CALL), plan(CALL)),
        skills=replace(skills(), multimodal=True),
        settings={"tool_executor": settings},
        **ports,
    ) as at:
        yield at


async def run(at: RunningPlatform, kind: type[Any], session: str = "s") -> Any:
    """Let the picture be made, and return how its call ended."""
    turn = await at.say("paint a cat", session=session, root=at.folder("a.txt"))
    await at.finish(turn, session=session)
    return next(event for event in await at.logged(session) if isinstance(event, kind))


@pytest.mark.requirement("S3-24", "A33")
async def test_picture_is_made_again_with_the_critique_of_the_judge(home: Dsns, tmp_path: Path) -> None:
    async with (
        images(openai(PICTURE), **HEALTHY) as paint,
        images(judged(0.2), judged(0.9)) as eye,
        started(home, tmp_path, paint, eye) as at,
    ):
        done = await run(at, ToolSucceeded)
        made = await bodies.load(at.platform.objects, platform.TENANT, done.data)
    assert (made["provider"], made["rework"], made["quality"]) == ("paint", 1, 0.9)
    prompts = [json.loads(body)["prompt"] for _, _, body in paint.posts("POST")]
    assert [("Show the roof." in prompt) for prompt in prompts] == [False, True]


@pytest.mark.requirement("S3-19", "S3-25")
async def test_judge_is_paid_by_the_turn(home: Dsns, tmp_path: Path) -> None:
    async with (
        images(openai(PICTURE), **HEALTHY) as paint,
        images(judged(0.9)) as eye,
        started(home, tmp_path, paint, eye) as at,
    ):
        await run(at, ToolSucceeded)
        account = (await at.platform.budgets.accounts(platform.TENANT, "s")).tenant
    assert (account.tokens.spent, account.cost_micros.spent) == (1000, 40_000 + 900 * 2 + 100 * 8)
    assert (account.tokens.reserved, account.cost_micros.reserved) == (0, 0)


@pytest.mark.requirement("S3-19", "S3-24")
async def test_picture_is_judged_by_measures_where_the_budget_ends(home: Dsns, tmp_path: Path) -> None:
    # Less than is reserved for one verdict.
    little, database = Amount(5_000, 10**9), databases.database(home, FEW)
    painted = picture(width=1024, height=1024, ink=500)[1].data
    budgets = PostgresBudgets(database, Limits(little, little, little))
    async with (
        images(openai(painted), **HEALTHY) as paint,
        images(judged(0.9)) as eye,
        started(home, tmp_path, paint, eye, budgets=budgets) as at,
    ):
        done = await run(at, ToolSucceeded)
    await database.close()
    assert eye.asked == []
    assert "the next one judged" in done.warnings[0]


@pytest.mark.requirement("A33")
async def test_503_of_a_provider_is_surfaced_and_opens_the_circuit(home: Dsns, tmp_path: Path) -> None:
    async with images(told({}, 503), **HEALTHY) as paint, started(home, tmp_path, paint) as at:
        failed = [await run(at, ToolFailed, session) for session in ("s", "s2")]
        assert at.platform.guarded_calls.to("images:paint").state is State.OPEN
        async with at.platform.database.read("tool_executor", platform.TENANT) as reader:
            rows = await reader.fetch("select status, cost_micros, error from executor.multimodal_executions")
    assert all("HTTP 503" in each.error or "circuit open" in each.error for each in failed)
    assert {(row["status"], row["cost_micros"]) for row in rows} == {("failed", 0)}
    assert all("HTTP 503" in row["error"] for row in rows)
