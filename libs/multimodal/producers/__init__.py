"""Local producers: diagrams, charts, arranged pictures and captures, made on this machine without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from libs.multimodal.ports import Producer
from libs.multimodal.producers.local import shipped
from libs.multimodal.producers.programs import installed

__all__ = ["local"]


def local(plantuml: Path | None = None) -> Sequence[Producer]:
    """Return one producer for each capability of this machine. `plantuml` is the path of its jar, if it has one."""
    return [*shipped(), *installed(plantuml)]
