"""The gateway's routes that the OpenAPI document leaves out: other protocols, whose specifications are their contracts,
streams and the server's own pages. Each names the test of its contract, and the requests that `protocols` varies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any

CHAT = "services/gateway/surfaces/test_openai_chat.py"
RESPONSES = "services/gateway/surfaces/test_openai_responses.py"
AGUI = "services/gateway/surfaces/test_agui.py"
TASKS = "services/gateway/surfaces/a2a/test_tasks.py"
STREAMS = "services/gateway/surfaces/a2a/test_streams.py"
SURFACE = "services/gateway/surfaces/a2a/test_surface.py"
WEBHOOKS = "services/gateway/surfaces/a2a/test_push.py::test_webhooks_are_added_listed_read_and_deleted"
MCP = "services/gateway/surfaces/mcp/test_conformance.py"
HEALTH = "services/gateway/operators/test_health.py"
SOCKET = "services/gateway/sessions/test_socket.py"


@dataclass(frozen=True)
class Outside:
    """A route outside the document. `{turn_id}` and the like are replaced by ids of either tenant."""

    suite: str
    """The test of its contract, below `tests/`."""
    bodies: tuple[Json, ...] = (None,)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    public: bool = False
    """Whether it needs no credentials, and so knows no tenant."""


LOOK = "what is in this folder?"
ROOTED = {"root": "{root}", "title": "word", "hitl": "bypass", "skill": "explain"}
WEBHOOK = {"id": "hook", "url": "http://127.0.0.1:9/hook", "token": "t", "authentication": {"scheme": "Bearer"}}
VERSION = {"A2A-Version": "1.0"}
MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": LOOK}], "metadata": ROOTED}
ANSWER = {"verdict": "approve", "digest": "{digest}", "exclude": ["a.txt"]}
SENDING = (
    {"message": {**MESSAGE, "contextId": "{session_id}"}, "configuration": {"historyLength": 2}},
    {"message": MESSAGE, "configuration": {"returnImmediately": True, "taskPushNotificationConfig": WEBHOOK}},
    {"message": {**MESSAGE, "taskId": "{turn_id}", "parts": [{"data": ANSWER}]}},
)
LISTING = {"contextId": "{session_id}", "status": "TASK_STATE_COMPLETED", "pageSize": "2", "includeArtifacts": "true"}
OF_TASK = {"taskId": "{turn_id}", "id": "{push_id}"}


def _call(method: str, params: Json, id: Json = 1) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


GET_TASK = _call("GetTask", {"id": "{turn_id}", "historyLength": 3})
JSONRPC = Outside(
    f"{TASKS}::test_message_becomes_a_completed_task",
    (
        *(_call("SendMessage", params) for params in SENDING),
        *(_call("SendStreamingMessage", params) for params in SENDING),
        GET_TASK,
        _call("ListTasks", {**LISTING, "pageSize": 2, "includeArtifacts": True, "pageToken": ""}),
        _call("CancelTask", {"id": "{turn_id}"}),
        _call("SubscribeToTask", {"id": "{turn_id}"}),
        _call("CreateTaskPushNotificationConfig", {**WEBHOOK, "taskId": "{turn_id}"}),
        _call("GetTaskPushNotificationConfig", OF_TASK),
        _call("ListTaskPushNotificationConfigs", {"taskId": "{turn_id}", "pageSize": 3}),
        _call("DeleteTaskPushNotificationConfig", OF_TASK),
        _call("GetExtendedAgentCard", {}),
    ),
    headers=VERSION,
)
RPC = {"Accept": "application/json, text/event-stream"}
MODERN = {**RPC, "MCP-Protocol-Version": "2026-07-28"}
CLIENT = {"clientInfo": {"name": "explorer", "version": "1"}, "capabilities": {"elicitation": {}}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT["clientInfo"],
    "io.modelcontextprotocol/clientCapabilities": CLIENT["capabilities"],
}
CALLS = (
    ("suma_run", {"text": LOOK, "session_id": "{session_id}", "attachments": ["none"]}),
    ("suma_run", {"text": LOOK, "root": "{root}", "hitl": "all"}),
    ("suma_follow", {"turn_id": "{turn_id}"}),
    ("suma_cancel", {"turn_id": "{turn_id}", "reason": "enough"}),
    ("manage-files__list", {"root": "{root}", "path": "."}),
)
MESSAGES = (
    _call("initialize", {"protocolVersion": "2025-11-25", **CLIENT}),
    *(_call("tools/call", {"name": name, "arguments": given, "_meta": META}) for name, given in CALLS),
    _call("tools/list", {"cursor": "none", "_meta": META}),
    _call("resources/list", {"_meta": META}),
    _call("resources/templates/list", {"_meta": META}),
    _call("resources/read", {"uri": "suma://sessions/{session_id}", "_meta": META}),
    _call("prompts/list", {"_meta": META}),
    _call("prompts/get", {"name": "explain", "arguments": {"text": "x"}, "_meta": META}),
    _call("skills/list", {"_meta": META}),
    _call("skills/get", {"uri": "skill://explain/SKILL.md", "_meta": META}),
    _call("ping", {"_meta": META}),
    {"jsonrpc": "2.0", "id": "{turn_id}/1", "result": {"action": "accept", "content": {"approve": True}}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "enough"}},
)
PART = {"type": "text", "text": LOOK}
IMAGE = "data:image/png;base64,iVBORw0KGgo="
UNDOCUMENTED: Mapping[str, Outside] = {
    "GET /openapi.json": Outside("contracts/test_openapi.py::test_committed_documents_are_fresh", public=True),
    "GET /docs": Outside(f"{HEALTH}::test_docs_page_lists_every_route_and_fetches_nothing", public=True),
    "GET /metrics": Outside(f"{HEALTH}::test_metrics_have_the_prometheus_format", public=True),
    "WS /v1/sessions/{session_id}/stream": Outside(f"{SOCKET}::test_socket_resumed_anywhere_shows_the_same_events"),
    "WS /stream": Outside(f"{SOCKET}::test_scope_weavers_path_streams_a_session"),
    "GET /v1/models": Outside(f"{CHAT}::test_models_list_suma_alone"),
    "GET /v1/models/{model}": Outside(f"{CHAT}::test_models_list_suma_alone"),
    "POST /v1/chat/completions": Outside(
        f"{CHAT}::test_approval_in_words_leaves_out_a_part",
        (
            {"model": "suma", "messages": [{"role": "user", "content": LOOK}], "metadata": ROOTED, "n": 1},
            {
                "model": "suma",
                "messages": [
                    {"role": "assistant", "content": "Which? [suma:{turn_id}_1]"},
                    {"role": "user", "content": [PART, {"type": "image_url", "image_url": {"url": IMAGE}}]},
                ],
                "metadata": {"suma_session_id": "{session_id}"},
                "tools": [{"type": "function", "function": {"name": "suma_approval"}}],
                "stream": True,
                "stream_options": {"include_usage": True},
            },
        ),
    ),
    "POST /v1/responses": Outside(
        f"{RESPONSES}::test_stream_shows_steps_and_ends_with_the_retrieved_response",
        (
            {"model": "suma", "input": LOOK, "metadata": ROOTED, "background": True},
            {"model": "suma", "input": LOOK, "previous_response_id": "resp_{turn_id}_0", "stream": True},
            {
                "model": "suma",
                "conversation": {"id": "{session_id}"},
                "input": [
                    {"type": "function_call_output", "id": "x"},
                    {"role": "user", "content": [{"type": "input_text", "text": LOOK}]},
                    {"role": "user", "content": [{"type": "input_image", "image_url": IMAGE}]},
                ],
            },
            {
                "model": "suma",
                "input": [
                    {
                        "type": "mcp_approval_response",
                        "approval_request_id": "suma_{turn_id}_1",
                        "approve": True,
                        "exclude": ["a.txt"],
                        "args": {"path": "x"},
                    }
                ],
            },
        ),
    ),
    "GET /v1/responses/{response}": Outside(
        f"{RESPONSES}::test_stream_shows_steps_and_ends_with_the_retrieved_response", query={"stream": "true"}
    ),
    "POST /v1/responses/{response}/cancel": Outside(f"{RESPONSES}::test_background_response_is_cancelled"),
    "DELETE /v1/responses/{response}": Outside(f"{RESPONSES}::test_response_of_another_tenant_looks_missing"),
    "POST /agui": Outside(
        f"{AGUI}::test_run_shows_text_tools_steps_and_state",
        (
            {
                "threadId": "{session_id}",
                "runId": "run",
                "messages": [{"id": "m", "role": "user", "content": [PART]}],
                "forwardedProps": ROOTED,
                "tools": [{"name": "x", "description": "x", "parameters": {}}],
                "context": [{"description": "x", "value": "y"}],
                "state": {"status": "x"},
            },
            {
                "threadId": "t",
                "runId": "run",
                "messages": [],
                "resume": [{"interruptId": "{turn_id}_1", "status": "resolved", "payload": {"approve": True}}],
            },
        ),
    ),
    "GET /.well-known/agent-card.json": Outside(f"{SURFACE}::test_card_is_public_and_names_both_bindings", public=True),
    "GET /.well-known/jwks.json": Outside(f"{SURFACE}::test_card_is_signed_by_a_published_key", public=True),
    "POST /a2a": JSONRPC,
    "POST /a2a/": Outside(f"{SURFACE}::test_address_of_json_rpc_may_end_in_a_slash", (GET_TASK,), headers=VERSION),
    "POST /a2a/v1/message:send": Outside(f"{TASKS}::test_message_becomes_a_completed_task", SENDING, headers=VERSION),
    "POST /a2a/v1/message:stream": Outside(
        f"{STREAMS}::test_stream_begins_with_the_task_and_ends_with_it", SENDING, headers=VERSION
    ),
    "GET /a2a/v1/tasks": Outside(f"{TASKS}::test_list_pages_through_every_task_once", query=LISTING, headers=VERSION),
    "GET /a2a/v1/tasks/{id}": Outside(
        f"{TASKS}::test_others_tasks_look_like_not_found", query={"historyLength": "2"}, headers=VERSION
    ),
    "POST /a2a/v1/tasks/{id}:cancel": Outside(
        f"{TASKS}::test_open_task_is_returned_at_once_and_cancelled_once", ({}, None), headers=VERSION
    ),
    "GET /a2a/v1/tasks/{id}:subscribe": Outside(
        f"{STREAMS}::test_subscribers_get_the_same_updates_and_the_end", headers=VERSION
    ),
    "POST /a2a/v1/tasks/{id}:subscribe": Outside(
        f"{STREAMS}::test_subscribers_get_the_same_updates_and_the_end", ({}, None), headers=VERSION
    ),
    "POST /a2a/v1/tasks/{id}/pushNotificationConfigs": Outside(WEBHOOKS, (WEBHOOK,), headers=VERSION),
    "GET /a2a/v1/tasks/{id}/pushNotificationConfigs": Outside(WEBHOOKS, query={"pageSize": "2"}, headers=VERSION),
    "GET /a2a/v1/tasks/{id}/pushNotificationConfigs/{push_id}": Outside(WEBHOOKS, headers=VERSION),
    "DELETE /a2a/v1/tasks/{id}/pushNotificationConfigs/{push_id}": Outside(WEBHOOKS, headers=VERSION),
    "GET /a2a/v1/extendedAgentCard": Outside(
        f"{SURFACE}::test_unknown_operations_are_refused_in_protocol_errors", headers=VERSION
    ),
    "POST /mcp": Outside(f"{MCP}::test_endpoint_passes_the_scenarios_for_any_server", MESSAGES, headers=RPC),
    "GET /mcp": Outside("services/gateway/http/test_mcp.py::test_no_stream_without_a_request", headers=RPC),
    "DELETE /mcp": Outside("services/gateway/http/test_mcp.py::test_no_stream_without_a_request", headers=RPC),
}
