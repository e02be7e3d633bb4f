"""The retrieval set of `make bench-memory` is sound."""

from __future__ import annotations

import pytest

from tests.benchmarks.memory import ABILITIES, Split, read

SPLITS = read()
splits = pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)


def test_the_set_has_300_questions_in_two_splits() -> None:
    assert [split.name for split in SPLITS] == ["tuned", "held-out"]
    assert sum(len(split.questions) for split in SPLITS) >= 300


@splits
def test_each_ability_is_asked_for(split: Split) -> None:
    kinds = [question.kind for question in split.questions]
    assert {*kinds} == {*ABILITIES, "absent"}
    assert min(map(kinds.count, kinds)) >= 10


@splits
def test_each_question_needs_facts_unless_it_is_absent(split: Split) -> None:
    assert all(bool(one.needs) != (one.kind == "absent") for one in split.questions)
    assert all(split.facts.keys() >= {*one.needs} for one in split.questions)


@splits
def test_a_stale_fact_is_older_than_its_replacement(split: Split) -> None:
    replaced = [one for one in split.questions if one.kind in ("update", "contradiction")]
    assert all(one.stale and split.facts[one.stale][0] < split.facts[one.needs[0]][0] for one in replaced)


def test_splits_share_no_fact_and_no_question() -> None:
    tuned, held_out = ({text for _, text in split.facts.values()} for split in SPLITS)
    asked, asked_too = ({one.ask for one in split.questions} for split in SPLITS)
    assert tuned.isdisjoint(held_out)
    assert asked.isdisjoint(asked_too)
