"""Producers on this machine that ship with Suma: Mermaid, Graphviz, Vega-Lite and Pillow, each in a process of its own.

A process has no environment, network, files or further processes, and limits on time, memory and output.
`Made.parameters["walls"]` names the walls that held; docs/security.md explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from libs.multimodal.ports import Brief, CannotProduce, Capability, Made, Modality, StepType
from libs.multimodal.producers.isolated import Limits, render

IMAGES = frozenset({Modality.IMAGE})
SIDE_MOST = 4096
PICTURES_MOST, GAP_MOST, COLUMNS_MOST = 24, 200, 12
LAYOUTS = ("row", "column", "grid", "resize")


@dataclass(frozen=True, slots=True)
class Drawing:
    """Draws the source of a diagram or chart."""

    capability: Capability
    kind: str
    library: str
    limits: Limits = field(default_factory=Limits)

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Draw it; the contract is `Producer.produce`."""
        if not brief.source.strip():
            raise CannotProduce("the field source is empty; give the text to draw")
        made_as = form(self.capability, brief)
        head = {"source": brief.source, "format": made_as, "side": side(brief), "labels": labels(brief)}
        answer, made = await render(self.kind, head, check=check, limits=self.limits)
        return result(made_as, answer, made[0])

    async def problem(self) -> str:
        """Return why it cannot draw; empty if it can."""
        return "" if find_spec(self.library) else f"the package {self.library} is missing; install requirements.txt"


@dataclass(frozen=True, slots=True)
class Arranger:
    """Puts pictures into a row, column or grid, or makes one smaller: `brief.content` has layout, columns and gap."""

    capability: Capability

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Arrange them; the contract is `Producer.produce`."""
        head = {"format": form(self.capability, brief), "side": side(brief), **_layout(brief)}
        answer, made = await render("arrange", head, [one.data for one in brief.inputs], check=check)
        return result(head["format"], answer, made[0])

    async def problem(self) -> str:
        """Return the empty text: Pillow always works."""
        return ""


def _layout(brief: Brief) -> dict[str, Any]:
    if not 1 <= len(brief.inputs) <= PICTURES_MOST:
        raise CannotProduce(f"{len(brief.inputs)} pictures were given; give 1 to {PICTURES_MOST}")
    layout = brief.content.get("layout", "row")
    if layout not in LAYOUTS:
        raise CannotProduce(f"the layout {layout!r} is unknown; use {', '.join(LAYOUTS)}")
    if layout == "resize" and len(brief.inputs) != 1:
        raise CannotProduce(f"the layout resize takes one picture, and {len(brief.inputs)} were given")
    square = round(len(brief.inputs) ** 0.5 + 0.49)
    return {
        "layout": "row" if layout == "resize" else layout,
        "columns": _number(brief.content, "columns", square, 1, COLUMNS_MOST),
        "gap": _number(brief.content, "gap", 16, 0, GAP_MOST),
    }


def _number(content: Mapping[str, Any], name: str, otherwise: int, least: int, most: int) -> int:
    value = content.get(name)
    if value is None:
        return otherwise
    if not isinstance(value, int) or not least <= value <= most:
        raise CannotProduce(f"the field {name} is {value!r}; give a number from {least} to {most}")
    return value


def form(capability: Capability, brief: Brief) -> str:
    """Return the format to make. Raises CannotProduce."""
    if brief.format not in capability.formats:
        formats = " or ".join(capability.formats)
        raise CannotProduce(f"{capability.name} does not make {brief.format!r}; ask for {formats}")
    return brief.format


def side(brief: Brief) -> int:
    return max(16, min(SIDE_MOST, brief.max_resolution))


def labels(brief: Brief) -> list[str]:
    """Return the labels that the brief expects; empty if it leaves them to the source."""
    given = brief.content.get("labels")
    return [str(label)[:200] for label in given[:300]] if isinstance(given, list | tuple) else []


def result(form: str, answer: Mapping[str, Any], data: bytes) -> Made:
    """Return the renderer's result, with its measures and walls."""
    parameters = {name: answer[name] for name in ("measured", "walls") if name in answer}
    return Made(
        data=data,
        format=form,
        width=answer["width"],
        height=answer["height"],
        labels=tuple(answer["labels"]),
        model=answer["model"],
        parameters=parameters,
    )


def shipped() -> list[Drawing | Arranger]:
    """Return the producers whose programs are Python packages of Suma's own requirements."""
    sizes = {"max_resolution": SIDE_MOST}

    def drawing(tool: str, step: StepType, language: str, kind: str, library: str, priority: int) -> Drawing:
        known = Capability(
            tool, "local", frozenset({step}), IMAGES, ("svg", "png"), frozenset({language}), sizes, priority=priority
        )
        return Drawing(known, kind, library)

    arranger = Capability(
        "pillow", "local", frozenset({StepType.ARRANGE}), IMAGES, ("png", "jpeg", "webp"), constraints=sizes
    )
    return [
        drawing("mermaid", StepType.DIAGRAM, "mermaid", "mermaid", "mermaidx", 20),
        drawing("graphviz", StepType.DIAGRAM, "dot", "dot", "pygraphviz", 10),
        drawing("vega_lite", StepType.CHART, "vega-lite", "vega", "vl_convert", 10),
        Arranger(arranger),
    ]
