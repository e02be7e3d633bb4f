"""The inbox of approvals and their answers. An answer is bound to the digest of what is shown (architecture.md 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from libs.changes import Changeset
from libs.clients import call
from libs.errors import NotFound, Rejected
from libs.events import ApprovalDecided
from libs.events.topics import EXECUTOR
from libs.identity import Principal
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.identity import access
from services.gateway.identity.security import Authenticated, CanRead
from services.gateway.sessions import commanded, outcomes, rows
from services.gateway.sessions.commanded import COMMANDED
from services.gateway.sessions.context import FOLDER, Here, ReadOnly, Sessions, seen_as
from services.gateway.sessions.models import Answer, ApprovalList, ApprovalShown, Commanded, Draft, DraftGiven, Session
from services.gateway.sessions.outcomes import STALE

router = APIRouter(route_class=StrictRoute)

SAME: Mapping[str, str] = {"approve": "approved", "deny": "denied"}
"""The outcomes of answers that say all in their verdict."""
COMMIT = "commit"
"""The kind of approval that commits staged changes."""


class NoSuchApproval(NotFound):
    """There is no such approval; list the open ones."""


class AlreadyClosed(Rejected):
    """This approval is already closed; read its outcome."""

    code = "APPROVAL_CLOSED"


class Changed(Rejected):
    """The approval changed since you read it; read it again, then answer."""

    code = "APPROVAL_CHANGED"


class NoArgs(Rejected):
    """A commit has no args to edit; leave changes out with `exclude`, or deny it."""

    code = "NO_ARGS"


class NoApproval(Rejected):
    """An unknown effect cannot be approved; report whether it happened."""

    code = "NO_APPROVAL"


EDITS = (NoArgs, NoApproval, Refusal(422, "CANNOT_EXCLUDE", "taxes.pdf is not part of the change"), *FOLDER)
"""Errors of an answer that edits, or that does not fit the kind of the question."""


@router.get("/v1/approvals", tags=["approvals"])
async def inbox(
    here: Here,
    who: CanRead,
    session: Id | None = None,
    after: Id | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> ApprovalList:
    """List open approvals, oldest first, of one session or of all."""
    found = await here.store.approvals(who.tenant, reader=access.reader(who), session=session, after=after, most=limit)
    return ApprovalList(
        approvals=found,
        next=found[-1].approval_id if len(found) == limit else None,
        as_of=here.platform.clock.now(),
    )


@router.get("/v1/approvals/{approval_id}", responses=raises(NoSuchApproval), tags=["approvals"])
async def read_approval(here: Here, who: CanRead, approval_id: Annotated[Id, Path()]) -> ApprovalShown:
    """Return an approval, open or closed."""
    return await _approval(here, who, approval_id)


@router.put(
    "/v1/approvals/{approval_id}/draft",
    responses=raises(NoSuchApproval, ReadOnly, AlreadyClosed, Changed, *FOLDER),
    tags=["approvals"],
)
async def keep_draft(here: Here, who: CanRead, approval_id: Annotated[Id, Path()], body: DraftGiven) -> Draft:
    """Keep what a person prepares as the answer, so that a reload, another tab and another device show it. The last
    draft counts; none decides anything.
    """
    approval = await _approval(here, who, approval_id)
    session = await here.writable(who, approval.session_id)
    check_open(approval, body.digest)
    figures = await _figures(here, who, approval, session, body.exclude)
    given = body.model_dump(mode="json")
    draft = Draft.model_validate({**given, **figures, "updated_at": here.platform.clock.now()})
    row = rows.ApprovalDraft(approval_id, body.digest, draft.model_dump(mode="json"))
    cause = commands.cause_of(who, approval.session_id, approval.turn_id)
    await here.platform.writer.apply(Changeset(cause).put(row))
    return draft


async def _figures(
    here: Sessions, who: Principal, approval: ApprovalShown, session: Session, exclude: Sequence[str]
) -> dict[str, Any]:
    """Return how many changes an approval without the excluded ones makes and leaves out, or why it cannot be."""
    if approval.kind != COMMIT:
        offered = len(approval.data.get("items") or ())
        return {"makes": max(0, offered - len(exclude)), "leaves_out": len(exclude), "problem": ""}
    try:
        found = await _exclusion(here, who, session, exclude)
    except Rejected as error:
        return {"makes": None, "leaves_out": None, "problem": str(error)}
    return {"makes": found["makes"], "leaves_out": found["leaves_out"], "problem": ""}


@router.post(
    "/v1/approvals/{approval_id}",
    response_model=Commanded,
    responses=COMMANDED | raises(NoSuchApproval, ReadOnly, AlreadyClosed, Changed, *EDITS),
    tags=["approvals"],
)
async def answer(
    request: Request,
    response: Response,
    here: Here,
    who: Authenticated,
    approval_id: Annotated[Id, Path()],
    body: Answer,
    key: IdempotencyKey = None,
) -> Commanded:
    """Approve, deny, or override (exclude items, edit args). The first answer counts."""
    done = await decide(here, who, IdempotentRequest.of(request, key, body), approval_id, body)
    response.status_code = 200 if done.outcome else 202
    return done


async def decide(here: Sessions, who: Principal, once: IdempotentRequest, approval_id: str, body: Answer) -> Commanded:
    """Answer an approval, and wait briefly for its outcome. Raises NotFound, ReadOnly or Rejected."""
    approval = await _approval(here, who, approval_id)
    session = await here.writable(who, approval.session_id)
    receipt = await submit_answer(here, who, once, approval, session, body)
    return await closing(here, who, receipt, approval_id, same=SAME.get(body.verdict))


async def submit_answer(
    here: Sessions, who: Principal, once: IdempotentRequest, approval: ApprovalShown, session: Session, body: Answer
) -> dict[str, Any]:
    """Forward the answer. The conversation worker decides whether the approval is still open."""

    async def decide() -> CommandResult:
        if approval.kind == outcomes.EFFECT:
            raise NoApproval(f"report whether the effect happened: POST /v1/effects/{approval.approval_id}")
        check_open(approval, body.digest)
        if approval.kind == COMMIT:
            await _check_commit_answer(here, who, session, body)
        cause = commands.cause_of(who, approval.session_id, approval.turn_id)
        record = await commands.permitted(here, cause, who, "approval.decide", verdict=body.verdict)
        event = ApprovalDecided(
            approval_id=approval.approval_id,
            verdict=body.verdict,
            digest=body.digest,
            principal=who.id,
            scopes=tuple(sorted(who.scopes)),
            reason=body.reason,
            exclude=body.exclude,
            args=body.args,
        )
        changeset = Changeset(cause).emit(record, event)
        return CommandResult(changeset, commanded.receipt(cause, approval.turn_id, session))

    return dict(await commands.write(here, who, once, decide))


async def _check_commit_answer(here: Sessions, who: Principal, session: Session, body: Answer) -> None:
    """Raise Rejected if the answer edits args, or excludes something outside the change."""
    if body.args is not None:
        raise NoArgs
    if body.exclude:
        await _exclusion(here, who, session, body.exclude)


async def _exclusion(here: Sessions, who: Principal, session: Session, exclude: Sequence[str]) -> dict[str, Any]:
    """Return what a commit without these paths does. Raises Rejected if they cannot be left out."""
    path = f"/internal/v1/sessions/{session.session_id}/exclusions"
    asked = {"root": session.root, "paths": list(exclude)}
    found = await call(here.platform, EXECUTOR, "PUT", path, tenant=who.tenant, session=session.session_id, json=asked)
    return dict(found)


async def closing(
    here: Sessions, who: Principal, receipt: Mapping[str, Any], approval_id: str, *, same: str | None
) -> Commanded:
    """Return a command that answers a question, with the event that closed it if known in time.

    Raises:
        AlreadyClosed: another answer came first, with another outcome than `same`.
    """
    own = receipt["request_id"]
    event = await commanded.outcome_event(here, who, receipt, lambda each: outcomes.closes(approval_id, own, each))
    if event is not None and event.data["outcome"] == STALE:
        # Stale need not mean closed: an answer that policy refused leaves its question open.
        now = await here.store.approval(who.tenant, approval_id)
        if now is not None and now.outcome is not None:
            raise AlreadyClosed(f"this is already closed: {now.outcome}")
    elif event is not None and event.correlation != own and event.data["outcome"] != same:
        raise AlreadyClosed(f"this is already closed: {event.data['outcome']}")
    return commanded.commanded(receipt, event)


def check_open(question: ApprovalShown, digest: str) -> None:
    """Raise AlreadyClosed if the question is closed, and Changed if its digest differs from the given one."""
    if question.outcome is not None:
        raise AlreadyClosed(f"this is already closed: {question.outcome}")
    if question.digest != digest:
        raise Changed


async def _approval(here: Sessions, who: Principal, approval_id: str) -> ApprovalShown:
    found = await here.store.approval(who.tenant, approval_id)
    if found is None:
        raise NoSuchApproval
    with seen_as(NoSuchApproval):
        await here.readable(who, found.session_id)
    return found
