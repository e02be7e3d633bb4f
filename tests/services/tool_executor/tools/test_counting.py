"""Counting rows, lines and pages of many files at once."""

from __future__ import annotations

import pytest

from libs.errors import Rejected
from services.tool_executor.tools.tool_context import TooMuch
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import Desk

pytestmark = pytest.mark.requirement("S4-59")
COUNT = "parse-content.count"


@pytest.fixture
def shelf(desk: Desk) -> Desk:
    desk.write("takings.csv", "day,sum\nmon,1\ntue,2\n")
    desk.write("prices.csv", "what,price\nhour,100\n")
    desk.write("todo.txt", "ring Bosch\n\norder keys")
    desk.write("plan.pdf", samples.pdf("one", "two"))
    desk.write("shop.png", b"\x89PNG\r\n\x1a\n" + bytes(50))
    desk.write("d/deep.csv", "a\n1\n")
    desk.scan()
    return desk


def test_files_are_counted_in_their_units_and_others_reported(shelf: Desk) -> None:
    told = shelf.run(COUNT, paths=shelf.listed()).data
    assert {one["path"]: (one["rows"], one["unit"]) for one in told["counts"]} == {
        "takings.csv": (2, "row"),
        "prices.csv": (1, "row"),
        "todo.txt": (3, "line"),
        "plan.pdf": (2, "page"),
    }
    assert (told["files"], told["rows"], told["unread"]) == (4, 8, ["shop.png"])


def test_large_file_is_counted_in_part_and_marked_incomplete(shelf: Desk) -> None:
    told = shelf.bounded(read_bytes=10).run(COUNT, paths=["takings.csv", "prices.csv"]).data
    assert [one.get("complete", True) for one in told["counts"]] == [False, False]


def test_folder_among_the_paths_is_skipped_and_missing_path_fails(shelf: Desk) -> None:
    assert shelf.run(COUNT, paths=["d", "takings.csv"]).data["rows"] == 2
    with pytest.raises(Rejected):
        shelf.run(COUNT, paths=["lost.csv"])


def test_more_files_than_one_call_may_read_are_refused(shelf: Desk) -> None:
    with pytest.raises(TooMuch):
        shelf.bounded(texts=1).run(COUNT, paths=["takings.csv", "prices.csv"])
