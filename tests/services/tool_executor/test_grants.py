"""Whoever can write to the bus cannot run a tool (A14a): a request runs only as and where it was granted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from libs import ids
from libs.database import Dsns
from libs.events import (
    CallsEraseRequested,
    EventDeadLettered,
    StepChanged,
    ToolDenied,
    ToolRequested,
    ToolSucceeded,
    TurnEnded,
)
from libs.events.values import Hitl
from libs.identity.grants import issue_erasure
from services.tool_executor.workspaces import GROUP, queries
from tests.support.platform import TENANT, RunningPlatform, plan, run_platform, scripted_model

MAKE = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))
HOUR = 3600.0


async def granted(at: RunningPlatform) -> ToolRequested:
    """A request that the conversation worker granted, after its turn has ended."""
    turn = await at.say("make", session="s", root=at.folder("a.txt"), hitl=Hitl.BYPASS)
    await at.finish(turn, session="s")
    return next(e for e in await at.logged("s") if isinstance(e, ToolRequested))


def forged(real: ToolRequested, **update: Any) -> ToolRequested:
    return real.model_copy(update={"call_id": ids.new(), **update})


@pytest.mark.requirement("A14a")
@pytest.mark.parametrize(
    "update",
    [{}, {"args": {"path": ".", "name": "m", "type": "directory"}}, {"grant": "forged"}, {"root": "/"}, {"scopes": ()}],
    ids=["another call", "other args", "no grant", "another root", "other scopes"],
)
async def test_an_altered_request_runs_nothing_and_is_recorded(home: Dsns, tmp_path: Path, update: Any) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        request = forged(await granted(at), **update)
        await at.publish(request, session="s")
        denied = await at.until(ToolDenied, session="s", where=lambda e: e.call_id == request.call_id)
        assert denied.link == "grant"
        records = [r for r in await at.audited("s") if r.call_id == request.call_id]
        assert [(r.phase, r.verdict, r.rule) for r in records] == [("decision", "deny", "grant")]


@pytest.mark.requirement("A14a", "A29")
async def test_grant_of_a_session_or_tenant_is_invalid_in_another(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        real = await granted(at)
        await at.publish(real.model_copy(update={"call_id": ids.new()}), session="other")
        assert (await at.until(ToolDenied, session="other")).link == "grant"
        await at.publish(real, session="s", tenant="foreign")
        assert (await at.until(ToolDenied, session="s")).link == "grant"


@pytest.mark.requirement("A14")
async def test_a_request_replayed_after_its_turn_is_stale(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        real = await granted(at)
        before = len([e for e in await at.logged("s") if isinstance(e, ToolSucceeded | TurnEnded)])
        await at.publish(real, session="s")
        while (await at.audited("s"))[-1].verdict != "stale":
            await at.platform.bus.waiting()
        await at.quiet()
        after = len([e for e in await at.logged("s") if isinstance(e, ToolSucceeded | TurnEnded)])
        assert before == after
        begun = [r for r in await at.audited("s") if (r.call_id, r.phase) == (real.call_id, "intent")]
        assert len(begun) == 1


@pytest.mark.requirement("A12")
async def test_repeated_result_counts_once(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        await granted(at)
        result = next(e for e in await at.logged("s") if isinstance(e, ToolSucceeded))
        steps = len([e for e in await at.logged("s") if isinstance(e, StepChanged)])
        for _ in range(10):
            await at.publish(result, session="s")
        turn = await at.say("again", session="s")
        await at.ended(turn, session="s")
        assert len([e for e in await at.logged("s") if isinstance(e, StepChanged)]) == steps


@pytest.mark.requirement("A14a")
async def test_a_grant_that_has_expired_runs_nothing(home: Dsns, tmp_path: Path) -> None:
    settings = {"conversation_worker": {"grant_seconds": 1e-6}}
    async with run_platform(home, tmp_path, model=scripted_model(MAKE), settings=settings) as at:
        await at.say("make", session="s", root=at.folder(), hitl=Hitl.BYPASS)
        denied = await at.until(ToolDenied, session="s")
        assert (denied.link, "expired" in denied.reason) == ("grant", True)
        await at.quiet()
        assert not any(record.phase == "intent" for record in await at.audited("s"))


@pytest.mark.requirement("A8", "A14a")
async def test_executor_refuses_a_call_that_policy_does_not_decide(home: Dsns, tmp_path: Path) -> None:
    """Only the executor asks about a drop."""
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        turn = await at.say("make", session="s", root=at.folder(), hitl=Hitl.BYPASS)
        await at.asked(session="s")
        at.judge.silent.add("workspace.commit")
        asked = at.judge.asked.count("workspace.commit")
        await at.cancel(turn, session="s")
        while at.judge.asked.count("workspace.commit") == asked:
            await at.platform.bus.waiting()
        await at.later(61)
        denied = await at.until(ToolDenied, session="s")
        assert (denied.link, denied.reason.split(":")[0]) == ("policy", "POLICY_UNAVAILABLE")
        assert (await at.ended(turn, session="s")).state == "cancelled"


@pytest.mark.requirement("A14a")
async def test_calls_are_erased_only_with_their_sessions_grant(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        await granted(at)
        keys, before = at.platform.keys, await kept(at)
        assert before
        for grant in ("forged", issue_erasure(keys, TENANT, "other"), issue_erasure(keys, "foreign", "s")):
            await at.publish(CallsEraseRequested(grant=grant), session="s")
            await at.until(EventDeadLettered, session="s")
            assert await kept(at) == before
        await at.publish(CallsEraseRequested(grant=issue_erasure(keys, TENANT, "s")), session="s")
        while await kept(at):
            await at.platform.bus.waiting()


async def kept(at: RunningPlatform) -> int:
    return len(await at.platform.database.rows(GROUP, TENANT, queries.held, session="s"))
