"""The routes. Each write is one changeset; the response follows its commit."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Request

from libs import ids
from libs.changes import Cause
from libs.errors import Denied
from libs.events import FeedbackGiven, RememberRequested
from libs.runtime import Platform, problem_details
from services.memory_service.api.bodies import (
    Block,
    Fact,
    Facts,
    FactText,
    Feedback,
    Forgotten,
    Id,
    Memories,
    Recall,
    Remember,
)
from services.memory_service.api.middleware import AuthMiddleware, Caller
from services.memory_service.domain import facts
from services.memory_service.recalling import Recalling
from services.memory_service.settings import Settings
from services.memory_service.store import GROUP, SESSION, Scope, Store
from services.memory_service.writing import Person, SessionMissing, Writing, Written

FACTS_MOST = 500


class AnotherSession(Denied):
    """The token is for another session; request one for this session."""

    code = "ANOTHER_SESSION"


class Refused(Denied):
    """Policy denies this; the denial is recorded."""

    code = "POLICY_DENIED"


@dataclass(frozen=True)
class RouteContext:
    """Dependencies of the routes."""

    platform: Platform
    store: Store
    writing: Writing
    recalling: Recalling
    settings: Settings

    async def write(self, written: Written) -> None:
        """Apply a write. Raises Refused if policy denied it, once the denial is recorded."""
        await self.platform.writer.apply(written.changeset)
        if not written.decision.allowed:
            raise Refused(written.decision.reason)


async def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def context_of(request: Request) -> RouteContext:
    context: RouteContext = request.app.state.context
    return context


By = Annotated[Caller, Depends(caller_of)]
Context = Annotated[RouteContext, Depends(context_of)]


def build(context: RouteContext) -> FastAPI:
    app = FastAPI(title="Suma memory", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.context = context
    app.add_middleware(AuthMiddleware, platform=context.platform)
    problem_details.install(app)
    app.add_api_route("/remember", remember, methods=["POST"], status_code=201)
    app.add_api_route("/recall", recall, methods=["POST"])
    app.add_api_route("/facts", list_facts, methods=["GET"])
    app.add_api_route("/facts", keep, methods=["POST"], status_code=201)
    app.add_api_route("/facts", forget, methods=["DELETE"])
    app.add_api_route("/facts/block", block, methods=["GET"])
    app.add_api_route("/context/feedback", feedback, methods=["POST"], status_code=201)
    app.add_api_route("/healthz", health, methods=["GET"])
    return app


async def remember(asked: Remember, by: By, context: Context) -> Id:
    """Store a text. The same `memory_id` with the same text changes nothing; with another text it is a conflict."""
    id = asked.memory_id or ids.new()
    wanted = RememberRequested.model_validate(asked.model_dump() | {"memory_id": id, "user": by.named()})
    await context.write(await context.writing.remember(_cause(by), wanted))
    return Id(id=id)


async def recall(asked: Recall, by: By, context: Context) -> Memories:
    """Return the memories that match a query, best first."""
    return Memories(memories=await context.recalling.recall(_scope(asked, by), asked.query, asked.top_k))


async def list_facts(by: By, context: Context) -> Facts:
    """Return the person's facts, latest first."""
    return Facts(facts=await context.store.facts(by.tenant, by.named(), most=FACTS_MOST))


async def keep(fact: Fact, by: By, context: Context) -> FactText:
    """Store a fact and return it as stored. Repeating a fact updates its time."""
    key, value = facts.fact_of(fact.key, fact.value)
    person = Person(by.named(), fact.scopes)
    await context.write(await context.writing.keep(_cause(by), person, key, value, id=ids.new()))
    return FactText(key=key, value=value)


async def forget(
    by: By,
    context: Context,
    key: Annotated[str, Query(min_length=1)],
    value: str | None = None,
    scope: Annotated[tuple[str, ...], Query()] = (),
) -> Forgotten:
    """Delete all facts of a key, or the one with this value. Safe to repeat."""
    named, meant = facts.plain(key).lower(), facts.plain(value) if value is not None else None
    person = Person(by.named(), scope)
    count = await context.store.named(by.tenant, person.id, named, meant)
    await context.write(await context.writing.forget(_cause(by), person, named, meant))
    return Forgotten(forgotten=count)


async def block(by: By, context: Context) -> Block:
    """Return the `<memory>` block for a prompt; empty without facts."""
    kept = await context.store.facts(by.tenant, by.named(), most=context.settings.facts_most)
    return Block(block=facts.block(kept, most=context.settings.block_most))


async def feedback(given: Feedback, by: By, context: Context) -> Id:
    """Record how useful something was, from -1 to 1 (S3-12)."""
    cause = _cause(by)
    event = FeedbackGiven.model_validate(given.model_dump() | {"user": by.named()})
    await context.write(await context.writing.record_feedback(cause, event, scopes=given.scopes))
    return Id(id=cause.id)


async def health() -> dict[str, str]:
    return {"status": "ok"}


def _cause(by: Caller) -> Cause:
    """Return the cause of a request. Each request is a separate input; its rows' keys define the effect of a
    repetition.
    """
    within = by.session or f"user:{by.named()}"
    return Cause.request(GROUP, id=ids.new(), tenant=by.tenant, key=f"{by.tenant}:{within}", session=by.session)


def _scope(asked: Recall, by: Caller) -> Scope:
    """Return the scope to search. Raises AnotherSession, SessionMissing, PersonMissing."""
    person = by.named()
    if by.session is not None and asked.session not in (None, by.session):
        raise AnotherSession
    if asked.universe != SESSION:
        return Scope(by.tenant, asked.universe, person, person)
    session = by.session or asked.session
    if session is None:
        raise SessionMissing
    return Scope(by.tenant, SESSION, session, person)
