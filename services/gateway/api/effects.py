"""Effects of which nobody knows whether they happened, and what people found out about them (DESIGN §7, §10).

They are questions of the inbox, of the kind `effect`. Their answer is no approval: it says what is, not what may be.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from libs.changes import Changeset
from libs.errors import NotFound
from libs.events import EffectResolved
from libs.identity import Principal
from services.gateway.api import writes
from services.gateway.api.approvals import still_asked
from services.gateway.api.bodies import StrictRoute
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import ApprovalShown, Commanded, EffectList, Finding, Id
from services.gateway.api.security import Caller, Talker
from services.gateway.api.writes import COMMANDED, Decided, IdempotencyKey, Once
from services.gateway.domain import outcomes
from services.gateway.domain.outcomes import EFFECT
from services.gateway.store import Approval

router = APIRouter(route_class=StrictRoute, tags=["effects"], responses=PROBLEMS)

EffectId = Annotated[Id, Path()]


class NoSuchEffect(NotFound):
    """There is no such effect."""


@router.get("/v1/effects")
async def unknown(
    here: Here, who: Talker, session: Id | None = None, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> EffectList:
    """The effects of which nobody knows whether they happened, oldest first; of one session or all."""
    found = await here.store.approvals(who.tenant, session=session, kind=EFFECT, most=limit)
    shown = [ApprovalShown.model_validate(effect) for effect in found]
    return EffectList(effects=shown, as_of=here.platform.clock.now())


@router.get("/v1/effects/{effect_id}")
async def read_effect(here: Here, who: Talker, effect_id: EffectId) -> ApprovalShown:
    """One of them, also when someone has found out."""
    return ApprovalShown.model_validate(await _effect(here, who, effect_id))


@router.post("/v1/effects/{effect_id}", response_model=Commanded, responses=COMMANDED)
async def resolve(
    request: Request,
    response: Response,
    here: Here,
    who: Caller,
    effect_id: EffectId,
    body: Finding,
    key: IdempotencyKey = None,
) -> Commanded:
    """Say whether it happened. The first answer counts, also when the turn is over: then it changes the step alone."""
    effect = await _effect(here, who, effect_id)
    receipt = await _resolved(here, who, Once.of(request, key, body), effect, body)
    done = await writes.outcome(here, who, receipt, lambda event: outcomes.closes(effect_id, event))
    response.status_code = 200 if done.outcome else 202
    return done


async def _resolved(here: Gateway, who: Principal, once: Once, effect: Approval, body: Finding) -> dict[str, Any]:
    """Send the finding on. The conversation worker has the last word on whether it still counts."""
    session = await here.session(who, effect.session_id)

    async def decide() -> Decided:
        still_asked(effect, body.digest)
        cause = writes.cause_of(who, effect.session_id, effect.turn_id)
        facts = {"verdict": body.verdict, "tool": effect.data.get("tool")}
        record = await writes.permitted(here, cause, who, "effect.resolve", **facts)
        event = EffectResolved(
            approval_id=effect.approval_id,
            verdict=body.verdict,
            digest=body.digest,
            principal=who.id,
            scopes=tuple(sorted(who.scopes)),
            reason=body.reason,
            data=body.data,
        )
        changeset = Changeset(cause).say(record, event)
        return Decided(changeset, writes.receipt(cause, effect.turn_id, session))

    return dict(await writes.write(here, who, once, decide))


async def _effect(here: Gateway, who: Principal, effect_id: str) -> Approval:
    found = await here.store.approval(who.tenant, effect_id)
    if found is None or found.kind != EFFECT:
        raise NoSuchEffect
    return found
