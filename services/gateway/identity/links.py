"""Links to one file, for programs that cannot send a key. Their maker lends them the right to read it for a while.

A link is a credential in the query: the id of the maker's key, the time of its end, and an HMAC over these and the
path. It admits `GET` of this path alone. It names no tenant, since the key determines that, and it ends with the key.
"""

from __future__ import annotations

import hmac
import re

from starlette.datastructures import QueryParams
from starlette.types import Scope

from libs.identity import BadKey
from libs.keys import Keys, canonical

PARAMETER = "link"
PURPOSE = "links"
"""The name of the secret."""
FORM = re.compile(r"(?P<key>[a-z2-7]{16})\.(?P<expires>[0-9]{1,12})\.(?P<mac>[0-9a-f]{64})")


def made(keys: Keys, *, key_id: str, path: str, expires: int) -> str:
    """Return the value of the parameter `link`. `expires` is in Unix seconds."""
    return f"{key_id}.{expires}.{_mac(keys, key_id, path, expires)}"


def of(scope: Scope) -> str | None:
    """Return the link that a request carries; None for other requests."""
    if scope.get("method") != "GET" or PARAMETER.encode() not in scope["query_string"]:
        return None
    return QueryParams(scope["query_string"]).get(PARAMETER)


def verified(keys: Keys, text: str, *, path: str, now: float) -> str:
    """Return the id of the key that made the link. Raises BadKey, for an expired link as for a wrong one."""
    found = FORM.fullmatch(text)
    good = found is not None and hmac.compare_digest(
        found["mac"], _mac(keys, found["key"], path, int(found["expires"]))
    )
    if found is None or not good or now >= int(found["expires"]):
        raise BadKey("this link has expired or is not valid; ask for a new one")
    return found["key"]


def _mac(keys: Keys, key_id: str, path: str, expires: int) -> str:
    return hmac.digest(keys.secret(PURPOSE), canonical([key_id, path, expires]), "sha256").hex()
