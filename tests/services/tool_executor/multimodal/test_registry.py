"""The registry of capabilities: its packages, its repeated health checks, and the times that it lists."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from typing_extensions import override

from libs.clients import memory, multimodal
from libs.database import Dsns
from libs.events import OutcomeRecorded
from libs.multimodal.ports import StepType
from services.tool_executor.multimodal.registry import CHECK_SECONDS, BadProducer, Registry, loaded
from tests.support import platform, producers
from tests.support.platform import RunningPlatform
from tests.support.producers import PLAIN, Drawing

HEALTH = "capability_health_status", {"tool_id": PLAIN.tool_id, "provider": PLAIN.provider}
MODULE = """
from dataclasses import replace
from pathlib import Path
from tests.support.producers import PLAIN, Drawing

Path(__file__).with_suffix(".ran").touch()


class Broken(Drawing):
    async def problem(self):
        raise RuntimeError("its library is not installed")


def several():
    named = [(Drawing, "acme"), (Broken, "broken")]
    return [make(replace(PLAIN, provider=provider)) for make, provider in named]


one = Drawing(replace(PLAIN, provider="acme"))
nothing = 7
"""


def enabled(producer: str) -> dict[str, Any]:
    """Return the arguments of a platform with this setting of producers, and no others."""
    multimodal = {"producers": [producer], "local_producers": False}
    settings = {"tool_executor": {"multimodal": multimodal}}
    return {"settings": settings, "skills": replace(platform.skills(), multimodal=True)}


async def told(at: RunningPlatform, tenant: str = platform.TENANT) -> list[dict[str, Any]]:
    """Return the capabilities as the executor lists them for a tenant."""
    return await multimodal.capabilities(at.platform, tenant)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with entry points of `suma.multimodal`."""
    about, file = tmp_path / "acme-1.0.dist-info", tmp_path / "acme_drawing.py"
    file.write_text(MODULE)
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "acme = acme_drawing:several\ngone = acme_drawing:missing\n"
    (about / "entry_points.txt").write_text(f"[suma.multimodal]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    yield file
    sys.modules.pop("acme_drawing", None)


@pytest.mark.requirement("S3-28")
def test_entry_point_is_loaded_only_if_named(module: Path) -> None:
    assert loaded([]) == []
    assert not module.with_suffix(".ran").exists()
    assert [each.capability.name for each in loaded(["acme"])] == ["acme/drawing", "broken/drawing"]
    assert [each.capability.name for each in loaded(["acme_drawing:one"])] == ["acme/drawing"]


@pytest.mark.requirement("S3-28", "S3-29")
@pytest.mark.usefixtures("module")
async def test_broken_producer_of_a_package_is_reported(home: Dsns, tmp_path: Path) -> None:
    async with platform.run_platform(home, tmp_path, names=("tool_executor",), **enabled("acme")) as at:
        async with asyncio.timeout(platform.WITHIN):
            while any(each["checked_at"] is None for each in await told(at)):
                await at.platform.bus.waiting()
        problems = {each["provider"]: each["problem"] for each in await told(at)}
    assert problems == {"acme": "", "broken": "its check failed (RuntimeError)"}


@pytest.mark.requirement("S3-56")
def test_package_with_another_pin_never_runs(module: Path) -> None:
    with pytest.raises(BadProducer, match="not the one that was pinned"):
        loaded([f"acme_drawing:one@sha256:{'0' * 64}"])
    assert not module.with_suffix(".ran").exists()


@pytest.mark.requirement("S3-28")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("acme_drawing:nothing", "no producer of a capability"),
        ("gone", "gone: .*has no attribute 'missing'"),
        ("no_such_module:one", "no_such_module"),
        ("no-such-entry-point", "no installed package offers such an entry point of suma.multimodal"),
    ],
)
@pytest.mark.usefixtures("module")
def test_unusable_producer_is_refused_with_its_reason(name: str, why: str) -> None:
    with pytest.raises(BadProducer, match=why):
        loaded(["acme", name])


@dataclass
class Ailing(Drawing):
    """A producer whose checks find these troubles in turn; each notes the registry's view before it."""

    troubles: list[str] = field(default_factory=list)
    note: Callable[[], None] = print
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @override
    async def problem(self) -> str:
        self.note()
        if self.troubles:
            return self.troubles.pop(0)
        self.over.set()
        return ""


@pytest.mark.requirement("S3-29")
async def test_watch_finds_a_capability_ill_and_well_again(home: Dsns, tmp_path: Path) -> None:
    seen: list[tuple[str, float | None]] = []
    ailing = Ailing(troubles=["", "its program is gone", ""])
    async with platform.run_platform(home, tmp_path, names=("tool_executor",)) as at:
        registry = Registry(at.platform, [ailing], every=0.001)
        ailing.note = lambda: seen.append((registry.problem_of(PLAIN), REGISTRY.get_sample_value(*HEALTH)))
        watching = asyncio.create_task(registry.watch())
        await asyncio.wait_for(ailing.over.wait(), platform.WITHIN)
        watching.cancel()
        await asyncio.wait([watching])
    assert seen[1:] == [("", 1.0), ("its program is gone", 0.0), ("", 1.0)]
    assert CHECK_SECONDS == 60


@pytest.mark.requirement("S3-20", "S3-28")
async def test_listing_has_the_mean_time_of_attempts(home: Dsns, tmp_path: Path) -> None:
    producers.PRODUCERS[:] = [Drawing(), Drawing(replace(PLAIN, provider="new"))]
    services = ("tool_executor", "memory_service")
    async with platform.run_platform(home, tmp_path, names=services, **enabled("tests.support.producers:given")) as at:
        kinds = (StepType.DIAGRAM, StepType.DIAGRAM, StepType.IMAGE)
        for kind, took in zip(kinds, (100, 200, 601), strict=True):
            known = {"tool_id": "drawing", "provider": "test", "step_type": kind, "success": took < 200}
            await at.publish(OutcomeRecorded.model_validate({**known, "latency_ms": took}), session="s")
        async with asyncio.timeout(platform.WITHIN):
            while await attempts(at) < len(kinds):
                await at.platform.bus.waiting()
        own = await told(at)
        others = await told(at, "other")
    assert {each["provider"]: each["latency_ms"] for each in own} == {"test": 300, "new": None}
    assert {each["latency_ms"] for each in others} == {None}


async def attempts(at: RunningPlatform) -> int:
    """Return the attempts that the memory service counts."""
    kinds = (StepType.DIAGRAM, StepType.IMAGE)
    found = [each for kind in kinds for each in await memory.outcomes(at.platform, platform.TENANT, kind)]
    return sum(each["attempts"] for each in found)
