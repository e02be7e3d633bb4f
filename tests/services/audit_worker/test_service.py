"""The audit worker on the bus: events of any service become a chain that a third party can verify."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from libs import ids
from libs.audit import verify
from libs.audit.checkpoint import EVERY, EVERY_RECORDS, PURPOSE
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.identity import internal
from libs.keys import Keys
from services.audit_worker.rows import Sealed
from services.audit_worker.sealing import Sealer
from services.audit_worker.store import GROUP, Store
from tests.services.audit_worker.running import RunningAudit, action, running_audit


@pytest.mark.requirement("S3-34", "A36")
async def test_bus_events_are_exported_as_a_verifiable_chain(at: RunningAudit) -> None:
    await at.chained(*(action(n) for n in range(10)))
    report = verify(await at.export())
    assert (report.ok, report.count, report.tenant, report.problem) == (True, 10, "acme", "")


@pytest.mark.requirement("A36")
async def test_a_record_holds_its_event_and_all_that_it_says(at: RunningAudit) -> None:
    await at.chained(action(7, digests={"args": "ab" * 32}, turn_id="t-9"), session="s-3")
    line = json.loads((await at.export())[1])
    record = line["record"]
    assert record["type"] == "suma.action.recorded.v1"
    assert (record["tenant"], record["session"], record["turn"]) == ("acme", "s-3", "t-9")
    assert {"id", "time", "source"} <= record.keys()
    assert record["data"] == action(7, digests={"args": "ab" * 32}, turn_id="t-9").model_dump(exclude_none=True)


@pytest.mark.requirement("A36")
async def test_records_of_one_changeset_travel_together_and_are_chained_each(at: RunningAudit) -> None:
    await at.chained(action(1), action(2, turn_id="t-9"), action(3))
    assert len(await bus_rows(at, "select * from bus.log where topic = 'audit.events'")) == 1
    lines = map(json.loads, await at.export())
    records = [line["record"] for line in lines if "record" in line]
    assert [record["data"] for record in records] == [
        fields.model_dump(exclude_none=True) for fields in (action(1), action(2, turn_id="t-9"), action(3))
    ]
    assert [record["turn"] for record in records] == ["t-1", "t-9", "t-1"]
    assert len({record["id"] for record in records}) == 3
    assert verify(await at.export()).count == 3


@pytest.mark.requirement("A36")
async def test_each_tenant_has_a_dense_chain(at: RunningAudit) -> None:
    await at.chained(action(1), action(2), tenant="acme")
    await at.chained(action(3), tenant="globex")
    await at.chained(action(4), tenant="acme")
    assert (verify(await at.export("acme")).count, verify(await at.export("globex")).count) == (3, 1)
    assert b"call-3" not in b"".join(await at.export("acme"))


@pytest.mark.requirement("A12")
async def test_many_followers_chain_a_record_once(at: RunningAudit) -> None:
    await at.chained(action(1))
    await asyncio.gather(*(at.follower().look() for _ in range(20)))
    assert verify(await at.export()).count == 1


async def bus_rows(at: RunningAudit, query: str) -> list[asyncpg.Record]:
    return list(await (await at.platform.database.bus()).fetch(query))


@pytest.mark.requirement("A36")
@pytest.mark.parametrize(
    ("tampering", "bad"),
    [
        (
            "update audit.audit_events set record = jsonb_set(record, '{data,verdict}', '\"deny\"') where position = 4",
            4,
        ),
        ("delete from audit.audit_events where position = 4", 4),
        (
            "update audit.audit_events a set record = b.record, leaf = b.leaf, link = b.link"
            " from audit.audit_events b where (a.position, b.position) in ((4, 5), (5, 4))",
            4,
        ),
        ("delete from audit.audit_events where position > 7", 8),
        ("delete from audit.audit_events where position > 7; update audit.heads set count = 7", 8),
    ],
    ids=["changed", "removed", "swapped", "cut", "cut with its head"],
)
async def test_verifier_reports_tampering_with_the_table(at: RunningAudit, tampering: str, bad: int) -> None:
    await at.chained(*(action(n) for n in range(1, 11)))
    await at.export()
    await at.tamper(tampering)
    report = verify(await at.export())
    assert (report.ok, report.first_bad) == (False, bad)


@pytest.mark.requirement("A36")
async def test_one_changed_byte_is_found_offline(at: RunningAudit) -> None:
    await at.chained(*(action(n) for n in range(1, 6)))
    lines = await at.export()
    lines[3] = lines[3].replace(b"call-3", b"call-4")
    assert verify(lines).first_bad == 3


@pytest.mark.requirement("A36")
async def test_rewritten_chain_contradicts_the_outside_checkpoints(at: RunningAudit) -> None:
    await at.chained(action(1), action(2))
    await at.export()
    await at.tamper("delete from audit.audit_events; delete from audit.checkpoints; delete from audit.heads")
    await at.chained(action(3), action(4))
    lines = await at.export()
    assert verify(lines).ok
    assert not verify(lines, outside_checkpoints=at.checkpoints.read("acme")).ok


@pytest.mark.requirement("A36")
async def test_a_tail_cut_with_its_checkpoints_is_found_outside(at: RunningAudit) -> None:
    await at.chained(*(action(n) for n in range(1, 11)))
    early = await head_of(at, 5)
    await at.export()
    await at.tamper(
        "delete from audit.audit_events where position > 5; delete from audit.checkpoints where count > 5;"
        f"update audit.heads set count = 5, sealed = 5, link = '\\x{early.hex()}'"
    )
    lines = await at.export()
    assert verify(lines).ok
    report = verify(lines, outside_checkpoints=at.checkpoints.read())
    assert (report.ok, report.first_bad) == (False, 6)


@pytest.mark.requirement("A36")
@pytest.mark.parametrize(
    ("tampering", "says"),
    [
        ("delete from audit.audit_events where position > 5; update audit.heads set count = 5, sealed = 5", "cut: 10"),
        ("delete from audit.audit_events; delete from audit.heads", "cut: 10"),
        ("update audit.audit_events set link = sha256(link)", "rewritten before record 10"),
    ],
    ids=["cut", "all gone", "rewritten"],
)
async def test_a_start_finds_a_chain_that_was_tampered_with(
    where: Dsns, keys: Keys, tmp_path: Path, tampering: str, says: str
) -> None:
    async with running_audit(where, keys, tmp_path) as at:
        await at.chained(*(action(n) for n in range(1, 11)))
        await at.export()
    await at.tamper(tampering)
    for start in range(2):  # the second start finds it as well: the first one sealed nothing on top of it
        async with running_audit(where, keys, tmp_path) as again, asyncio.timeout(60):
            while not (found := again.problems()):
                await asyncio.sleep(0.02)
            await again.chained(*(action(100 * start + n) for n in range(11, 31)))
            await again.export()
        assert "the chain of acme was" in found[0]
        assert start or says in found[0]


async def test_a_start_on_an_untouched_chain_has_no_problem(where: Dsns, keys: Keys, tmp_path: Path) -> None:
    async with running_audit(where, keys, tmp_path) as at:
        await at.chained(action(1), action(2))
        await at.export()
        sealer = Sealer(at.platform, Store(at.platform.database), at.checkpoints)
        await sealer.compare()
    assert sealer.broken == {}


async def head_of(at: RunningAudit, position: int) -> bytes:
    link = await Store(at.platform.database).link("acme", position)
    assert link is not None
    return link


@pytest.mark.requirement("A36")
async def test_export_ends_in_a_new_outside_checkpoint(at: RunningAudit, keys: Keys) -> None:
    await at.chained(action(1), action(2))
    last = json.loads((await at.export())[-1])
    assert (last["kind"], last["count"]) == ("checkpoint", 2)
    [outside] = at.checkpoints.read("acme")
    assert (outside.count, outside.head) == (2, last["head"])
    assert outside.holds(keys.public(PURPOSE))


async def test_the_chain_of_a_tenant_without_records_exports_and_verifies(at: RunningAudit) -> None:
    report = verify(await at.export("nobody"))
    assert (report.ok, report.count) == (True, 0)


@pytest.mark.requirement("A36")
async def test_a_checkpoint_is_due_a_minute_after_the_last(at: RunningAudit) -> None:
    await at.chained(action(1))
    assert await sealed(at) == 0
    at.clock.by = EVERY + timedelta(seconds=1)
    assert await sealed(at) == 1
    await at.chained(action(2))
    assert await sealed(at) == 1


@pytest.mark.requirement("A36")
async def test_a_checkpoint_is_due_after_a_thousand_records(at: RunningAudit) -> None:
    await at.chained(*(action(n) for n in range(EVERY_RECORDS - 1)))
    assert await sealed(at) == 0
    await at.chained(action(1000))
    assert await sealed(at) == EVERY_RECORDS


async def sealed(at: RunningAudit) -> int:
    """Return the sealed count after another worker, with the same view, has sealed due chains."""
    await Sealer(at.platform, Store(at.platform.database), at.checkpoints).seal_due()
    answer = await at.get("status")
    count: int = answer.json()["sealed"]
    assert [c.count for c in at.checkpoints.read("acme")][-1:] == ([count] if count else [])
    return count


@pytest.mark.requirement("A36")
async def test_failed_seal_is_reported_and_chaining_continues(at: RunningAudit) -> None:
    at.checkpoints.path.parent.write_text("a file where the folder should be")
    await at.chained(action(1))
    at.clock.by = EVERY * 2
    task = asyncio.ensure_future(at.service.tasks[0]())
    async with asyncio.timeout(60):
        while not at.problems():
            await at.chained(action(2))
    task.cancel()
    assert "checkpoints cannot be written" in at.problems()[0]


async def test_search_finds_the_newest_first_and_pages(at: RunningAudit) -> None:
    await at.chained(*(action(n, verdict="deny" if n % 2 else "allow") for n in range(6)), session="s-1")
    await at.chained(action(9, verdict="deny"), session="s-2", turn="t-2")
    first = (await at.get("search", verdict="deny", limit=2)).json()
    assert [found["record"]["data"]["resource"] for found in first["records"]] == ["call-9", "call-5"]
    second = (await at.get("search", verdict="deny", limit=2, before=first["next"])).json()
    assert [found["record"]["data"]["resource"] for found in second["records"]] == ["call-3", "call-1"]
    assert [found["position"] for found in (await at.get("search", turn="t-2")).json()["records"]] == [7]
    assert len((await at.get("search", session="s-1", action="tool.execute", principal="ada")).json()["records"]) == 6


async def test_search_is_bounded_by_time(at: RunningAudit) -> None:
    await at.chained(action(1))
    middle = at.clock.now().isoformat()
    await at.chained(action(2))
    later, earlier = await at.get("search", since=middle), await at.get("search", until=middle)
    assert [found["position"] for found in later.json()["records"]] == [2]
    assert [found["position"] for found in earlier.json()["records"]] == [1]


@pytest.mark.requirement("A21", "S3-51")
@pytest.mark.parametrize("route", ["export", "search", "status"])
async def test_audit_requests_need_a_token_for_this_service(at: RunningAudit, route: str) -> None:
    elsewhere = internal.issue(at.platform.keys, tenant="acme", audience="memory_service", now=at.clock.now())
    late = internal.issue(at.platform.keys, tenant="acme", audience=GROUP, now=at.clock.now() - timedelta(minutes=2))
    for token in ("", "nonsense", elsewhere, late):
        answer = await at.get(route, token=token)
        assert (answer.status_code, answer.json()["code"]) == (401, "BAD_TOKEN")


@pytest.mark.requirement("S3-34")
async def test_search_counts_records_that_are_not_yet_chained(at: RunningAudit) -> None:
    """While the tenant's head is locked, the record waits, and the response reports that it is incomplete."""
    await at.chained(action(1))
    holder = await asyncpg.connect(at.where.owner)
    try:
        await holder.execute("begin; select set_config('suma.tenants', '{acme}', true)")
        await holder.execute("select from audit.heads where tenant_id = 'acme' for update")
        await at.say(action(2))
        answer = (await at.get("search")).json()
        assert (len(answer["records"]), answer["behind"] >= 1) == (1, True)
        await holder.execute("commit")
        await at.reached(2)
    finally:
        await holder.close()
    assert verify(await at.export()).count == 2


async def test_a_changeset_that_only_seals_needs_no_event(at: RunningAudit) -> None:
    """Sealing one head twice writes equal checkpoints and one row."""
    await at.chained(action(1))
    cause = Cause.request(GROUP, id=ids.new(), tenant="acme", key="acme:checkpoints")
    row = Sealed(count=1, head="00", time=at.clock.now().isoformat(), key_id="k", signature="s")
    await at.platform.writer.apply(Changeset(cause).put(row, row))
    assert len(await at.rows("select * from audit.checkpoints")) == 1
