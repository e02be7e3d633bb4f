"""Scoring: compare the effects of a turn with the correct results of its case.

The files afterwards, the shown paths and the answer decide. Tools only explain a failure: the stage says how far the
request came before it went wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from posixpath import basename
from typing import Any

from libs.skills import strings
from services.cli.evals import trees
from services.cli.evals.cases import Case, Expected, Outcome
from services.cli.evals.trees import Tree


class Stage(StrEnum):
    """The point at which a request went wrong, in processing order."""

    BEFORE = "an earlier turn went wrong"
    NOT_UNDERSTOOD = "not understood"
    ASKED = "asked where it should have acted"
    ACTED = "acted where it should not have"
    WRONG_SKILL = "wrong skill"
    WRONG_PARAMETERS = "wrong parameters"
    WRONG_ORDER = "wrong order"
    FAILED = "a step failed"
    OTHER_DIFF = "another diff than what happened"
    WRONG_ANSWER = "wrong answer"


@dataclass(frozen=True)
class Ran:
    """A step that ran. `feeds`: a later step uses its result. `args` are those of the plan."""

    tool: str
    mutates: bool = False
    succeeded: bool = True
    feeds: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Did:
    """The effects of a turn: its outcome, steps and answer, and the folder before and after."""

    outcome: Outcome
    root: Path
    before: Tree
    after: Tree
    steps: tuple[Ran, ...] = ()
    said: str = ""
    unexplained: bool = False
    """The API does not tell a refusal from another answer in words."""

    @property
    def telling(self) -> tuple[str, ...]:
        """The tools that changed something, or whose result no later step used."""
        return tuple(step.tool for step in self.steps if step.mutates or not step.feeds)

    def came_to(self, outcome: Outcome) -> bool:
        return self.outcome is outcome or (self.unexplained and {self.outcome, outcome} <= WORDS_ALONE)


WORDS_ALONE = frozenset((Outcome.DECLINES, Outcome.TALKS))
LISTINGS = frozenset(("manage-files.list", "search-files.find", "remove-duplicates.scan"))
"""Tools that select: their result must be complete and contain nothing else."""


@dataclass(frozen=True)
class Score:
    """The result of a case. `wrong_change`: the files match neither a correct result nor the folder before."""

    case: Case
    right: bool
    stage: Stage | None = None
    wrong_change: bool = False
    detail: str = ""


def judge(case: Case, did: Did) -> Score:
    """Judge a turn: right in any of the case's ways, else explained by the first."""
    case = _with_names(case, did)
    fault = _fault(case, did)
    if fault is None or any(_fault(way, did) is None for way in case.or_):
        return Score(case, right=True)
    return Score(case, False, fault.stage, wrong_change=_wrongly_changed(case, did), detail=fault.detail)


def _with_names(case: Case, did: Did) -> Case:
    """Replace `*.zip`, an archive of any name, by the archive that was made."""
    made = sorted(path for path in did.after.keys() - did.before.keys() if path.endswith(".zip"))
    ways = [way.model_copy(update={"packed": _named_so(way.packed, made)}) for way in case.or_]
    return case.model_copy(update={"packed": _named_so(case.packed, made), "or_": tuple(ways)})


def _named_so(packed: Mapping[str, tuple[str, ...]], made: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {(made[0] if basename(path) == ANY_ZIP and made else path): held for path, held in packed.items()}


ANY_ZIP = "*.zip"


@dataclass(frozen=True)
class _Fault:
    stage: Stage
    detail: str


def _fault(way: Expected, did: Did) -> _Fault | None:
    if not did.came_to(way.outcome):
        return _Fault(_missed(did), f"{did.outcome}, not {way.outcome}: {_short(did.said)}")
    wanted = list(trees.ought(did.before, way))
    if not any(trees.equal(tree, did.root, did.after) for tree in wanted):
        return _Fault(_misstep(way, did), f"{_steps(did)}: {trees.difference(wanted[0], did.after)}")
    if (lacking := _lacking(way, did)) is not None:
        return _Fault(_misstep(way, did), f"{_steps(did)}: {lacking}")
    if missing := [text for text in way.answer if not _holds(did.said, text)]:
        return _Fault(Stage.WRONG_ANSWER, f"{missing}: {_short(did.said)}")
    return None


def _missed(did: Did) -> Stage:
    match did.outcome:
        case Outcome.DOES:
            return Stage.ACTED
        case Outcome.ASKS:
            return Stage.ASKED
        case _:
            return Stage.NOT_UNDERSTOOD


def _misstep(way: Expected, did: Did) -> Stage:
    if any(not step.succeeded for step in did.steps):
        return Stage.FAILED
    if way.tools and not (_covers(did.telling, way.tools) and _covers(way.tools, _changing(did))):
        return Stage.WRONG_SKILL
    return Stage.WRONG_PARAMETERS if _in_order(did.telling, way.tools) else Stage.WRONG_ORDER


def _changing(did: Did) -> tuple[str, ...]:
    return tuple(step.tool for step in did.steps if step.mutates)


def _covers(these: Sequence[str], those: Sequence[str]) -> bool:
    return set(those) <= set(these)


def _in_order(these: Sequence[str], those: Sequence[str]) -> bool:
    """Check that `those` is a subsequence of `these`."""
    rest = iter(these)
    return all(tool in rest for tool in those)


def _wrongly_changed(case: Case, did: Did) -> bool:
    if trees.equal(did.before, did.root, did.after):
        return False
    rightly = (tree for way in case.ways if way.changes for tree in trees.ought(did.before, way))
    return not any(trees.equal(tree, did.root, did.after) for tree in rightly)


def _lacking(way: Expected, did: Did) -> str | None:
    """Describe paths that the answer lacks or wrongly adds; None if it is right.

    A file that a step read by its path need not be named.
    """
    if way.shows is None:
        return None
    looks = [step for step in did.steps if not step.mutates and not step.feeds and step.succeeded]
    looked_at = {text for step in looks if step.tool not in LISTINGS for text in strings(step.args)}
    named = _named(did.said, {*did.before, *did.after, *way.shows})
    if missing := sorted(set(way.shows) - looked_at - named):
        return f"does not show {', '.join(missing)}: {_short(did.said)}"
    files = {path for path in named if not did.after.get(path, trees.NOTHING).folder}
    more = sorted(path for path in files - set(way.shows) if basename(path) not in map(basename, way.shows))
    exact = any(step.tool in LISTINGS for step in looks)
    return f"shows {', '.join(more[:6])} as well" if exact and more else None


def _named(said: str, paths: Collection[str]) -> set[str]:
    """Find the paths that a text names, in full or by their last part; longer names match first."""
    found, text = set(), unicodedata.normalize("NFC", said)
    names = {name for path in paths for name in (path, basename(path))}
    for name in sorted(names, key=len, reverse=True):
        shape = re.compile(rf"(?<![\w/]){re.escape(name)}(?!\w)")
        if shape.search(text):
            text = shape.sub("\0", text)
            found |= {path for path in paths if name in (path, basename(path))}
    return found


def _holds(said: str, text: str) -> bool:
    """Check that an answer contains a text; a number must not be part of another number."""
    if text.isdecimal():
        return re.search(rf"(?<![\d.,]){text}(?![\d])(?![.,]\d)", said) is not None
    return text.casefold() in said.casefold()


def _steps(did: Did) -> str:
    return " → ".join(did.telling) or "no step"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else flat[:199] + "…"
