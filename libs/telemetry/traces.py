"""Traces: one from the HTTP request to the last event, carried by the envelope's `traceparent` (W3C Trace Context).

Off until `configure` is given an exporter: a span then costs half a microsecond. Sampling is decided once, at the root;
a part of an unsampled trace costs a few microseconds and creates no span (architecture.md 16).
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from opentelemetry import context, trace
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
from opentelemetry.util.types import AttributeValue
from typing_extensions import override

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

QUEUE_MOST = 4096
"""Most spans that wait to be sent; more are dropped."""

SAMPLED, RANDOM = 1, 2
"""Trace flags: recorded by the caller that began it; its id is random (W3C Trace Context level 2, 3.2.2.5)."""

Attribute = str | int | float | bool

_HEADER = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_OFF = nullcontext(INVALID_SPAN)
_recorder: _Recorder | None = None


@dataclass(frozen=True, slots=True)
class _Recorder:
    """The exporter of finished spans, and the share of traces that is sampled, as a bound of their ids' lower half."""

    processor: SpanProcessor
    resource: Resource
    scope: InstrumentationScope
    bound: int


def configure(
    exporter: SpanExporter | None = None, *, ratio: float = 1.0, process: str = "suma", at_once: bool = False
) -> Callable[[], None]:
    """Record spans and send them to `exporter`, from a thread of its own unless `at_once`; without one, record nothing.
    Call the returned function at the end: it sends what is left and turns recording off.

    `ratio` is the share of sampled traces; a trace that came with a request keeps its sender's decision.
    """
    global _recorder
    if exporter is None:
        _recorder = None
        return lambda: None
    # The SDK takes 0.1 s to import, so import it only when recording.
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    processor = SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter, max_queue_size=QUEUE_MOST)
    resource, bound = Resource.create({SERVICE_NAME: process}), TraceIdRatioBased.get_bound_for_rate(ratio)
    _recorder = _Recorder(processor, resource, InstrumentationScope("suma"), bound)

    def end() -> None:
        global _recorder
        _recorder = None
        processor.shutdown()

    return end


def lines(out: TextIO) -> SpanExporter:
    """Return an exporter that writes each span as one line of JSON."""
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    return ConsoleSpanExporter(out=out, formatter=lambda span: span.to_json(indent=None) + "\n")


def traceparent() -> str | None:
    """Return the current span as a header; None outside of any trace."""
    if _recorder is None:
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
    attributes: Mapping[str, Attribute] | None = None,
) -> AbstractContextManager[Span]:
    """Open a span under `parent` (a traceparent header), or under the current one. An error that passes through marks
    it, without its message, which may contain user data.
    """
    if _recorder is None:
        return _OFF
    above = (_read(parent) if parent else None) or trace.get_current_span().get_span_context()
    if not above.is_valid:
        return _root(_recorder, name, kind, attributes)
    if above.trace_flags.sampled:
        mine = SpanContext(above.trace_id, random.getrandbits(64) or 1, is_remote=False, trace_flags=above.trace_flags)
        return _Recorded(_recorder, name, mine, above, kind, attributes)
    return _unkept(NonRecordingSpan(above))


def _root(
    recorder: _Recorder, name: str, kind: SpanKind, attributes: Mapping[str, Attribute] | None
) -> AbstractContextManager[Span]:
    # 0 is no valid id (W3C Trace Context, 3.2.2.3).
    trace_id = random.getrandbits(128) or 1
    sampled = trace_id & (1 << 64) - 1 < recorder.bound
    flags = TraceFlags(RANDOM | SAMPLED if sampled else RANDOM)
    mine = SpanContext(trace_id, random.getrandbits(64) or 1, is_remote=False, trace_flags=flags)
    return _Recorded(recorder, name, mine, None, kind, attributes) if sampled else _unkept(NonRecordingSpan(mine))


class _Recorded(NonRecordingSpan):
    """A span as a few fields, from which the SDK's is made at its end.

    The SDK's own span takes locks, asks its sampler, and checks each attribute: 33 microseconds, where this takes 9.
    """

    def __init__(
        self,
        recorder: _Recorder,
        name: str,
        context: SpanContext,
        above: SpanContext | None,
        kind: SpanKind,
        attributes: Mapping[str, Attribute] | None,
    ) -> None:
        super().__init__(context)
        self._recorder, self._name, self._above, self._kind = recorder, name, above, kind
        self._attributes: dict[str, AttributeValue] = dict(attributes or {})
        self._status = Status()

    @override
    def __enter__(self) -> Self:
        self._token = context.attach(trace.set_span_in_context(self))
        self._began = time.time_ns()
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        from opentelemetry.sdk.trace import ReadableSpan

        context.detach(self._token)
        if kind is not None and issubclass(kind, Exception):
            self._status = Status(StatusCode.ERROR, kind.__name__)
        self._recorder.processor.on_end(
            ReadableSpan(
                self._name,
                context=self.get_span_context(),
                parent=self._above,
                resource=self._recorder.resource,
                attributes=self._attributes,
                kind=self._kind,
                status=self._status,
                start_time=self._began,
                end_time=time.time_ns(),
                instrumentation_scope=self._recorder.scope,
            )
        )

    @override
    def is_recording(self) -> bool:
        return True

    @override
    def set_attribute(self, key: str, value: AttributeValue) -> None:
        self._attributes[key] = value


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
