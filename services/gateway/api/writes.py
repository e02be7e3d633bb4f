"""How a request changes something: decided by policy, written as one changeset, answered once per Idempotency-Key.

The receipt (what is answered) is stored in the transaction that does the work. Of two requests with one key, at once or
hours apart, one does it; the other finds the receipt. It names the first request, so a replay can still look for what
came of that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Header, Request
from pydantic import BaseModel

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Conflict, Denied, Rejected, Unavailable
from libs.events import ActionRecorded
from libs.identity import Principal
from libs.policy import Decision
from libs.telemetry import metrics
from services.gateway.api.gateway import Gateway
from services.gateway.api.models import Commanded, StreamEvent
from services.gateway.domain.bodies import digest
from services.gateway.domain.projection import SCHEMA
from services.gateway.store import GROUP, Numbered, Session
from services.gateway.viewer import first

DECIDE_MOST = 5
COMMANDED: dict[int | str, dict[str, Any]] = {202: {"model": Commanded, "description": "Under way"}}
"""How a route answers whose outcome has not come in time."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,200}$",
        description="Any text of your own: a repeated request with it is answered as the first one was, for 24 hours",
    ),
]


class Reused(Rejected):
    """This Idempotency-Key came with another request before."""

    code = "IDEMPOTENCY_KEY_REUSED"


class Contended(Unavailable):
    """Others were first five times in a row; try again."""

    code = "CONTENDED"


class PolicyDenied(Denied):
    """Policy does not allow this."""

    code = "POLICY_DENIED"


@dataclass(frozen=True, slots=True)
class Once:
    """What makes a request the same as an earlier one."""

    key: str | None
    route: str
    body: Any

    @classmethod
    def of(cls, request: Request, key: str | None, body: BaseModel | None) -> Once:
        return cls(key, f"{request.method} {request.url.path}", body.model_dump(mode="json") if body else None)

    @property
    def digest(self) -> str:
        return digest(self.route, self.body)


@dataclass(frozen=True, slots=True)
class Decided:
    """A changeset and what is answered once it has committed."""

    changeset: Changeset
    receipt: Mapping[str, Any]


async def write(
    here: Gateway, caller: Principal, once: Once, decide: Callable[[], Awaitable[Decided]]
) -> Mapping[str, Any]:
    """The receipt of a request that was carried out now, or before.

    Raises:
        Reused: the key came with another body. Rejected: what `decide` refuses. Unavailable: try again.
    """
    for _ in range(DECIDE_MOST):
        found = await earlier(here, caller, once)
        if found is not None:
            return found
        decided = await decide()
        try:
            await here.platform.writer.apply(decided.changeset + _kept(here, caller, once, decided))
        except Conflict:
            continue
        return decided.receipt
    raise Contended


async def earlier(here: Gateway, caller: Principal, once: Once) -> Mapping[str, Any] | None:
    """The receipt of the request that came with this key before. Raises Reused."""
    if once.key is None:
        return None
    found = await here.store.receipt(caller.tenant, caller.id, once.key, keep=_seconds(here))
    if found is None:
        return None
    if found.body_hash != once.digest:
        raise Reused
    return found.body


def _kept(here: Gateway, caller: Principal, once: Once, decided: Decided) -> Changeset:
    """The receipt, in the changeset whose answer it is: the first with its key wins, the other conflicts."""
    kept = Changeset(decided.changeset.cause)
    if once.key is None:
        return kept
    row = {"principal": caller.id, "key": once.key, "body_hash": once.digest, "receipt": decided.receipt}
    return kept.change(SCHEMA, "idempotency.put", **row, keep=_seconds(here))


def _seconds(here: Gateway) -> float:
    return here.settings.idempotency_hours * 3600


def cause_of(caller: Principal, session: str | None = None, turn: str | None = None) -> Cause:
    """A request, about a session or none. Each try has an id of its own: the key, not the id, makes it happen once."""
    key = f"{caller.tenant}:{session or caller.id}"
    return Cause.request(GROUP, id=ids.new(), tenant=caller.tenant, key=key, session=session, turn=turn)


async def permitted(here: Gateway, cause: Cause, caller: Principal, action: str, **facts: Any) -> ActionRecorded:
    """The record of a yes, for the changeset that it permits; a no is recorded at once.

    Raises:
        PolicyDenied: policy says no. Unavailable: it does not answer, so nothing is done.
    """
    who = {"id": caller.id, "scopes": sorted(caller.scopes)}
    about = {"tenant": caller.tenant, "principal": who, "session": cause.session, "turn": cause.turn, **facts}
    decision = await here.platform.policy.decide(action, about)
    record = _record(decision, caller, cause)
    metrics.policy_decisions.labels(action, str(decision.allowed).lower()).inc()
    if not decision.allowed:
        await here.platform.writer.apply(Changeset(replace(cause, id=ids.new())).say(record))
        raise PolicyDenied(f"{action}: {decision.reason or 'policy does not allow this'}")
    return record


async def looked(here: Gateway, caller: Principal, action: str, resource: str = "") -> None:
    """Record that someone looked at what others said, and was allowed to. Raises what `permitted` raises."""
    cause = cause_of(caller)
    record = await permitted(here, cause, caller, action)
    await here.platform.writer.apply(Changeset(cause).say(record.model_copy(update={"resource": resource})))


def _record(decision: Decision, caller: Principal, cause: Cause) -> ActionRecorded:
    return ActionRecorded(
        action=decision.action,
        phase="decision",
        verdict="allow" if decision.allowed else "deny",
        principal=caller.id,
        resource=f"session:{cause.session}" if cause.session else "",
        rule=decision.rule,
        revision=decision.revision,
        turn_id=cause.turn,
    )


def asked(cause: Cause, caller: Principal, action: str) -> Changeset:
    """A command whose rules are the conversation worker's to ask: here only who asked is recorded."""
    record = ActionRecorded(
        action=action,
        phase="intent",
        verdict="requested",
        principal=caller.id,
        resource=f"session:{cause.session}",
        turn_id=cause.turn,
    )
    return Changeset(cause).say(record)


def receipt(cause: Cause, turn: str, session: Session) -> Mapping[str, Any]:
    """What a command's caller is told at once, and what its outcome is looked for by."""
    return {"session_id": session.session_id, "turn_id": turn, "request_id": cause.id, "after": session.last_seq}


async def outcome(
    here: Gateway, caller: Principal, receipt: Mapping[str, Any], found: Callable[[Numbered], bool]
) -> Commanded:
    """What came of a command, if that is known within two seconds."""
    event = await first(
        here.streams,
        caller.tenant,
        receipt["session_id"],
        after=receipt["after"],
        wait=here.settings.command_wait,
        found=found,
    )
    shown = StreamEvent.model_validate(event) if event else None
    return Commanded(**receipt, outcome=shown)
