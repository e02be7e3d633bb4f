"""The checker: reads what a run of chaos has left behind, and says in sentences what is not as it was promised.

`python tests/chaos/checker.py CASE.json` knows nothing of the platform but its tables, its topics and its folders, and
imports nothing of it: only the standard library and a driver for Postgres. A case names the database, and the journal
that the load has kept of what it was promised and shown. The exit code is 0 when there is nothing to say.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import asyncpg

Json: TypeAlias = Any
Row: TypeAlias = Mapping[str, Json]
Tree: TypeAlias = dict[str, Row]
"""Path → what stands there."""

OWN = ".suma"
ENDS = ("completed", "refused", "failed", "cancelled")
OUTCOMES = ("succeeded", "failed", "denied", "unknown")
GENESIS = "suma.audit.v1:"
TOLD_MOST = 20
"""Sentences of one kind."""


@dataclass
class Facts:
    """All that the judgement rests on."""

    journal: Sequence[Row]
    turns: Sequence[Row]
    sessions: Mapping[str, int]
    """Session → the number of its next event."""
    events: Mapping[str, Sequence[Row]]
    """Session → its numbered events, in order."""
    said: Sequence[Row]
    """The log but for its bodies, in order of topic, partition, position."""
    heads: Sequence[Row]
    calls: Mapping[str, Row]
    commits: Sequence[Row]
    audit: Sequence[Row]
    audit_heads: Sequence[Row]
    left: Sequence[tuple[str, str]]
    """(what, which)."""
    carried: Mapping[int, Sequence[str]] | None = None
    """Partition → the ids of the events there, of all topics of Kafka, each topic in its order; None without Kafka."""
    behind: Sequence[Row] = ()
    """What Kafka says of its groups: group, topic, part, lag."""

    def noted(self, what: str) -> Sequence[Row]:
        return [line for line in self.journal if line["what"] == what]

    def of_type(self, kind: str) -> Iterator[Row]:
        return (row for row in self.said if row["type"] == f"suma.{kind}.v1")


# What is promised ------------------------------------------------------------------------------------------------


def every_accepted_request_has_one_finished_turn(facts: Facts) -> Iterator[str]:
    turns = {row["turn_id"]: row for row in facts.turns}
    ended = Counter(row["turn_id"] for row in facts.of_type("turn.ended"))
    accepted = {line["turn"]: line for line in facts.noted("accepted")}
    for turn, line in accepted.items():
        found = turns.get(turn)
        if found is None:
            yield f"turn {turn} of session {line['session']} was accepted and is lost"
        elif found["state"] not in ENDS or found["ended_at"] is None:
            yield f"turn {turn} of session {line['session']} was accepted and has not ended: it is {found['state']}"
        elif ended[turn] != 1:
            yield f"turn {turn} ended {ended[turn]} times"
    for turn in turns.keys() - accepted.keys():
        yield f"turn {turn} is nobody's: no accepted request began it"


def every_message_becomes_one_turn(facts: Facts) -> Iterator[str]:
    received = Counter(row["message_id"] for row in facts.of_type("message.received"))
    started = Counter(row["message_id"] for row in facts.of_type("turn.started") if row["message_id"])
    shown = Counter(
        event["event_id"] for events in facts.events.values() for event in events if event["type"] == "message.accepted"
    )
    for message in {line["message"] for line in facts.noted("accepted") if line["message"]}:
        if received[message] != 1:
            yield f"message {message} was passed on {received[message]} times"
        if started[message] > 1:
            yield f"message {message} began {started[message]} turns"
        if shown[message] != 1:
            yield f"message {message} is shown {shown[message]} times in its session"


def one_key_is_one_turn(facts: Facts) -> Iterator[str]:
    answers: dict[str, set[str]] = defaultdict(set)
    for line in facts.noted("accepted"):
        answers[line["key"]].add(line["turn"])
    for key, turns in answers.items():
        if len(turns) > 1:
            yield f"the key {key} was answered with {len(turns)} turns"


def every_call_has_one_outcome(facts: Facts) -> Iterator[str]:
    requested = Counter(row["call_id"] for row in facts.of_type("tool.requested"))
    told = Counter(row["call_id"] for outcome in OUTCOMES for row in facts.of_type(f"tool.{outcome}"))
    for call, times in requested.items():
        if times != 1:
            yield f"call {call} was requested {times} times"
        if told[call] != 1:
            yield f"call {call} has {told[call]} outcomes"
        known = facts.calls.get(call)
        if known is None:
            yield f"call {call} was requested and the executor knows nothing of it"
        elif known["state"] == "running":
            yield f"call {call} is still running"
    for call in (facts.calls.keys() | told.keys()) - requested.keys():
        yield f"call {call} was never requested"


def every_call_is_accounted_for(facts: Facts) -> Iterator[str]:
    """An intent before, an outcome after, each once, in the chain."""
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    for row in facts.audit:
        about = row["record"]["data"]
        if about["action"] == "tool.execute" and about.get("call_id"):
            phases[about["call_id"]][about["phase"]] += 1
    ran = {row["call_id"] for type in ("tool.succeeded", "tool.failed") for row in facts.of_type(type)}
    for call in ran.intersection(phases):
        for phase in ("intent", "outcome"):
            if (times := phases[call][phase]) != 1:
                yield f"call {call} has {times} {phase}s in the audit chain"


def every_commit_is_applied_once(facts: Facts) -> Iterator[str]:
    told = Counter(row["commit_id"] for row in facts.of_type("workspace.changed") if row["change"] == "committed")
    undone = {row["commit_id"] for row in facts.of_type("workspace.changed") if row["change"] == "rolled_back"}
    kept = {row["commit_id"]: row for row in facts.commits}
    on_disk: Counter[str] = Counter()
    for line in facts.noted("session"):
        on_disk.update(_history(Path(line["folder"])))
    for commit in told.keys() | kept.keys() | {id for id in on_disk if "~" not in id}:
        for where, times in (("told", told[commit]), ("on the disk", on_disk[commit]), ("kept", int(commit in kept))):
            if times != 1:
                yield f"commit {commit} is {where} {times} times"
    for commit in undone:
        if commit in kept and kept[commit]["state"] != "rolled_back":
            yield f"commit {commit} was rolled back and is kept as {kept[commit]['state']}"


def files_are_what_was_committed(facts: Facts) -> Iterator[str]:
    """From what the folder was at first, and the operations that were said to be done, follows what it is now."""
    changes: dict[str, list[Row]] = defaultdict(list)
    for session, events in facts.events.items():
        changes[session] = [event["data"] for event in events if event["type"] == "workspace.changed"]
    for line in facts.noted("session"):
        now = {entry["name"]: entry for entry in manifest(Path(line["folder"]))}
        yield from _compared(line, changes[line["session"]], now)


def logs_are_dense(facts: Facts) -> Iterator[str]:
    last: dict[tuple[str, int], int] = {}
    for row in facts.said:
        place = row["topic"], row["part"]
        before = last.get(place)
        if before is not None and row["position"] != before + 1:
            yield f"{row['topic']}/{row['part']} has a gap: {row['position']} comes after {before}"
        last[place] = row["position"]
    for head in facts.heads:
        place = head["topic"], head["part"]
        if place in last and last[place] != head["next"] - 1:
            yield f"{head['topic']}/{head['part']} ends at {last[place]}, and its head says {head['next'] - 1}"
    twice = [id for id, times in Counter(row["event_id"] for row in facts.said).items() if times > 1]
    yield from (f"event {id} is in the log more than once" for id in twice)


def kafka_has_every_event_in_order(facts: Facts) -> Iterator[str]:
    """What was sent again comes later: the first time of each event is in the order of the log."""
    if facts.carried is None:
        return
    places = {row["event_id"]: (row["topic"], row["part"]) for row in facts.said}
    logged: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row in facts.said:
        logged[row["topic"], row["part"]].append(row["event_id"])
    first: dict[tuple[str, int], list[str]] = defaultdict(list)
    for part, ids in facts.carried.items():
        for id in dict.fromkeys(ids):
            topic, own = places.get(id, ("", -1))
            if own != part:
                yield f"Kafka has event {id} in partition {part}, and the log has not"
            first[topic, part].append(id)
    for (topic, part), ids in logged.items():
        yield from _carried(f"{topic}/{part}", ids, first[topic, part])


def kafka_groups_have_come_to_the_end(facts: Facts) -> Iterator[str]:
    for row in facts.behind:
        if row["lag"]:
            yield f"group {row['group']} is {row['lag']} records behind in {row['topic']}/{row['part']}"


def sessions_are_dense_and_in_order(facts: Facts) -> Iterator[str]:
    """Numbered without a gap, and in the order in which the log has them."""
    logged: dict[str, list[str]] = defaultdict(list)
    for row in facts.said:
        if row["topic"] == "conversation.outbound":
            logged[row["session"]].append(row["event_id"])
    for session, following in facts.sessions.items():
        shown = facts.events.get(session, ())
        numbers = [event["seq"] for event in shown]
        if numbers != list(range(1, following)):
            yield f"session {session} has {len(numbers)} events, not densely numbered from 1 to {following - 1}"
        ids = [event["event_id"] for event in shown if event["type"] != "message.accepted"]
        yield from _same_order(session, ids, logged[session])


def turns_begin_in_the_order_of_their_messages(facts: Facts) -> Iterator[str]:
    for session, shown in facts.events.items():
        begun = [event["turn_id"] for event in shown if event["type"] == "turn.started"]
        accepted = [event["turn_id"] for event in shown if event["type"] == "message.accepted"]
        places = [accepted.index(turn) for turn in begun if turn in accepted]
        if places != sorted(places):
            yield f"session {session} began its turns in another order than their messages were accepted in"
        ended = [event["turn_id"] for event in shown if event["type"] == "turn.ended" and event["turn_id"] in begun]
        if ended != begun[: len(ended)]:
            yield f"session {session} ended its turns in another order than it began them in"


def the_audit_chain_is_whole(facts: Facts) -> Iterator[str]:
    """link = SHA-256(the link before + leaf), leaf = SHA-256(canonical JSON of the record), from a genesis of the
    tenant's name."""
    links: dict[str, bytes] = {}
    counts: Counter[str] = Counter()
    for row in facts.audit:
        tenant = row["tenant_id"]
        counts[tenant] += 1
        before = links.get(tenant) or hashlib.sha256((GENESIS + tenant).encode()).digest()
        links[tenant] = hashlib.sha256(before + row["leaf"]).digest()
        broken = _broken(row, counts[tenant], links[tenant])
        if broken is not None:
            yield f"the audit chain of {tenant} breaks at {row['position']}: {broken}"
            return
    for head in facts.audit_heads:
        tenant = head["tenant_id"]
        if (head["count"], head["link"]) != (counts[tenant], links.get(tenant)):
            yield f"the audit chain of {tenant} has {counts[tenant]} records, and its head says {head['count']}"


def every_record_is_chained_once(facts: Facts) -> Iterator[str]:
    chained = Counter(row["event_id"] for row in facts.audit)
    said = {row["event_id"] for row in facts.of_type("action.recorded")}
    for row in facts.of_type("actions.recorded"):
        said.update(f"{row['event_id']}.{n}" for n in range(row["records"]))
    yield from (f"audit record {id} is not in the chain" for id in said - chained.keys())
    yield from (f"audit record {id} is chained {times} times" for id, times in chained.items() if times > 1)
    yield from (f"audit record {id} was never said" for id in chained.keys() - said)


def nothing_is_left_over(facts: Facts) -> Iterator[str]:
    for what, which in facts.left:
        yield f"a {what} is left: {which}"
    for line in facts.noted("session"):
        for room in ("txn", "trash"):
            for path in sorted(Path(line["folder"], OWN, room).glob("*")):
                yield f"an unfinished transaction is left: {path}"


def viewers_saw_everything_once_and_in_order(facts: Facts) -> Iterator[str]:
    seen: dict[str, list[Row]] = defaultdict(list)
    for line in facts.noted("seen"):
        seen[line["session"]].append(line)
    for watched in facts.noted("watched"):
        session, shown = watched["session"], seen[watched["session"]]
        numbers = [line["seq"] for line in shown]
        if numbers != list(range(1, watched["last"] + 1)):
            yield f"the viewer of session {session} was shown {_odd(numbers, watched['last'])}"
            continue
        for line, event in zip(shown, facts.events.get(session, ()), strict=False):
            if (line["type"], line["turn"], line["digest"]) != (event["type"], event["turn_id"], digest(event["data"])):
                yield f"the viewer of session {session} was shown another event {line['seq']} than there is"


def everyone_was_seen_to_the_end(facts: Facts) -> Iterator[str]:
    opened = {line["session"] for line in facts.noted("session")}
    for session in opened - {line["session"] for line in facts.noted("watched")}:
        yield f"the story of session {session} did not come to its end"
    for line in facts.noted("refused"):
        if line["status"] not in (409, 422):
            yield f"{line['ask']} was refused with {line['status']}: {line['said'][:200]}"


Check: TypeAlias = Callable[[Facts], Iterable[str]]
CHECKS: Sequence[Check] = (
    every_accepted_request_has_one_finished_turn,
    every_message_becomes_one_turn,
    one_key_is_one_turn,
    every_call_has_one_outcome,
    every_call_is_accounted_for,
    every_commit_is_applied_once,
    files_are_what_was_committed,
    logs_are_dense,
    kafka_has_every_event_in_order,
    kafka_groups_have_come_to_the_end,
    sessions_are_dense_and_in_order,
    turns_begin_in_the_order_of_their_messages,
    the_audit_chain_is_whole,
    every_record_is_chained_once,
    nothing_is_left_over,
    viewers_saw_everything_once_and_in_order,
    everyone_was_seen_to_the_end,
)


# Files -----------------------------------------------------------------------------------------------------------


def manifest(root: Path) -> list[Row]:
    """Every entry of a folder, itself first: name, type, mode, time, and content by its digest. Suma's own `.suma` is
    no part of it."""
    found = [_entry(".", root)]
    for folder, folders, files in os.walk(root):
        if Path(folder) == root and OWN in folders:
            folders.remove(OWN)
        for name in sorted([*folders, *files]):
            path = Path(folder, name)
            found.append(_entry(str(path.relative_to(root)), path))
    return found


def _entry(name: str, path: Path) -> Row:
    state = path.lstat()
    content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(state.st_mode) else None
    return {
        "name": name,
        "type": stat.filemode(state.st_mode)[0],
        "mode": stat.S_IMODE(state.st_mode),
        "mtime_ns": state.st_mtime_ns,
        "sha256": content,
    }


def _compared(line: Row, changes: Sequence[Row], now: Tree) -> Iterator[str]:
    first = {entry["name"]: entry for entry in line["before"]}
    expected, touched = first, False
    before: dict[str, Tree] = {}
    for change in changes:
        match change["change"]:
            case "committed":
                before[change["commit_id"]] = expected
                expected, touched = _applied(expected, change["diff"]), True
            case "rolled_back":
                # Back in what it was to the last bit, if that is what it was.
                expected = before[change["commit_id"]]
                touched = expected is not first
            case "conflicted":
                yield f"a commit in {line['folder']} met a conflict, though nobody else touched the folder"
    whole = _shape if touched else _exactly
    for name in sorted(expected.keys() | now.keys()):
        if whole(expected.get(name)) != whole(now.get(name)):
            yield f"{line['folder']}/{name} is {_told(now.get(name))} and should be {_told(expected.get(name))}"
    for content in _contents(first) - _contents(now):
        yield f"the content {content[:12]} of {line['folder']} is lost"


def _applied(tree: Tree, diff: Row) -> Tree:
    """The tree after a commit, by the net change that it told."""
    after = dict(tree)
    placed: Tree = {}
    for entry in diff["entries"]:
        match entry["change"]:
            case "created":
                placed[entry["path"]] = {"name": entry["path"], "type": "d" if entry["kind"] == "directory" else "-"}
            case "deleted":
                after.pop(entry["path"], None)
            case "moved":
                for name in [name for name in after if _under(name, entry["source"])]:
                    moved = after.pop(name)
                    placed[entry["path"] + name.removeprefix(entry["source"])] = moved
    return after | placed


def _under(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


def _shape(entry: Row | None) -> Json:
    """What a commit must leave as it was: of files all, of folders that they are there."""
    if entry is None or entry["type"] == "d":
        return entry and "d"
    return [entry["type"], entry["mode"], entry["mtime_ns"], entry["sha256"]]


def _exactly(entry: Row | None) -> Json:
    return entry and [entry["type"], entry["mode"], entry["mtime_ns"], entry["sha256"]]


def _told(entry: Row | None) -> str:
    if entry is None:
        return "absent"
    return f"{entry['type']} {entry.get('mode', 0):o} {entry.get('mtime_ns')} {str(entry.get('sha256'))[:12]}"


def _contents(tree: Tree) -> set[str]:
    return {entry["sha256"] for entry in tree.values() if entry.get("sha256")}


def _history(folder: Path) -> Iterator[str]:
    """The commits and rollbacks that a workspace's own journal keeps; each generation of one counts."""
    return (path.name.rpartition(".")[0] for path in Path(folder, OWN, "history").glob("*"))


# Order and chain -------------------------------------------------------------------------------------------------


def _same_order(session: str, shown: Sequence[str], logged: Sequence[str]) -> Iterator[str]:
    if shown == logged:
        return
    if missing := set(logged) - set(shown):
        yield f"session {session} does not show {len(missing)} events of the log, such as {min(missing)}"
    elif extra := set(shown) - set(logged):
        yield f"session {session} shows {len(extra)} events that the log has not, such as {min(extra)}"
    elif len(shown) > len(logged):
        yield f"session {session} shows {len(shown) - len(logged)} events twice"
    else:
        yield f"session {session} shows its events in another order than the log"


def _carried(place: str, logged: Sequence[str], there: Sequence[str]) -> Iterator[str]:
    missing = set(logged) - set(there)
    if missing:
        yield f"Kafka lacks {len(missing)} events of {place}, such as {min(missing)}"
    elif list(logged) != list(there):
        at = next(n for n, (one, other) in enumerate(zip(logged, there, strict=True)) if one != other)
        yield f"Kafka has {place} in another order than the log, from event {there[at]} on"


def _broken(row: Row, count: int, link: bytes) -> str | None:
    if row["position"] != count:
        return f"it should be {count}"
    if hashlib.sha256(canonical(row["record"])).digest() != row["leaf"]:
        return "the record was changed"
    if link != row["link"]:
        return "the link does not follow"
    return None


def canonical(value: Json) -> bytes:
    """RFC 8785, as far as these records go: names in order, no blanks, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: Json) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def _odd(numbers: Sequence[int], last: int) -> str:
    """What is wrong with what should be 1 to `last`."""
    for place, number in enumerate(numbers, 1):
        if number != place:
            return f"event {number} where {place} belongs"
    return f"{len(numbers)} events of {last}"


# Reading ---------------------------------------------------------------------------------------------------------

SAID = """
select topic, part, position, event_id, type, headers ->> 'sessionid' as session, data ->> 'turn_id' as turn_id,
    data ->> 'message_id' as message_id, data ->> 'call_id' as call_id, data ->> 'commit_id' as commit_id,
    data ->> 'change' as change, jsonb_array_length(data -> 'records') as records
from bus.log order by topic, part, position
"""
EVENTS = """
select session_id, seq, event_id, regexp_replace(event_type, '^suma\\.(.*)\\.v1$', '\\1') as type, turn_id, data
from gateway.session_events order by session_id, seq
"""
AUDIT = "select tenant_id, position, event_id, record, leaf, link from audit.audit_events order by tenant_id, position"
LEFT = """
select 'lease' as what, grp || ' ' || kind || ' ' || id as which from bus.leases where kind not in ('history', 'assets')
union all select state || ' event', grp || ' ' || type || ' ' || event_id || ': ' || error from bus.parked
union all select 'parked row of the inbox', grp || ' ' || id from bus.inbox where state = 'parked'
"""


TOPICS = r"(conversation|committee|tool|memory|audit|dlq)\..*"
SILENCE_MS = "10000"
"""So long without a record, and there is none left."""


async def read(case: Row) -> Facts:
    lines = Path(case["journal"]).read_text().splitlines()
    database = await asyncpg.connect(case["database"])
    try:
        await database.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
        facts = await _facts([json.loads(line) for line in lines], database)
    finally:
        await database.close()
    if case.get("kafka"):
        facts.carried, facts.behind = _topics(case["kafka"]), groups(case["kafka"])
    return facts


def _topics(kafka: Row) -> Mapping[int, Sequence[str]]:
    """By Kafka's own consumer: every record of every topic, from the beginning."""
    shown = [part for name in ("partition", "headers") for part in ("--property", f"print.{name}=true")]
    options = ("--include", TOPICS, "--from-beginning", "--timeout-ms", SILENCE_MS, "--property", "print.value=false")
    found: dict[int, list[str]] = defaultdict(list)
    for line in _tool(kafka, "org.apache.kafka.tools.consumer.ConsoleConsumer", *options, *shown):
        if match := re.match(r"Partition:(\d+)\t.*?\bce_id:([^,\t]+)", line):
            found[int(match[1])].append(match[2])
    return found


def groups(kafka: Row) -> Sequence[Row]:
    """By Kafka's own tool: how far each group has come."""
    options = ("--describe", "--all-groups", "--offsets")
    rows = [
        line.split() for line in _tool(kafka, "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *options)
    ]
    named = ("group", "topic", "part")
    return [
        {**dict(zip(named, row, strict=False)), "lag": int(row[5])} for row in rows if len(row) > 5 and row[5].isdigit()
    ]


def _tool(kafka: Row, main: str, *options: str) -> Sequence[str]:
    command = [*kafka["java"], main, "--bootstrap-server", kafka["bootstrap"], *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()


async def _facts(journal: Sequence[Row], database: asyncpg.Connection[asyncpg.Record]) -> Facts:
    async def rows(query: str) -> list[Row]:
        return [dict(row) for row in await database.fetch(query)]

    events: dict[str, list[Row]] = defaultdict(list)
    for row in await rows(EVENTS):
        events[row["session_id"]].append(row)
    sessions = await rows("select session_id, next_seq from gateway.session_envelopes")
    calls = await rows("select call_id, state from executor.tool_calls")
    return Facts(
        journal=journal,
        turns=await rows("select turn_id, session_id, state, reason, ended_at from gateway.turns"),
        sessions={row["session_id"]: row["next_seq"] for row in sessions},
        events=events,
        said=await rows(SAID),
        heads=await rows("select topic, part, next from bus.heads"),
        calls={row["call_id"]: row for row in calls},
        commits=await rows("select commit_id, state from executor.journal"),
        audit=await rows(AUDIT),
        audit_heads=await rows("select tenant_id, count, link from audit.heads"),
        left=[(row["what"], row["which"]) for row in await rows(LEFT)],
    )


# Saying ----------------------------------------------------------------------------------------------------------


def judge(facts: Facts) -> dict[str, list[str]]:
    """What each check has to say; those with nothing to say are left out."""
    found = {check.__name__: list(check(facts)) for check in CHECKS}
    return {name: sentences for name, sentences in found.items() if sentences}


def counted(facts: Facts) -> dict[str, Json]:
    """How much was looked at."""
    states = Counter(f"{row['state']}{':' + row['reason'] if row['reason'] else ''}" for row in facts.turns)
    return {
        "sessions": len(facts.sessions),
        "turns": len(facts.turns),
        "ends": dict(sorted(states.items())),
        "messages": len({line["message"] for line in facts.noted("accepted") if line["message"]}),
        "calls": len(facts.calls),
        "commits": len(facts.commits),
        "rolled back": sum(row["state"] == "rolled_back" for row in facts.commits),
        "events": len(facts.said),
        "audit records": len(facts.audit),
        "seen by viewers": len(facts.noted("seen")),
    } | ({} if facts.carried is None else {"records in Kafka": sum(map(len, facts.carried.values()))})


def main(arguments: Sequence[str]) -> int:
    case = json.loads(Path(arguments[0]).read_text())
    facts = asyncio.run(read(case))
    problems = judge(facts)
    json.dump({"looked at": counted(facts), "problems": problems}, sys.stdout, indent=1)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
