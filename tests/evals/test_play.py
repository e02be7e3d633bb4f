"""`suma eval`, from what a platform says to the table: events become steps, diffs are compared with what happened."""

from __future__ import annotations

from typing import Any

import pytest

from services.cli.evals.cases import Case, Outcome
from services.cli.evals.play import Observer, Played, announced
from services.cli.evals.scoring import Score, Stage
from services.cli.evals.table import Costs, Share, Tally
from services.cli.evals.trees import FOLDER, Node
from services.cli.streams import SessionEvent

BEFORE = {"a": Node("1"), "in": Node(FOLDER), "in/b": Node("2"), "in/c": Node("3")}
PLAN = {
    "steps": [
        {"step_id": "s1", "ordinal": 1, "tool": "manage-files.list", "mutates": False, "args": {"path": "."}},
        {
            "step_id": "s2",
            "ordinal": 2,
            "tool": "manage-files.delete",
            "mutates": True,
            "args": {"paths": "$step(1).nodes"},
        },
    ]
}


def event(seq: int, kind: str, **data: Any) -> SessionEvent:
    return SessionEvent(seq, kind, "turn", "", data)


def diff(*entries: dict[str, Any], count: int | None = None) -> dict[str, Any]:
    return {"entries": list(entries), "count": len(entries) if count is None else count}


def entry(change: str, path: str, source: str | None = None) -> dict[str, Any]:
    return {"change": change, "path": path, "source": source}


@pytest.mark.parametrize(
    ("told", "after"),
    [
        (diff(), BEFORE),
        (diff(entry("deleted", "in")), {"a": Node("1")}),
        (diff(entry("moved", "d", "a")), {"d": Node("1"), "in": Node(FOLDER), "in/b": Node("2"), "in/c": Node("3")}),
        (
            diff(entry("moved", "out", "in")),
            {"a": Node("1"), "out": Node(FOLDER), "out/b": Node("2"), "out/c": Node("3")},
        ),
        (diff(entry("created", "new")), {**BEFORE, "new": Node(FOLDER)}),
        (
            diff(entry("moved", "in/b2", "in/b"), entry("deleted", "in/c")),
            {"a": Node("1"), "in": Node(FOLDER), "in/b2": Node("2")},
        ),
    ],
)
def test_diff_that_matches_the_change_is_accepted(told: dict[str, Any], after: dict[str, Node]) -> None:
    assert announced(BEFORE, told, after)


@pytest.mark.parametrize("told", [diff(), diff(entry("deleted", "a")), diff(entry("moved", "x", "in/b"))])
def test_diff_that_differs_from_the_change_is_rejected(told: dict[str, Any]) -> None:
    assert not announced(BEFORE, told, {"a": Node("1"), "in": Node(FOLDER), "in/c": Node("3")})


def test_truncated_diff_is_accepted() -> None:
    assert announced(BEFORE, diff(entry("deleted", "a"), count=300), {})


def test_steps_come_from_events_and_mark_feeding_ones() -> None:
    watched = Observer()
    watched.on_event(event(1, "plan.proposed", plan=PLAN, reviews=[{"approved": False}, {"approved": True}]))
    watched.on_event(event(2, "step.changed", step_id="s1", state="succeeded"))
    watched.on_event(event(3, "step.changed", step_id="s2", state="failed"))
    assert [(step.tool, step.succeeded, step.feeds) for step in watched.steps()] == [
        ("manage-files.list", True, True),
        ("manage-files.delete", False, False),
    ]
    assert watched.catches() == 1


def test_finally_rejected_plan_counts_as_catch() -> None:
    watched = Observer()
    watched.on_event(event(1, "turn.ended", state="refused", reason="COMMITTEE_REJECTED"))
    assert watched.catches() == 1


def case(name: str, **fields: Any) -> Case:
    asked = {"id": name, "request": "do it", "folder": "f", "kinds": ["plain", "terse"]}
    return Case.model_validate({**asked, **fields})


def test_the_tally_counts_by_kind_and_harm_apart() -> None:
    tally = Tally(
        (
            Score(case("a"), right=True),
            Score(case("b", kinds=["plain"]), right=False, stage=Stage.WRONG_SKILL, wrong_change=True),
        )
    )
    assert tally.all == Share(1, 2)
    assert dict(tally.by_kind()) == {"plain": Share(1, 2), "terse": Share(1, 1)}
    assert [score.case.id for score in tally.wrong_changes] == ["b"]
    assert tally.funnel[Stage.WRONG_SKILL] == 1


def test_costs_are_sums_and_times_are_percentiles() -> None:
    score = Score(case("a"), right=True)
    played = [Played(score, Outcome.DOES, (), "", seconds, 1, 10, 5) for seconds in (3.0, 1.0, 2.0)]
    assert Costs.of(played) == Costs(p50=2.0, p95=3.0, catches=3, tokens=30, cost_micros=15)
