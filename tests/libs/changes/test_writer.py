"""The writer: each changeset of a batch gets the verdict that it would get alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.changes.batch import Consequence, Queued
from libs.changes.writer import (
    WAITING_MOST,
    Add,
    Applied,
    BadChangeset,
    Overloaded,
    Stale,
    Writer,
    WriterHooks,
)
from libs.clock import SystemClock
from libs.database import Database, DatabaseDown, Dsns
from libs.events import FeedbackGiven, MessageReceived
from libs.leases.ports import Lease, NewLease
from tests.libs.changes.conftest import ObservedPlatform, Outcome, request
from tests.support.examples import examples
from tests.support.rows import any_row

FAR = 1 << 60
"""A position that no test reaches."""
NEVER = Record("memory.events", 0, 0, "never", "t1", "t1:k", "t", {}, b"")


def started(turn: str, tenant: str = "t1") -> Changeset:
    return request(tenant).put(any_row("echo", "turn.start", turn_id=turn, session_id="s", text="hi"))


def moved(turn: str, *, seen: str, tenant: str = "t1") -> Changeset:
    return request(tenant).put(any_row("echo", "turn.move", turn_id=turn, state="acting", seen=seen))


def said(changeset: Changeset) -> Changeset:
    return changeset.emit(MessageReceived(message_id="m", turn_id="t", text="hi", principal="p"))


def verdict(outcome: Outcome) -> object:
    return outcome.verdict if isinstance(outcome, Applied) else type(outcome)


async def healthy(observed: ObservedPlatform) -> Changeset:
    return said(started(ids.new()))


async def duplicate(observed: ObservedPlatform) -> Changeset:
    first = said(started(ids.new()))
    await observed.together(first)
    return first


async def stale_token(observed: ObservedPlatform) -> Changeset:
    lease = ids.new()
    await observed.together(request().start(NewLease(lease, "tool", {}, delay=0)))
    await observed.eye.execute("update bus.leases set token = 2 where id = $1", lease)
    held = Lease(lease, "gateway", "tool", "t1", f"t1:{lease}", token=1, attempts=1, input={})
    return said(Changeset(Cause.of_lease(held)))


async def conflict(observed: ObservedPlatform) -> Changeset:
    turn = ids.new()
    await observed.together(started(turn))
    return said(moved(turn, seen="acting"))


async def anothers_row(observed: ObservedPlatform) -> Changeset:
    turn = ids.new()
    await observed.together(started(turn, tenant="t2"))
    return said(moved(turn, seen="thinking", tenant="t1"))


async def poison(observed: ObservedPlatform) -> Changeset:
    return said(request()).put(any_row("echo", "turn.start", turn_id="x", session_id="s", text="no\x00no"))


async def unwritable(observed: ObservedPlatform) -> Changeset:
    return said(request()).put(any_row("echo", "turn.start", turn_id="x", session_id="s", text=object()))


async def unknown_kind(observed: ObservedPlatform) -> Changeset:
    return said(request()).put(any_row("echo", "turn.vanish", turn_id="x"))


async def unknown_schema(observed: ObservedPlatform) -> Changeset:
    return said(request()).put(any_row("nowhere", "turn.start", turn_id="x"))


EXPECTED: dict[Callable[[ObservedPlatform], Awaitable[Changeset]], object] = {
    healthy: "fresh",
    duplicate: "seen",
    stale_token: "lost",
    conflict: Stale,
    anothers_row: Stale,
    poison: BadChangeset,
    unwritable: BadChangeset,
    unknown_kind: Stale,
    unknown_schema: BadChangeset,
}


@pytest.mark.requirement("A12", "A18")
@given(case=st.lists(st.sampled_from(list(EXPECTED)), min_size=1, max_size=12))
@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
async def test_each_changeset_of_a_batch_gets_its_own_verdict(
    observed: ObservedPlatform, case: list[Callable[[ObservedPlatform], Awaitable[Changeset]]]
) -> None:
    batch = [await make(observed) for make in case]
    before = await observed.eye.fetchval("select count(*) from bus.log")
    outcomes = await observed.together(*batch)
    assert [verdict(o) for o in outcomes] == [EXPECTED[make] for make in case]
    after = await observed.eye.fetchval("select count(*) from bus.log")
    assert after - before == case.count(healthy)
    assert await observed.positions_are_dense()


@pytest.mark.parametrize(("key", "joins"), [("t1:other", True), ("t1:k", False)])
async def test_chain_shares_no_lane_with_its_batch(observed: ObservedPlatform, key: str, joins: bool) -> None:
    cause, consequence = request(), f"consequence-{key}-{ids.new()}"

    @asynccontextmanager
    async def fuse(entry: Queued, add: Add) -> AsyncIterator[None]:
        if entry.changesets[0] is cause:
            add(Changeset(Cause.request("memory_service", id=consequence, tenant="t1", key="t1:k")))
            entry.consequences.append(Consequence(("memory_service", "t1:k"), NEVER, 0))
        yield

    observed.platform.writer.hooks = WriterHooks(fuse=fuse)
    beside = Changeset(Cause.request("memory_service", id=ids.new(), tenant="t1", key=key))
    outcomes = await observed.together(cause, beside)
    observed.platform.writer.hooks = WriterHooks()
    assert [verdict(outcome) for outcome in outcomes] == ["fresh", "fresh"]
    applied = await observed.eye.fetchval("select exists (select from bus.inbox where id = $1)", consequence)
    assert applied is joins


GROUPS = ("conversation_worker", "committee_worker", "tool_executor")
TEXTS = st.one_of(st.none(), st.sampled_from(["a", "b"]))
CAUSES = st.builds(
    lambda lease, **inherited: (lease, inherited),
    lease=st.booleans(),
    session=TEXTS,
    turn=TEXTS,
    correlation=TEXTS,
    traceparent=TEXTS,
)


@given(first=CAUSES, others=st.lists(st.tuples(CAUSES, st.sampled_from(["t1:k", "t1:other"])), max_size=3))
@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
async def test_commit_completes_inputs_events_and_leases(
    observed: ObservedPlatform,
    first: tuple[bool, dict[str, Any]],
    others: list[tuple[tuple[bool, dict[str, Any]], str]],
) -> None:
    delivered: list[Record] = []
    begun: list[Lease] = []

    @asynccontextmanager
    async def fuse(entry: Queued, add: Add) -> AsyncIterator[None]:
        for n, (((_, inherited), key), group) in enumerate(zip(others, GROUPS, strict=False)):
            record = entry.record(n)
            add(_speaking(replace(Cause.record(group, record), key=key, **inherited), orjson.loads(record.data)))
            entry.consequences.append(Consequence((group, key), record, FAR))
        yield

    hooks = WriterHooks(
        claim=lambda group, tenant, start: True,
        begin=begun.append,
        deliver=lambda records, left: delivered.extend(records),
    )
    leased, inherited = first
    cause = replace(request(key="t1:k").cause, causation=inherited["correlation"], **inherited)
    if leased:
        observed.platform.writer.hooks = hooks
        await observed.together(request(key="t1:k").start(NewLease(ids.new(), "tool", {})))
        lease = begun.pop()
        cause = replace(cause, id=f"{lease.id}:{lease.token}", lease=lease)
    observed.platform.writer.hooks = replace(hooks, fuse=fuse)
    (outcome,) = await observed.together(_speaking(cause, {}))
    observed.platform.writer.hooks = WriterHooks()
    assert verdict(outcome) == "fresh"
    assert len(delivered) == len(begun) == 1 + len(others)
    stored = await observed.eye.fetch(
        "select event_id, key, headers::text, data::text from bus.log where event_id = any ($1)",
        [record.event_id for record in delivered],
    )
    assert {
        row["event_id"]: (row["key"], orjson.loads(row["headers"]), orjson.loads(row["data"])) for row in stored
    } == {record.event_id: (record.key, record.headers, orjson.loads(record.data)) for record in delivered}
    leases = await observed.eye.fetch(
        "select id, key, input::text from bus.leases where id = any ($1)", [lease.id for lease in begun]
    )
    assert {row["id"]: (row["key"], orjson.loads(row["input"])) for row in leases} == {
        lease.id: (lease.key, lease.input) for lease in begun
    }


def _speaking(cause: Cause, data: dict[str, Any]) -> Changeset:
    """Return a changeset with an event and a lease that repeats the event which caused it."""
    work = NewLease(ids.new(), "tool", {"given": data, "more": 1}, repeats="given")
    return said(Changeset(cause)).start(work)


@pytest.mark.requirement("A12")
async def test_one_input_twice_in_one_batch_is_applied_once(observed: ObservedPlatform) -> None:
    id = ids.new()
    outcomes = await observed.together(said(request(id=id)), said(request(id=id)))
    assert sorted(str(verdict(o)) for o in outcomes) == ["fresh", "seen"]


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("times", [1, 2, 50])
async def test_a_changeset_sent_often_at_once_changes_the_world_once(observed: ObservedPlatform, times: int) -> None:
    changeset = said(started(ids.new()))
    outcomes = await observed.together(*[changeset] * times)
    assert sorted(str(verdict(o)) for o in outcomes) == ["fresh", *["seen"] * (times - 1)]


async def test_a_row_named_twice_in_a_batch_moves_once(observed: ObservedPlatform) -> None:
    turn = ids.new()
    await observed.together(started(turn))
    outcomes = await observed.together(moved(turn, seen="thinking"), moved(turn, seen="thinking"))
    assert {verdict(o) for o in outcomes} == {"fresh", Stale}


async def test_a_row_made_twice_in_a_batch_is_made_once(observed: ObservedPlatform) -> None:
    turn = ids.new()
    outcomes = await observed.together(started(turn), started(turn))
    assert {verdict(o) for o in outcomes} == {"fresh", BadChangeset}


async def test_a_shared_row_named_twice_in_a_batch_counts_both(observed: ObservedPlatform) -> None:
    name = ids.new()
    spend = [request().put(any_row("echo", "tally.spend", name=name, amount=2)) for _ in range(3)]
    await observed.together(*spend)
    assert await observed.eye.fetchval("select spent from echo.tallies where name = $1", name) == 6


async def test_a_shared_rows_bound_holds_within_a_batch(observed: ObservedPlatform) -> None:
    name = ids.new()
    outcomes = await observed.together(
        *(request().put(any_row("echo", "tally.spend", name=name, amount=4)) for _ in range(3))
    )
    assert sorted(str(verdict(o)) for o in outcomes).count("fresh") == 2
    assert await observed.eye.fetchval("select spent from echo.tallies where name = $1", name) == 8


async def test_lost_commit_answer_is_retried_and_applied_once(observed: ObservedPlatform) -> None:
    writer, turn = observed.platform.writer, ids.new()
    cut: list[str] = []

    def lose_the_answer(point: str) -> None:
        if point == "writer:commit:after" and not cut:
            cut.append(point)
            raise ConnectionResetError

    hooks, writer.hooks = writer.hooks, replace(writer.hooks, point=lose_the_answer)
    try:
        (outcome,) = await observed.together(said(started(turn)))
    finally:
        writer.hooks = hooks
    assert cut
    assert verdict(outcome) == "seen"
    assert await observed.eye.fetchval("select count(*) from echo.turns where turn_id = $1", turn) == 1


async def test_writing_goes_on_through_a_connection_that_the_server_cut(observed: ObservedPlatform) -> None:
    await observed.together(await healthy(observed))
    async with observed.writing():
        await observed.platform.writer.apply(await healthy_alone())
        await observed.eye.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'suma_app' and datname ="
            " current_database()"
        )
        applied = await observed.platform.writer.apply(await healthy_alone())
    assert applied.verdict in {"fresh", "seen"}
    assert observed.platform.writer.problem is None


async def healthy_alone() -> Changeset:
    return said(started(ids.new()))


async def test_changeset_abandoned_before_its_batch_is_not_written(observed: ObservedPlatform) -> None:
    turn = ids.new()
    async with observed.writing():
        waiting = asyncio.ensure_future(observed.platform.writer.apply(started(turn)))
        await asyncio.sleep(0)
        waiting.cancel()
        await observed.platform.writer.apply(await healthy_alone())
    assert await observed.eye.fetchval("select count(*) from echo.turns where turn_id = $1", turn) == 0


async def test_request_is_refused_if_too_many_wait(observed: ObservedPlatform) -> None:
    writer = observed.platform.writer
    async with observed.writing():
        waiting = [asyncio.ensure_future(writer.apply(request())) for _ in range(WAITING_MOST)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await writer.apply(request())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await writer.apply(request())
    assert writer.waiting == 0


async def test_failing_callback_does_not_affect_other_changesets(observed: ObservedPlatform) -> None:
    told: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(context))
    seen: list[str] = []

    def fail() -> None:
        raise RuntimeError

    try:
        outcomes = await observed.together(
            request().on_commit(fail), request().on_commit(lambda: seen.append("called"))
        )
    finally:
        loop.set_exception_handler(None)
    assert [verdict(o) for o in outcomes] == ["fresh", "fresh"]
    assert seen == ["called"]
    assert len(told) == 1


async def test_a_changeset_that_does_not_wait_fails_without_a_server() -> None:
    nowhere = "postgresql://suma_app@/x?host=/nowhere"
    writer = Writer(Database(Dsns(nowhere, nowhere, nowhere)), SystemClock(), "alone")
    writing = asyncio.ensure_future(writer.run())
    for _ in range(2):
        with pytest.raises(DatabaseDown):
            await writer.apply(started(ids.new()), waits=False)
    writing.cancel()


@pytest.mark.parametrize("turn", [None, "t0"])
async def test_every_event_has_the_headers_of_its_envelope(observed: ObservedPlatform, turn: str | None) -> None:
    cause = Cause.request("gateway", id=ids.new(), tenant="t1", key="t1:s", session="s", turn=turn)
    heard = MessageReceived(message_id="m", turn_id="t", text="hi", principal="p")
    rated = FeedbackGiven(subject="s", score=1, user="u")
    (applied,) = await observed.together(Changeset(cause).emit(heard, rated))
    assert isinstance(applied, Applied)
    for record in applied.records:
        found = await observed.eye.fetchrow(
            "select headers::text, key from bus.log where event_id = $1", record.event_id
        )
        assert found is not None
        assert (orjson.loads(found["headers"]), found["key"]) == (record.headers, "t1:s")
