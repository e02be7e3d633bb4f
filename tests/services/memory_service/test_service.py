"""The memory service on the bus: policy first, recorded with the write; one event, one memory."""

import asyncio
from typing import Any

import pytest

from libs.bus.ports import Record
from libs.changes import Cause
from libs.events import FeedbackGiven, RememberRequested
from libs.events.envelope import Envelope
from libs.policy import Policy
from libs.search.embedder import HashedEmbedder
from services.memory_service.extracting import Extracting
from services.memory_service.handlers import Handlers
from services.memory_service.mind.sleeping import Sleeping
from services.memory_service.mind.store import MindStore
from services.memory_service.mind.writing import MindWriting
from services.memory_service.store import GROUP, Store
from services.memory_service.writing import Writing
from tests.infrastructure import AllowAll
from tests.services.memory_service.running import RunningMemory


def handlers(at: RunningMemory, policy: Policy) -> Handlers:
    embedder = HashedEmbedder()
    minding = MindWriting(policy, embedder)
    sleeping = Sleeping(MindStore(at.platform.database), minding, embedder, at.platform.writer.apply, load_memories=500)
    writing = Writing(policy, embedder)
    return Handlers(writing, minding, sleeping, Extracting(Store(at.platform.database), writing, after=1_800))


def wanted(text: str, **fields: Any) -> RememberRequested:
    said: dict[str, Any] = {"memory_id": "m-1", "kind": "message", "text": text, "user": "ada", "scopes": ("memory",)}
    return RememberRequested(**said | fields)


@pytest.mark.requirement("S3-06")
async def test_memory_written_over_the_bus_is_recalled(at: RunningMemory) -> None:
    await at.say(wanted("Ada keeps her invoices in the blue folder"))
    assert await at.recalled("where are the invoices?") == ["Ada keeps her invoices in the blue folder"]


@pytest.mark.requirement("S3-53", "A9")
async def test_written_memory_has_the_decision_that_permits_it(at: RunningMemory) -> None:
    await at.say(wanted("x"))
    [record] = await at.recorded()
    shown = ("action", "phase", "verdict", "principal", "resource", "rule", "turn_id")
    assert [record[name] for name in shown] == [
        "memory.write",
        "decision",
        "allow",
        "ada",
        "m-1",
        "memory.write.own",
        "t-1",
    ]
    assert record["revision"] == at.platform.policy.revision


@pytest.mark.requirement("S3-53", "A9")
@pytest.mark.parametrize("fields", [{"scopes": ()}, {"kind": "secret"}, {"kind": "fact", "scopes": ("chat",)}])
async def test_refused_memory_is_recorded_and_not_written(at: RunningMemory, fields: dict[str, Any]) -> None:
    await at.say(wanted("x", **fields))
    assert [record["verdict"] for record in await at.recorded()] == ["deny"]
    assert await at.rows("select from memory.memories") == []
    assert await at.rows("select from memory.facts") == []


@pytest.mark.requirement("A12")
async def test_fifty_deliveries_write_one_memory_and_one_record(at: RunningMemory) -> None:
    await at.say(wanted("once"))
    [row] = await (await at.platform.database.bus()).fetch(
        "select topic, part, position, event_id, tenant, key, type from bus.log where topic = 'memory.events'"
    )
    cause = Cause.record(GROUP, Record(**dict(row), headers={"sessionid": "s-1"}, data=b"{}"))
    on = handlers(at, at.platform.policy)
    event = Envelope(cause.id, "t", at.platform.clock.now(), "acme", cause.key, wanted("once"))
    again = [at.platform.writer.apply(await on.remember(cause, event)) for _ in range(50)]
    assert {applied.verdict for applied in await asyncio.gather(*again)} == {"seen"}
    assert len(await at.rows("select from memory.memories")) == 1
    assert len(await at.recorded()) == 1


async def test_a_fact_on_the_bus_becomes_a_fact(at: RunningMemory) -> None:
    await at.say(wanted("Employer: Google", kind="fact"))
    await at.say(wanted("I like   tea", kind="fact", memory_id="m-2"))
    rows = await at.rows("select key, value, source from memory.facts order by key")
    assert [tuple(row.values()) for row in rows] == [
        ("employer", "Google", "person"),
        ("like", "tea", "person"),
    ]


async def test_bus_feedback_without_the_scope_is_refused(at: RunningMemory) -> None:
    """Fail closed: an event without the person's scopes permits nothing."""
    await at.say(FeedbackGiven(subject="turn-1", score=1.0, user="ada"))
    assert [record["verdict"] for record in await at.recorded()] == ["deny"]
    assert await at.rows("select from memory.feedback") == []


async def test_permitted_feedback_on_the_bus_is_stored(at: RunningMemory) -> None:
    await at.say(FeedbackGiven(subject="turn-1", score=1.0, user="ada", scopes=("memory",)))
    [row] = await at.rows("select user_id, subject, score from memory.feedback")
    assert tuple(row.values()) == ("ada", "turn-1", 1.0)


async def test_repeated_feedback_is_stored_once(at: RunningMemory) -> None:
    on = handlers(at, AllowAll())
    cause = Cause.request(GROUP, id="f-1", tenant="acme", key="acme:s-1", session="s-1")
    given = FeedbackGiven(subject="turn-1", score=-0.5, user="ada", comment="no")
    event = Envelope("f-1", "t", at.platform.clock.now(), "acme", cause.key, given)
    for _ in range(2):
        await at.platform.writer.apply(await on.feedback(cause, event))
    [row] = await at.rows("select user_id, session_id, subject, score, comment from memory.feedback")
    assert tuple(row.values()) == ("ada", "s-1", "turn-1", -0.5, "no")
