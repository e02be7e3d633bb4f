"""A real OPA server over a folder of rules: it fetches them as a bundle from a small web server of ours, looks again
every second, and so takes up an edit of the folder as a deployed one takes up a new bundle."""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

from libs.policy import Bundle, BundleBroken
from tests.infrastructure.served import Served, go_program

VERSION = "v1.22.2"
PACKAGE = "github.com/open-policy-agent/opa"
LOOK_SECONDS = 1


@cache
def program() -> Path:
    """The command `opa`.

    Raises:
        Unprovided: it cannot be built here.
    """
    return go_program("opa", PACKAGE, VERSION)


@asynccontextmanager
async def opa(folder: Path) -> AsyncIterator[Served]:
    """A server whose law is what stands in `folder`, entered once that is in force, if it can be.

    Raises:
        Unprovided: it cannot be built here.
    """
    command = await asyncio.to_thread(program)
    with tempfile.TemporaryDirectory(prefix="suma-opa-") as place, bundles(folder) as source:
        settings = Path(place) / "config.json"
        settings.write_text(json.dumps(_settings(source)))
        options = ("--addr=127.0.0.1:{port}", f"--config-file={settings}", "--disable-telemetry")
        server = Served((str(command), "run", "--server", *options), _probe(folder), Path(place))
        try:
            await server.start()
            yield server
        finally:
            await server.stop()


@contextmanager
def bundles(folder: Path) -> Iterator[str]:
    """A web server that hands out `folder` as it is now: the URL under which the bundle is `suma.tar.gz`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Shelf, folder))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _settings(source: str) -> dict[str, Any]:
    often = {"min_delay_seconds": LOOK_SECONDS, "max_delay_seconds": LOOK_SECONDS}
    return {
        "services": {"law": {"url": source}},
        "bundles": {"suma": {"service": "law", "resource": "suma.tar.gz", "polling": often}},
        "status": {"prometheus": True},
    }


def _probe(folder: Path) -> str:
    try:
        Bundle.read(folder)
    except BundleBroken:
        return "/health"
    return "/health?bundles"


class _Shelf(BaseHTTPRequestHandler):
    def __init__(self, folder: Path, *given: Any) -> None:
        self._folder = folder
        super().__init__(*given)

    def do_GET(self) -> None:
        try:
            bundle = Bundle.read(self._folder)
        except BundleBroken as broken:
            self.send_error(500, explain=str(broken))
            return
        known = self.headers.get("If-None-Match") == bundle.revision
        self.send_response(304 if known else 200)
        self.send_header("ETag", bundle.revision)
        self.end_headers()
        if not known:
            self.wfile.write(bundle.archive())

    @override
    def log_message(self, *given: Any) -> None:
        return None
