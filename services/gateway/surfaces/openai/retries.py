"""Repeated requests of OpenAI's clients: they send a request again after a lost connection, without an idempotency key
of their own, but say so. The repetition gets the first one's turn, not a second turn.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from starlette.requests import Request

from libs import ids
from libs.errors import Rejected
from libs.identity import Principal
from services.gateway.http.commands import IDEMPOTENCY_SECONDS, Reused
from services.gateway.http.values import digest
from services.gateway.surfaces.calls import Attempt
from services.gateway.surfaces.context import Gateway

RETRIES = "x-stainless-retry-count"
KEY = "idempotency-key"
WITHIN = 3600.0
"""Seconds in which a client repeats a request."""
KEYS = re.compile(r"[\x21-\x7e]{1,150}")


class BadKey(Rejected):
    """The Idempotency-Key must have 1 to 150 printable characters; send another."""

    code = "BAD_IDEMPOTENCY_KEY"


async def attempt(here: Gateway, who: Principal, request: Request, body: Any) -> Attempt:
    """Return the try that a request is.

    Raises:
        BadKey: its Idempotency-Key is not one.
        Reused: its Idempotency-Key belongs to another request.
    """
    # A body may hold files: hashing them would hold up other requests.
    this, given = await asyncio.to_thread(digest, request.url.path, body), request.headers.get(KEY)
    if given is None:
        known = f"openai:{this}:"
        repeats = request.headers.get(RETRIES, "0") not in ("", "0")
        found = await here.receipts.last(who.tenant, who.id, known, keep=WITHIN) if repeats else None
        return Attempt.after(found) if found else Attempt(known + ids.new())
    if not KEYS.fullmatch(given):
        raise BadKey
    # A digest: of two keys neither may begin with the other.
    known = f"openai:{digest(KEY, given)}:"
    keep = IDEMPOTENCY_SECONDS
    found = await here.receipts.last(who.tenant, who.id, known, keep=keep)
    if found is not None and found.key != known + this:
        raise Reused
    return Attempt.after(found) if found else Attempt(known + this)
