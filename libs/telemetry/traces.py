"""Traces: one from the HTTP request to the last event, carried by the envelope's `traceparent` (W3C Trace Context).

Off until `configure` is given an exporter: a span then costs half a microsecond. Sampling is decided once, at the root;
a part of an unsampled trace costs a few microseconds and creates no span (DESIGN §17).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

QUEUE_MOST = 4096
"""Most spans that wait to be sent; more are dropped."""

_HEADER = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_OFF = nullcontext(INVALID_SPAN)
_tracer: trace.Tracer | None = None


def configure(
    exporter: SpanExporter | None = None, *, ratio: float = 1.0, process: str = "suma", at_once: bool = False
) -> Callable[[], None]:
    """Record spans and send them to `exporter`, from a thread of its own unless `at_once`; without one, record nothing.
    Call the returned function at the end: it sends what is left and turns recording off.

    `ratio` is the share of sampled traces; a trace that came with a request keeps its sender's decision.
    """
    global _tracer
    if exporter is None:
        _tracer = None
        return lambda: None
    # The SDK takes 0.1 s to import, so import it only when recording.
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        resource=Resource.create({SERVICE_NAME: process}),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(
        SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter, max_queue_size=QUEUE_MOST)
    )
    _tracer = provider.get_tracer("suma")

    def end() -> None:
        global _tracer
        _tracer = None
        provider.shutdown()

    return end


def lines(out: TextIO) -> SpanExporter:
    """Return an exporter that writes each span as one line of JSON."""
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    return ConsoleSpanExporter(out=out, formatter=lambda span: span.to_json(indent=None) + "\n")


def traceparent() -> str | None:
    """Return the current span as a header; None outside of any trace."""
    if _tracer is None:
        return None
    current = trace.get_current_span().get_span_context()
    if not current.is_valid:
        return None
    return f"00-{current.trace_id:032x}-{current.span_id:016x}-{current.trace_flags:02x}"


def trace_id() -> str | None:
    """Return the current trace's id for a log line; None outside of any."""
    current = traceparent()
    return current[3:35] if current else None


def span(
    name: str,
    *,
    parent: str | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, str | int | float | bool] | None = None,
) -> AbstractContextManager[Span]:
    """Open a span under `parent` (a traceparent header), or under the current one. An error that passes through marks
    it, without its message, which may contain user data.
    """
    if _tracer is None:
        return _OFF
    above = _read(parent) if parent else None
    if above is None:
        return _recorded(_tracer, name, None, kind, attributes)
    if above.trace_flags.sampled:
        return _recorded(_tracer, name, trace.set_span_in_context(NonRecordingSpan(above)), kind, attributes)
    return _unkept(NonRecordingSpan(above))


@contextmanager
def _recorded(
    tracer: trace.Tracer,
    name: str,
    under: Context | None,
    kind: SpanKind,
    attributes: Mapping[str, str | int | float | bool] | None,
) -> Iterator[Span]:
    with tracer.start_as_current_span(
        name, context=under, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


@contextmanager
def _unkept(above: Span) -> Iterator[Span]:
    """Create no span, but let nested calls know that this trace is unsampled."""
    token = context.attach(trace.set_span_in_context(above))
    try:
        yield above
    finally:
        context.detach(token)


def _read(header: str) -> SpanContext | None:
    """Parse a traceparent header; an invalid one counts as absent (W3C Trace Context, 3.2)."""
    match = _HEADER.fullmatch(header)
    if match is None:
        return None
    named = SpanContext(int(match[1], 16), int(match[2], 16), is_remote=True, trace_flags=TraceFlags(int(match[3], 16)))
    return named if named.is_valid else None
