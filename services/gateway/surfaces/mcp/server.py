"""The SDK's server with our handlers. It is stateless, so one instance serves all requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server import Server
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types import CallToolRequestParams, ListToolsResult, PaginatedRequestParams

import libs
from libs.identity import Principal
from libs.runtime import Platform
from services.gateway.surfaces.mcp import catalogue, resources, skills
from services.gateway.surfaces.mcp.state import STATE
from services.gateway.surfaces.mcp.tool_calls import Call, Context, Result

NAME = "suma"
STATE_SECONDS = 24 * 3600.0
"""How long an answer to an `input_required` result may take; the approval itself may expire before."""
INSTRUCTIONS = (
    "Suma does tasks in folders with a plan that is reviewed, staged changes that a person approves, and an undo. "
    "Give a whole task to suma_run in words, or call one primitive with a root. Nothing changes before a person agrees."
)
LIST_SECONDS = 60
LISTED = CacheHint(ttl_ms=LIST_SECONDS * 1000)
HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": LISTED,
    "prompts/list": LISTED,
    "resources/templates/list": LISTED,
}
"""Sessions and their turns change all the time: a list or a reading of them is stale at once."""


def build(platform: Platform) -> Server[Any]:
    """Return the server of a gateway."""
    server: Server[Any] = Server(
        NAME,
        version=libs.__version__,
        title="Suma",
        instructions=INSTRUCTIONS,
        cache_hints=HINTS,
        # Our tools take no headers as parameters; without this each call would list all tools first.
        get_tool_input_schema=lambda name: None,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=resources.list_resources,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read_resource,
        on_list_prompts=skills.list_prompts,
        on_get_prompt=skills.get_prompt,
    )
    server.add_request_handler("skills/list", PaginatedRequestParams, skills.list_skills)
    server.add_request_handler("skills/get", skills.SkillsGetParams, skills.get_skill)
    server.extensions[skills.EXTENSION] = {}
    security = RequestStateSecurity(
        keys=[platform.keys.secret(STATE)], ttl=STATE_SECONDS, bind_principal=_principal, audience=NAME
    )
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return server


async def _list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    call = Call.of(context)
    return ListToolsResult(tools=list(catalogue.tools(call.here.platform.skills, call.who.tenant)))


async def _call_tool(context: Context, params: CallToolRequestParams) -> Result:
    return await Call.of(context).run(params)


def _principal(context: Any) -> str:
    caller: Principal = context.request.state.caller
    # Neither holds U+0000, so no two callers share a name.
    return f"{caller.tenant}\0{caller.id}"
