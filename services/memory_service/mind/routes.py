"""The routes of the mind: adaptation, neuromodulators, persona, sleep (S3-06). Each is of the person of the token."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Request
from pydantic import Field

from libs import ids
from libs.errors import NotFound
from libs.events import FeedbackGiven
from services.memory_service.api.bodies import Body, Feedback, Id, Name, Write
from services.memory_service.api.callers import By, cause_of
from services.memory_service.api.routes import Context
from services.memory_service.domain.adaptation import HALF_LIFE_DAYS, KIND, Mind
from services.memory_service.domain.modulators import Modulators
from services.memory_service.mind.sleeping import Sleeping
from services.memory_service.mind.store import MindStore, Rating, Sleep
from services.memory_service.mind.writing import SLEEP, MindWriting
from services.memory_service.writing import FEEDBACK, Person

PERSONA_MOST = 2_000
REPORTS_MOST = 50
RATINGS_MOST = 500

Level = Annotated[float, Field(ge=0, le=1)]
Scopes = Annotated[tuple[str, ...], Query(alias="scope")]


class NoPersona(NotFound):
    """There is no persona of this name; put one first."""

    code = "NO_PERSONA"


class Levels(Write):
    """The levels to set; those that are not named stay."""

    dopamine: Level | None = None
    serotonin: Level | None = None
    noradrenaline: Level | None = None
    acetylcholine: Level | None = None


class Done(Body):
    """The answer to a write that returns nothing."""


class Neuromodulators(Body):
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


class Weight(Body):
    """A subject of feedback, the decayed sum of its scores, and the factor that it gives."""

    subject: str
    points: float
    weight: float


class Adaptation(Body):
    weights: tuple[Weight, ...]
    half_life_days: float = HALF_LIFE_DAYS


class Ratings(Body):
    ratings: tuple[Rating, ...]


class PersonaBody(Write):
    text: str = Field(min_length=1, max_length=PERSONA_MOST)


class Persona(Body):
    id: str
    text: str


class Manner(Body):
    text: str


class SleepBody(Write):
    nrem: bool = True
    rem: bool = True


class Sleeps(Body):
    """`waiting` memories are not consolidated, counted up to 1,000; above a load of 0.8 a sleep begins by itself."""

    cognitive_load: float
    waiting: int
    sleeps: tuple[Sleep, ...]


@dataclass(frozen=True)
class MindContext:
    """Dependencies of the routes."""

    store: MindStore
    writing: MindWriting
    sleeping: Sleeping


async def context_of(request: Request) -> MindContext:
    context: MindContext = request.app.state.mind
    return context


Here = Annotated[MindContext, Depends(context_of)]


def install(app: FastAPI, context: MindContext) -> None:
    """Add the routes."""
    app.state.mind = context
    app.add_api_route("/context/feedback", feedback, methods=["POST"], status_code=201)
    app.add_api_route("/context/feedback", ratings, methods=["GET"])
    app.add_api_route("/context/adaptation/state", adaptation, methods=["GET"])
    app.add_api_route("/context/adaptation", reset, methods=["DELETE"])
    app.add_api_route("/neuromodulators", modulators, methods=["GET"])
    app.add_api_route("/neuromodulators", modulate, methods=["POST"])
    app.add_api_route("/persona/{pid}", persona, methods=["GET"])
    app.add_api_route("/persona/{pid}/manner", manner, methods=["GET"])
    app.add_api_route("/persona/{pid}", put_persona, methods=["PUT"])
    app.add_api_route("/persona/{pid}", delete_persona, methods=["DELETE"])
    app.add_api_route("/sleep", sleeps, methods=["GET"])
    app.add_api_route("/sleep/run", sleep, methods=["POST"], status_code=202)
    app.add_api_route("/sleep/{sleep_id}/undo", undo, methods=["POST"])


async def feedback(given: Feedback, by: By, context: Context, here: Here) -> Id:
    """Record how useful something was, from -1 to 1 (S3-12)."""
    cause = cause_of(by)
    event = FeedbackGiven.model_validate(given.model_dump(exclude={"feedback_id"}) | {"user": by.named()})
    id = given.feedback_id or ids.derived(cause.id, FEEDBACK)
    await context.write(await here.writing.record_feedback(cause, event, scopes=given.scopes, id=id))
    return Id(id=id)


async def ratings(by: By, here: Here) -> Ratings:
    """Return the person's feedback, latest first."""
    return Ratings(ratings=tuple(await here.store.ratings(by.tenant, by.named(), most=RATINGS_MOST)))


async def adaptation(by: By, here: Here) -> Adaptation:
    """Return the weights that feedback gives to memories and kinds, strongest first."""
    mind = await here.store.mind(by.tenant, by.named())
    weights = [
        Weight(subject=subject, points=points, weight=_factor(mind, subject)) for subject, points in mind.points.items()
    ]
    return Adaptation(weights=tuple(sorted(weights, key=lambda one: (-abs(one.weight - 1), one.subject))))


async def reset(by: By, context: Context, here: Here, scope: Scopes = ()) -> Done:
    """Let feedback up to now no longer count."""
    await context.write(await here.writing.reset(cause_of(by), Person(by.named(), scope)))
    return Done()


async def modulators(by: By, here: Here) -> Neuromodulators:
    """Return the levels as they have decayed, and the factors that follow from them."""
    return _shown((await here.store.mind(by.tenant, by.named())).modulators)


async def modulate(levels: Levels, by: By, context: Context, here: Here) -> Neuromodulators:
    """Set levels, and return all."""
    before = (await here.store.mind(by.tenant, by.named())).modulators
    now = replace(before, **levels.model_dump(exclude={"scopes"}, exclude_none=True))
    await context.write(await here.writing.modulate(cause_of(by), Person(by.named(), levels.scopes), now))
    return _shown(now)


async def persona(pid: Name, by: By, here: Here) -> Persona:
    """Return how the person wants the answers of an agent written."""
    text = await here.store.persona(by.tenant, by.named(), pid)
    if text is None:
        raise NoPersona
    return Persona(id=pid, text=text)


async def manner(pid: Name, by: By, here: Here) -> Manner:
    """Return how to write an agent's answers to the person: their persona, and what serotonin adds."""
    return Manner(text=(await here.store.mind(by.tenant, by.named())).manner(pid))


async def put_persona(pid: Name, given: PersonaBody, by: By, context: Context, here: Here) -> Persona:
    """Store a persona for an agent, by the agent's name, or for the default one as `default`."""
    person = Person(by.named(), given.scopes)
    await context.write(await here.writing.put_persona(cause_of(by), person, pid, given.text))
    return Persona(id=pid, text=given.text)


async def delete_persona(pid: Name, by: By, context: Context, here: Here, scope: Scopes = ()) -> Done:
    """Delete a persona. Safe to repeat."""
    await context.write(await here.writing.delete_persona(cause_of(by), Person(by.named(), scope), pid))
    return Done()


async def sleeps(by: By, here: Here) -> Sleeps:
    """Return the person's cognitive load, and the reports of their sleeps, latest first."""
    mind = await here.store.mind(by.tenant, by.named())
    reports = await here.store.sleeps(by.tenant, by.named(), most=REPORTS_MOST)
    return Sleeps(cognitive_load=here.sleeping.load(mind.awake), waiting=mind.awake, sleeps=tuple(reports))


async def sleep(wish: SleepBody, by: By, context: Context, here: Here) -> Id:
    """Start a sleep. 409 while another one is running."""
    cause = cause_of(by)
    person = Person(by.named(), wish.scopes)
    await context.write(await here.writing.sleep(cause, person, nrem=wish.nrem, rem=wish.rem))
    return Id(id=ids.derived(cause.id, SLEEP))


async def undo(sleep_id: Name, by: By, context: Context, here: Here, scope: Scopes = ()) -> Done:
    """Take back all that a sleep did. 409 while it runs, or if there is nothing to take back."""
    await context.write(await here.writing.undo(cause_of(by), Person(by.named(), scope), sleep_id))
    return Done()


def _factor(mind: Mind, subject: str) -> float:
    return mind.weight("", subject.removeprefix(KIND)) if subject.startswith(KIND) else mind.weight(subject, "")


def _shown(levels: Modulators) -> Neuromodulators:
    return Neuromodulators.model_validate(levels, from_attributes=True)
