"""The HTTP side of A2A: the card, and the SDK's dispatchers behind our checks of version and body.

The SDK accepts every minor version and no version in the query, and it answers all other errors than the protocol's
with 500; both are settled here. A client without a version, or with 0.3, is served over JSON-RPC by the SDK's own
translation.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.response_helpers import build_error_response
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.routes.rest_dispatcher import RestDispatcher
from a2a.utils.constants import VERSION_HEADER
from a2a.utils.errors import VersionNotSupportedError
from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from services.gateway.http.bodies import parsed
from services.gateway.http.urls import base
from services.gateway.surfaces.a2a.card import BEFORE, VERSION, Cards, Served
from services.gateway.surfaces.a2a.handler import Tasks
from services.gateway.surfaces.a2a.request import REFUSED
from services.gateway.surfaces.a2a.signing import key_set
from services.gateway.surfaces.context import Gateway

CACHED = "public, max-age=300"
"""A card changes with a release or a skill: clients ask again after five minutes."""
BODIES = ("application/json", "application/a2a+json")


def version_of(request: Request) -> str:
    """Return the version of a request's protocol. Raises VersionNotSupportedError for any other than 1.0 and 0.3."""
    asked = request.headers.get(VERSION_HEADER) or request.query_params.get(VERSION_HEADER) or BEFORE
    for version in (VERSION, BEFORE):
        if asked.split(".")[:2] == version.split("."):
            return version
    raise VersionNotSupportedError(f"version {asked[:20]} is not supported; send {VERSION_HEADER}: {VERSION}")


class Contexts(ServerCallContextBuilder):
    """The SDK's view of a request: its version, checked, and its extensions."""

    @override
    def build(self, request: Request) -> ServerCallContext:
        """Return the context. Raises VersionNotSupportedError."""
        headers = {VERSION_HEADER: version_of(request)}
        extensions = get_requested_extensions(request.headers.getlist(HTTP_EXTENSION_HEADER))
        return ServerCallContext(state={"headers": headers, "request": request}, requested_extensions=extensions)


class Server:
    """The surface of one gateway."""

    def __init__(self, here: Gateway) -> None:
        self._here = here
        self._cards = Cards(here.platform.keys, since=here.platform.clock.now(), oidc=here.settings.oidc)
        handler, contexts = Tasks(here), Contexts()
        self._rest = RestDispatcher(handler, contexts)
        # A request of 1.0 must not reach the methods of 0.3.
        self._jsonrpc = {
            VERSION: JsonRpcDispatcher(handler, contexts),
            BEFORE: JsonRpcDispatcher(handler, contexts, enable_v0_3_compat=True),
        }

    async def serve(self, operation: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises the errors that HTTP itself expresses."""
        request = Request(scope, receive)
        if request.method == "POST":
            await _check_body(request)
        match operation:
            case "card":
                response = self._card(request)
            case "keys":
                response = _cached(request, self._cards.served(key_set(self._here.platform.keys)))
            case "jsonrpc":
                response = await self._rpc(request)
            case _:
                response = await getattr(self._rest, operation)(request)
        refused: Exception | None = getattr(request.state, REFUSED, None)
        if refused is not None:
            raise refused
        await response(scope, receive, send)

    async def _rpc(self, request: Request) -> Response:
        try:
            return await self._jsonrpc[version_of(request)].handle_requests(request)
        except VersionNotSupportedError as refused:
            body = await request.json()
            return JSONResponse(build_error_response(body.get("id") if isinstance(body, dict) else None, refused))

    def _card(self, request: Request) -> Response:
        own = base(request.url.scheme, request.headers["host"], self._here.settings.public_url)
        return _cached(request, self._cards.at(own, self._here.platform.skills))


async def _check_body(request: Request) -> None:
    """Raise HTTPException unless the body is JSON that our own API accepts too; an empty one is none."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (*BODIES, "") or (body and not kind):
        raise HTTPException(415, "The body is not JSON; send application/json.")
    if body:
        parsed(body)


def _cached(request: Request, served: Served) -> Response:
    """Return a public document, or 304 if the client has it (RFC 9110, 13.2.2: a tag overrides a date)."""
    headers = {"ETag": served.etag, "Last-Modified": served.modified, "Cache-Control": CACHED}
    if _has(request.headers, served):
        return Response(status_code=304, headers=headers)
    return Response(served.body, headers=headers, media_type="application/json")


def _has(headers: Mapping[str, str], served: Served) -> bool:
    tags = headers.get("if-none-match")
    if tags is not None:
        return "*" in tags or served.etag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
    try:
        since = parsedate_to_datetime(headers.get("if-modified-since", ""))
        return parsedate_to_datetime(served.modified) <= since
    except (ValueError, TypeError):
        return False
