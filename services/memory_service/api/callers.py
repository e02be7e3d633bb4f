"""The caller of a route, the cause of what it writes, and the refusal of policy."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from libs import ids
from libs.changes import Cause
from libs.errors import Denied
from libs.runtime import Platform
from services.memory_service.api.middleware import Caller
from services.memory_service.store import GROUP
from services.memory_service.writing import Written


class Refused(Denied):
    """Policy denies this; the denial is recorded."""

    code = "POLICY_DENIED"


async def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


By = Annotated[Caller, Depends(caller_of)]


def cause_of(by: Caller) -> Cause:
    """Return the cause of a request. Each request is a separate input; its rows' keys define the effect of a
    repetition.
    """
    within = by.session or f"user:{by.named()}"
    return Cause.request(GROUP, id=ids.new(), tenant=by.tenant, key=f"{by.tenant}:{within}", session=by.session)


async def write(platform: Platform, written: Written) -> None:
    """Apply a write. Raises Refused if policy denied it, once the denial is recorded."""
    await platform.writer.apply(written.changeset)
    if not written.decision.allowed:
        raise Refused(f"{written.decision.action}: {written.decision.reason}")
