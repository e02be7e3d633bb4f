"""Execution of requests that write: decided by policy, written as one changeset, answered once per Idempotency-Key.

The receipt (the stored answer) is written in the same transaction as the work. Of two requests with one key, at the
same time or hours apart, one does the work and the other returns the receipt. The receipt names the first request, so a
repeated request can still wait for its outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header, Request
from pydantic import BaseModel

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Conflict, Rejected, Unavailable
from libs.events import ActionRecorded
from libs.identity import Principal, ScopeMissing
from libs.policy import Decision
from libs.runtime import permission
from services.gateway.http.context import Room
from services.gateway.http.rows import ReceiptPut
from services.gateway.http.values import digest
from services.gateway.schema import GROUP

DECIDE_MOST = 5
IDEMPOTENCY_SECONDS = 24 * 3600.0
"""How long a repeated `Idempotency-Key` returns the first answer."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,200}$",
        description="A unique text; for 24 hours a repeated request with it returns the first response",
    ),
]


class Reused(Rejected):
    """This Idempotency-Key belongs to another request; use a new key."""

    code = "IDEMPOTENCY_KEY_REUSED"


class Contended(Unavailable):
    """Concurrent requests conflicted five times; retry."""

    code = "CONTENDED"


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """The key and content that identify a repeated request."""

    key: str | None
    route: str
    body: Any

    @classmethod
    def of(cls, request: Request, key: str | None, body: BaseModel | None) -> IdempotentRequest:
        return cls(key, f"{request.method} {request.url.path}", body.model_dump(mode="json") if body else None)

    @property
    def digest(self) -> str:
        return digest(self.route, self.body)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A changeset and the receipt to return once it has committed."""

    changeset: Changeset
    receipt: Mapping[str, Any]


async def write(
    here: Room, caller: Principal, once: IdempotentRequest, decide: Callable[[], Awaitable[CommandResult]]
) -> Mapping[str, Any]:
    """Execute a request once and return its receipt, or return the receipt of its first execution.

    Raises:
        Reused: the key belongs to another request.
        Rejected: `decide` refused.
        Unavailable: retry; also while Postgres is away.
    """
    for _ in range(DECIDE_MOST):
        # At each try: the request that this one conflicted with may have the same key.
        found = await earlier(here, caller, once)
        if found is not None:
            return found
        decided = await decide()
        try:
            changeset = decided.changeset + _receipt_change(caller, once, decided)
            # Without Postgres a client is better told to retry than kept in a slot until it is back.
            await here.platform.writer.apply(changeset, waits=False)
        except Conflict:
            continue
        return decided.receipt
    raise Contended


async def earlier(here: Room, caller: Principal, once: IdempotentRequest) -> Mapping[str, Any] | None:
    """Return the receipt of an earlier request with this key, or None. Raises Reused."""
    if once.key is None:
        return None
    found = await here.receipts.find(caller.tenant, caller.id, once.key, keep=IDEMPOTENCY_SECONDS)
    if found is None:
        return None
    if found.body_hash != once.digest:
        raise Reused
    return found.body


def _receipt_change(caller: Principal, once: IdempotentRequest, decided: CommandResult) -> Changeset:
    """Return the changeset that stores the receipt: the first with its key succeeds, others conflict."""
    kept = Changeset(decided.changeset.cause)
    if once.key is None:
        return kept
    row = ReceiptPut(
        principal=caller.id,
        key=once.key,
        body_hash=once.digest,
        receipt=decided.receipt,
        keep=IDEMPOTENCY_SECONDS,
    )
    return kept.put(row)


def cause_of(caller: Principal, session: str | None = None, turn: str | None = None) -> Cause:
    """Return the cause of a request. Each try has its own id; the idempotency key ensures one execution."""
    key = f"{caller.tenant}:{session or caller.id}"
    return Cause.request(GROUP, id=ids.new(), tenant=caller.tenant, key=key, session=session, turn=turn)


def outcome(caller: Principal, action: str, verdict: str, resource: str, **about: Any) -> ActionRecorded:
    """Return the record of the outcome of a caller's action."""
    return ActionRecorded(
        action=action, phase="outcome", verdict=verdict, principal=caller.id, resource=resource, **about
    )


async def permitted(here: Room, cause: Cause, caller: Principal, action: str, **facts: Any) -> ActionRecorded:
    """Ask policy about an action of the caller. Raises what `permission.permitted` raises."""
    return await permission.permitted(here.platform, cause, action, caller.id, caller.scopes, **facts)


async def refuse_without(here: Room, caller: Principal, scope: str, action: str, session: str | None) -> None:
    """Raise ScopeMissing, and record it, if the caller lacks a scope that an action needs."""
    if caller.may(scope):
        return
    cause = cause_of(caller, session)
    refusal = permission.recorded(Decision(action, False, ScopeMissing.code, "", (), ""), cause, caller.id)
    await here.platform.writer.apply(Changeset(cause).emit(refusal))
    missing = ScopeMissing(scope)
    missing.recorded = True
    raise missing


async def record_access(here: Room, caller: Principal, action: str, resource: str = "") -> None:
    """Record a permitted access to other people's data. Raises the errors of `permitted`."""
    cause = cause_of(caller)
    record = await permitted(here, cause, caller, action)
    await here.platform.writer.apply(Changeset(cause).emit(record.model_copy(update={"resource": resource})))
