"""Ports for test processes and `make up-real`: no two processes share one, and readiness names its process."""

from __future__ import annotations

import http.server
import json
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from deploy.local.fleet import Program
from deploy.local.ports import COUNT, FIRST, free_port

ALL = """
import deploy.local.ports as ports
ports.FIRST, ports.COUNT = {port}, 1
signal = __import__("signal")
signal.alarm(1)
ports.free_port()
"""


def test_reserved_port_is_not_given_to_another_process() -> None:
    port = free_port()
    assert FIRST <= port < FIRST + COUNT
    tried = subprocess.run([sys.executable, "-c", ALL.format(port=port)], cwd=Path(__file__).parents[2], check=False)
    assert tried.returncode < 0, "it must look for another one until it is ended"


class Stranger(http.server.BaseHTTPRequestHandler):
    """Answer as a ready process 1."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"ready": True, "pid": 1}).encode())

    @override
    def log_message(self, *given: object) -> None:
        return None


@dataclass(frozen=True)
class Alive:
    """A child that is alive."""

    pid: int
    returncode: int | None = None

    def send_signal(self, what: signal.Signals) -> None:
        raise NotImplementedError

    async def wait(self) -> int:
        raise NotImplementedError


async def test_stranger_on_the_port_is_not_ready(tmp_path: Path) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        program = Program("gateway", "gateway", {}, tmp_path / "log", server.server_port)
        program.child = Alive(2)
        assert not await program.ready()
        program.child = Alive(1)
        assert await program.ready()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
