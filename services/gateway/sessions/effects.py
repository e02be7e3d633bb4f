"""Effects with an unknown outcome, and findings about them (architecture.md 8, 11).

They are inbox items of the kind `effect`. A finding is not an approval: it reports whether the effect happened.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from libs.changes import Changeset
from libs.errors import NotFound
from libs.events import EffectResolved
from libs.identity import Principal
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import raises
from services.gateway.http.models import Id
from services.gateway.identity import access
from services.gateway.identity.security import Authenticated, CanRead
from services.gateway.sessions import commanded
from services.gateway.sessions.approvals import AlreadyClosed, Changed, check_open, closing
from services.gateway.sessions.commanded import COMMANDED
from services.gateway.sessions.context import Here, ReadOnly, Sessions, seen_as
from services.gateway.sessions.models import ApprovalShown, Commanded, EffectList, Finding
from services.gateway.sessions.outcomes import EFFECT

router = APIRouter(route_class=StrictRoute, tags=["effects"])

EffectId = Annotated[Id, Path()]


class NoSuchEffect(NotFound):
    """There is no such effect; list the unknown ones."""


@router.get("/v1/effects")
async def unknown(
    here: Here, who: CanRead, session: Id | None = None, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> EffectList:
    """List the effects with an unknown outcome, oldest first, of one session or of all."""
    found = await here.store.approvals(who.tenant, reader=access.reader(who), session=session, kind=EFFECT, most=limit)
    return EffectList(effects=found, as_of=here.platform.clock.now())


@router.get("/v1/effects/{effect_id}", responses=raises(NoSuchEffect))
async def read_effect(here: Here, who: CanRead, effect_id: EffectId) -> ApprovalShown:
    """Return an effect, unknown or resolved."""
    return await _effect(here, who, effect_id)


@router.post(
    "/v1/effects/{effect_id}",
    response_model=Commanded,
    responses=COMMANDED | raises(NoSuchEffect, ReadOnly, AlreadyClosed, Changed),
)
async def resolve(
    request: Request,
    response: Response,
    here: Here,
    who: Authenticated,
    effect_id: EffectId,
    body: Finding,
    key: IdempotencyKey = None,
) -> Commanded:
    """Report whether an effect happened. The first finding counts; after the turn's end it changes only the step."""
    effect = await _effect(here, who, effect_id)
    receipt = await _submit_finding(here, who, IdempotentRequest.of(request, key, body), effect, body)
    done = await closing(here, who, receipt, effect_id, same=body.verdict)
    response.status_code = 200 if done.outcome else 202
    return done


async def _submit_finding(
    here: Sessions, who: Principal, once: IdempotentRequest, effect: ApprovalShown, body: Finding
) -> dict[str, Any]:
    """Forward the finding. The conversation worker decides whether the effect is still unknown."""
    session = await here.writable(who, effect.session_id)

    async def decide() -> CommandResult:
        check_open(effect, body.digest)
        cause = commands.cause_of(who, effect.session_id, effect.turn_id)
        facts = {"verdict": body.verdict, "tool": effect.data.get("tool")}
        record = await commands.permitted(here, cause, who, "effect.resolve", **facts)
        event = EffectResolved(
            approval_id=effect.approval_id,
            verdict=body.verdict,
            digest=body.digest,
            principal=who.id,
            scopes=tuple(sorted(who.scopes)),
            reason=body.reason,
            data=body.data,
        )
        changeset = Changeset(cause).emit(record, event)
        return CommandResult(changeset, commanded.receipt(cause, effect.turn_id, session))

    return dict(await commands.write(here, who, once, decide))


async def _effect(here: Sessions, who: Principal, effect_id: str) -> ApprovalShown:
    found = await here.store.approval(who.tenant, effect_id)
    if found is None or found.kind != EFFECT:
        raise NoSuchEffect
    with seen_as(NoSuchEffect):
        await here.readable(who, found.session_id)
    return found
