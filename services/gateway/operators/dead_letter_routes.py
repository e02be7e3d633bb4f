"""Dead letters: list, replay to the group that failed, or discard with a reason (bus.md 16).

The decision, the dead letter's new state and the audit record are one changeset. The bus moves the event in the same
transaction, so projection and bus agree after any crash. A later decision gets the result of the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from libs.audit import digests
from libs.changes import Cause, Changeset, DeadLetterAction
from libs.errors import NotFound, Unavailable
from libs.events import ActionRecorded
from libs.events.deadletters import LEASES
from libs.identity import Principal
from libs.objects import bodies
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import raises
from services.gateway.http.models import Id
from services.gateway.identity.security import Authenticated
from services.gateway.operators.context import Here, Operators
from services.gateway.operators.dead_letter_states import Closed, Outcome, Verb, outcome
from services.gateway.operators.models import (
    CloseMany,
    Discard,
    DiscardMany,
    LetterClosed,
    LetterList,
    LetterRead,
    LetterShown,
    ListFilter,
    ManyClosed,
    Replay,
    ReplayMany,
)
from services.gateway.operators.rows import DeadLetterClosed

router = APIRouter(route_class=StrictRoute, tags=["admin"])

READ, WRITE = "admin.dlq.read", "admin.dlq.write"
LetterId = Annotated[Id, Path()]
Choose = Callable[[], Awaitable[Sequence[LetterShown]]]


class NoSuchDeadLetter(NotFound):
    """There is no such dead letter; list the open ones."""


@router.get("/v1/admin/dlq")
async def list_letters(here: Here, who: Authenticated, look: Annotated[ListFilter, Query()]) -> LetterList:
    """List the tenant's dead letters, newest first; only open ones unless `state=` says otherwise."""
    await commands.record_access(here, who, READ)
    wanted = look.conditions(look.state)
    found = await here.dead_letters.search(who.tenant, wanted, most=look.limit)
    return LetterList(
        letters=found,
        codes=dict(await here.dead_letters.codes(who.tenant, wanted)),
        next=found[-1].letter_id if len(found) == look.limit else None,
        as_of=here.platform.clock.now(),
    )


@router.post("/v1/admin/dlq/replay")
async def replay_many(
    request: Request, here: Here, who: Authenticated, body: ReplayMany, key: IdempotencyKey = None
) -> ManyClosed:
    """Replay open dead letters, newest first, at most 100 at once. Stale ones stay open and are counted."""
    return await _many(here, who, IdempotentRequest.of(request, key, body), body, "replay", body.reason)


@router.post("/v1/admin/dlq/discard")
async def discard_many(
    request: Request, here: Here, who: Authenticated, body: DiscardMany, key: IdempotencyKey = None
) -> ManyClosed:
    """Discard open dead letters, newest first, at most 100 at once."""
    return await _many(here, who, IdempotentRequest.of(request, key, body), body, "discard", body.reason)


@router.get("/v1/admin/dlq/{letter_id}", responses=raises(NoSuchDeadLetter))
async def read_letter(here: Here, who: Authenticated, letter_id: LetterId) -> LetterRead:
    """Return a dead letter with the original event."""
    await commands.record_access(here, who, READ, f"dead_letter:{letter_id}")
    dead_letter = await _dead_letter(here, who, letter_id)
    kept = await here.dead_letters.original(who.tenant, letter_id)
    original, problem = None, None
    try:
        original = await bodies.load(here.platform.objects, who.tenant, kept.event)
    except (NotFound, Unavailable) as error:
        problem = f"the original event is unavailable: {error}"
    about = {"principal": kept.principal, "size": kept.event.size, "original": original, "problem": problem}
    return LetterRead(**dead_letter.model_dump(), **about)


@router.post("/v1/admin/dlq/{letter_id}/replay", responses=raises(NoSuchDeadLetter, Closed))
async def replay(
    request: Request,
    here: Here,
    who: Authenticated,
    letter_id: LetterId,
    body: Replay | None = None,
    key: IdempotencyKey = None,
) -> LetterClosed:
    """Replay to the group that failed, at the tail of its key, under the same event id. Safe to repeat."""
    reason = body.reason if body else ""
    return await _one(here, who, IdempotentRequest.of(request, key, body), letter_id, "replay", reason)


@router.post("/v1/admin/dlq/{letter_id}/discard", responses=raises(NoSuchDeadLetter, Closed))
async def discard(
    request: Request, here: Here, who: Authenticated, letter_id: LetterId, body: Discard, key: IdempotencyKey = None
) -> LetterClosed:
    """Discard a dead letter. It cannot be replayed afterwards."""
    return await _one(here, who, IdempotentRequest.of(request, key, body), letter_id, "discard", body.reason)


async def _one(
    here: Operators, who: Principal, once: IdempotentRequest, id: str, verb: Verb, reason: str
) -> LetterClosed:
    async def choose() -> Sequence[LetterShown]:
        return [await _dead_letter(here, who, id)]

    receipt = await _close(here, who, once, choose, verb, reason)
    (result,) = receipt["letters"].values()
    dead_letter = await _dead_letter(here, who, id)
    return LetterClosed(**dead_letter.model_dump(), outcome=result)


async def _many(
    here: Operators, who: Principal, once: IdempotentRequest, wanted: CloseMany, verb: Verb, reason: str
) -> ManyClosed:
    async def choose() -> Sequence[LetterShown]:
        return await here.dead_letters.search(who.tenant, wanted.conditions("open"), most=wanted.limit)

    receipt = await _close(here, who, once, choose, verb, reason)
    letters = receipt["letters"]
    more = list(letters)[-1] if len(letters) == wanted.limit else None
    return ManyClosed(**Counter(letters.values()), next=more)


async def _close(
    here: Operators, who: Principal, once: IdempotentRequest, choose: Choose, verb: Verb, reason: str
) -> Mapping[str, Any]:
    """Replay or discard the chosen dead letters in one transaction; return each outcome."""

    async def decide() -> CommandResult:
        cause = commands.cause_of(who)
        record = await commands.permitted(here, cause, who, WRITE)
        # At each try: another operator may have closed some of them meanwhile.
        letters = await choose()
        results = {dead_letter.letter_id: outcome(dead_letter, verb) for dead_letter in letters}
        why = _reason_digests(here, who, reason)
        changeset = Changeset(cause).emit(record)
        for dead_letter in letters:
            changeset += _close_one(cause, who, dead_letter, verb, results[dead_letter.letter_id], reason)
            changeset = changeset.emit(_audit_record(who, dead_letter, results[dead_letter.letter_id], why))
        return CommandResult(changeset, {"letters": results})

    return await commands.write(here, who, once, decide)


def _close_one(
    cause: Cause, who: Principal, dead_letter: LetterShown, verb: Verb, result: Outcome, reason: str
) -> Changeset:
    if result in ("stale", "already"):
        return Changeset(cause)
    row = DeadLetterClosed(letter_id=dead_letter.letter_id, state=result, closed_by=who.id, reason=reason)
    closed = Changeset(cause).put(row)
    # Leased work that died was no event, so there is none to move.
    if dead_letter.topic == LEASES:
        return closed
    return closed.act_on_dead_letters(DeadLetterAction(verb, dead_letter.group, dead_letter.event_id))


def _reason_digests(here: Operators, who: Principal, reason: str) -> dict[str, str]:
    """Return the digest of the reason: audit records contain no content. The dead letter keeps the text itself."""
    if not reason:
        return {}
    return digests.digests(digests.salt(here.platform.keys, who.tenant, who.id), {"reason": reason})


def _audit_record(who: Principal, dead_letter: LetterShown, result: Outcome, why: dict[str, str]) -> ActionRecorded:
    about = {"turn_id": dead_letter.turn_id, "digests": why}
    return commands.outcome(who, WRITE, result, f"dead_letter:{dead_letter.letter_id}", **about)


async def _dead_letter(here: Operators, who: Principal, id: str) -> LetterShown:
    found = await here.dead_letters.find(who.tenant, id)
    if found is None:
        raise NoSuchDeadLetter
    return found
