"""HTTP servers of this process: the port is bound before anything else starts, and a stop finishes running requests."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from typing_extensions import override

from libs.errors import Rejected
from libs.runtime import Shutdown
from services.connections import Bounds, Connections, bounded

if TYPE_CHECKING:
    from starlette.types import ASGIApp

STOP_SECONDS = 3
"""Seconds for running requests; event streams are cut after it, and their clients resume at the next start."""
TICK_SECONDS = 1.0


BACKLOG = 2048


class PortInUse(Rejected):
    """Another program listens on this port; choose another port."""

    code = "PORT_IN_USE"


class BadHost(Rejected):
    """This machine has no such address; correct SUMA_HOST."""

    code = "BAD_HOST"


def bind(host: str, port: int, *, variable: str) -> socket.socket:
    """Bind the port and listen; early clients wait until the start is complete.

    Raises `PortInUse` or `BadHost`; both name the `variable` to set.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind, proto)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(address)
            # Only a listening socket reserves the port: with SO_REUSEADDR, which a restart needs, two sockets can bind
            # it.
            taken.listen(BACKLOG)
        except OSError:
            taken.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use: set {variable} to another one") from None
        raise BadHost(f"cannot listen on {host} port {port} ({error.strerror}): set SUMA_HOST or {variable}") from None
    return taken


class BadCertificate(Rejected):
    """The TLS certificate or its key cannot be used; correct SUMA_TLS_CERT_FILE or SUMA_TLS_KEY_FILE."""

    code = "BAD_CERTIFICATE"


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a context for TLS 1.3 alone (S3-54), with the certificate chain and its key in PEM.

    Raises:
        BadCertificate: a file cannot be read, or they do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise BadCertificate(f"cannot use {certificate} with {key}: {error}") from None
    return context


def url_of(taken: socket.socket, *, scheme: str = "http") -> str:
    """Return the URL for programs on this machine."""
    host, port = taken.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


@asynccontextmanager
async def serving(
    app: ASGIApp,
    taken: socket.socket,
    leaving: Shutdown | None = None,
    *,
    among: Connections | None = None,
    tls: ssl.SSLContext | None = None,
    bounds: Bounds = Bounds(),  # noqa: B008 - frozen
) -> AsyncIterator[None]:
    """Serve the app until the block ends; the block is entered once the port listens. Then running requests may finish,
    unless `leaving` is hurried. `among` are the connections of the whole process, for processes with several ports.
    Without `tls` a proxy terminates it, or nothing does.
    """
    server = _Server(
        uvicorn.Config(
            app,
            http=cast("Any", bounded(bounds, among or Connections())),
            # `Bounded` names its own WebSocket protocol, which loads with the first one.
            ws="none",
            ws_max_size=bounds.message_bytes,
            ws_per_message_deflate=False,
            lifespan="auto",
            log_config=None,
            access_log=False,
            server_header=False,
            # A client could claim any address in such a header.
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=STOP_SECONDS,
            ssl_context_factory=None if tls is None else lambda config, default: tls,
        )
    )
    answering = asyncio.ensure_future(server.serve([taken]))
    listening = asyncio.ensure_future(server.listening.wait())
    try:
        await asyncio.wait((answering, listening), return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        listening.cancel()
        server.leave()
        # Shielded: a server that runs out of time closes its own connections, by `force_exit`.
        await (leaving or Shutdown()).within(2 * STOP_SECONDS, asyncio.shield(answering))
        server.force_exit = True
        await answering


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, which would stop the server and leave the rest of the process running.

    It also wakes once a second, for the date of its answers, where uvicorn looks ten times a second whether to end.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening, self._leaving = asyncio.Event(), asyncio.Event()

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @override
    async def main_loop(self) -> None:
        # uvicorn sets the date at each tenth tick.
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._leaving.wait()

    def leave(self) -> None:
        """Take no new connections, and end once running requests have."""
        self.should_exit = True
        self._leaving.set()
