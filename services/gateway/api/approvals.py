"""The inbox of questions to people, and their answers. An answer binds to the digest of what was seen (DESIGN §7)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from libs.changes import Changeset
from libs.errors import NotFound, Rejected
from libs.events import ApprovalDecided
from libs.identity import Principal
from services.gateway.api import writes
from services.gateway.api.bodies import StrictRoute
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import Answer, ApprovalList, ApprovalShown, Commanded, Id
from services.gateway.api.security import Caller, Talker
from services.gateway.api.writes import COMMANDED, Decided, IdempotencyKey, Once
from services.gateway.domain import outcomes
from services.gateway.store import Approval, Session

router = APIRouter(route_class=StrictRoute, responses=PROBLEMS)


class NoSuchApproval(NotFound):
    """There is no such approval."""


class AlreadyClosed(Rejected):
    """This question was answered, or has lapsed."""

    code = "APPROVAL_CLOSED"


class Changed(Rejected):
    """What you answered is not what is asked now: look at it again."""

    code = "APPROVAL_CHANGED"


class NoApproval(Rejected):
    """Whether an effect happened is not for anyone to approve."""

    code = "NO_APPROVAL"


@router.get("/v1/approvals", tags=["approvals"])
async def inbox(
    here: Here, who: Talker, session: Id | None = None, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> ApprovalList:
    """What waits for a person, oldest first; of one session or all."""
    found = await here.store.approvals(who.tenant, session=session, most=limit)
    shown = [ApprovalShown.model_validate(approval) for approval in found]
    return ApprovalList(approvals=shown, as_of=here.platform.clock.now())


@router.get("/v1/approvals/{approval_id}", tags=["approvals"])
async def read_approval(here: Here, who: Talker, approval_id: Annotated[Id, Path()]) -> ApprovalShown:
    """One question, also when it is closed."""
    return ApprovalShown.model_validate(await _approval(here, who, approval_id))


@router.post("/v1/approvals/{approval_id}", response_model=Commanded, responses=COMMANDED, tags=["approvals"])
async def answer(
    request: Request,
    response: Response,
    here: Here,
    who: Caller,
    approval_id: Annotated[Id, Path()],
    body: Answer,
    key: IdempotencyKey = None,
) -> Commanded:
    """Approve, deny, or override (exclude items, edit args). The first answer counts."""
    approval = await _approval(here, who, approval_id)
    session = await here.session(who, approval.session_id)
    receipt = await decided(here, who, Once.of(request, key, body), approval, session, body)
    done = await writes.outcome(here, who, receipt, lambda event: outcomes.closes(approval_id, event))
    response.status_code = 200 if done.outcome else 202
    return done


async def decided(
    here: Gateway, who: Principal, once: Once, approval: Approval, session: Session, body: Answer
) -> dict[str, Any]:
    """Send the answer on. The conversation worker has the last word on whether it still counts."""

    async def decide() -> Decided:
        if approval.kind == outcomes.EFFECT:
            raise NoApproval(f"say whether it happened: POST /v1/effects/{approval.approval_id}")
        still_asked(approval, body.digest)
        cause = writes.cause_of(who, approval.session_id, approval.turn_id)
        record = await writes.permitted(here, cause, who, "approval.decide", verdict=body.verdict)
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
        changeset = Changeset(cause).say(record, event)
        return Decided(changeset, writes.receipt(cause, approval.turn_id, session))

    return dict(await writes.write(here, who, once, decide))


def still_asked(question: Approval, digest: str) -> None:
    """Raises AlreadyClosed, and Changed where something else is asked now than what was seen."""
    if question.outcome is not None:
        raise AlreadyClosed(f"this question is closed: {question.outcome}")
    if question.digest != digest:
        raise Changed


async def _approval(here: Gateway, who: Principal, approval_id: str) -> Approval:
    found = await here.store.approval(who.tenant, approval_id)
    if found is None:
        raise NoSuchApproval
    return found
