"""The tool executor's queries: what a session's staged tree looks like."""

from __future__ import annotations

from typing import Any, cast

from libs.clients.calls import Caller, call

SERVICE = "tool_executor"


async def workspace_facts(caller: Caller, tenant: str, session: str, root: str, turn: str) -> dict[str, Any]:
    """Return counts, extensions and top-level names of the tree as `turn` staged it, for the planner. Raises what
    `call` raises.
    """
    found = await call(
        caller,
        SERVICE,
        "GET",
        f"/internal/v1/sessions/{session}/facts",
        tenant=tenant,
        session=session,
        params={"root": root, "turn": turn},
    )
    return cast("dict[str, Any]", found)
