"""A row of the result: what we measured, beside what, and whether the goal of architecture.md 18 holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table
from typing_extensions import override


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on the ratio, or on the value itself where there is nothing to compare with."""

    bound: float
    at_least: bool = False

    def holds(self, number: float) -> bool:
        return number >= self.bound if self.at_least else number <= self.bound

    @override
    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


def most(bound: float) -> Goal:
    return Goal(bound)


def least(bound: float) -> Goal:
    return Goal(bound, at_least=True)


@dataclass(frozen=True, slots=True)
class Row:
    """`reference` is in the same unit as `value`, measured in the same run; without it the goal is absolute."""

    name: str
    value: float
    unit: str
    against: str | None = None
    reference: float | None = None
    goal: Goal | None = None
    paired: float | None = None
    """The median of the rounds' own ratios, where there were rounds; else the ratio is of the two figures."""
    why: str = ""
    """Why the goal is missed, if it is: what the work consists of, in counts."""

    @property
    def ratio(self) -> float | None:
        if self.paired is not None:
            return self.paired
        return self.value / self.reference if self.reference else None

    @property
    def holds(self) -> bool | None:
        if self.goal is None:
            return None
        return self.goal.holds(self.ratio if self.ratio is not None else self.value)

    def document(self) -> dict[str, Any]:
        """As `build/bench.json` has it."""
        goal = str(self.goal) if self.goal else None
        said = asdict(self)
        del said["paired"]
        why = self.why if self.holds is False else ""
        return {**said, "ratio": self.ratio, "goal": goal, "holds": self.holds, "why": why}


def table(rows: Iterable[Row]) -> Table:
    made = Table("what", "we", "unit", "against", "they", "ratio", "goal", "holds", title="Suma, measured")
    for column in (1, 4, 5, 6):
        made.columns[column].justify = "right"
    made_of = list(rows)
    for row in made_of:
        verdict = {None: "", True: "[green]yes", False: "[red]lost"}[row.holds]
        made.add_row(
            row.name,
            figure(row.value),
            row.unit,
            row.against or "–",
            figure(row.reference),
            figure(row.ratio),
            str(row.goal or ""),
            verdict,
        )
    lost = dict.fromkeys(row.why for row in made_of if row.holds is False and row.why)
    made.caption = "\n".join(f"lost: {why}" for why in lost) or None
    return made


def figure(number: float | None) -> str:
    """Three digits that mean something."""
    if number is None:
        return "–"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
