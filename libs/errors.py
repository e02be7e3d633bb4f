"""Errors, named by what can be done about them (house style 13). The message is for the person who sees it."""

from __future__ import annotations


class SumaError(Exception):
    """The root of every error that Suma raises on purpose."""

    code: str = "ERROR"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message or (self.__class__.__doc__ or "").strip().split("\n")[0])
        if code is not None:
            self.code = code


class Rejected(SumaError):
    """The caller must change the request; retrying it unchanged cannot help."""

    code = "REJECTED"


class NotFound(Rejected):
    """No such object, or it is not visible to the caller."""

    code = "NOT_FOUND"


class Denied(Rejected):
    """A rule forbids this."""

    code = "DENIED"
    recorded = False
    """Whether the audit log already holds this refusal."""


class Unavailable(SumaError):
    """A dependency is unavailable; retry with backoff."""

    code = "UNAVAILABLE"


class Crowded(Unavailable):
    """The platform is at its limit; retry later."""

    code = "CROWDED"


class Conflict(SumaError):
    """The row changed since it was read; reload and retry."""

    code = "CONFLICT"
