"""A platform that terminates TLS itself, as a browser and the terminal meet it."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from deploy.local.ports import free_port
from tests.infrastructure.wish import get
from tests.journeys.installation import Installation, installation
from tests.support.certificate import certificate


@dataclass(frozen=True)
class Secure:
    """The platform, its address, and the authority of its certificate."""

    own: Installation
    url: str
    authority: Path

    def client(self, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> httpx.AsyncClient:
        trusting = ssl.create_default_context(cafile=str(self.authority))
        trusting.maximum_version = newest
        return httpx.AsyncClient(base_url=self.url, verify=trusting, timeout=60, trust_env=False)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def secure(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Secure]:
    place = tmp_path_factory.mktemp("tls")
    chain, key = certificate(place)
    url = f"https://localhost:{(port := free_port())}"
    tls = {"SUMA_TLS_CERT_FILE": str(chain), "SUMA_TLS_KEY_FILE": str(key), "SUMA_GATEWAY__PUBLIC_URL": url}
    async with installation(place, SUMA_PORT=str(port), **tls) as own:
        await own.start()
        yield Secure(own, url, chain)


@pytest.mark.requirement("S3-54")
async def test_printed_link_signs_in_over_tls(secure: Secure) -> None:
    assert secure.own.process is not None
    assert secure.own.process.stdout is not None
    link = re.search(r"https://\S+\?code=(\S+)", (await secure.own.process.stdout.readline()).decode())
    assert link is not None
    assert link[0].startswith(secure.url)
    async with secure.client() as browser:
        page = await browser.get("/healthz")
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        signed_in = await browser.post("/v1/signin", json={}, headers={"Authorization": f"Bearer {link[1]}"})
        assert signed_in.status_code == 200
        assert "; Secure" in signed_in.headers["set-cookie"]
        assert (await get(browser, "/v1/me"))["signed_in_with"] == "web"


@pytest.mark.requirement("S3-54")
async def test_tls_1_2_and_plain_http_are_refused(secure: Secure) -> None:
    async with secure.client(ssl.TLSVersion.TLSv1_2) as old:
        with pytest.raises(httpx.ConnectError):
            await old.get("/healthz")
    async with httpx.AsyncClient(timeout=60) as plain:
        with pytest.raises(httpx.TransportError):
            await plain.get(secure.url.replace("https", "http"))


async def test_commands_need_the_authority_of_the_certificate(secure: Secure) -> None:
    said = await secure.own.run("services.cli", "status")
    assert said.code == 1
    assert f"{secure.url} cannot be called: its certificate is not trusted: set SSL_CERT_FILE" in said.out
    refused = await secure.own.run("services.cli", "sessions")
    assert refused.err.startswith(f"suma: cannot call {secure.url}: its certificate is not trusted: set SSL_CERT_FILE")
    assert refused.code == 4

    trusted = str(secure.authority)
    said = await secure.own.run("services.cli", "status", SSL_CERT_FILE=trusted)
    assert (said.code, f"Suma is ready at {secure.url}" in said.out) == (0, True)
    assert (await secure.own.run("services.cli", "sessions", SSL_CERT_FILE=trusted)).code == 0
    wrong = await secure.own.run("services.cli", "status", SSL_CERT_FILE="/nonesuch")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
