"""The host guard: the first check of a request on every port, its Host and its Origin."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from libs.guards.hosts import addressed, is_address, name_of, same_origin
from libs.runtime.problem_details import document


def refusal(headers: Headers, hosts: Collection[str], origins: Collection[str] = ()) -> Response | None:
    """Return the refusal of a request whose Host is not in `hosts` or whose Origin is foreign; None if it may pass."""
    named = headers.getlist("host")
    if not addressed(named, hosts):
        return document(421, "MISDIRECTED", "This server does not answer to that Host.")
    for origin in headers.getlist("origin"):
        if origin not in origins and not same_origin(origin, named[0]):
            return document(403, "FOREIGN_ORIGIN", "Pages of another origin may not send requests here.")
    return None


class HostGuard:
    """Middleware that checks the Host and Origin of internal apps. It accepts the configured names and, for probes and
    scrapers, IP addresses.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            addresses = {host for host in headers.getlist("host") if is_address(host)}
            app = refusal(headers, {*self._hosts, *map(name_of, addresses)}) or app
        await app(scope, receive, send)
