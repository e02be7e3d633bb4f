"""A person's own view of their memory: lists, searches, single memories to delete, and all of it for an export."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import aiosql
import orjson
from fastapi import APIRouter, Depends, FastAPI, Query, Request

from libs.errors import NotFound
from libs.runtime import Platform
from libs.search import fuse
from services.memory_service.api.bodies import Body, Forgotten, Memories, Name
from services.memory_service.api.callers import By, cause_of, write
from services.memory_service.domain.ranking import WORDS, Recalled
from services.memory_service.recalling import QUERY_MOST, Recalling, without_fillers
from services.memory_service.store import GROUP
from services.memory_service.writing import Person, Writing

router = APIRouter()
queries: Any = aiosql.from_path(Path(__file__).parent / "person.sql", "asyncpg")
Most = Annotated[int, Query(ge=1, le=500)]


@dataclass(frozen=True)
class PersonState:
    """Dependencies of these routes."""

    platform: Platform
    writing: Writing
    recalling: Recalling


async def state_of(request: Request) -> PersonState:
    state: PersonState = request.app.state.person
    return state


Here = Annotated[PersonState, Depends(state_of)]


def install(app: FastAPI, platform: Platform, writing: Writing, recalling: Recalling) -> None:
    """Add the routes to the application."""
    app.state.person = PersonState(platform, writing, recalling)
    app.router.routes.extend(router.routes)


class NoSuchMemory(NotFound):
    """There is no such memory; list them."""

    code = "NO_SUCH_MEMORY"


class Memory(Body):
    """A memory with where it comes from."""

    id: str
    text: str
    kind: str
    universe: str
    session_id: str | None
    turn_id: str | None
    source: str
    confidence: float
    created_at: datetime


class MemoryList(Body):
    memories: tuple[Memory, ...]


class HeldRow(Body):
    table: str
    content: dict[str, Any]


class HeldRows(Body):
    rows: tuple[HeldRow, ...]


@router.get("/memories")
async def memories(
    by: By, here: Here, session: Name | None = None, before: Name | None = None, most: Most = 100
) -> MemoryList:
    """Return the person's memories, latest first."""
    about = {"person": by.named(), "session": session, "before": before, "most": most}
    rows = await here.platform.database.rows(GROUP, by.tenant, queries.memories_of, **about)
    return MemoryList(memories=tuple(Memory(**row) for row in rows))


@router.get("/memories/search")
async def search(query: str, by: By, here: Here, most: Most = 20) -> Memories:
    """Return the person's memories of every session that share words with a query, best first."""
    asked = {"person": by.named(), "words": without_fillers(query[:QUERY_MOST]), "most": most}
    rows = await here.platform.database.rows(GROUP, by.tenant, queries.worded, **asked)
    matches = {match.id: match for match in fuse({WORDS: [row["id"] for row in rows]})}
    found = (Recalled(**row, score=matches[row["id"]].score, sources=matches[row["id"]].sources) for row in rows)
    return Memories(memories=tuple(found), waiting=await here.recalling.waiting(by.tenant, by.named()))


@router.get("/memories/{memory_id}")
async def memory(memory_id: Name, by: By, here: Here) -> Memory:
    """Return one memory of the person. Raises NoSuchMemory."""
    found = await here.platform.database.row(GROUP, by.tenant, queries.memory_of, person=by.named(), memory=memory_id)
    if found is None:
        raise NoSuchMemory
    return Memory(**found)


@router.delete("/memories/{memory_id}")
async def forget_memory(
    memory_id: Name, by: By, here: Here, scope: Annotated[tuple[str, ...], Query()] = ()
) -> Forgotten:
    """Delete one memory of the person. Raises NoSuchMemory."""
    person = Person(by.named(), scope)
    # Policy is asked in any case, and nothing is deleted where there is nothing.
    held = await here.platform.database.row(GROUP, by.tenant, queries.memory_of, person=person.id, memory=memory_id)
    await write(here.platform, await here.writing.forget_memory(cause_of(by), person, memory_id))
    if held is None:
        raise NoSuchMemory
    return Forgotten(forgotten=1)


@router.get("/held")
async def held(by: By, here: Here) -> HeldRows:
    """Return every row that is kept of the person."""
    rows = await here.platform.database.rows(GROUP, by.tenant, queries.held, person=by.named())
    return HeldRows(rows=tuple(HeldRow(table=row["name"], content=orjson.loads(row["content"])) for row in rows))
