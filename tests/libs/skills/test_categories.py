"""Pure rules for tidying."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.skills import Categories, free_name

CATEGORIES = Categories.load(Path(__file__).parents[3] / "skills/organize-by-type/references/categories.yaml")


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("a.PDF", "Documents"),
        ("Photos/b.jpeg", "Images"),
        ("c.tar.gz", "Archives"),
        ("song.mp3", "Audio"),
        ("film.mkv", "Video"),
        ("d.py", "Code"),
        ("e.csv", "Data"),
        ("f.ttf", "Fonts"),
        ("g.exe", "Programs"),
        ("README", "Other"),
        (".env", "Other"),
        ("h.unheard", "Other"),
    ],
)
def test_a_files_category_follows_from_its_extension(name: str, category: str) -> None:
    assert CATEGORIES.category_of(name) == category


def test_no_extension_has_two_categories() -> None:
    listed = [extension for known in CATEGORIES.extensions.values() for extension in known]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("a.txt", [], "a.txt"),
        ("a.txt", ["a.txt"], "a (2).txt"),
        ("a.txt", ["a.txt", "a (2).txt"], "a (3).txt"),
        ("a.tar.gz", ["a.tar.gz"], "a (2).tar.gz"),
        ("A.TXT", ["a.txt"], "A (2).TXT"),
        ("README", ["README"], "README (2)"),
        (".env", [".env"], ".env (2)"),
        ("a (2).txt", ["a (2).txt"], "a (2) (2).txt"),
    ],
)
def test_a_taken_name_gets_the_next_number(name: str, taken: list[str], free: str) -> None:
    assert free_name(name, taken) == free


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)


@given(names, st.lists(names, max_size=8))
def test_generated_free_name_is_unused(name: str, taken: list[str]) -> None:
    assert free_name(name, taken).casefold() not in {other.casefold() for other in taken}
