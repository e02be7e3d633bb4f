"""The commands: arguments in, calls of the API, output for a person or as JSON.

What only one command needs is imported in it, so that the others, and `--help`, answer at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from libs.errors import SumaError
from services.cli import effects, errors, models, skills, words
from services.cli.asking import Nobody, Person, Terminal, Yes
from services.cli.budgets import budgets
from services.cli.errors import NOT_DONE, NobodyToAsk, Usage
from services.cli.evaluating.command import evaluate
from services.cli.following import Ended, follow
from services.cli.operators import admin, dlq
from services.cli.show import JsonLines, Screen, Watcher, diff_of
from services.cli.terminal import Json, connected, console, errors_console, interactive, print_json

if TYPE_CHECKING:
    from services.cli.client import Client

app = typer.Typer(
    name="suma",
    help="Plans, gets plans reviewed, acts under policy, shows what it would change, and can undo it.",
    epilog="It speaks to the platform of this machine's data directory; SUMA_URL and SUMA_API_KEY name another.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
audit = typer.Typer(help="The signed record of all that was decided and done.", no_args_is_help=True)
app.add_typer(audit, name="audit")
app.add_typer(dlq, name="dlq")
app.add_typer(admin, name="admin")
app.add_typer(effects.app, name="effects")
app.add_typer(skills.app, name="skills")
app.add_typer(models.app, name="models")
app.command(name="eval")(evaluate)
app.command()(budgets)

AsYes = Annotated[bool, typer.Option("--yes", "-y", help="Answer every approval with yes.")]
Mode = Annotated[
    Literal["all", "key", "bypass"] | None,
    typer.Option(help="Ask before every step, before steps that change something (key), or only about the final diff."),
]
In = Annotated[
    Path | None,
    typer.Option(
        "--in",
        metavar="DIR",
        help="The folder to work in; else the one where you stand, if it is allowed.",
        file_okay=False,
    ),
]
Which = Annotated[str | None, typer.Argument(metavar="[SESSION]", help="Its id; the newest where it is left out.")]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="PATH", help="Leave this as it is (repeatable).")
]
USUAL = "key"
"""The mode of a session where none is named."""


def run() -> None:
    try:
        app(prog_name="suma")
    except SumaError as error:
        errors_console.print(Text(f"suma: {words.plain(error)}"))
        sys.exit(errors.exit_code(error))
    except KeyboardInterrupt:
        sys.exit(errors.INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone (`suma events | head`); the interpreter must not try to flush to it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.command()
def up() -> None:
    """Start the platform here; Ctrl-C stops it."""
    from services.settings import HOUSE

    # -P and a path of our own: a folder named `services` where the person stands must not take our place.
    python = [sys.executable, "-P", "-m", "services"]
    os.execve(sys.executable, python, {**os.environ, "PYTHONPATH": str(HOUSE)})  # noqa: S606 - our own module


@app.command(name="run")
def run_(
    goal: Annotated[str, typer.Argument(help="What is to be done, in words.")],
    folder: In = None,
    hitl: Mode = None,
    yes: AsYes = False,
    as_json: Json = False,
) -> None:
    """Have something done, and watch it."""
    with connected() as client:
        person = _person(yes)
        session = client.open_session(root=_root(client, folder, yes), hitl=hitl or USUAL, title=goal[:100])
        ended = _say(client, session, goal, _watcher(as_json), person)
        if not as_json:
            _undo(session, ended)
        _finish(ended)


@app.command()
def chat(
    folder: In = None,
    hitl: Mode = None,
    session: Annotated[str | None, typer.Option(help="Go on with this session.")] = None,
) -> None:
    """Talk; an empty line or Ctrl-D ends it. Questions that are still open are asked first."""
    with connected() as client:
        person, watcher = _person(False), Screen(console)
        if session is None:
            session = client.open_session(root=_root(client, folder, False), hitl=hitl or USUAL)
        else:
            _resume(client, session, watcher, person)
        console.print(Text(f"session {session}", style="dim"))
        while text := _line():
            _undo(session, _say(client, session, text, watcher, person, hitl=hitl))


@app.command()
def sessions(as_json: Json = False, limit: Annotated[int, typer.Option(min=1, max=500)] = 20) -> None:
    """List sessions, newest first."""
    with connected() as client:
        found = client.get("/v1/sessions", limit=limit)["sessions"]
    if as_json:
        print_json(found)
        return
    table = Table("session", "title", "folder", "state", "last", box=None, pad_edge=False)
    for one in found:
        state = "waits for you" if one["approvals"] else (one["turn_state"] or "")
        row = (one["session_id"], words.line(one["title"] or "", 40), words.line(one["root"] or "", 40), state)
        table.add_row(*(Text(cell) for cell in (*row, one["last_at"][:16].replace("T", " "))))
    console.print(table)


@app.command()
def events(
    session: Which = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as they happen.")] = False,
    after: Annotated[int, typer.Option(min=0, help="Begin behind this number.")] = 0,
    as_json: Json = False,
) -> None:
    """Print a session's events, each with its number."""
    with connected() as client:
        session = _session(client, session)
        for event in client.events(session, after=after) if follow else _all(client, session, after):
            if as_json:
                print_json(event.json(), indent=None)
            else:
                data = words.line(json.dumps(event.data, ensure_ascii=False), 160)
                console.print(Text(f"{event.seq:5}  {event.time[11:19]}  {event.type:24} {data}"))


@app.command()
def diff(session: Which = None, as_json: Json = False) -> None:
    """Show what is staged: what a commit would change."""
    with connected() as client:
        found = client.get(f"/v1/sessions/{_session(client, session)}/diff")
    if as_json:
        print_json(found)
    else:
        diff_of(console, found, most=len(found["entries"]))


@app.command()
def commit(session: Which = None, exclude: Exclude = None, yes: AsYes = False, as_json: Json = False) -> None:
    """Carry the staged changes out."""
    with connected() as client:
        session = _session(client, session)
        if not yes and not as_json and interactive():
            diff_of(console, client.get(f"/v1/sessions/{session}/diff"))
            typer.confirm("Commit this?", abort=True)
        done = client.commit(session, exclude=exclude or ())
        ended = follow(
            client, session, done["turn_id"], after=done["after"], watcher=_watcher(as_json), person=_person(yes)
        )
        if not as_json:
            _undo(session, ended)
        _finish(ended)


@app.command()
def rollback(
    session: Which = None,
    to: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="Before that step of the open turn.")] = None,
    commit_id: Annotated[str | None, typer.Option("--commit", metavar="ID", help="That commit, not the last.")] = None,
    exclude: Exclude = None,
    as_json: Json = False,
) -> None:
    """Undo the last commit, byte for byte; what someone else changed since is listed, never overwritten."""
    if to and commit_id:
        raise Usage("a rollback goes to a snapshot or undoes a commit, not both")
    target = {"snapshot": to} if to else {"commit_id": commit_id} if commit_id else {}
    with connected() as client:
        session = _session(client, session)
        done = client.rollback(session, target=target, exclude=exclude or ())
        watcher = _watcher(as_json)
        _finish(follow(client, session, done["turn_id"], after=done["after"], watcher=watcher, person=_person(False)))


@app.command()
def config(as_json: Json = False) -> None:
    """Show the effective settings, and where each came from."""
    from services import settings

    told = list(settings.explain(settings.everything()))
    unknown = settings.unknown(os.environ)
    if as_json:
        rows = [{"name": row.name, "value": row.value, "source": row.source} for row in told]
        print_json({"settings": rows, "file": str(settings.config_file(os.environ)), "unknown": unknown})
        return
    table = Table("setting", "value", "from", box=None, pad_edge=False)
    for row in told:
        style = "dim" if row.source == "default" else ""
        table.add_row(Text(row.name), Text(words.line(row.value)), Text(words.plain(row.source)), style=style)
    console.print(table)
    console.print(Text(f"\nfile: {settings.config_file(os.environ)}", style="dim"))
    for name in unknown:
        errors_console.print(Text(f"{name} is no setting", style="yellow"))


@audit.command()
def verify(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="An export.")], as_json: Json = False
) -> None:
    """Check an export on its own, without a platform: nothing changed, removed, doubled, reordered or cut."""
    from libs.audit import verify as check

    report = check(file)
    if as_json:
        print_json({name: getattr(report, name) for name in report.__slots__})
    elif report.ok:
        console.print(Text(f"✔ {words.count(report.count, 'record')} of {report.tenant}, whole", style="green"))
        console.print(Text(f"  signed by {', '.join(report.signed_by)}", style="dim"))
    else:
        place = f" at record {report.first_bad}" if report.first_bad is not None else ""
        console.print(Text(f"✘ not what was recorded{place}: {words.plain(report.problem)}", style="red"))
    if not report.ok:
        raise typer.Exit(NOT_DONE)


@audit.command()
def export(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file; standard output without it.")] = None,
) -> None:
    """Write the whole record, as JSON Lines that prove themselves."""
    with connected() as client:
        _saved(client.download("/v1/admin/audit/export"), out)
    if out is not None:
        errors_console.print(Text(f"{out}: check it with `suma audit verify {out}`"))


@app.command()
def fetch(
    asset: Annotated[str, typer.Argument(help="Its id, as the step that made it tells.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file; standard output without it.")] = None,
) -> None:
    """Fetch a result that is too large to be shown with its step."""
    with connected() as client:
        _saved(client.download(f"/v1/assets/{asset}"), out)


def _saved(content: Iterator[bytes], out: Path | None) -> None:
    if out is None:
        for chunk in content:
            sys.stdout.buffer.write(chunk)
        return
    with _new(out) as file:
        for chunk in content:
            file.write(chunk)


@contextmanager
def _new(path: Path) -> Iterator[Any]:
    try:
        with path.open("xb") as file:
            yield file
    except FileExistsError:
        raise Usage(f"{path} is there already") from None
    except OSError as error:
        raise Usage(f"{path} cannot be written: {error.strerror}") from None


def _root(client: Client, folder: Path | None, yes: bool) -> Path | None:
    """The folder, once it is allowed: one outside the roots is asked about, and recorded. Where none is named, it is
    the one where the person stands, if that is allowed already."""
    from services.cli import roots

    if folder is None:
        here = Path.cwd()
        return here if roots.covers(roots.allowed(client.address), here) else None
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise Usage(f"{folder} is not a folder")
    if not roots.covers(roots.allowed(client.address), root):
        if not yes and not interactive():
            raise NobodyToAsk(f"{root} is not an allowed folder: allow it with --yes, or in SUMA_ROOTS")
        question = f"Suma has not worked in {words.plain(root)} before. Allow it, now and later?"
        if not yes and not typer.confirm(question):
            raise Usage("nothing was done")
        roots.allow(client.address, root)
    return root


def _say(
    client: Client, session: str, text: str, watcher: Watcher, person: Person, *, hitl: str | None = None
) -> Ended:
    said = client.say(session, text, hitl=hitl)
    turn = said["turn_id"]
    try:
        return follow(client, session, turn, after=said["after"], watcher=watcher, person=person)
    except (KeyboardInterrupt, typer.Abort):
        watcher.pause()
        return _interrupted(client, session, turn)
    finally:
        watcher.pause()


def _interrupted(client: Client, session: str, turn: str) -> Ended:
    """The turn belongs to the platform: leaving does not stop it, so the person says which is meant."""
    if interactive() and typer.confirm("\nStop this turn? (No leaves it running)", default=True):
        client.cancel(turn)
        console.print(Text("stopped", style="yellow"))
    else:
        errors_console.print(Text(f"It goes on without you: `suma chat --session {session}` comes back to it"))
    raise typer.Exit(errors.INTERRUPTED)


def _resume(client: Client, session: str, watcher: Watcher, person: Person) -> None:
    shown = client.get(f"/v1/sessions/{session}")
    if shown["turn_id"] is not None:
        follow(client, session, shown["turn_id"], after=0, watcher=watcher, person=person)


def _line() -> str:
    try:
        return str(typer.prompt("\n›", prompt_suffix=" ", default="", show_default=False)).strip()
    except typer.Abort:
        return ""


def _undo(session: str, ended: Ended) -> None:
    if ended.commits:
        console.print(Text(f"\nTo undo this: suma rollback {session}", style="dim"))


def _finish(ended: Ended) -> None:
    if not ended.completed:
        raise typer.Exit(NOT_DONE)


def _session(client: Client, session: str | None) -> str:
    found = session or client.newest_session()
    if found is None:
        raise Usage("there is no session yet: begin one with `suma run`")
    return found


def _all(client: Client, session: str, after: int) -> Iterator[Any]:
    while page := client.page(session, after=after):
        yield from page
        after = page[-1].seq


def _watcher(as_json: bool) -> Watcher:
    return JsonLines() if as_json else Screen(console)


def _person(yes: bool) -> Person:
    if yes:
        return Yes()
    return Terminal(Screen(console)) if interactive() else Nobody()
