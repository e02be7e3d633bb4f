"""Canonical JSON: one byte string per value, so that what is signed here can be digested again elsewhere.

RFC 8785 (members sorted by UTF-16 code units, no blanks, shortest escapes, UTF-8), except for numbers. A request passes
through Postgres' jsonb, which keeps a number's value but not its spelling, and RFC 8785 would equate all integers
beyond 2⁵³ that share a double. A number is therefore written by its value: an integral one as all its digits (`1`,
`1.0` and `1e0` are one number, 2⁵³ and 2⁵³+1 are two), any other as the shortest decimal that parses to the same
double.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

import orjson

from libs.errors import Rejected

MAX_DEPTH = 100
"""Deeper values are refused, well before Python's recursion limit (acceptance 22)."""


class Uncanonical(Rejected):
    """The value cannot be written as canonical JSON."""

    code = "UNCANONICAL"


def canonical(value: Any) -> bytes:
    """Return the canonical bytes of `value`: None, bool, int, float, str, and lists, tuples and mappings of these.

    Raises:
        Uncanonical: another type, NaN or infinity, a lone surrogate, an integer of over 4,300 digits, or too deep.
    """
    try:
        if _is_plain(value, 0):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        return _text(value, 0).encode()
    except (UnicodeEncodeError, ValueError) as error:
        raise Uncanonical(f"not canonical JSON: {error}") from error


def _is_plain(value: Any, depth: int) -> bool:
    """Return whether it holds only ASCII texts, 53-bit integers, booleans and nulls, which orjson writes alike."""
    kind = type(value)
    if kind is str:
        return value.isascii()  # type: ignore[no-any-return]
    if value is None or kind is bool:
        return True
    if kind is int:
        return -(1 << 53) < value < 1 << 53  # type: ignore[no-any-return]
    if depth >= MAX_DEPTH:
        return False
    if kind is dict:
        return all(type(name) is str and name.isascii() and _is_plain(item, depth + 1) for name, item in value.items())
    return (kind is list or kind is tuple) and all(_is_plain(item, depth + 1) for item in value)


def _text(value: Any, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise Uncanonical(f"nested deeper than {MAX_DEPTH}")
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return encode_basestring(value)
        case int():
            return int.__repr__(value)
        case float():
            return _number(value)
        case list() | tuple():
            return "[" + ",".join(_text(item, depth + 1) for item in value) + "]"
        case Mapping():
            return "{" + ",".join(_member(name, value[name], depth) for name in sorted(value, key=_utf16)) + "}"
        case _:
            raise Uncanonical(f"{type(value).__name__} is not JSON")


def _member(name: str, value: Any, depth: int) -> str:
    return f"{encode_basestring(name)}:{_text(value, depth + 1)}"


def _utf16(name: object) -> bytes:
    if not isinstance(name, str):
        raise Uncanonical(f"a member's name is {type(name).__name__}, not a string")
    return name.encode("utf-16-be")


def _number(value: float) -> str:
    if not isfinite(value):
        raise Uncanonical(f"{value} is not JSON")
    # The shortest decimal, not the double's exact value: 1e23 must stay 10²³, as jsonb returns it.
    return str(int(Decimal(repr(value)))) if value.is_integer() else repr(value)
