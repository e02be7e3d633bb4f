"""HTTP to an address that a user or the settings name: screened, without redirects, with bounded answers (S2-21).

A name is resolved once for each request, all its addresses are checked, and a checked one is dialled, so that a second
answer of the name server cannot lead elsewhere. A client is for one host: its connections are kept by address, and two
hosts may share one. Proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from typing_extensions import override

from libs import __version__
from libs.errors import Rejected, Unavailable
from libs.guards.blocked import UrlRefused
from libs.guards.urls import Target, check_addresses, gives_credentials

PLAIN = ("identity",)
COMPRESSED = ("identity", "gzip", "x-gzip", "deflate")
WINDOW = {"deflate": zlib.MAX_WBITS}
"""The formats of compressed answers (RFC 9110, 8.4.1); the others are gzip."""
OK = range(200, 300)


class TooLarge(httpx.StreamError):
    """The answer is larger than the limit."""

    def __init__(self) -> None:
        super().__init__("the answer is too large")


class NoAnswer(Rejected):
    """The server gave no answer that can be used."""

    code = "NO_ANSWER"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a GET. `body` is empty unless the status is a 2xx; it is not `whole` if the limit cut it."""

    status: int
    location: str | None
    content_type: str
    body: bytes = b""
    whole: bool = True


class NotReached(Unavailable):
    """The server cannot be reached; it received nothing."""

    code = "NOT_REACHED"


class NoReply(Unavailable):
    """The connection ended without an answer; the server may have done what was asked."""

    code = "NO_REPLY"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request of any method, whatever its status."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


async def send(
    target: Target,
    method: str,
    *,
    headers: Mapping[str, str],
    json: Any = None,
    form: Mapping[str, str] | None = None,
    seconds: float,
    most: int,
) -> Reply:
    """Send one request, with a JSON body or a multipart form. It follows no redirect, so that a key goes to one host.

    Raises:
        UrlRefused: the host leads to an address that may not be reached.
        NotReached, NoReply: nothing arrived there, or no answer here.
        NoAnswer: the answer is larger than `most` bytes, or breaks the protocol.
    """
    files = [(name, (None, value)) for name, value in form.items()] if form is not None else None
    try:
        async with outside(private=target.private, seconds=seconds, most=most) as http:
            reply = await http.request(method, target.url, headers=dict(headers), json=json, files=files)
        return Reply(reply.status_code, dict(reply.headers), reply.content)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        if isinstance(error.__cause__, UrlRefused):
            raise error.__cause__ from None
        raise NotReached(f"{target.host} cannot be reached") from error
    except TooLarge:
        raise NoAnswer(f"{target.host} sent more than {most:,} bytes") from None
    except (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError) as error:
        raise NoReply(f"{target.host} sent no answer ({type(error).__name__})") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise NoAnswer(f"{target.host} sent no usable answer ({type(error).__name__})") from error


async def get(target: Target, *, accept: str, seconds: float, most: int) -> Answer:
    """Send one GET, without cookies and credentials. A body beyond `most` bytes, unpacked, is cut.

    Raises:
        UrlRefused: the host leads to an address that may not be reached.
        NoAnswer: it cannot be reached, or its answer breaks the protocol.
    """
    try:
        # A body is read up to its limit and left then; this bounds what unpacks to nothing.
        async with (
            _client(_Screened(target.private, 2 * most, COMPRESSED), seconds) as http,
            http.stream("GET", target.url, headers={"Accept": accept}) as answer,
        ):
            about = answer.headers
            found = Answer(answer.status_code, about.get("location"), about.get("content-type", ""))
            if answer.status_code not in OK:
                return found
            body, whole = await _unpacked(answer, most)
            return Answer(found.status, found.location, found.content_type, body, whole)
    except httpx.ConnectError as error:
        if isinstance(error.__cause__, UrlRefused):
            raise error.__cause__ from None
        raise NoAnswer(f"{target.host} cannot be reached: {error}") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, zlib.error, UnicodeError) as error:
        # The texts of other errors may quote the server.
        raise NoAnswer(f"{target.host} sent no usable answer ({type(error).__name__})") from error


async def _unpacked(answer: httpx.Response, most: int) -> tuple[bytes, bool]:
    """Return the body up to `most` bytes, and whether that is all of it. No part grows beyond that in memory."""
    encoding = answer.headers.get("content-encoding", "identity").lower()
    unpack = None if encoding in PLAIN else zlib.decompressobj(WINDOW.get(encoding, zlib.MAX_WBITS | 16))
    body = bytearray()
    async for part in answer.aiter_raw():
        body += unpack.decompress(part, most + 1 - len(body)) if unpack else part
        if len(body) > most:
            return bytes(body[:most]), False
    return bytes(body), unpack is None or unpack.eof


def outside(*, private: bool, seconds: float, most: int) -> httpx.AsyncClient:
    """Return a client for one host. `private`: it may be on this machine or network. An answer has at most `most`
    bytes; `seconds` bounds the connection, and each wait for the next bytes.
    """
    return _client(_Screened(private, most, PLAIN), seconds)


def _client(transport: _Screened, seconds: float) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=transport,
        timeout=seconds,
        trust_env=False,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity", "User-Agent": f"suma/{__version__}"},
    )


async def check_reachable(host: str, port: int, *, private: bool) -> str:
    """Return an address of the host. Raises UrlRefused if one of its addresses may not be reached, or it has none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise UrlRefused("url.unresolved", f"{host} has no address.") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not private:
        return str(check_addresses(addresses)[0])
    if any(map(gives_credentials, addresses)):
        raise UrlRefused("url.address", f"{host} leads to a metadata service.")
    return addresses[0]


class _Screened(httpx.AsyncHTTPTransport):
    """Sends each request to a checked address of its host."""

    def __init__(self, private: bool, most: int, encodings: tuple[str, ...]) -> None:
        super().__init__()
        self._private, self._most, self._encodings = private, most, encodings

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            address = await check_reachable(url.host, port, private=self._private)
        except UrlRefused as refused:
            raise httpx.ConnectError(str(refused), request=request) from refused
        # The Host header and the certificate's name stay those of the URL.
        request.url = url.copy_with(host=address)
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        answer = await super().handle_async_request(request)
        request.url = url
        if answer.headers.get("content-encoding", "identity").lower() not in self._encodings:
            # A compressed answer could be small on the wire and huge in memory.
            await answer.aclose()
            raise httpx.ReadError("the answer is compressed, which was not asked for", request=request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        answer.stream = _Bounded(answer.stream, self._most)
        return answer


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, most: int) -> None:
        self._inner, self._left = inner, most

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            self._left -= len(part)
            if self._left < 0:
                raise TooLarge
            yield part

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()
