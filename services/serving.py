"""HTTP servers in this process: the port is taken before anything starts, and a stop answers what is in hand."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import uvicorn
from typing_extensions import override

from libs.errors import Rejected
from libs.runtime.leaving import Leaving

if TYPE_CHECKING:
    from starlette.types import ASGIApp

STOP_SECONDS = 3
"""For requests in hand; an event stream is cut after it, and its viewer resumes at the next start."""


BACKLOG = 2048
CONNECTIONS_MOST = 16_384
"""Open connections, idle ones and streams among them; one more is answered 503."""


class PortInUse(Rejected):
    """Another program listens there."""

    code = "PORT_IN_USE"


class BadHost(Rejected):
    """This machine has no such address."""

    code = "BAD_HOST"


def bind(host: str, port: int, *, variable: str) -> socket.socket:
    """Take the port; who connects before it serves waits for the start to end.

    Raises `PortInUse` or `BadHost`; both name the `variable` to set."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind, proto)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(address)
            # Only a listening socket keeps others off: two that merely bound it, as a restart must, may share a port.
            taken.listen(BACKLOG)
        except OSError:
            taken.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use: set {variable} to another one") from None
        raise BadHost(f"cannot listen on {host} port {port} ({error.strerror}): set SUMA_HOST or {variable}") from None
    return taken


def url_of(taken: socket.socket) -> str:
    """Where this machine's own programs reach it."""
    host, port = taken.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@asynccontextmanager
async def serving(app: ASGIApp, taken: socket.socket, leaving: Leaving | None = None) -> AsyncIterator[None]:
    """Answer requests until the block ends; entered once the port listens. Then requests in hand have their time, but
    not while `leaving` is hurried."""
    server = _Server(
        uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            lifespan="auto",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            limit_concurrency=CONNECTIONS_MOST,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
    )
    answering = asyncio.ensure_future(server.serve([taken]))
    listening = asyncio.ensure_future(server.listening.wait())
    try:
        await asyncio.wait((answering, listening), return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        listening.cancel()
        server.should_exit = True
        await (leaving or Leaving()).within(2 * STOP_SECONDS, asyncio.shield(answering))
        server.force_exit = True
        await answering


class _Server(uvicorn.Server):
    """uvicorn, less its signal handlers, which would stop the server and leave the rest of the process running."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()
