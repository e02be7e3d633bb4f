"""The routes of A2A. They are all that is imported at start-up: the first request imports the rest, in a thread."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from services.gateway.surfaces.a2a import problems
from services.gateway.surfaces.a2a.paths import CARD, JSONRPC, KEYS, PUBLIC, REST
from services.gateway.surfaces.loading import served
from services.gateway.surfaces.surface import Surface

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
        server = await served(scope["app"].state.surfaces, "services.gateway.surfaces.a2a.server:Server")
        await server.serve(self._operation, scope, receive, send)


SURFACE = Surface(
    APIRouter(routes=[Route(path, Endpoint(operation), methods=[method]) for method, path, operation in OPERATIONS]),
    translate=problems.translated,
    open=PUBLIC,
    keeps_body=(JSONRPC,),
    kinds=lambda here: here.webhooks.kinds,
)
