"""The heuristic critic: measures of a picture or document, without a model (S3-24).

Faults fail an asset at once: it does not render, is blank, too large or too long for its width. Else three scores:

- clarity: the smallest text in pixels, when the longer side is shown with `shown` pixels, divided by 12. At 9 px it is
  0.75. Without text it is 1. In a PNG or PDF it falls by the share of letters without a font here; half is a fault.
- relevance: the share of the expected labels (`Made.labels`) that are in it; 1 where none are known.
- aesthetic: the mean of two parts. Shape is 1 up to a ratio of sides of 3, and falls to 0 at `ratio`. Space is 1 where
  0.5 % to 60 % of the pixels are drawn on, and falls to 0 towards none and all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.multimodal.composing import description, title
from libs.multimodal.ports import Brief, CannotProduce, Input, Made, StepType, Verdict
from libs.multimodal.producers.isolated import Limits, render

LEGIBLE, COMFORTABLE = 9.0, 12.0
"""Pixels of a text that can be read, and of one that reads well."""
GOOD_RATIO = 3.0
DRAWN_LEAST, DRAWN_MOST = 0.005, 0.6
BLANK = 0.0002
"""A share of drawn pixels below this is a blank picture."""
UNREADABLE = 0.5
"""A share of letters without a font from which a text cannot be read."""
CRITERIA = ("clarity", "relevance", "aesthetic")
PICTURES = frozenset({"svg", "png", "jpeg", "webp"})
LIMITS = Limits(seconds=20, wait=60.0)
PLACED = re.compile(r"!\[[^\]]*\]\(asset:([A-Za-z0-9._-]+)\)")
"""A figure that the text of a section places."""
TEXT_SHOWN = frozenset({StepType.DIAGRAM, StepType.CHART})
"""Steps whose text must be legible; of other pictures nothing is known about text."""


@dataclass(frozen=True, slots=True)
class HeuristicCritic:
    """Judges by measures: `shown` is the longer side in pixels of a picture on a page, `ratio` the longest shape."""

    shown: int = 1000
    ratio: float = 12.0
    size: int = 16 << 20
    """The most bytes of an asset."""

    async def judge(
        self, brief: Brief, made: Made, rubric: Mapping[str, float], *, check: Callable[[], None]
    ) -> Verdict:
        """Judge it; the contract is `Critic.judge`. Without a rubric only faults fail."""
        if len(made.data) > self.size:
            return _failed(
                f"it has {len(made.data) >> 20} MiB; draw less, so that it has at most {self.size >> 20} MiB"
            )
        try:
            if made.format in PICTURES:
                return _verdict(_lettered(made, await self._picture(brief, made, check)), rubric)
            if made.format == "pdf":
                return _verdict(_lettered(made, await self._document(brief, made, check)), rubric)
        except CannotProduce as error:
            return _failed(f"it does not render: {error}")
        return _verdict(_text(made), rubric)

    async def _picture(self, brief: Brief, made: Made, check: Callable[[], None]) -> _Judged:
        head = {"format": made.format, "labels": list(made.labels)}
        seen, _ = await render("inspect", head, [made.data], check=check, limits=LIMITS)
        # A PNG's text cannot be measured: its producer did, on the drawing that it was made from.
        facts = seen if made.format == "svg" else made.parameters.get("measured") or seen
        width, height = float(seen["width"]), float(seen["height"])
        longer, shorter = max(width, height), max(1.0, min(width, height))
        judged = _Judged({}, [], [])
        if seen["ink"] < BLANK or facts.get("marks", 1) == 0:
            judged.faults.append("it is blank; check that the source names nodes, or that the data has rows")
        if longer / shorter > self.ratio:
            judged.faults.append(
                f"it is {longer / shorter:.0f} times as {_long(width, height)}; {_turn(width, height)}"
            )
        judged.scores["clarity"] = self._clarity(brief, facts, judged)
        judged.scores["relevance"] = _relevance(made.labels, facts.get("missing", ()), judged)
        judged.scores["aesthetic"] = self._aesthetic(longer / shorter, seen["ink"], (width, height), judged)
        return judged

    def _clarity(self, brief: Brief, facts: Mapping[str, Any], judged: _Judged) -> float:
        smallest, longer = float(facts.get("smallest", 0.0)), float(max(1.0, facts["width"], facts["height"]))
        if brief.step_type not in TEXT_SHOWN or not smallest:
            return 1.0
        shown = smallest * min(1.0, self.shown / longer)
        if shown < LEGIBLE:
            fewer = max(5, int(facts.get("texts", 30) * (shown / LEGIBLE)))
            judged.critique.append(
                f"its smallest text is {shown:.1f} px high when it is {self.shown} px long; draw at most {fewer}"
                " labels, or larger letters"
            )
        return min(1.0, shown / COMFORTABLE)

    def _aesthetic(self, ratio: float, ink: float, size: tuple[float, float], judged: _Judged) -> float:
        shape = min(1.0, max(0.0, (self.ratio - ratio) / (self.ratio - GOOD_RATIO)))
        if ratio > GOOD_RATIO:
            judged.critique.append(f"it is {ratio:.1f} times as {_long(*size)}; {_turn(*size)}")
        space = min(1.0, ink / DRAWN_LEAST) * min(1.0, (1.0 - ink) / (1.0 - DRAWN_MOST))
        if ink < DRAWN_LEAST:
            judged.critique.append("it is nearly empty; use less space between its parts")
        return (shape + space) / 2

    async def _document(self, brief: Brief, made: Made, check: Callable[[], None]) -> _Judged:
        """Judge a PDF: clarity is the share of pages with content. Each figure that a section names must be in it."""
        named = _figures(brief)
        head = {"labels": list(made.labels), "figures": [description(each) for each in named]}
        facts, _ = await render("pdf", head, [made.data], check=check, limits=LIMITS)
        judged, pages = _Judged({}, [], []), int(facts["pages"])
        if not pages:
            judged.faults.append("it has no pages; give it at least one section")
        if facts["unshown"]:
            lost = ", ".join(repr(title(named[n])[:60]) for n in facts["unshown"][:5])
            judged.faults.append(
                f"the figures {lost} are not in it; name pictures (SVG, PNG, JPEG or WebP) in sections"
            )
        if empty := facts["empty"]:
            judged.critique.append(f"page {empty[0]} is empty; remove it, or give its section a text")
        judged.scores["clarity"] = 1.0 - len(empty) / max(1, pages)
        judged.scores["relevance"] = _relevance(made.labels, facts["missing"], judged)
        judged.scores["aesthetic"] = 1.0
        return judged


@dataclass(frozen=True, slots=True)
class _Judged:
    scores: dict[str, float]
    critique: list[str]
    faults: list[str]


def _figures(brief: Brief) -> list[Input]:
    """Return the inputs that the sections of a document name as figures."""
    sections = brief.content.get("sections") or ()
    named = {
        asset for each in sections for asset in (*(each.get("assets") or ()), *PLACED.findall(each.get("text", "")))
    }
    return [each for each in brief.inputs if each.asset_id in named]


def _lettered(made: Made, judged: _Judged) -> _Judged:
    """Judge letters without a font. The text of an SVG is drawn where it is shown, with the fonts of that machine."""
    unreadable = made.format != "svg" and made.undrawn >= UNREADABLE
    (judged.faults if unreadable else judged.critique).extend(made.warnings)
    if made.format != "svg":
        judged.scores["clarity"] *= 1.0 - made.undrawn
    return judged


def _relevance(labels: Sequence[str], missing: Sequence[str], judged: _Judged) -> float:
    if not labels or not missing:
        return 1.0
    named = ", ".join(repr(label[:60]) for label in missing[:5])
    judged.critique.append(f"the labels {named} are missing; show each of them as text")
    return max(0.0, 1.0 - len(missing) / len(labels))


def _text(made: Made) -> _Judged:
    """Judge HTML or Markdown by its labels."""
    text = made.data.decode(errors="replace")
    judged = _Judged(dict.fromkeys(CRITERIA, 1.0), [], [])
    if not text.strip():
        judged.faults.append("it is empty; give it at least one section")
    missing = [label for label in made.labels if label not in text]
    judged.scores["relevance"] = _relevance(made.labels, missing, judged)
    return judged


def _verdict(judged: _Judged, rubric: Mapping[str, float]) -> Verdict:
    scores = {name: round(judged.scores[name], 3) for name in CRITERIA}
    low = [name for name in CRITERIA if scores[name] < rubric.get(name, 0.0)]
    said = list(dict.fromkeys([*judged.faults, *judged.critique]))
    if low and not said:
        said = [f"its {name} is {scores[name]:.2f}, and {rubric[name]:.2f} is asked for; {MENDS[name]}" for name in low]
    if judged.faults:
        scores = dict.fromkeys(CRITERIA, 0.0)
    return Verdict(not judged.faults and not low, scores, tuple(said))


def _failed(critique: str) -> Verdict:
    return Verdict(False, dict.fromkeys(CRITERIA, 0.0), (critique,))


MENDS = {
    "clarity": "draw larger letters",
    "relevance": "name what was asked for",
    "aesthetic": "draw fewer parts, with more space between them",
}


def _long(width: float, height: float) -> str:
    return "wide as high" if width > height else "high as wide"


def _turn(width: float, height: float) -> str:
    direction = "from top to bottom" if width > height else "from left to right"
    return f"draw it {direction}, or fewer parts in a row"
