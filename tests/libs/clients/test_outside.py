"""Calls to addresses that others name: screened when they are made, not redirected, and bounded (S2-21)."""

from __future__ import annotations

import gzip
import socket
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from libs.clients.outside import TooLarge, check_reachable, outside
from libs.guards.blocked import UrlRefused
from services import http_server

MOST = 1_000
PUBLIC, PRIVATE = "93.184.215.14", "127.0.0.1"


class Site:
    """A server on this machine, and the name servers' answers for each of its names, the next one first."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.names: dict[str, list[list[str]]] = {}
        self.hosts: list[str] = []
        """The Host headers of its requests."""
        self.answer = Response("ok")

    def url(self, host: str) -> str:
        return f"http://{host}:{self.port}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.hosts += [value.decode() for name, value in scope["headers"] if name == b"host"]
        await self.answer(scope, receive, send)

    def resolve(self, host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        addresses = self.names[host].pop(0) if host in self.names else [host]
        if not addresses:
            raise socket.gaierror
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]


@pytest_asyncio.fixture(loop_scope="session")
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    with closing(http_server.bind(PRIVATE, 0, variable="SUMA_PORT")) as door:
        made = Site(door.getsockname()[1])
        async with http_server.serving(made, door):
            # The resolver of this machine is replaced: no test may depend on real names.
            monkeypatch.setattr(socket, "getaddrinfo", made.resolve)
            yield made


def client(*, private: bool = True) -> httpx.AsyncClient:
    return outside(private=private, seconds=10, most=MOST)


async def test_allowed_host_is_called_by_its_own_name(site: Site) -> None:
    site.names["hook.internal"] = [[PRIVATE]]
    async with client() as http:
        assert (await http.get(site.url("hook.internal"))).text == "ok"
    assert site.hosts == [f"hook.internal:{site.port}"]


@pytest.mark.requirement("A6")
async def test_name_that_turned_private_is_not_called(site: Site) -> None:
    site.names["rebinds.example"] = [[PUBLIC], [PRIVATE]]
    assert await check_reachable("rebinds.example", site.port, private=False) == PUBLIC
    async with client(private=False) as http:
        with pytest.raises(httpx.ConnectError, match="not a public address"):
            await http.get(site.url("rebinds.example"))
    assert site.hosts == []


@pytest.mark.requirement("A6")
@pytest.mark.parametrize("addresses", [[PUBLIC, PRIVATE], [PRIVATE, PUBLIC], ["::ffff:127.0.0.1"], []])
async def test_one_private_address_refuses_the_name(site: Site, addresses: list[str]) -> None:
    site.names["mixed.example"] = [addresses]
    async with client(private=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(site.url("mixed.example"))
    assert site.hosts == []


@pytest.mark.requirement("A6")
@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "fe80::1"])
async def test_metadata_services_are_never_called(site: Site, address: str) -> None:
    site.names["meta.internal"] = [[PRIVATE, address]]
    async with client() as http:
        with pytest.raises(httpx.ConnectError, match="metadata"):
            await http.get(site.url("meta.internal"))
    assert site.hosts == []


async def test_redirect_is_not_followed(site: Site) -> None:
    site.answer = RedirectResponse(site.url("elsewhere.example"))
    async with client() as http:
        assert (await http.get(site.url(PRIVATE))).status_code == 307
    assert len(site.hosts) == 1


async def test_larger_answer_is_cut_off(site: Site) -> None:
    async with client() as http:
        site.answer = Response(b"x" * MOST)
        assert len((await http.get(site.url(PRIVATE))).content) == MOST
        site.answer = Response(b"x" * (MOST + 1))
        with pytest.raises(TooLarge):
            await http.get(site.url(PRIVATE))


async def test_compressed_answer_is_refused(site: Site) -> None:
    site.answer = Response(gzip.compress(b"x" * 100 * MOST), headers={"Content-Encoding": "gzip"})
    async with client() as http:
        with pytest.raises(httpx.ReadError, match="compressed"):
            await http.get(site.url(PRIVATE))


async def test_name_without_an_address_is_refused(site: Site) -> None:
    site.names["void.example"] = [[]]
    with pytest.raises(UrlRefused):
        await check_reachable("void.example", 443, private=True)
