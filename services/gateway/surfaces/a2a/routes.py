"""The routes of A2A. They are all that is imported at start-up: the first request imports the rest, in a thread."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from services.gateway.surfaces.a2a.paths import CARD, JSONRPC, KEYS, REST

if TYPE_CHECKING:
    from services.gateway.api.context import Gateway
    from services.gateway.surfaces.a2a.server import Server

CONFIGS = "/tasks/{id}/pushNotificationConfigs"
OPERATIONS = (
    ("GET", CARD, "card"),
    ("GET", KEYS, "keys"),
    ("POST", JSONRPC, "jsonrpc"),
    # Clients that join an empty path to the address add a slash.
    ("POST", f"{JSONRPC}/", "jsonrpc"),
    ("POST", f"{REST}/message:send", "on_message_send"),
    ("POST", f"{REST}/message:stream", "on_message_send_stream"),
    ("POST", f"{REST}/tasks/{{id}}:cancel", "on_cancel_task"),
    # The specification's text says POST, and its protobuf annotation says GET.
    ("GET", f"{REST}/tasks/{{id}}:subscribe", "on_subscribe_to_task"),
    ("POST", f"{REST}/tasks/{{id}}:subscribe", "on_subscribe_to_task"),
    ("GET", f"{REST}/tasks/{{id}}", "on_get_task"),
    ("GET", f"{REST}/tasks", "list_tasks"),
    ("POST", f"{REST}{CONFIGS}", "set_push_notification"),
    ("GET", f"{REST}{CONFIGS}", "list_push_notifications"),
    ("GET", f"{REST}{CONFIGS}/{{push_id}}", "get_push_notification"),
    ("DELETE", f"{REST}{CONFIGS}/{{push_id}}", "delete_push_notification"),
    ("GET", f"{REST}/extendedAgentCard", "handle_authenticated_agent_card"),
)
"""Method, path, and the operation of `server` or of the SDK's dispatcher that answers."""


class Endpoint:
    """An ASGI endpoint of one operation."""

    def __init__(self, operation: str) -> None:
        self._operation = operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server = await _server(scope["app"].state.gateway)
        await server.serve(self._operation, scope, receive, send)


async def _server(here: Gateway) -> Server:
    if here.a2a is None:
        # The SDK takes about half a second to import, which would hold up every other request.
        module = await asyncio.to_thread(import_module, "services.gateway.surfaces.a2a.server")
        here.a2a = module.Server(here)
    return cast("Server", here.a2a)


router = APIRouter(
    routes=[Route(path, Endpoint(operation), methods=[method]) for method, path, operation in OPERATIONS]
)
