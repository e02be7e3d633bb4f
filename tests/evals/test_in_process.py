"""The fast loop: the offline model on real files, whose words and changes are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.evals import cases
from services.cli.evals.scoring import Score, Stage
from tests.evals.in_process import Agent, score

CASES = """
folders:
  f: {files: {a.tmp: {size: 1 KB, age: 1}, b.txt: {text: b, age: 1}, c.tmp: {size: 2 KB, age: 1}}}
cases:
- {id: right, request: delete all the .tmp files, folder: f, kinds: [plain], deleted: ["*.tmp"], answer: ["2"]}
- {id: harm, request: delete all the .tmp files, folder: f, kinds: [plain], deleted: [a.tmp]}
- {id: asked, request: frobnicate the gizmos, folder: f, kinds: [plain], deleted: [a.tmp]}
- id: later
  request: delete all the .tmp files
  folder: f
  kinds: [earlier-turns]
  before: [{request: rename b.txt to d.txt, moved: {b.txt: d.txt}}]
  deleted: ["*.tmp"]
- id: too-late
  request: delete all the .tmp files
  folder: f
  kinds: [earlier-turns]
  before: [{request: rename b.txt to d.txt, moved: {b.txt: e.txt}}]
  deleted: ["*.tmp"]
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> cases.Cases:
    file: Path = tmp_path_factory.mktemp("cases") / "mine.yaml"
    file.write_text(CASES)
    return cases.read(file)


async def played(mine: cases.Cases, name: str) -> Score:
    return await score(Agent.offline(), mine, mine.of(id=name).cases[0])


async def test_offline_model_passes_a_case_on_real_files(mine: cases.Cases) -> None:
    found = await played(mine, "right")
    assert found.right, found.detail


async def test_more_than_was_meant_is_a_wrong_change(mine: cases.Cases) -> None:
    found = await played(mine, "harm")
    assert found.stage is Stage.WRONG_PARAMETERS
    assert found.wrong_change


async def test_request_that_is_not_understood_changes_nothing(mine: cases.Cases) -> None:
    found = await played(mine, "asked")
    assert found.stage in (Stage.ASKED, Stage.NOT_UNDERSTOOD)
    assert not found.wrong_change


async def test_earlier_turns_come_first_and_must_go_right(mine: cases.Cases) -> None:
    assert (await played(mine, "later")).right
    assert (await played(mine, "too-late")).stage is Stage.BEFORE
