"""The routes. Each write is one changeset; the response follows its commit."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request

from libs import ids
from libs.errors import Denied
from libs.events import NOTHING, FactsForgotten, FactStated, RememberRequested
from libs.models import memory_block
from libs.runtime import Platform, problem_details
from services.memory_service import person
from services.memory_service.api import callers
from services.memory_service.api.bodies import (
    Block,
    Fact,
    Facts,
    Forgotten,
    Id,
    Known,
    Memories,
    Recall,
    Remember,
)
from services.memory_service.api.callers import By, cause_of
from services.memory_service.api.middleware import AuthMiddleware, Caller
from services.memory_service.domain import facts
from services.memory_service.knowledge import Knowledge
from services.memory_service.knowledge import routes as knowledge_routes
from services.memory_service.known import known_of
from services.memory_service.recalling import Recalling
from services.memory_service.settings import Settings
from services.memory_service.store import SESSION, Scope, Store
from services.memory_service.writing import SessionMissing, Writing, Written


class AnotherSession(Denied):
    """The token is for another session; request one for this session."""

    code = "ANOTHER_SESSION"


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
        await callers.write(self.platform, written)


async def context_of(request: Request) -> RouteContext:
    context: RouteContext = request.app.state.context
    return context


Context = Annotated[RouteContext, Depends(context_of)]


def build(context: RouteContext, knowledge: Knowledge) -> FastAPI:
    app = FastAPI(title="Suma memory", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.context = context
    app.add_middleware(AuthMiddleware, platform=context.platform)
    problem_details.install(app)
    app.add_api_route("/remember", remember, methods=["POST"], status_code=201)
    app.add_api_route("/recall", recall, methods=["POST"])
    app.add_api_route("/facts", list_facts, methods=["GET"])
    app.add_api_route("/facts", keep, methods=["POST"], status_code=201)
    app.add_api_route("/facts", forget, methods=["DELETE"])
    app.add_api_route("/facts/known", known, methods=["GET"])
    app.add_api_route("/facts/block", block, methods=["GET"])
    app.add_api_route("/outcomes", outcomes, methods=["GET"])
    person.install(app, context.platform, context.writing, context.recalling)
    app.add_api_route("/healthz", health, methods=["GET"])
    knowledge_routes.add_to(app, knowledge)
    return app


async def remember(asked: Remember, by: By, context: Context) -> Id:
    """Store a text. The same `memory_id` with the same text changes nothing; with another text it is a conflict."""
    id = asked.memory_id or ids.new()
    wanted = RememberRequested.model_validate(asked.model_dump() | {"memory_id": id, "user": by.named()})
    await context.write(await context.writing.remember(cause_of(by), wanted, context.platform.clock.now()))
    return Id(id=id)


async def recall(asked: Recall, by: By, context: Context) -> Memories:
    """Return the memories that match a query, best first. Those that wait for sleep are recalled as they are."""
    found = await context.recalling.recall(_scope(asked, by), asked.query, asked.top_k)
    memories = found.fitting if asked.fitting else found.memories
    return Memories(memories=memories, fits=bool(found.fitting), waiting=found.waiting, lagging=found.lagging)


async def list_facts(by: By, context: Context, history: bool = False, about: str = "") -> Facts:
    """Return the person's facts, latest first: those that are true, or with their history and tombstones.

    With `about`, those that a person means by these words.
    """
    kept = await context.store.facts(by.tenant, by.named(), history=history)
    return Facts(facts=tuple(facts.named(kept, about) if about else kept))


async def outcomes(by: By, context: Context, step_type: str) -> dict[str, list[dict[str, Any]]]:
    """Return the sums of the tenant's attempts at one step type, by capability."""
    return {"outcomes": await context.store.outcomes(by.tenant, step_type=step_type)}


async def keep(fact: Fact, by: By, context: Context) -> Id:
    """Store a statement of the person; it replaces the value that the setting had."""
    text = f"{fact.subject} {fact.key}: {fact.value}"
    stated = FactStated(
        fact_id=ids.new(), user=by.named(), text=text, touched=NOTHING, **fact.model_dump(exclude={"touched"})
    )
    await context.write(await context.writing.state(cause_of(by), stated, context.platform.clock.now()))
    return Id(id=stated.fact_id)


async def forget(
    by: By,
    context: Context,
    key: Annotated[str, Query()] = "",
    subject: str = facts.ME,
    value: str | None = None,
    id: str | None = None,
    scope: Annotated[tuple[str, ...], Query()] = (),
) -> Forgotten:
    """Forget the fact with this id, or those of a setting, with the history of each. Safe to repeat."""
    kept = await context.store.facts(by.tenant, by.named(), history=True)
    setting = facts.plain(subject).lower(), facts.plain(key).lower()
    meant = tuple(
        fact.id
        for fact in kept
        if fact.forgotten_at is None
        and (fact.id == id if id else (fact.subject, fact.key) == setting and value in (None, fact.value))
    )
    asked = FactsForgotten(facts=meant, user=by.named(), scopes=scope)
    await context.write(await context.writing.forget(cause_of(by), asked, context.platform.clock.now()))
    return Forgotten(forgotten=len(meant))


async def known(by: By, context: Context, about: str = "") -> Known:
    """Return the facts for a turn on this text, the most relevant first."""
    kept = await context.store.facts(by.tenant, by.named())
    return Known(facts=known_of(kept, about, tokens=context.settings.block_tokens))


async def block(by: By, context: Context, about: str = "") -> Block:
    """Return the `<memory>` block for a prompt about a text; empty without facts."""
    known = known_of(await context.store.facts(by.tenant, by.named()), about, tokens=context.settings.block_tokens)
    return Block(block=memory_block.block(known))


async def health() -> dict[str, str]:
    return {"status": "ok"}


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
