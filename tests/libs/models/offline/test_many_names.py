"""Folders of many names: what the planner is shown is used, and what it is not shown is said, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.evals.cases import Outcome
from tests.evals.in_process import Agent, Session


def folder(at: Path, each: int) -> Path:
    """As many invoices as holiday photos."""
    at.mkdir()
    for n in range(each):
        (at / f"invoice_{n:05}.pdf").touch()
        (at / f"holiday_{n:05}.jpg").touch()
    return at


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("many") / "shown", 1_000)


@pytest.fixture(scope="module")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("many") / "unseen", 3_000)


async def test_words_of_two_thousand_names_are_known(shown: Path) -> None:
    session = Session(Agent.offline(), shown)
    assert (await session.ask("zip the holiday photos")).outcome is Outcome.DOES
    moved = await session.ask("move the invoices to Invoices")
    assert moved.outcome is Outcome.DOES
    assert len(list((shown / "Invoices").iterdir())) == 1_000
    assert len(list(shown.glob("holiday_*.jpg"))) == 1_000


async def test_word_that_no_name_has_is_not_counted(shown: Path) -> None:
    did = await Session(Agent.offline(), shown).ask("how many reports are there")
    assert did.outcome is Outcome.ASKS
    assert "“reports”" in did.said


async def test_more_names_than_are_shown_need_a_yes(unseen: Path) -> None:
    session = Session(Agent.offline(), unseen)
    asked = await session.ask("move the invoices to Invoices")
    assert asked.outcome is Outcome.ASKS
    assert "6,000 files, more names than I can look at" in asked.said
    assert (await session.ask("yes")).outcome is Outcome.DOES
    assert len(list((unseen / "Invoices").iterdir())) == 3_000


async def test_kind_needs_no_names(unseen: Path) -> None:
    did = await Session(Agent.offline(), unseen).ask("how many photos are there?")
    assert (did.outcome, "3000" in did.said.replace(",", "")) == (Outcome.DOES, True)
