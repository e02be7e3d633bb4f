"""A name is the same in composed and decomposed letters: people type the one, Macs write the other."""

from __future__ import annotations

from typing import Literal
from unicodedata import normalize

import pytest

from libs.search import ContentIndex
from libs.workspace.tree import Tree
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-14", "S4-59")
TYPED = "Übung 1.pdf"
ON_DISK = normalize("NFD", TYPED)
Form = Literal["NFC", "NFD"]
FORMS = pytest.mark.parametrize("form", ["NFC", "NFD"])


@FORMS
def test_exclusion_spares_names_in_either_form(folder: StagedFolder, form: Form) -> None:
    folder.files(normalize(form, TYPED), "Plan.pdf")
    for pattern in (normalize("NFC", "Übung*"), normalize("NFD", "Übung*")):
        assert folder.listed(exclude=[pattern]) == ["Plan.pdf"]


def test_typed_path_finds_its_decomposed_file(folder: StagedFolder) -> None:
    folder.files(ON_DISK, normalize("NFD", "Büro/a.txt"), "b.txt")
    folder.run("manage-files.delete", paths=[TYPED])
    folder.run("manage-files.move", source=["b.txt"], target="Büro")
    folder.commit()
    assert sorted(folder.listed(recursive=True)) == [normalize("NFD", f"Büro/{name}.txt") for name in "ab"]


def test_typed_path_with_two_decomposed_files_is_exact(folder: StagedFolder) -> None:
    folder.files(TYPED, ON_DISK)
    folder.run("manage-files.delete", paths=[TYPED])
    assert folder.listed() == [ON_DISK]


def test_name_in_the_other_form_counts_as_taken(folder: StagedFolder) -> None:
    folder.files(ON_DISK, f"in/{TYPED}")
    moved = folder.run("manage-files.move", source=[f"in/{TYPED}"], target=".").data["moved"]
    assert moved[0]["to"].endswith("Übung 1 (2).pdf")


def test_typed_text_is_replaced_in_decomposed_names(folder: StagedFolder) -> None:
    folder.files(ON_DISK, normalize("NFD", "Öl.pdf"))
    renamed = folder.run("batch-rename.rename", paths=folder.listed(), find="Übung", replace="Task").data["renamed"]
    assert [name["to"] for name in renamed] == ["Task 1.pdf"]


@FORMS
def test_ignore_file_hides_names_in_either_form(folder: StagedFolder, form: Form) -> None:
    folder.write(".sumaignore", normalize(form, "Übung*\n"))
    folder.files(TYPED, ON_DISK, "Plan.pdf")
    assert folder.listed() == ["Plan.pdf"]
    assert len(Tree.scan(folder.root).absent(0)) == 2


@FORMS
def test_duplicates_are_sought_in_folders_of_either_form(folder: StagedFolder, form: Form) -> None:
    for name in ("Büro/a.txt", "Büro/b.txt", "c.txt"):
        folder.write(normalize(form, name), "same")
    folder.scan()
    assert folder.run("remove-duplicates.scan", path=".", folders=["Büro"]).data["files"] == 1


@FORMS
def test_search_finds_words_of_decomposed_names(form: Form) -> None:
    index = ContentIndex()
    index.put(normalize(form, "Büro/Jóga-Übung.mp3"), "")
    assert index.find("Übung", within="Büro").count == 1
    index.close()
