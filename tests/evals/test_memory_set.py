"""The retrieval set of `make bench-memory` is sound."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
import yaml

from tests.benchmarks import memory

Document = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> Document:
    read: Document = yaml.safe_load(memory.SET.read_text())
    return read


def test_the_set_has_300_facts_and_questions(document: Document) -> None:
    assert len(document["facts"]) + len(document["questions"]) >= 300


def test_each_question_needs_facts_unless_it_is_absent() -> None:
    facts, questions = memory.read()
    assert all(bool(one.needs) != (one.kind == "absent") and facts.keys() >= {*one.needs} for one in questions)


def test_a_stale_fact_is_older_than_its_replacement(document: Document) -> None:
    said: dict[str, date] = {name: on for name, (on, _) in document["facts"].items()}
    stale = [(one["stale"], one["needs"][0]) for one in document["questions"] if "stale" in one]
    assert len(stale) == 25
    assert all(said[older] < said[newer] for older, newer in stale)
