"""Fused handling: a chain that is handled in one commit leaves what it would leave one by one, on every bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs import ids
from tests.conformance.bus.adapters import KafkaPlace, Place
from tests.conformance.bus.stories import DEEDS, GROUPS, Node, Stage, telling
from tests.infrastructure import buses
from tests.support.examples import examples

KEYS = 2
NODES = st.recursive(
    st.builds(Node, st.sampled_from(list(GROUPS)), st.sampled_from(DEEDS)),
    lambda children: st.builds(
        Node,
        st.sampled_from(list(GROUPS)),
        st.sampled_from(DEEDS),
        st.lists(children, max_size=3).map(tuple),
    ),
    max_leaves=8,
)
STORIES = st.lists(st.tuples(NODES, st.integers(0, KEYS - 1), st.integers(0, 1)), min_size=1, max_size=4)
"""What is said, about which key, and by which process."""
CHAIN = Node("conversation_worker", says=(Node("committee_worker", says=(Node("tool_executor"),)),))


@pytest_asyncio.fixture(loop_scope="session", params=[(1, True), (2, True), (2, False)], ids=["one", "two", "unfused"])
async def stage(request: pytest.FixtureRequest, place: Place) -> AsyncIterator[Stage]:
    processes, fuses = request.param
    async with telling(place, processes=processes, fuses=fuses) as stage:
        yield stage
    if isinstance(place, KafkaPlace):
        await buses.forget(place.address)


@pytest_asyncio.fixture(loop_scope="session")
async def alone(place: Place) -> AsyncIterator[Stage]:
    """One process that has taken part before, so that it knows where the log ends."""
    async with telling(place) as stage:
        for group in GROUPS:
            await stage.say(Node(group), "k")
        await stage.over()
        yield stage
    if isinstance(place, KafkaPlace):
        await buses.forget(place.address)


@pytest.mark.requirement("P1", "P2", "P3")
@given(story=STORIES)
@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
async def test_story_leaves_the_same_rows_fused_or_not(stage: Stage, story: list[tuple[Node, int, int]]) -> None:
    run, last = ids.new(), len(stage.platforms) - 1
    told = [(node, f"{run}-{key}", f"{n}", min(by, last)) for n, (node, key, by) in enumerate(story)]
    await asyncio.gather(*(stage.say(node, key, name, by=by) for node, key, name, by in told))
    await stage.over()
    for key in {key for _, key, _, _ in told}:
        expected = [note for node, of, name, _ in told if of == key for note in node.notes(name)]
        assert sorted(await stage.notes(key)) == sorted(expected)
        assert await stage.is_in_order(key)
    assert await stage.is_dense()


async def test_chain_of_idle_lanes_is_one_transaction(alone: Stage) -> None:
    before = await alone.notes("k")
    await alone.say(CHAIN, "k", "chain")
    assert await alone.notes("k") == [*before, *CHAIN.notes("chain")]
    assert await alone.transactions("chain") == 1


@pytest.mark.requirement("P3")
async def test_chain_waits_behind_a_parked_event_of_its_key(alone: Stage) -> None:
    await alone.say(Node("committee_worker", "stumble"), "k", "first")
    await alone.say(Node("conversation_worker", says=(Node("committee_worker"),)), "k", "later")
    await alone.over()
    committee = [name for group, name in await alone.notes("k") if group == "committee_worker"]
    assert committee[1:] == ["first", "later.0"]


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("fault", ["refuse", "poison"])
async def test_bad_consequence_becomes_a_dead_letter_alone(alone: Stage, fault: str) -> None:
    bad = Node("committee_worker", fault)
    applied = await alone.say(Node("conversation_worker", says=(bad, Node("tool_executor"))), "k", "cause")
    await alone.over()
    assert applied.verdict == "fresh"
    assert {name for _, name in await alone.notes("k")} == {"0", "cause", "cause.1"}
    assert await alone.eye.fetchval("select array_agg(grp) from bus.parked") == ["committee_worker"]


@pytest.mark.requirement("P3")
async def test_event_of_another_process_that_came_first_is_handled_first(alone: Stage) -> None:
    other = await asyncpg.connect(alone.where.app)
    async with other.transaction():
        await other.fetchval("select bus.commit($1)", alone.batch_of(Node("conversation_worker"), "k", "first"))
        # It decides without knowing of the other event, and then waits for the partition's head.
        chain = asyncio.ensure_future(alone.say(CHAIN, "k", "second"))
        await alone.until_something_waits_for_a_lock()
    await chain
    await alone.over()
    await other.close()
    conversation = [name for group, name in await alone.notes("k") if group == "conversation_worker"]
    assert conversation[1:] == ["first", "second"]
