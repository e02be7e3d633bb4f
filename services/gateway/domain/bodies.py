"""What JSON may reach us at all, before any model looks at it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

DEEPEST = 32
"""Bodies nest no deeper than args of tools do; recursive code behind this door is safe."""


def flaw(body: Any) -> str | None:
    """Why this parsed body is refused: too deep, or with a character that Postgres cannot hold."""
    level, depth = [body], 0
    while level:
        if depth > DEEPEST:
            return f"the body nests deeper than {DEEPEST} levels"
        below: list[Any] = []
        for value in level:
            match value:
                case str() if "\0" in value:
                    return "text may not hold the character U+0000"
                case dict():
                    below += [*value.keys(), *value.values()]
                case list():
                    below += value
        level, depth = below, depth + 1
    return None


def digest(route: str, body: Any) -> str:
    """What an Idempotency-Key is bound to: the route and the body, however it was spelled."""
    return sha256(route.encode() + b"\0" + orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
