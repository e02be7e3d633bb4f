"""The web application's files: what browsers get, and that no route of the API is hidden by them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from services.gateway.app import app
from services.gateway.context import rooms
from tests.services.gateway.running import RunningGateway, client

SCRIPT = "console.log('suma')\n" * 50
PAGE = {"Accept": "text/html,*/*;q=0.8"}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Suma</title>")
    (folder / "assets" / "main-1a2b.js").write_text(SCRIPT)
    (folder / "assets" / "main-1a2b.js.br").write_bytes(b"compressed")
    (tmp_path / "secret").write_text("secret")
    return folder


@pytest_asyncio.fixture(loop_scope="session")
async def browser(home: RunningGateway, build: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that is not signed in."""
    here = home.context
    settings = here.settings.model_copy(update={"web": build})
    async with client(app(rooms(here.platform, settings)), "", Authorization="") as made:
        yield made


@pytest.mark.parametrize("path", ["/", "/chat", "/chat/01a2.b3", "/a/page/of/tomorrow"])
async def test_every_page_gets_the_application(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(path, headers=PAGE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<title>Suma" in answer.text
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.requirement("S4-54")
async def test_page_forbids_inline_script_and_foreign_hosts(browser: httpx.AsyncClient) -> None:
    headers = (await browser.get("/", headers=PAGE)).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.requirement("A28a")
async def test_page_is_never_framed_and_loads_no_remote_image(browser: httpx.AsyncClient) -> None:
    for path in ("/", "/chat", "/docs", "/v1/me"):
        headers = (await browser.get(path, headers=PAGE)).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert (policy["frame-ancestors"], headers["x-frame-options"]) == ("'none'", "DENY"), path
        assert policy.get("img-src", "'none'") in ("'none'", "'self' blob: data:"), path
        assert policy["base-uri"] == "'none'", path


async def test_hashed_files_are_immutable_and_compressed(browser: httpx.AsyncClient) -> None:
    plain = await browser.get("/assets/main-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert plain.text == SCRIPT
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    async with browser.stream("GET", "/assets/main-1a2b.js", headers={"Accept-Encoding": "gzip, br"}) as packed:
        assert packed.headers["content-encoding"] == "br"
        assert b"".join([part async for part in packed.aiter_raw()]) == b"compressed"


async def test_known_page_is_not_sent_again(browser: httpx.AsyncClient) -> None:
    first = await browser.get("/", headers=PAGE)
    again = await browser.get("/", headers={**PAGE, "If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_service_worker_can_store_the_page(browser: httpx.AsyncClient) -> None:
    assert "<title>Suma" in (await browser.get("/", headers={"Accept": "*/*"})).text


async def test_head_sends_no_body(browser: httpx.AsyncClient) -> None:
    answer = await browser.head("/", headers=PAGE)
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.parametrize("path", ["/assets/gone-9f.js", "/../secret", "/assets/../../secret", "/%2e%2e/secret"])
async def test_nothing_outside_the_build_is_sent(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(path, headers={"Accept": "*/*"})
    assert answer.status_code == 401


async def test_no_route_is_hidden_by_the_application(browser: httpx.AsyncClient, home: RunningGateway) -> None:
    paths = [*home.app.openapi()["paths"], "/v1/unknown", "/metrics", "/docs", "/openapi.json", "/.well-known/agent"]
    for path in paths:
        answer = await browser.get(path, headers=PAGE)
        assert "<title>Suma</title>" not in answer.text.replace("\n", "") or path == "/docs", path
    assert (await browser.get("/v1/sessions", headers=PAGE)).status_code == 401
    assert (await browser.get("/healthz", headers=PAGE)).json() == {"status": "alive"}


async def test_only_reads_get_the_application(browser: httpx.AsyncClient) -> None:
    assert (await browser.post("/chat", headers=PAGE)).status_code == 401


async def test_missing_build_is_explained(home: RunningGateway) -> None:
    async with home.client("", Authorization="") as browser:
        answer = await browser.get("/", headers=PAGE)
    assert answer.status_code == 503
    assert "web application is not built" in answer.text
    assert "script" not in answer.text
