"""Sorting files into folders: by category, and by the year or month of their last change."""

from __future__ import annotations

from typing import Any

import pytest

from libs.workspace.errors import WrongKind
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")
SORT = "organize-by-type.sort"


@pytest.fixture
def album(folder: StagedFolder) -> StagedFolder:
    folder.write("beach.jpg", "1", at="2024-12-31T23:59:59")
    folder.write("snow.jpg", "2", at="2025-01-01T00:00")
    folder.write("letter.txt", "3", at="2025-01-31T12:00")
    folder.write("2025/snow.jpg", "4", at="2019-05-05T00:00")
    folder.write("old/ski.jpg", "5", at="2024-02-01T00:00")
    folder.scan()
    return folder


def sort(at: StagedFolder, by: str, **args: Any) -> dict[str, str]:
    done = at.run(SORT, **{"source": at.listed(), "by": by, **args})
    return {move["from"]: move["to"] for move in done.data["moved"]}


def test_files_are_sorted_by_year_of_change_without_losing_names(album: StagedFolder) -> None:
    assert sort(album, "year") == {
        "beach.jpg": "2024/beach.jpg",
        "letter.txt": "2025/letter.txt",
        "snow.jpg": "2025/snow (2).jpg",
    }


def test_months_sort_as_their_folders_do(album: StagedFolder) -> None:
    assert set(sort(album, "month").values()) == {"2024-12/beach.jpg", "2025-01/letter.txt", "2025-01/snow.jpg"}


def test_folders_of_years_are_made_in_the_target(album: StagedFolder) -> None:
    assert sort(album, "year", source=["old/ski.jpg"], target="old") == {"old/ski.jpg": "old/2024/ski.jpg"}


def test_a_folder_that_is_not_there_yet_is_made_once(album: StagedFolder) -> None:
    done = album.run(SORT, source=["beach.jpg", "snow.jpg"], by="month", target="Album/All")
    assert [move["to"] for move in done.data["moved"]] == ["Album/All/2024-12/beach.jpg", "Album/All/2025-01/snow.jpg"]
    assert done.data["folders"] == ["Album/All/2024-12", "Album/All/2025-01"]


def test_sorting_twice_changes_nothing(album: StagedFolder) -> None:
    sort(album, "year")
    assert album.run(SORT, source=album.listed(recursive=True, path="2024"), by="year").applied is None


def test_sorted_files_keep_dates_and_roll_back_byte_for_byte(album: StagedFolder) -> None:
    before = album.seen()
    sort(album, "year")
    album.commit()
    assert album.seen()["2024/beach.jpg"] == before["beach.jpg"]
    album.roll_back()
    assert album.seen() == before


def test_new_file_has_no_date_and_stays_with_a_warning(album: StagedFolder) -> None:
    album.run("manage-files.create", path=".", name="new.txt", type="file", content="x")
    done = album.run(SORT, source=["new.txt"], by="year")
    assert (done.applied, done.warnings) == (None, ("new.txt has no date yet and was left where it is.",))


def test_sorting_is_by_type_by_default(album: StagedFolder) -> None:
    done = album.run(SORT, source=["beach.jpg", "letter.txt"])
    assert [move["to"] for move in done.data["moved"]] == ["Images/beach.jpg", "Documents/letter.txt"]


@pytest.fixture
def named(folder: StagedFolder) -> StagedFolder:
    for name in ("Smith 2018.pdf", "scan 2023-02-14.jpg", "20230301.jpg", "14.02.2019.txt", "from 2019 to 2020.txt"):
        folder.write(name, name, at="2025-01-01T00:00")
    folder.write("notes 12345.md", "n", at="2025-01-01T00:00")
    folder.scan()
    return folder


def test_year_in_a_name_counts_instead_of_the_change(named: StagedFolder) -> None:
    assert sort(named, "name_year") == {
        "14.02.2019.txt": "2019/14.02.2019.txt",
        "20230301.jpg": "2023/20230301.jpg",
        "Smith 2018.pdf": "2018/Smith 2018.pdf",
        "scan 2023-02-14.jpg": "2023/scan 2023-02-14.jpg",
    }


def test_month_in_a_name_counts_where_there_is_one(named: StagedFolder) -> None:
    assert {*sort(named, "name_month").values()} == {
        "2019-02/14.02.2019.txt",
        "2023-02/scan 2023-02-14.jpg",
        "2023-03/20230301.jpg",
    }


def test_name_without_a_single_year_stays_with_a_warning(named: StagedFolder) -> None:
    assert named.run(SORT, source=named.listed(), by="name_year").warnings == (
        "from 2019 to 2020.txt has no single year in its name and was left where it is.",
        "notes 12345.md has no single year in its name and was left where it is.",
    )


def test_a_file_named_like_the_folder_is_the_reason(folder: StagedFolder) -> None:
    folder.write("Images", "not a folder")
    folder.write("a.jpg", "1")
    folder.scan()
    with pytest.raises(WrongKind, match="Images is a file, so no folder can have its name"):
        folder.run(SORT, source=["a.jpg"], by="extension_category", target=".")
