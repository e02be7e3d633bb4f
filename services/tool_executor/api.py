"""The executor's internal HTTP API: what a session's workspace looks like, which tools and skills there are, and a
person's word on the skills of a folder's own.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import FastAPI, Header, Request
from fastapi.responses import JSONResponse

from libs.errors import Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import internal
from libs.runtime.platform import Platform
from libs.workspace.stage import Stage
from services.tool_executor.local_skills import LocalSkills
from services.tool_executor.skill_desk import Approval, Desk, Word
from services.tool_executor.work import diff_of
from services.tool_executor.workspaces import GROUP, Workspace, Workspaces, queries

NAMES_MOST = 500
NODES_MOST = 20_000
PATHS_MOST = 300
"""Files of a tree that is small enough to tell them all to who plans."""
STATUSES = ((Unavailable, 503), (NotFound, 404), (Denied, 403))


def build(platform: Platform, workspaces: Workspaces, local: LocalSkills) -> FastAPI:
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
        """Counts, extensions and top-level names of the tree as a turn has staged it, read anew from the disk; and the
        folder's own skills that are on, by name and description."""
        tenant, workspace = await looked_at(token, session, root, turn=turn, fresh=True)
        told = await asyncio.to_thread(_facts, workspace.stage)
        own = await local.told(tenant, str(workspace.root))
        return {**told, **({"skills": own} if own else {})}

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

    desk = Desk(platform, local)

    @app.get("/internal/v1/skills")
    async def skills(root: str | None = None, token: str = Header("", alias=internal.HEADER)) -> dict[str, Any]:
        """Every skill: whether it is in use, and why not. With a folder's own where one is named."""
        return await desk.listed(tenant_of(token, None), root)

    @app.get("/internal/v1/skills/{name}")
    async def skill(
        name: str, root: str | None = None, token: str = Header("", alias=internal.HEADER)
    ) -> dict[str, Any]:
        """One of them, with its tools, files and instructions."""
        return await desk.told(tenant_of(token, None), name, root)

    # A person's word on files of this machine, which only its executor can compare with them. Saying it twice is
    # saying it once.
    @app.put("/internal/v1/skills/{name}/approval")
    async def approve(name: str, word: Approval, token: str = Header("", alias=internal.HEADER)) -> dict[str, Any]:
        """Turn exactly this version of a folder's skill on."""
        tenant = tenant_of(token, None)
        await desk.approve(tenant, word.model_copy(update={"name": name}))
        return await desk.told(tenant, name, word.root)

    @app.put("/internal/v1/skills/{name}/revocation")
    async def revoke(name: str, word: Word, token: str = Header("", alias=internal.HEADER)) -> dict[str, Any]:
        """Turn it off."""
        await desk.revoke(tenant_of(token, None), word.model_copy(update={"name": name}))
        return {"name": name, "state": "off"}

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
    few = found.files <= PATHS_MOST
    paths = [node.path for node in stage.walk(".") if node.kind == "file"] if few else []
    return {
        **({"names": names} if len(names) <= NAMES_MOST else {}),
        **({"paths": paths} if few else {}),
        "files": found.files,
        "directories": found.directories,
        "bytes": found.size,
        "extensions": sorted(found.extensions)[:100],
    }


async def _problem(request: Request, error: Exception) -> JSONResponse:
    code = error.code if isinstance(error, SumaError) else "ERROR"
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 400)
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": str(error)}
    return JSONResponse(body, status, media_type="application/problem+json")
