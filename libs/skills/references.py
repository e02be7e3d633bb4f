"""References between the steps of a plan, and the texts in a step's args."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

REFERENCE = re.compile(r"^\$step\((\d+)\)\.(\w+)$")
"""`$step(n).field`, n from 1 (S4-35)."""


def is_reference(value: object) -> bool:
    return isinstance(value, str) and REFERENCE.match(value) is not None


def references(value: Any) -> Iterator[tuple[int, str]]:
    """Yield (step, field) of each reference in a JSON value, at any depth."""
    matches = map(REFERENCE.match, strings(value))
    return ((int(match[1]), match[2]) for match in matches if match)


def sources(args: Any) -> tuple[int, ...]:
    """Return the steps that args refer to, ascending, each once: the step depends on them."""
    return tuple(sorted({n for n, _ in references(args)}))


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, at any depth, without the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
