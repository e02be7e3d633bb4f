"""`suma memory`: facts and memories of a person, and all of their data, to take along or to erase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from services.cli import completion, mind, words
from services.cli.errors import NOT_DONE, AnswerRequired
from services.cli.saving import save
from services.cli.terminal import (
    Json,
    connected,
    console,
    errors_console,
    interactive,
    print_done,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from services.cli.client import Client

app = typer.Typer(help="What Suma remembers of you.", no_args_is_help=True)

Session = Annotated[str | None, typer.Option(help="Of this session only.", autocompletion=completion.sessions)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="How many memories.")]
TEXT_MOST = 100
POLL_SECONDS, ERASE_SECONDS = 0.5, 120.0
WARNING = (
    "This erases your sessions, their files' records, your uploads and all that is remembered of you. Files in your "
    "folders stay. It cannot be undone."
)


@app.command(name="list")
def list_(session: Session = None, limit: Limit = 20, as_json: Json = False) -> None:
    """List the facts known of you, and your latest memories."""
    with connected() as client:
        facts = [] if session else client.get("/v1/memory/facts")["facts"]
        about = {"session": session} if session else {}
        memories = client.get("/v1/memory/memories", limit=limit, **about)["memories"]
    if as_json:
        print_json({"facts": facts, "memories": memories})
        return
    if not facts and not memories:
        console.print(Text("Nothing is remembered yet. Say “remember that …” in a task.", style="dim"))
        return
    if facts:
        print_table(("fact", "value", "from", "sure", "since"), map(_fact, facts))
    if facts and memories:
        console.print()
    if memories:
        print_table(("memory", "kind", "when", "text"), map(_memory, memories))


@app.command()
def search(
    query: Annotated[list[str], typer.Argument(metavar="WORDS", help="What to look for.")],
    session: Session = None,
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """Find memories, best first, with the ranks behind each score; exit code 1 if nothing matches."""
    about = {"session": session} if session else {}
    with connected() as client:
        recalled = client.get("/v1/memory/search", query=" ".join(query), limit=limit, **about)
    found = recalled["memories"]
    if as_json:
        print_json(found)
    elif not found:
        console.print(Text("No memory matches.", style="dim"))
    else:
        print_table(("memory", "score", "because", "text"), map(_recalled, found))
        for lag in _lags(recalled):
            console.print(Text(lag, style="dim"))
    if not found:
        raise typer.Exit(NOT_DONE)


@app.command()
def recalled(
    turn: Annotated[str | None, typer.Argument(help="A turn (default: the last of the newest session).")] = None,
    as_json: Json = False,
) -> None:
    """List the memories that a turn was planned with, best first, and why; exit code 1 if it had none."""
    with connected() as client:
        given = client.get(f"/v1/turns/{turn or mind.last_answer(client)}/memories")
    if as_json:
        print_json(given)
    elif not given["memories"]:
        console.print(Text("It was planned without memories: nothing of its session fitted.", style="dim"))
    else:
        print_table(("memory", "score", "because", "text"), map(_recalled, given["memories"]))
    if not given["memories"]:
        raise typer.Exit(NOT_DONE)


@app.command()
def forget(
    what: Annotated[list[str], typer.Argument(metavar="WORDS|ID", help="A fact in words, or the ID of a memory.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Forget the facts that the words mean, with their history, or a memory; exit code 1 if there is none."""
    meant = " ".join(what)
    with connected() as client:
        facts = client.get("/v1/memory/facts", about=meant)["facts"]
        if facts and not yes:
            _confirm_facts(facts)
        count = sum(client.delete(f"/v1/memory/facts/{fact['id']}")["forgotten"] for fact in facts)
        count = count or _forget_memory(client, meant)
    if not count:
        console.print(Text("Nothing like that is remembered.", style="dim"))
        raise typer.Exit(NOT_DONE)
    print_done({"forgotten": count}, f"forgot {words.line(meant)}", as_json=as_json)


@app.command()
def export(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file (default: standard output).")] = None,
) -> None:
    """Export all that is kept of you as JSON Lines. Files are fetched one by one with `suma fetch`."""
    with connected() as client:
        save(client.download("/v1/memory/export"), out)
    if out is not None:
        errors_console.print(Text(f"{out}: one row of the database in each line"))


@app.command()
def erase(yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False, as_json: Json = False) -> None:
    """Erase all that is kept of you, and report when it is gone; exit code 1 if that takes over two minutes."""
    with connected() as client:
        held = client.get("/v1/memory/held")["tables"]
        if not yes:
            _confirm(held)
        begun = client.post("/v1/memory/erase", {})
        left = _wait(client)
    report = {**begun, "erased": held, "left": left}
    if left:
        if as_json:
            print_json(report)
        else:
            console.print(Text("It goes on; `suma memory export` shows what is left.", style="yellow"))
        raise typer.Exit(NOT_DONE)
    print_done(report, f"erased {sum(held.values())} rows in {len(held)} tables", as_json=as_json)


def _confirm(held: dict[str, int]) -> None:
    if not interactive():
        raise AnswerRequired(f"{WARNING} Repeat with --yes")
    print_table(("table", "rows"), ((table, str(count)) for table, count in held.items()))
    console.print(Text(WARNING, style="yellow"))
    typer.confirm("Erase it?", abort=True)


def _confirm_facts(facts: list[dict[str, Any]]) -> None:
    if not interactive():
        raise AnswerRequired("This forgets facts; repeat with --yes")
    print_table(("fact", "value", "from", "sure", "since"), map(_fact, facts))
    typer.confirm("Forget them?", abort=True)


def _wait(client: Client) -> dict[str, int]:
    """Return what is left, once nothing is, or after two minutes."""
    until = time.monotonic() + ERASE_SECONDS
    while (left := client.get("/v1/memory/held")["tables"]) and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    return dict(left)


def _forget_memory(client: Client, memory: str) -> int:
    from services.cli.errors import Refused

    try:
        return int(client.delete(f"/v1/memory/memories/{memory}")["forgotten"])
    except Refused as refused:
        if refused.status in (404, 422):
            return 0
        raise


def _fact(fact: dict[str, Any]) -> tuple[str, ...]:
    named = fact["key"] if fact["subject"] == "me" else f"{fact['subject']} {fact['key']}"
    source = f"{fact['source']}, untrusted" if fact["untrusted"] else fact["source"]
    sure, since = f"{fact['confidence']:.0%}", fact["valid_from"][:10]
    return words.line(named), words.line(fact["value"], TEXT_MOST), source, sure, since


def _memory(memory: dict[str, Any]) -> tuple[str, ...]:
    return memory["id"], words.line(memory["kind"]), memory["created_at"][:16], words.line(memory["text"], TEXT_MOST)


def _recalled(memory: dict[str, Any]) -> tuple[str, ...]:
    because = ", ".join(map(_reason, memory["sources"]))
    text = "(forgotten)" if memory["text"] is None else words.line(memory["text"], TEXT_MOST)
    text += " (something newer was said)" if memory.get("newer") else ""
    return memory["id"], f"{memory['score']:.2f}", because, text


def _reason(source: dict[str, Any]) -> str:
    """Return a rank, or the share of the score of what has none, such as feedback."""
    return (
        f"{source['name']} #{source['rank']}" if source["rank"] else f"{source['name']} {source['contribution']:+.2f}"
    )


def _lags(recalled: dict[str, Any]) -> Iterator[str]:
    if recalled["waiting"]:
        yield f"Not consolidated yet: {recalled['waiting']} memories; `suma memory sleep` does it."
    if recalled["lagging"]:
        yield "Some memories are being embedded again; until then meaning counts for less."


for command in (mind.rate, mind.ratings, mind.mood, mind.persona, mind.sleep, mind.sleeps, mind.wake):
    app.command()(command)
