"""The refusal of every guard: which link refused, by which rule, and why."""

from __future__ import annotations

from libs.errors import Denied


class Blocked(Denied):
    """A guard refuses this. `link` is the guard (`paths`, `commands`, `urls`), `rule` its rule."""

    code = "BLOCKED"
    link = "guards"

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule
        self.reason = reason


class PathRefused(Blocked):
    """The path is outside the workspace."""

    code = "PATH_REFUSED"
    link = "paths"


class CommandBlocked(Blocked):
    """The text runs a forbidden program."""

    code = "COMMAND_BLOCKED"
    link = "commands"


class UrlRefused(Blocked):
    """The address may not be reached from here."""

    code = "URL_REFUSED"
    link = "urls"
