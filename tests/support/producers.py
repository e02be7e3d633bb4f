"""Producers of tests: each counts its calls and does what the test has scripted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from libs.multimodal.ports import Brief, Capability, Made, Modality, Producer, StepType

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="9" height="9"/></svg>'
PLAIN = Capability(
    tool_id="drawing",
    provider="test",
    step_types=frozenset((StepType.DIAGRAM,)),
    modalities=frozenset((Modality.IMAGE,)),
    formats=("svg", "png"),
    languages=frozenset(("mermaid",)),
    revises=True,
)
PICTURES = replace(PLAIN, tool_id="pictures", step_types=frozenset((StepType.IMAGE,)), languages=frozenset())
PRODUCERS: list[Producer] = []
"""The producers of the running test; `given` is named in its settings."""


async def drawn(brief: Brief) -> bytes:
    return SVG


@dataclass
class Drawing:
    """A producer whose work is `draw`, which may raise, wait, or end the process."""

    capability: Capability = PLAIN
    draw: Callable[[Brief], Awaitable[bytes]] = drawn
    trouble: str = ""
    briefs: list[Brief] = field(default_factory=list)

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        self.briefs.append(brief)
        data = await self.draw(brief)
        check()
        return Made(data, brief.format, 320, 200, cost_micros=self.capability.cost_micros, model="test 1")

    async def problem(self) -> str:
        return self.trouble


def given() -> Sequence[Producer]:
    """Return the producers of the running test."""
    return PRODUCERS
