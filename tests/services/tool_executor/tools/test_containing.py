"""Files chosen by what stands in them: whole words, in every form that is read here, and never what denies them."""

from __future__ import annotations

from typing import Any

import pytest

from services.tool_executor.tools import containing
from services.tool_executor.tools.tool_context import TooMuch
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-14", "S4-59")


@pytest.fixture
def bills(folder: StagedFolder) -> StagedFolder:
    folder.write("Keane.txt", "Boiler\nPAID 3 May, by bank\n")
    folder.write("Doyle.txt", "Radiators\nNot paid yet\n")
    folder.write("Burke.txt", "Tap\nPaid in cash\n")
    folder.write("Roche.txt", "Valve\n")
    folder.write("Unpaid list.txt", "unpaid: Doyle\n")
    folder.write("Walsh.docx", samples.word("All paid, thank you"))
    folder.write("photo.jpg", b"\xff\xd8\xff\xe0paid")
    folder.write("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    folder.write("deep/Nolan.txt", "paid")
    folder.scan()
    return folder


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ({"containing": "paid"}, ["Burke.txt", "Keane.txt", "Walsh.docx"]),
        ({"containing": "PAID", "include": ["*.txt"]}, ["Burke.txt", "Keane.txt"]),
        ({"containing": "paid", "recursive": True, "include": ["*.txt"]}, ["Burke.txt", "Keane.txt", "deep/Nolan.txt"]),
        ({"containing": "by bank boiler"}, []),
        ({"containing": "boiler paid"}, ["Keane.txt"]),
        ({"containing": "valve", "order": "largest", "most": 1}, ["Roche.txt"]),
        ({"lacking": "paid"}, ["Doyle.txt", "Roche.txt", "Unpaid list.txt"]),
    ],
)
def test_whole_words_choose_in_every_readable_form(bills: StagedFolder, args: dict[str, Any], names: list[str]) -> None:
    assert sorted(bills.listed(**args)) == names


def test_denying_line_is_no_match_and_is_reported(bills: StagedFolder) -> None:
    found = bills.run("manage-files.list", path=".", containing="paid").data
    assert "Doyle.txt" not in found["nodes"]
    assert found["denied"] == {"Doyle.txt": "Not paid yet"}


def test_file_with_a_denying_line_counts_as_lacking(bills: StagedFolder) -> None:
    found = bills.run("manage-files.list", path=".", lacking="paid").data
    assert found["lines"] == {"Doyle.txt": "Not paid yet"}
    assert "denied" not in found


def test_each_chosen_file_shows_its_matching_line(bills: StagedFolder) -> None:
    lines = bills.run("manage-files.list", path=".", containing="paid").data["lines"]
    assert lines["Keane.txt"] == "PAID 3 May, by bank"
    assert lines["Walsh.docx"] == "All paid, thank you"


def test_unreadable_file_is_reported_and_never_chosen(bills: StagedFolder) -> None:
    for choice in ("containing", "lacking"):
        found = bills.run("manage-files.list", path=".", **{choice: "tap"}).data
        assert "old.doc" not in found["nodes"]
        assert found["unread"] == {"count": 1, "why": {"older_form": 1}, "paths": ["old.doc"]}


def test_hint_about_subfolders_counts_only_files_that_match(bills: StagedFolder) -> None:
    found = bills.run("manage-files.list", path=".", containing="paid", include=["*.txt"]).data
    assert found["deeper"] == {"count": 1, "folders": ["deep"]}
    assert "deeper" not in bills.run("manage-files.list", path=".", containing="valve").data


def test_text_read_in_part_neither_contains_nor_lacks_the_word(folder: StagedFolder) -> None:
    folder.write("log.txt", "x" * (folder.limits.index_bytes_most + 10) + " paid")
    folder.scan()
    for choice in ("containing", "lacking"):
        found = folder.run("manage-files.list", path=".", **{choice: "paid"}).data
        assert found["nodes"] == []
        assert found["unread"]["why"] == {"too_large": 1}


def test_too_many_files_to_read_are_refused_and_not_cut(bills: StagedFolder) -> None:
    bills.looked_into = 3
    with pytest.raises(TooMuch):
        bills.listed(containing="paid")


@pytest.mark.parametrize(
    ("wanted", "text", "denied"),
    [
        ("paid", "not yet fully paid", True),
        ("paid", "Paid: no", True),
        ("paid", "PAID on Monday", False),
        ("paid", "to be paid within 14 days", True),
        ("paid", "if paid by Friday", True),
        ("paid", "Paid [ ]", True),
        ("paid", "not paid\npaid 4 June", False),
        ("Hobbs", "If Hobbs calls, say no", False),
        ("photographer", "we did not see the photographer", False),
    ],
)
def test_negated_mention_counts_as_a_denial(wanted: str, text: str, denied: bool) -> None:
    found = containing.mention_of(wanted, text)
    assert found is not None
    assert found.denied is denied


def test_match_ignores_accents_and_case_but_needs_whole_words() -> None:
    assert containing.mention_of("Müller", "Mrs MÜLLER rang") is not None
    assert containing.mention_of("cafe", "the Café at noon") is not None
    assert containing.mention_of("paid", "unpaid, prepaid") is None
