"""A person's mind, which shapes recall and answers: ratings, neuromodulators, personas, sleep (decision 0126).

The memory service asks policy about each write (`memory.write`), and applies it to the caller alone.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from libs import ids
from libs.clients import memory, mind
from libs.errors import NotFound
from libs.identity import Principal
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id, RequestModel, ResponseModel
from services.gateway.identity.security import Authenticated, CanReadMemory
from services.gateway.memory.routes import NoSuchMemory
from services.gateway.sessions.context import Here, Sessions
from services.gateway.sessions.routes import NoSuchTurn, turn_of

router = APIRouter(route_class=StrictRoute, tags=["memory"])

Agent = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Level = Annotated[float, Field(ge=0, le=1)]


class Rating(RequestModel):
    """How good an answer or a memory was, from -1 to 1. A later rating replaces an earlier one; 0 takes it back."""

    score: float = Field(ge=-1, le=1)
    comment: str = Field("", max_length=10_000)


class Rated(ResponseModel):
    turn_id: str
    score: float


class MemoryRated(ResponseModel):
    memory_id: str
    score: float


class RatingShown(ResponseModel):
    """A rating of the turn or memory `subject`."""

    subject: str
    score: float
    comment: str
    at: datetime


class RatingList(ResponseModel):
    ratings: list[RatingShown]


class AdaptationWeight(ResponseModel):
    """A memory, or a kind as `kind:NAME`, with the decayed sum of its ratings and the factor of its score."""

    subject: str
    points: float
    weight: float


class AdaptationState(ResponseModel):
    weights: list[AdaptationWeight]
    half_life_days: float


class ModulatorLevels(RequestModel):
    """The levels to set; those that are not named stay."""

    dopamine: Level | None = None
    serotonin: Level | None = None
    noradrenaline: Level | None = None
    acetylcholine: Level | None = None


class Modulators(ResponseModel):
    """The levels, and the factors that follow from them. Dopamine moves 0.05 a minute toward 0.4."""

    dopamine: float
    serotonin: float
    noradrenaline: float
    acetylcholine: float
    exploration_factor: float
    creativity_boost: bool
    patience: float
    empathy_boost: bool
    focus: float
    alertness_boost: bool


class PersonaText(RequestModel):
    text: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class PersonaShown(ResponseModel):
    """How the caller wants the answers of an agent written; of the default agent, as `default`."""

    id: str
    text: str


class SleepWish(RequestModel):
    nrem: bool = Field(True, description="Merge repeated memories, and let old ones fade")
    rem: bool = Field(True, description="Link memories that are near")


class SleepBegun(ResponseModel):
    id: str


class SleepReport(ResponseModel):
    """A sleep: memories looked at, merged into later ones, and links made; older than `faded_before` they fade."""

    id: str
    nrem: bool
    rem: bool
    state: Literal["running", "done", "failed", "undone"]
    scanned: int
    merged: int
    linked: int
    faded_before: datetime | None
    started_at: datetime
    ended_at: datetime | None


class SleepState(ResponseModel):
    """The caller's memories that are not consolidated, `waiting`, are counted up to 1,000. Above a load of 0.8 a sleep
    begins by itself.
    """

    cognitive_load: float
    waiting: int
    sleeps: list[SleepReport]


CONFLICT = Refusal(409, "CONFLICT", "A sleep is running, or there is nothing to take back.")


@router.put("/v1/turns/{turn_id}/rating", response_model=Rated, responses=raises(NoSuchTurn))
async def rate(here: Here, who: Authenticated, turn_id: Annotated[Id, Path()], body: Rating) -> Response:
    """Rate a turn. Its memories rank higher or lower in later recalls. Safe to repeat."""
    turn = await turn_of(here, who, turn_id)
    await _rate(here, who, turn.turn_id, body)
    return JSONResponse({"turn_id": turn.turn_id, "score": body.score})


@router.put("/v1/memory/memories/{memory_id}/rating", response_model=MemoryRated, responses=raises(NoSuchMemory))
async def rate_memory(here: Here, who: CanReadMemory, memory_id: Annotated[Id, Path()], body: Rating) -> Response:
    """Rate a memory. It ranks higher or lower in later recalls, and its kind a little. Safe to repeat."""
    try:
        await memory.memory(here.platform, who.tenant, who.id, memory_id)
    except NotFound:
        raise NoSuchMemory from None
    await _rate(here, who, memory_id, body)
    return JSONResponse({"memory_id": memory_id, "score": body.score})


@router.get("/v1/memory/ratings")
async def ratings(here: Here, who: CanReadMemory) -> RatingList:
    """Return the caller's ratings, latest first. Decisions on changes count as feedback too, and are not among them."""
    given = await mind.ratings(here.platform, who.tenant, who.id)
    own = [RatingShown.model_validate(one) for one in given if one["id"] == _rating_id(who, one["subject"])]
    return RatingList(ratings=own)


@router.get("/v1/memory/adaptation", response_model=AdaptationState)
async def adaptation(here: Here, who: CanReadMemory) -> Response:
    """Return the weights that ratings and decisions have given to memories and kinds, strongest first."""
    return JSONResponse(await mind.adaptation(here.platform, who.tenant, who.id))


@router.delete("/v1/memory/adaptation", status_code=204)
async def reset(here: Here, who: Authenticated) -> None:
    """Let ratings up to now no longer count."""
    await mind.reset(here.platform, who.tenant, who.id, _scopes(who))


@router.get("/v1/memory/modulators", response_model=Modulators)
async def modulators(here: Here, who: CanReadMemory) -> Response:
    """Return the caller's neuromodulators."""
    return JSONResponse(await mind.modulators(here.platform, who.tenant, who.id))


@router.put("/v1/memory/modulators", response_model=Modulators)
async def modulate(here: Here, who: Authenticated, body: ModulatorLevels) -> Response:
    """Set neuromodulators, and return all."""
    levels = body.model_dump(exclude_none=True)
    return JSONResponse(await mind.modulate(here.platform, who.tenant, who.id, _scopes(who), levels))


@router.get("/v1/memory/personas/{agent}", response_model=PersonaShown)
async def persona(here: Here, who: CanReadMemory, agent: Annotated[Agent, Path()]) -> Response:
    """Return how the caller wants an agent's answers written; an empty text if nothing is asked for."""
    try:
        return JSONResponse(await mind.persona(here.platform, who.tenant, who.id, agent))
    except NotFound:
        return JSONResponse({"id": agent, "text": ""})


@router.put("/v1/memory/personas/{agent}", response_model=PersonaShown)
async def put_persona(here: Here, who: Authenticated, agent: Annotated[Agent, Path()], body: PersonaText) -> Response:
    """Say how an agent's answers are to be written. It changes their manner, and permits nothing."""
    return JSONResponse(await mind.put_persona(here.platform, who.tenant, who.id, _scopes(who), agent, body.text))


@router.delete("/v1/memory/personas/{agent}", status_code=204)
async def delete_persona(here: Here, who: Authenticated, agent: Annotated[Agent, Path()]) -> None:
    """Delete a persona. Safe to repeat."""
    await mind.delete_persona(here.platform, who.tenant, who.id, _scopes(who), agent)


@router.get("/v1/memory/sleeps", response_model=SleepState)
async def sleeps(here: Here, who: CanReadMemory) -> Response:
    """Return the caller's cognitive load, and the reports of sleeps, latest first."""
    return JSONResponse(await mind.sleeps(here.platform, who.tenant, who.id))


@router.post("/v1/memory/sleeps", status_code=202, response_model=SleepBegun, responses=raises(CONFLICT))
async def sleep(here: Here, who: Authenticated, body: SleepWish) -> Response:
    """Start to consolidate the caller's memories."""
    begun = await mind.sleep(here.platform, who.tenant, who.id, _scopes(who), nrem=body.nrem, rem=body.rem)
    return JSONResponse(begun, 202)


@router.post("/v1/memory/sleeps/{sleep_id}/undo", status_code=204, responses=raises(CONFLICT))
async def wake(here: Here, who: Authenticated, sleep_id: Annotated[Id, Path()]) -> None:
    """Take back all that a sleep did."""
    await mind.wake(here.platform, who.tenant, who.id, _scopes(who), sleep_id)


async def _rate(here: Sessions, who: Principal, subject: str, body: Rating) -> None:
    id, score = _rating_id(who, subject), body.score
    await mind.rate(
        here.platform, who.tenant, who.id, _scopes(who), id=id, subject=subject, score=score, comment=body.comment
    )


def _rating_id(who: Principal, subject: str) -> str:
    return ids.derived(f"{who.id}:{subject}", "rating")


def _scopes(who: Principal) -> list[str]:
    return sorted(who.scopes)
