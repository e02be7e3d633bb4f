"""The tool executor's queries: what a session's staged tree looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from libs.clients.calls import Caller, call, call_near, is_near
from libs.skills import ToolDefinition
from libs.skills.plugged import from_json

SERVICE = "tool_executor"
EVERY_TENANT = ""
"""The tenant of a call that concerns none: it sees no tenant's rows."""


async def workspace_facts(
    caller: Caller, tenant: str, session: str, root: str, turn: str, *, unstaged: bool = False
) -> dict[str, Any]:
    """Return counts, extensions and top-level names of the tree as `turn` staged it, for the planner. `unstaged` says
    that it has staged nothing. Raises what `call` raises.
    """
    if is_near(caller, SERVICE):
        near = await call_near(
            caller, SERVICE, "facts", tenant, session=session, root=root, turn=turn, unstaged=unstaged
        )
        return cast("dict[str, Any]", near)
    found = await call(
        caller,
        SERVICE,
        "GET",
        f"/internal/v1/sessions/{session}/facts",
        tenant=tenant,
        session=session,
        params={"root": root, "turn": turn, "unstaged": str(unstaged).lower()},
    )
    return cast("dict[str, Any]", found)


async def remote_tools(caller: Caller) -> Sequence[ToolDefinition]:
    """Return the approved tools of other servers, for all tenants. Raises what `call` raises."""
    found = await call(caller, SERVICE, "GET", "/internal/v1/remote/definitions", tenant=EVERY_TENANT)
    return [from_json(told) for told in found["tools"]]
