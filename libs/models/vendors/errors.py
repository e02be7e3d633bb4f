"""What can go wrong with a model, by what can be done about it; a vendor's own words never carry the key along."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
from pydantic_ai import exceptions as theirs

from libs.errors import Rejected, SumaError, Unavailable

PATIENCE = 10.0
"""Seconds: who asks to be left alone for longer is asked again by whoever holds the lease, not in place."""
WORDS_MOST = 300
GAVE_UP = frozenset((408, 499, 502, 504, 520, 522, 524))
"""Said by who stands between us and the model, and waited in vain: the model may have worked."""
SECRETS = re.compile(r"\b(sk|key|api|token|bearer)[-_ ][\w*.…-]{6,}", re.IGNORECASE)


class ModelUnavailable(Unavailable):
    """The model does not answer."""

    code = "MODEL_UNAVAILABLE"
    lasting = False

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.lasting = retry_after is not None and retry_after > PATIENCE


class ModelTimedOut(ModelUnavailable):
    """The model took too long. To wait as long again at once would be no better."""

    code = "MODEL_TIMED_OUT"

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.lasting = True


class ModelBusy(ModelUnavailable):
    """The vendor takes no more requests of ours at the moment."""

    code = "MODEL_RATE_LIMITED"


class ModelBroke(ModelUnavailable):
    """What came is no answer of a model."""

    code = "MODEL_BROKE"


class ModelRefused(Rejected):
    """The vendor refuses the request."""

    code = "MODEL_REFUSED"


class KeyRefused(ModelRefused):
    """The vendor does not accept our key."""

    code = "MODEL_KEY_REFUSED"


class NoSuchModel(ModelRefused):
    """The vendor has no such model."""

    code = "MODEL_NOT_FOUND"


class QuotaSpent(ModelRefused):
    """The account with the vendor is used up."""

    code = "MODEL_QUOTA_SPENT"


class TooLong(ModelRefused):
    """The request is longer than the model can read."""

    code = "MODEL_INPUT_TOO_LONG"


def of(error: BaseException, model: str) -> SumaError:
    """Ours, for an error of theirs."""
    own = next((cause for cause in _causes(error) if isinstance(cause, SumaError)), None)
    if own is not None:
        return own
    match error:
        case theirs.ModelAuthenticationError():
            return KeyRefused(f"{model}: the key was not accepted{_status(error)}")
        case theirs.ModelQuotaExceededError():
            return QuotaSpent(f"{model}: the account's quota is used up{_status(error)}")
        case theirs.ModelNotFoundError():
            return NoSuchModel(f"{model}: there is no such model at this address{_status(error)}{_words(error)}")
        case theirs.ModelContextWindowExceededError():
            return TooLong(f"{model}: the request is longer than the model can read")
        case theirs.ModelRateLimitError():
            return ModelBusy(f"{model} takes no more requests at the moment", retry_after=_wait(error))
        case theirs.ModelTimeoutError() | theirs.ModelRequestTimeout() | httpx2.TimeoutException() | TimeoutError():
            return ModelTimedOut(f"{model} did not answer in time")
        case theirs.ModelRequestRejectedError():
            return ModelRefused(f"{model} refuses the request{_status(error)}{_words(error)}")
        case theirs.UserError():
            return ModelRefused(f"{model} cannot be asked like this: {str(error)[:WORDS_MOST]}")
        case theirs.ModelConnectionError() | httpx2.TransportError():
            return ModelUnavailable(f"{model} cannot be reached, or broke off")
        case theirs.ModelAPIError():
            return _by_status(error, model)
        case _:
            return ModelBroke(f"{model} answered with something that is no answer of a model")


def unpaid(error: BaseException) -> bool:
    """Was the call not made, or has whoever would charge for it said by its status that it failed?"""
    never = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, theirs.UserError, ModelRefused)
    status = getattr(error, "status_code", None)
    failed = isinstance(status, int) and status >= 400 and status not in GAVE_UP
    return failed or any(isinstance(cause, never) for cause in _causes(error))


def _by_status(error: theirs.ModelAPIError, model: str) -> SumaError:
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 300 <= status < 500 and status not in (408, 409, 425):
        return ModelRefused(f"{model} refuses the request{_status(error)}{_words(error)}")
    how = "has failed" if status is not None else "broke off"
    return ModelUnavailable(f"{model} {how}{_status(error)}", retry_after=_wait(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _wait(error: BaseException) -> float | None:
    asked = getattr(error, "retry_after", None)
    return max(0.0, float(asked)) if isinstance(asked, int | float) else None


def _status(error: BaseException) -> str:
    status = getattr(error, "status_code", None)
    return f" (HTTP {status})" if status is not None else ""


def _words(error: BaseException) -> str:
    """The vendor's own message, short, on one line, without anything that looks like a key."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else inner
    if not isinstance(said, str) or not said.strip():
        return ""
    line = "".join(letter if letter.isprintable() else " " for letter in SECRETS.sub("…", said))
    return f": {' '.join(line.split())[:WORDS_MOST]}"
