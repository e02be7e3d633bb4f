"""Hard links are several names of one file: its size counts once, and a deletion reports what stays."""

from __future__ import annotations

import os

import pytest

from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-14", "S4-59")


@pytest.fixture
def linked(folder: StagedFolder) -> StagedFolder:
    folder.write("in/a.txt", b"x" * 1000)
    os.link(folder.root / "in/a.txt", folder.root / "in/b.txt")
    folder.write("c.txt", b"y" * 10)
    folder.scan()
    return folder


def test_reports_count_the_size_of_hard_links_once(linked: StagedFolder) -> None:
    report = linked.run("analyze-directory.report", path=".").data
    assert (report["files"], report["bytes"], report["by_extension"][".txt"]["bytes"]) == (3, 1010, 1010)
    assert linked.run("manage-files.get_metadata", path="in").data["bytes"] == 1000
    assert linked.run("remove-duplicates.scan", path=".").data["files"] == 0


def test_a_deletion_names_content_that_other_names_keep(linked: StagedFolder) -> None:
    assert linked.run("manage-files.delete", paths=["in/a.txt", "c.txt"]).data["linked"] == ["in/a.txt"]


def test_deleting_every_name_frees_the_size_once(linked: StagedFolder) -> None:
    data = linked.run("manage-files.delete", paths=["in/a.txt", "in/b.txt"]).data
    assert (data["bytes"], "linked" in data) == (1000, False)
