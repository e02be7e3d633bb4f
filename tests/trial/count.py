"""From what the world holds and what a contender said of each turn to the figures of the trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from tests.trial.schedule import Turn

State = Literal["completed", "failed", "unknown"]
"""How a turn ended: its effect is said to have happened, not to have happened, or that nobody can tell."""


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a turn's effect: all that were made, and those that were not undone."""

    made: int = 0
    left: int = 0


NOTHING = Found()


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some turns. `effects` counts rows; `hits` counts turns that a kill met between intent and outcome,
    `exposed` those of them whose effect had happened by then."""

    turns: int = 0
    hits: int = 0
    exposed: int = 0
    effects: int = 0
    undone: int = 0
    duplicates: int = 0
    """Second and later effects of one turn that stand."""
    lost: int = 0
    """Turns that never ended, or are said to be done and have no effect."""
    untrue: int = 0
    """Turns that are said to have failed although their effect stands."""
    unknown: int = 0
    """Turns for which a person was asked whether the effect happened."""
    doubled: int = 0
    """Unknown ones whose effect stands twice; they are not among the duplicates."""

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def clean(self) -> bool:
        return not (self.duplicates or self.lost or self.untrue or self.doubled)


def count(
    turns: Iterable[Turn],
    *,
    found: Mapping[str, Found],
    ended: Mapping[str, State],
    unknown: Iterable[str] = (),
    hits: Iterable[str] = (),
    exposed: Iterable[str] = (),
) -> dict[str, Figures]:
    """Figures by effect. `ended` lacks the turns that never ended; `unknown` are those that a person was asked about,
    however they ended after that."""
    asked, hit, bare = set(unknown), set(hits), set(exposed)
    figures: dict[str, Figures] = {}
    for turn in turns:
        name = turn.name
        met = Figures(turns=1, hits=int(name in hit), exposed=int(name in bare))
        one = _of(found.get(name, NOTHING), ended.get(name), asked=name in asked)
        figures[turn.effect] = figures.get(turn.effect, Figures()) + met + one
    return figures


def total(figures: Iterable[Figures]) -> Figures:
    return sum(figures, Figures())


def _of(found: Found, state: State | None, *, asked: bool) -> Figures:
    again = max(0, found.left - 1)
    doubtful = asked or state == "unknown"
    return Figures(
        effects=found.made,
        undone=found.made - found.left,
        duplicates=0 if doubtful else again,
        lost=int(state is None or (state == "completed" and not found.left)),
        untrue=int(state == "failed" and found.left > 0),
        unknown=int(doubtful),
        doubled=again if doubtful else 0,
    )


LEAST_HIT, LEAST_HIT_EACH = 0.3, 0.2
"""The shares of all turns, and of each effect's, that must be hit for the figures to mean something."""


def missing_hits(figures: Mapping[str, Figures]) -> Sequence[str]:
    """Name the figures that rest on too few hits."""
    whole = total(figures.values())
    short = [
        f"{name}: {each.hits} of {each.turns}"
        for name, each in figures.items()
        if each.hits < LEAST_HIT_EACH * each.turns
    ]
    return [*short, *([f"all: {whole.hits} of {whole.turns}"] if whole.hits < LEAST_HIT * whole.turns else [])]
