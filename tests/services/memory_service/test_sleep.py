"""Sleep: merges what says the same, links what is near, can be undone, and hinders no recall."""

import asyncio
from collections import Counter
from typing import Any

import asyncpg
import pytest

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import RememberRequested
from libs.keys import Keys
from libs.policy.rego import RegoPolicy
from libs.search.embedder import HashedEmbedder
from services.memory_service.mind.sleeping import BATCH, LOOKS_EACH, Sleeping
from services.memory_service.mind.store import MindStore
from services.memory_service.mind.writing import MindWriting
from tests.services.memory_service.running import RunningMemory, running_memory

OWNER = {"scopes": ["memory"]}
BLUE = "invoices are in the blue folder"
FINISHED = "memory_service:{}:finish:after"


async def slept(at: RunningMemory, batches: int = 1, **wish: bool) -> dict[str, Any]:
    """Run a sleep of so many batches to its end, and return its report."""
    before = at.points.seen[FINISHED.format("sleep")]
    answer = await at.ask("POST", "/sleep/run", OWNER | wish)
    assert answer.status_code == 202, answer.text
    await at.points.passed(FINISHED.format("sleep"), before + batches)
    latest: dict[str, Any] = (await at.ask("GET", "/sleep")).json()["sleeps"][0]
    assert (latest["id"], latest["state"]) == (answer.json()["id"], "done")
    return latest


async def visible(at: RunningMemory) -> list[str]:
    rows = await at.rows("select memory_id from memory.memories where merged_into is null order by 1")
    return [row["memory_id"] for row in rows]


@pytest.mark.requirement("S3-06")
async def test_nrem_merges_repeated_memories_into_the_latest(at: RunningMemory) -> None:
    for n in range(3):
        await at.remember(BLUE, memory_id=f"m-{n}")
    await at.remember("invoices are in the red folder", memory_id="m-red")
    report = await slept(at, rem=False)
    assert [report[name] for name in ("scanned", "merged", "linked")] == [4, 2, 0]
    assert await visible(at) == ["m-2", "m-red"]
    assert sorted(await at.recalled("invoices")) == [BLUE, "invoices are in the red folder"]


@pytest.mark.requirement("A29")
async def test_sleep_merges_within_a_scope_alone(at: RunningMemory) -> None:
    await at.remember(BLUE, memory_id="m-1", session="s-1")
    await at.remember(BLUE, memory_id="m-2", session="s-2")
    await at.remember(BLUE, memory_id="m-3", user="bob")
    await at.remember(BLUE, memory_id="m-4", kind="answer")
    report = await slept(at)
    assert (report["scanned"], report["merged"]) == (3, 0)
    assert await visible(at) == ["m-1", "m-2", "m-3", "m-4"]


@pytest.mark.requirement("S3-06")
async def test_rem_links_near_memories_for_recall(at: RunningMemory) -> None:
    linked = "plumber repairs in the kitchen cost 90"
    for text in ("the plumber repairs the kitchen sink", linked, "a picture of a sink"):
        await at.remember(text)
    assert linked not in await at.recalled("sink", top_k=3)
    assert (await slept(at, nrem=False))["linked"] == 1
    assert (await at.recalled("sink", top_k=3))[-1] == linked
    assert linked not in await at.recalled("sink", top_k=2)
    await at.ask("POST", "/neuromodulators", OWNER | {"dopamine": 0.9})
    assert (await at.recalled("sink", top_k=2))[-1] == linked


@pytest.mark.requirement("S3-06")
async def test_undo_reverses_a_sleep(at: RunningMemory) -> None:
    await at.remember(BLUE, memory_id="m-1")
    await at.remember(BLUE, memory_id="m-2")
    await at.remember("the invoices of the blue folder", memory_id="m-3")
    report = await slept(at)
    assert (report["merged"], report["linked"]) == (1, 1)
    undo = f"/sleep/{report['id']}/undo"
    assert (await at.ask("POST", undo, params={"scope": "memory"}, user="bob")).status_code == 409
    assert (await at.ask("POST", undo, params={"scope": "memory"})).status_code == 200
    assert await visible(at) == ["m-1", "m-2", "m-3"]
    assert await at.rows("select from memory.links") == []
    assert (await at.ask("POST", undo, params={"scope": "memory"})).status_code == 409
    assert [one["state"] for one in (await at.ask("GET", "/sleep")).json()["sleeps"]] == ["undone"]


async def test_long_sleep_goes_on_batch_by_batch(at: RunningMemory) -> None:
    for n in range(BATCH + 5):
        await at.remember(f"number {n % BATCH}", memory_id=f"m-{n:02}")
    report = await slept(at, 2, rem=False)
    assert [report["scanned"], report["merged"]] == [BATCH + 5, 5]


@pytest.mark.requirement("S3-06")
async def test_memories_that_wait_for_sleep_are_recalled_and_counted(at: RunningMemory) -> None:
    await at.remember(BLUE)
    await slept(at)
    await at.remember("invoices of May are in the red folder")
    answer = (await at.ask("POST", "/recall", {"query": "invoices"})).json()
    assert (len(answer["memories"]), answer["waiting"]) == (2, 1)


async def test_old_memories_fade_after_sleep_until_undone(at: RunningMemory, where: Dsns) -> None:
    await at.remember(BLUE, memory_id="m-1")
    await _age(where, 100)
    [before] = await _scores(at)
    report = await slept(at)
    [faded] = await _scores(at)
    assert 0.8 * before <= faded < before
    await at.ask("POST", f"/sleep/{report['id']}/undo", params={"scope": "memory"})
    assert await _scores(at) == [before]


async def _age(where: Dsns, days: int) -> None:
    connection = await asyncpg.connect(where.app)
    async with connection.transaction():
        await connection.execute("select set_config('suma.tenants', '{acme}', true)")
        await connection.execute(f"update memory.memories set created_at = now() - interval '{days} days'")
    await connection.close()


async def _scores(at: RunningMemory) -> list[float]:
    found = (await at.ask("POST", "/recall", {"query": "blue folder"})).json()["memories"]
    return [memory["score"] for memory in found]


@pytest.mark.requirement("S3-06")
async def test_sleep_begins_by_itself_under_load(where: Dsns, keys: Keys, law: RegoPolicy) -> None:
    settings = {"memory_service": {"load_memories": 4, "mind_seconds": 0}}
    async with running_memory(where, keys=keys, policy=law, settings=settings) as at:
        for n in range(3):
            await at.remember(BLUE, memory_id=f"m-{n}")
        assert (await at.ask("GET", "/sleep")).json()["cognitive_load"] == 0.75
        cause = Cause.request("tester", id=ids.new(), tenant="acme", key="acme:s-1", session="s-1")
        said = (_wanted(str(n)) for n in range(LOOKS_EACH))
        await at.platform.writer.apply(Changeset(cause).emit(*said))
        await at.points.passed(FINISHED.format("sleep"), 2)
        rested = (await at.ask("GET", "/sleep")).json()
    assert (rested["cognitive_load"], rested["sleeps"][0]["merged"]) == (0.0, LOOKS_EACH + 2)


@pytest.mark.requirement("S3-06")
async def test_sleep_goes_on_where_a_process_ended(where: Dsns, keys: Keys, law: RegoPolicy) -> None:
    seen = Counter[str]()

    def broken(point: str) -> None:
        seen[point] += 1
        if point == "memory_service:sleep:finish:before" and seen[point] > 1:
            raise Unavailable("the process is about to end")

    async with running_memory(where, keys=keys, policy=law, fault=broken) as first:
        for n in range(BATCH + 5):
            await first.remember(f"number {n % BATCH}", memory_id=f"m-{n:02}")
        await first.ask("POST", "/sleep/run", OWNER)
        await first.points.passed(FINISHED.format("sleep"), 1)
    async with running_memory(where, keys=keys, policy=law) as second:
        await second.points.passed(FINISHED.format("sleep"), 1)
        [report] = (await second.ask("GET", "/sleep")).json()["sleeps"]
        assert (report["state"], report["scanned"], report["merged"]) == ("done", BATCH + 5, 5)


@pytest.mark.requirement("S3-06", "S3-58")
async def test_no_sleep_begins_by_itself_in_degradation(at: RunningMemory) -> None:
    embedder, store = HashedEmbedder(), MindStore(at.platform.database)
    writing = MindWriting(at.platform.policy, embedder)
    sleeping = Sleeping(store, writing, embedder, at.platform.writer.apply, load_memories=1)
    degraded = iter((True, False))
    sleeping.rests_while(lambda: next(degraded))
    for person in ("ada", "bob"):
        await at.remember(BLUE, user=person)
        for _ in range(LOOKS_EACH):
            sleeping.look("acme", _wanted("m-1", person))
    watching = asyncio.create_task(sleeping.watch())
    await at.points.passed(FINISHED.format("sleep"), 1)
    watching.cancel()
    sleeps = {user: (await at.ask("GET", "/sleep", user=user)).json()["sleeps"] for user in ("ada", "bob")}
    assert [len(sleeps["ada"]), len(sleeps["bob"])] == [0, 1]


def _wanted(id: str, user: str = "ada") -> RememberRequested:
    return RememberRequested(memory_id=id, kind="message", text=BLUE, user=user, scopes=("memory",))
