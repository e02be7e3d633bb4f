"""What there is to work with: tools and skills, as the tool executor has them; and one's word on a folder's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from libs.clients.calls import call
from libs.events.topics import EXECUTOR
from libs.identity import Principal
from services.gateway.api.bodies import StrictRoute
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import Asked, Root
from services.gateway.api.security import Caller

router = APIRouter(route_class=StrictRoute, tags=["catalogue"], responses=PROBLEMS)

Name = Annotated[str, StringConstraints(pattern=r"^[\w-]{1,64}$")]
SkillName = Annotated[Name, Path()]
Query = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]


class Folder(Asked):
    """The folder whose own skill is meant: it lies in `.suma/skills` there."""

    root: Root


class Version(Folder):
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="Of the version that was looked at, as the skill's own page shows it; another one is refused"
    )


@router.get("/v1/tools")
async def tools(here: Here, who: Caller) -> Response:
    """The tools, with their schemas, effect classes and what undoing them means."""
    return await _asked(here, who.tenant, "tools", {})


@router.get("/v1/skills")
async def skills(here: Here, who: Caller, root: Root | None = None, query: Query | None = None) -> Response:
    """The skills: of which kind, from where, in use or why not. With `root`, a folder's own too. With `query`, those
    that come near these words, the nearest first, each with a `score` from 0 to 1."""
    words = {"query": query} if query is not None else {}
    return await _asked(here, who.tenant, "skills", {**_seen(who, root), **words})


@router.get("/v1/skills/{name}")
async def skill(here: Here, who: Caller, name: SkillName, root: Root | None = None) -> Response:
    """One of them, with its tools, its files and its instructions. With `root`, as a session in that folder has it."""
    return await _asked(here, who.tenant, f"skills/{name}", _seen(who, root))


@router.post("/v1/skills/{name}/approve")
async def approve(here: Here, who: Caller, name: SkillName, body: Version) -> Response:
    """Turn a folder's own skill on, in exactly this version: any changed byte makes it off again. Saying it twice is
    saying it once."""
    return await _said(here, who, f"skills/{name}/approval", {**_word(who, name, body.root), "digest": body.digest})


@router.post("/v1/skills/{name}/revoke")
async def revoke(here: Here, who: Caller, name: SkillName, body: Folder) -> Response:
    """Turn a folder's own skill off."""
    return await _said(here, who, f"skills/{name}/revocation", _word(who, name, body.root))


def _seen(who: Principal, root: str | None) -> Mapping[str, str]:
    """Whoever looks into a folder may read files."""
    if root is None:
        return {}
    who.require("files:read")
    return {"root": root}


def _word(who: Principal, name: str, root: str) -> dict[str, Any]:
    return {"root": root, "name": name, "principal": who.id, "scopes": sorted(who.scopes)}


async def _asked(here: Gateway, tenant: str, what: str, params: Mapping[str, str]) -> Response:
    return JSONResponse(
        await call(here.platform, EXECUTOR, "GET", f"/internal/v1/{what}", tenant=tenant, params=params)
    )


async def _said(here: Gateway, who: Principal, what: str, word: Mapping[str, Any]) -> Response:
    """The executor asks policy and records it: it alone can compare the word with the files."""
    return JSONResponse(
        await call(here.platform, EXECUTOR, "PUT", f"/internal/v1/{what}", tenant=who.tenant, json=word)
    )
