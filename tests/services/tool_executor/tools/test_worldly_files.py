"""Files as the world has them: times before and beyond the usual years, numbers in names, and the longest names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.workspace.scan import Scan
from libs.workspace.tree import ROOT
from tests.services.tool_executor.tools.conftest import StagedFolder

SECOND = 1_000_000_000
MOMENTS = {
    "before 1970": -86_400 * SECOND,
    "1970": 0,
    "now": 1_700_000_000 * SECOND,
    "2300": 10_413_792_000 * SECOND,
    "2446": 15_032_385_535 * SECOND,
}
"""Times that ext4 holds; those from 2262 on fit into no 64 bits of nanoseconds."""


def dated(folder: StagedFolder) -> list[str]:
    """Files with these times, the newest first; those that this file system cannot hold are left out."""
    found = []
    for name, ns in MOMENTS.items():
        path = folder.write(f"{name}.txt", name)
        os.utime(path, ns=(ns, ns))
        if path.stat().st_mtime_ns == ns:
            found.append(f"{name}.txt")
        else:
            path.unlink()
    folder.scan()
    return found[::-1]


def test_each_time_is_scanned_exactly(folder: StagedFolder) -> None:
    names = dated(folder)
    scan = Scan.of(folder.root)
    times = {scan.name(node): scan.signature(node).mtime_ns for node in scan.inside(ROOT)}
    assert times == {name: MOMENTS[name.removesuffix(".txt")] for name in names}
    assert scan.same(Scan.of(folder.root))


def test_files_are_ordered_by_each_time(folder: StagedFolder) -> None:
    newest = dated(folder)
    assert folder.listed(order="newest") == newest
    assert folder.listed(order="oldest") == newest[::-1]


@pytest.mark.requirement("A24")
def test_files_of_each_time_are_moved_and_come_back(folder: StagedFolder) -> None:
    dated(folder)
    before = folder.seen()
    folder.run("organize-by-type.sort", source=folder.listed(), target=".", by="year")
    folder.commit()
    assert folder.seen() != before
    folder.roll_back()
    assert folder.seen() == before


def test_duplicate_of_1970_is_the_older_one(folder: StagedFolder) -> None:
    for name, ns in {"old.txt": 0, "new.txt": 1_700_000_000 * SECOND}.items():
        os.utime(folder.write(name, "same"), ns=(ns, ns))
    folder.scan()
    groups = folder.run("remove-duplicates.scan", path=".", strategy="hash", keep="newest").data["groups"]
    assert [(group["keep"], group["remove"]) for group in groups] == [("new.txt", ["old.txt"])]


def test_numbers_are_given_in_natural_order(folder: StagedFolder) -> None:
    folder.files(*(f"test{number}.jpg" for number in range(1, 12)))
    done = folder.run("batch-rename.rename", paths=folder.listed(), base="document_", digits=2)
    assert [(one["from"], one["to"]) for one in done.data["renamed"]][-2:] == [
        ("test10.jpg", "document_10.jpg"),
        ("test11.jpg", "document_11.jpg"),
    ]


@pytest.mark.parametrize("stem", ["n" * 251, "ü" * 125 + "n", "n" * 247])
def test_longest_name_that_is_taken_is_shortened(folder: StagedFolder, stem: str) -> None:
    name = f"{stem}.txt"
    folder.write(name, "one")
    folder.write(f"away/{name}", "two")
    folder.scan()
    moved = folder.run("manage-files.move", source=f"away/{name}", target=".").data["moved"]
    made = Path(moved[0]["to"]).name
    assert len(made.encode()) <= 255
    assert made.endswith(" (2).txt")
    folder.commit()
    assert (folder.root / made).read_text() == "two"
