"""Shapes of names: one splits a name, another assembles its parts."""

from __future__ import annotations

import time

import pytest

from libs.skills.name_patterns import BadNamePattern, NamePattern, reshaped

pytestmark = pytest.mark.requirement("S4-59")


@pytest.mark.parametrize(
    ("name", "shape", "becomes", "new"),
    [
        (
            "Bill Weir 14-03-2026",
            "Bill {text} {day}-{month}-{year}",
            "{year}-{month}-{day} Bill {text}",
            "2026-03-14 Bill Weir",
        ),
        (
            "Bill Le Mans 1.3.26",
            "Bill {text} {day}.{month}.{year}",
            "{year}-{month}-{day} {text}",
            "2026-03-01 Le Mans",
        ),
        ("Beleg 3. March 1998", "{text} {day}. {month} {year}", "{text} {year}-{month}-{day}", "Beleg 1998-03-03"),
        ("scan20260314", "scan{year}{month}{day}", "{day}.{month}.{year}", "14.03.2026"),
        ("take 7", "take {number}", "take {number:3}", "take 007"),
        ("take 0007 loud", "take {number} {text}", "{number:2} {text}", "07 loud"),
        ("take 1234", "take {number}", "take {number:3}", "take 1234"),
        ("Stoff Frau Hell", "Stoff {text}", "{text} Stoff", "Frau Hell Stoff"),
        ("Ana O'Neill", "{word} {word2}", "{word2}, {word}", "O'Neill, Ana"),
        ("a {b} c", "a {b} {text}", "{text} {b}", "c {b}"),
    ],
)
def test_name_is_rebuilt_by_a_pattern(name: str, shape: str, becomes: str, new: str) -> None:
    assert reshaped(name, shape, becomes) == new


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("Bill Weir", "Bill {text} {number}"),
        ("bill Weir", "Bill {text}"),
        ("Bill 32-03-2026", "Bill {day}-{month}-{year}"),
        ("Bill 2026", "Bill {day}{month}"),
        ("Ana Mary Hell", "{word} {word2}"),
        ("12345", "{year}"),
    ],
)
def test_name_that_does_not_match_the_pattern_is_unchanged(name: str, shape: str) -> None:
    assert reshaped(name, shape, "x") is None


@pytest.mark.parametrize(
    ("shape", "becomes"),
    [("{text}", "{number}"), ("{text} {text}", "{text}"), ("{text} {text2} {text3} {text4}", "{text}")],
)
def test_new_shape_may_use_only_matched_parts(shape: str, becomes: str) -> None:
    with pytest.raises(BadNamePattern):
        reshaped("any name", shape, becomes)


def test_name_matches_in_any_unicode_normal_form() -> None:
    parts = NamePattern.read("Maß {text}").taken("Maß Jo\u0308rg")
    assert parts == {"text": "Jörg"}


@pytest.mark.requirement("A22")
@pytest.mark.parametrize(
    "shape",
    [
        "{word} {word1} {word2} {word3} {word4} {word5} {word6}!",
        "{text}a{text1}a{text2}!",
        "{number}{number1}{number2}{number3}{number4}{number5}{number6}{number7}!",
        "{word}{number}{year}{month}{day}!",
    ],
)
@pytest.mark.parametrize("piece", ["a", "1", "a ", "a-", "1a"])
def test_hostile_name_costs_its_length_and_no_splits(shape: str, piece: str) -> None:
    began = time.process_time()
    assert NamePattern.read(shape).taken(piece * (250 // len(piece))) is None
    assert time.process_time() - began < 1.0


NINE = " ".join(f"{{number{number}}}" for number in range(9))


@pytest.mark.parametrize("shape", ["{word}{word1}", "{text}{word} x", "{text}{text1}", NINE])
def test_pattern_with_many_ways_to_split_is_refused(shape: str) -> None:
    with pytest.raises(BadNamePattern):
        reshaped("any name", shape, "x")
