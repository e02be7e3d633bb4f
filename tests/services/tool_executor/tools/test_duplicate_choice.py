"""Of files with the same bytes, the one that a person would keep stays."""

from __future__ import annotations

import os
from typing import Any

import pytest

from libs.workspace.errors import CommitConflict
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")
SCAN = "remove-duplicates.scan"


def twins(folder: StagedFolder, *names: str) -> StagedFolder:
    """Files of the same bytes, each changed a day after the one before."""
    for day, name in enumerate(names, 1):
        folder.write(name, b"same", at=f"2025-03-{day:02d}T12:00")
    folder.scan()
    return folder


def kept(folder: StagedFolder, **args: Any) -> list[str]:
    return [group["keep"] for group in folder.run(SCAN, path=".", **args).data["groups"]]


@pytest.mark.parametrize(
    "names",
    [
        ("report.pdf", "report (1).pdf"),
        ("bill - Copy.pdf", "letters/2024/bill.pdf"),
        ("screen copy.png", "Pictures/screen on Monday.png"),
        ("DSC0411 (copy).jpg", "Photos/DSC0411.jpg"),
        ("song 2.mp3", "albums/song.mp3"),
        ("Downloads/plan.pdf", "house/drawings/plan.pdf"),
        ("backup 2021/plan.pdf", "house/drawings/plan.pdf"),
        ("IMG_8802.jpg", "receipts/petrol in march.jpg"),
        ("2024/deep/a.txt", "2024/a.txt"),
        ("bb.txt", "aa.txt"),
    ],
)
def test_copy_is_deleted_before_its_original(folder: StagedFolder, names: tuple[str, str]) -> None:
    assert kept(twins(folder, *names)) == [names[0] if names[0] == "report.pdf" else names[1]]


def test_names_count_before_places_where_good_names_are_asked_for(folder: StagedFolder) -> None:
    twins(folder, "20260822_153012.jpg", "Downloads/lily's birthday.jpg")
    assert kept(folder) == ["20260822_153012.jpg"]
    assert kept(folder, keep="named") == ["Downloads/lily's birthday.jpg"]


def test_keep_rules_choose_by_age_and_name_length(folder: StagedFolder) -> None:
    twins(folder, "a/first.txt", "second.txt", "b/c/third (1).txt")
    assert [kept(folder, keep=rule) for rule in ("oldest", "newest", "shortest")] == [
        ["a/first.txt"],
        ["b/c/third (1).txt"],
        ["second.txt"],
    ]


def test_spared_duplicates_stay_and_all_others_may_go(folder: StagedFolder) -> None:
    twins(folder, "a.txt", "raw/a.txt", "raw/b.txt")
    (group,) = folder.run(SCAN, path=".", spare=["raw"]).data["groups"]
    assert (sorted(group["paths"]), group["remove"]) == (["a.txt", "raw/a.txt", "raw/b.txt"], ["a.txt"])


def test_group_without_a_spared_file_keeps_one(folder: StagedFolder) -> None:
    assert kept(twins(folder, "a.txt", "a (1).txt"), spare=["raw"]) == ["a.txt"]


def test_group_of_only_spared_files_is_omitted(folder: StagedFolder) -> None:
    assert kept(twins(folder, "raw/a.txt", "raw/b.txt"), spare=["raw"]) == []


def test_named_folders_are_compared_only_with_one_another(folder: StagedFolder) -> None:
    twins(folder, "data/a.txt", "scratch/deep/a.txt", "old/a.txt")
    (group,) = folder.run(SCAN, path=".", folders=["data", "scratch"]).data["groups"]
    assert sorted(group["paths"]) == ["data/a.txt", "scratch/deep/a.txt"]


@pytest.mark.requirement("A26")
def test_a_duplicate_stays_if_its_twin_changed_before_the_commit(folder: StagedFolder) -> None:
    twins(folder, "report.pdf", "report (1).pdf")
    folder.run("remove-duplicates.remove", groups=folder.run(SCAN, path=".").data["groups"])
    before = (folder.root / "report.pdf").stat()
    folder.write("report.pdf", b"diff", at="2025-03-01T12:00")
    os.utime(folder.root / "report.pdf", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(CommitConflict, match="cannot be compared again"):
        folder.commit()
    assert (folder.root / "report (1).pdf").read_bytes() == b"same"
