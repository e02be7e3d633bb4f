"""The tool executor's queries: what a session's staged tree looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from libs.clients.calls import Caller, call, call_near, is_near
from libs.events import Passage
from libs.skills import ToolDefinition
from libs.skills.plugged import from_json

SERVICE = "tool_executor"
HELD_SECONDS = 60.0
EVERY_TENANT = ""
"""The tenant of a call that concerns none: it sees no tenant's rows."""
READING_SECONDS = 90.0
"""For a large folder, or one document that takes long."""


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


async def passages(caller: Caller, tenant: str, session: str, root: str, query: str) -> Sequence[Passage]:
    """Return the passages of the folder's files that fit a request. Raises what `call` raises."""
    asked: dict[str, Any] = {"root": root, "query": query}
    if is_near(caller, SERVICE):
        found = await call_near(caller, SERVICE, "passages", tenant, session=session, **asked)
    else:
        path = f"/internal/v1/sessions/{session}/passages"
        found = (await call(caller, SERVICE, "PUT", path, tenant=tenant, session=session, json=asked))["passages"]
    return [Passage.model_validate(one) for one in found]


async def remote_tools(caller: Caller) -> Sequence[ToolDefinition]:
    """Return the approved tools of other servers, for all tenants. Raises what `call` raises."""
    found = await call(caller, SERVICE, "GET", "/internal/v1/remote/definitions", tenant=EVERY_TENANT)
    return [from_json(told) for told in found["tools"]]


async def knowledge_files(caller: Caller, tenant: str, source: str) -> Mapping[str, str]:
    """Return the files of a source of knowledge, each with a stamp that changes whenever it does. Raises what `call`
    raises.
    """
    path = "/internal/v1/knowledge/files"
    found = await call(caller, SERVICE, "GET", path, tenant=tenant, params={"source": source}, seconds=READING_SECONDS)
    return cast("Mapping[str, str]", found["files"])


async def knowledge_texts(caller: Caller, tenant: str, source: str, paths: Sequence[str]) -> list[dict[str, Any]]:
    """Return the texts of the first of these files: `path`, `text`, `starts` of pages, and `gap`, why there is none.
    Raises what `call` raises.
    """
    wanted, path = {"source": source, "paths": list(paths)}, "/internal/v1/knowledge/texts"
    found = await call(caller, SERVICE, "PUT", path, tenant=tenant, json=wanted, seconds=READING_SECONDS)
    return cast("list[dict[str, Any]]", found["texts"])


async def held(caller: Caller, tenant: str, session: str) -> list[dict[str, Any]]:
    """Return the rows that the executor keeps of a session: `table` and `content`. Raises what `call` raises."""
    found = await call(
        caller, SERVICE, "GET", f"/internal/v1/sessions/{session}/held", tenant=tenant, seconds=HELD_SECONDS
    )
    return cast("list[dict[str, Any]]", found["rows"])
