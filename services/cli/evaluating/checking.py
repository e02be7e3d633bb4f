"""Checking: is what cases expect possible in their folders? Every folder is made and every change is tried on its tree.

Who writes cases works out each path by hand; a slip shows here, before anything is started, and not as a failure of the
model in the middle of a run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from services.cli.evaluating import folders, trees
from services.cli.evaluating.cases import BadCases, Case, Cases, Turn
from services.cli.evaluating.trees import Tree


def check(cases: Cases) -> None:
    """Raises BadCases, which names the case and the field."""
    made: dict[str, Tree] = {}
    for case in cases.cases:
        if case.folder not in made:
            made[case.folder] = _made(cases, case.folder)
        try:
            _check(case, made[case.folder])
        except BadCases as error:
            raise BadCases(f"case {case.id}: {error}") from None


def _made(cases: Cases, name: str) -> Tree:
    with tempfile.TemporaryDirectory(prefix="suma-eval-") as place:
        folders.make(cases.folders[name], Path(place), datetime.now(UTC))
        return trees.seen(Path(place))


def _check(case: Case, tree: Tree) -> None:
    for before in _after(case.before, tree):
        for way in case.ways:
            if way.changes and all(led_to == before for led_to in trees.ought(before, way)):
                raise BadCases("what it names as changes leaves everything as it was")
            if strange := sorted(set(way.shows or ()) - set(before)):
                raise BadCases(f"shows: {strange[0]!r} is not there")


def _after(turns: Sequence[Turn], tree: Tree) -> Iterator[Tree]:
    """Every tree that earlier turns may leave."""
    if not turns:
        yield tree
        return
    for led_to in trees.ought(tree, turns[0]):
        yield from _after(turns[1:], led_to)
