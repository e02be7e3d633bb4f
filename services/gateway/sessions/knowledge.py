"""Knowledge bases in the memory service: a person's folders and files, read in the background and searched.

The memory service asks policy about each write (`memory.write`), and the tool executor decides which files of the
machine a tenant may read. A person sees their own bases, and those that are shared in their tenant.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from libs.clients import knowledge
from libs.identity import Principal
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import RequestModel, ResponseModel
from services.gateway.identity.security import CanReadFiles
from services.gateway.sessions.context import Here
from services.gateway.sessions.models import Root

router = APIRouter(route_class=StrictRoute, tags=["knowledge"])

Strategy = Literal["fixed", "sentence", "paragraph", "semantic"]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._:-]{0,80}$")]
"""The name of a base; of a skill's, `skill:NAME`."""
NewName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]


class KnowledgeAdded(RequestModel):
    name: NewName
    source: Root = Field(description="The absolute path of a folder or file inside an allowed root")
    strategy: Strategy = Field("fixed", description="Where its texts are cut into chunks")
    size: int = Field(512, ge=100, le=8000, description="The most letters of a chunk")
    shared: bool = Field(False, description="For everyone of the tenant; needs the owner's key")


class KnowledgeQuery(RequestModel):
    query: Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True)]
    top_k: int = Field(5, ge=1, le=50)
    base: Name | None = Field(None, description="Search only bases of this name")


class KnowledgeRemoval(RequestModel):
    shared: bool = False


class KnowledgeShown(ResponseModel):
    """A base. Of `files`, `done` are up to date; `detail` says why its reading failed."""

    name: str
    shared: bool
    source: str
    strategy: Strategy
    chunk_size: int
    state: Literal["reading", "ready", "failed"]
    detail: str
    files: int
    done: int
    updated_at: datetime


class KnowledgeStatus(KnowledgeShown):
    """A base with what it holds. `unread` counts files that were not read whole; `gaps` has the first, and why."""

    chunks: int
    unread: int
    gaps: dict[str, str]


class KnowledgeList(ResponseModel):
    bases: list[KnowledgeShown]


class Ranking(ResponseModel):
    """A ranking that has a passage: the place there, and its part of the score."""

    name: str
    rank: int
    contribution: float


class KnowledgePassage(ResponseModel):
    """A passage and its place, in lines or pages; its score from 0 to 1, explained by `sources`."""

    base: str
    path: str
    unit: Literal["line", "page"]
    first: int
    last: int
    text: str
    score: float
    sources: list[Ranking]
    fits: bool
    """Whether it is likely to answer the query; a plan is given only such passages."""


class KnowledgePassages(ResponseModel):
    passages: list[KnowledgePassage]


class KnowledgeRemoved(ResponseModel):
    name: str


MISSING = Refusal(404, "NOT_FOUND", "There is no such knowledge base; list your bases.")
FULL = Refusal(422, "TOO_MANY_BASES", "There are 50 knowledge bases; remove one first.")


@router.get("/v1/knowledge", response_model=KnowledgeList)
async def bases(here: Here, who: CanReadFiles) -> Response:
    """List the knowledge bases that the caller can search."""
    return JSONResponse(await knowledge.bases(here.platform, who.tenant, who.id))


@router.post("/v1/knowledge", status_code=202, response_model=KnowledgeStatus, responses=raises(FULL))
async def add(here: Here, who: CanReadFiles, body: KnowledgeAdded) -> Response:
    """Begin to read a folder or file as a knowledge base. A base of this name is read again: only changed files cost
    anything, and files that are gone leave it. Safe to repeat.
    """
    asked = {**body.model_dump(exclude={"name"}), "scopes": _scopes(who)}
    return JSONResponse(await knowledge.add(here.platform, who.tenant, who.id, body.name, asked), 202)


@router.post("/v1/knowledge/search", response_model=KnowledgePassages, responses=raises(MISSING))
async def search(here: Here, who: CanReadFiles, body: KnowledgeQuery) -> Response:
    """Return the best passages by meaning and words, each with its file and range."""
    return JSONResponse(await knowledge.find(here.platform, who.tenant, who.id, body.model_dump()))


@router.get("/v1/knowledge/{name}", response_model=KnowledgeStatus, responses=raises(MISSING))
async def status(here: Here, who: CanReadFiles, name: Annotated[Name, Path()], shared: bool = False) -> Response:
    """Return a knowledge base with its progress, and files that were not read whole."""
    return JSONResponse(await knowledge.status(here.platform, who.tenant, who.id, name, shared=shared))


@router.post("/v1/knowledge/{name}/remove", response_model=KnowledgeRemoved, responses=raises(MISSING))
async def remove(here: Here, who: CanReadFiles, name: Annotated[Name, Path()], body: KnowledgeRemoval) -> Response:
    """Remove a knowledge base with all that was read; the files stay."""
    asked = {"shared": body.shared, "scopes": _scopes(who)}
    return JSONResponse(await knowledge.remove(here.platform, who.tenant, who.id, name, asked))


def _scopes(who: Principal) -> list[str]:
    return sorted(who.scopes)
