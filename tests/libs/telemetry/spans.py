"""Spans, recorded in memory."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from libs.telemetry import traces


class Kept:
    """Records while it is open: `with Kept() as kept: …`."""

    def __init__(self, *, ratio: float = 1.0) -> None:
        self._ratio = ratio
        self._exporter = InMemorySpanExporter()

    def __enter__(self) -> Self:
        self._end = traces.configure(self._exporter, ratio=self._ratio, at_once=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()
