"""The outermost ASGI middleware: Host and Origin, declared lengths, security headers, the trace's first span."""

from __future__ import annotations

import time

from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.runtime import refusal
from libs.runtime.problem_details import document
from libs.telemetry import metrics, span
from services.gateway.http.challenges import challenge
from services.gateway.http.refusal_records import anonymous
from services.gateway.http.refusals import RefusalLog
from services.gateway.http.urls import TUS, UPLOADS, base
from services.gateway.settings import Settings

SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",
}


FOREIGN = {421: "MISDIRECTED", 403: "FOREIGN_ORIGIN"}
HSTS = "max-age=31536000"
"""Browsers use TLS alone for a year. Subdomains are not ours to bind."""
STARTS = ("http.response.start", "websocket.http.response.start")
"""The second one refuses a WebSocket before it opens."""


class RequestGuard:
    """Middleware that rejects requests with a foreign Host or Origin, or too large a body; at the `inline` paths JSON
    may hold files.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusals: RefusalLog, inline: frozenset[str]) -> None:
        self._app, self._settings, self._refusals, self._inline = app, settings, refusals, inline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refusal(headers, None if sends_file(scope) else body_limit(scope, self._settings, self._inline))
        if refused is not None:
            if refused.status_code in FOREIGN:
                await self._refusals.note(anonymous(FOREIGN[refused.status_code]))
            await refused(scope, receive, self._with_security_headers(scope, send))
            return
        name = f"{scope.get('method', 'WEBSOCKET')} {scope['path']}"
        with span(name, parent=headers.get("traceparent"), kind=SpanKind.SERVER):
            await self._app(scope, receive, self._with_security_headers(scope, send))

    def _refusal(self, headers: Headers, most: int | None) -> Response | None:
        length = headers.get("content-length", "0")
        # `int` raises for thousands of digits; twenty are enough.
        if most is not None and length.isdecimal() and int(length[:20]) > most:
            return too_large(most)
        # A small compressed body could expand beyond every limit.
        if headers.get("content-encoding", "identity") != "identity":
            return document(415, "ENCODED", "The body has a Content-Encoding; send it as it is.")
        return refusal(headers, self._settings.hosts, self._settings.origins)

    def _with_security_headers(self, scope: Scope, send: Send) -> Send:
        began = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] in STARTS:
                metrics.responses.labels(str(message["status"])).inc()
                metrics.request_seconds.observe(time.perf_counter() - began)
                headers = MutableHeaders(scope=message)
                for name, value in SAFE.items():
                    headers.setdefault(name, value)
                own = base(scope["scheme"], Headers(scope=scope).get("host", ""), self._settings.public_url)
                if own.startswith("https:"):
                    headers["Strict-Transport-Security"] = HSTS
                if _is_upload(scope):
                    headers.setdefault("Tus-Resumable", TUS)
                    if message["status"] == 412:
                        headers["Tus-Version"] = TUS
                if "www-authenticate" in headers:
                    headers["WWW-Authenticate"] = challenge(
                        headers["www-authenticate"], own, scope["path"], self._settings.oidc
                    )
            await send(message)

        return send_with_headers


def sends_file(scope: Scope) -> bool:
    """Return whether the request's body is an uploaded file: bounded by its route, and not kept in memory."""
    return scope.get("method") in ("POST", "PATCH") and _is_upload(scope)


def _is_upload(scope: Scope) -> bool:
    return f"{scope['path']}/".startswith(f"{UPLOADS}/")


def body_limit(scope: Scope, settings: Settings, inline: frozenset[str]) -> int:
    """Return the greatest number of bytes of a request's JSON body."""
    return settings.body_most_inline if scope["path"] in inline else settings.body_most


def crowded(most: int) -> Response:
    detail = f"The body is not accepted: it has more than {most:,} values."
    return document(422, "BODY_NOT_ACCEPTED", detail)


def too_large(most: int) -> Response:
    return document(413, "TOO_LARGE", f"The body is over {most} bytes; send less.")
