"""Scoring: is what a request led to one of the ways to be right, and where did it go wrong if not?

What counts is what is there afterwards, what was shown and what was said. Tools only explain a failure: the funnel
says how far the request came before it went wrong.
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
from services.cli.evaluating import trees
from services.cli.evaluating.cases import Case, Expected, Outcome
from services.cli.evaluating.trees import Tree


class Stage(StrEnum):
    """Where a request went wrong, in the order of the way that it takes."""

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
    """One step: its tool, whether it changes something, how it ended, and whether later steps of the plan take from
    it. `args` are as the plan has them."""

    tool: str
    mutates: bool = False
    succeeded: bool = True
    feeds: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Did:
    """What a request led to: how the turn came out, the steps, the words, and the folder before and now."""

    outcome: Outcome
    root: Path
    before: Tree
    after: Tree
    steps: tuple[Ran, ...] = ()
    said: str = ""
    unexplained: bool = False
    """Seen from outside, a refusal in words and other words alone look the same."""

    @property
    def telling(self) -> tuple[str, ...]:
        """The tools that changed something, or showed something for its own sake."""
        return tuple(step.tool for step in self.steps if step.mutates or not step.feeds)

    def came_to(self, outcome: Outcome) -> bool:
        return self.outcome is outcome or (self.unexplained and {self.outcome, outcome} <= WORDS_ALONE)


WORDS_ALONE = frozenset((Outcome.DECLINES, Outcome.TALKS))
LISTINGS = frozenset(("manage-files.list", "search-files.find", "remove-duplicates.scan"))
"""Looks that select: what they show is meant to be all, and no others."""


@dataclass(frozen=True)
class Score:
    """How a case came out. `wrong_change`: files are not as in any of the ways to be right, and not as before."""

    case: Case
    right: bool
    stage: Stage | None = None
    wrong_change: bool = False
    detail: str = ""


def judge(case: Case, did: Did) -> Score:
    """Right in any of the case's ways, or wrong in the first one's terms."""
    case = _with_names(case, did)
    fault = _fault(case, case, did)
    if fault is None or any(_fault(way, case, did) is None for way in case.or_):
        return Score(case, right=True)
    return Score(case, False, fault.stage, wrong_change=_wrongly_changed(case, did), detail=fault.detail)


def _with_names(case: Case, did: Did) -> Case:
    """The case with the archive that was made in the place of `*.zip`, which is one of any name."""
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


def _fault(way: Expected, case: Case, did: Did) -> _Fault | None:
    if not did.came_to(way.outcome):
        return _Fault(_missed(did), f"{did.outcome}, not {way.outcome}: {_short(did.said)}")
    wanted = list(trees.ought(did.before, way))
    if not any(trees.equal(tree, did.root, did.after) for tree in wanted):
        return _Fault(_misstep(way, did), f"{_steps(did)}: {trees.difference(wanted[0], did.after)}")
    if (lacking := _lacking(way, did)) is not None:
        return _Fault(_misstep(way, did), f"{_steps(did)}: {lacking}")
    if (missing := [text for text in way.answer if not _holds(did.said, text)]) or _foreign(did.said, case.language):
        return _Fault(Stage.WRONG_ANSWER, f"{missing or 'another language'}: {_short(did.said)}")
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
    """Do those stand among these, in their order?"""
    rest = iter(these)
    return all(tool in rest for tool in those)


def _wrongly_changed(case: Case, did: Did) -> bool:
    if trees.equal(did.before, did.root, did.after):
        return False
    rightly = (tree for way in case.ways if way.changes for tree in trees.ought(did.before, way))
    return not any(trees.equal(tree, did.root, did.after) for tree in rightly)


def _lacking(way: Expected, did: Did) -> str | None:
    """What the answer does not name, or names beside; None when all is well. What was looked at needs no name."""
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
    """The paths that a text names, in full or by their last part; longer names first, which may hold shorter ones."""
    found, text = set(), unicodedata.normalize("NFC", said)
    names = {name for path in paths for name in (path, basename(path))}
    for name in sorted(names, key=len, reverse=True):
        shape = re.compile(rf"(?<![\w/]){re.escape(name)}(?!\w)")
        if shape.search(text):
            text = shape.sub("\0", text)
            found |= {path for path in paths if name in (path, basename(path))}
    return found


def _holds(said: str, text: str) -> bool:
    """Does an answer hold a text? A number counts only where it is no part of another."""
    if text.isdecimal():
        return re.search(rf"(?<![\d.,]){text}(?![\d])(?![.,]\d)", said) is not None
    return text.casefold() in said.casefold()


WORDS = {
    "en": "the is are and of in not have what which you i can do was were with to file files folder",
    "de": "der die das ist sind und von nicht ich sie was welche kann wurde mit datei dateien ordner ein eine",
    "es": "el la los las es son y de en no que cual puedo con archivo archivos carpeta una un se he hay",
}
"""Words by which a language is told from the two others."""


def _foreign(said: str, language: str) -> bool:
    """Is it clearly in another language than the request? Names of files in it may be in any."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"[`«\"“„'][^`»\"”“']*[`»\"”“']|\S+\.\w{2,4}\b", " ", said.casefold()))
    hits = {name: sum(word in known.split() for word in words) for name, known in WORDS.items()}
    others = max(count for name, count in hits.items() if name != language)
    return others >= 3 and others > 2 * hits[language]


def _steps(did: Did) -> str:
    return " → ".join(did.telling) or "no step"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else flat[:199] + "…"
