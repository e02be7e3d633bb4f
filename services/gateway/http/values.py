"""Checks of JSON bodies before any model parses them."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import orjson

DEEPEST = 32
"""Levels of nesting, as for args of tools; recursive code after this check is safe."""


VALUES_MOST, SDK_VALUES_MOST = 25_000, 5_000
"""Values in a body, and in one that a protocol's SDK parses. Each takes some microseconds, in an SDK some tens of them,
during which nothing else is served.
"""
SEPARATORS = b",:[{"
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def failing_fast(schema: Any) -> Any:
    """Return a core schema whose sequences stop at their first wrong item: an error for each would take seconds."""
    match schema:
        case {"type": "list" | "tuple" | "set" | "frozenset"}:
            return {name: failing_fast(part) for name, part in schema.items()} | {"fail_fast": True}
        case dict():
            return {name: failing_fast(part) for name, part in schema.items()}
        case list() | tuple():
            return type(schema)(map(failing_fast, schema))
        case _:
            return schema


def is_crowded(raw: bytes | bytearray, most: int = VALUES_MOST) -> bool:
    """Return whether a JSON text holds more than `most` values. Linear, and it parses nothing."""
    if sum(map(raw.count, (bytes([mark]) for mark in SEPARATORS))) <= most:
        return False
    found = end = 0
    for string in STRING.finditer(raw):
        found += 1 + _marks(raw, end, string.start())
        end = string.end()
        if found > most:
            return True
    return found + _marks(raw, end, len(raw)) > most


def _marks(raw: bytes | bytearray, start: int, end: int) -> int:
    return sum(raw.count(mark, start, end) for mark in SEPARATORS) if end > start else 0


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
