"""The table that a person reads, and `build/kill-trial.json`, which holds all figures."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from tests.trial.count import NOTHING, Figures, count, missing_hits, total
from tests.trial.killer import Result
from tests.trial.schedule import Turn

MAY_BE_UNKNOWN = "at_most_once"
"""The one effect about which a person may be asked."""
LIKE = {
    "plain": "the plain effect: as any tool without a contract",
    "keyed": "with the platform's own id as the service's idempotency key",
    "idempotent": "compare: keyed",
    "reconcilable": "compare: plain",
    "compensable": "compare: plain",
    "at_most_once": "compare: plain",
}
"""Which rows are like for like: the others know no effect classes, so their plain row stands beside three of ours."""


@dataclass(frozen=True)
class Account:
    """A contender's run, counted."""

    name: str
    figures: Mapping[str, Figures]
    result: Result
    stopped: Figures
    """Of the turns that were under way in a stopped process; they are in `figures` too."""
    faults: Sequence[Mapping[str, Any]]
    """The turns that are not as they should be, each with all that is known of it."""
    ours: bool

    @property
    def problems(self) -> Sequence[str]:
        """What makes the trial fail; only our own can."""
        if not self.ours:
            return []
        bad = [f"{effect}: {_said(each)}" for effect, each in self.figures.items() if not each.clean]
        for effect, each in self.figures.items():
            if each.unknown and effect != MAY_BE_UNKNOWN:
                bad.append(f"{effect}: {each.unknown} unknown")
        return [*bad, *(f"too few hits, {short}" for short in missing_hits(self.figures))]

    def document(self) -> dict[str, Any]:
        run = self.result
        return {
            "contender": self.name,
            "versions": dict(run.versions),
            "seconds": round(run.seconds, 1),
            "kills": run.kills,
            "aimed": dict(run.aimed),
            "met": dict(run.met),
            "effects": {effect: asdict(each) for effect, each in self.figures.items()},
            "all": asdict(total(self.figures.values())),
            "stops": run.stops,
            "stopped": asdict(self.stopped),
            "problems": list(self.problems),
            "faults": list(self.faults),
        }


def counted(turns: Sequence[Turn], run: Result) -> dict[str, Figures]:
    """A run's figures of these turns, by effect."""
    return count(turns, found=run.found, ended=run.ended, unknown=run.unknown, hits=run.hits, exposed=run.exposed)


def account(name: str, turns: Sequence[Turn], result: Result, *, ours: bool) -> Account:
    stopped = total(counted([turn for turn in turns if turn.name in result.stopped], result).values())
    faults = [_fault(turn, result) for turn in turns if not counted([turn], result)[turn.effect].clean]
    return Account(name, counted(turns, result), result, stopped, faults, ours)


def _fault(turn: Turn, result: Result) -> dict[str, Any]:
    found = result.found.get(turn.name, NOTHING)
    return {
        "turn": turn.name,
        "effect": turn.effect,
        "state": result.ended.get(turn.name, "never ended"),
        "words": result.words.get(turn.name, ""),
        "hits": result.hits.get(turn.name, 0),
        "stopped": turn.name in result.stopped,
        "effects": asdict(found),
    }


def document(accounts: Sequence[Account], *, seed: int, turns: int) -> dict[str, Any]:
    machine = {"python": platform.python_version(), "system": platform.platform()}
    return {"seed": seed, "turns": turns, **machine, "contenders": [each.document() for each in accounts]}


COLUMNS = (
    *("turns", "kills", "hits", "exposed", "effects", "undone"),
    *("duplicates", "lost", "untrue", "unknown", "doubled"),
)
LEGEND = """kills: of the executor's process; hits: turns that a kill met between intent and outcome; exposed: those of
them whose effect had happened; untrue: said to have failed, and did not"""


def table(accounts: Sequence[Account]) -> Table:
    made = Table("contender", "effect", title="SIGKILL around effects", caption=LEGEND)
    for name in COLUMNS:
        made.add_column(name, justify="right")
    made.add_column("like for like")
    for each in accounts:
        for effect, figures in each.figures.items():
            made.add_row(each.name, effect, *_cells(figures, ""), LIKE.get(effect, ""))
        made.add_row(each.name, "[bold]all", *_cells(total(each.figures.values()), str(each.result.kills)), "")
        if each.result.stops:
            made.add_row(
                each.name,
                "stopped",
                *_cells(each.stopped, str(each.result.stops)),
                "SIGSTOP beyond the lease, then woken",
            )
        made.add_section()
    return made


def _cells(of: Figures, kills: str) -> Sequence[str]:
    bad = "[red]" if not of.clean else ""
    wrong = [f"{bad}{number}" for number in (of.duplicates, of.lost, of.untrue)]
    return [
        str(of.turns),
        kills,
        str(of.hits),
        str(of.exposed),
        str(of.effects),
        str(of.undone),
        *wrong,
        str(of.unknown),
        str(of.doubled),
    ]


def _said(of: Figures) -> str:
    named = {"duplicates": of.duplicates, "lost": of.lost, "untrue": of.untrue, "doubled": of.doubled}
    return ", ".join(f"{name} {number}" for name, number in named.items() if number)
