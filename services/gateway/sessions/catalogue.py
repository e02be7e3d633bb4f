"""The catalogue of tools and skills in the tool executor, and approval of a folder's own skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from libs.clients import TIMEOUT_SECONDS, call
from libs.events.topics import EXECUTOR
from libs.identity import Principal
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import RequestModel
from services.gateway.identity.reading import FILES
from services.gateway.identity.security import Authenticated, CanBrowse
from services.gateway.sessions.catalogue_models import (
    AgentList,
    AgentShown,
    RemoteServerList,
    RemoteTool,
    RemoteToolRevoked,
    SkillList,
    SkillRead,
    SkillRevoked,
    ToolList,
)
from services.gateway.sessions.context import FOLDER, Here, Sessions
from services.gateway.sessions.models import Root

router = APIRouter(route_class=StrictRoute, tags=["catalogue"])

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
SkillName = Annotated[Name, Path()]
Query = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]


ToolName = Annotated[
    str, Path(), StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")
]
LIST_SECONDS = 65.0
"""Longer than any server may take to list its tools."""


class Folder(RequestModel):
    """A folder with its own skill, in its `.suma/skills`."""

    root: Root


class Version(Folder):
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="Digest of the reviewed version, from GET /v1/skills/{name}; another version is rejected"
    )


class ToolDescription(RequestModel):
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="Digest of the reviewed description, from GET /v1/admin/tools; another one is rejected"
    )


TOOLS = (
    Refusal(422, "TOOL_DESCRIPTION_CHANGED", "The description changed since you read it; read it again."),
    Refusal(422, "TOOL_CANNOT_BE_OFFERED", "This tool cannot be offered; its reason is in the list."),
)
APPROVAL = (
    Refusal(422, "SKILL_CHANGED", "The skill changed since you read it; read it again."),
    Refusal(422, "SKILL_CANNOT_BE_APPROVED", "This skill cannot be approved: it is broken, or has code."),
)


@router.get("/v1/tools", response_model=ToolList)
async def tools(here: Here, who: CanBrowse) -> Response:
    """List the tools with their schemas, effect classes and undo semantics."""
    return await _get(here, who.tenant, "tools", {})


@router.get("/v1/agents")
async def agents(here: Here, _: CanBrowse) -> AgentList:
    """List the agents that a message may choose; without a choice, the default agent works."""
    found = here.platform.agents.items()
    return AgentList(agents=[AgentShown(name=name, role=each.role, tools=list(each.tools)) for name, each in found])


@router.get("/v1/skills", response_model=SkillList, responses=raises(*FOLDER))
async def skills(here: Here, who: CanBrowse, root: Root | None = None, query: Query | None = None) -> Response:
    """List the skills with kind, origin, and state or reason for being inactive. With `root`, include a folder's own
    skills. With `query`, return only similar skills, best first, each with a `score` from 0 to 1.
    """
    words = {"query": query} if query is not None else {}
    return await _get(here, who.tenant, "skills", {**await _folder_params(here, who, root), **words})


@router.get("/v1/skills/{name}", response_model=SkillRead, responses=raises(*FOLDER))
async def skill(here: Here, who: CanBrowse, name: SkillName, root: Root | None = None) -> Response:
    """Return a skill with its tools, files and instructions. With `root`, as seen by a session in that folder."""
    return await _get(here, who.tenant, f"skills/{name}", await _folder_params(here, who, root))


@router.post("/v1/skills/{name}/approve", response_model=SkillRead, responses=raises(*FOLDER, *APPROVAL))
async def approve(here: Here, who: Authenticated, name: SkillName, body: Version) -> Response:
    """Enable a folder's own skill in exactly this version; any changed byte disables it. Safe to repeat."""
    return await _put(here, who, f"skills/{name}/approval", {**_decision(who, name, body.root), "digest": body.digest})


@router.post("/v1/skills/{name}/revoke", response_model=SkillRevoked, responses=raises(*FOLDER))
async def revoke(here: Here, who: Authenticated, name: SkillName, body: Folder) -> Response:
    """Disable a folder's own skill."""
    return await _put(here, who, f"skills/{name}/revocation", _decision(who, name, body.root))


@router.get("/v1/admin/tools", response_model=RemoteServerList, tags=["admin"])
async def remote_tools(here: Here, who: Authenticated) -> Response:
    """List the servers of tools in the settings, with their tools and approvals.

    Servers that were not asked in the last ten seconds are asked now. Only the platform's own tenant may list them.
    """
    return await _put(here, who, "remote/servers", _operator(who), seconds=LIST_SECONDS)


@router.post("/v1/admin/tools/{tool}/approve", response_model=RemoteTool, responses=raises(*TOOLS), tags=["admin"])
async def approve_tool(here: Here, who: Authenticated, tool: ToolName, body: ToolDescription) -> Response:
    """Offer a server's tool with exactly this description; any change of it needs a new approval. Safe to repeat."""
    decision = {**_operator(who), "digest": body.digest}
    return await _put(here, who, f"remote/tools/{tool}/approval", decision, seconds=LIST_SECONDS)


@router.post("/v1/admin/tools/{tool}/revoke", response_model=RemoteToolRevoked, tags=["admin"])
async def revoke_tool(here: Here, who: Authenticated, tool: ToolName) -> Response:
    """Stop offering a server's tool. Safe to repeat."""
    return await _put(here, who, f"remote/tools/{tool}/revocation", _operator(who))


def _operator(who: Principal) -> dict[str, Any]:
    return {"principal": who.id, "scopes": sorted(who.scopes)}


async def _folder_params(here: Sessions, who: Principal, root: str | None) -> Mapping[str, str]:
    """Require `files:read` for reading a folder's skills; return the query parameters."""
    if root is None:
        return {}
    await here.identity.reads.check(who, FILES)
    return {"root": root}


def _decision(who: Principal, name: str, root: str) -> dict[str, Any]:
    return {"root": root, "name": name, **_operator(who)}


async def _get(here: Sessions, tenant: str, what: str, params: Mapping[str, str]) -> Response:
    return JSONResponse(
        await call(here.platform, EXECUTOR, "GET", f"/internal/v1/{what}", tenant=tenant, params=params)
    )


async def _put(
    here: Sessions, who: Principal, what: str, decision: Mapping[str, Any], *, seconds: float = TIMEOUT_SECONDS
) -> Response:
    """Forward the decision. The executor asks policy and records it: only the executor can compare the digest with the
    files.
    """
    path = f"/internal/v1/{what}"
    return JSONResponse(
        await call(here.platform, EXECUTOR, "PUT", path, tenant=who.tenant, json=decision, seconds=seconds)
    )
