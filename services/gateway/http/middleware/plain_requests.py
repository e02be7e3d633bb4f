"""The outermost middleware: every rule below it sees the path and the method that are served."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.http.urls import UPLOADS

OVERRIDES = ("PATCH", "DELETE", "HEAD")


class PlainRequests:
    """Middleware that takes slashes off the end of a path, and the method of an upload from its header (tus 1.0)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        if scope.get("method") == "POST" and scope["path"].startswith(f"{UPLOADS}/"):
            method = Headers(scope=scope).get("x-http-method-override", "").upper()
            scope["method"] = method if method in OVERRIDES else "POST"
        await self._app(scope, receive, send)
