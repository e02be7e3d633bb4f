"""What can go wrong for the person at the terminal, and the exit code of each."""

from __future__ import annotations

from libs.errors import Rejected, SumaError, Unavailable

DONE, NOT_DONE, USAGE, WAITING, NO_SERVER, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes: docs/cli.md says them too."""


class NotRunning(Unavailable):
    """Suma does not answer."""

    code = "NOT_RUNNING"


class Refused(SumaError):
    """The server said no."""

    def __init__(self, message: str, *, code: str, status: int) -> None:
        super().__init__(message, code=code)
        self.status = status


class Usage(Rejected):
    """The command cannot be carried out as it was written."""

    code = "USAGE"


class NobodyToAsk(Rejected):
    """A question waits for a person, and this is no terminal."""

    code = "NOBODY_TO_ASK"


def exit_code(error: SumaError) -> int:
    match error:
        case NotRunning():
            return NO_SERVER
        case NobodyToAsk():
            return WAITING
        case Rejected():
            return USAGE
        case _:
            return NOT_DONE
