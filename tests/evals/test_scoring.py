"""Scoring: what was right, where it went wrong if not, and whether it did harm."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from services.cli.evals import folders, trees
from services.cli.evals.cases import Case, Outcome
from services.cli.evals.folders import FolderSpec
from services.cli.evals.scoring import Did, Ran, Score, Stage, judge

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
FOLDER = FolderSpec.model_validate(
    {
        "files": {
            "a.tmp": {"size": "1 KB", "age": 3},
            "b.tmp": {"size": "2 KB", "age": 30},
            "c.txt": {"text": "one two\n", "age": 1},
            "copy of c.txt": {"same": "c.txt", "age": 0},
            "in/d.txt": {"text": "four\n", "age": 5},
        }
    }
)
LISTED = Ran("manage-files.list", feeds=True)
DELETED = Ran("manage-files.delete", mutates=True)


def case(**fields: Any) -> Case:
    asked = {"id": "c", "request": "delete the tmp files", "folder": "f", "kinds": ["plain"]}
    return Case.model_validate({**asked, **fields})


TMP = case(tools=["manage-files.delete"], deleted=["*.tmp"])
BACK = case(outcome="asks")


class ScoredFolder:
    """A folder in which something is done, and judged."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folders.make(FOLDER, root, NOW)
        self.before = trees.seen(root)

    def judged(
        self,
        case: Case,
        *steps: Ran,
        said: str = "",
        outcome: Outcome = Outcome.DOES,
        doing: Callable[[Path], object] = lambda root: None,
        unexplained: bool = False,
    ) -> Score:
        doing(self.root)
        did = Did(outcome, self.root, self.before, trees.seen(self.root), steps, said, unexplained)
        return judge(case, did)


@pytest.fixture
def scored(tmp_path: Path) -> ScoredFolder:
    return ScoredFolder(tmp_path)


def both(root: Path) -> None:
    (root / "a.tmp").unlink()
    (root / "b.tmp").unlink()


def one(root: Path) -> None:
    (root / "a.tmp").unlink()


def test_exactly_the_expected_change_is_right(scored: ScoredFolder) -> None:
    score = scored.judged(TMP, LISTED, DELETED, doing=both)
    assert score.right
    assert score.stage is None
    assert not score.wrong_change


def test_any_tool_may_make_the_expected_change(scored: ScoredFolder) -> None:
    assert scored.judged(TMP, Ran("bash", mutates=True), doing=both).right


def test_half_of_the_expected_change_scores_wrong_parameters(scored: ScoredFolder) -> None:
    score = scored.judged(TMP, LISTED, DELETED, doing=one)
    assert score.stage is Stage.WRONG_PARAMETERS
    assert score.wrong_change


def test_another_tool_that_changes_is_the_wrong_skill(scored: ScoredFolder) -> None:
    score = scored.judged(TMP, LISTED, Ran("manage-files.move", mutates=True), doing=one)
    assert score.stage is Stage.WRONG_SKILL


def test_right_tools_in_wrong_order_are_named(scored: ScoredFolder) -> None:
    first, second = "remove-duplicates.remove", "organize-by-type.sort"
    score = scored.judged(
        case(tools=[first, second], deleted=["*.tmp"]), Ran(second, mutates=True), Ran(first, mutates=True), doing=one
    )
    assert score.stage is Stage.WRONG_ORDER


def test_a_step_that_failed_is_named_before_its_parameters(scored: ScoredFolder) -> None:
    failed = Ran("manage-files.delete", mutates=True, succeeded=False)
    score = scored.judged(TMP, LISTED, failed)
    assert score.stage is Stage.FAILED
    assert not score.wrong_change


def test_asking_back_is_right_where_a_careful_user_would(scored: ScoredFolder) -> None:
    assert scored.judged(BACK, outcome=Outcome.ASKS, said="Which files?").right


def test_needless_question_is_not_right_but_harmless(scored: ScoredFolder) -> None:
    score = scored.judged(TMP, outcome=Outcome.ASKS, said="Which files?")
    assert score.stage is Stage.ASKED
    assert not score.wrong_change


def test_acting_instead_of_asking_is_a_wrong_change(scored: ScoredFolder) -> None:
    score = scored.judged(BACK, LISTED, DELETED, doing=both)
    assert score.stage is Stage.ACTED
    assert score.wrong_change


def test_text_instead_of_a_change_scores_not_understood(scored: ScoredFolder) -> None:
    assert scored.judged(TMP, outcome=Outcome.DECLINES, said="I can't do that.").stage is Stage.NOT_UNDERSTOOD


def test_change_in_a_talking_turn_is_wrong(scored: ScoredFolder) -> None:
    assert scored.judged(case(outcome="talks"), outcome=Outcome.TALKS, doing=one).wrong_change


def test_unexplained_text_counts_as_a_refusal(scored: ScoredFolder) -> None:
    refusal = case(outcome="declines")
    assert scored.judged(refusal, outcome=Outcome.TALKS, unexplained=True).right
    assert not scored.judged(refusal, outcome=Outcome.TALKS).right


def test_any_listed_alternative_is_right(scored: ScoredFolder) -> None:
    either = case(deleted=["*.tmp"], **{"or": [{"deleted": ["a.tmp"]}]})
    assert scored.judged(either, DELETED, doing=one).right


def test_either_copy_may_be_deleted(scored: ScoredFolder) -> None:
    twins = case(one_of=[["c.txt", "copy of c.txt"]])
    assert scored.judged(twins, DELETED, doing=lambda root: (root / "c.txt").unlink()).right


def test_right_name_with_other_content_is_a_wrong_change(scored: ScoredFolder) -> None:
    renamed = case(moved={"c.txt": "e.txt"})

    def forged(root: Path) -> None:
        (root / "c.txt").unlink()
        (root / "e.txt").write_text("forged")

    assert scored.judged(renamed, Ran("manage-files.rename", mutates=True), doing=forged).wrong_change


LOOK = case(tools=["manage-files.list"], shows=["a.tmp", "b.tmp"])


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("2 files: a.tmp, b.tmp.", True),
        ("1 file: a.tmp.", False),
        ("3 files: a.tmp, b.tmp, c.txt.", False),
        ("2 files.", False),
    ],
)
def test_listing_must_show_exactly_the_expected_files(scored: ScoredFolder, said: str, right: bool) -> None:
    assert scored.judged(LOOK, Ran("manage-files.list"), said=said).right is right


def test_longer_name_does_not_match_its_part(scored: ScoredFolder) -> None:
    found = case(tools=["search-files.find"], shows=["copy of c.txt"])
    assert scored.judged(found, Ran("search-files.find"), said="1 file: copy of c.txt").right
    assert not scored.judged(case(shows=["c.txt"]), Ran("search-files.find"), said="1 file: copy of c.txt").right


def test_answer_about_a_single_file_need_not_name_it(scored: ScoredFolder) -> None:
    summary = Ran("summarize.summarize", args={"paths": ["c.txt"]})
    assert scored.judged(case(shows=["c.txt"]), summary, said="one two").right


@pytest.mark.parametrize(
    ("said", "right"), [("There are 4.", True), ("14 files", False), ("4.2 MB", False), ("4,096 bytes", False)]
)
def test_expected_number_does_not_match_inside_another(scored: ScoredFolder, said: str, right: bool) -> None:
    assert scored.judged(case(answer=["4"]), Ran("analyze-directory.report"), said=said).right is right


@pytest.mark.parametrize(("name", "right"), [("Whatever it is called.zip", True), ("c.tar", False)])
def test_archive_may_have_any_name_if_none_is_given(scored: ScoredFolder, name: str, right: bool) -> None:
    def packing(root: Path) -> None:
        with zipfile.ZipFile(root / name, "w") as archive:
            archive.write(root / "c.txt", "c.txt")

    zipped = case(packed={"*.zip": ["c.txt"]})
    assert scored.judged(zipped, Ran("archive-files.pack", mutates=True), doing=packing).right is right
