"""Counting rows, lines and pages of many files at once."""

from __future__ import annotations

import pytest

from libs.errors import Rejected
from services.tool_executor.tools.tool_context import TooMuch
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")
COUNT = "parse-content.count"


@pytest.fixture
def filled(folder: StagedFolder) -> StagedFolder:
    folder.write("takings.csv", "day,sum\nmon,1\ntue,2\n")
    folder.write("prices.csv", "what,price\nhour,100\n")
    folder.write("todo.txt", "ring Bosch\n\norder keys")
    folder.write("plan.pdf", samples.pdf("one", "two"))
    folder.write("shop.png", b"\x89PNG\r\n\x1a\n" + bytes(50))
    folder.write("d/deep.csv", "a\n1\n")
    folder.scan()
    return folder


def test_files_are_counted_in_their_units_and_others_reported(filled: StagedFolder) -> None:
    told = filled.run(COUNT, paths=filled.listed()).data
    assert {one["path"]: (one["rows"], one["unit"]) for one in told["counts"]} == {
        "takings.csv": (2, "row"),
        "prices.csv": (1, "row"),
        "todo.txt": (3, "line"),
        "plan.pdf": (2, "page"),
    }
    assert (told["files"], told["rows"], told["unread"]) == (4, 8, ["shop.png"])


def test_large_file_is_counted_in_part_and_marked_incomplete(filled: StagedFolder) -> None:
    told = filled.bounded(read_bytes_most=10).run(COUNT, paths=["takings.csv", "prices.csv"]).data
    assert [one.get("complete", True) for one in told["counts"]] == [False, False]


def test_folder_among_the_paths_is_skipped_and_missing_path_fails(filled: StagedFolder) -> None:
    assert filled.run(COUNT, paths=["d", "takings.csv"]).data["rows"] == 2
    with pytest.raises(Rejected):
        filled.run(COUNT, paths=["lost.csv"])


def test_more_files_than_one_call_may_read_are_refused(filled: StagedFolder) -> None:
    with pytest.raises(TooMuch):
        filled.bounded(summary_files_most=1).run(COUNT, paths=["takings.csv", "prices.csv"])
