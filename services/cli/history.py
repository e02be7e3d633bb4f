"""`suma log` and `suma purge`: the commits of a folder, the size of its history, and freeing that space."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from services.cli import words
from services.cli.errors import NOT_DONE, AnswerRequired, Usage
from services.cli.operators import moment
from services.cli.terminal import Json, connected, console, interactive, print_json, print_table

In = Annotated[
    Path,
    typer.Option("--in", metavar="DIR", help="The folder.", show_default="current directory", file_okay=False),
]
HERE = Path()
MOST = 1000
Commit = Mapping[str, Any]


def log(folder: In = HERE, as_json: Json = False) -> None:
    """Show the commits of a folder, newest first, and until when each can be undone."""
    with connected() as client:
        found = client.get("/v1/workspace/log", root=str(_root(folder)), most=MOST)
    if as_json:
        print_json(found)
        return
    if not found["commits"]:
        console.print(Text("Nothing was committed in this folder.", style="dim"))
        return
    print_table(("when", "session", "changes", "in history", "undo", "commit"), map(_row, found["commits"]))
    if found["bytes"]:
        console.print(Text(f"{words.size(found['bytes'])} in history; `suma purge` frees it", style="dim"))


def purge(
    folder: In = HERE,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Only commits older than this: 12h, 7d, or an ISO time.", show_default="all"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Free the space of a folder's history. The affected commits can no longer be undone."""
    # The time before the list: a commit that the person has not seen is not freed.
    now, root = datetime.now(UTC), _root(folder)
    before = datetime.fromisoformat(moment(older_than, now)) if older_than else now
    with connected() as client:
        found = client.get("/v1/workspace/log", root=str(root), most=MOST)["commits"]
        due = [one for one in found if one["bytes"] and datetime.fromisoformat(one["at"]) < before]
        if due and not yes:
            _confirm(due, as_json=as_json)
        body = {"root": str(root), "before": before.isoformat()}
        done: Any = client.post("/v1/workspace/purge", body) if due else {"state": "done", "commits": [], "bytes": 0}
    if as_json:
        print_json(done)
    elif done["state"] == "running":
        console.print(Text("Still running; `suma log` shows what is left."))
    elif not done["commits"]:
        console.print(Text("Nothing to free.", style="dim"))
    else:
        summary = f"✔ {words.size(done['bytes'])} freed: {words.count(len(done['commits']), 'commit')}"
        console.print(Text(summary, style="green"))


def _confirm(due: list[Commit], *, as_json: bool) -> None:
    """Show what would be freed, and ask for confirmation."""
    freed, undoable = words.size(sum(one["bytes"] for one in due)), sum(one["undoable"] for one in due)
    summary = f"{words.count(len(due), 'commit')}, {freed}; {undoable} of them can still be undone"
    if as_json or not interactive():
        raise AnswerRequired(f"this would free {summary}: add --yes to do it")
    for one in due:
        console.print(Text(f"  {'  '.join(_row(one))}"))
    console.print(Text(summary))
    if not typer.confirm("Free it? This cannot be undone."):
        console.print(Text("Nothing was freed."))
        raise typer.Exit(NOT_DONE)


def _row(commit: Commit) -> tuple[str, ...]:
    until = commit["undo_until"]
    undo = f"until {until[:10]}" if until else {"rolled_back": "undone already"}.get(commit["state"], "no longer")
    when = datetime.fromisoformat(commit["at"]).astimezone().strftime("%Y-%m-%d %H:%M")
    session = (commit["session_id"] or "unknown")[:36]
    return when, session, _changes(commit), words.size(commit["bytes"]), undo, commit["commit_id"]


def _changes(commit: Commit) -> str:
    changes = commit["changes"] or {}
    return ", ".join(f"{number} {kind}" for kind, number in changes.items() if number) or "unknown"


def _root(folder: Path) -> Path:
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise Usage(f"{folder} is not a folder")
    return root
