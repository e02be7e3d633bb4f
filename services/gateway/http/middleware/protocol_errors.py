"""Errors of other protocols' paths in the words of their protocol.

The middleware and the exception handlers answer with problem documents (RFC 9457). Below a protocol's path that
protocol's own status and error body take their place, under the same headers, so that its clients can read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.runtime.problem_details import MEDIA_TYPE

Problem = Mapping[str, Any]
Translate = Callable[[Problem, str], tuple[int, Mapping[str, Any]] | None]
"""Return the status and body for a problem at a path, or None if the path is not the protocol's."""


class ProtocolErrors:
    """Middleware that translates problem documents. `translations` are asked in order."""

    def __init__(self, app: ASGIApp, translations: tuple[Translate, ...]) -> None:
        self._app, self._translations = app, translations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope["path"], self._translations, send)
        await self._app(scope, receive, answer.send)


class _Answer:
    """One answer. The head of a problem is held back until its body is translated."""

    def __init__(self, path: str, translations: tuple[Translate, ...], send: Send) -> None:
        self._path, self._translations, self._send = path, translations, send
        self._head: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if Headers(raw=message["headers"]).get("content-type") == MEDIA_TYPE:
                self._head = message
                return
        elif self._head is not None:
            self._body += message.get("body", b"")
            if message.get("more_body", False):
                return
            head, self._head = self._head, None
            body = self._translated(head, bytes(self._body))
            await self._send(head)
            message = {"type": "http.response.body", "body": body}
        await self._send(message)

    def _translated(self, head: Message, body: bytes) -> bytes:
        problem = orjson.loads(body)
        for translate in self._translations:
            translated = translate(problem, self._path)
            if translated is not None:
                head["status"], body = translated[0], orjson.dumps(translated[1])
                headers = MutableHeaders(raw=head["headers"])
                headers["content-type"], headers["content-length"] = "application/json", str(len(body))
                head["headers"] = headers.raw
                break
        return body
