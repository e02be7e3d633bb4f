"""The session's workspace: staged changes, commit, rollback and history."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from libs import ids
from libs.changes import Changeset
from libs.clients import call
from libs.errors import Rejected
from libs.events import RollbackRequested
from libs.events.topics import EXECUTOR
from libs.identity import Principal
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import MAX_POSITION, Id
from services.gateway.identity.security import Authenticated, CanReadFiles
from services.gateway.sessions import commanded, messages, outcomes
from services.gateway.sessions.approvals import EDITS, AlreadyClosed, Changed, submit_answer
from services.gateway.sessions.catalogue_models import (
    CommitLog,
    DiffPage,
    FileContent,
    FolderShown,
    Graph,
    Purged,
    SnapshotList,
)
from services.gateway.sessions.commanded import COMMANDED
from services.gateway.sessions.context import FOLDER, Here, NoSuchSession, ReadOnly, Sessions
from services.gateway.sessions.models import Answer, ApprovalShown, Commanded, Commit, Example, Purge, Rollback, Root

router = APIRouter(route_class=StrictRoute)

SessionId = Annotated[Id, Path()]
Change = Literal["deleted", "overwritten", "changed", "moved", "created"]


class NothingOpen(Rejected):
    """Nothing is staged for commit; send a message that changes files first."""

    code = "NOTHING_OPEN"


class NothingToRollBack(Rejected):
    """There is no commit to roll back; name a snapshot or a commit."""

    code = "NOTHING_TO_ROLL_BACK"


class NothingToRedo(Rejected):
    """No commit of this session is rolled back; name one that is."""

    code = "NOTHING_TO_REDO"


VIEWS = raises(NoSuchSession, *FOLDER)
LARGE = raises(*FOLDER, Refusal(422, "REJECTED", "the tree has more than 20000 nodes; look at its facts or its diff"))
NOT_CHANGED = Refusal(404, "NOT_FOUND", "The stage does not change this file; read the diff again.")
EXAMPLES_FULL = Refusal(422, "TOO_MANY_EXAMPLES", "There are too many example folders; delete some.")


@router.get("/v1/sessions/{session_id}/graph", response_model=Graph, responses=VIEWS | LARGE, tags=["workspace"])
async def graph(here: Here, who: CanReadFiles, session_id: SessionId) -> Response:
    """Return the staged tree."""
    return await view(here, who, session_id, "graph")


@router.get("/v1/sessions/{session_id}/diff", response_model=DiffPage, responses=VIEWS, tags=["workspace"])
async def diff(
    here: Here,
    who: CanReadFiles,
    session_id: SessionId,
    after: Annotated[int, Query(ge=0, le=MAX_POSITION, description="`next` of the previous page")] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 5000,
    change: Annotated[Change | None, Query(description="Only changes of this kind")] = None,
    folder: Annotated[str | None, Query(max_length=4096, description="Only changes in this folder")] = None,
) -> Response:
    """Return the diff of the stage, the riskiest changes first, page by page. Counts and groups are of all of it."""
    chosen = {"change": change, "folder": folder}
    given = {name: value for name, value in chosen.items() if value is not None}
    return await view(here, who, session_id, "diff", after=str(after), limit=str(limit), **given)


@router.get("/v1/sessions/{session_id}/snapshots", response_model=SnapshotList, responses=VIEWS, tags=["workspace"])
async def snapshots(here: Here, who: CanReadFiles, session_id: SessionId) -> Response:
    """List the snapshots of the stage that a rollback can restore."""
    return await view(here, who, session_id, "snapshots")


@router.get(
    "/v1/sessions/{session_id}/content",
    response_model=FileContent,
    responses=raises(NoSuchSession, NOT_CHANGED, *FOLDER),
    tags=["workspace"],
)
async def content(
    here: Here,
    who: CanReadFiles,
    session_id: SessionId,
    path: Annotated[str, Query(min_length=1, max_length=4096, description="A path of the diff")],
    side: Annotated[Literal["before", "after"], Query(description="As it was, or as it would be")],
) -> Response:
    """Return the beginning of a file that the stage changes, at most 1 MiB, as it was or as it would be."""
    session = await here.readable(who, session_id)
    await commands.record_access(here, who, "workspace.read", f"session:{session_id}")
    params = {"path": path, "side": side, **({"root": session.root} if session.root is not None else {})}
    where = f"/internal/v1/sessions/{session_id}/content"
    found = await call(here.platform, EXECUTOR, "GET", where, tenant=who.tenant, session=session_id, params=params)
    return JSONResponse(found)


@router.post(
    "/v1/sessions/{session_id}/commit",
    response_model=Commanded,
    responses=COMMANDED | raises(NoSuchSession, ReadOnly, NothingOpen, AlreadyClosed, Changed, *EDITS),
    tags=["workspace"],
)
async def commit(
    request: Request,
    response: Response,
    here: Here,
    who: Authenticated,
    session_id: SessionId,
    body: Commit | None = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Approve the open diff, and return the outcome for its files."""
    session, asked = await here.writable(who, session_id), body or Commit()
    once = IdempotentRequest.of(request, key, body)
    # Before the approval is looked up: when a request is repeated, the one that it answered is closed.
    receipt = await commands.earlier(here, who, once)
    if receipt is None:
        approval = await _open_commit(here, who, session_id)
        verdict = "override" if asked.exclude else "approve"
        reply = Answer.model_validate(
            {"verdict": verdict, "digest": asked.digest or approval.digest, "exclude": asked.exclude}
        )
        receipt = await submit_answer(here, who, once, approval, session, reply)
    turn = receipt["turn_id"]
    done = await commanded.outcome(here, who, receipt, lambda event: outcomes.commits(turn, event))
    response.status_code = 200 if done.outcome else 202
    return done


@router.post(
    "/v1/sessions/{session_id}/rollback",
    response_model=Commanded,
    responses=COMMANDED | raises(NoSuchSession, ReadOnly, NothingToRollBack, NothingToRedo),
    tags=["workspace"],
)
async def rollback(
    request: Request,
    response: Response,
    here: Here,
    who: Authenticated,
    session_id: SessionId,
    body: Rollback | None = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Undo changes, or redo them. Files that changed since are reported and never overwritten."""
    session, asked = await here.writable(who, session_id), body or Rollback()
    once = IdempotentRequest.of(request, key, body)

    async def decide() -> CommandResult:
        turn = ids.new()
        commit_id = asked.commit_id
        if asked.snapshot is None and commit_id is None:
            change = "rolled_back" if asked.redo else "committed"
            # Named now: what "the last" is must not change until the worker reads the request.
            commit_id = await here.store.last_change(who.tenant, session_id, change)
            if commit_id is None:
                raise NothingToRedo if asked.redo else NothingToRollBack
        cause = commands.cause_of(who, session_id, turn)
        record = await commands.permitted(here, cause, who, "workspace.rollback")
        event = RollbackRequested(
            turn_id=turn,
            principal=who.id,
            scopes=tuple(sorted(who.scopes)),
            snapshot=asked.snapshot,
            commit_id=commit_id,
            exclude=asked.exclude,
            redo=asked.redo,
        )
        what = "redo" if asked.redo else "rollback"
        text = f"rollback to {asked.snapshot}" if asked.snapshot else f"{what} of {commit_id}"
        opened = messages.turn_opened(cause, turn_id=turn, text=text, at=here.platform.clock.now().isoformat())
        return CommandResult(opened + Changeset(cause).emit(record, event), commanded.receipt(cause, turn, session))

    receipt = await commands.write(here, who, once, decide)
    of_request, turn = receipt["request_id"], receipt["turn_id"]
    done = await commanded.outcome(here, who, receipt, lambda event: outcomes.undoes(of_request, turn, event))
    response.status_code = 200 if done.outcome else 202
    return done


@router.get("/v1/workspace/log", response_model=CommitLog, responses=raises(*FOLDER), tags=["workspace"])
async def log(here: Here, who: CanReadFiles, root: Root, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """List the commits of a folder, newest first: time, session, changes, history, and deadline for undo."""
    params = {"root": root, "most": str(most)}
    found = await call(here.platform, EXECUTOR, "GET", "/internal/v1/history", tenant=who.tenant, params=params)
    return JSONResponse(found)


@router.post("/v1/workspace/purge", response_model=Purged, responses=raises(*FOLDER), tags=["workspace"])
async def purge(here: Here, who: Authenticated, body: Purge) -> Response:
    """Delete the history of a folder's commits. They can no longer be undone, and their space is freed."""
    before = (body.before or here.platform.clock.now()).timestamp()
    wish = {"root": body.root, "before": before, "principal": who.id, "scopes": sorted(who.scopes)}
    done = await call(here.platform, EXECUTOR, "PUT", "/internal/v1/history/purge", tenant=who.tenant, json=wish)
    return JSONResponse(done)


@router.get("/v1/folders", response_model=FolderShown, tags=["workspace"])
async def folder(here: Here, who: CanReadFiles, path: Annotated[str, Query(min_length=1, max_length=4096)]) -> Response:
    """Say whether a folder may be a workspace, and complete its path inside allowed folders. Nothing is allowed by it:
    `suma roots add` on the machine does that.
    """
    params = {"path": path, "owner": str(who.may("admin.roots")).lower()}
    found = await call(here.platform, EXECUTOR, "GET", "/internal/v1/folders", tenant=who.tenant, params=params)
    return JSONResponse(found)


@router.post(
    "/v1/examples", status_code=201, response_model=Example, responses=raises(EXAMPLES_FULL), tags=["workspace"]
)
async def example(here: Here, who: Authenticated) -> Response:
    """Create a messy example folder, a workspace to try a first task on."""
    await commands.record_access(here, who, "workspace.example")
    made = await call(here.platform, EXECUTOR, "PUT", "/internal/v1/examples", tenant=who.tenant)
    return JSONResponse(made, 201)


@router.get("/graph", response_model=Graph, responses=VIEWS | LARGE, tags=["scope weaver"])
async def graph_alias(here: Here, who: CanReadFiles, session: Annotated[Id, Query()]) -> Response:
    """Return the staged tree; an alias of /v1/sessions/{session}/graph (S4-56)."""
    return await view(here, who, session, "graph")


async def view(here: Sessions, who: Principal, session_id: str, what: str, **page: str) -> Response:
    """Return the tool executor's view of one of the caller's sessions."""
    session = await here.readable(who, session_id)
    params = {**page, **({"root": session.root} if session.root is not None else {})}
    path = f"/internal/v1/sessions/{session_id}/{what}"
    found = await call(here.platform, EXECUTOR, "GET", path, tenant=who.tenant, session=session_id, params=params)
    return JSONResponse(found)


async def _open_commit(here: Sessions, who: Principal, session_id: str) -> ApprovalShown:
    found = await here.store.approvals(who.tenant, reader=None, session=session_id, kind="commit", most=1)
    if not found:
        raise NothingOpen
    return found[0]
