"""Upkeep: a large scope gets an index that finds as much, and a changed embedder replaces the vectors."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.events import RememberRequested
from libs.keys import Keys
from libs.policy import Policy
from libs.search import HashedEmbedder
from services.memory_service.store import GROUP
from services.memory_service.upkeep import EMBED, INDEX
from tests.services.memory_service.running import RunningMemory, running_memory

SETTINGS = {GROUP: {"index_from": 30}}
COLOURS = ("red", "blue", "green", "grey", "pink")
THINGS = ("invoices", "letters", "photos", "songs", "recipes", "maps")
STAGES = 5
"""Make, fill, fill until nothing is left, look for what was missed, prove."""


class Other(HashedEmbedder):
    """A second embedder; no process can make its vectors once it is not configured."""

    name = "other"


@pytest_asyncio.fixture(loop_scope="session")
async def indexed(where: Dsns, keys: Keys, law: Policy) -> AsyncIterator[RunningMemory]:
    async with running_memory(where, keys=keys, policy=law, settings=SETTINGS) as at:
        await fill(at)
        yield at


async def fill(at: RunningMemory) -> None:
    """Remember enough for an index, and wait for it."""
    for colour in COLOURS:
        for thing in THINGS:
            await at.remember(f"{thing} are in the {colour} folder")
    await at.recalled("anything")
    await at.points.passed(f"{GROUP}:{INDEX}:finish:after", STAGES)


async def read(at: RunningMemory) -> list[int | None]:
    return [row["probes"] for row in await at.rows("select probes from memory.scopes order by number")]


async def test_large_scope_is_searched_by_its_index(indexed: RunningMemory) -> None:
    [probes] = await read(indexed)
    assert probes is not None
    assert (await indexed.recalled("green recipes", top_k=3))[0] == "recipes are in the green folder"


@pytest.mark.requirement("S3-06")
async def test_new_memory_is_found_in_an_indexed_scope(indexed: RunningMemory) -> None:
    await indexed.remember("the code word is xyzzy42")
    assert await indexed.recalled("xyzzy42", top_k=1) == ["the code word is xyzzy42"]
    assert await indexed.recalled("which code words?", top_k=1) == ["the code word is xyzzy42"]


@pytest.mark.requirement("A29")
@pytest.mark.parametrize("other", [{"tenant": "globex"}, {"user": "bob"}, {"session": "s-2"}])
async def test_indexed_memories_stay_in_their_scope(indexed: RunningMemory, other: dict[str, str]) -> None:
    await indexed.remember("my letters are at home", **other)
    assert await indexed.recalled("letters", **other) == ["my letters are at home"]


async def test_deleted_memory_leaves_the_index(indexed: RunningMemory) -> None:
    async with indexed.platform.database.connection(GROUP) as connection, connection.transaction():
        await connection.execute("select set_config('suma.tenants', '{acme}', true)")
        await connection.execute("delete from memory.memories where text like 'maps%'")
    left = await indexed.rows("select count(*) as codes from memory.codes")
    assert left[0]["codes"] == len(COLOURS) * (len(THINGS) - 1)
    assert not any(text.startswith("maps") for text in await indexed.recalled("maps in the blue folder"))


@pytest.mark.requirement("S4-44")
async def test_changed_embedder_replaces_vectors_while_old_ones_serve(where: Dsns, keys: Keys, law: Policy) -> None:
    async with running_memory(where, keys=keys, policy=law) as before:
        await before.remember("delete the duplicate pictures")
    async with running_memory(where, keys=keys, policy=law, embedder=Other()) as at:
        first = await asked(at, "remove identical photos")
        assert (first["lagging"], [one["text"] for one in first["memories"]]) == (
            True,
            ["delete the duplicate pictures"],
        )
        await at.points.passed(f"{GROUP}:{EMBED}:finish:after", 2)
        later = await asked(at, "remove identical photos")
        assert (later["lagging"], len(later["memories"])) == (False, 1)


async def test_vectors_of_a_lost_embedder_leave_words(where: Dsns, keys: Keys, law: Policy) -> None:
    async with running_memory(where, keys=keys, policy=law, embedder=Other()) as before:
        await before.remember("delete the duplicate pictures")
    async with running_memory(where, keys=keys, policy=law) as at:
        found = await asked(at, "duplicate pictures")
        assert found["lagging"]
        assert [one["name"] for one in found["memories"][0]["sources"]] == ["words"]


async def test_indexed_scope_is_embedded_again(where: Dsns, keys: Keys, law: Policy) -> None:
    async with running_memory(where, keys=keys, policy=law, settings=SETTINGS) as before:
        await fill(before)
    async with running_memory(where, keys=keys, policy=law, settings=SETTINGS, embedder=Other()) as at:
        assert (await at.recalled("green recipes", top_k=1)) == ["recipes are in the green folder"]
        await at.points.passed(f"{GROUP}:{EMBED}:finish:after", 2)
        assert (await at.recalled("green recipes", top_k=1)) == ["recipes are in the green folder"]
        await at.points.passed(f"{GROUP}:{INDEX}:finish:after", STAGES)
        assert (await at.recalled("green recipes", top_k=1)) == ["recipes are in the green folder"]
        assert len(await read(at)) == 1


@pytest.mark.requirement("S3-06")
async def test_memory_is_recalled_with_its_provenance(at: RunningMemory) -> None:
    wanted = RememberRequested(
        memory_id="m-1", kind="message", text="the dentist is on Main Street", user="ada", scopes=("memory",),
        source="letters/dentist.pdf", confidence=0.8,
    )  # fmt: skip
    await at.say(wanted)
    [found] = (await asked(at, "dentist"))["memories"]
    assert (found["turn_id"], found["source"], found["confidence"]) == ("t-1", "letters/dentist.pdf", 0.8)
    [row] = await at.rows("select event_id is not null as event, valid_from = created_at as since from memory.memories")
    assert row == {"event": True, "since": True}


async def test_memory_is_not_recalled_after_its_time(at: RunningMemory) -> None:
    await at.remember("the code is 1", valid_to=datetime(2020, 1, 1, tzinfo=UTC).isoformat())
    await at.remember("the code is 2", valid_to=datetime(2999, 1, 1, tzinfo=UTC).isoformat())
    assert await at.recalled("code") == ["the code is 2"]


async def asked(at: RunningMemory, query: str) -> dict[str, Any]:
    answer = await at.ask("POST", "/recall", {"query": query})
    body: dict[str, Any] = answer.json()
    return body
