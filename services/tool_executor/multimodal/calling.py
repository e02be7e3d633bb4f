"""One exchange with a provider's API: its status as an error that says what to do, and its words quoted safely."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import orjson

from libs.clients import NoReply, NotReached, Reply, send
from libs.errors import Rejected, Unavailable
from libs.texts import one_line
from services.tool_executor.multimodal.provider_settings import Endpoint

PATIENCE = 10.0
"""Seconds. A longer Retry-After is left to the lease instead of waiting in place."""
WORDS_MOST = 300
ERROR_BYTES_MOST = 64 << 10
SECRETS = re.compile(r"\b(sk|key|api|token|bearer|r8)[-_ ][\w*.…-]{6,}", re.IGNORECASE)
UNCHARGED = frozenset((429, 503))
"""Statuses with which a server does not begin the work (RFC 9110, 15.6.4; RFC 6585, 4)."""
QUOTA = re.compile(r"insufficient_quota|billing|quota", re.IGNORECASE)


class ProviderUnavailable(Unavailable):
    """The provider does not answer; retry later."""

    code = "PROVIDER_UNAVAILABLE"

    def __init__(self, message: str = "", *, charged: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.charged = charged
        """Whether the provider may have done the work, and charge for it."""
        self.retry_after = retry_after
        self.lasting = charged or (retry_after or 0.0) > PATIENCE
        """Whether it must not be repeated at once."""


class ProviderRefused(Rejected):
    """The provider refuses the request; change it."""

    code = "PROVIDER_REFUSED"
    charged = False


class ProviderKeyRefused(ProviderRefused):
    """The provider does not accept the key; set a valid one."""

    code = "PROVIDER_KEY_REFUSED"


class ProviderQuotaSpent(ProviderRefused):
    """The quota of the provider's account is used up; raise it."""

    code = "PROVIDER_QUOTA_SPENT"


class BadAnswer(Rejected):
    """The provider's answer cannot be used."""

    code = "PROVIDER_ANSWER_BAD"


class Line:
    """The way to one provider. No error of it quotes the key."""

    def __init__(self, name: str, endpoint: Endpoint) -> None:
        self.name, self.endpoint = name, endpoint

    async def ask(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        most: int = ERROR_BYTES_MOST,
        repeatable: bool = False,
    ) -> Reply:
        """Return the answer of a request that succeeded. `repeatable`: a second one costs nothing more.

        Raises:
            ProviderUnavailable: no answer, or one that says to come back.
            ProviderRefused: the provider will not do it.
            BadAnswer: the answer is too large, or breaks the protocol.
        """
        try:
            key = await asyncio.to_thread(self.endpoint.secret)
        except OSError as error:
            raise ProviderKeyRefused(f"{self.name}: the key's file cannot be read ({type(error).__name__})") from None
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            reply = await send(
                self.endpoint.target(path),
                method,
                headers={**bearer, **(headers or {})},
                json=json,
                form=form,
                seconds=self.endpoint.seconds,
                most=most,
            )
        except NotReached as error:
            raise ProviderUnavailable(f"{self.name} cannot be reached", charged=False) from error
        except NoReply as error:
            raise ProviderUnavailable(f"{self.name} sent no answer", charged=not repeatable) from error
        except Rejected as error:
            raise BadAnswer(f"{self.name}: {error}") from error
        if reply.status not in range(200, 300):
            raise self._failure(reply, key, repeatable)
        return reply

    def _failure(self, reply: Reply, key: str, repeatable: bool) -> Exception:
        status, said = reply.status, quoted(reply.body, key)
        told = f"{self.name} refuses the request (HTTP {status})"
        if status in range(300, 400):
            return ProviderRefused(f"{self.name} redirects elsewhere (HTTP {status}): set its final address")
        if status == 401:
            return ProviderKeyRefused(f"{self.name} does not accept the key (HTTP 401)")
        if status == 402 or (status == 429 and QUOTA.search(said)):
            return ProviderQuotaSpent(f"{self.name}: the account's quota is used up (HTTP {status})")
        if status >= 500 or status in (408, 409, 425, 429, 499):
            return ProviderUnavailable(
                f"{self.name} is unavailable (HTTP {status})",
                charged=status not in UNCHARGED and not repeatable,
                retry_after=_retry_after(reply),
            )
        return ProviderRefused(f"{told}: “{said}”" if said else told)


def parsed(name: str, body: bytes) -> dict[str, Any]:
    """Return the object of a JSON answer. Raises BadAnswer."""
    try:
        found = orjson.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadAnswer(f"{name} sent an answer that is not a JSON object")
    return found


def quoted(body: bytes | str, key: str = "") -> str:
    """Return a provider's message on one line, shortened, without anything that looks like a key."""
    try:
        said: Any = orjson.loads(body[:ERROR_BYTES_MOST])
    except ValueError:
        said = body if isinstance(body, str) else None
    for name in ("error", "errors", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
        if isinstance(said, list) and said:
            said = said[0]
    if not isinstance(said, str):
        return ""
    said = said.replace(key, "…") if key else said
    return one_line(SECRETS.sub("…", said[: WORDS_MOST * 4])).replace("”", "'")[:WORDS_MOST]


def _retry_after(reply: Reply) -> float | None:
    asked = reply.headers.get("retry-after", "").strip()
    return float(asked) if re.fullmatch(r"\d{1,6}", asked) else None
