"""Conditional reads (RFC 9110, 13): an `ETag` on every JSON read, and 304 if the client already has this content.

Clients poll these reads, and their bodies are small, so the tag is a hash of the body. It covers the caller's identity,
so that no tag of one identity matches another's read, and leaves out `as_of`, which alone would change each time. The
route has run by then: a 304 saves transfer and rendering, and needs the same permissions and audit records as a 200.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from libs.identity import Principal

BYTES_MOST = 1 << 20
"""Larger bodies have no tag: hashing them would hold up other requests."""
VARY = "Authorization, Cookie, X-API-Key"
STORED = "private, no-cache"
"""A browser may keep the body for its own user, and must ask before each use."""
ADMIN = "/v1/admin/"
"""Reads below this path keep `no-store`."""


class ConditionalReads:
    """Middleware that adds tags to JSON reads and answers 304. It must run behind the authentication."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, _Answer(scope, send).send)


class _Answer:
    """One answer. Its head is held back until its body shows whether it gets a tag."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._head: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_json(message):
            self._head = message
            return
        head, self._head = self._head, None
        if head is not None and _is_whole(message):
            head, message = self._tagged(head, message)
        if head is not None:
            await self._send(head)
        await self._send(message)

    def _tagged(self, head: Message, message: Message) -> tuple[Message, Message]:
        tag = _tag(self._scope.get("state", {}).get("caller"), message.get("body", b""))
        headers = MutableHeaders(scope=head)
        headers["ETag"], headers["Vary"] = tag, VARY
        if not self._scope["path"].startswith(ADMIN):
            headers["Cache-Control"] = STORED
        if not _matches(Headers(scope=self._scope).getlist("if-none-match"), tag):
            return head, message
        del headers["Content-Length"], headers["Content-Type"]
        return {**head, "status": 304, "headers": headers.raw}, {**message, "body": b""}


def _is_json(head: Message) -> bool:
    headers = Headers(raw=head["headers"])
    return head["status"] == 200 and headers.get("content-type") == "application/json" and "etag" not in headers


def _is_whole(message: Message) -> bool:
    return not message.get("more_body", False) and len(message.get("body", b"")) <= BYTES_MOST


def _tag(caller: Principal | None, body: bytes) -> str:
    content = orjson.loads(body)
    if isinstance(content, dict) and "as_of" in content:
        body = orjson.dumps({name: value for name, value in content.items() if name != "as_of"})
    whose = f"{caller.tenant} {caller.id}\n" if caller is not None else "\n"
    return f'W/"{blake2b(whose.encode() + body, digest_size=16).hexdigest()}"'


def _matches(asked: list[str], tag: str) -> bool:
    tags = [one.strip() for line in asked for one in line.split(",")]
    return "*" in tags or tag.removeprefix("W/") in [one.removeprefix("W/") for one in tags]
