"""The routes. Each one that writes is a changeset; it is answered when that has committed."""

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Request

from libs import ids
from libs.changes import Cause
from libs.errors import Denied
from libs.events import FeedbackGiven, RememberRequested
from libs.runtime import problems
from libs.runtime.platform import Platform
from services.memory_service.api.bodies import (
    Block,
    Fact,
    Facts,
    Feedback,
    Forgotten,
    Id,
    Kept,
    Memories,
    Memory,
    Recall,
    Remember,
    Said,
)
from services.memory_service.api.door import Caller, Door
from services.memory_service.domain import facts
from services.memory_service.recalling import Recalling
from services.memory_service.settings import Settings
from services.memory_service.store import GROUP, SESSION, Scope, Store
from services.memory_service.writing import Person, SessionMissing, Writing, Written

PORT = 9696
LISTED_MOST = 500


class AnotherSession(Denied):
    """The token is for another session."""

    code = "ANOTHER_SESSION"


class Refused(Denied):
    """Policy says no; that it did is recorded."""

    code = "POLICY_DENIED"


@dataclass(frozen=True)
class Desk:
    """What the routes need at hand."""

    platform: Platform
    store: Store
    writing: Writing
    recalling: Recalling
    settings: Settings

    async def write(self, written: Written) -> None:
        """Raises Refused, once the refusal itself is on record."""
        await self.platform.writer.apply(written.changeset)
        if not written.decision.allowed:
            raise Refused(written.decision.reason)


async def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


By = Annotated[Caller, Depends(caller_of)]
At = Annotated[Desk, Depends(desk_of)]


def build(desk: Desk) -> FastAPI:
    app = FastAPI(title="Suma memory", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desk = desk
    app.add_middleware(Door, platform=desk.platform)
    problems.install(app)
    app.add_api_route("/remember", remember, methods=["POST"], status_code=201)
    app.add_api_route("/recall", recall, methods=["POST"])
    app.add_api_route("/facts", listed, methods=["GET"])
    app.add_api_route("/facts", keep, methods=["POST"], status_code=201)
    app.add_api_route("/facts", forget, methods=["DELETE"])
    app.add_api_route("/facts/block", block, methods=["GET"])
    app.add_api_route("/context/feedback", feedback, methods=["POST"], status_code=201)
    app.add_api_route("/healthz", health, methods=["GET"])
    return app


async def remember(asked: Remember, by: By, desk: At) -> Id:
    """Keep a text. The same `memory_id` again changes nothing; with another text it is a conflict."""
    id = asked.memory_id or ids.new()
    wanted = RememberRequested.model_validate(asked.model_dump() | {"memory_id": id, "user": by.named()})
    await desk.write(await desk.writing.remember(_cause(by), wanted))
    return Id(id=id)


async def recall(asked: Recall, by: By, desk: At) -> Memories:
    """The memories that fit a query, best first."""
    found = await desk.recalling.recall(_scope(asked, by), asked.query, asked.top_k)
    return Memories(memories=[Memory(text=m.text, score=m.score, kind=m.kind, created_at=m.created_at) for m in found])


async def listed(by: By, desk: At) -> Facts:
    """The person's facts, the latest first."""
    kept = await desk.store.facts(by.tenant, by.named(), most=LISTED_MOST)
    return Facts(facts=[Kept(**asdict(fact)) for fact in kept])


async def keep(said: Fact, by: By, desk: At) -> Said:
    """Keep a fact, and answer with it as it is kept. Said again it is the same fact, and fresher."""
    key, value = facts.fact_of(said.key, said.value)
    person = Person(by.named(), said.scopes)
    await desk.write(await desk.writing.keep(_cause(by), person, key, value, id=ids.new()))
    return Said(key=key, value=value)


async def forget(
    by: By,
    desk: At,
    key: Annotated[str, Query(min_length=1)],
    value: str | None = None,
    scope: Annotated[tuple[str, ...], Query()] = (),
) -> Forgotten:
    """Forget all facts of a key, or the one with this value. Repeating it forgets nothing more."""
    named, meant = facts.plain(key).lower(), facts.plain(value) if value is not None else None
    person = Person(by.named(), scope)
    count = await desk.store.named(by.tenant, person.id, named, meant)
    await desk.write(await desk.writing.forget(_cause(by), person, named, meant))
    return Forgotten(forgotten=count)


async def block(by: By, desk: At) -> Block:
    """The `<memory>` block for a prompt; empty without facts."""
    kept = await desk.store.facts(by.tenant, by.named(), most=desk.settings.facts_most)
    return Block(block=facts.block(kept, most=desk.settings.block_most))


async def feedback(given: Feedback, by: By, desk: At) -> Id:
    """How useful something was, from -1 to 1 (S3-12)."""
    cause = _cause(by)
    said = FeedbackGiven.model_validate(given.model_dump() | {"user": by.named()})
    await desk.write(await desk.writing.judge(cause, said, scopes=given.scopes))
    return Id(id=cause.id)


async def health() -> dict[str, str]:
    return {"status": "ok"}


def _cause(by: Caller) -> Cause:
    """Each request is an input of its own; its rows say what a repetition means."""
    within = by.session or f"user:{by.named()}"
    return Cause.request(GROUP, id=ids.new(), tenant=by.tenant, key=f"{by.tenant}:{within}", session=by.session)


def _scope(asked: Recall, by: Caller) -> Scope:
    """Raises AnotherSession, SessionMissing, PersonMissing."""
    person = by.named()
    if by.session is not None and asked.session not in (None, by.session):
        raise AnotherSession
    if asked.universe != SESSION:
        return Scope(by.tenant, asked.universe, person, person)
    session = by.session or asked.session
    if session is None:
        raise SessionMissing
    return Scope(by.tenant, SESSION, session, person)
