"""Pages of hostile servers: each is refused by its rule, or read within its bounds."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
import pytest_asyncio

from libs.clients import NoAnswer
from libs.guards import UrlRefused
from services.conversation_worker.domain.memory_window import SEEN_MOST
from services.tool_executor.fetching import KEPT_MOST, REDIRECTS_MOST, Fetcher, NoPage, TooSlow
from services.tool_executor.pages import PART_BYTES, NoSuchPart, NotReadable, Page
from services.tool_executor.settings import Web
from tests.libs.documents import samples
from tests.support.certificate import certificate
from tests.support.platform import TENANT, MovedClock
from tests.support.web_site import PRIVATE, Site, dripping, endless, moved, page, serving

pytestmark = [pytest.mark.requirement("A6", "S2-09", "S2-21")]

MOST, PUBLIC = 50_000, "93.184.215.14"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"


@pytest_asyncio.fixture(loop_scope="session")
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with serving() as made:
        # The resolver of this machine is replaced: no test may depend on real names.
        monkeypatch.setattr(socket, "getaddrinfo", made.resolve)
        yield made


class Reader:
    """Reads pages of the site as the executor does. `asked` lists the hosts that policy was asked about."""

    def __init__(self, site: Site, **settings: object) -> None:
        allowed = [f"site.test:{site.port}", f"other.test:{site.port}"]
        ports = [80, 443, site.port]
        self.site, self.clock = site, MovedClock()
        self.fetcher = Fetcher(
            Web.model_validate({"allow_hosts": allowed, "ports": ports, "bytes_most": MOST, **settings}), self.clock
        )
        self.asked: list[str] = []

    async def ask(self, host: str) -> None:
        self.asked.append(host)

    async def read(self, url: str, tenant: str = TENANT) -> Page:
        return (await self.fetcher.page(tenant, url, ask=self.ask, check=lambda: None))[0]

    async def of(self, answer: bytes) -> Page:
        self.site.paths["/"] = answer
        return await self.read(self.site.url("/"))


@pytest.fixture
def reader(site: Site) -> Reader:
    return Reader(site)


HTML = "<title>A &amp; B</title><nav>menu</nav><h1>Tea</h1><ul><li>one<ul><li>two</ul></ul><a href='/x'>more</a>"


async def test_html_becomes_markdown_with_its_title(site: Site, reader: Reader) -> None:
    found = await reader.of(page(HTML))
    assert (found.title, found.status, found.media_type, found.whole) == ("A & B", 200, "text/html", True)
    assert found.text == f"# Tea\n\n- one\n  * two\n\n[more]({site.url('/x')})"


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (b'{"a": [1]}', "application/json", '{"a": [1]}'),
        (b"# Hi", "text/markdown; charset=utf-8", "# Hi"),
        ("Grüße".encode("latin-1"), "text/plain", "Grüße"),
        ("Привет".encode("koi8-r"), "text/plain; charset=koi8-r", "Привет"),
        ("<meta charset=windows-1251><p>Привет".encode("windows-1251"), "text/html", "Привет"),
        (samples.pdf("First", "Second"), "application/pdf", "First\nSecond"),
        (b"<not>html", "text/plain", "<not>html"),
        (b"just words & <", "text/html", "just words & <"),
        (b"bare", "", "bare"),
        (b"", "text/plain", ""),
    ],
)
async def test_texts_are_read_by_their_type(reader: Reader, body: bytes, kind: str, text: str) -> None:
    assert (await reader.of(page(body, kind))).text == text


@pytest.mark.parametrize(
    ("body", "kind", "why"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png", "image/png"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "text/html", "is not"),
        (b"PK\x03\x04", "application/zip", "application/zip"),
        (b"x", "application/octet-stream", "octet-stream"),
        (b"x", "a/<script>", "unknown"),
        (b"not a PDF", "application/pdf", "cannot be read"),
        (b"%PDF-" + b"x" * MOST, "application/pdf", "larger than"),
    ],
)
async def test_other_types_are_refused_by_name(reader: Reader, body: bytes, kind: str, why: str) -> None:
    with pytest.raises(NotReadable, match=why):
        await reader.of(page(body, kind))


async def test_request_names_suma_and_carries_no_credentials(site: Site, reader: Reader) -> None:
    site.paths["/"] = page("", status="302 Found", location="/in", set_cookie="id=1")
    site.paths["/in"] = page("ok")
    await reader.read(site.url("/"))
    assert site.headers["user-agent"].startswith("suma/")
    assert not site.headers.keys() & {"cookie", "authorization", "referer", "origin"}


async def test_host_header_keeps_the_name_that_was_resolved(site: Site, reader: Reader) -> None:
    await reader.of(page("ok"))
    assert site.asked == [f"GET site.test:{site.port} /"]


async def test_certificate_is_checked_for_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, key = certificate(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(chain, key)
    async with serving(tls) as site:
        monkeypatch.setattr(socket, "getaddrinfo", site.resolve)
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        site.names["localhost"] = [[PRIVATE]]
        site.paths["/"] = page("sealed", "text/plain")
        reader = Reader(site, allow_hosts=[f"localhost:{site.port}", f"site.test:{site.port}"])
        assert (await reader.read(f"https://localhost:{site.port}/")).text == "sealed"
        with pytest.raises(NoAnswer, match="certificate"):
            await reader.read(f"https://site.test:{site.port}/")
        site.paths["/down"] = moved(site.url("/", host="localhost"))
        with pytest.raises(UrlRefused, match="may not leave https"):
            await reader.read(f"https://localhost:{site.port}/down")


@pytest.mark.parametrize(
    "addresses",
    [
        [PRIVATE],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["100.64.0.1"],
        ["93.184.215.14", PRIVATE],
        ["::ffff:127.0.0.1"],
        [],
    ],
)
async def test_public_name_that_leads_inside_is_refused(site: Site, reader: Reader, addresses: list[str]) -> None:
    site.names["public.example"] = [addresses]
    with pytest.raises(UrlRefused):
        await reader.read(site.url("/", host="public.example"))
    assert site.asked == []


async def test_name_is_resolved_only_once(site: Site, reader: Reader) -> None:
    site.names["site.test"] = [[PRIVATE], ["203.0.113.1"]]
    await reader.of(page("ok"))
    assert site.names["site.test"] == [["203.0.113.1"]]


async def test_allowed_name_never_leads_to_metadata(site: Site, reader: Reader) -> None:
    site.names["site.test"] = [["169.254.169.254"]]
    with pytest.raises(UrlRefused, match="metadata"):
        await reader.read(site.url("/"))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://site.test/",
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://site.test@127.0.0.1/",
        "http://example.org./",
        "http://ex\u00e4mple.org/",
        "http://example.org:22/",
        "http://localhost/",
        "http://site.test/",
    ],
)
async def test_address_that_may_not_be_read_is_refused(site: Site, reader: Reader, url: str) -> None:
    with pytest.raises(UrlRefused):
        await reader.read(url)
    site.paths["/"] = moved(url)
    with pytest.raises((UrlRefused, NoAnswer)):
        await reader.read(site.url("/"))
    assert len(site.asked) == 1


async def test_redirects_are_followed_and_each_new_host_is_asked(site: Site, reader: Reader) -> None:
    site.names["other.test"] = [[PRIVATE]]
    site.paths["/"] = moved("/two", "301 Moved Permanently")
    site.paths["/two"] = moved(site.url("/three", host="other.test"), "307 Temporary Redirect")
    site.paths["/three"] = moved(site.url("/four"))
    site.paths["/four"] = page("here", "text/plain")
    found = await reader.read(site.url("/"))
    assert (found.text, found.url, reader.asked) == ("here", site.url("/four"), ["other.test"])


async def test_redirects_in_a_circle_end(site: Site, reader: Reader) -> None:
    site.paths["/"] = moved("/")
    with pytest.raises(NoPage, match="more than 5 times"):
        await reader.read(site.url("/"))
    assert len(site.asked) == REDIRECTS_MOST + 1


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "500 Oh", "429 Slow", "302 No Location"])
async def test_error_of_the_server_fails_with_its_status(reader: Reader, status: str) -> None:
    with pytest.raises(NoPage, match=f"HTTP status {status[:3]}"):
        await reader.of(page("no", status=status))


async def test_nothing_listens_there(site: Site) -> None:
    reader = Reader(site, allow_hosts=["site.test:1"])
    with pytest.raises(NoAnswer, match="cannot be reached"):
        await reader.read("http://site.test:1/")


@pytest.mark.parametrize(
    "answer",
    [
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1_000_000 + b"\r\n\r\n",
        HEAD + b"content-length: 100\r\n\r\nshort",
        HEAD + b"content-length: -1\r\n\r\nx",
        HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nx",
        HEAD + b"transfer-encoding: chunked\r\n\r\nZZ\r\nx\r\n",
        HEAD + b"content-encoding: gzip\r\n\r\nnot gzip",
        HEAD + b"content-encoding: br\r\n\r\nx",
        HEAD + b"content-encoding: gzip, gzip\r\n\r\nx",
        b"",
    ],
    ids=lambda answer: answer[-24:].decode().strip() or "nothing",
)
async def test_answer_that_breaks_the_protocol_is_refused(reader: Reader, answer: bytes) -> None:
    with pytest.raises(NoAnswer):
        await reader.of(answer)


@pytest.mark.parametrize("start", [b"", HEAD, HEAD + b"\r\n"], ids=["status", "headers", "body"])
async def test_slow_drip_ends_at_the_time_limit(site: Site, start: bytes) -> None:
    reader = Reader(site, seconds=0.3)
    site.paths["/"] = dripping(start, b"x" if not start or start.endswith(b"\r\n\r\n") else b"x: y\r\n")
    with pytest.raises(TooSlow):
        await reader.read(site.url("/"))


async def test_endless_body_is_cut(site: Site, reader: Reader) -> None:
    site.paths["/"] = endless(HEAD + b"\r\n", b"x" * 10_000)
    found = await reader.read(site.url("/"))
    assert (len(found.text), found.whole) == (MOST, False)
    assert not found.part(0, cached=False)["complete"]


async def test_endless_informational_answers_end_at_the_time_limit(site: Site) -> None:
    reader = Reader(site, seconds=0.3)
    site.paths["/"] = dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
    with pytest.raises(TooSlow):
        await reader.read(site.url("/"))


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
async def test_compressed_answer_is_unpacked(reader: Reader, pack: object) -> None:
    assert callable(pack)
    encoding = "gzip" if pack is gzip.compress else "deflate"
    found = await reader.of(page(pack(b"words"), "text/plain", content_encoding=encoding))
    assert (found.text, found.whole) == ("words", True)


async def test_compressed_bomb_is_cut(reader: Reader) -> None:
    bomb = gzip.compress(b"x" * 50_000_000)
    found = await Reader(reader.site, bytes_most=1_000_000).of(page(bomb, "text/plain", content_encoding="gzip"))
    assert (len(found.text), found.whole) == (1_000_000, False)


async def test_compressed_nothing_without_end_is_refused(site: Site, reader: Reader) -> None:
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    site.paths["/"] = endless(HEAD + b"content-encoding: gzip\r\n\r\n" + start, b"\0\0\0\xff\xff" * 1_000)
    with pytest.raises(NoAnswer):
        await reader.read(site.url("/"))


DEEP = 100_000
WIDE = Web(bytes_most=4_000_000)


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<p>start</p>" + "<div>" * DEEP + "x" + "</div>" * DEEP, False),
        ("<p>start</p>" + "<b><p>" * DEEP, True),
        ("<p>start</p><table>" + "<tr><td colspan=1000000>x" * 40_000, False),
        ("<p>start</p>" + "<a x='" * DEEP, True),
        ("<p>start</p><" + "!--" * DEEP, True),
        ("<p>start</p>" + "</p>" * DEEP, True),
    ],
    ids=["nested", "open", "spanned", "quotes", "comment", "ends"],
)
async def test_hostile_html_is_bounded_beside_other_pages(site: Site, html: str, *, kept: bool) -> None:
    reader, finished = Reader(site, bytes_most=4_000_000), list[str]()
    site.paths |= {"/": page(html), "/small": page("small", "text/plain")}

    async def read(path: str) -> Page:
        found = await reader.read(site.url(path))
        finished.append(path)
        return found

    found, _ = await asyncio.gather(read("/"), read("/small"))
    assert found.text.startswith("start")
    assert found.whole is kept
    assert finished == ["/small", "/"]


async def test_part_with_a_long_address_fits_into_an_observation(reader: Reader) -> None:
    found = await reader.of(page("words “ü”\n" * 4_000, "text/plain"))
    for address in (found.url, "https://page.example/" + "a" * 8_000):
        part = dict(replace(found, url=address).part(0, cached=False))
        assert PART_BYTES < len(orjson.dumps(part)) <= SEEN_MOST


async def test_long_page_is_read_in_parts_to_its_end(reader: Reader) -> None:
    text = "".join(f"{n} “ü”\n" for n in range(2_000))
    found = await reader.of(page(text, "text/plain"))
    parts, offset = list[str](), 0
    while offset is not None:
        part = found.part(offset, cached=False)
        assert (part["complete"], part["offset"]) == (False, offset)
        assert len(part["text"].encode()) <= PART_BYTES
        parts.append(part["text"])
        offset = part["next"]
    assert "".join(parts) == text
    with pytest.raises(NoSuchPart):
        found.part(len(text), cached=False)


async def test_page_is_kept_for_its_tenant_for_a_while(site: Site, reader: Reader) -> None:
    await reader.of(page("one", "text/plain"))
    again = await reader.of(page("two", "text/plain"))
    other = await reader.read(site.url("/"), tenant="acme")
    reader.clock.by += timedelta(minutes=5)
    later = await reader.read(site.url("/"))
    assert [found.text for found in (again, other, later)] == ["one", "two", "two"]


async def test_oldest_pages_make_room(site: Site) -> None:
    reader, most = Reader(site, bytes_most=1_000_000), KEPT_MOST // 1_000_000
    for n in range(most + 1):
        site.paths[f"/{n}"] = page("x" * 1_000_000, "text/plain")
        await reader.read(site.url(f"/{n}"))
    before = len(site.asked)
    await reader.read(site.url(f"/{most}"))
    await reader.read(site.url("/0"))
    assert len(site.asked) == before + 1


async def test_failed_page_is_asked_for_again(site: Site, reader: Reader) -> None:
    with pytest.raises(NoPage):
        await reader.of(page("no", status="503 Busy"))
    assert (await reader.of(page("yes", "text/plain"))).text == "yes"
