"""Commands for operators: dead letters, events waiting for policy, and bus status."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer
from rich.table import Table
from rich.text import Text

from services.cli import completion, words
from services.cli.errors import AnswerRequired, Usage
from services.cli.terminal import Json, connected, console, interactive, print_json, print_table

if TYPE_CHECKING:
    from services.cli.client import Client

dlq = typer.Typer(help="Dead letters: events that could not be handled.", no_args_is_help=True)
admin = typer.Typer(help="Platform status.", no_args_is_help=True)

AGO = re.compile(r"(\d{1,5})([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
AT_ONCE = 100
Row: TypeAlias = Mapping[str, Any]

State: TypeAlias = Literal["open", "replayed", "discarded", "any"]
Group = Annotated[str | None, typer.Option(help="Of this consumer group, such as tool_executor.")]
Topic = Annotated[str | None, typer.Option(help="Of this topic, such as tool.requests.")]
Type = Annotated[str | None, typer.Option(help="Of this type of event, such as tool.requested.")]
Code = Annotated[str | None, typer.Option(help="With this error code, such as MALFORMED_EVENT.")]
Session = Annotated[str | None, typer.Option(help="Of this session.", autocompletion=completion.sessions)]
Since = Annotated[str | None, typer.Option(metavar="WHEN", help="Died since then: 30m, 2h, 7d ago, or an ISO time.")]
Until = Annotated[str | None, typer.Option(metavar="WHEN", help="Died before then.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Letters = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Ids, as `suma dlq list` shows them.", autocompletion=completion.dead_letters),
]


@dlq.command(name="list")
def list_(
    state: Annotated[State, typer.Option(help="Their state.")] = "open",
    group: Group = None,
    topic: Topic = None,
    type: Type = None,
    code: Code = None,
    session: Session = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
    as_json: Json = False,
) -> None:
    """List dead letters, newest first."""
    wanted = _wanted(group, topic, type, code=code, session=session, since=since, until=until)
    with connected() as client:
        found = client.get("/v1/admin/dlq", state=state, limit=limit, **wanted)
    if as_json:
        print_json(found["letters"])
    elif not found["letters"]:
        which = {"open": "open ", "any": ""}.get(state, f"{state} ")
        console.print(Text(f"No {which}dead letters{' like that' if wanted else ''}.", style="green"))
    else:
        _listed(found["letters"], state)
        if found["next"]:
            last = found["letters"][-1]["died_at"]
            console.print(Text(f"There are more: --limit shows up to 500; continue with --until {last}.", "dim"))


@dlq.command()
def show(
    letter: Annotated[str, typer.Argument(metavar="ID", autocompletion=completion.dead_letters)], as_json: Json = False
) -> None:
    """Show one: the error, the affected turn, and the event."""
    with connected() as client:
        found = client.get(f"/v1/admin/dlq/{letter}")
    if as_json:
        print_json(found)
        return
    for name, value in _about(found):
        console.print(Text(f"{name:9}", style="dim"), Text(words.plain(value)), sep="")
    console.print()
    if found["problem"]:
        console.print(Text(words.plain(found["problem"]), style="yellow"))
    else:
        print_json(found["original"], indent=2)


@dlq.command()
def replay(
    letters: Letters = None,
    every: Annotated[bool, typer.Option("--all", help="Every open one that matches the filters.")] = False,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    group: Group = None,
    topic: Topic = None,
    type: Type = None,
    code: Code = None,
    session: Session = None,
    since: Since = None,
    until: Until = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Replay dead letters to the group that failed, once the cause is fixed. Safe to repeat."""
    wanted = _wanted(group, topic, type, code=code, session=session, since=since, until=until)
    _close("replay", letters or (), wanted, {"reason": reason}, every=every, yes=yes, as_json=as_json)


@dlq.command()
def discard(
    reason: Annotated[str, typer.Option(help="Why; recorded with the dead letter.")],
    letters: Letters = None,
    every: Annotated[bool, typer.Option("--all", help="Every open one that matches the filters.")] = False,
    group: Group = None,
    topic: Topic = None,
    type: Type = None,
    code: Code = None,
    session: Session = None,
    since: Since = None,
    until: Until = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Discard dead letters. They can no longer be replayed."""
    if not reason.strip():
        raise Usage("--reason must not be empty")
    wanted = _wanted(group, topic, type, code=code, session=session, since=since, until=until)
    _close("discard", letters or (), wanted, {"reason": reason}, every=every, yes=yes, as_json=as_json)


@admin.command()
def bus(as_json: Json = False) -> None:
    """Show each group's lag, parked events, dead letters and the log's size."""
    with connected() as client:
        found = client.get("/v1/admin/bus")
    if as_json:
        print_json(found)
        return
    table = Table("group", "topic", "behind", "parked", "dead", "parked since", box=None, pad_edge=False)
    for row in found["groups"]:
        counts = ("?" if row["lag"] is None else row["lag"], row["parked"], row["dead"])
        cells = (row["group"], row["topic"], *map(str, counts), _when(row["parked_since"]))
        table.add_row(*map(Text, cells), style="yellow" if row["parked"] or row["dead"] else "")
    console.print(table)
    console.print()
    kept = [
        (row["topic"], str(row["records"]), _span(row["oldest_seconds"]), _span(row["retention_seconds"]))
        for row in found["topics"]
    ]
    print_table(("topic", "records", "oldest", "kept for"), kept)


@admin.command()
def requeue(as_json: Json = False) -> None:
    """List events waiting for the policy service. Each is retried automatically."""
    with connected() as client:
        found = client.get("/v1/admin/requeue", limit=500)["waiting"]
    if as_json:
        print_json(found)
    elif not found:
        console.print(Text("Nothing waits for policy.", style="green"))
    else:
        print_table(("id", "since", "group", "type", "tries", "next try"), map(_waiting, found))


@admin.command()
def retry(event: Annotated[str, typer.Argument(metavar="ID", autocompletion=completion.waiting_events)]) -> None:
    """Retry one waiting event now."""
    with connected() as client:
        done = client.post(f"/v1/admin/requeue/{event}/retry", {})
    console.print(Text(f"✔ {done['id']} is being retried by {', '.join(done['groups'])}", style="green"))


def _waiting(row: Row) -> Sequence[str]:
    cells = (row["id"], _when(row["since"]), row["group"], _short(row["event_type"]), str(row["attempts"]))
    return *cells, _when(row["next_try"])


def moment(text: str, now: datetime) -> str:
    """Parse `2h` as two hours before `now`, anything else as an ISO time (UTC if it has no zone). Raises Usage."""
    if (ago := AGO.fullmatch(text)) is not None:
        return (now - timedelta(**{UNITS[ago[2]]: int(ago[1])})).isoformat()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Usage(f"{text!r} is not a time: use 30m, 2h, 7d, or 2026-01-31T12:00") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()


def _wanted(group: str | None, topic: str | None, type: str | None, **more: str | None) -> dict[str, str]:
    asked = {"group": group, "topic": topic, "type": type, **more}
    wanted = {name: value for name, value in asked.items() if value is not None}
    now = datetime.now(UTC)
    return {name: moment(value, now) if name in ("since", "until") else value for name, value in wanted.items()}


def _close(
    verb: str,
    letters: Sequence[str],
    wanted: Mapping[str, str],
    body: Mapping[str, str],
    *,
    every: bool,
    yes: bool,
    as_json: bool,
) -> None:
    if bool(letters) == every:
        raise Usage("give the IDs of dead letters, or --all")
    if letters and wanted:
        raise Usage("filters require --all")
    with connected() as client:
        if every:
            _all(client, verb, wanted, body, yes=yes, as_json=as_json)
        else:
            _each(client, verb, letters, body, as_json=as_json)


def _each(client: Client, verb: str, letters: Sequence[str], body: Mapping[str, str], *, as_json: bool) -> None:
    done = [client.post(f"/v1/admin/dlq/{letter}/{verb}", body) for letter in letters]
    if as_json:
        print_json(done)
        return
    for one in done:
        result, style = RESULTS[one["outcome"]]
        if one["outcome"] == "already":
            result = f"already {one['state']} by {one['closed_by']} at {_when(one['closed_at'])}"
        console.print(Text(f"{one['letter_id']} {result}", style=style))


RESULTS = {
    "replayed": ("is being handled again", "green"),
    "discarded": ("is discarded", "green"),
    "stale": ("is stale: its turn is over, so nothing was run. Discard it, or ask again in the session.", "yellow"),
    "already": ("", "dim"),
}


def _all(
    client: Client, verb: str, wanted: Mapping[str, str], body: Mapping[str, str], *, yes: bool, as_json: bool
) -> None:
    if not yes:
        if not interactive():
            raise AnswerRequired(f"add --yes to {verb} all of them without a question")
        typer.confirm(f"{verb.capitalize()} every open dead letter{' like that' if wanted else ''}?", abort=True)
    sums: Counter[str] = Counter()
    before: Mapping[str, str] = {}
    while True:
        done = client.post(f"/v1/admin/dlq/{verb}", {**wanted, **body, **before, "limit": AT_ONCE})
        sums.update({name: done[name] for name in ("replayed", "discarded", "stale")})
        if done["next"] is None:
            break
        # Stale ones stay open: without a place they would be counted again for ever.
        before = {"before": done["next"]}
    if as_json:
        print_json(dict(sums))
        return
    stale = f", {sums['stale']} stale (their turns are over: nothing was run)" if sums["stale"] else ""
    past = {"replay": "replayed", "discard": "discarded"}[verb]
    console.print(Text(f"✔ {words.count(sums[past], 'dead letter')} {past}{stale}", style="green"))


def _listed(letters: Sequence[Row], state: str) -> None:
    headings = ["id", "died", "group", "type", "code", "error"]
    if state == "any":
        headings.insert(2, "state")
    table = Table(*headings, box=None, pad_edge=False)
    for letter in letters:
        result = f"stale; {letter['error']}" if letter["stale"] else letter["error"]
        cells = [letter["letter_id"], _when(letter["died_at"]), letter["group"], _short(letter["event_type"])]
        cells += [letter["code"], words.line(result, 60)]
        if state == "any":
            cells.insert(2, letter["state"])
        table.add_row(*map(Text, cells), style="dim" if letter["stale"] or letter["state"] != "open" else "")
    console.print(table)


def _about(letter: Row) -> list[tuple[str, str]]:
    rows = [
        ("letter", letter["letter_id"]),
        ("state", _state(letter)),
        ("died", f"{_when(letter['died_at'])} in {letter['group']}, {words.count(letter['attempts'], 'attempt')}"),
        ("error", f"{letter['code']}: {letter['error']}"),
        ("event", f"{letter['event_type']} {letter['event_id']}, {words.size(letter['size'])}"),
        ("topic", f"{letter['topic']}, key {letter['event_key']}"),
    ]
    if letter["session_id"]:
        rows.append(("session", f"{letter['session_id']} of {letter['principal'] or 'an unknown principal'}"))
    if letter["turn_id"]:
        why = f" ({letter['turn_reason']})" if letter["turn_reason"] else ""
        rows.append(("turn", f"{letter['turn_id']}, {letter['turn_state'] or 'not known'}{why}"))
    return rows


def _state(letter: Row) -> str:
    if letter["state"] == "open":
        return "open; stale: its turn is over" if letter["stale"] else "open"
    why = f": {letter['reason']}" if letter["reason"] else ""
    return f"{letter['state']} by {letter['closed_by']} at {_when(letter['closed_at'])}{why}"


def _short(event_type: str) -> str:
    return words.line(event_type.removeprefix("suma.").rsplit(".v", 1)[0])


def _when(at: str | None) -> str:
    return at[:19].replace("T", " ") if at else ""


def _span(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
