"""`suma doctor`: examine this machine, the settings and the dependencies; no platform is needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from services.cli import lifecycle, words
from services.cli.errors import NOT_DONE
from services.cli.terminal import Json, console, print_json

if TYPE_CHECKING:
    from services.doctor import Finding

SIGNS = {"ok": ("✔", "green"), "note": ("!", "yellow"), "problem": ("✘", "red")}


def doctor(as_json: Json = False) -> None:
    """Check dependencies, versions, disk, ports, data and model, and say how to mend each; exit code 1 for a problem.

    It changes nothing, and works whether or not the platform runs.
    """
    # Imported here: other commands start faster without asyncio and every adapter.
    import asyncio

    from services.doctor import examine

    # The findings name each failure; the libraries' own lines would repeat it.
    logging.disable()
    found = asyncio.run(examine(dict(os.environ)))
    if not any(finding.group == "settings" and finding.state == "problem" for finding in found):
        found.append(_platform())
    healthy = all(finding.state != "problem" for finding in found)
    if as_json:
        print_json({"ok": healthy, "checks": [asdict(finding) for finding in found]})
    else:
        _show(found)
    if not healthy:
        raise typer.Exit(NOT_DONE)


def _platform() -> Finding:
    from services.doctor import Finding

    report = lifecycle.found()
    if report["ready"]:
        return Finding("platform", "platform", "ok", f"ready at {report['url']}")
    if report["running"]:
        return Finding("platform", "platform", "problem", "; ".join(report["problems"]), "run `suma status`")
    return Finding("platform", "platform", "ok", "not running; `suma up` starts it")


def _show(found: Sequence[Finding]) -> None:
    table = Table("", "check", "", box=None, pad_edge=False)
    for finding in found:
        sign, style = SIGNS[finding.state]
        name = finding.name if finding.name == finding.group else f"{finding.group}: {finding.name}"
        table.add_row(Text(sign, style=style), Text(words.plain(name)), Text(words.plain(finding.detail)))
        if finding.mend:
            table.add_row("", "", Text(f"→ {words.plain(finding.mend)}", style=style))
    console.print(table)
    problems = sum(finding.state == "problem" for finding in found)
    if problems:
        console.print(Text(f"\n{problems} to mend.", style="red"))
