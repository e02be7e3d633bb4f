"""A call that makes an asset: its attempts, its result, what policy and the flag forbid, and what a crash leaves."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from libs.budgets import Amount, Limits
from libs.budgets.postgres import PostgresBudgets
from libs.cache.redis import RedisCache, connect
from libs.clients import memory
from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import OutcomeRecorded, ToolFailed, ToolSucceeded
from libs.multimodal.ports import Brief, Producer, StepType
from libs.objects import bodies
from services.tool_executor.multimodal.outcomes import outcomes
from tests.infrastructure import FEW, databases
from tests.libs.cache.servers import running
from tests.support import platform, producers
from tests.support.platform import RunningPlatform, plan, scripted_model, skills
from tests.support.producers import PICTURES, PLAIN, SVG, Drawing

SOURCE: dict[str, Any] = {"title": "Parts", "source": "flowchart LR; a-->b"}
Start = Callable[..., AbstractAsyncContextManager[RunningPlatform]]


@pytest.fixture
def start(home: Dsns, tmp_path: Path) -> Start:
    """Run a platform with these producers and one plan of these calls."""

    @asynccontextmanager
    async def started(
        *makers: Producer,
        calls: tuple[tuple[str, dict[str, Any]], ...],
        enabled: bool = True,
        local: bool = False,
        ranking: str = "shadow",
        **ports: Any,
    ) -> AsyncIterator[RunningPlatform]:
        producers.PRODUCERS[:] = makers
        named = {"producers": ["tests.support.producers:given"], "local_producers": local, "ranking": ranking}
        settings = {"tool_executor": {"multimodal": named}}
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
        saved = (at.root / "work" / "docs" / "parts.svg").read_bytes()
        assert hashlib.sha256(saved).hexdigest() == made["sha256"]
        # The picture is as it was drawn, with its credentials inside.
        assert b"c2pa" in saved
        assert saved.endswith(SVG[-20:])
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


PAID = replace(PICTURES, provider="shop", formats=("png",), cost_micros=40_000, destination="shop.example")
PICTURE = ("make-documents.picture", {"title": "Cat", "prompt": "a cat"})


async def unanswered(brief: Brief) -> bytes:
    raise Unavailable("the provider answered with HTTP 503")


def failures(events: list[Any]) -> list[ToolFailed]:
    return [event for event in events if isinstance(event, ToolFailed)]


@pytest.mark.requirement("S3-17", "S3-19", "A33")
async def test_failed_provider_is_named_in_a_warning_of_its_replacement(start: Start) -> None:
    broken = Drawing(replace(PLAIN, provider="broken", priority=1), unanswered)
    async with start(broken, Drawing(), calls=(("make-documents.diagram", SOURCE),)) as at:
        events = await run(at)
        assert await attempts(at) == [("broken", "failed"), ("test", "succeeded")]
        (warning,) = first(events, ToolSucceeded).warnings
        assert "broken/drawing failed: the provider answered with HTTP 503" in warning


async def test_lack_of_a_font_is_a_warning(start: Start) -> None:
    odd = {"title": "Parts", "source": 'flowchart LR; a["Part \U000f8fff"]-->b'}
    async with start(local=True, calls=(("make-documents.diagram", odd),)) as at:
        (warning,) = first(await run(at), ToolSucceeded).warnings

    assert "no font here has \U000f8fff (they show as boxes); install fonts-noto-core" in warning


@pytest.mark.requirement("S3-17", "S3-24", "A33")
async def test_provider_that_fails_alone_fails_the_step_in_its_words(start: Start) -> None:
    async with start(Drawing(draw=unanswered), calls=(("make-documents.diagram", SOURCE),)) as at:
        (failed,) = failures(await run(at))
        assert failed.code == "PROVIDER_FAILED"
        assert "HTTP 503" in failed.error
        assert await attempts(at) == [("test", "failed")]


@pytest.mark.requirement("S3-18", "S3-53")
async def test_policy_is_asked_for_a_candidate_before_it_is_called(start: Start) -> None:
    maker = Drawing()
    async with start(maker, calls=(("make-documents.diagram", SOURCE),)) as at:
        at.judge.denied.add("multimodal.tool.execute")
        (failed,) = failures(await run(at))
        assert failed.code == "NO_CAPABILITY"
        assert maker.briefs == []
        (record,) = [record for record in await at.audited("s") if record.action == "multimodal.tool.execute"]
        assert (record.verdict, record.resource) == ("deny", "test/drawing")


@pytest.mark.requirement("S3-19")
async def test_paid_attempt_is_charged_to_its_turn(start: Start) -> None:
    async with start(Drawing(PAID), calls=(PICTURE,)) as at:
        assert (await result(at, await run(at)))["provider"] == "shop"
        accounts = await at.platform.budgets.accounts(platform.TENANT, "s")
        assert accounts.tenant.cost_micros.spent == PAID.cost_micros


@pytest.mark.requirement("S3-19")
async def test_price_above_the_calls_limit_buys_nothing(start: Start) -> None:
    shop = Drawing(PAID)
    async with start(shop, calls=((PICTURE[0], {**PICTURE[1], "max_cost_cents": 3}),)) as at:
        (failed,) = failures(await run(at))
        assert "it may cost 4 cents, and the call allows 3" in failed.error
        assert shop.briefs == []


@pytest.mark.requirement("S3-19", "A33")
async def test_price_above_the_budget_begins_no_attempt(start: Start, home: Dsns) -> None:
    shop, little = Drawing(PAID), Amount(10**12, PAID.cost_micros - 1)
    database = databases.database(home, FEW)
    async with start(shop, calls=(PICTURE,), budgets=PostgresBudgets(database, Limits(little, little, little))) as at:
        events = await run(at)
        (failed,) = failures(events)
        assert (failed.code, "the next call may use up to $0.0400" in failed.error) == ("MAX_COST", True)
        assert (shop.briefs, await attempts(at)) == ([], [])
        assert "multimodal.tool.execute" in {record.action for record in await at.audited("s")}
    await database.close()


async def interrupted(start: Start, maker: Drawing, call: tuple[str, dict[str, Any]]) -> str:
    """End the process within an attempt; return its turn."""
    called, never = asyncio.Event(), asyncio.Event()

    async def hang(brief: Brief) -> bytes:
        called.set()
        await never.wait()
        return SVG

    maker.draw = hang
    async with start(maker, calls=(call,)) as at:
        turn = await at.say("draw it", session="s", root=at.folder("a.txt"))
        await at.decide(await at.asked(session="s"), session="s")
        await called.wait()
    return turn


@pytest.mark.requirement("S3-15", "A34")
@pytest.mark.parametrize("trouble", ["", "its host does not answer"])
async def test_interrupted_paid_attempt_is_not_repeated(start: Start, trouble: str) -> None:
    turn = await interrupted(start, Drawing(PAID), PICTURE)
    again = Drawing(PAID, trouble=trouble)
    async with start(again, calls=()) as at:
        await at.finish(turn, session="s")
        (failed,) = failures(await at.logged("s"))
    assert failed.code == "PROVIDER_IN_DOUBT"
    assert again.briefs == []


@pytest.mark.requirement("S3-15", "A34")
async def test_interrupted_attempt_goes_on_where_keys_are_honoured(start: Start) -> None:
    keyed = replace(PAID, constraints={"honours_keys": True})
    cut, again = Drawing(keyed), Drawing(keyed)
    turn = await interrupted(start, cut, PICTURE)
    async with start(again, calls=()) as at:
        await at.finish(turn, session="s")
        assert await attempts(at) == [("shop", "succeeded")]
    assert [brief.key for brief in cut.briefs] == [brief.key for brief in again.briefs]


@pytest.mark.requirement("S3-15", "S3-29", "A34")
async def test_interrupted_free_attempt_needs_a_healthy_provider(start: Start) -> None:
    turn = await interrupted(start, Drawing(), ("make-documents.diagram", SOURCE))
    ill = Drawing(trouble="its program is not installed")
    async with start(ill, calls=()) as at:
        await at.finish(turn, session="s")
        (failed,) = failures(await at.logged("s"))
    assert (failed.code, ill.briefs) == ("NO_CAPABILITY", [])
    assert "paid" not in failed.error


@pytest.mark.requirement("S3-15", "S3-29", "A34")
async def test_interrupted_free_attempt_goes_on_with_another_provider(start: Start) -> None:
    turn = await interrupted(start, Drawing(), ("make-documents.diagram", SOURCE))
    ill, other = Drawing(trouble="its program is not installed"), Drawing(replace(PLAIN, provider="other"))
    async with start(ill, other, calls=()) as at:
        await at.finish(turn, session="s")
        (warning,) = first(await at.logged("s"), ToolSucceeded).warnings
    assert warning == "other/drawing was used in place of test/drawing: its program is not installed"


@pytest.mark.requirement("S3-28", "S3-29", "S3-36")
async def test_unhealthy_candidate_is_left_out_and_named(start: Start) -> None:
    ill = Drawing(replace(PLAIN, provider="ill", priority=1), trouble="its program is not installed")
    async with start(ill, Drawing(), calls=(("make-documents.diagram", SOURCE),)) as at:
        events = await run(at)
        (warning,) = first(events, ToolSucceeded).warnings
        assert warning == "test/drawing was used in place of ill/drawing: its program is not installed"
        assert ill.briefs == []
        async with at.platform.database.read("tool_executor", platform.TENANT) as reader:
            rows = await reader.fetch(CHECKED)
    about = ("drawing", ["image"], "free")
    assert [tuple(row) for row in rows] == [("ill", *about, "unhealthy"), ("test", *about, "healthy")]


CHECKED = """
select provider, tool_id, modalities, cost_tier, health_status from executor.multimodal_capabilities order by provider
"""


@pytest.mark.requirement("S3-14", "S3-24")
async def test_diagram_of_mermaid_is_drawn_and_judged_here(start: Start) -> None:
    call = ("make-documents.diagram", {**SOURCE, "save_as": "parts.svg"})
    async with start(calls=(call,), local=True) as at:
        made = await result(at, await run(at))
        assert (made["provider"], made["tool_id"], made["path"]) == ("local", "mermaid", "parts.svg")
        assert 0 < made["quality"] <= 1
        assert (at.root / "work" / "parts.svg").read_bytes().startswith(b"<svg")


@pytest.mark.requirement("S3-24", "A33")
async def test_blank_diagram_is_drawn_three_times_then_fails(start: Start) -> None:
    async def blank(brief: Brief) -> bytes:
        return b'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"/>'

    maker = Drawing(draw=blank)
    async with start(maker, calls=(("make-documents.diagram", SOURCE),)) as at:
        (failed,) = failures(await run(at))
        assert failed.code == "QUALITY_NOT_REACHED"
        assert [status for _, status in await attempts(at)] == ["rework", "rework", "failed"]
        assert [len(brief.feedback) > 0 for brief in maker.briefs] == [False, True, True]


@pytest.mark.requirement("S3-35")
async def test_call_chooses_the_retention_of_its_asset(start: Start) -> None:
    known, unknown = ({**SOURCE, "retention": name} for name in ("ephemeral", "forever"))
    maker, tool = Drawing(), "make-documents.diagram"
    async with start(maker, calls=((tool, known), (tool, unknown), (tool, SOURCE))) as at:
        (failed,) = failures(await run(at))
        async with at.platform.database.read("tool_executor", platform.TENANT) as reader:
            rows = await reader.fetch("select retention from executor.multimodal_assets order by 1")
    assert "there is no retention 'forever'; use ephemeral, permanent, standard" in failed.error
    assert [row["retention"] for row in rows] == ["ephemeral", "standard"]
    assert len(maker.briefs) == 2


@pytest.mark.requirement("S3-24", "A33")
async def test_attempt_that_would_not_differ_is_not_repeated(start: Start) -> None:
    notes = ("make-documents.document", {"title": "Notes", "format": "markdown", "sections": [{"heading": "A"}]})
    report = {"title": "Report", "sections": [{"heading": "B", "assets": ["$step(1).asset"]}]}
    async with start(calls=(notes, ("make-documents.document", report)), local=True) as at:
        (failed,) = failures(await run(at))
        assert failed.error.startswith("after 1 attempt the quality is 0.00: the figures 'Notes' are not in it")
        assert [status for _, status in await attempts(at)] == ["succeeded", "failed"]


@pytest.mark.requirement("S3-24", "S3-26")
async def test_closed_quality_gate_asks_no_critic(start: Start) -> None:
    async def blank(brief: Brief) -> bytes:
        return b'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"/>'

    call = ("make-documents.diagram", {**SOURCE, "rubric": {}})
    async with start(Drawing(draw=blank), calls=(call,)) as at:
        assert "quality" not in await result(at, await run(at))
        assert await attempts(at) == [("test", "succeeded")]


@pytest.mark.requirement("S3-29", "S3-58", "A33")
async def test_open_circuit_leaves_a_provider_out(start: Start) -> None:
    shop = Drawing(PAID)
    async with start(shop, calls=(PICTURE,)) as at:
        guard = at.platform.guarded_calls.to("images:shop")
        for _ in range(5):
            with suppress(Unavailable):
                await guard.call(lambda: unanswered(Brief(StepType.IMAGE, "png")))
        (failed,) = failures(await run(at))
        assert failed.code == "NO_CAPABILITY"
        assert "circuit open" in failed.error
        assert shop.briefs == []


@pytest.mark.requirement("S3-20", "S3-14")
async def test_outcomes_are_summed_up_for_each_capability(start: Start) -> None:
    services = (*platform.SERVICES, "memory_service")
    async with start(Drawing(), calls=(("make-documents.diagram", SOURCE),), names=services) as at:
        await run(at)
        async with asyncio.timeout(platform.WITHIN):
            while not (found := await memory.outcomes(at.platform, platform.TENANT, "generate_diagram")):
                await at.platform.bus.waiting()
        (sums,) = found
        assert (sums["provider"], sums["attempts"], sums["successes"], sums["judged"]) == ("test", 1, 1, 1)


@pytest.mark.requirement("S3-67", "S3-20")
async def test_outcomes_are_cached_and_outlive_a_lost_redis(start: Start) -> None:
    services, calls = (*platform.SERVICES, "memory_service"), (("make-documents.diagram", SOURCE),)
    kind = "generate_diagram"
    outcome = OutcomeRecorded(tool_id="drawing", provider="test", step_type=kind, success=True, latency_ms=7)
    with running() as server:
        async with (
            connect(server.url) as redis,
            start(Drawing(), calls=calls, names=services, cache=RedisCache(redis)) as at,
        ):
            seen = []
            for n in (1, 2):
                await at.publish(outcome, session="s")
                async with asyncio.timeout(platform.WITHIN):
                    while await asked(at) < n:
                        await at.platform.bus.waiting()
                seen.append((await outcomes(at.platform, platform.TENANT, StepType.DIAGRAM))["test/drawing"].attempts)
            elsewhere = await outcomes(at.platform, "other", StepType.DIAGRAM)
            await at.platform.cache.put(platform.TENANT, f"outcomes:{kind}", '{"test/drawing": 7}', seconds=300)
            mended = await outcomes(at.platform, platform.TENANT, StepType.DIAGRAM)
            server.stop()
            lost = await outcomes(at.platform, platform.TENANT, StepType.DIAGRAM)
    assert (seen, elsewhere) == ([1, 1], {})
    assert [found["test/drawing"].attempts for found in (mended, lost)] == [2, 2]


async def asked(at: RunningPlatform) -> int:
    """Return the attempts that the memory service counts."""
    found = await memory.outcomes(at.platform, platform.TENANT, "generate_diagram")
    return sum(each["attempts"] for each in found)


def divergences() -> float:
    name = "portfolio_ranker_shadow_divergence_total"
    return REGISTRY.get_sample_value(name, {"step_type": "generate_diagram"}) or 0.0


@pytest.mark.requirement("S3-21", "S3-22")
@pytest.mark.parametrize(("ranking", "chosen"), [("shadow", "early"), ("active", "test")])
async def test_ranking_notes_a_better_equal_and_uses_it_if_active(start: Start, ranking: str, chosen: str) -> None:
    services = (*platform.SERVICES, "memory_service")
    early, call = replace(PLAIN, provider="early"), ("make-documents.diagram", SOURCE)
    async with start(Drawing(early, unanswered), Drawing(), calls=(call,), names=services) as at:
        await run(at)
        async with asyncio.timeout(platform.WITHIN):
            while len(await memory.outcomes(at.platform, platform.TENANT, "generate_diagram")) < 2:
                await at.platform.bus.waiting()
    before = divergences()
    async with start(Drawing(early), Drawing(), calls=(call,), names=services, ranking=ranking) as at:
        assert (await result(at, await run(at, session="later")))["provider"] == chosen
    assert divergences() == before + 1


@pytest.mark.requirement("S3-14", "S3-16", "S4-35", "A34")
async def test_document_is_composed_of_assets_of_earlier_steps(start: Start) -> None:
    sections = [{"heading": "Parts", "text": "The parts.", "assets": ["$step(1).asset"]}]
    document = ("make-documents.document", {"title": "Overview", "sections": sections, "save_as": "overview.pdf"})
    async with start(calls=(("make-documents.diagram", SOURCE), document), local=True) as at:
        events = await run(at)
        assert [failed.error for failed in failures(events)] == []
        assert (at.root / "work" / "overview.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.requirement("S0-15")
async def test_document_about_commands_is_made(start: Start) -> None:
    sections = [{"heading": "rm -rf", "text": "Never run `rm -rf /`."}]
    args = {"title": "Explain rm -rf /", "prompt": "explain rm -rf /", "sections": sections, "format": "markdown"}
    call = ("make-documents.document", {**args, "save_as": "commands.md"})
    async with start(calls=(call,), local=True) as at:
        events = await run(at)
        assert [failed.error for failed in failures(events)] == []
        assert "`rm -rf /`" in (at.root / "work" / "commands.md").read_text()


async def test_pictures_of_the_folder_reach_the_producer(start: Start) -> None:
    able = replace(producers.PICTURES, step_types=frozenset((StepType.ARRANGE,)), priority=0)
    maker = Drawing(able)
    call = ("make-documents.arrange", {"title": "Both", "files": ["a.png", "b.png"], "format": "png"})
    async with start(maker, calls=(call,)) as at:
        at.folder("a.png", "b.png")
        await run(at)
        assert [(each.title, each.data) for each in maker.briefs[0].inputs] == [
            ("a.png", b"a.png"),
            ("b.png", b"b.png"),
        ]
