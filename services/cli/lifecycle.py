"""Commands that start, inspect and stop the platform of the data directory."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli import certificates, words
from services.cli.errors import NO_SERVER, NOT_DONE
from services.cli.terminal import Json, console, print_json

if TYPE_CHECKING:
    from libs.embedded.datadir import DataDirectory, Owner
    from services.settings import Process

LOOK_SECONDS = 5.0
STOP_SECONDS = 60.0
"""How long `suma stop` waits, since a stopping platform finishes requests that have begun."""
PAUSE_SECONDS = 0.05


def up() -> None:
    """Start the platform here; Ctrl-C or `suma stop` stops it."""
    from services.settings import ROOT

    # -P and our own path: a `services` folder in the current directory must not shadow ours.
    python = [sys.executable, "-P", "-m", "services"]
    os.execve(sys.executable, python, {**os.environ, "PYTHONPATH": str(ROOT)})  # noqa: S606 - our own module


def demo(
    random: Annotated[bool, typer.Option("--random", help="A random folder, not the worked example.")] = False,
    seed: Annotated[int | None, typer.Option(help="Repeat the random folder of this seed.")] = None,
) -> None:
    """Clean up a messy folder from plan to rollback, on a separate platform, and prove that nothing was lost."""
    from services.cli.demo.__main__ import play

    raise typer.Exit(play(random=random or seed is not None, seed=seed))


def status(as_json: Json = False) -> None:
    """Show whether the platform runs, where, and the state of each service; exit code 0 if it is ready."""
    report = found()
    if as_json:
        print_json(report)
    elif report["url"] is None:
        console.print(Text(f"Suma is not running on {report['data_dir']}: start it with `suma up`"))
    else:
        _show(report)
    if not report["ready"]:
        raise typer.Exit(NOT_DONE if report["running"] else NO_SERVER)


def stop() -> None:
    """Stop the platform of the data directory, and wait until it has ended."""
    directory = _directory()
    owner = directory.live_owner() if directory is not None else None
    if directory is None or owner is None:
        console.print("Suma is not running.")
        return
    with suppress(ProcessLookupError):
        os.kill(owner.pid, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    # Another platform may start here meanwhile; that one is not waited for.
    while (still := directory.live_owner()) is not None and still.pid == owner.pid:
        if time.monotonic() > until:
            console.print(Text(f"Process {owner.pid} still runs after {STOP_SECONDS:.0f} s.", style="red"))
            raise typer.Exit(NOT_DONE)
        time.sleep(PAUSE_SECONDS)
    console.print(Text(f"Suma has stopped (process {owner.pid}, {directory.path})."))


def _directory() -> DataDirectory | None:
    from libs.embedded import datadir
    from libs.errors import NotFound
    from services import settings

    try:
        return datadir.existing(settings.process().data_dir)
    except NotFound:
        return None


def found() -> dict[str, Any]:
    """Collect the fields that `suma status --json` prints."""
    from libs import __version__
    from services import settings

    process = settings.process()
    directory = _directory()
    owner = directory.live_owner() if directory is not None else None
    named = os.environ.get("SUMA_URL", "").rstrip("/") or None
    url = named or (owner.url if owner is not None else None)
    report, silence = _readiness(url) if url else (None, "")
    elsewhere = named is not None and not (owner is not None and _is_of(owner, named, report))
    owner = None if elsewhere else owner
    return {
        "running": report is not None or owner is not None,
        "ready": bool(report and report["ready"]),
        "url": url,
        "pid": report["pid"] if report else (owner.pid if owner else None),
        "version": report["version"] if report else None,
        "command_version": __version__,
        "data_dir": None if elsewhere else str(directory.path if directory is not None else process.data_dir),
        "model": None if elsewhere else _model(owner, process.model),
        "services": dict(_services(report, _urls(process, owner, url))),
        "checks": report["checks"] if report else {},
        "problems": report["problems"] if report else ([f"{url} {silence}"] if url else []),
    }


def _is_of(owner: Owner, url: str, report: Mapping[str, Any] | None) -> bool:
    """Return whether the address is of this data directory's platform, which may have several names."""
    return url == owner.url or (report is not None and report["pid"] == owner.pid)


def _urls(process: Process, owner: Owner | None, url: str | None) -> Mapping[str, str]:
    """Return the address of each service: the announced one of the owner at `url`, else the configured one."""
    from services import catalog

    announced = owner.urls if owner is not None and owner.url == url else {}
    return {name: announced.get(name) or process.url_of(name) for name in catalog.NAMES}


def _model(owner: Owner | None, configured: str) -> str:
    return owner.model if owner is not None and owner.model is not None else configured


def _readiness(url: str) -> tuple[Mapping[str, Any] | None, str]:
    """Return the body of `/readyz`, with status 200 or 503; or None, and why there is no valid answer."""
    import httpx

    verify = certificates.verification(url)
    try:
        report = httpx.get(f"{url.rstrip('/')}/readyz", timeout=LOOK_SECONDS, trust_env=False, verify=verify).json()
    except (httpx.HTTPError, ValueError) as error:
        untrusted = certificates.is_untrusted(error)
        return None, f"cannot be called: {certificates.UNTRUSTED}" if untrusted else "does not answer"
    # Another program may listen at this address.
    valid = isinstance(report, dict) and {"ready", "pid", "services", "checks"} <= report.keys()
    return (report, "") if valid else (None, "does not answer")


def _services(report: Mapping[str, Any] | None, urls: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the state of each service; ask a service in another process at its own address."""
    for name, url in urls.items():
        if report is None:
            yield name, "does not answer"
        elif name in report["services"]:
            yield name, _state(report)
        else:
            own, silence = _readiness(url)
            yield name, _state(own) if own is not None else f"{url} {silence} (SUMA_URLS names another address)"


def _state(report: Mapping[str, Any]) -> str:
    return f"ready (process {report['pid']})" if report["ready"] else f"not ready: {'; '.join(report['problems'])}"


def _show(found: Mapping[str, Any]) -> None:
    how = "is ready" if found["ready"] else "runs but is not ready" if found["running"] else "does not answer"
    console.print(Text(f"Suma {how} at {found['url']}", style="green" if found["ready"] else "yellow"))
    rows = Table(box=None, pad_edge=False, show_header=False)
    rows.add_row("process", str(found["pid"] or "?"))
    rows.add_row("version", found["version"] or "?")
    for name, value in (("data", found["data_dir"]), ("model", found["model"])):
        rows.add_row(name, Text(words.plain(value or "?")))
    for name, state in found["services"].items():
        rows.add_row(name, Text(words.plain(state), style="" if state.startswith("ready") else "yellow"))
    for name, check in found["checks"].items():
        report = f"{'ok' if check['ok'] else 'not ok'}{': ' * bool(check['detail'])}{check['detail']}"
        rows.add_row(name, Text(words.plain(report), style="" if check["ok"] else "yellow"))
    console.print(rows)
    for problem in found["problems"]:
        console.print(Text(words.plain(problem), style="yellow"))
