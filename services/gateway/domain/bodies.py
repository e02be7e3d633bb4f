"""Checks of JSON bodies before any model parses them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

DEEPEST = 32
"""Levels of nesting, as for args of tools; recursive code after this check is safe."""


def flaw(body: Any) -> str | None:
    """Return why a parsed body is rejected: too deep, or a character that Postgres cannot store; None if valid."""
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
    """Return the digest that an Idempotency-Key is bound to: of the route and the normalised body."""
    return sha256(route.encode() + b"\0" + orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
