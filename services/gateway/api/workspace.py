"""The session's files: what they are, what is staged, and committing it or rolling it back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from libs import ids
from libs.changes import Changeset
from libs.clients.calls import call
from libs.errors import Rejected
from libs.events import RollbackRequested
from libs.events.topics import EXECUTOR
from libs.identity import Principal
from services.gateway.api import writes
from services.gateway.api.approvals import decided
from services.gateway.api.bodies import StrictRoute
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import Answer, Commanded, Commit, Id, Rollback
from services.gateway.api.security import Caller, Reader
from services.gateway.api.writes import COMMANDED, Decided, IdempotencyKey, Once
from services.gateway.domain import messages, outcomes
from services.gateway.store import Approval

router = APIRouter(route_class=StrictRoute, responses=PROBLEMS)

SessionId = Annotated[Id, Path()]


class NothingOpen(Rejected):
    """No diff of this session waits for a decision."""

    code = "NOTHING_OPEN"


class NothingToRollBack(Rejected):
    """This session has committed nothing that is not rolled back already."""

    code = "NOTHING_TO_ROLL_BACK"


@router.get("/v1/sessions/{session_id}/graph", tags=["workspace"])
async def graph(request: Request, here: Here, who: Reader, session_id: SessionId) -> Response:
    """The staged tree. Query parameters are the tool executor's."""
    return await view(request, here, who, session_id, "graph")


@router.get("/v1/sessions/{session_id}/diff", tags=["workspace"])
async def diff(request: Request, here: Here, who: Reader, session_id: SessionId) -> Response:
    """What the stage would change, whole."""
    return await view(request, here, who, session_id, "diff")


@router.get("/v1/sessions/{session_id}/snapshots", tags=["workspace"])
async def snapshots(request: Request, here: Here, who: Reader, session_id: SessionId) -> Response:
    """The points of the stage that one can go back to."""
    return await view(request, here, who, session_id, "snapshots")


@router.post("/v1/sessions/{session_id}/commit", response_model=Commanded, responses=COMMANDED, tags=["workspace"])
async def commit(
    request: Request,
    response: Response,
    here: Here,
    who: Caller,
    session_id: SessionId,
    body: Commit | None = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Approve the open diff, and be told what happened to the files."""
    session, asked = await here.session(who, session_id), body or Commit()
    once = Once.of(request, key, body)
    receipt = await writes.earlier(here, who, once)
    if receipt is None:
        approval = await _open_commit(here, who, session_id)
        verdict = "override" if asked.exclude else "approve"
        reply = Answer.model_validate(
            {"verdict": verdict, "digest": asked.digest or approval.digest, "exclude": asked.exclude}
        )
        receipt = await decided(here, who, once, approval, session, reply)
    turn = receipt["turn_id"]
    done = await writes.outcome(here, who, receipt, lambda event: outcomes.commits(turn, event))
    response.status_code = 200 if done.outcome else 202
    return done


@router.post("/v1/sessions/{session_id}/rollback", response_model=Commanded, responses=COMMANDED, tags=["workspace"])
async def rollback(
    request: Request,
    response: Response,
    here: Here,
    who: Caller,
    session_id: SessionId,
    body: Rollback | None = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Undo. What someone else changed since is reported, and never overwritten."""
    session, asked = await here.session(who, session_id), body or Rollback()

    async def decide() -> Decided:
        turn = ids.new()
        commit_id = asked.commit_id
        if asked.snapshot is None and commit_id is None:
            commit_id = await here.store.last_commit(who.tenant, session_id)
            if commit_id is None:
                raise NothingToRollBack
        cause = writes.cause_of(who, session_id, turn)
        record = await writes.permitted(here, cause, who, "workspace.rollback")
        event = RollbackRequested(
            turn_id=turn,
            principal=who.id,
            scopes=tuple(sorted(who.scopes)),
            snapshot=asked.snapshot,
            commit_id=commit_id,
            exclude=asked.exclude,
        )
        text = f"rollback to {asked.snapshot}" if asked.snapshot else f"rollback of {commit_id}"
        opened = messages.turn_opened(cause, turn_id=turn, text=text, at=here.platform.clock.now().isoformat())
        return Decided(opened + Changeset(cause).say(record, event), writes.receipt(cause, turn, session))

    receipt = await writes.write(here, who, Once.of(request, key, body), decide)
    of_request, turn = receipt["request_id"], receipt["turn_id"]
    done = await writes.outcome(here, who, receipt, lambda event: outcomes.undoes(of_request, turn, event))
    response.status_code = 200 if done.outcome else 202
    return done


@router.get("/graph", tags=["scope weaver"])
async def graph_alias(request: Request, here: Here, who: Reader, session: Annotated[Id, Query()]) -> Response:
    """The same as /v1/sessions/{session}/graph (S4-56)."""
    return await view(request, here, who, session, "graph")


async def view(request: Request, here: Gateway, who: Principal, session_id: str, what: str) -> Response:
    """What the tool executor says of one of the caller's sessions."""
    session = await here.session(who, session_id)
    params = {name: value for name, value in request.query_params.items() if name not in ("session", "root")}
    if session.root is not None:
        params["root"] = session.root
    path = f"/internal/v1/sessions/{session_id}/{what}"
    found = await call(here.platform, EXECUTOR, "GET", path, tenant=who.tenant, session=session_id, params=params)
    return JSONResponse(found)


async def _open_commit(here: Gateway, who: Principal, session_id: str) -> Approval:
    found = await here.store.approvals(who.tenant, session=session_id, kind="commit", most=1)
    if not found:
        raise NothingOpen
    return found[0]
