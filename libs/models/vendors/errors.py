"""Errors of model calls, by what can be done about them. Quoted messages of a vendor never contain the key."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
from pydantic_ai import exceptions as theirs

from libs.errors import Rejected, SumaError, Unavailable

PATIENCE = 10.0
"""Seconds. A longer Retry-After is left to the holder of the lease instead of waiting in place."""
WORDS_MOST = 300
GAVE_UP = frozenset((408, 499, 504, 520, 522, 524))
"""HTTP statuses of a proxy that timed out: the model may have worked, and its vendor may bill for that."""
SECRETS = re.compile(r"\b(sk|key|api|token|bearer)[-_ ][\w*.…-]{6,}", re.IGNORECASE)


class ModelUnavailable(Unavailable):
    """The model does not answer; retry with backoff."""

    code = "MODEL_UNAVAILABLE"
    lasting = False

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.lasting = retry_after is not None and retry_after > PATIENCE


class ModelTimedOut(ModelUnavailable):
    """The model did not answer in time; retry later, not at once."""

    code = "MODEL_TIMED_OUT"

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.lasting = True


class ModelBusy(ModelUnavailable):
    """The vendor accepts no more requests at the moment; retry with backoff."""

    code = "MODEL_RATE_LIMITED"


class ModelBroke(ModelUnavailable):
    """The response is not a model's answer; check SUMA_MODEL_URL, or retry."""

    code = "MODEL_BROKE"


class NotAModel(ModelBroke):
    """The address returned what no model returns, such as a proxy's page; check SUMA_MODEL_URL. Nothing was billed."""


class ModelRefused(Rejected):
    """The vendor refuses the request."""

    code = "MODEL_REFUSED"


class KeyRefused(ModelRefused):
    """The vendor does not accept the key; set a valid one."""

    code = "MODEL_KEY_REFUSED"


class NoSuchModel(ModelRefused):
    """The vendor has no such model; check SUMA_MODEL."""

    code = "MODEL_NOT_FOUND"


class QuotaSpent(ModelRefused):
    """The quota of the vendor account is used up; raise it."""

    code = "MODEL_QUOTA_SPENT"


class TooLong(ModelRefused):
    """The request is longer than the model can read; shorten it."""

    code = "MODEL_INPUT_TOO_LONG"


def of(error: BaseException, model: str) -> SumaError:
    """Map an error of a vendor's library to a Suma error."""
    own = next((cause for cause in _causes(error) if isinstance(cause, SumaError)), None)
    if own is not None:
        return own
    match error:
        case theirs.ModelAuthenticationError():
            return KeyRefused(f"{model}: the key was not accepted{_status(error)}")
        case theirs.ModelQuotaExceededError():
            return QuotaSpent(f"{model}: the account's quota is used up{_status(error)}")
        case theirs.ModelNotFoundError():
            return NoSuchModel(f"{model}: this address has no such model{_status(error)}{_vendor_message(error)}")
        case theirs.ModelContextWindowExceededError():
            return TooLong(f"{model}: the request is longer than the model can read")
        case theirs.ModelRateLimitError():
            return ModelBusy(f"{model} accepts no more requests at the moment", retry_after=_retry_after(error))
        case theirs.ModelTimeoutError() | theirs.ModelRequestTimeout() | httpx2.TimeoutException() | TimeoutError():
            return ModelTimedOut(f"{model} did not answer in time")
        case theirs.ModelRequestRejectedError():
            return ModelRefused(f"{model} refuses the request{_status(error)}{_vendor_message(error)}")
        case theirs.UserError():
            return ModelRefused(f"{model} does not support this request: {str(error)[:WORDS_MOST]}")
        case theirs.ModelConnectionError() | httpx2.TransportError():
            return ModelUnavailable(f"{model}: connection failed or was interrupted")
        case theirs.ModelAPIError():
            return _by_status(error, model)
        case _:
            return ModelBroke(f"{model} returned something other than a model's answer")


def unpaid(error: BaseException) -> bool:
    """Return whether the call certainly costs nothing: it was not made, or the vendor's status says that it failed."""
    never = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, theirs.UserError, ModelRefused, NotAModel)
    status = getattr(error, "status_code", None)
    failed = isinstance(status, int) and status >= 400 and status not in GAVE_UP
    return failed or any(isinstance(cause, never) for cause in _causes(error))


def _by_status(error: theirs.ModelAPIError, model: str) -> SumaError:
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 300 <= status < 500 and status not in (408, 409, 425):
        return ModelRefused(f"{model} refuses the request{_status(error)}{_vendor_message(error)}")
    how = "failed" if status is not None else "was interrupted"
    return ModelUnavailable(f"{model} {how}{_status(error)}", retry_after=_retry_after(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    # Bounded, since causes that were set by hand may form a ring.
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(error: BaseException) -> float | None:
    asked = getattr(error, "retry_after", None)
    return max(0.0, float(asked)) if isinstance(asked, int | float) else None


def _status(error: BaseException) -> str:
    status = getattr(error, "status_code", None)
    return f" (HTTP {status})" if status is not None else ""


def _vendor_message(error: BaseException) -> str:
    """Return the vendor's message, shortened to one line, without anything that looks like a key."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    text = inner.get("message") if isinstance(inner, dict) else inner
    if not isinstance(text, str) or not text.strip():
        return ""
    line = "".join(character if character.isprintable() else " " for character in SECRETS.sub("…", text))
    return f": {' '.join(line.split())[:WORDS_MOST]}"
