"""The choice among files with the same bytes: keep the one that a person would keep.

A copy is known by its name ("report (1).pdf", "screen copy.png", "backup of x"), or by its place: downloads, backups,
bins. Some names count as a copy's within their group only: "song 2" is one beside "song".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from posixpath import dirname, splitext
from typing import Any

from libs.search.words import fold
from libs.skills import selected
from libs.workspace.view import Node

WORD = re.compile(r"[^\W_]+")
MARKS = frozenset(("copy", "copies", "duplicate", "dup", "backup", "bak", "conflict", "conflicted"))
"""Words of a name that say that it is a copy."""
NUMBERED = re.compile(r"\(\d{1,3}\)$")
ADDED = re.compile(r"[\s._-]*(?:\(?\d{1,2}\)?|new)$")
"""The end of a name that otherwise equals another one of the same group."""
_ASIDE = "download downloads dl backup backups bak trash bin tmp temp temporary scratch cache old"
ASIDE = frozenset(_ASIDE.split())
"""Folders that hold what was fetched, saved twice or given up."""
BY_MACHINE = re.compile(
    r"(?:img|dsc|dscn|dscf|pict|vid|mvi|pxl|wp|scan|scn|doc|document|screenshot|untitled|unknown|download|file|image"
    r"|photo|statement)?(?:[\d\W_]|wa\d)*(?:[0-9a-f]{6,})?"
)
"""A whole name that a camera, a scanner or a browser gave."""

Order = Callable[[Node], tuple[Any, ...]]


def shared_out(twins: Sequence[Node], keep: str, spared: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the paths that stay, the preferred one first, and those that may go. Paths that `spared` matches always
    stay; if it matches any, all others may go.
    """
    ordered = [node.path for node in sorted(twins, key=_orders(twins)[keep])]
    held = [path for path in ordered if not selected(path, exclude=spared)] or ordered[:1]
    return held, [path for path in ordered if path not in held]


def _orders(twins: Sequence[Node]) -> dict[str, Order]:
    stems = frozenset(_stem(node) for node in twins)
    marked = {node.path: _a_copy(_stem(node), stems) for node in twins}

    def usual(node: Node) -> tuple[Any, ...]:
        return len(node.path), -_age(node), node.path

    return {
        "natural": lambda node: (marked[node.path], _lies_aside(node.path), _by_machine(node), *usual(node)),
        "named": lambda node: (marked[node.path], _by_machine(node), _lies_aside(node.path), *usual(node)),
        "newest": lambda node: (-_age(node), len(node.path), node.path),
        "oldest": lambda node: (_age(node), len(node.path), node.path),
        "shortest": lambda node: (len(node.path), node.path),
    }


def _a_copy(stem: str, stems: Iterable[str]) -> bool:
    if NUMBERED.search(stem) or not MARKS.isdisjoint(WORD.findall(stem)):
        return True
    return any(stem != other and stem.startswith(other) and ADDED.fullmatch(stem[len(other) :]) for other in stems)


def _lies_aside(path: str) -> bool:
    return any(not ASIDE.isdisjoint(WORD.findall(fold(part))) for part in dirname(path).split("/"))


def _by_machine(node: Node) -> bool:
    return BY_MACHINE.fullmatch(_stem(node)) is not None


def _stem(node: Node) -> str:
    return fold(splitext(node.name)[0])


def _age(node: Node) -> float:
    """Staged files have no time yet: they are the newest there are."""
    return node.modified_at.timestamp() if node.modified_at else float("inf")
