"""Dead letters: looked at, replayed to the group that failed, or discarded with a reason (DESIGN §6, §13).

What a person decides, the letter's new state and the audit record are one changeset, and the bus moves the event in its
transaction: projection and bus cannot disagree, whatever is killed. Whoever comes second finds who was first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from libs.audit import digests
from libs.changes import Aside, Cause, Changeset
from libs.errors import NotFound, Unavailable
from libs.events import ActionRecorded
from libs.identity import Principal
from libs.objects import bodies
from services.gateway.api import writes
from services.gateway.api.bodies import StrictRoute
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import Id
from services.gateway.api.operator_models import (
    Discard,
    DiscardMany,
    LetterClosed,
    LetterList,
    LetterRead,
    LetterShown,
    Look,
    Many,
    ManyClosed,
    Replay,
    ReplayMany,
)
from services.gateway.api.security import Caller
from services.gateway.api.writes import Decided, IdempotencyKey, Once
from services.gateway.domain.letters import Letter, Outcome, Verb, outcome
from services.gateway.domain.projection import SCHEMA

router = APIRouter(route_class=StrictRoute, tags=["admin"], responses=PROBLEMS)

READ, WRITE = "admin.dlq.read", "admin.dlq.write"
LetterId = Annotated[Id, Path()]
Choose = Callable[[], Awaitable[Sequence[Letter]]]


class NoSuchLetter(NotFound):
    """There is no such dead letter."""


@router.get("/v1/admin/dlq")
async def list_letters(here: Here, who: Caller, look: Annotated[Look, Query()]) -> LetterList:
    """The tenant's dead letters, newest first; the open ones unless another state is asked for (`state=`)."""
    await writes.looked(here, who, READ)
    found = await here.letters.search(who.tenant, look.search(look.state), most=look.limit)
    return LetterList(
        letters=[LetterShown.model_validate(letter) for letter in found],
        next=found[-1].letter_id if len(found) == look.limit else None,
        as_of=here.platform.clock.now(),
    )


@router.post("/v1/admin/dlq/replay")
async def replay_many(
    request: Request, here: Here, who: Caller, body: ReplayMany, key: IdempotencyKey = None
) -> ManyClosed:
    """Replay open letters, newest first, at most 100 at once. Stale ones stay open and are counted."""
    return await _many(here, who, Once.of(request, key, body), body, "replay", body.reason)


@router.post("/v1/admin/dlq/discard")
async def discard_many(
    request: Request, here: Here, who: Caller, body: DiscardMany, key: IdempotencyKey = None
) -> ManyClosed:
    """Give up on open letters, newest first, at most 100 at once."""
    return await _many(here, who, Once.of(request, key, body), body, "discard", body.reason)


@router.get("/v1/admin/dlq/{letter_id}")
async def read_letter(here: Here, who: Caller, letter_id: LetterId) -> LetterRead:
    """One letter, with the event as it came."""
    await writes.looked(here, who, READ, f"dead_letter:{letter_id}")
    letter = await _letter(here, who, letter_id)
    kept = await here.letters.original(who.tenant, letter_id)
    original, problem = None, None
    try:
        original = await bodies.load(here.platform.objects, who.tenant, kept.event)
    except (NotFound, Unavailable) as error:
        problem = f"the original cannot be had: {error}"
    shown = LetterRead.model_validate(letter)
    return shown.model_copy(
        update={"principal": kept.principal, "size": kept.event.size, "original": original, "problem": problem}
    )


@router.post("/v1/admin/dlq/{letter_id}/replay")
async def replay(
    request: Request,
    here: Here,
    who: Caller,
    letter_id: LetterId,
    body: Replay | None = None,
    key: IdempotencyKey = None,
) -> LetterClosed:
    """Send it to the group that failed, at the tail of its key, with its id. Repeating it changes nothing."""
    reason = body.reason if body else ""
    return await _one(here, who, Once.of(request, key, body), letter_id, "replay", reason)


@router.post("/v1/admin/dlq/{letter_id}/discard")
async def discard(
    request: Request, here: Here, who: Caller, letter_id: LetterId, body: Discard, key: IdempotencyKey = None
) -> LetterClosed:
    """Give up on it. It cannot be replayed any more."""
    return await _one(here, who, Once.of(request, key, body), letter_id, "discard", body.reason)


async def _one(here: Gateway, who: Principal, once: Once, id: str, verb: Verb, reason: str) -> LetterClosed:
    async def choose() -> Sequence[Letter]:
        return [await _letter(here, who, id)]

    receipt = await _close(here, who, once, choose, verb, reason)
    (came,) = receipt["letters"].values()
    letter = await _letter(here, who, id)
    return LetterClosed(
        letter_id=id, outcome=came, state=letter.state, closed_by=letter.closed_by, closed_at=letter.closed_at
    )


async def _many(here: Gateway, who: Principal, once: Once, wanted: Many, verb: Verb, reason: str) -> ManyClosed:
    async def choose() -> Sequence[Letter]:
        return await here.letters.search(who.tenant, wanted.search("open"), most=wanted.limit)

    receipt = await _close(here, who, once, choose, verb, reason)
    letters = receipt["letters"]
    more = list(letters)[-1] if len(letters) == wanted.limit else None
    return ManyClosed(**Counter(letters.values()), next=more)


async def _close(
    here: Gateway, who: Principal, once: Once, choose: Choose, verb: Verb, reason: str
) -> Mapping[str, Any]:
    """Replay or discard what is chosen, all in one transaction; what came of each letter."""

    async def decide() -> Decided:
        cause = writes.cause_of(who)
        record = await writes.permitted(here, cause, who, WRITE)
        letters = await choose()
        came = {letter.letter_id: outcome(letter, verb) for letter in letters}
        why = _digested(here, who, reason)
        changeset = Changeset(cause).say(record)
        for letter in letters:
            changeset += _closing(cause, who, letter, verb, came[letter.letter_id], reason)
            changeset = changeset.say(_recorded(who, letter, came[letter.letter_id], why))
        return Decided(changeset, {"letters": came})

    return await writes.write(here, who, once, decide)


def _closing(cause: Cause, who: Principal, letter: Letter, verb: Verb, came: Outcome, reason: str) -> Changeset:
    if came in ("stale", "already"):
        return Changeset(cause)
    row = {"letter_id": letter.letter_id, "state": came, "closed_by": who.id, "reason": reason}
    return Changeset(cause).change(SCHEMA, "dead.close", **row).decide(Aside(verb, letter.grp, letter.event_id))


def _digested(here: Gateway, who: Principal, reason: str) -> dict[str, str]:
    """The record holds no content: the reason's words stand with the letter."""
    if not reason:
        return {}
    return digests.digests(digests.salt(here.platform.keys, who.tenant, who.id), {"reason": reason})


def _recorded(who: Principal, letter: Letter, came: Outcome, why: dict[str, str]) -> ActionRecorded:
    return ActionRecorded(
        action=WRITE,
        phase="outcome",
        verdict=came,
        principal=who.id,
        resource=f"dead_letter:{letter.letter_id}",
        turn_id=letter.turn_id,
        digests=why,
    )


async def _letter(here: Gateway, who: Principal, id: str) -> Letter:
    found = await here.letters.letter(who.tenant, id)
    if found is None:
        raise NoSuchLetter
    return found
