"""Serving: the port is ours before it listens, and requests in hand are answered before it closes."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from services import http_server
from tests.support import certificate as certificates


def test_occupied_port_is_refused_with_the_variable_to_set() -> None:
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(http_server.PortInUse, match=f"port {port} on 127.0.0.1 is in use: set SUMA_PORT"):
            http_server.bind("127.0.0.1", port, variable="SUMA_PORT")


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.1"])
def test_an_address_that_is_not_ours_is_refused(host: str) -> None:
    with pytest.raises(http_server.BadHost, match="cannot listen"):
        http_server.bind(host, 0, variable="SUMA_PORT")


async def test_early_request_is_answered_once_the_server_starts() -> None:
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("hello"))])
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as taken:
        async with httpx.AsyncClient(verify=False) as client:
            early = asyncio.ensure_future(client.get(http_server.url_of(taken)))
            async with http_server.serving(app, taken):
                assert (await asyncio.wait_for(early, 5)).text == "hello"


def test_wildcard_address_is_reported_as_loopback() -> None:
    with closing(http_server.bind("0.0.0.0", 0, variable="SUMA_PORT")) as taken:
        assert http_server.url_of(taken).startswith("http://127.0.0.1:")


async def test_running_request_is_answered_before_the_server_stops() -> None:
    asked, finish = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> PlainTextResponse:
        asked.set()
        await finish.wait()
        return PlainTextResponse("done")

    app = Starlette(routes=[Route("/", slow)])
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as taken:
        async with httpx.AsyncClient(base_url=http_server.url_of(taken), verify=False) as client:
            async with http_server.serving(app, taken):
                waiting = asyncio.ensure_future(client.get("/"))
                await asyncio.wait_for(asked.wait(), 5)
                asyncio.get_running_loop().call_later(0.05, finish.set)
            assert (await waiting).text == "done"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificates.certificate(tmp_path_factory.mktemp("tls"))


@pytest.mark.requirement("S3-54")
async def test_port_with_a_certificate_speaks_tls_1_3_only(certificate: tuple[Path, Path]) -> None:
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse(request.url.scheme))])
    with closing(http_server.bind("localhost", 0, variable="SUMA_PORT")) as taken:
        url = f"https://localhost:{taken.getsockname()[1]}"
        async with http_server.serving(app, taken, tls=http_server.tls_context(*certificate)):
            trusting = ssl.create_default_context(cafile=str(certificate[0]))
            async with httpx.AsyncClient(verify=trusting) as client:
                assert (await client.get(url)).text == "https"
            trusting.maximum_version = ssl.TLSVersion.TLSv1_2
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await asyncio.open_connection("localhost", taken.getsockname()[1], ssl=trusting)
            async with httpx.AsyncClient() as plain:
                with pytest.raises(httpx.TransportError):
                    await plain.get(url.replace("https", "http"))


def test_certificate_without_its_key_stops_the_start(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for chain, key in (
        (certificate[0], tmp_path / "empty.pem"),
        (certificate[1], certificate[1]),
        (tmp_path, tmp_path),
    ):
        with pytest.raises(http_server.BadCertificate, match="cannot use"):
            http_server.tls_context(chain, key)
