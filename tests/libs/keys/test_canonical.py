"""Canonical JSON: equal values give equal bytes, and different values different bytes."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.keys.canonical import MAX_DEPTH, Uncanonical, canonical

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("A14a")
@settings(deadline=None)
@given(values)
def test_reading_and_writing_again_gives_the_same_bytes(value: Any) -> None:
    once = canonical(value)
    assert canonical(json.loads(once)) == once


@settings(deadline=None)
@given(st.dictionaries(text, numbers, max_size=6))
def test_the_order_of_members_does_not_matter(value: dict[str, float]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@settings(deadline=None)
@given(values | st.dictionaries(st.text(st.characters(max_codepoint=127)), st.text(st.characters(max_codepoint=127))))
def test_plain_values_have_the_bytes_of_the_general_way(value: Any) -> None:
    # Only a dict is written the quick way.
    assert canonical({"x": value}) == canonical(MappingProxyType({"x": value}))


@pytest.mark.parametrize(
    ("spelled", "also"),
    [("1", "1.0"), ("1", "1e0"), ("0", "-0.0"), ("1e16", "10000000000000000"), ("1e23", "1" + "0" * 23)],
)
def test_number_is_canonical_in_any_spelling(spelled: str, also: str) -> None:
    assert canonical(json.loads(spelled)) == canonical(json.loads(also))


@pytest.mark.requirement("A14a")
def test_integers_that_share_a_double_stay_apart() -> None:
    assert canonical(2**53) != canonical(2**53 + 1)


def test_kinds_that_look_alike_stay_apart() -> None:
    alike: list[Any] = [1, "1", True, "true", None, "null", [], {}, "", 0, False]
    assert len({canonical(value) for value in alike}) == len(alike)


def test_members_are_sorted_as_rfc_8785_says() -> None:
    # RFC 8785 §3.2.3: by UTF-16 code units, which puts U+1F600 before U+FB33.
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    assert list(json.loads(canonical(value)).values()) == [2, 4, 6, 7, 1, 5, 3]


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        "\ud800",
        {"\ud800": 1},
        {1: 2},
        b"bytes",
        {"a": {1, 2}},
        object(),
        pytest.param(10**5000, id="huge"),
    ],
)
def test_value_that_json_cannot_represent_is_refused(value: Any) -> None:
    with pytest.raises(Uncanonical):
        canonical(value)


@pytest.mark.requirement("A22")
def test_a_value_nested_too_deeply_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH + 10_000):
        deep = [deep]
    with pytest.raises(Uncanonical, match="deeper"):
        canonical(deep)
