"""The executor's internal HTTP API: what a session's workspace looks like, which tools and skills there are, and a
person's word on the skills of a folder's own.

The tenant is the one in the internal token, never one in the request (architecture.md 14).
"""

import asyncio
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Depends, FastAPI, Query, Request
from pydantic import BaseModel

from libs.errors import NotFound, Rejected
from libs.identity import internal
from libs.runtime import Platform, problem_details
from libs.skills.plugged import as_json
from libs.workspace.commit import without_excluded
from libs.workspace.names import lineage
from libs.workspace.stage import Stage
from libs.workspace.tree import ROOT as TOP
from libs.workspace.view import Node
from services.tool_executor import examples, folders, previews, shown_diff
from services.tool_executor.content import Contents
from services.tool_executor.history import History, Purge
from services.tool_executor.knowledge import Sources
from services.tool_executor.multimodal.assets import Assets
from services.tool_executor.multimodal.executions import Executions
from services.tool_executor.multimodal.registry import Registry
from services.tool_executor.remote.admin import Approving, Operator, RemoteAdmin
from services.tool_executor.shown_diff import PAGE_MOST
from services.tool_executor.skills.admin import SkillAdmin, SkillApproval, Word
from services.tool_executor.skills.local import LocalSkills
from services.tool_executor.workspaces import GROUP, Workspace, Workspaces, queries, quickly

NAMES_MOST = PATHS_MOST = 5_000
"""Names of a folder, and paths below it, that a planner is shown; an event has room for about half as many."""
BARE_MOST = 200
"""Folders to which no path leads, among the names: more would leave no room for the others."""
NODES_MOST = 20_000
ROOT = "/internal/v1"


router = APIRouter(prefix=ROOT)


@dataclass(frozen=True)
class ExecutorState:
    """The ports and services that the routes use."""

    platform: Platform
    workspaces: Workspaces
    local: LocalSkills
    skills: SkillAdmin
    history: History
    remote: RemoteAdmin
    sources: Sources
    contents: Contents
    executions: Executions
    registry: Registry
    assets: Assets

    async def look(
        self,
        tenant: str,
        session: str,
        root: str | None,
        *,
        turn: str | None = None,
        fresh: bool = False,
        unstaged: bool = False,
    ) -> Workspace:
        """Return the session's workspace, in `root` or in the folder of its stage. Raises NoWorkspace."""
        async with self.workspaces.at_work(tenant, session):
            folder = root or await self._folder(tenant, session)
            workspace = await self.workspaces.take(tenant, session, folder, turn=turn, fresh=fresh, unstaged=unstaged)
            self.workspaces.keep(tenant, session, workspace)
        return workspace

    async def facts(
        self, tenant: str, *, session: str, root: str | None, turn: str | None, unstaged: bool = False
    ) -> dict[str, Any]:
        """Return counts, extensions and top-level names of the turn's staged tree, read anew from disk, and the
        folder's own skills that are on, by name and description.
        """
        workspace = await self.look(tenant, session, root, turn=turn, fresh=True, unstaged=unstaged)
        self.contents.refresh(tenant, workspace)
        facts = await quickly(workspace.scan, facts_of, workspace.stage)
        own = await self.local.descriptions(tenant, str(workspace.root))
        return {**facts, **({"skills": own} if own else {})}

    async def passages(self, tenant: str, *, session: str, root: str, query: str) -> list[dict[str, Any]]:
        """Return the passages of the folder's files that fit a request: path, first and last line, text."""
        return await self.contents.fitting(tenant, self.workspaces.allowed(tenant, root), query)

    async def _folder(self, tenant: str, session: str) -> str | None:
        row = await self.platform.database.row(GROUP, tenant, queries.stage, session=session)
        return row["root"] if row else None


async def state_of(request: Request) -> ExecutorState:
    state: ExecutorState = request.app.state.executor
    return state


Here = Annotated[ExecutorState, Depends(state_of)]


async def tenant_of(request: Request, state: Here) -> str:
    """Return the token's tenant. Raises BadToken; NotFound if the token is for another session than the route."""
    platform, token = state.platform, request.headers.get(internal.HEADER, "")
    claims = internal.verify(platform.keys, token, audience=GROUP, now=platform.clock.now())
    session = request.path_params.get("session")
    if session is not None and claims.session not in (None, session):
        raise NotFound("no such session")
    return claims.tenant


Tenant = Annotated[str, Depends(tenant_of)]


def build(state: ExecutorState, *others: APIRouter) -> FastAPI:
    app = FastAPI(title="Suma tool executor", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.executor = state
    problem_details.install(app)
    # Not `include_router`, which would read the signatures again for every application.
    for each in (router, *others):
        app.router.routes.extend(each.routes)
    return app


@router.get("/sessions/{session}/facts")
async def facts(
    tenant: Tenant,
    state: Here,
    session: str,
    root: str | None = None,
    turn: str | None = None,
    unstaged: bool = False,
) -> dict[str, Any]:
    """Return what a planner may know of the turn's staged tree."""
    return await state.facts(tenant, session=session, root=root, turn=turn, unstaged=unstaged)


@router.get("/sessions/{session}/held")
async def held(tenant: Tenant, state: Here, session: str) -> dict[str, Any]:
    """Return every row that is kept of a session, for its person's export."""
    rows = await state.platform.database.rows(GROUP, tenant, queries.held, session=session)
    return {"rows": [{"table": row["name"], "content": orjson.loads(row["content"])} for row in rows]}


class Fitting(BaseModel):
    """A request that passages are to fit, in the session's folder."""

    root: str
    query: str


# Not in the address, which logs may hold.
@router.put("/sessions/{session}/passages")
async def passages(tenant: Tenant, state: Here, session: str, wanted: Fitting) -> dict[str, Any]:
    """Return the passages of files that fit a request (S0-27)."""
    return {"passages": await state.passages(tenant, session=session, root=wanted.root, query=wanted.query)}


@router.get("/sessions/{session}/graph")
async def graph(tenant: Tenant, state: Here, session: str, root: str | None = None) -> dict[str, Any]:
    """Return the staged tree in networkx's node-link form (S4-26)."""
    tree = (await state.look(tenant, session, root)).stage.tree
    if len(tree) > NODES_MOST:
        raise Rejected(f"the tree has more than {NODES_MOST} nodes; look at its facts or its diff")
    return await asyncio.to_thread(tree.export)


@router.get("/sessions/{session}/diff")
async def diff(
    tenant: Tenant,
    state: Here,
    session: str,
    root: str | None = None,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE_MOST)] = PAGE_MOST,
    change: str | None = None,
    folder: str | None = None,
) -> dict[str, Any]:
    """Return what a commit would change now, with a page of its entries; `next` is the `after` of the next page."""
    workspace = await state.look(tenant, session, root)
    shown, following = await asyncio.to_thread(
        shown_diff.page,
        workspace.stage,
        workspace.revision,
        state.history.days,
        after=after,
        most=limit,
        change=change,
        folder=folder,
    )
    return {**shown.model_dump(mode="json"), "next": following}


@router.get("/sessions/{session}/content")
async def content(
    tenant: Tenant, state: Here, session: str, path: str, side: Literal["before", "after"], root: str | None = None
) -> dict[str, Any]:
    """Return one side of a file that the stage changes."""
    workspace = await state.look(tenant, session, root)
    return await asyncio.to_thread(previews.of, workspace.stage, path, side)


class Exclusions(BaseModel):
    """Paths that a commit is to leave out; `root` where the session has a folder of its own."""

    root: str | None = None
    paths: tuple[str, ...]


@router.put("/sessions/{session}/exclusions")
async def exclusions(tenant: Tenant, state: Here, session: str, asked: Exclusions) -> dict[str, Any]:
    """Return how many changes a commit makes and leaves out without these paths; refuse those that it cannot leave
    out, by name. Nothing changes.
    """
    workspace = await state.look(tenant, session, asked.root)
    rest = await asyncio.to_thread(without_excluded, workspace.stage, asked.paths)
    whole = await asyncio.to_thread(workspace.stage.diff)
    return {"makes": rest.things, "leaves_out": whole.things - rest.things}


@router.get("/sessions/{session}/snapshots")
async def snapshots(tenant: Tenant, state: Here, session: str) -> dict[str, Any]:
    """Return the versions to which the open stage can be restored."""
    rows = await state.platform.database.rows(GROUP, tenant, queries.snapshots, session=session)
    return {"snapshots": [{**row, "at": row["at"].isoformat()} for row in map(dict, rows)]}


@router.get("/history")
async def history(tenant: Tenant, state: Here, root: str, most: int = 100) -> dict[str, Any]:
    """Return the commits of a folder."""
    return await state.history.log(tenant, root, most)


@router.put("/history/purge")
async def purge(tenant: Tenant, state: Here, wish: Purge) -> dict[str, Any]:
    """Remove history."""
    return await state.history.purge(tenant, wish)


@router.put("/examples")
async def example(tenant: Tenant, state: Here) -> dict[str, Any]:
    """Create an example workspace."""
    return await examples.create(state.workspaces.examples(tenant))


@router.get("/folders")
async def folder(tenant: Tenant, state: Here, path: str, owner: bool = False) -> dict[str, Any]:
    """Return whether a folder may be a workspace."""
    roots, data = state.workspaces.roots(tenant), state.workspaces.data_dir
    return asdict(await asyncio.to_thread(folders.look, path, tenant, roots, data, owner=owner))


class Wanted(BaseModel):
    """Files of a source of knowledge that are to be read."""

    source: str
    paths: tuple[str, ...]


@router.get("/knowledge/files")
async def knowledge_files(tenant: Tenant, state: Here, source: str) -> dict[str, Any]:
    """Return the files of a source of knowledge, each with its stamp."""
    return {"files": await state.sources.files(tenant, source)}


@router.put("/knowledge/texts")
async def knowledge_texts(tenant: Tenant, state: Here, wanted: Wanted) -> dict[str, Any]:
    """Return the texts of files; nothing changes."""
    return {"texts": await state.sources.texts(tenant, wanted.source, wanted.paths)}


@router.get("/tools")
async def tools(tenant: Tenant, state: Here) -> dict[str, Any]:
    return {
        "tools": [
            {
                "name": tool.name,
                "skill": tool.skill,
                "description": tool.description,
                "mutates": tool.mutates,
                "effect_class": tool.effect_class.value,
                "risks": list(tool.risks),
                "source": tool.source,
                "params": dict(tool.params),
            }
            for tool in state.platform.skills.tools_for(tenant)
        ]
    }


@router.get("/skills")
async def skills(tenant: Tenant, state: Here, root: str | None = None, query: str | None = None) -> dict[str, Any]:
    """Return every skill, whether it is in use and why not; also a folder's own, if one is named."""
    return await state.skills.listed(tenant, root, query)


@router.get("/skills/{name}")
async def skill(tenant: Tenant, state: Here, name: str, root: str | None = None) -> dict[str, Any]:
    """Return a skill with its tools, files and instructions."""
    return await state.skills.describe(tenant, name, root)


# A person's approval of files on this machine, which only its executor can compare. Repeating it changes nothing.
@router.put("/skills/{name}/approval")
async def approve(tenant: Tenant, state: Here, name: str, word: SkillApproval) -> dict[str, Any]:
    """Turn exactly this version of a folder's skill on."""
    await state.skills.approve(tenant, word.model_copy(update={"name": name}))
    return await state.skills.describe(tenant, name, word.root)


@router.put("/skills/{name}/revocation")
async def revoke(tenant: Tenant, state: Here, name: str, word: Word) -> dict[str, Any]:
    """Turn it off."""
    await state.skills.revoke(tenant, word.model_copy(update={"name": name}))
    return {"name": name, "state": "off"}


@router.get("/remote/definitions")
async def remote_definitions(tenant: Tenant, state: Here) -> dict[str, Any]:
    """Return the approved tools of other servers, for the processes that plan with them."""
    return {"tools": [as_json(tool) for tool in state.platform.skills.remote]}


@router.put("/remote/servers")
async def remote_servers(tenant: Tenant, state: Here, operator: Operator) -> dict[str, Any]:
    """Return the servers, their tools and the approvals."""
    return await state.remote.overview(tenant, operator)


@router.put("/remote/tools/{name}/approval")
async def approve_tool(tenant: Tenant, state: Here, name: str, word: Approving) -> dict[str, Any]:
    """Offer a remote tool with exactly this description."""
    return await state.remote.approve(tenant, name, word)


@router.put("/remote/tools/{name}/revocation")
async def revoke_tool(tenant: Tenant, state: Here, name: str, operator: Operator) -> dict[str, Any]:
    """Stop offering a remote tool."""
    await state.remote.revoke(tenant, name, operator)
    return {"name": name, "state": "revoked"}


def facts_of(stage: Stage) -> dict[str, Any]:
    """Return what a planner may know of a tree."""
    few_names = len(stage.tree.inside(TOP)) <= NAMES_MOST
    found = stage.totals(".")
    # All of them or none: a planner takes a name that is not among them as absent.
    few = found.files <= PATHS_MOST
    below = [node for node in stage.walk(".") if node.kind == "file" and "/" in node.path] if few else []
    paths = [node.path for node in below if not node.left_alone]
    seen = {above for path in paths for above in lineage(path)[1:]}
    # No path leads to these: an empty folder, and a repository or bundle, which is one item.
    folders = (node for node in stage.walk(".") if node.is_folder and "/" in node.path) if few else ()
    bare = islice((node for node in folders if node.path not in seen), BARE_MOST)
    return {
        **({"names": [*map(_named, (*stage.get_children("."), *bare))]} if few_names else {}),
        **({"paths": paths, "alone": [node.path for node in below if node.left_alone]} if few else {}),
        "files": found.files,
        "directories": found.directories,
        "bytes": found.size,
        "extensions": sorted(found.extensions)[:100],
    }


def _named(node: Node) -> str:
    return f"{node.path}/" if node.is_folder else node.path
