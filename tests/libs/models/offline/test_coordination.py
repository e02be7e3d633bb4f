"""What is listed in one wish: each part picks its own files, unless a word of one holds for all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from libs.models.offline.clauses import Mood
from libs.models.offline.reading import read

NOW = datetime(2026, 11, 22, tzinfo=UTC)
OLD = {"modified_before": "2024-11-22T00:00:00Z"}
BIG = {"larger_than": 10_000_000}


def told(text: str) -> list[tuple[set[str], Mapping[str, Any]]]:
    """What each deed's files are told by."""
    clauses = [clause for clause in read(text, now=NOW).clauses if clause.mood is Mood.DO]
    kinds = ("empty", "tempfiles", "folder", "archives", "images")
    return [({kind for kind in kinds if clause.says(kind)}, clause.filters) for clause in clauses]


@pytest.mark.requirement("S4-44", "S4-46")
@pytest.mark.parametrize(
    "text",
    [
        "delete the empty files and the temporary files",
        "please delete the empty and the temporary files in Choir Papers",
        "lösch die leeren dateien und die temporären dateien",
        "die leeren und die temporären Dateien löschen",
        "lösche leere oder temporäre Dateien",
        "borra los archivos vacíos y los temporales",
        "borra los archivos vacíos y temporales",
        "delete both the empty files and the temp files",
        "sowohl die leeren Dateien als auch die temporären Dateien sollen gelöscht werden",
        "borra tanto los archivos vacíos como los temporales",
    ],
)
def test_two_sorts_of_what_is_cleared_away_are_never_taken_for_one_that_is_both(text: str) -> None:
    assert told(text) == [({"empty"}, {}), ({"tempfiles"}, {})]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("delete all txt files and all empty folders", [(set(), {}), ({"empty", "folder"}, {})]),
        ("delete empty files and files older than 2 years", [({"empty"}, {}), (set(), OLD)]),
        ("delete the photos and the files older than 2 years", [({"images"}, {}), (set(), OLD)]),
        ("delete files older than 2 years or bigger than 10 MB", [(set(), OLD), (set(), BIG)]),
        ("show me the empty files and the ones over 10 MB", [({"empty"}, {}), (set(), BIG)]),
        ("borra los archivos vacíos y los que pesan más de 10 mb", [({"empty"}, {}), (set(), BIG)]),
        ("delete the screenshots and the empty folders", [(set(), {}), ({"empty", "folder"}, {})]),
        ("lösch die leeren dateien und die briefe", [({"empty"}, {}), (set(), {})]),
        ("borra las capturas y las carpetas vacías", [(set(), {}), ({"empty", "folder"}, {})]),
        ("move the empty files and the zip files into Old", [({"empty"}, {}), ({"archives"}, {})]),
    ],
)
def test_each_part_that_says_what_it_picks_is_a_wish_of_its_own(text: str, parts: list[Any]) -> None:
    assert told(text) == parts


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("delete files over 10 MB and older than 2 years", (set(), {**OLD, **BIG})),
        ("delete the txt files and pdf files older than 2 years", (set(), OLD)),
        ("delete empty jpg and png files", ({"empty"}, {})),
        ("delete empty files and folders", ({"empty", "folder"}, {})),
    ],
)
def test_a_word_that_may_hold_for_all_that_is_listed_does(text: str, part: Any) -> None:
    assert told(text) == [part]


def test_the_place_holds_for_each_part() -> None:
    first, second = read("delete the empty files and the zip files in Reports", ("Reports/",), now=NOW).clauses
    assert [clause.names[0].text if clause.names else clause.words[-1].text for clause in (first, second)] == [
        "Reports",
        "Reports",
    ]


@pytest.mark.parametrize("text", ["keep the empty files and the zips, delete the rest", "behalte die leeren Dateien"])
def test_what_is_kept_is_no_wish(text: str) -> None:
    assert read(text, now=NOW).clauses[0].mood is Mood.SPARE


@pytest.mark.requirement("S4-44")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("delete the duplicate budgets and the temp files", [True, False]),
        ("delete the temp files and the duplicates", [False, True]),
        ("delete the temp files, the empty ones and the duplicates", [False, False, True]),
        ("delete the duplicates and readme.txt", [True, False]),
        ("lösche die doppelten Bilder und die leeren Dateien", [True, False]),
        ("borra los archivos vacíos y las fotos repetidas", [False, True]),
        ("clean up the duplicates and the temp files", [True, False]),
        ("delete the duplicate photos and videos", [True]),
        ("delete the duplicate photos and the videos", [True]),
        ("delete duplicate pdfs and docs", [True]),
    ],
)
def test_copies_are_a_part_of_their_own_where_nothing_else_could_be_meant(text: str, parts: list[bool]) -> None:
    clauses = [clause for clause in read(text, now=NOW).clauses if clause.mood is Mood.DO]
    assert [clause.says("duplicate") for clause in clauses] == parts
    assert all(clause.says("remove", "clean") for clause in clauses)
