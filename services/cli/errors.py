"""Errors of the command, and the exit code of each."""

from __future__ import annotations

from libs.errors import Rejected, SumaError, Unavailable

DONE, NOT_DONE, USAGE, WAITING, NO_SERVER, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes, as documented in docs/cli.md."""


class NotRunning(Unavailable):
    """Suma does not answer; start it with `suma up`."""

    code = "NOT_RUNNING"


class Refused(SumaError):
    """The server refused the request."""

    def __init__(self, message: str, *, code: str, status: int) -> None:
        super().__init__(message, code=code)
        self.status = status


class Usage(Rejected):
    """The command line is invalid; see `suma COMMAND --help`."""

    code = "USAGE"


class NotDone(SumaError):
    """The approved changes could not be made."""

    code = "NOT_DONE"


class AnswerRequired(Rejected):
    """A question needs an answer, and this is not a terminal."""

    code = "NOBODY_TO_ASK"


def exit_code(error: SumaError) -> int:
    match error:
        case NotRunning():
            return NO_SERVER
        case AnswerRequired():
            return WAITING
        case Rejected():
            return USAGE
        case _:
            return NOT_DONE
