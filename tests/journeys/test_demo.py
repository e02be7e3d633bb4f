"""`make demo`: the worked example from plan to rollback, as a stranger runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.installation import Installation

SENTENCES = (
    "✔ the turn was completed and committed",
    "✔ the group that was left out is still whole",
    "✔ no content was lost",
    "✔ the rollback was completed",
)


@pytest.mark.requirement("A28", "A24", "S4-26", "S4-48", "S4-49")
async def test_worked_example_is_cleaned_and_restored_exactly(tmp_path: Path) -> None:
    said = await Installation(tmp_path / "unused", tmp_path).run("services.cli.demo")
    assert said.code == 0, said.out + said.err
    assert "47 files" in said.out
    assert "3 groups of duplicates" in said.out
    assert "Removed 3 duplicate files" in said.out
    assert "✔ before and after are equal: 47 files" in said.out
    assert all(sentence in said.out for sentence in SENTENCES)


@pytest.mark.requirement("A28", "A24")
async def test_random_folder_is_cleaned_and_restored_exactly(tmp_path: Path) -> None:
    said = await Installation(tmp_path / "unused", tmp_path).run("services.cli.demo", "--random", "--seed", "20261121")
    assert said.code == 0, said.out + said.err
    assert "seed 20261121" in said.out
    assert all(sentence in said.out for sentence in SENTENCES)
