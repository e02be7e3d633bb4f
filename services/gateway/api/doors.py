"""What every request passes before it is read, and every response before it leaves (DESIGN §13).

Plain ASGI, outside of everything else: Host and Origin, the bound on bodies, security headers, the trace's first span.
"""

from __future__ import annotations

from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.runtime.problems import document
from libs.telemetry import metrics
from libs.telemetry.traces import span
from services.gateway.domain.doors import addressed, same_origin
from services.gateway.settings import Settings

SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",
}


class Doors:
    """Refuses strangers; everything behind it was addressed to us."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers)
        if refusal is not None:
            await refusal(scope, receive, _safely(send))
            return
        name = f"{scope['method']} {scope['path']}"
        with span(name, parent=headers.get("traceparent"), kind=SpanKind.SERVER):
            await self._app(scope, _bounded(receive, self._settings.body_most), _safely(send))

    def _refusal(self, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        if not addressed(hosts, self._settings.hosts):
            return document(421, "MISDIRECTED", "This server does not answer to that Host.")
        for origin in headers.getlist("origin"):
            if origin not in self._settings.origins and not same_origin(origin, hosts[0]):
                return document(403, "FOREIGN_ORIGIN", "Pages of another origin may not send requests here.")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._settings.body_most:
            return document(413, "TOO_LARGE", f"A body has at most {self._settings.body_most} bytes.")
        return None


def _bounded(receive: Receive, most: int) -> Receive:
    """The same body, but no more of it than allowed: a chunked one names no length."""
    seen = 0

    async def take() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, f"A body has at most {most} bytes.")
        return message

    return take


def _safely(send: Send) -> Send:
    async def give(message: Message) -> None:
        if message["type"] == "http.response.start":
            metrics.responses.labels(str(message["status"])).inc()
            headers = MutableHeaders(scope=message)
            for name, value in SAFE.items():
                headers.setdefault(name, value)
        await send(message)

    return give
