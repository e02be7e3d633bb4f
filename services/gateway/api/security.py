"""Who is asking: an API key as a bearer token or in X-API-Key, found by its id and compared as a hash (DESIGN §13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Unavailable
from libs.events import ActionRecorded
from libs.identity import ApiKey, BadKey, Principal
from libs.identity.keys import authenticate, id_of
from services.gateway.api.gateway import Gateway, Here
from services.gateway.store import GROUP

bearer = HTTPBearer(auto_error=False, description="An API key: `suma_…`")
header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same, where a bearer token cannot be sent")


async def caller(
    request: Request,
    here: Here,
    token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    key: Annotated[str | None, Depends(header)],
) -> Principal:
    """The verified identity; raises BadKey, TooMany where it asks for more than it may, and Unavailable to a stranger
    who may be the owner of a machine that is still starting."""
    text = token.credentials if token is not None else key
    if text is None:
        raise BadKey("this needs an API key: Authorization: Bearer suma_…")
    opening = here.opening()
    stored = await here.store.key(id_of(text))
    if stored is None and opening:
        raise Unavailable(opening[0])
    try:
        who = authenticate(text, stored, now=here.platform.clock.now())
    except BadKey as error:
        if stored is not None:
            await _record(here, stored, error)
        raise
    # Only now: nobody uses up what a tenant may do without one of its keys.
    here.crowd.belong(request.state.seat, who.tenant)
    await here.rates.admit(who)
    return who


def holding(scope: str) -> Callable[[Principal], Awaitable[Principal]]:
    """The caller, where a look needs a scope. What changes something is asked of the policy instead, and recorded."""

    async def held(who: Annotated[Principal, Depends(caller)]) -> Principal:
        who.require(scope)
        return who

    return held


async def _record(here: Gateway, key: ApiKey, error: BadKey) -> None:
    if not here.refusals.fresh(key.id, here.platform.clock.now().timestamp()):
        return
    cause = Cause.request(GROUP, id=ids.new(), tenant=key.tenant, key=f"{key.tenant}:{key.principal}")
    refusal = ActionRecorded(
        action="identity.authenticate",
        phase="decision",
        verdict="deny",
        principal=key.principal,
        resource=f"key:{key.id}",
        rule=error.code,
    )
    await here.platform.writer.apply(Changeset(cause).say(refusal))


Caller = Annotated[Principal, Depends(caller)]
Talker = Annotated[Principal, Depends(holding("chat"))]
Reader = Annotated[Principal, Depends(holding("files:read"))]
