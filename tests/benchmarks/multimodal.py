"""The time budgets of a multimodal step (S3-68 … S3-74): p95 and p99 of each part beside its budget.

Producers and the composer run in processes of their own, each begun anew, as in a job. The picture (S3-71) comes from a
fake vendor over real HTTP, which answers at once: the time that a vendor takes to draw is not in it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, cast

from PIL import Image
from rich.text import Text

from libs.multimodal.composing import Composer
from libs.multimodal.critic import HeuristicCritic
from libs.multimodal.ports import Brief, Input, Made, Modality, Producer, StepType
from libs.multimodal.producers import local
from libs.multimodal.ranking import Outcomes, scores
from libs.policy.rego import RegoPolicy
from libs.resilience import GuardedCalls
from services.tool_executor.multimodal.registry import Registry
from services.tool_executor.multimodal.router import ACTION
from services.tool_executor.multimodal.vendors import configured
from services.tool_executor.settings import Settings
from tests.benchmarks.rows import Row, most
from tests.infrastructure.fake_images import Images, images, openai
from tests.support.producers import PLAIN, Drawing

BUNDLE = Path(__file__).resolve().parents[2] / "deploy" / "opa"
REGISTERED, CANDIDATES = 200, 5
BUDGETS = {
    "capability discovery among 200": (50, 100),
    "policy routing of 5 candidates": (100, 200),
    "portfolio ranking of 5 candidates": (200, 400),
    "picture of 1792 × 1024 from a vendor, without the vendor's own time": (15_000, 30_000),
    "diagram of 12 nodes by Mermaid": (2_000, 5_000),
    "quality evaluation of that diagram": (5_000, 10_000),
    "SRS composition, 5 assets, as PDF": (3_000, 7_000),
}
"""Milliseconds that 95 and 99 of 100 may take (S3-68 … S3-74)."""
DIAGRAM = Brief(
    StepType.DIAGRAM,
    "svg",
    title="Parts",
    source="flowchart TB\n" + "".join(f'  n{n}["part {n}"] --> n{n // 2}\n' for n in range(1, 12)),
    language="mermaid",
)


PICTURE = Brief(StepType.IMAGE, "png", title="A cat", prompt="a cat on a roof", max_resolution=1792)


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    async with images(openai(await asyncio.to_thread(_noise))) as there:
        return await _measured(tell, _painter(there), quick=quick), Text()


async def _measured(tell: Callable[[str], None], painter: Producer, *, quick: bool) -> list[Row]:
    few, many = (5, 50) if quick else (30, 500)
    mermaid = next(each for each in local() if each.capability.tool_id == "mermaid")
    drawn = await mermaid.produce(DIAGRAM, check=_go_on)
    parts: dict[str, tuple[int, Callable[[], Awaitable[object]]]] = {
        "capability discovery among 200": (many, _discovery()),
        "policy routing of 5 candidates": (many, await _routing()),
        "portfolio ranking of 5 candidates": (many, _ranking()),
        "picture of 1792 × 1024 from a vendor, without the vendor's own time": (
            few,
            partial(painter.produce, PICTURE, check=_go_on),
        ),
        "diagram of 12 nodes by Mermaid": (few, partial(mermaid.produce, DIAGRAM, check=_go_on)),
        "quality evaluation of that diagram": (few, partial(HeuristicCritic().judge, DIAGRAM, drawn, {}, check=_go_on)),
        "SRS composition, 5 assets, as PDF": (few, partial(_composed, drawn)),
    }
    rows: list[Row] = []
    for name, (rounds, work) in parts.items():
        times: list[float] = []
        for n in range(rounds):
            tell(f"{name}, {n + 1} of {rounds}")
            began = time.perf_counter()
            await work()
            times.append((time.perf_counter() - began) * 1e3)
        times.sort()
        for share, bound in zip((95, 99), BUDGETS[name], strict=True):
            # The smallest figure that this share of the rounds does not exceed.
            rows.append(Row(f"{name}, p{share}", times[-(-len(times) * share // 100) - 1], "ms", goal=most(bound)))
    return rows


def _go_on() -> None:
    """Let the work go on."""


def _discovery() -> Callable[[], Awaitable[object]]:
    makers = [Drawing(replace(PLAIN, provider=f"p{n}", priority=n % 7)) for n in range(REGISTERED)]
    registry = Registry(cast("Any", None), makers)

    async def find() -> object:
        return registry.find(StepType.DIAGRAM, modality=Modality.IMAGE, format="svg", language="mermaid")

    return find


async def _routing() -> Callable[[], Awaitable[object]]:
    policy = RegoPolicy(BUNDLE, deadline=5.0)
    await policy.reload()
    asked = 0

    async def route() -> object:
        nonlocal asked
        # A turn of its own each time: no answer is remembered from the last one.
        asked += 1
        facts = {
            "tenant": f"t{asked}",
            "principal": {"id": "ada", "scopes": ["*"]},
            "session": "s",
            "turn": f"t{asked}",
        }
        about = {"tool": "drawing", "step_type": "generate_diagram", "destination": None, "leaves_machine": False}
        money = {"cost_tier": "free", "cost_micros": 0, "paid": False, "paid_today": 0, "fallback": False}
        seen = {"touched": [], "approved": False, "payload_seen": False, "hitl": "key"}
        for n in range(CANDIDATES):
            decision = await policy.decide(ACTION, {**facts, **about, **money, **seen, "provider": f"p{n}"})
            assert decision.allowed, decision.reason
        return None

    return route


def _ranking() -> Callable[[], Awaitable[object]]:
    names = [f"p{n}/drawing" for n in range(CANDIDATES)]
    known = {
        name: Outcomes(
            attempts=40, successes=30 + n, latency_ms=9_000 * n, quality=28.0, judged=35, cost_micros=n * 1_000
        )
        for n, name in enumerate(names)
    }

    async def rank() -> object:
        return scores(known, names)

    return rank


def _noise() -> bytes:
    """Return a picture that cannot be compressed, larger than any of a vendor: 5.5 MB."""
    size = 1792, 1024
    raw = BytesIO()
    Image.frombytes("RGB", size, Random(1).randbytes(size[0] * size[1] * 3)).save(raw, "PNG")
    return raw.getvalue()


def _painter(there: Images) -> Producer:
    provider = {
        "kind": "openai",
        "url": there.url,
        "private": True,
        "model": "dall-e-3",
        "sizes": ["1792x1024"],
        "cost_micros": 0,
    }
    settings = Settings.model_validate({"image_providers": {"paint": provider}})
    (only,) = configured(settings, GuardedCalls())
    return only


async def _composed(drawn: Made) -> object:
    pictures = [Input(f"asset-{n}", drawn.data, drawn.media_type, title=f"Part {n}") for n in range(5)]
    text = "The parts and what they need. " * 40
    sections = [{"heading": each.title, "text": text, "assets": [each.asset_id]} for each in pictures]
    brief = Brief(StepType.COMPOSE, "pdf", title="Overview", content={"sections": sections}, inputs=pictures)
    composer: Producer = Composer()
    return await composer.produce(brief, check=_go_on)


if __name__ == "__main__":
    for row in asyncio.run(measure(lambda _: None, quick=True))[0]:
        print(row.name, round(row.value, 1), row.unit, row.goal, row.holds)
