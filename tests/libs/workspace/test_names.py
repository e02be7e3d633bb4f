"""Names go to text and back without loss, whatever bytes they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.workspace import names
from libs.workspace.errors import InvalidPath


@pytest.mark.requirement("S4-24")
@given(st.binary(max_size=40).map(lambda raw: raw.replace(b"\0", b"")))
def test_encoded_bytes_decode_to_themselves(raw: bytes) -> None:
    assert names.decode(names.encode(raw)) == raw


@pytest.mark.requirement("S4-24")
@given(st.binary(max_size=40).map(lambda raw: raw.replace(b"\0", b"")))
def test_the_text_is_valid_json_and_utf8(raw: bytes) -> None:
    text = names.encode(raw)
    assert "\0" not in text
    assert json.loads(json.dumps(text).encode()) == text


@pytest.mark.slow
@given(st.text(max_size=20))
def test_decodable_text_is_the_only_spelling_of_its_bytes(text: str) -> None:
    try:
        raw = names.decode(text)
    except InvalidPath:
        return
    assert names.encode(raw) == text


@pytest.mark.parametrize("text", ["a\\x2fb", "a\\x00", "a\\", "\\q", "\\xZZ", "\\xFF", "a\0b", "\ud800"])
@pytest.mark.requirement("A5")
def test_non_canonical_spelling_is_refused(text: str) -> None:
    with pytest.raises(InvalidPath):
        names.decode(text)


def test_bytes_that_are_not_utf8_are_shown_as_hex() -> None:
    assert names.encode(b"caf\xe9\\") == "caf\\xe9\\\\"


def test_lineage_lists_the_path_and_its_parents() -> None:
    assert names.lineage("a/b/c") == ["a/b/c", "a/b", "a"]
    assert names.lineage("") == []
