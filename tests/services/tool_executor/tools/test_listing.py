"""Filters of listings: one rule for size, time, emptiness, kind and order, on the four tools that list."""

from __future__ import annotations

from typing import Any

import pytest

from services.tool_executor.tools.listing import BadMoment
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-14", "S4-59")


@pytest.fixture
def filled(folder: StagedFolder) -> StagedFolder:
    folder.write("small.txt", b"x" * 10, at="2023-05-01T12:00")
    folder.write("large.bin", b"x" * 5000, at="2024-12-31T23:59:59")
    folder.write("new.log", b"x" * 100, at="2025-01-01T00:00")
    folder.write("none.txt", b"", at="2022-01-01T00:00")
    folder.write("deep/er/old.txt", b"x" * 200, at="2020-01-01T00:00")
    (folder.root / "hollow").mkdir()
    folder.scan()
    return folder


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ({"larger_than": 100}, ["large.bin"]),
        ({"larger_than": 99, "smaller_than": 5000}, ["new.log"]),
        ({"modified_before": "2025-01-01"}, ["large.bin", "none.txt", "small.txt"]),
        ({"modified_after": "2025-01-01T00:00:00Z"}, ["new.log"]),
        ({"modified_after": "2023-01-01", "modified_before": "2024-01-01"}, ["small.txt"]),
        ({"empty": True}, ["none.txt"]),
        ({"empty": False, "include": ["*.txt"]}, ["small.txt"]),
        ({"node_kind": "directory"}, ["deep", "hollow"]),
        ({"node_kind": "directory", "empty": True}, ["hollow"]),
        ({"node_kind": "directory", "larger_than": 100}, ["deep"]),
        ({"node_kind": "any", "empty": True}, ["hollow", "none.txt"]),
        ({"node_kind": "directory", "recursive": True}, ["deep", "deep/er", "hollow"]),
        ({"node_kind": "file"}, ["large.bin", "new.log", "none.txt", "small.txt"]),
        ({"order": "largest", "most": 2}, ["large.bin", "new.log"]),
        ({"order": "smallest", "most": 1, "recursive": True}, ["none.txt"]),
        ({"order": "newest", "most": 1}, ["new.log"]),
        ({"order": "oldest", "most": 2, "recursive": True}, ["deep/er/old.txt", "none.txt"]),
        ({"order": "name", "most": 2}, ["deep", "hollow"]),
    ],
)
def test_listing_contains_the_files_that_its_filters_select(
    filled: StagedFolder, args: dict[str, Any], names: list[str]
) -> None:
    found = filled.listed(**args)
    assert (found if "order" in args else sorted(found)) == names


def test_order_by_name_is_natural(folder: StagedFolder) -> None:
    for name in ("img10.jpg", "img2.jpg", "IMG1.jpg"):
        folder.write(name, b"x")
    folder.scan()
    assert folder.listed(order="name") == ["IMG1.jpg", "img2.jpg", "img10.jpg"]


def test_an_order_alone_leaves_nothing_out(filled: StagedFolder) -> None:
    assert len(filled.listed(order="newest")) == 6


def test_one_list_may_cover_several_folders(filled: StagedFolder) -> None:
    assert filled.listed(folders=["deep/er", "hollow"]) == ["deep/er/old.txt"]
    assert filled.listed(folders=[".", "deep/er"], order="largest", most=3) == [
        "large.bin",
        "deep/er/old.txt",
        "new.log",
    ]


def test_list_by_size_shows_the_sizes(filled: StagedFolder) -> None:
    told = filled.run("manage-files.list", path=".", order="largest", most=2).data
    assert (told["nodes"], told["sizes"]) == (["large.bin", "new.log"], [5000, 100])


def test_list_of_a_folder_counts_matches_in_subfolders(filled: StagedFolder) -> None:
    told = filled.run("manage-files.list", path=".", include=["*.txt"]).data
    assert told["deeper"] == {"count": 1, "folders": ["deep/er"]}
    assert "deeper" not in filled.run("manage-files.list", path=".").data
    assert "deeper" not in filled.run("manage-files.list", path=".", include=["*.txt"], recursive=True).data


def test_list_of_folders_counts_matches_below(filled: StagedFolder) -> None:
    filled.run("manage-files.create", path="deep/er", name="void", type="directory")
    told = filled.run("manage-files.list", path=".", empty=True, node_kind="directory").data
    assert told["deeper"] == {"count": 1, "folders": ["deep/er"], "node_kind": "directory"}


def test_empty_list_reports_its_criteria_and_folder(filled: StagedFolder) -> None:
    told = filled.run("manage-files.list", path="deep", include=["*.pdf"], larger_than=5, order="largest").data
    assert told["sought"] == {"path": "deep", "include": ["*.pdf"], "larger_than": 5}
    assert "sought" not in filled.run("manage-files.list", path=".").data


def test_find_filters_at_every_depth_and_without_a_name(filled: StagedFolder) -> None:
    assert filled.listed("search-files.find", larger_than=150, order="largest") == ["large.bin", "deep/er/old.txt"]


def test_report_counts_only_the_files_that_its_filters_select(filled: StagedFolder) -> None:
    told = filled.run("analyze-directory.report", path=".", modified_before="2024-01-01", node_kind="file").data
    assert (told["files"], told["bytes"], told["directories"]) == (3, 210, 0)
    assert told["oldest"]["path"] == "deep/er/old.txt"


def test_filtered_report_names_files_and_counts_their_folders(filled: StagedFolder) -> None:
    told = filled.run("analyze-directory.report", path=".", include=["old.txt"]).data
    assert (told["nodes"], told["directories"]) == (["deep/er/old.txt"], 1)
    assert "nodes" not in filled.run("analyze-directory.report", path=".").data


def test_duplicates_are_those_among_the_selected(folder: StagedFolder) -> None:
    for name, day in (("a.txt", "2020-01-01"), ("b.txt", "2021-01-01"), ("c.txt", "2022-01-01")):
        folder.write(name, b"same", at=f"{day}T00:00")
    folder.scan()
    groups = folder.run("remove-duplicates.scan", path=".", modified_before="2022-01-01").data["groups"]
    assert [group["paths"] for group in groups] == [["b.txt", "a.txt"]]


def test_staged_file_counts_as_changed_now(filled: StagedFolder) -> None:
    filled.run("manage-files.create", path=".", name="fresh.txt", type="file", content="hello")
    assert "fresh.txt" in filled.listed(modified_after="2025-06-01")
    assert "fresh.txt" not in filled.listed(modified_before="2099-01-01")


def test_delete_after_a_listing_removes_exactly_the_listed_files(filled: StagedFolder) -> None:
    old = filled.listed(modified_before="2024-01-01", recursive=True)
    filled.run("manage-files.delete", paths=old)
    filled.commit()
    assert sorted(path for path in filled.seen() if not path.endswith("er")) == [
        "deep",
        "hollow",
        "large.bin",
        "new.log",
    ]


def test_deleted_folder_covers_the_listed_paths_below_it(folder: StagedFolder) -> None:
    (folder.root / "a/b/c").mkdir(parents=True)
    folder.scan()
    folders = folder.listed(node_kind="directory", recursive=True)
    assert folder.run("manage-files.delete", paths=folders).data["deleted"] == ["a"]


def test_a_day_that_does_not_exist_is_refused(folder: StagedFolder) -> None:
    with pytest.raises(BadMoment):
        folder.listed(modified_before="2024-02-31")


def test_an_empty_folder_lists_nothing(folder: StagedFolder) -> None:
    assert folder.listed(larger_than=0, order="largest", most=3) == []


@pytest.mark.parametrize("source", [["a.pdf"], ["a.pdf", "b.pdf"]])
@pytest.mark.parametrize("target", ["Docs/2024", "./Docs/2024/", "{root}/Docs/2024"])
def test_move_creates_its_missing_target_folder(folder: StagedFolder, source: list[str], target: str) -> None:
    folder.files("a.pdf", "b.pdf").run("manage-files.move", source=source, target=target.format(root=folder.root))
    assert [node.path for node in folder.stage.get_children("Docs/2024")] == [f"Docs/2024/{name}" for name in source]


def test_list_counts_its_entries_and_names_no_place(folder: StagedFolder) -> None:
    folder.write("a.txt", "1")
    folder.write("d/b.txt", "2")
    folder.scan()
    every = folder.run("manage-files.list", path=".")
    assert (every.summary, every.data["folders"]) == ("1 file and 1 folder.", 1)
    assert folder.run("manage-files.list", path=".", include=["*.txt"], recursive=True).summary == "2 files."
