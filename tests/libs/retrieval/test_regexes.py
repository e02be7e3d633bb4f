"""Regexes that are compiled where they are first used."""

from __future__ import annotations

import re

import pytest

from libs.retrieval.regexes import regex


def test_it_finds_what_a_compiled_one_finds() -> None:
    later, at_once = regex(r"(?P<year>\d{4})", re.IGNORECASE), re.compile(r"(?P<year>\d{4})", re.IGNORECASE)
    for _ in range(2):
        assert [found["year"] for found in later.finditer("2024 and 2025")] == ["2024", "2025"]
        assert later.sub("x", "2024!") == at_once.sub("x", "2024!")
    assert (later.pattern, later.flags, later.groupindex) == (at_once.pattern, at_once.flags, at_once.groupindex)


def test_a_wrong_one_is_refused_where_it_is_used() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("a")
