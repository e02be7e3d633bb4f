"""`python -m libs.policy.bundle_server FOLDER`: serve the rules in FOLDER over HTTP as the bundle that OPA polls.

OPA reads a bundle from a file once, at its start; from a server it loads a new one while it runs. Rules that the
in-process engine would refuse are not served: OPA keeps the old ones, and its status gives the reason.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

from libs.policy.bundle import Bundle, BundleBroken, try_apart

PORT = 8182
NAME = "suma.tar.gz"
Read = Callable[[], Bundle]
"""Return the bundle to serve now. Raises BundleBroken."""


class Tried:
    """Reads the bundle in a folder, and tries each revision once."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._sound, self._lock = folder, "", threading.Lock()

    def __call__(self) -> Bundle:
        bundle = Bundle.read(self._folder)
        # OPA servers poll side by side; one trial of a revision serves them all.
        with self._lock:
            if bundle.revision != self._sound:
                try_apart(bundle)
                self._sound = bundle.revision
        return bundle


@contextmanager
def serving(read: Read, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve bundles from `read` in a thread. Yield the base URL; the bundle is at `suma.tar.gz` below it."""
    server = ThreadingHTTPServer((host, port), partial(_Request, read))
    # A poll that hangs must not hold up the end of the process.
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Request(BaseHTTPRequestHandler):
    def __init__(self, read: Read, *given: Any) -> None:
        self._read = read
        super().__init__(*given)

    def do_GET(self) -> None:
        if self.path != f"/{NAME}":
            self.send_error(404)
            return
        try:
            bundle = self._read()
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


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    read = Tried(asked.folder)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    try:
        revision = read().revision
        with serving(read, asked.host, asked.port) as url:
            sys.stdout.write(f"serving {revision} at {url}/{NAME}\n")
            sys.stdout.flush()
            stopped.wait()
    except (BundleBroken, OSError) as error:
        sys.stderr.write(f"bundle_server: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m libs.policy.bundle_server", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the rules, such as deploy/opa")
    parser.add_argument("--host", default=os.environ.get("SUMA_HOST", "127.0.0.1"), help="the address to listen on")
    parser.add_argument(
        "--port", type=int, default=os.environ.get("SUMA_PORT", PORT), help="the port; 0 picks a free one"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
