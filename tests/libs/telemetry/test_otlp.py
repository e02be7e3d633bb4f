"""OTLP: a real HTTP receiver gets the spans; an unavailable one costs neither memory nor time."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typing_extensions import override

from deploy.local.ports import free_port
from libs.telemetry import traces
from libs.telemetry.metrics import spans_dropped
from libs.telemetry.otlp import Otlp


class Collector:
    """The received requests, and the configured response."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.names: list[str] = []
        self.services: set[str] = set()
        self.status = 200
        self.url = ""

    def take(self, path: str, body: bytes) -> None:
        self.paths.append(path)
        request = ExportTraceServiceRequest.FromString(gzip.decompress(body))
        for resource in request.resource_spans:
            self.services |= {a.value.string_value for a in resource.resource.attributes if a.key == "service.name"}
            self.names += [span.name for scope in resource.scope_spans for span in scope.spans]


class Receiver(BaseHTTPRequestHandler):
    def __init__(self, collector: Collector, *given: Any) -> None:
        self._collector = collector
        super().__init__(*given)

    def do_POST(self) -> None:
        self._collector.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self._collector.status)
        self.end_headers()

    @override
    def log_message(self, *given: Any) -> None:
        return None


@contextmanager
def receiving() -> Iterator[Collector]:
    made = Collector()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Receiver, made)) as server:
        made.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with receiving() as made:
        yield made


def lost() -> float:
    return spans_dropped._value.get()  # type: ignore[no-any-return]


def work(*names: str) -> None:
    for name in names:
        with traces.span(name):
            pass


def test_a_collector_has_every_span_once_the_process_has_ended(collector: Collector) -> None:
    end = traces.configure(Otlp(collector.url), process="gateway")
    work("handle", "commit")
    end()
    assert (collector.names, collector.services) == (["handle", "commit"], {"gateway"})
    assert set(collector.paths) == {"/v1/traces"}


def test_configured_collector_path_is_used(collector: Collector) -> None:
    end = traces.configure(Otlp(f"{collector.url}/api/public/otel/v1/traces"))
    work("handle")
    end()
    assert collector.paths == ["/api/public/otel/v1/traces"]


def test_unavailable_collector_is_retried_rarely_and_spans_are_counted() -> None:
    now, before = [0.0], lost()
    exporter = Otlp(f"http://127.0.0.1:{free_port()}", seconds=0.2, clock=lambda: now[0])
    end = traces.configure(exporter, at_once=True)
    work("first", "second", "third")
    assert lost() - before == 3
    end()


def test_recovered_collector_receives_spans_again(collector: Collector) -> None:
    now = [0.0]
    collector.status = 400
    end = traces.configure(Otlp(collector.url, clock=lambda: now[0]), at_once=True)
    work("refused", "dropped")
    collector.status, now[0] = 200, 31.0
    work("taken")
    end()
    assert collector.names == ["refused", "taken"]


def test_process_ends_in_time_without_its_collector() -> None:
    end = traces.configure(Otlp(f"http://127.0.0.1:{free_port()}", seconds=0.2))
    work(*map(str, range(2_000)))
    began = time.monotonic()
    end()
    assert time.monotonic() - began < 30
