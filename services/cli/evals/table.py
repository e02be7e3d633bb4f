"""The table: the share of right cases by kind, the stages of the failures, and the wrong changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.cli.evals.scoring import Score, Stage

if TYPE_CHECKING:
    from services.cli.evals.play import Played

FUNNEL = (Stage.NOT_UNDERSTOOD, Stage.WRONG_SKILL, Stage.WRONG_PARAMETERS, Stage.WRONG_ORDER)
"""The stages that every table lists; the others are listed where they occurred."""


@dataclass(frozen=True)
class Share:
    """A number of right cases, and the number of all."""

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
    """The sums of all scores."""

    scores: tuple[Score, ...]

    @property
    def all(self) -> Share:
        return Share.among(self.scores)

    @property
    def wrong_changes(self) -> tuple[Score, ...]:
        return tuple(score for score in self.scores if score.wrong_change)

    @property
    def funnel(self) -> dict[Stage, int]:
        """Count the failures by stage."""
        found = Counter(score.stage for score in self.scores if score.stage is not None)
        return {stage: found[stage] for stage in (*FUNNEL, *(each for each in Stage if each not in FUNNEL))}

    def by_kind(self) -> Iterator[tuple[str, Share]]:
        kinds = sorted({kind for score in self.scores for kind in score.case.kinds})
        for kind in kinds:
            yield kind, Share.among(score for score in self.scores if kind in score.case.kinds)


@dataclass(frozen=True)
class Costs:
    """The costs of a run. Seconds are those of each case's last turn, from its message to its end."""

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
    """Print the table."""
    table = Table("", "right", "", box=None, pad_edge=False)
    rows: Sequence[tuple[str, Share]] = [*tally.by_kind(), ("all", tally.all)]
    for name, share in rows:
        style = "bold" if name == "all" else ""
        table.add_row(Text(name), Text(f"{share.right}/{share.of}"), Text(f"{share.value:.0%}"), style=style)
    console.print(table)
    console.print(Text("\nwhere the others went wrong", style="bold"))
    for stage, count in tally.funnel.items():
        if count or stage in FUNNEL:
            console.print(Text(f"  {count:3}  {stage}"))
    harm = tally.wrong_changes
    lines = f"wrong changes: {len(harm)}" + "".join(f"\n  {score.case.id}" for score in harm)
    console.print(Text(f"\n{lines}", style="red" if harm else "green"))


def failure(score: Score) -> str:
    """Format a failed case as one line."""
    harm = " WRONG CHANGE" if score.wrong_change else ""
    return f"✘ {score.case.id} ({score.stage}{harm}) {score.case.request!r}: {score.detail}"
