"""Facts and memories of the caller, to see, search, correct and forget; and all data of the caller, to take along or to
erase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query, Request

from libs.changes import Changeset
from libs.clients import executor, memory
from libs.errors import NotFound, Rejected
from libs.identity import Principal
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import Responses, raises
from services.gateway.http.models import Id
from services.gateway.identity.lasting_access import Access, Download, prepended
from services.gateway.identity.security import Authenticated, CanReadMemory
from services.gateway.memory import erasure
from services.gateway.memory.models import (
    Erasure,
    FactList,
    FactShown,
    FactStated,
    Forgotten,
    HeldCounts,
    MemoryList,
    MemoryShown,
    RecalledList,
    TurnMemories,
    TurnMemory,
)
from services.gateway.memory.store import Held, PersonStore
from services.gateway.sessions.context import Here, NoSuchSession, Sessions
from services.gateway.sessions.routes import NoSuchTurn, turn_of

router = APIRouter(route_class=StrictRoute, tags=["memory"])

Limit = Annotated[int, Query(ge=1, le=500)]
QUERY_MOST = 4_000
EXPORT: Responses = {200: {"content": {"application/jsonl": {}}, "description": "The export"}}
SESSIONS_MOST = 500


class NoSuchFact(NotFound):
    """There is no such fact; list them."""

    code = "NO_SUCH_FACT"


class NoSuchMemory(NotFound):
    """There is no such memory; list them."""

    code = "NO_SUCH_MEMORY"


class TurnsOpen(Rejected):
    """Turns of yours are open; wait until they have ended, or cancel them, and ask again."""

    code = "TURNS_OPEN"


@router.get("/v1/memory/facts")
async def list_facts(
    here: Here,
    who: CanReadMemory,
    history: Annotated[bool, Query(description="Also facts that were true, or are not believed")] = False,
    about: Annotated[str, Query(max_length=QUERY_MOST, description="Only the facts that these words mean")] = "",
) -> FactList:
    """List the facts about the caller, latest first."""
    return await facts(here, who, history=history, about=about)


@router.put("/v1/memory/facts")
async def state_fact(here: Here, who: Authenticated, body: FactStated) -> FactList:
    """State a fact, or correct one. Safe to repeat."""
    await memory.state(here.platform, who.tenant, who.id, sorted(who.scopes), body.model_dump())
    return await facts(here, who)


@router.delete("/v1/memory/facts/{fact_id}", responses=raises(NoSuchFact))
async def forget_fact(here: Here, who: Authenticated, fact_id: Annotated[Id, Path()]) -> Forgotten:
    """Forget a fact with its history, and all that was derived from it."""
    forgotten = await memory.forget(here.platform, who.tenant, who.id, sorted(who.scopes), fact_id)
    if not forgotten:
        raise NoSuchFact
    return Forgotten(forgotten=forgotten)


@router.get("/v1/memory/memories", responses=raises(NoSuchSession))
async def list_memories(
    here: Here, who: CanReadMemory, session: Id | None = None, before: Id | None = None, limit: Limit = 100
) -> MemoryList:
    """List the caller's memories, latest first."""
    if session is not None:
        await here.readable(who, session)
    return await latest(here, who, session=session, before=before, limit=limit)


@router.delete("/v1/memory/memories/{memory_id}", responses=raises(NoSuchMemory))
async def forget_memory(here: Here, who: Authenticated, memory_id: Annotated[Id, Path()]) -> Forgotten:
    """Forget one memory."""
    try:
        await memory.forget_memory(here.platform, who.tenant, who.id, sorted(who.scopes), memory_id)
    except NotFound:
        raise NoSuchMemory from None
    return Forgotten(forgotten=1)


@router.get("/v1/memory/search", responses=raises(NoSuchSession))
async def search(
    here: Here,
    who: CanReadMemory,
    query: Annotated[str, Query(min_length=1, max_length=QUERY_MOST)],
    session: Id | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> RecalledList:
    """Find the caller's memories, best first: those of a session by meaning and by words, as its turns do; those of all
    sessions by words.
    """
    if session is not None:
        await here.readable(who, session)
    found = await memory.search(here.platform, who.tenant, who.id, query, session=session, most=limit)
    return RecalledList.model_validate(found)


@router.get("/v1/turns/{turn_id}/memories", responses=raises(NoSuchTurn))
async def recalled(here: Here, who: CanReadMemory, turn_id: Annotated[Id, Path()]) -> TurnMemories:
    """List the memories that a turn was planned with, best first, and the rankings that chose them then."""
    turn = await turn_of(here, who, turn_id)
    given = await here.store.recalled_for(who.tenant, turn.session_id, turn.turn_id)
    texts = [await _text(here, who, one["id"]) for one in given]
    shown = tuple(TurnMemory(**one, text=text) for one, text in zip(given, texts, strict=True))
    return TurnMemories(turn_id=turn.turn_id, memories=shown)


@router.get("/v1/memory/held")
async def held(here: Here, who: CanReadMemory) -> HeldCounts:
    """Count what is kept of the caller, by table."""
    counts = Counter([row.table async for row in rows_of(here, who)])
    return HeldCounts(tables=dict(sorted(counts.items())))


@router.get("/v1/memory/export", response_class=Download, responses=EXPORT)
async def export(request: Request, here: Here, who: CanReadMemory) -> Download:
    """Export all that is kept of the caller as JSON Lines, one row each. Files are downloads of their own."""
    lines = _lines(here, who)
    # Read the first now, so that an unavailable service is an error and not a truncated response.
    first = await anext(lines)
    headers = {"Content-Disposition": 'attachment; filename="suma-export.jsonl"', "Content-Type": "application/jsonl"}
    return Download(prepended(first, lines), Access(here.identity, who, request), headers)


@router.post("/v1/memory/erase", status_code=202, response_model=Erasure, responses=raises(TurnsOpen))
async def erase(request: Request, here: Here, who: Authenticated, key: IdempotencyKey = None) -> Any:
    """Erase the caller's sessions, uploads, facts and memories. docs/decisions/0124 lists the data that stays."""

    async def decide() -> CommandResult:
        now, cause = here.platform.clock.now(), commands.cause_of(who)
        record = await commands.permitted(here, cause, who, "memory.write", kind="erasure", user=who.id)
        owned = await PersonStore(here.platform.database).sessions(
            who.tenant, who.id, before=now, most=SESSIONS_MOST, open=True
        )
        if owned:
            raise TurnsOpen(f"turns are open in {len(owned)} of your sessions; cancel them, or wait for their end")
        lease = erasure.lease_of(who, now)
        return CommandResult(Changeset(cause).emit(record).start(lease), {"erasure_id": lease.id})

    return await commands.write(here, who, IdempotentRequest.of(request, key, None), decide)


async def _text(here: Sessions, who: Principal, id: str) -> str | None:
    try:
        return str((await memory.memory(here.platform, who.tenant, who.id, id))["text"])
    except NotFound:
        return None


async def facts(here: Sessions, who: Principal, *, history: bool = False, about: str = "") -> FactList:
    """Return what is known of a principal, who may read it."""
    found = await memory.facts(here.platform, who.tenant, who.id, history=history, about=about)
    return FactList(facts=tuple(FactShown.model_validate(one) for one in found))


async def latest(
    here: Sessions, who: Principal, *, session: str | None = None, before: str | None = None, limit: int = 100
) -> MemoryList:
    """Return a page of the memories of a principal, who may read them."""
    found = await memory.memories(here.platform, who.tenant, who.id, session=session, before=before, most=limit)
    shown = tuple(MemoryShown.model_validate(one) for one in found)
    return MemoryList(memories=shown, next=shown[-1].id if len(shown) == limit else None)


async def rows_of(here: Sessions, who: Principal) -> AsyncIterator[Held]:
    """Yield every row that is kept of the caller. The conversation worker's are copies of the gateway's."""
    for row in await memory.held(here.platform, who.tenant, who.id):
        yield Held(row["table"], row["content"])
    store = PersonStore(here.platform.database)
    own = await store.own(who.tenant, who.id)
    for row in own:
        yield row
    for session in (row.content["session_id"] for row in own if row.table == "gateway.session_envelopes"):
        for row in await store.of_session(who.tenant, session):
            if row.table != "gateway.session_envelopes":
                yield row
        for kept in await executor.held(here.platform, who.tenant, session):
            yield Held(kept["table"], kept["content"])


async def _lines(here: Sessions, who: Principal) -> AsyncIterator[bytes]:
    about = {"export": "suma", "version": 1, "person": who.id, "at": here.platform.clock.now()}
    rows = rows_of(here, who)
    first = await anext(rows, None)
    yield orjson.dumps(about) + b"\n"
    if first is not None:
        yield _line(first)
    async for row in rows:
        yield _line(row)


def _line(row: Held) -> bytes:
    return orjson.dumps({"table": row.table, "row": row.content}) + b"\n"
