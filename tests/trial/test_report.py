"""The report: when the trial fails, and what it writes down."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

import pytest
from rich.console import Console

from tests.trial.count import Found, State
from tests.trial.killer import Result
from tests.trial.report import Account, account, document, table
from tests.trial.schedule import Turn

TURNS = [Turn("t1", "idempotent", 0.0, ()), Turn("t2", "at_most_once", 0.0, ())]
ONCE = {turn.name: Found(1, 1) for turn in TURNS}
DONE: Mapping[str, State] = {turn.name: "completed" for turn in TURNS}


def told(
    *, found: Mapping[str, Found] = ONCE, unknown: str = "", hits: Mapping[str, int] | None = None, ours: bool = True
) -> Account:
    """The account of two turns that a kill met each, unless it is said otherwise."""
    result = Result(
        ended=DONE,
        words={"t1": "completed"},
        unknown=frozenset(filter(None, [unknown])),
        hits=hits if hits is not None else {"t1": 1, "t2": 2},
        exposed=frozenset(["t2"]),
        found=found,
        kills=2,
        aimed={"held": 2},
        met={"held": 2},
        stops=0,
        stopped=frozenset(),
        versions={},
        seconds=1.0,
    )
    return account("Suma", TURNS, result, ours=ours)


@pytest.mark.requirement("A17a")
def test_one_effect_for_each_turn_is_no_problem() -> None:
    assert told().problems == []
    assert told(unknown="t2").problems == []


@pytest.mark.requirement("A17a")
def test_duplicate_fails_the_trial_and_its_turn_is_recorded() -> None:
    failed = told(found={**ONCE, "t1": Found(2, 2)})
    assert failed.problems == ["idempotent: duplicates 1"]
    assert [(fault["turn"], fault["hits"], fault["words"]) for fault in failed.faults] == [("t1", 1, "completed")]


def test_unknown_effects_other_than_at_most_once_fail_the_trial() -> None:
    assert told(unknown="t1").problems == ["idempotent: 1 unknown"]


def test_trial_with_too_few_hits_fails() -> None:
    assert told(hits={"t2": 1}).problems == ["too few hits, idempotent: 0 of 1"]


def test_faults_of_other_contenders_do_not_fail_the_trial() -> None:
    peer = told(found={**ONCE, "t1": Found(3, 3)}, ours=False)
    assert (peer.problems, peer.figures["idempotent"].duplicates) == ([], 2)


def test_document_and_table_contain_every_figure() -> None:
    said = document([told()], seed=7, turns=2)
    assert (said["seed"], said["contenders"][0]["all"]["hits"], said["contenders"][0]["kills"]) == (7, 2, 2)
    page = Console(file=StringIO(), width=200)
    page.print(table([told()]))
    assert "at_most_once" in page.file.getvalue()  # type: ignore[attr-defined]
