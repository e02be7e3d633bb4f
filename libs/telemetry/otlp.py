"""OTLP over HTTP: spans go to a collector; an unreachable one costs neither memory nor shutdown time.

The batch processor's queue bounds what waits. After a failed send, spans are dropped and counted for a while, so that
an unresponsive collector is tried every half minute, not for each batch. Headers, such as a key, come from
OTEL_EXPORTER_OTLP_HEADERS, and certificates from OTEL_EXPORTER_OTLP_CERTIFICATE, as the OpenTelemetry specification
says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from typing_extensions import override

from libs.telemetry import metrics

SEND_SECONDS = 5.0
PAUSE_SECONDS = 30.0
PATH = "/v1/traces"


class Otlp(SpanExporter):
    """Sends to a collector at `url`; without a path, to the specification's default one."""

    def __init__(self, url: str, *, seconds: float = SEND_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        where = url if urlsplit(url).path.strip("/") else url.rstrip("/") + PATH
        self._exporter = OTLPSpanExporter(where, timeout=seconds, compression=Compression.Gzip)
        self._clock = clock
        self._again = float("-inf")

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._clock() < self._again:
            return self._dropped(spans)
        sent = self._exporter.export(spans)
        if sent is SpanExportResult.SUCCESS:
            return sent
        self._again = self._clock() + PAUSE_SECONDS
        return self._dropped(spans)

    @override
    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _dropped(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        metrics.spans_dropped.inc(len(spans))
        return SpanExportResult.FAILURE
