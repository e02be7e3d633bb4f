"""The web application: a folder of built files, served to browsers from memory without authentication.

It answers only GET and HEAD, and only below names that no API route has, so it cannot hide a route. A page's address is
the client's own (`/chat/…`): each one gets index.html, if the request accepts HTML. The files hold no data: all of it
comes from the API, which authenticates each request.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from libs.telemetry import logger

log = logger("gateway")

INDEX = "index.html"
HASHED = "assets/"
"""The folder of files whose names contain their hash."""
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Compressed copies of a file, made by the build; the best first."""
TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:;"
    " connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
}
ABSENT = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Suma</title><h1>Suma runs, but its web application is not built</h1>
<p>The build needs the registries of Python and npm packages once. Connect this machine to them, then restart with
<code>make run</code>, which also says why an attempt failed.</p>
<p>Everything else works: <code>suma chat</code> in a terminal, and <a href="/docs">the API</a>.</p></html>
"""


@dataclass(frozen=True)
class StaticFile:
    """A file of the build, and its compressed copies by encoding."""

    path: Path
    name: str
    body: bytes
    compressed: Mapping[str, bytes]

    @cached_property
    def headers(self) -> Mapping[str, str]:
        hashed = self.name.startswith(HASHED)
        return {
            **PAGE_HEADERS,
            "Content-Type": _type_of(self.path),
            "Cache-Control": "public, max-age=31536000, immutable" if hashed else "no-cache",
            "ETag": f'"{sha256(self.body).hexdigest()[:32]}"',
            "Vary": "Accept-Encoding",
        }


class WebApp:
    """Middleware that answers requests for the application, and passes on all others."""

    def __init__(self, app: ASGIApp, folder: Path | None, reserved: Collection[str]) -> None:
        """`reserved` are first path segments that belong to the API."""
        self._app, self._reserved = app, frozenset(reserved)
        self._folder = folder.resolve() if folder is not None and (folder / INDEX).is_file() else None
        self._names = _names(self._folder) if self._folder is not None else frozenset[str]()
        self._files: dict[str, StaticFile] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = self._name(scope)
        app = self._app if name is None else await self._response(name, Headers(scope=scope))
        await app(scope, receive, send)

    def _name(self, scope: Scope) -> str | None:
        """Return the file to send, or None if the request is not for the application."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return None
        path: str = scope["path"].removeprefix("/")
        first = path.partition("/")[0]
        if first in self._reserved or first.startswith("."):
            return None
        if path in self._names:
            return path
        wants_page = path == "" or "text/html" in Headers(scope=scope).get("accept", "")
        # A missing asset is no page: HTML under its name would be taken for a script, and kept as one.
        return INDEX if wants_page and not path.startswith(HASHED) else None

    async def _response(self, name: str, headers: Headers) -> Response:
        if self._folder is None:
            return HTMLResponse(ABSENT, 503, headers={**PAGE_HEADERS, "Cache-Control": "no-store"})
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = await asyncio.to_thread(_read, self._folder, name)
        if file.headers["ETag"] in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=dict(file.headers))
        accepted = {part.partition(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")}
        for encoding, body in file.compressed.items():
            if encoding in accepted:
                return Response(body, headers={**file.headers, "Content-Encoding": encoding})
        return Response(file.body, headers=dict(file.headers))


def _names(folder: Path) -> frozenset[str]:
    """Return the files of a build. Only these names are ever opened."""
    copies = tuple(ENCODINGS.values())
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return frozenset(name for name in files if not name.endswith(copies))


def _read(folder: Path, name: str) -> StaticFile:
    path = folder / name
    copies = {encoding: path.with_name(path.name + suffix) for encoding, suffix in ENCODINGS.items()}
    compressed = {encoding: copy.read_bytes() for encoding, copy in copies.items() if copy.is_file()}
    return StaticFile(path, name, path.read_bytes(), compressed)


def _type_of(path: Path) -> str:
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
