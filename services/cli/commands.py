"""The commands: parse arguments, call the API, print for a person or as JSON.

A module that only one command needs is imported inside it, so that the others and `--help` start fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Column, Table
from rich.text import Text
from typer.core import TyperGroup
from typing_extensions import override

from libs.errors import SumaError
from services.cli import (
    completion,
    effects,
    errors,
    history,
    identity,
    knowledge,
    lifecycle,
    make,
    memory,
    models,
    phrases,
    remote_tools,
    roots,
    skills,
    timeline,
    undo,
    words,
)
from services.cli.budgets import budgets
from services.cli.doctor import doctor
from services.cli.errors import NOT_DONE, AnswerRequired, Usage
from services.cli.evals.command import evaluate
from services.cli.operators import admin, dlq
from services.cli.prompts import (
    AutoApprove,
    DryRun,
    InputClosed,
    NonInteractive,
    Permission,
    Person,
    PreviewComplete,
    Terminal,
)
from services.cli.saving import save
from services.cli.show import JsonLines, Screen, Watcher, diff_of, taken_back
from services.cli.terminal import Json, connected, console, errors_console, interactive, print_json
from services.cli.turns import MORE_BELOW, UNDO_WANTED, TurnResult, follow, outcome

if TYPE_CHECKING:
    from services.cli.client import Client

FIRST = (
    "run",
    "chat",
    "sessions",
    "diff",
    "commit",
    "rollback",
    "redo",
    "log",
    "purge",
    "up",
    "status",
    "stop",
    "doctor",
)
LAST = ("eval", "budgets")


class Ordered(TyperGroup):
    """A command group that lists common commands first and rare ones last."""

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        middle = [name for name in names if name not in (*FIRST, *LAST)]
        return [name for name in (*FIRST, *middle, *LAST) if name in names]


app = typer.Typer(
    name="suma",
    cls=Ordered,
    help="Organize your files in plain language; preview and undo every change.",
    epilog="Connects to the platform of this machine's data directory; SUMA_URL and SUMA_API_KEY select another.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
audit = typer.Typer(help="The signed record of decisions and actions.", no_args_is_help=True)

AsYes = Annotated[bool, typer.Option("--yes", "-y", help="Answer every approval with yes.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the plan and the difference, then stop: nothing is changed or kept.")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also show skills, reviews, rules and times.")]
Ask = Annotated[
    Literal["once", "changes", "steps"] | None,
    typer.Option(
        "--ask",
        help="Ask once, about the whole diff at the end; also before each step that changes something; or before every"
        " step.",
        show_default="once",
    ),
]
Hitl = Annotated[
    Literal["all", "key", "bypass"] | None, typer.Option(help="The same, by the API's names.", hidden=True)
]
In = Annotated[
    Path | None,
    typer.Option(
        "--in",
        metavar="DIR",
        help="The folder to work in (default: current directory, if it is allowed).",
        file_okay=False,
    ),
]
Attach = Annotated[
    list[Path] | None,
    typer.Option("--attach", metavar="FILE", help="A file that the task may use (repeatable).", dir_okay=False),
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="The agent that works on it.", autocompletion=completion.agents),
]
Which = Annotated[
    str | None,
    typer.Argument(metavar="[SESSION]", help="Session ID (default: newest).", autocompletion=completion.sessions),
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="PATH", help="Leave this file unchanged (repeatable).")
]
SESSIONS_MOST = 499
"""One fewer than the API lists at once, so that there is room to see whether there are more."""
MODES = {"once": "bypass", "changes": "key", "steps": "all"}
"""The API's names of the modes. In `once` mode only staged steps run without a question (docs/decisions/0039)."""


def run() -> None:
    try:
        app(prog_name="suma")
    except SumaError as error:
        errors_console.print(Text(f"suma: {words.plain(error)}"))
        sys.exit(errors.exit_code(error))
    except KeyboardInterrupt:
        sys.exit(errors.INTERRUPTED)
    except InputClosed:
        sys.exit(errors.WAITING)
    except BrokenPipeError:
        # The reader has closed the pipe (`suma events | head`); the interpreter must not flush to it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.command(name="run")
def run_(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What to do, in plain words.")],
    folder: In = None,
    ask: Ask = None,
    hitl: Hitl = None,
    attach: Attach = None,
    agent: Agent = None,
    yes: AsYes = False,
    dry_run: DryRunOption = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Run a task and follow its progress."""
    if not goal.strip():
        raise Usage("say what to do")
    with connected() as client:
        mode = MODES["once"] if dry_run else _mode(ask, hitl) or MODES["once"]
        screen = Screen(console, verbose=verbose)
        root, _ = _working_folder(client, folder, yes, screen)
        attachments = _attachments(client, attach)
        session = client.open_session(root=root, hitl=mode, title=goal[:100])
        view = _view(client, session, screen, as_json=as_json, yes=yes, dry_run=dry_run, agent=agent)
        try:
            ended = say(client, view, goal, attachments=attachments)
        except InputClosed:
            view.leave_open()
            raise typer.Exit(errors.WAITING) from None
        if ended is None:
            raise typer.Exit(errors.INTERRUPTED)
        view.undo(ended)
        if ended.reason == UNDO_WANTED:
            ended = _offer_undo(client, view) or ended
        _finish(ended, view.person)


@app.command()
def chat(
    folder: In = None,
    ask: Ask = None,
    hitl: Hitl = None,
    session: Annotated[
        str | None, typer.Option(help="Continue this session.", autocompletion=completion.sessions)
    ] = None,
    agent: Agent = None,
    verbose: Verbose = False,
) -> None:
    """Chat with Suma; /help explains, Ctrl-D ends. Pending questions come first."""
    with connected() as client:
        screen = Screen(console, verbose=verbose)
        root, wish = _working_folder(client, folder, False, screen) if session is None else (None, "")
        resumed = session is not None
        mode = _mode(ask, hitl)
        session = session or client.open_session(root=root, hitl=mode or MODES["once"])
        view = _view(client, session, screen, agent=agent)
        view.welcome(root)
        try:
            if resumed:
                _resume(client, view)
            _talk(client, view, wish, hitl=mode)
            while (text := _line()) is not None and not phrases.LEAVE.fullmatch(text):
                if not _chat_command(view.screen, text):
                    _talk(client, view, text, hitl=mode)
        except InputClosed:
            view.leave_open()
        else:
            view.screen.tell(phrases.GO_ON, "dim", session=session)


@make.app.command(name=make.FIRST)
def make_new(
    what: Annotated[str, typer.Argument(metavar="WORDS|PLAN.json", help="The request, or a file in the Task DSL.")],
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="The folder to work in (default: this one)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="A new file for the result (default: named by its title)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Answer every approval with yes.")] = False,
    as_json: Json = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show reviews, rules and times.")] = False,
) -> None:
    """Make something, follow its steps and save the result. The word `new` may be left out."""
    body = make.request_of(what)
    if out is not None and out.exists():
        raise Usage(f"{out} exists already; name a new file")
    with connected() as client:
        screen = Screen(console, verbose=verbose)
        # Most jobs need a folder. One that is not named is allowed by an answer, never by `--yes`.
        here = Path() if client.address.data is not None else None
        root, _ = _working_folder(client, folder or here, yes and folder is not None, screen)
        begun = client.post(make.JOBS, {**body, "hitl": MODES["once"], **({"root": str(root)} if root else {})})
        view = _view(client, begun["session_id"], screen, yes=yes)
        if as_json:
            view = SessionView(view.session, Watcher(), screen, view.person)
        try:
            ended = _followed(client, view, begun["job_id"], after=begun["after"])
        except InputClosed:
            view.leave_open()
            raise typer.Exit(errors.WAITING) from None
        if ended is None:
            raise typer.Exit(errors.INTERRUPTED)
        job = client.get(f"{make.JOBS}/{begun['job_id']}")
        saved = make.save_result(client, job, out)
        if as_json:
            print_json({**job, "saved": [str(path) for path in saved]})
        else:
            make.report(job, saved)
        _finish(ended, view.person)


@app.command()
def sessions(as_json: Json = False, limit: Annotated[int, typer.Option(min=1, max=SESSIONS_MOST)] = 20) -> None:
    """List sessions, newest first."""
    with connected() as client:
        found = client.get("/v1/sessions", limit=limit + 1)["sessions"]
    found, older = found[:limit], found[limit:]
    if as_json:
        print_json(found)
        return
    columns = ("session", "title", "folder", "state", "last")
    short = ("title", "folder") if console.is_terminal else ()
    table = Table(*(Column(name, no_wrap=name not in short) for name in columns), box=None, pad_edge=False)
    for one in found:
        rows = (words.line(one[name] or "", 40 if short else UNCUT) for name in ("title", "root"))
        row = (one["session_id"], *rows, _state(one), one["last_at"][:16].replace("T", " "))
        table.add_row(*map(Text, row))
    console.print(table)
    if older:
        errors_console.print(Text(phrases.MORE_SESSIONS.format(n=min(SESSIONS_MOST, 5 * limit)), style="dim"))


def _state(session: Mapping[str, Any]) -> str:
    """Describe the session's state in plain words."""
    state = session["turn_state"]
    if session["approvals"] or (state or "").startswith("awaiting"):
        return "waits for you"
    return str(state or "idle").replace("_", " ")


@app.command()
def events(
    session: Which = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow new events.")] = False,
    after: Annotated[int, typer.Option(min=0, help="Start after this event number.")] = 0,
    as_json: Json = False,
) -> None:
    """Show what happened in a session, with the number of each event; --json prints the events whole."""
    with connected() as client:
        session = _session(client, session)
        for event in client.events(session, after=after) if follow else client.past_events(session, after=after):
            if as_json:
                print_json(event.json(), indent=None)
            else:
                console.print(Text(timeline.line(event)))


@app.command()
def diff(session: Which = None, as_json: Json = False) -> None:
    """Show the staged changes: what a commit would change."""
    with connected() as client:
        found = client.staged(_session(client, session))
    if as_json:
        print_json(found)
        return
    diff_of(Screen(console), found, most=found["count"])
    if not found["count"]:
        console.print(Text("Nothing is staged. `suma log` shows what was committed.", style="dim"))


@app.command()
def commit(
    session: Which = None, exclude: Exclude = None, yes: AsYes = False, as_json: Json = False, verbose: Verbose = False
) -> None:
    """Commit the staged changes."""
    with connected() as client:
        session = _session(client, session)
        view = _view(client, session, Screen(console, verbose=verbose), as_json=as_json, yes=yes)
        if not yes and not as_json and interactive():
            diff_of(view.screen, client.get(f"/v1/sessions/{session}/diff"))
            if not Terminal(view.screen).agrees(view.screen.words(phrases.COMMIT), enter=False):
                raise Usage("nothing was done")
        _finish(_turned(client, view, client.commit(session, exclude=exclude or ())))


@app.command()
def rollback(
    session: Which = None,
    to: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="To before that step of the open turn.")] = None,
    commit_id: Annotated[
        str | None, typer.Option("--commit", metavar="ID", help="That commit instead of the last.")
    ] = None,
    exclude: Exclude = None,
    yes: AsYes = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Undo the last commit, byte for byte; files modified since are listed, never overwritten."""
    if to and commit_id:
        raise Usage("use --to or --commit, not both")
    target = {"snapshot": to} if to else {"commit_id": commit_id} if commit_id else {}
    _turn_back(session, target, exclude, yes=yes, as_json=as_json, verbose=verbose)


@app.command()
def redo(
    session: Which = None,
    commit_id: Annotated[
        str | None, typer.Option("--commit", metavar="ID", help="That commit instead of the last undone.")
    ] = None,
    exclude: Exclude = None,
    yes: AsYes = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the changes again that the last rollback undid; files modified since are listed, never overwritten."""
    target = {"redo": True} | ({"commit_id": commit_id} if commit_id else {})
    _turn_back(session, target, exclude, yes=yes, as_json=as_json, verbose=verbose)


def _turn_back(
    session: str | None, target: Mapping[str, Any], exclude: Exclude, *, yes: bool, as_json: bool, verbose: bool
) -> None:
    """Roll a session back, or redo its rollback."""
    with connected() as client:
        screen, redo = Screen(console, verbose=verbose), "redo" in target
        of = _session(client, session) if session else _last_changed_session(client, screen, redo, yes=yes)
        view = _view(client, of, screen, as_json=as_json, yes=yes)
        _finish(_turned(client, view, client.rollback(of, target=target, exclude=exclude or ())))


def _turned(client: Client, view: SessionView, began: Mapping[str, Any]) -> TurnResult:
    """Follow the turn of a command to its end."""
    session, turn = began["session_id"], began["turn_id"]
    ended = follow(client, session, turn, after=began["after"], watcher=view.watcher, person=view.person)
    view.undo(ended)
    return ended


@app.command()
def config(as_json: Json = False) -> None:
    """Show the effective settings and their sources."""
    from services import settings

    listed = list(settings.explain(settings.everything()))
    unknown = settings.unknown(os.environ)
    if as_json:
        rows = [{"name": row.name, "value": row.value, "source": row.source} for row in listed]
        print_json({"settings": rows, "file": str(settings.config_file(os.environ)), "unknown": unknown})
        return
    table = Table("setting", "value", "from", box=None, pad_edge=False)
    for row in listed:
        style = "dim" if row.source == "default" else ""
        table.add_row(Text(row.name), Text(words.line(row.value)), Text(words.plain(row.source)), style=style)
    console.print(table)
    console.print(Text(f"\nfile: {settings.config_file(os.environ)}", style="dim"))
    for name in unknown:
        errors_console.print(Text(f"{name} is not a setting", style="yellow"))


@audit.command()
def verify(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="An export.")],
    key: Annotated[
        list[str] | None,
        typer.Option(help="Fingerprint or file of a key that may have signed; else this machine's keys."),
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Checkpoints kept outside; without it, this machine's."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify an export offline: no record was changed, removed, reordered or cut, and a known key signed."""
    from services.cli import proof

    if not proof.checked(file, key or (), checkpoints, as_json=as_json):
        raise typer.Exit(NOT_DONE)


@audit.command()
def export(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file (default: standard output).")] = None,
) -> None:
    """Export the whole record as self-verifying JSON Lines."""
    with connected() as client:
        save(client.download("/v1/admin/audit/export"), out)
    if out is not None:
        errors_console.print(Text(f"{out}: verify it with `suma audit verify {out}`"))


@app.command()
def fetch(
    asset: Annotated[str, typer.Argument(help="Its ID, as its step shows it.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file (default: standard output).")] = None,
) -> None:
    """Fetch the full output of a step."""
    with connected() as client:
        save(client.download(f"/v1/assets/{asset}"), out)


@app.command()
def mcp() -> None:
    """Serve MCP on standard input and output, for hosts such as Claude Desktop; needs a running platform."""
    from services.cli.mcp import serve

    with connected() as client:
        client.get("/v1/me")
        serve(client.address)


@app.command()
def upload(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Files to send.", dir_okay=False)],
    as_json: Json = False,
) -> None:
    """Upload files, which messages can then name."""
    from services.cli.uploads import upload as send_file

    with connected() as client:
        for path in files:
            stored = send_file(client, path)
            if as_json:
                print_json(stored, indent=None)
            else:
                typer.echo(f"{stored['upload_id']}  {stored['filename']}  {stored['media_type']}")


def _working_folder(client: Client, folder: Path | None, yes: bool, screen: Screen) -> tuple[Path | None, str]:
    """Return the folder once it is allowed, and any other request typed at the permission question.

    Ask about a folder outside the roots and record the permission. Without `--in`, use the current directory if it is
    allowed, else no folder.
    """
    tenant = client.get("/status")["tenant"]
    if folder is None:
        here = Path.cwd()
        return (here if roots.covers(client.address, tenant, here) else None), ""
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise Usage(f"{folder} is not a folder")
    if not roots.covers(client.address, tenant, root):
        # Before the question: nobody is asked about a folder that can never be allowed.
        roots.check(client.address, root)
        if not yes and not interactive():
            raise AnswerRequired(f"{root} is not an allowed folder yet: allow it with `suma roots add`")
        question = screen.words(phrases.ALLOW, folder=words.plain(root))
        permission = Permission(True) if yes else Terminal(screen).allows(question)
        if not permission.granted:
            raise Usage("nothing was done")
        roots.allow(client.address, root, tenant)
        return root, permission.next_request
    return root, ""


def _talk(client: Client, view: SessionView, text: str, *, hitl: str | None) -> None:
    """Handle one line of the chat. A printed command (`suma rollback …`, `suma redo …`) is run, not planned."""
    if (command := text.split())[:2] in (["suma", "rollback"], ["suma", "redo"]):
        session = _session(client, command[2]) if len(command) > 2 else view.session
        _undo(client, view, session, {"redo": command[1] == "redo"})
    elif text and (ended := say(client, view, text, hitl=hitl)) is not None:
        view.undo(ended, phrases.UNDO_BY_WORDS)
        if ended.reason == UNDO_WANTED:
            _offer_undo(client, view)


def _chat_command(screen: Screen, text: str) -> bool:
    """Run a chat command such as `/help`; return False for any other text."""
    if phrases.ASK_HELP.fullmatch(text):
        screen.say(phrases.HELP)
    elif phrases.COMMAND.fullmatch(text):
        screen.tell(phrases.UNKNOWN_COMMAND, "yellow", text=text)
    else:
        return False
    return True


def _offer_undo(client: Client, view: SessionView) -> TurnResult | None:
    """Show the folder's last change, undo it if the person agrees, and return the result."""
    if (last := undo.last_commit(client, view.session)) is None:
        view.screen.tell(phrases.NOTHING_TO_UNDO)
        return None
    view.screen.say("")
    diff_of(view.screen, taken_back(last.diff))
    if _agrees_to_undo(view, last):
        return _undo(client, view, last.session, {"commit_id": last.commit_id})
    return None


def _agrees_to_undo(view: SessionView, last: undo.LastCommit) -> bool:
    match view.person:
        case Terminal() as person:
            return person.agrees(view.screen.words(phrases.UNDO_LAST), enter=False)
        case AutoApprove():
            return True
        case _:
            command = f"suma rollback {last.session} --commit {last.commit_id}"
            raise AnswerRequired(f"waiting for your answer: undo the change shown? (`{command}` undoes it)")


def _undo(client: Client, view: SessionView, session: str, target: Mapping[str, Any]) -> TurnResult | None:
    try:
        return _turned(client, view, client.rollback(session, target=target))
    except errors.Refused as error:
        view.screen.say(words.plain(error), "yellow")
        return None


@dataclass(frozen=True)
class SessionView:
    """One session on the terminal: its display, and the source of answers."""

    session: str
    watcher: Watcher
    screen: Screen
    person: Person
    agent: str | None = None

    def welcome(self, root: Path | None) -> None:
        where = self.screen.words(phrases.WHERE, folder=words.plain(root)) if root is not None else ""
        self.screen.tell(phrases.WELCOME, "dim", where=where)
        if self.screen.verbose:
            self.screen.say(f"session {self.session}", "dim")

    def next_request(self, ended: TurnResult) -> str | None:
        """Return the person's next request after a turn: a correction, or consent to include subfolders."""
        if ended.reason != MORE_BELOW or not isinstance(self.person, Terminal):
            return ended.instead
        try:
            return self.person.wider(ended.answer)
        except (KeyboardInterrupt, typer.Abort):
            return None

    def leave_open(self) -> None:
        """Report that the question stays open after the input ended."""
        self.watcher.pause()
        self.screen.say("")
        self.screen.tell(phrases.STAYS_OPEN, "dim", session=self.session)

    def undo(self, ended: TurnResult, how: str = phrases.UNDO) -> None:
        if (ended.commits or ended.undone) and self.watcher is self.screen:
            self.screen.say("")
            self.screen.tell(how if ended.commits else phrases.REDO, "dim", session=self.session)


def _view(
    client: Client,
    session: str,
    screen: Screen,
    *,
    as_json: bool = False,
    yes: bool = False,
    dry_run: bool = False,
    agent: str | None = None,
) -> SessionView:
    """Return the view of a session, with the person who answers its questions."""
    person: Person = DryRun() if dry_run else AutoApprove(session) if yes else NonInteractive(session)
    if interactive() and not (dry_run or yes):
        person = Terminal(screen, client)
    return SessionView(session, JsonLines() if as_json else screen, screen, person, agent)


def _attachments(client: Client, paths: Sequence[Path] | None) -> Sequence[str]:
    if not paths:
        return ()
    from services.cli.uploads import upload_all

    return upload_all(client, paths)


def say(
    client: Client, view: SessionView, text: str, *, hitl: str | None = None, attachments: Sequence[str] = ()
) -> TurnResult | None:
    """Run a request and its corrections. Return the last result, or None if the person left or stopped it."""
    ended = _turn(client, view, text, hitl=hitl, attachments=attachments)
    while ended is not None and (wanted := view.next_request(ended)) is not None:
        ended = _turn(client, view, wanted, hitl=hitl)
    return ended


def _turn(
    client: Client, view: SessionView, text: str, *, hitl: str | None, attachments: Sequence[str] = ()
) -> TurnResult | None:
    sent = client.say(view.session, text, hitl=hitl, agent=view.agent, attachments=attachments)
    return _followed(client, view, sent["turn_id"], after=sent["after"])


def _followed(client: Client, view: SessionView, turn: str, *, after: int) -> TurnResult | None:
    """Show a turn until it ends. Return its result, or None if the person left or stopped it."""
    try:
        return follow(client, view.session, turn, after=after, watcher=view.watcher, person=view.person)
    except PreviewComplete as shown:
        return _end_preview(client, view, turn, after=after, question=shown.question)
    except (KeyboardInterrupt, typer.Abort):
        view.watcher.pause()
        return _interrupt(client, view, turn, after=after)
    finally:
        view.watcher.pause()


def _end_preview(client: Client, view: SessionView, turn: str, *, after: int, question: str) -> TurnResult:
    """Cancel a dry run's turn: discard staged changes and leave no question open."""
    client.cancel(turn)
    ended = outcome(client, view.session, turn, after=after)
    if question:
        raise AnswerRequired(f"this needs an answer before there is anything to show: {words.plain(question)}")
    if view.watcher is view.screen:
        view.screen.say("\nDry run: nothing was changed.", "dim")
    ended.previewed = True
    return ended


def _interrupt(client: Client, view: SessionView, turn: str, *, after: int) -> TurnResult | None:
    """Ask whether Ctrl-C should stop the turn or leave it running; a second Ctrl-C leaves it running."""
    screen = view.screen
    try:
        stop = interactive() and Terminal(screen).agrees(f"\n{screen.words(phrases.STOP)}", enter=True)
    except (KeyboardInterrupt, typer.Abort):
        stop = False
    if not stop:
        errors_console.print(Text(f"\n{screen.words(phrases.WITHOUT_YOU, session=view.session)}"))
        raise typer.Exit(errors.INTERRUPTED)
    try:
        client.cancel(turn)
    except errors.Refused as refused:
        if refused.code != TURN_ENDED:
            raise
    ended = outcome(client, view.session, turn, after=after)
    if ended.state != "completed" and not ended.commits:
        screen.tell(phrases.STOPPED, "yellow")
        return None
    screen.tell(phrases.TOO_LATE, "yellow")
    screen.say(
        words.plain(ended.answer) or screen.words(phrases.CHANGED["committed"], n=screen.changes(ended.operations))
    )
    return ended


TURN_ENDED = "TURN_ENDED"
"""The code of a cancel that comes after the turn's end."""


def _mode(ask: str | None, hitl: str | None) -> str | None:
    return MODES[ask] if ask is not None else hitl


def _resume(client: Client, view: SessionView) -> None:
    shown = client.get(f"/v1/sessions/{view.session}")
    if shown["turn_id"] is not None:
        ended = follow(client, view.session, shown["turn_id"], after=0, watcher=view.watcher, person=view.person)
        if (wanted := view.next_request(ended)) is not None:
            _talk(client, view, wanted, hitl=None)


def _line() -> str | None:
    """Read one line; None at the end of input."""
    try:
        return str(typer.prompt("\n›", prompt_suffix=" ", default="", show_default=False)).strip()
    except typer.Abort:
        console.print()
        return None


def _finish(ended: TurnResult, person: Person | None = None) -> None:
    """Exit with the code that fits the turn's result."""
    if ended.reason == MORE_BELOW and not isinstance(person, Terminal):
        raise typer.Exit(errors.WAITING)
    if not ended.done:
        raise typer.Exit(NOT_DONE)


def _session(client: Client, session: str | None) -> str:
    """Return the newest session, or the one whose ID begins with the given text."""
    if session is not None and len(session) < ID_LENGTH:
        listed = client.get("/v1/sessions", limit=500)["sessions"]
        found = [str(one["session_id"]) for one in listed if one["session_id"].startswith(session)]
        if len(found) != 1:
            raise Usage(f"{len(found) or 'no'} session IDs begin with {session}")
        return found[0]
    if (named := session or client.newest_session()) is None:
        raise Usage("no session yet: start one with `suma run`")
    return named


ID_LENGTH = 36
UNCUT = 10_000
"""The cell width in a pipe, where nothing is truncated."""
SESSIONS_SEARCHED = 30
"""How many sessions to search for the last change."""


def _last_changed_session(client: Client, screen: Screen, redo: bool, *, yes: bool) -> str:
    """Return the newest session with something to undo or redo; unless `yes`, ask first if it is not the newest one."""
    found = client.get("/v1/sessions", limit=SESSIONS_SEARCHED)["sessions"]
    last, command, does = (undo.last_undone, "redo", "redoes") if redo else (undo.last_change, "rollback", "undoes")
    for one in found:
        if one["turn_id"] is None and last(client, one["session_id"]) is None:
            continue
        session, title, folder = (words.line(one[name] or "?", 200) for name in ("session_id", "title", "root"))
        question = screen.words(phrases.REDO_OLDER if redo else phrases.UNDO_OLDER, title=title, folder=folder)
        if yes or one is found[0] or (interactive() and Terminal(screen).agrees(question, enter=False)):
            return session
        raise Usage(
            f"nothing was done; `suma {command} {session}` {does} “{words.line(one['title'] or '?')}” in {folder}"
        )
    return _session(client, None)


for command in (lifecycle.up, lifecycle.status, lifecycle.stop, lifecycle.demo):
    app.command()(command)
app.add_typer(roots.app, name="roots")
app.add_typer(skills.app, name="skills")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(remote_tools.app, name="tools")
app.add_typer(models.app, name="models")
app.add_typer(effects.app, name="effects")
app.add_typer(memory.app, name="memory")
app.add_typer(make.app, name="make")
app.add_typer(audit, name="audit")
app.add_typer(dlq, name="dlq")
app.add_typer(admin, name="admin")
app.add_typer(identity.keys, name="keys")
app.add_typer(identity.tenants, name="tenants")
app.command(name="open")(identity.open_)
app.command(name="eval")(evaluate)
app.command()(budgets)
app.command()(doctor)
app.command()(history.log)
app.command()(history.purge)


def _version(asked: bool) -> None:
    if asked:
        from libs import __version__

        console.print(f"suma {__version__}")
        raise typer.Exit


@app.callback()
def _suma(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Provide the app's help and the `--version` option."""
