"""The executor's internal HTTP API: what a session's workspace looks like, and which tools there are. Queries only."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import FastAPI, Header, Request
from fastapi.responses import JSONResponse

from libs.errors import NotFound, Rejected, SumaError, Unavailable
from libs.identity import internal
from libs.runtime.platform import Platform
from libs.workspace.stage import Stage
from services.tool_executor.work import diff_of
from services.tool_executor.workspaces import GROUP, Workspace, Workspaces, queries

NAMES_MOST = 500
NODES_MOST = 20_000


def build(platform: Platform, workspaces: Workspaces) -> FastAPI:
    """The API; every route asks for a token that names the tenant and the session."""
    app = FastAPI(title="tool executor", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_exception_handler(SumaError, _problem)

    def tenant_of(token: str, session: str | None) -> str:
        claims = internal.verify(platform.keys, token, audience=GROUP, now=platform.clock.now())
        if session is not None and claims.session not in (None, session):
            raise NotFound("no such session")
        return claims.tenant

    async def looked_at(
        token: str, session: str, root: str | None, *, turn: str | None = None, fresh: bool = False
    ) -> tuple[str, Workspace]:
        tenant = tenant_of(token, session)
        async with workspaces.at_work(tenant, session):
            folder = root or await _root(platform, tenant, session)
            workspace = await workspaces.take(tenant, session, folder, turn=turn, fresh=fresh)
            workspaces.keep(tenant, session, workspace)
        return tenant, workspace

    @app.get("/internal/v1/sessions/{session}/facts")
    async def facts(
        session: str, root: str | None = None, turn: str | None = None, token: str = Header("", alias=internal.HEADER)
    ) -> dict[str, Any]:
        """Counts, extensions and top-level names of the tree as a turn has staged it, read anew from the disk."""
        _, workspace = await looked_at(token, session, root, turn=turn, fresh=True)
        return await asyncio.to_thread(_facts, workspace.stage)

    @app.get("/internal/v1/sessions/{session}/graph")
    async def graph(
        session: str, root: str | None = None, token: str = Header("", alias=internal.HEADER)
    ) -> dict[str, Any]:
        """The staged tree in networkx's node-link form (S4-26)."""
        _, workspace = await looked_at(token, session, root)
        if workspace.stage.tree.graph.number_of_nodes() > NODES_MOST:
            raise Rejected(f"the tree has more than {NODES_MOST} nodes; look at its facts or its diff")
        return await asyncio.to_thread(workspace.stage.tree.export)

    @app.get("/internal/v1/sessions/{session}/diff")
    async def diff(
        session: str, root: str | None = None, token: str = Header("", alias=internal.HEADER)
    ) -> dict[str, Any]:
        """What a commit would change now."""
        _, workspace = await looked_at(token, session, root)
        net = await asyncio.to_thread(diff_of, workspace.stage, workspace.revision)
        return net.model_dump(mode="json")

    @app.get("/internal/v1/sessions/{session}/snapshots")
    async def snapshots(session: str, token: str = Header("", alias=internal.HEADER)) -> dict[str, Any]:
        """Where the open stage can be taken back to."""
        tenant = tenant_of(token, session)
        async with platform.database.read(GROUP, tenant) as connection:
            rows = [row async for row in queries.snapshots(connection, tenant=tenant, session=session)]
        return {"snapshots": [{**row, "at": row["at"].isoformat()} for row in map(dict, rows)]}

    @app.get("/internal/v1/tools")
    async def tools(token: str = Header("", alias=internal.HEADER)) -> dict[str, Any]:
        tenant_of(token, None)
        return {
            "tools": [
                {
                    "name": tool.name,
                    "skill": tool.skill,
                    "description": tool.description,
                    "mutates": tool.mutates,
                    "effect_class": tool.effect_class.value,
                    "params": tool.params,
                }
                for tool in platform.skills.tools
            ]
        }

    @app.get("/internal/v1/skills")
    async def skills(token: str = Header("", alias=internal.HEADER)) -> dict[str, Any]:
        tenant_of(token, None)
        found = platform.skills
        return {
            "skills": [
                {
                    "name": skill.name,
                    "id": skill.id,
                    "version": skill.version,
                    "description": skill.description,
                    "tags": skill.tags,
                    "tools": [tool.name for tool in skill.tools],
                    "digest": skill.digest,
                }
                for skill in found.skills.values()
            ],
            "problems": {folder.name: list(problems) for folder, problems in found.problems.items()},
        }

    return app


async def _root(platform: Platform, tenant: str, session: str) -> str | None:
    async with platform.database.read(GROUP, tenant) as connection:
        row = await queries.stage(connection, tenant=tenant, session=session)
    return row["root"] if row else None


def _facts(stage: Stage) -> dict[str, Any]:
    top = stage.get_children(".")
    found = stage.statistics(".")
    # All of them or none: who plans takes a name that is not among them as absent.
    names = [f"{node.path}/" if node.kind == "directory" else node.path for node in top]
    return {
        **({"names": names} if len(names) <= NAMES_MOST else {}),
        "files": found.files,
        "directories": found.directories,
        "bytes": found.size,
        "extensions": sorted(found.extensions)[:100],
    }


async def _problem(request: Request, error: Exception) -> JSONResponse:
    code = error.code if isinstance(error, SumaError) else "ERROR"
    status = 503 if isinstance(error, Unavailable) else 404 if isinstance(error, NotFound) else 400
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": str(error)}
    return JSONResponse(body, status, media_type="application/problem+json")
