"""The checker can say no: each fault that is planted into what a good run has left is found, and named."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.chaos import checker
from tests.chaos.profiles import EMBEDDED
from tests.chaos.run import Plan, judged, performed

SECONDS = 3.0
"""Of load, without any fault but those that are planted."""
TURN = "(select turn_id from gateway.turns where message_id is not null order by turn_id limit 1)"
SESSION = f"(select session_id from gateway.turns where turn_id = {TURN})"


@dataclass(frozen=True)
class Planted:
    """A fault, by SQL or by hand, and what the checker must say of it."""

    name: str
    says: str
    sql: str = ""
    hand: Callable[[Path], None] | None = None


def again(type: str) -> str:
    """SQL: an event of this type is in the log once more, under another id."""
    return f"""
with one as (select * from bus.log where type = 'suma.{type}.v1' order by topic, part, position limit 1),
head as (
    update bus.heads h set next = next + 1 from one where (h.topic, h.part) = (one.topic, one.part) returning h.next
)
insert into bus.log (topic, part, position, event_id, tenant, key, type, headers, data, at)
select topic, part, next - 1, event_id || '-again', tenant, key, type, headers, data, at from one, head
"""


def journal(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Callable[[Path], None]:
    """By hand: the load's journal says something else."""

    def rewrite(place: Path) -> None:
        file = place / "journal.jsonl"
        lines = change([json.loads(line) for line in file.read_text().splitlines()])
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    return rewrite


def one_seen(lines: list[dict[str, Any]]) -> int:
    """The line of some event that a viewer saw."""
    return next(n for n, line in enumerate(lines) if line["what"] == "seen" and line["seq"] == 3)


def seen_twice(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    n = one_seen(lines)
    return [*lines[:n], lines[n], *lines[n:]]


def not_seen(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    n = one_seen(lines)
    return [*lines[:n], *lines[n + 1 :]]


def seen_otherwise(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    n = one_seen(lines)
    return [*lines[:n], {**lines[n], "digest": "another"}, *lines[n + 1 :]]


def another_turn_for_one_key(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    line = next(line for line in lines if line["what"] == "accepted")
    return [*lines, {**line, "turn": "another"}]


def committed(place: Path) -> Path:
    """A folder with a commit in its history."""
    return next(path.parents[2] for path in sorted(place.glob("folders/*/.suma/history/*")))


def some_file(place: Path) -> Path:
    return next(path for path in sorted(committed(place).rglob("*")) if path.is_file() and ".suma" not in path.parts)


def applied_twice(place: Path) -> None:
    kept = next(iter(sorted(committed(place).glob(".suma/history/*"))))
    shutil.copytree(kept, kept.with_name(f"{kept.name}1"))


def a_byte_changed(place: Path) -> None:
    file = some_file(place)
    file.chmod(0o600)
    file.write_bytes(file.read_bytes() + b"!")


def a_file_more(place: Path) -> None:
    (committed(place) / "nobody put this here").touch()


def a_file_less(place: Path) -> None:
    some_file(place).unlink()


def a_transaction_open(place: Path) -> None:
    (committed(place) / ".suma" / "txn" / "commit.1").mkdir()


SWAPPED = f"""
with two as (
    select * from gateway.session_events
    where session_id = {SESSION} and event_type <> 'suma.message.accepted.v1' order by seq limit 2
),
turned as (select a.seq, b.event_id, b.event_type, b.turn_id, b.data from two a join two b on a.seq <> b.seq)
update gateway.session_events e
set event_id = t.event_id, event_type = t.event_type, turn_id = t.turn_id, data = t.data
from turned t where e.session_id = {SESSION} and e.seq = t.seq
"""
CHAIN_SWAPPED = """
update audit.audit_events a set record = b.record, event_id = b.event_id, leaf = b.leaf from audit.audit_events b
where a.position in (4, 5) and b.position = 9 - a.position
"""
FAULTS: Sequence[Planted] = (
    Planted("a turn lost", "was accepted and is lost", f"delete from gateway.turns where turn_id = {TURN}"),
    Planted(
        "a turn that hangs",
        "was accepted and has not ended",
        f"update gateway.turns set state = 'running', ended_at = null where turn_id = {TURN}",
    ),
    Planted("a turn ended twice", "ended 2 times", again("turn.ended")),
    Planted("a message passed on twice", "was passed on 2 times", again("message.received")),
    Planted("a turn begun twice", "began 2 turns", again("turn.started")),
    Planted("a call told twice", "has 2 outcomes", again("tool.succeeded")),
    Planted("a call made twice", "was requested 2 times", again("tool.requested")),
    Planted(
        "a call lost",
        "knows nothing of it",
        "delete from executor.tool_calls where call_id = (select min(call_id) from executor.tool_calls)",
    ),
    Planted("a commit applied twice", "is on the disk 2 times", hand=applied_twice),
    Planted(
        "a commit lost",
        "is kept 0 times",
        "delete from executor.journal where commit_id = (select min(commit_id) from executor.journal)",
    ),
    Planted("a byte changed", "and should be", hand=a_byte_changed),
    Planted("a file more", "and should be absent", hand=a_file_more),
    Planted("a file less", "is absent and should be", hand=a_file_less),
    Planted(
        "an event lost from the log", "has a gap", "delete from bus.log where topic = 'audit.events' and position = 2"
    ),
    Planted(
        "an event lost from a session",
        "not densely numbered",
        f"delete from gateway.session_events where session_id = {SESSION} and seq = 3",
    ),
    Planted("two events swapped", "in another order than the log", SWAPPED),
    Planted(
        "an audit record changed",
        "the record was changed",
        'update audit.audit_events set record = record || \'{"tenant": "other"}\' where position = 4',
    ),
    Planted("an audit record lost", "breaks at 5: it should be 4", "delete from audit.audit_events where position = 4"),
    Planted("two audit records swapped", "the link does not follow", CHAIN_SWAPPED),
    Planted("a record not chained", "is not in the chain", again("action.recorded")),
    Planted(
        "a lease left",
        "a lease is left",
        "insert into bus.leases (id, grp, kind, tenant, key, due_at, input)"
        " values ('l', 'g', 'k', 't', 't:s', now(), '{}')",
    ),
    Planted("a transaction open", "an unfinished transaction is left", hand=a_transaction_open),
    Planted("an event shown twice", "was shown event 3 where 4 belongs", hand=journal(seen_twice)),
    Planted("an event not shown", "was shown event 4 where 3 belongs", hand=journal(not_seen)),
    Planted("another event shown", "was shown another event 3", hand=journal(seen_otherwise)),
    Planted("two turns for a key", "was answered with 2 turns", hand=journal(another_turn_for_one_key)),
)


def test_the_checker_imports_nothing_of_the_platform() -> None:
    tree = ast.parse(Path(checker.__file__).read_text())
    names = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"asyncpg"}


@pytest.mark.requirement("A10", "A12", "A17", "A20", "A36")
async def test_each_planted_fault_is_found(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.mkdir()
    async with performed(Plan(EMBEDDED, seed=1, seconds=0, warm=SECONDS, people=3), place, tell=lambda _: None):
        case = json.loads((place / "case.json").read_text())
        assert (await judged(place / "case.json"))["problems"] == {}
        said = {fault.name: await _said_of(fault, case, tmp_path) for fault in FAULTS}
    assert {fault.name for fault in FAULTS if not any(fault.says in line for line in said[fault.name])} == set()


async def _said_of(fault: Planted, case: dict[str, str], tmp_path: Path) -> list[str]:
    """What the checker says of a copy of the run with the fault in it."""
    place, copy = Path(case["journal"]).parent, tmp_path / fault.name.replace(" ", "-")
    shutil.copytree(place / "folders", copy / "folders", symlinks=True)
    journal = (place / "journal.jsonl").read_text()
    (copy / "journal.jsonl").write_text(journal.replace(str(place), str(copy)))
    if fault.hand is not None:
        fault.hand(copy)
    async with _database(case["database"], fault.sql) as database:
        problems = checker.judge(await checker.read({"database": database, "journal": str(copy / "journal.jsonl")}))
    return [sentence for sentences in problems.values() for sentence in sentences]


@asynccontextmanager
async def _database(original: str, sql: str) -> AsyncIterator[str]:
    """The run's own where nothing is to be planted there, else a copy of it."""
    if not sql:
        yield original
        return
    elsewhere = await asyncpg.connect(original.replace("/suma?", "/postgres?"))
    await elsewhere.execute("create database planted template suma")
    try:
        copy = original.replace("/suma?", "/planted?")
        connection = await asyncpg.connect(copy)
        await connection.execute(sql)
        await connection.close()
        yield copy
    finally:
        await elsewhere.execute("drop database planted with (force)")
        await elsewhere.close()
