"""The routes of knowledge bases on 9696. Each write is one changeset; the response follows its commit."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from pydantic import Field

from libs.search.chunks import Strategy
from services.memory_service.api.bodies import TEXT_MOST, Body, Name, Write
from services.memory_service.api.callers import By, cause_of
from services.memory_service.knowledge.rooms import Knowledge, Settings
from services.memory_service.knowledge.searching import Passage
from services.memory_service.knowledge.store import Base
from services.memory_service.writing import Person

SOURCE_MOST, SIZE_LEAST, SIZE_MOST = 4_096, 100, 8_000
BaseName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]


class Add(Write):
    source: str = Field(pattern=r"^/", max_length=SOURCE_MOST)
    """The absolute path of a folder or file."""
    strategy: Strategy = Strategy.FIXED
    size: int = Field(default=512, ge=SIZE_LEAST, le=SIZE_MOST)
    """Letters of a chunk."""
    shared: bool = False


class Remove(Write):
    shared: bool = False


class Search(Body):
    query: str = Field(min_length=1, max_length=TEXT_MOST)
    top_k: int = Field(default=5, ge=1, le=50)
    base: Name | None = None


class Shown(Body):
    """A base with its progress."""

    name: str
    shared: bool
    source: str
    strategy: str
    chunk_size: int
    state: str
    detail: str
    files: int
    done: int
    updated_at: datetime


class Status(Shown):
    """A base with what it holds. `gaps` has the first files that were not read whole, with the reason."""

    chunks: int
    unread: int
    gaps: dict[str, str]


class Bases(Body):
    bases: tuple[Shown, ...]


class Passages(Body):
    passages: tuple[Passage, ...]


class Removed(Body):
    name: str


async def _knowledge(request: Request) -> Knowledge:
    knowledge: Knowledge = request.app.state.knowledge
    return knowledge


Of = Annotated[Knowledge, Depends(_knowledge)]


def add_to(app: FastAPI, knowledge: Knowledge) -> None:
    app.state.knowledge = knowledge
    app.add_api_route("/knowledge", listed, methods=["GET"])
    app.add_api_route("/knowledge/search", search, methods=["POST"])
    app.add_api_route("/knowledge/{name}", add, methods=["PUT"], status_code=202)
    app.add_api_route("/knowledge/{name}", status, methods=["GET"])
    app.add_api_route("/knowledge/{name}/removal", remove, methods=["PUT"])


async def add(name: BaseName, asked: Add, by: By, of: Of) -> Status:
    """Begin to read a base; one of this name is read again."""
    person = Person(by.named(), asked.scopes)
    about = asked.source, asked.strategy, asked.size
    await of.apply(await of.add(cause_of(by), person, name, Settings(*about), shared=asked.shared))
    return await status(name, by, of, shared=asked.shared)


async def listed(by: By, of: Of) -> Bases:
    """Return the bases that the person can search."""
    return Bases(bases=tuple(map(_shown, await of.bases(by.tenant, by.named()))))


async def status(name: Name, by: By, of: Of, shared: bool = False) -> Status:
    """Return a base with its progress, and files that were not read whole."""
    base = await of.find(by.tenant, by.named(), name, shared=shared)
    held = await of.store.held(by.tenant, base.base_id)
    return Status(**_shown(base).model_dump(), **asdict(held))


async def search(asked: Search, by: By, of: Of) -> Passages:
    """Return the best passages of the person's bases, best first."""
    found = await of.search(by.tenant, by.named(), asked.query, asked.top_k, base=asked.base)
    return Passages(passages=tuple(found))


async def remove(name: Name, asked: Remove, by: By, of: Of) -> Removed:
    """Remove a base with all that was read."""
    person = Person(by.named(), asked.scopes)
    await of.apply(await of.remove(cause_of(by), person, name, shared=asked.shared))
    return Removed(name=name)


def _shown(base: Base) -> Shown:
    known = asdict(base)
    return Shown(**{name: value for name, value in known.items() if name in Shown.model_fields})
