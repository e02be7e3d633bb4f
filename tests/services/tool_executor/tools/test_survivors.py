"""Of files with the same bytes, the one that a person would keep stays."""

from __future__ import annotations

import os
from typing import Any

import pytest

from libs.workspace.errors import CommitConflict
from tests.services.tool_executor.tools.conftest import Desk

pytestmark = pytest.mark.requirement("S4-59")
SCAN = "remove-duplicates.scan"


def twins(desk: Desk, *names: str) -> Desk:
    """Files of the same bytes, each changed a day after the one before."""
    for day, name in enumerate(names, 1):
        desk.write(name, b"same", at=f"2025-03-{day:02d}T12:00")
    desk.scan()
    return desk


def kept(desk: Desk, **args: Any) -> list[str]:
    return [group["keep"] for group in desk.run(SCAN, path=".", **args).data["groups"]]


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
def test_a_copy_goes_before_what_it_is_a_copy_of(desk: Desk, names: tuple[str, str]) -> None:
    assert kept(twins(desk, *names)) == [names[0] if names[0] == "report.pdf" else names[1]]


def test_names_count_before_places_where_good_names_are_asked_for(desk: Desk) -> None:
    twins(desk, "20260822_153012.jpg", "Downloads/lily's birthday.jpg")
    assert kept(desk) == ["20260822_153012.jpg"]
    assert kept(desk, keep="named") == ["Downloads/lily's birthday.jpg"]


def test_age_and_shortness_are_as_they_are_said(desk: Desk) -> None:
    twins(desk, "a/first.txt", "second.txt", "b/c/third (1).txt")
    assert [kept(desk, keep=rule) for rule in ("oldest", "newest", "shortest")] == [
        ["a/first.txt"],
        ["b/c/third (1).txt"],
        ["second.txt"],
    ]


def test_spared_duplicates_stay_and_all_others_may_go(desk: Desk) -> None:
    twins(desk, "a.txt", "raw/a.txt", "raw/b.txt")
    (group,) = desk.run(SCAN, path=".", spare=["raw"]).data["groups"]
    assert (sorted(group["paths"]), group["remove"]) == (["a.txt", "raw/a.txt", "raw/b.txt"], ["a.txt"])


def test_group_without_a_spared_file_keeps_one(desk: Desk) -> None:
    assert kept(twins(desk, "a.txt", "a (1).txt"), spare=["raw"]) == ["a.txt"]


def test_a_group_of_which_all_is_spared_is_none(desk: Desk) -> None:
    assert kept(twins(desk, "raw/a.txt", "raw/b.txt"), spare=["raw"]) == []


def test_named_folders_are_compared_only_with_one_another(desk: Desk) -> None:
    twins(desk, "data/a.txt", "scratch/deep/a.txt", "old/a.txt")
    (group,) = desk.run(SCAN, path=".", folders=["data", "scratch"]).data["groups"]
    assert sorted(group["paths"]) == ["data/a.txt", "scratch/deep/a.txt"]


@pytest.mark.requirement("A26")
def test_a_duplicate_stays_if_its_twin_changed_before_the_commit(desk: Desk) -> None:
    twins(desk, "report.pdf", "report (1).pdf")
    desk.run("remove-duplicates.remove", groups=desk.run(SCAN, path=".").data["groups"])
    before = (desk.root / "report.pdf").stat()
    desk.write("report.pdf", b"diff", at="2025-03-01T12:00")
    os.utime(desk.root / "report.pdf", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(CommitConflict, match="cannot be compared again"):
        desk.commit()
    assert (desk.root / "report (1).pdf").read_bytes() == b"same"
