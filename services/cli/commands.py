"""The commands: arguments in, calls of the API, output for a person or as JSON.

What only one command needs is imported in it, so that the others, and `--help`, answer at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Column, Table
from rich.text import Text

from libs.errors import SumaError
from services.cli import effects, errors, models, phrases, skills, words
from services.cli.asking import Allowed, Gone, Nobody, Person, Terminal, Yes
from services.cli.budgets import budgets
from services.cli.errors import NOT_DONE, NobodyToAsk, Usage
from services.cli.evaluating.command import evaluate
from services.cli.following import MORE_BELOW, UNDO_WANTED, Ended, follow, outcome
from services.cli.operators import admin, dlq
from services.cli.show import JsonLines, Screen, Watcher, diff_of, taken_back
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
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the skills, the reviews, the rules and the times, too.")
]
Ask = Annotated[
    Literal["once", "changes", "steps"] | None,
    typer.Option(
        "--ask",
        help="Ask once, about the whole difference at the end; before each step that changes something, too; or before"
        " every step.",
        show_default="once",
    ),
]
Hitl = Annotated[
    Literal["all", "key", "bypass"] | None, typer.Option(help="The same, as the API calls it.", hidden=True)
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
MODES = {"once": "bypass", "changes": "key", "steps": "all"}
"""What the API calls them. Asked once, only what is staged runs unasked (docs/decisions/0039)."""


def run() -> None:
    try:
        app(prog_name="suma")
    except SumaError as error:
        errors_console.print(Text(f"suma: {words.plain(error)}"))
        sys.exit(errors.exit_code(error))
    except KeyboardInterrupt:
        sys.exit(errors.INTERRUPTED)
    except Gone:
        sys.exit(errors.WAITING)
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
    ask: Ask = None,
    hitl: Hitl = None,
    yes: AsYes = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Have something done, and watch it."""
    if not goal.strip():
        raise Usage("say what is to be done")
    with connected() as client:
        mode = _mode(ask, hitl) or MODES["once"]
        screen = Screen(console, verbose=verbose)
        screen.language = phrases.language_of(goal)
        root, _ = _root(client, folder, yes, screen)
        session = client.open_session(root=root, hitl=mode, title=goal[:100])
        room = _room(session, screen, as_json=as_json, yes=yes)
        try:
            ended = _say(client, room, goal)
        except Gone:
            room.stays_open()
            raise typer.Exit(errors.WAITING) from None
        if ended is None:
            raise typer.Exit(errors.INTERRUPTED)
        room.undo(ended)
        if ended.reason == UNDO_WANTED:
            _offer_undo(client, room)
        _finish(ended)


@app.command()
def chat(
    folder: In = None,
    ask: Ask = None,
    hitl: Hitl = None,
    session: Annotated[str | None, typer.Option(help="Go on with this session.")] = None,
    verbose: Verbose = False,
) -> None:
    """Talk; Ctrl-D ends it. Questions that are still open are asked first."""
    with connected() as client:
        screen = Screen(console, verbose=verbose)
        if not phrases.told_here():
            _as_before(client, screen)
        root, wish = _root(client, folder, False, screen) if session is None else (None, "")
        goes_on = session is not None
        mode = _mode(ask, hitl)
        session = session or client.open_session(root=root, hitl=mode or MODES["once"])
        room = _room(session, screen)
        room.welcome(root)
        try:
            if goes_on:
                _resume(client, room)
            _talk(client, room, wish, hitl=mode)
            while (text := _line()) is not None:
                _talk(client, room, text, hitl=mode)
        except Gone:
            room.stays_open()
        else:
            room.screen.tell(phrases.GO_ON, "dim", session=session)


@app.command()
def sessions(as_json: Json = False, limit: Annotated[int, typer.Option(min=1, max=500)] = 20) -> None:
    """List sessions, newest first."""
    with connected() as client:
        found = client.get("/v1/sessions", limit=limit)["sessions"]
    if as_json:
        print_json(found)
        return
    table = Table(
        Column("session", no_wrap=True, min_width=ID_LETTERS),
        "title",
        "folder",
        "state",
        "last",
        box=None,
        pad_edge=False,
    )
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
        diff_of(Screen(console), found, most=len(found["entries"]))


@app.command()
def commit(
    session: Which = None, exclude: Exclude = None, yes: AsYes = False, as_json: Json = False, verbose: Verbose = False
) -> None:
    """Carry the staged changes out."""
    with connected() as client:
        session = _session(client, session)
        room = _room(session, Screen(console, verbose=verbose), as_json=as_json, yes=yes)
        if not yes and not as_json and interactive():
            diff_of(room.screen, client.get(f"/v1/sessions/{session}/diff"))
            if not Terminal(room.screen).agrees(room.screen.words(phrases.COMMIT), enter=False):
                raise Usage("nothing was done")
        done = client.commit(session, exclude=exclude or ())
        ended = follow(client, session, done["turn_id"], after=done["after"], watcher=room.watcher, person=room.person)
        room.undo(ended)
        _finish(ended)


@app.command()
def rollback(
    session: Which = None,
    to: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="Before that step of the open turn.")] = None,
    commit_id: Annotated[str | None, typer.Option("--commit", metavar="ID", help="That commit, not the last.")] = None,
    exclude: Exclude = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Undo the last commit, byte for byte; what someone else changed since is listed, never overwritten."""
    if to and commit_id:
        raise Usage("a rollback goes to a snapshot or undoes a commit, not both")
    target = {"snapshot": to} if to else {"commit_id": commit_id} if commit_id else {}
    with connected() as client:
        screen = Screen(console, verbose=verbose)
        session = _session(client, session) if session else _changed_last(client, screen)
        room = _room(session, screen, as_json=as_json)
        done = client.rollback(session, target=target, exclude=exclude or ())
        turn, after = done["turn_id"], done["after"]
        _finish(follow(client, session, turn, after=after, watcher=room.watcher, person=room.person))


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


def _root(client: Client, folder: Path | None, yes: bool, screen: Screen) -> tuple[Path | None, str]:
    """The folder, once it is allowed, and what was said at the question that is no answer to it: one outside the roots
    is asked about, and recorded. Where none is named, it is the one where the person stands, if that is allowed.
    """
    from services.cli import roots

    if folder is None:
        here = Path.cwd()
        return (here if roots.covers(roots.allowed(client.address), here) else None), ""
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise Usage(f"{folder} is not a folder")
    if not roots.covers(roots.allowed(client.address), root):
        if not yes and not interactive():
            raise NobodyToAsk(f"{root} is not an allowed folder: allow it with --yes, or in SUMA_ROOTS")
        question = screen.words(phrases.ALLOW, folder=words.plain(root))
        allowed = Allowed(True) if yes else Terminal(screen).allows(question)
        if not allowed.yes:
            raise Usage("nothing was done")
        roots.allow(client.address, root)
        return root, allowed.wish
    return root, ""


def _talk(client: Client, room: Room, text: str, *, hitl: str | None) -> None:
    """One line of a conversation. The command that undoes, as it was printed, is no request to plan for."""
    if (command := text.split())[:2] == ["suma", "rollback"]:
        _undone(client, room, _session(client, command[2]) if len(command) > 2 else room.session)
    elif text and (ended := _say(client, room, text, hitl=hitl)) is not None:
        room.undo(ended)
        if ended.reason == UNDO_WANTED:
            _offer_undo(client, room)


def _offer_undo(client: Client, room: Room) -> None:
    """Show the last change of this session's folder, and take it back if the person says so."""
    if not isinstance(room.person, Terminal):
        return
    root = client.get(f"/v1/sessions/{room.session}")["root"]
    for one in client.get("/v1/sessions", limit=LOOKED_BACK)["sessions"]:
        if one["root"] == root and (last := _last_change(client, one["session_id"])) is not None:
            room.screen.say("")
            diff_of(room.screen, taken_back(last["diff"]))
            if room.person.agrees(room.screen.words(phrases.UNDO_LAST), enter=False):
                _undone(client, room, one["session_id"])
            return
    room.screen.tell(phrases.NOTHING_TO_UNDO)


def _undone(client: Client, room: Room, session: str) -> None:
    try:
        done = client.rollback(session, target={})
    except errors.Refused as error:
        room.screen.say(words.plain(error), "yellow")
        return
    follow(client, session, done["turn_id"], after=done["after"], watcher=room.watcher, person=room.person)


@dataclass(frozen=True)
class Room:
    """One session as it is watched and answered here."""

    session: str
    watcher: Watcher
    screen: Screen
    person: Person

    def welcome(self, root: Path | None) -> None:
        where = self.screen.words(phrases.WHERE, folder=words.plain(root)) if root is not None else ""
        self.screen.tell(phrases.WELCOME, "dim", where=where)
        if self.screen.verbose:
            self.screen.say(f"session {self.session}", "dim")

    def wants_next(self, ended: Ended) -> str | None:
        """What the person says to how a turn has ended: what they want instead, or that subfolders are meant, too."""
        if ended.reason != MORE_BELOW or not isinstance(self.person, Terminal):
            return ended.instead
        try:
            return self.person.wider(ended.answer)
        except (KeyboardInterrupt, typer.Abort):
            return None

    def stays_open(self) -> None:
        """Who leaves at a question ends the talk; the question waits."""
        self.watcher.pause()
        self.screen.say("")
        self.screen.tell(phrases.STAYS_OPEN, "dim", session=self.session)

    def undo(self, ended: Ended) -> None:
        if ended.commits and self.watcher is self.screen:
            self.screen.say("")
            self.screen.tell(phrases.UNDO, "dim", session=self.session)


def _room(session: str, screen: Screen, *, as_json: bool = False, yes: bool = False) -> Room:
    person = Yes() if yes else Terminal(screen) if interactive() else Nobody(session)
    return Room(session, JsonLines() if as_json else screen, screen, person)


def _say(client: Client, room: Room, text: str, *, hitl: str | None = None) -> Ended | None:
    """How it ended, once the person wants nothing else instead; None where they have left it, or stopped it."""
    room.screen.hears(text)
    ended = _turn(client, room, text, hitl=hitl)
    while ended is not None and (wanted := room.wants_next(ended)) is not None:
        ended = _turn(client, room, wanted, hitl=hitl)
    return ended


def _turn(client: Client, room: Room, text: str, *, hitl: str | None) -> Ended | None:
    said = client.say(room.session, text, hitl=hitl)
    turn, after = said["turn_id"], said["after"]
    try:
        return follow(client, room.session, turn, after=after, watcher=room.watcher, person=room.person)
    except (KeyboardInterrupt, typer.Abort):
        room.watcher.pause()
        return _interrupted(client, room, turn, after=after)
    finally:
        room.watcher.pause()


def _interrupted(client: Client, room: Room, turn: str, *, after: int) -> Ended | None:
    """The turn belongs to the platform: leaving does not stop it, so the person says which is meant. Ctrl-C once more
    is a plain yes to leaving."""
    screen = room.screen
    try:
        stop = interactive() and Terminal(screen).agrees(f"\n{screen.words(phrases.STOP)}", enter=True)
    except (KeyboardInterrupt, typer.Abort):
        stop = False
    if not stop:
        errors_console.print(Text(f"\n{screen.words(phrases.WITHOUT_YOU, session=room.session)}"))
        raise typer.Exit(errors.INTERRUPTED)
    client.cancel(turn)
    ended = outcome(client, room.session, turn, after=after)
    screen.tell(phrases.TOO_LATE if ended.commits else phrases.STOPPED, "yellow")
    return ended if ended.commits else None


def _mode(ask: str | None, hitl: str | None) -> str | None:
    return MODES[ask] if ask is not None else hitl


def _resume(client: Client, room: Room) -> None:
    shown = client.get(f"/v1/sessions/{room.session}")
    if shown["turn_id"] is not None:
        ended = follow(client, room.session, shown["turn_id"], after=0, watcher=room.watcher, person=room.person)
        if (wanted := room.wants_next(ended)) is not None:
            _talk(client, room, wanted, hitl=None)


def _as_before(client: Client, screen: Screen) -> None:
    """A terminal that tells no language is spoken to in that of what was asked last."""
    titles = [str(one["title"]) for one in client.get("/v1/sessions", limit=SPOKEN_BACK)["sessions"] if one["title"]]
    if titles:
        screen.hears(*titles)


def _line() -> str | None:
    """What the person types; None at the end."""
    try:
        return str(typer.prompt("\n›", prompt_suffix=" ", default="", show_default=False)).strip()
    except typer.Abort:
        console.print()
        return None


def _finish(ended: Ended) -> None:
    if not ended.done:
        raise typer.Exit(NOT_DONE)


def _session(client: Client, session: str | None) -> str:
    """The newest, or the one whose id begins so."""
    if session is not None and len(session) < ID_LETTERS:
        listed = client.get("/v1/sessions", limit=500)["sessions"]
        found = [str(one["session_id"]) for one in listed if one["session_id"].startswith(session)]
        if len(found) != 1:
            raise Usage(f"{len(found) or 'no'} sessions begin with {session}")
        return found[0]
    if (named := session or client.newest_session()) is None:
        raise Usage("there is no session yet: begin one with `suma run`")
    return named


ID_LETTERS = 36
SPOKEN_BACK = 3
"""Sessions by which it is told which language a person speaks."""
LOOKED_BACK = 30
"""Sessions among which the last change is looked for."""


def _changed_last(client: Client, screen: Screen) -> str:
    """The newest session that has something to undo; one that is not the newest only if the person says so."""
    found = client.get("/v1/sessions", limit=LOOKED_BACK)["sessions"]
    for one in found:
        if one["turn_id"] is None and _last_change(client, one["session_id"]) is None:
            continue
        session, title, folder = (words.line(one[name] or "?", 200) for name in ("session_id", "title", "root"))
        question = screen.words(phrases.UNDO_OLDER, title=title, folder=folder)
        if one is found[0] or (interactive() and Terminal(screen).agrees(question, enter=False)):
            return session
        raise Usage(
            f"nothing was done; `suma rollback {session}` undoes “{words.line(one['title'] or '?')}” in {folder}"
        )
    return _session(client, None)


def _last_change(client: Client, session: str) -> Mapping[str, Any] | None:
    """What it has committed last and was not taken back."""
    commits: dict[str, Mapping[str, Any]] = {}
    for event in _all(client, session, 0):
        if event.type == "workspace.changed" and event.data["change"] == "committed" and event.data["operations"]:
            commits[event.data["commit_id"]] = event.data
        elif event.type == "workspace.changed" and event.data["change"] == "rolled_back":
            commits.pop(event.data["commit_id"], None)
    return next(reversed(commits.values()), None)


def _all(client: Client, session: str, after: int) -> Iterator[Any]:
    while page := client.page(session, after=after):
        yield from page
        after = page[-1].seq
