"""A platform of one answer: commands ask it over real HTTP, and it keeps what they post."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner
from typing_extensions import override


class Server(ThreadingHTTPServer):
    """Subclasses say what is answered."""

    status = 200
    unsent = 0
    """Bytes that are announced and never sent: the connection breaks."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: list[str] = []
        self.posts: list[tuple[str, Any]] = []

    def answer(self, path: str, body: Any) -> Any:
        """To a path, and to the body that came with it; None for a GET."""
        raise NotImplementedError


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._say(None)

    def do_DELETE(self) -> None:
        self._say(None)

    def do_POST(self) -> None:
        self._say(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    do_PUT = do_POST

    def _say(self, body: Any) -> None:
        assert isinstance(self.server, Server)
        self.server.asked.append(self.path)
        if body is not None:
            self.server.posts.append((self.path, body))
        said = json.dumps(self.server.answer(self.path, body)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(said) + self.server.unsent))
        self.end_headers()
        self.wfile.write(said)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@contextmanager
def running(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[CliRunner]:
    """Who runs commands against this platform."""
    monkeypatch.setenv("SUMA_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("SUMA_API_KEY", "suma_key")
    serving = Thread(target=server.serve_forever)
    serving.start()
    try:
        yield CliRunner()
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
