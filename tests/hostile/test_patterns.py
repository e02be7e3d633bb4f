"""Every regular expression of ours, against texts that its own parts generate: none costs more than the square."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

import libs
import services

code, parser = importlib.import_module("re._constants"), importlib.import_module("re._parser")
LETTERS = 1_000
SECONDS = 0.5
"""A cost of the square is a tenth of it for so many letters, and a cost of the cube a hundred times as much."""
ANYWHERE = ("a", " ", "a b ", "1", "..", "\n", '"', "(")
REPEATED_FROM = 20
"""A pattern that repeats less often has a bound of its own."""


def patterns() -> dict[str, re.Pattern[str]]:
    """The patterns that modules hold, by their first place."""
    found: dict[str, re.Pattern[str]] = {}
    for package in (libs, services):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                for name, value in vars(importlib.import_module(module.name)).items():
                    held = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
                    for each in held:
                        if isinstance(each, re.Pattern) and isinstance(each.pattern, str):
                            found.setdefault(f"{module.name}.{name}", each)
    return found


PATTERNS = patterns()


def hostile(pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Beginnings that lead to each repetition of a pattern, and what it repeats."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    return {("", unit) for unit in ANYWHERE} | {(before, unit) for before, unit in _repeated(tree) if unit}


def _repeated(tree: Any) -> Iterator[tuple[str, str]]:
    before = ""
    for op, value in tree:
        if op in (code.MAX_REPEAT, code.MIN_REPEAT):
            if value[1] > REPEATED_FROM:
                yield before, _written(value[2])
            inner: list[Any] = [value[2]]
        else:
            inner = [value[3]] if op is code.SUBPATTERN else value[1] if op is code.BRANCH else []
        for part in inner:
            yield from ((before + first, unit) for first, unit in _repeated(part))
        before += _sample(op, value)


def _written(tree: Any) -> str:
    return "".join(_sample(op, value) for op, value in tree)


def _sample(op: Any, value: Any) -> str:
    """A text that one part of a pattern matches."""
    match op:
        case code.LITERAL:
            return chr(int(value))
        case code.NOT_LITERAL | code.ANY:
            return "a"
        case code.IN:
            return str(next((each for each in "a 1-_.,\n" if _is_in(each, value)), _first(value)))
        case code.MAX_REPEAT | code.MIN_REPEAT:
            return _written(value[2]) * max(1, min(int(value[0]), REPEATED_FROM))
        case code.SUBPATTERN:
            return _written(value[3])
        case code.BRANCH:
            return _written(value[1][0])
        case _:
            return ""


def _first(members: Any) -> str:
    op, value = members[0]
    return chr(value) if op is code.LITERAL else chr(value[0]) if op is code.RANGE else ""


def _is_in(letter: str, members: Any) -> bool:
    kinds = {code.CATEGORY_DIGIT: letter.isdigit(), code.CATEGORY_SPACE: letter.isspace()}
    kinds[code.CATEGORY_WORD] = letter.isalnum() or letter == "_"
    held = any(
        (op is code.LITERAL and value == ord(letter))
        or (op is code.RANGE and value[0] <= ord(letter) <= value[1])
        or (op is code.CATEGORY and kinds.get(value, False))
        for op, value in members
    )
    return held is not (members[0][0] is code.NEGATE)


def slowest(pattern: re.Pattern[str]) -> float:
    """Processor seconds for the worst of the texts."""
    worst = 0.0
    for before, unit in hostile(pattern):
        text = before + unit * (LETTERS // len(unit)) + "\x00"
        began = time.process_time()
        pattern.search(text)
        pattern.fullmatch(text)
        worst = max(worst, time.process_time() - began)
    return worst


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_costs_more_than_the_square(name: str) -> None:
    assert slowest(PATTERNS[name]) < SECONDS


def test_pattern_that_costs_the_cube_is_found() -> None:
    assert slowest(re.compile(r"all except (?:\s*(?:,|;|\s+and\s+)\s*b)*c")) < SECONDS < slowest(re.compile(r"\s*\s*b"))
