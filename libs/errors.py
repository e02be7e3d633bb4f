"""Errors, named by what can be done about them (house style 13). The message is for the person who meets it."""

from __future__ import annotations


class SumaError(Exception):
    """The root of every error that we raise on purpose."""

    code: str = "ERROR"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message or (self.__class__.__doc__ or "").strip().split("\n")[0])
        if code is not None:
            self.code = code


class Rejected(SumaError):
    """The caller can mend it; trying again unchanged cannot help."""

    code = "REJECTED"


class NotFound(Rejected):
    """There is no such thing, or it is not yours to see."""

    code = "NOT_FOUND"


class Denied(Rejected):
    """A rule says no."""

    code = "DENIED"


class Unavailable(SumaError):
    """The world can mend it; try again later."""

    code = "UNAVAILABLE"


class Crowded(Unavailable):
    """There is no room for this now."""

    code = "CROWDED"


class Conflict(SumaError):
    """Someone was first: reload and decide again."""

    code = "CONFLICT"
