"""The patient person: takes an offer that leads to the wish, refuses another plan, and says it again in other words."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.evaluating import cases, checking
from services.cli.evaluating.cases import BUNDLED, Cases
from tests.evals import told
from tests.evals.in_process import House

pytestmark = pytest.mark.requirement("S4-44")
FOLDER = """
folders:
  f:
    files:
      a.tmp: {text: a, age: 1}
      b.tmp: {text: b, age: 1}
      Docs/IMG_1.jpg: {size: 1 KB, age: 1}
      Docs/IMG_2.jpg: {size: 1 KB, age: 1}
"""


@pytest.fixture(scope="module")
def house() -> House:
    return House.offline()


def wish(tmp_path: Path, fields: str) -> Cases:
    file = tmp_path / "told.yaml"
    file.write_text(f"cases:\n- {{id: clean-a, folder: f, kinds: [wordy], {fields}}}\n{FOLDER}")
    return cases.read(file)


async def test_what_is_done_at_once_takes_one_message(house: House, tmp_path: Path) -> None:
    among = wish(tmp_path, "request: delete a.tmp, deleted: [a.tmp]")
    story = await told.play(house, among, among.cases[0])
    assert (story.message, story.offers, story.wrong_plans) == (0, 0, 0)


async def test_an_offer_that_leads_to_the_wish_is_taken(house: House, tmp_path: Path) -> None:
    said = "'the IMG ones are of our trip, they might be called Trip 1, Trip 2 and so forth, if you see what I mean'"
    among = wish(tmp_path, f"request: {said}, numbered: {{Docs/*.jpg: 'Docs/Trip {{n}}.jpg'}}")
    story = await told.play(house, among, among.cases[0])
    assert (story.message, story.offers > 0) == (0, True)


async def test_what_is_not_understood_is_said_again(house: House, tmp_path: Path) -> None:
    among = wish(tmp_path, "request: flibber the wobbles, again: [delete b.tmp], deleted: [b.tmp]")
    story = await told.play(house, among, among.cases[0])
    assert (story.message, story.wrong_plans) == (1, 0)


async def test_another_plan_is_refused_counted_and_leaves_the_folder_as_it_was(house: House, tmp_path: Path) -> None:
    among = wish(tmp_path, "request: delete a.tmp, again: [delete b.tmp], deleted: [b.tmp]")
    story = await told.play(house, among, among.cases[0])
    assert (story.message, story.wrong_plans) == (1, 1)


async def test_what_is_never_understood_is_told_as_that(house: House, tmp_path: Path) -> None:
    among = wish(tmp_path, "request: flibber the wobbles, again: [wobble the flibbers], deleted: [b.tmp]")
    assert (await told.play(house, among, among.cases[0])).message is None


@pytest.mark.parametrize("file", told.FILES)
def test_each_bundled_wish_can_be_had_and_is_said_in_several_ways(file: str) -> None:
    bundled = cases.read(BUNDLED / f"{file}.yaml")
    checking.check(bundled)
    assert all(len(case.again) >= 3 for case in bundled.cases)
    assert {case.id.partition("-")[0] for case in bundled.cases} == {"clean", "rename", "search", "sort"}
