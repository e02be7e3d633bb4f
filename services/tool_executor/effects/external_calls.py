"""Calls of tools from outside: each effect happens once, by its class, whatever is killed or stopped (decision 0017).

The intent is written with the call and its lease, each attempt is begun by a commit of its own, and the outcome is
written with the end of the lease. An attempt between the two is in doubt when a lease is taken again, and the class
decides: run, probe, undo and run, or ask a person. A cancelled call whose effect can be settled is handed to a lease of
its own (`settle`), so that the result of an effect is reported even after a cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import Body, ToolRequested, ToolSucceeded, ToolUnknown
from libs.leases import Cancelled, Lease, NewLease, ProcessDied
from libs.objects import bodies
from libs.runtime import Platform
from libs.skills import ToolDefinition
from libs.tools import Effect, Outcome, identify
from services.tool_executor import calls
from services.tool_executor.chain import Outside, Passed
from services.tool_executor.effects import ledger
from services.tool_executor.effects.attempts import Attempts, DidNotHappen, EffectUnknown, effect_of
from services.tool_executor.effects.ledger import DID_NOT_HAPPEN, HAPPENED, OPEN, UNDONE, UNKNOWN, EffectRecord, Ledger
from services.tool_executor.effects.recovery import can_be_settled
from services.tool_executor.settings import Settings
from services.tool_executor.touched import OUTSIDE

EFFECT, SETTLE = "effect", "settle"
UNKEPT = "What it returned could not be kept."


class UnderWay(Unavailable):
    """The same effect is under way for another call; its outcome will be this one's."""

    code = "SAME_EFFECT_UNDER_WAY"


class Effects:
    def __init__(self, platform: Platform, settings: Settings, outside: Outside) -> None:
        self._objects = platform.objects
        self._ledger = Ledger(platform.database, platform.writer)
        self._attempts = Attempts(platform, settings, self._ledger, outside)
        self.run, self.settle = self._attempts.run, self._attempts.settle
        """The work of the two kinds of lease: `EFFECT`, and `SETTLE` for what a cancel left in doubt."""

    async def begin(self, cause: Cause, request: ToolRequested, tool: ToolDefinition, passed: Passed) -> Changeset:
        """Write the intent down and lease it; one that has an end already is answered by that.

        Raises:
            UnderWay: another call has the same intent; this one waits for it.
        """
        args, session = {**tool.defaults(), **passed.args}, cause.session or ""
        intent = identify(tenant=cause.tenant, session=session, step=request.step_id, tool=tool.name, args=args)
        allowed = (calls.allowed(request, passed.decision), *passed.gates)
        known = await self._ledger.look(cause.tenant, intent)
        # One that did not happen, or was undone, may be tried again under the same intent.
        if known is not None and known.state in (OPEN, HAPPENED, UNKNOWN):
            return Changeset(cause).emit(*allowed) + _again(cause, request, known)
        effect = tool.effect_class
        about = {"request": request.model_dump(mode="json"), "intent": intent, "effect": effect.value}
        opened = calls.opened(cause, request, "running") + ledger.intended(cause, request, intent=intent, effect=effect)
        return opened.start(NewLease(request.call_id, EFFECT, about)).emit(
            *allowed,
            calls.recorded(request, "intent", "begin", rule=effect, revision=passed.decision.revision),
        )

    async def ended(self, lease: Lease, outcome: Outcome) -> Changeset:
        """Write the outcome of an effect that happened."""
        request, summary = calls.request_of(lease), _legible(outcome.summary)
        # Stored before the transaction, which may fail: the blob is named by its hash, so a repetition stores it once.
        body, warnings = await self._kept(lease.tenant, outcome.data)
        document = {"data": body.model_dump(mode="json", by_alias=True), "summary": summary}
        return _closed(lease, document, call="succeeded", effect=HAPPENED).emit(
            calls.recorded(request, "outcome", "succeeded"), _succeeded(request, body, summary, warnings)
        )

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Write that it did not happen, that it must be settled, or that it is unknown."""
        record = await self._ledger.record(lease)
        if not record.in_doubt and isinstance(error, EffectUnknown):
            # The attempt that was in doubt a moment ago has said since that it did nothing.
            return _without(lease, "It was interrupted before it happened.", code="INTERRUPTED")
        if not record.in_doubt or isinstance(error, DidNotHappen):
            code = "CANCELLED" if isinstance(error, Cancelled) else error.code
            return _without(lease, str(error), code=code)
        # A person may be asked only once no late attempt can act any more: settling raises the fence in the world.
        if isinstance(error, Cancelled | ProcessDied) and can_be_settled(effect_of(lease)):
            return _handed_over(lease, error)
        return _unknown(lease, error)

    async def settled(self, lease: Lease, outcome: Outcome | None) -> Changeset:
        """Close an effect whose doubt has ended: it happened, it was undone, or it never happened."""
        if outcome is not None:
            return await self.ended(lease, outcome)
        code = lease.input.get("code", Cancelled.code)
        cause = "Its process died repeatedly" if code == ProcessDied.code else "It was cancelled"
        if effect_of(lease) is Effect.COMPENSABLE:
            return _without(lease, f"{cause}; what it had done was undone.", code=code, state=UNDONE)
        return _without(lease, f"{cause} before it happened.", code=code)

    async def unsettled(self, lease: Lease, error: SumaError) -> Changeset:
        return _unknown(lease, error)

    async def _kept(self, tenant: str, data: Any) -> tuple[Body, tuple[str, ...]]:
        """Return the stored result; a result that cannot be stored must not hide that the effect happened."""
        try:
            body = await bodies.store(self._objects, tenant, data)
        # Too large, or no JSON: the effect has happened all the same, and must be reported.
        except Rejected:
            return Body(json=None), (UNKEPT,)
        return (Body(json=None), (UNKEPT,)) if _holds_null(body.json_) else (body, ())


def _again(cause: Cause, request: ToolRequested, known: EffectRecord) -> Changeset:
    """Report the outcome of the same intent again; the effect is not made twice."""
    outcome = known.outcome or {}
    # Parked, not refused: after the other call's end this one returns its outcome.
    if known.state == OPEN:
        raise UnderWay()
    if known.state == UNKNOWN:
        question = _asking(request, known.intent, str(outcome.get("reason", "")))
        return calls.opened(cause, request, "unknown", outcome).emit(
            calls.recorded(request, "outcome", "unknown", rule="SAME_EFFECT"), question
        )
    summary = str(outcome.get("summary", ""))
    body = Body.model_validate(outcome.get("data", {}))
    return calls.opened(cause, request, "succeeded", {"summary": summary, "same_as": known.call}).emit(
        calls.recorded(request, "outcome", "succeeded", rule="SAME_EFFECT"), _succeeded(request, body, summary, ())
    )


def _closed(lease: Lease, outcome: Mapping[str, Any], *, call: str, effect: str) -> Changeset:
    """Return the end of the call and of its effect, each with its state."""
    cause, request, intent = Cause.of_lease(lease), calls.request_of(lease), lease.input["intent"]
    shown = {name: value for name, value in outcome.items() if name != "data"}
    done = ledger.ended(cause, intent, effect=effect_of(lease), state=effect, outcome=outcome)
    return calls.closed(cause, request, call, shown) + done


def _without(lease: Lease, why: str, *, code: str, state: str = DID_NOT_HAPPEN) -> Changeset:
    """Close a call whose effect did not happen and will not."""
    request, why = calls.request_of(lease), _legible(why)
    return _closed(lease, {"code": code, "error": why}, call="failed", effect=state).emit(
        calls.recorded(request, "outcome", "failed", rule=code), calls.failure(request, code, why, touched=OUTSIDE)
    )


def _handed_over(lease: Lease, error: SumaError) -> Changeset:
    """Start a lease that finds out what happened, or undoes it; the call stays open until then."""
    about = {name: value for name, value in lease.input.items() if name != "_cause"} | {"code": error.code}
    return Changeset(Cause.of_lease(lease)).start(NewLease(ids.derived(lease.id, SETTLE), SETTLE, about))


def _unknown(lease: Lease, error: SumaError) -> Changeset:
    """Close a call whose effect is unknown; nothing is tried any more, and a person must find out."""
    request = calls.request_of(lease)
    # An error's own words are not repeated: nobody knows what a foreign tool put into them.
    reason = f"{WHY[effect_of(lease)]} ({error.code})."
    return _closed(lease, {"code": error.code, "reason": reason}, call="unknown", effect=UNKNOWN).emit(
        calls.recorded(request, "outcome", "unknown", rule=error.code),
        _asking(request, lease.input["intent"], reason),
    )


WHY = {
    Effect.PURE: "It was tried as often as it may be",
    Effect.IDEMPOTENT: "It was tried as often as it may be, and no attempt said how it ended",
    Effect.RECONCILABLE: "It was interrupted, and the other side could not be asked what became of it",
    Effect.COMPENSABLE: "It was interrupted, and could not be taken back",
    Effect.AT_MOST_ONCE: "It was interrupted, and there is nobody to ask what became of it",
}


def _asking(request: ToolRequested, intent: str, reason: str) -> ToolUnknown:
    return ToolUnknown(
        call_id=request.call_id, turn_id=request.turn_id, step_id=request.step_id, reason=reason, intent=intent
    )


def _succeeded(request: ToolRequested, body: Body, summary: str, warnings: tuple[str, ...]) -> ToolSucceeded:
    return ToolSucceeded(
        call_id=request.call_id,
        turn_id=request.turn_id,
        step_id=request.step_id,
        data=body,
        summary=summary,
        warnings=warnings,
        touched=OUTSIDE,
    )


def _legible(text: str) -> str:
    """Return a tool's text as Postgres and events can hold it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()[: calls.TEXT_MOST]


def _holds_null(value: Any) -> bool:
    """Return whether a text contains U+0000, the only character that Postgres cannot hold."""
    match value:
        case str():
            return "\0" in value
        case Mapping():
            return any(_holds_null(name) or _holds_null(item) for name, item in value.items())
        case list() | tuple():
            return any(map(_holds_null, value))
        case _:
            return False
