"""Words: what comes from elsewhere cannot give orders to a terminal."""

from __future__ import annotations

import pytest

from services.cli import words


@pytest.mark.parametrize("name", ["\x1b[2Jgone.txt", "a\rb", "bell\x07", "‮gpj.exe", "half\udce9"])
def test_nothing_in_a_name_reaches_the_terminal_as_an_order(name: str) -> None:
    shown = words.plain(name)
    assert shown.isprintable()
    assert shown != name


@pytest.mark.parametrize("name", ["Rechnung März.pdf", "日本語.txt", "emoji 🎉.txt", "two  spaces"])
def test_ordinary_name_is_shown_unchanged(name: str) -> None:
    assert words.line(name) == name


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert words.line("x" * 50, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("amount", "said"),
    [(0, "0 bytes"), (1, "1 byte"), (1_500, "1.5 kB"), (12_000_000, "12 MB"), (5 * 10**15, "5,000 TB")],
)
def test_sizes_are_shown_in_short_units(amount: int, said: str) -> None:
    assert words.size(amount) == said


def test_duplicate_group_names_the_kept_and_the_deleted_files() -> None:
    group = {"id": "g1", "keep": "a.txt", "remove": ["b.txt", "c.txt"]}
    assert words.item(group) == "keep a.txt, remove b.txt, c.txt"


def test_archive_line_names_the_first_packed_files() -> None:
    packs = {"files": 1, "of": ["a.txt"], "more": 4}
    made = {"change": "created", "path": "a.zip", "source": None, "kind": "file", "packs": packs}
    assert words.change(made) == "+ a.zip (contains 1 file: a.txt, and 4 more)"
    assert words.change({**made, "packs": {"files": 9, "of": [], "more": 0}}) == "+ a.zip (contains 9 files)"
    assert words.change({**made, "packs": {"files": 9, "of": ["."], "more": 0}}) == (
        "+ a.zip (contains 9 files: everything in this folder)"
    )


def test_a_move_is_shown_from_where_to_where() -> None:
    assert words.change({"change": "moved", "path": "Music/a.mp3", "source": "a.mp3", "kind": "file"}) == (
        "> a.mp3 → Music/a.mp3"
    )


def test_moved_or_deleted_folder_shows_its_file_count() -> None:
    moved = {"change": "moved", "path": "Bills 2024", "source": "Bills", "kind": "directory", "files": 6}
    assert words.change(moved) == "> Bills/ → Bills 2024/ (a folder with 6 files)"
    assert words.change({**moved, "change": "deleted", "source": None, "files": 1}) == (
        "- Bills 2024/ (a folder with 1 file)"
    )


def test_copy_is_shown_with_its_original() -> None:
    assert words.change({"change": "created", "path": "Safe/a.mp3", "source": "a.mp3", "kind": "file"}) == (
        "+ Safe/a.mp3 (a copy of a.mp3)"
    )
    assert words.change({"change": "created", "path": "Safe", "source": None, "kind": "directory"}) == "+ Safe/"


def test_a_rename_item_shows_both_names() -> None:
    assert words.item({"id": "Holiday 001.NEF", "change": "moved", "source": "DSC_1.NEF"}) == (
        "> DSC_1.NEF → Holiday 001.NEF"
    )
