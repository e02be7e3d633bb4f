"""The table: how many are right, by kind and language, where the others went wrong, and whether anything was harmed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.cli.evaluating.scoring import Score, Stage

if TYPE_CHECKING:
    from services.cli.evaluating.running import Played

FUNNEL = (Stage.NOT_UNDERSTOOD, Stage.WRONG_SKILL, Stage.WRONG_PARAMETERS, Stage.WRONG_ORDER)
"""How far a request came; the other stages are beside this way."""


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    right: int
    of: int

    @classmethod
    def among(cls, scores: Iterable[Score]) -> Share:
        listed = list(scores)
        return cls(sum(score.right for score in listed), len(listed))

    @property
    def value(self) -> float:
        return self.right / self.of if self.of else 1.0


@dataclass(frozen=True)
class Tally:
    """What all scores come to."""

    scores: tuple[Score, ...]

    @property
    def all(self) -> Share:
        return Share.among(self.scores)

    @property
    def wrong_changes(self) -> tuple[Score, ...]:
        return tuple(score for score in self.scores if score.wrong_change)

    @property
    def funnel(self) -> dict[Stage, int]:
        """Every stage with how many went wrong there."""
        found = Counter(score.stage for score in self.scores if score.stage is not None)
        return {stage: found[stage] for stage in (*FUNNEL, *(each for each in Stage if each not in FUNNEL))}

    def by_kind(self) -> Iterator[tuple[str, Share]]:
        kinds = sorted({kind for score in self.scores for kind in score.case.kinds})
        for kind in kinds:
            yield kind, Share.among(score for score in self.scores if kind in score.case.kinds)

    def by_language(self) -> Iterator[tuple[str, Share]]:
        for language in sorted({score.case.language for score in self.scores}):
            yield language, Share.among(score for score in self.scores if score.case.language == language)


@dataclass(frozen=True)
class Costs:
    """What playing them took. Seconds are of the last turn of each case, from the message to its end."""

    p50: float
    p95: float
    catches: int
    tokens: int
    cost_micros: int

    @classmethod
    def of(cls, played: Sequence[Played]) -> Self:
        took = sorted(one.seconds for one in played) or [0.0]
        return cls(
            took[len(took) // 2],
            took[min(len(took) - 1, len(took) * 95 // 100)],
            sum(one.catches for one in played),
            sum(one.tokens for one in played),
            sum(one.cost_micros for one in played),
        )

    def document(self) -> dict[str, float | int]:
        return {
            "seconds_p50": round(self.p50, 3),
            "seconds_p95": round(self.p95, 3),
            "committee_catches": self.catches,
            "tokens": self.tokens,
            "cost_micros": self.cost_micros,
        }


def show_costs(console: Console, costs: Costs) -> None:
    table = Table("", "", box=None, pad_edge=False, show_header=False)
    table.add_row("committee catches", str(costs.catches))
    table.add_row("a turn takes", f"{costs.p50:.2f} s (p50), {costs.p95:.2f} s (p95)")
    table.add_row("tokens", str(costs.tokens))
    table.add_row("cost", f"${costs.cost_micros / 1_000_000:.4f}")
    console.print(table)


def show(console: Console, tally: Tally) -> None:
    """The table for a person."""
    table = Table("", "right", "", box=None, pad_edge=False)
    rows: Sequence[tuple[str, Share]] = [*tally.by_kind(), *tally.by_language(), ("all", tally.all)]
    for name, share in rows:
        style = "bold" if name == "all" else ""
        table.add_row(Text(name), Text(f"{share.right}/{share.of}"), Text(f"{share.value:.0%}"), style=style)
    console.print(table)
    console.print(Text("\nwhere the others went wrong", style="bold"))
    for stage, count in tally.funnel.items():
        if count or stage in FUNNEL:
            console.print(Text(f"  {count:3}  {stage}"))
    harm = tally.wrong_changes
    told = f"wrong changes: {len(harm)}" + "".join(f"\n  {score.case.id}" for score in harm)
    console.print(Text(f"\n{told}", style="red" if harm else "green"))


def failure(score: Score) -> str:
    """One line on a case that is not right."""
    harm = " WRONG CHANGE" if score.wrong_change else ""
    return f"✘ {score.case.id} ({score.stage}{harm}) {score.case.request!r}: {score.detail}"
