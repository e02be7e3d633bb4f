"""Draft what a producer is given: the text of a diagram, a chart's specification, the words of a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from libs.multimodal.ports import CannotProduce, StepType
from libs.workspace.stage import Stage

SOURCED = (StepType.DIAGRAM, StepType.CHART)


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a brief."""

    title: str
    source: str = ""
    language: str = ""
    prompt: str = ""
    content: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def draft(
    stage: Stage | None,
    method: str,
    args: Mapping[str, Any],
    *,
    feedback: Sequence[str] = (),
    attempt: int = 1,
    check: Callable[[], None],
) -> Draft:
    """Draft an attempt from the call's args and the staged tree, which a call without a folder lacks.

    Raises:
        CannotProduce: something is missing.
    """
    if method in SOURCED and "source" not in args:
        raise CannotProduce("there is no source; give the text of the diagram in `source`")
    return Draft(
        title=args.get("title", ""),
        source=args.get("source", ""),
        language=args.get("language", "") if "source" in args else "",
        prompt=args.get("prompt", ""),
        content={name: args[name] for name in ("sections", "layout") if name in args},
    )
