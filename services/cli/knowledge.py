"""`suma knowledge`: folders and files that Suma reads in the background and searches for each request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from services.cli import completion, words
from services.cli.errors import NOT_DONE, AnswerRequired, Usage
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

app = typer.Typer(help="Knowledge bases: files that Suma searches for each request.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(metavar="NAME", help="The base's name.", autocompletion=completion.knowledge)]
Shared = Annotated[bool, typer.Option("--shared", help="The base that everyone of your tenant can search.")]
Strategy = Literal["fixed", "sentence", "paragraph", "semantic"]
LOOK_SECONDS = 0.5
UNFIT = re.compile(r"[^a-z0-9._-]+")


@app.command()
def add(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or file.")],
    name: Annotated[str | None, typer.Option("--name", "-n", help="The base's name.", show_default="from PATH")] = None,
    chunks: Annotated[Strategy, typer.Option(help="Where texts are cut into chunks.")] = "fixed",
    size: Annotated[int, typer.Option(help="The most letters of a chunk.", min=100, max=8000)] = 512,
    shared: Shared = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return at once; reading goes on.")] = False,
    as_json: Json = False,
) -> None:
    """Read a folder or file; add it again to read what changed. Exit code 1 if reading failed."""
    place = path.expanduser().resolve()
    given = name or UNFIT.sub("-", place.stem.lower()).strip("-._")[:64]
    if not given:
        raise Usage(f"no name can be made of {path}; give one with --name")
    about = {"name": given, "source": str(place), "strategy": chunks, "size": size, "shared": shared}
    with connected() as client:
        base = client.post("/v1/knowledge", about)
        if not no_wait:
            base = _waited(client, base)
    if as_json:
        print_json(base)
    else:
        _show(base)
    if base["state"] == "failed":
        raise typer.Exit(NOT_DONE)


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List the bases that you can search."""
    with connected() as client:
        found = client.get("/v1/knowledge")["bases"]
    if as_json:
        print_json(found)
    elif not found:
        console.print("There is no knowledge base yet; `suma knowledge add DIR` makes one.")
    else:
        print_table(("name", "for", "state", "files", "source"), map(_row, found))


@app.command()
def search(
    query: Annotated[list[str], typer.Argument(metavar="WORDS", help="What you look for, in your words.")],
    base: Annotated[
        str | None, typer.Option("--base", "-b", help="Only this base.", autocompletion=completion.knowledge)
    ] = None,
    most: Annotated[int, typer.Option(help="The most passages.", min=1, max=50)] = 5,
    as_json: Json = False,
) -> None:
    """Find passages by meaning and words, best first, with file and range; exit code 1 if nothing matches."""
    with connected() as client:
        asked = {"query": " ".join(query), "top_k": most, "base": base}
        found = client.post("/v1/knowledge/search", asked)["passages"]
    if as_json:
        print_json(found)
    elif not found:
        console.print("Nothing matches. `suma knowledge list` shows what is searched.")
    for passage in found if not as_json else ():
        _show_passage(passage)
    if not found:
        raise typer.Exit(NOT_DONE)


@app.command()
def status(name: Which, shared: Shared = False, as_json: Json = False) -> None:
    """Show a base: how far it is read, and which files were not read whole."""
    with connected() as client:
        base = client.get(f"/v1/knowledge/{name}", shared=_flag(shared))
    if as_json:
        print_json(base)
    else:
        _show(base)


@app.command()
def remove(
    name: Which,
    shared: Shared = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove a base with all that was read. The files stay."""
    if not yes:
        if not interactive():
            raise AnswerRequired(f"this would remove the knowledge base {name}: add --yes to do it")
        typer.confirm(f"Remove the knowledge base {name}?", abort=True)
    with connected() as client:
        done = client.post(f"/v1/knowledge/{name}/remove", {"shared": shared})
    print_done(done, f"{words.line(name)} is removed", as_json=as_json)


def _waited(client: Client, base: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the base once it is read, and show the progress meanwhile."""
    shown = errors_console.is_terminal
    while base["state"] == "reading":
        if shown:
            errors_console.print(Text(f"\r{_progress(base)} "), end="")
        time.sleep(LOOK_SECONDS)
        base = client.get(f"/v1/knowledge/{base['name']}", shared=_flag(base["shared"]))
    if shown:
        errors_console.print(Text("\r" + " " * 60 + "\r"), end="")
    return base


def _show(base: Mapping[str, Any]) -> None:
    mark, style = {"ready": ("✔", "green"), "failed": ("✘", "red")}.get(base["state"], ("…", "yellow"))
    console.print(Text(f"{mark} {words.line(base['name'])}: {_progress(base)}", style=style))
    console.print(Text(f"  {words.line(base['source'], 500)}", style="dim"))
    if base["detail"]:
        console.print(Text(f"  {words.line(base['detail'], 500)}"))
    if base["unread"]:
        console.print(Text(f"  {words.count(base['unread'], 'file')} not read whole:"))
    for path, why in base["gaps"].items():
        console.print(Text(f"    {words.line(path, 200)}: {words.line(why).replace('_', ' ')}"))


def _progress(base: Mapping[str, Any]) -> str:
    chunks = words.count(base["chunks"], "chunk")
    return f"{base['state']}, {base['done']} of {words.count(base['files'], 'file')}, {chunks}"


def _show_passage(passage: Mapping[str, Any]) -> None:
    sources = ", ".join(f"{one['name']} #{one['rank']}" for one in passage["sources"])
    place = f"{words.line(passage['path'], 300)}, {_range(passage)}"
    console.print(
        Text(f"{passage['score']:.2f}  {place}", style="bold"), Text(f"({passage['base']}; {sources})", "dim")
    )
    console.print(Text(f"      {words.line(passage['text'], 400)}"))


def _range(passage: Mapping[str, Any]) -> str:
    first, last = passage["first"], passage["last"]
    return f"{passage['unit']} {first}" if first == last else f"{passage['unit']}s {first}-{last}"


def _row(base: Mapping[str, Any]) -> tuple[str, ...]:
    state = f"{base['state']}: {base['detail']}" if base["detail"] else base["state"]
    who = "everyone" if base["shared"] else "you"
    return words.line(base["name"]), who, words.line(state, 90), f"{base['done']}/{base['files']}", base["source"]


def _flag(value: bool) -> str:
    return str(value).lower()
