"""What a bulk selection leaves alone, how each listing says so, and that a request by name still gets it."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import pytest

from libs.errors import Rejected
from services.tool_executor.api import facts_of
from tests.services.tool_executor.tools.conftest import StagedFolder

FILES = (
    "a.txt", "deep/b.txt", "deep/~$b.docx", "deep/.DS_Store", "movie.mkv.part", ".DS_Store", ".~lock.a.odt#",
    "app/.git/HEAD", "app/a.txt", "deep/lib/.hg/store", "node_modules/x/a.txt", "deep/.venv/bin/python",
    "private/x.txt", "private/y.txt",
)  # fmt: skip
LISTERS: dict[str, dict[str, Any]] = {
    "manage-files.list": {"path": ".", "recursive": True},
    "search-files.find": {"path": ".", "recursive": True, "include": ["*.txt"]},
    "remove-duplicates.scan": {"path": "."},
    "analyze-directory.report": {"path": "."},
}


@pytest.fixture
def messy(folder: StagedFolder) -> StagedFolder:
    folder.files(*FILES)
    folder.write(".sumaignore", "private/\n")
    for name in ("a.txt", "app/a.txt", "node_modules/x/a.txt", "deep/copy of a.txt", ".DS_Store", "deep/.DS_Store"):
        folder.write(name, "same bytes")
    folder.write("new\nline.txt", "odd")
    folder.scan()
    return folder


def test_a_listing_holds_no_repository_dependency_or_lock(messy: StagedFolder) -> None:
    assert sorted(messy.listed(recursive=True)) == ["a.txt", "deep/b.txt", "deep/copy of a.txt"]
    assert sorted(messy.listed(node_kind="any")) == ["a.txt", "deep"]


@pytest.mark.parametrize("tool", LISTERS)
def test_each_listing_names_its_excluded_files(messy: StagedFolder, tool: str) -> None:
    assert messy.run(tool, **LISTERS[tool]).data["left_alone"] == {
        "repositories": ["app", "deep/.venv", "deep/lib", "node_modules"],
        "files": 0 if "include" in LISTERS[tool] else 5,
        "ignored": 1,
        "odd": ["new\\nline.txt"],
        "unread": [],
    }


def test_listing_of_a_folder_reports_only_its_own_exclusions(messy: StagedFolder) -> None:
    alone = messy.run("manage-files.list", path="deep").data["left_alone"]
    assert alone == {"repositories": ["deep/.venv", "deep/lib"], "files": 2, "ignored": 0, "odd": [], "unread": []}


def test_a_listing_that_left_nothing_alone_says_nothing(folder: StagedFolder) -> None:
    assert "left_alone" not in folder.files("a.txt").run("manage-files.list", path=".").data


def test_duplicates_are_looked_for_outside_repositories_and_system_files(messy: StagedFolder) -> None:
    groups = messy.run("remove-duplicates.scan", path=".").data["groups"]
    assert [group["paths"] for group in groups] == [["a.txt", "deep/copy of a.txt"]]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (".DS_Store", [".DS_Store", "deep/.DS_Store"]),
        ("*.part", ["movie.mkv.part"]),
        ("~$*", ["deep/~$b.docx"]),
        ("*.mkv*", []),
        ("*", ["a.txt", "deep/b.txt", "deep/copy of a.txt"]),
    ],
)
def test_a_pattern_gets_reserved_files_only_if_it_names_them(
    messy: StagedFolder, pattern: str, found: list[str]
) -> None:
    assert sorted(messy.listed(recursive=True, include=[pattern])) == found


def test_files_that_a_pattern_does_not_select_are_not_reported(messy: StagedFolder) -> None:
    data = messy.run("manage-files.list", path=".", recursive=True, include=[".DS_Store"]).data
    assert data["left_alone"]["files"] == 0


def test_a_repository_moves_whole_when_it_is_named(messy: StagedFolder) -> None:
    messy.run("manage-files.create", path=".", name="Code", type="directory")
    messy.run("manage-files.move", source="app", target="Code")
    messy.commit()
    assert (messy.root / "Code/app/.git/HEAD").read_text() == "app/.git/HEAD"


@pytest.mark.parametrize(("listed", "moves"), [("source", ["docs"]), ("", ["deep", "docs"])])
def test_only_a_named_folder_takes_its_repository_along(messy: StagedFolder, listed: str, moves: list[str]) -> None:
    messy.files("docs/x.txt")
    done = messy.run("manage-files.move", listed=listed, source=["deep", "docs"], target="Box")
    assert [move["from"] for move in done.data["moved"]] == moves
    assert done.data.get("left_alone", {}).get("repositories") == (["deep/lib"] if listed else None)
    assert len(done.warnings) == len(listed[:1])


def test_a_bulk_rename_leaves_folders_with_repositories(messy: StagedFolder) -> None:
    messy.files("docs/x.txt")
    done = messy.run("batch-rename.rename", listed="paths", paths=["deep", "docs"], prefix="old ")
    assert done.data["renamed"] == [{"from": "docs", "to": "old docs"}]
    assert done.data["left_alone"]["repositories"] == ["deep/lib"]


def test_a_sort_of_all_files_leaves_reserved_ones_in_place(messy: StagedFolder) -> None:
    done = messy.run("organize-by-type.sort", source=messy.listed(recursive=True), target=".", by="extension_category")
    assert {move["from"] for move in done.data["moved"]} == {"a.txt", "deep/b.txt", "deep/copy of a.txt"}


def test_empty_folders_are_those_without_anything_on_the_disk(folder: StagedFolder) -> None:
    folder.write(".sumaignore", "secret.txt\n")
    folder.files("hidden/secret.txt", "app/.git/refs/tags/x", "odd/a\x1b")
    (folder.root / "hollow").mkdir()
    folder.scan()
    assert folder.listed(node_kind="directory", empty=True, recursive=True) == ["hollow"]


def test_packed_folder_leaves_out_repositories_and_reports_them(messy: StagedFolder) -> None:
    done = messy.run("archive-files.pack", paths=["deep"], archive="deep.zip")
    messy.commit()
    with zipfile.ZipFile(messy.root / "deep.zip") as packed:
        assert sorted(packed.namelist()) == ["deep/", "deep/b.txt", "deep/copy of a.txt"]
    assert done.data["left_alone"]["repositories"] == ["deep/.venv", "deep/lib"]


@pytest.mark.parametrize("paths", [["deep"], ["app"], ["."]])
def test_packing_a_repository_with_removal_is_refused(messy: StagedFolder, paths: list[str]) -> None:
    with pytest.raises(Rejected):
        messy.run("archive-files.pack", paths=paths, archive="x.zip", remove=True)


def test_an_archive_cannot_bring_repository_data(folder: StagedFolder) -> None:
    with zipfile.ZipFile(folder.root / "x.zip", "w") as packed:
        packed.writestr("app/.git/hooks/post-checkout", "rm -rf ~")
    folder.scan()
    with pytest.raises(Rejected, match=r"\.git"):
        folder.run("archive-files.unpack", path="x.zip")


def test_a_name_that_is_ignored_is_not_given_away(folder: StagedFolder) -> None:
    folder.write(".sumaignore", "Text/a.txt\n")
    folder.files("Text/a.txt", "a.txt")
    moved: list[dict[str, Any]] = folder.run("manage-files.move", source=["a.txt"], target="Text").data["moved"]
    assert moved == [{"from": "a.txt", "to": "Text/a (2).txt"}]


@pytest.fixture
def project(folder: StagedFolder) -> StagedFolder:
    folder.files("src/main.py", "node_modules/x/a.js", "node_modules/b.js", "web/node_modules/z.js", "web/index.html")
    (folder.root / "web/void").mkdir()
    folder.scan()
    return folder


def test_a_named_bundle_is_measured_with_its_contents(project: StagedFolder) -> None:
    os.link(project.root / "node_modules/b.js", project.root / "node_modules/c.js")
    data = project.run("manage-files.get_metadata", path="node_modules").data
    size = sum(len(name) for name in ("node_modules/x/a.js", "node_modules/b.js"))
    assert (data["files"], data["directories"], data["bytes"]) == (3, 1, size)


def test_named_bundles_are_listed_at_every_depth(project: StagedFolder) -> None:
    named: dict[str, Any] = {"include": ["node_modules"], "node_kind": "directory"}
    assert project.listed(recursive=True, **named) == ["node_modules", "web/node_modules"]
    top = project.run("manage-files.list", path=".", **named).data
    assert (top["nodes"], top["deeper"]["count"]) == (["node_modules"], 1)


def test_planner_knows_no_more_than_200_bare_folders(project: StagedFolder) -> None:
    for n in range(300):
        (project.root / f"web/bare/{n}").mkdir(parents=True)
    project.scan()
    assert len(facts_of(project.stage)["names"]) == 3 + 200


@pytest.mark.parametrize("path", ["web/node_modules", "web/void"])
def test_planner_knows_folders_to_which_no_path_leads(project: StagedFolder, path: str) -> None:
    assert f"{path}/" in facts_of(project.stage)["names"]


def test_planner_knows_left_alone_files_by_name_only(messy: StagedFolder) -> None:
    messy.write("deep/song.mp3.part", "x")
    messy.scan()
    facts = facts_of(messy.stage)
    assert "deep/song.mp3.part" in facts["alone"]
    assert not {*facts["alone"]} & {*facts["paths"]}


def test_largest_folder_may_be_one_item(messy: StagedFolder) -> None:
    messy.write("node_modules/x/big.js", "x" * 5000)
    messy.scan()
    data = messy.run("manage-files.list", path=".", node_kind="directory", order="largest").data
    assert (data["nodes"][0], data["sizes"][0]) == ("node_modules", 5010)


def test_further_folders_are_no_files(messy: StagedFolder) -> None:
    data = messy.run("manage-files.list", path=".", include=[".venv"]).data
    assert data["deeper"] == {"count": 1, "folders": ["deep"], "node_kind": "any"}


def test_exception_counts_matches_in_subfolders(messy: StagedFolder) -> None:
    data = messy.run("manage-files.list", path=".", exclude=["a.txt"], node_kind="file").data
    assert data["deeper"] == {"count": 2, "folders": ["deep"]}


@pytest.mark.parametrize(("path", "size"), [("node_modules", 10), ("hollow", 5)])
def test_deleted_folder_has_the_size_in_its_question(messy: StagedFolder, path: str, size: int) -> None:
    messy.write("hollow/.DS_Store", "12345")
    messy.scan()
    listed = messy.run("manage-files.list", path=".", include=[path]).data["nodes"]
    done = messy.run("manage-files.delete", paths=listed).data
    assert done["bytes"] == messy.stage.diff().bytes_freed == size
