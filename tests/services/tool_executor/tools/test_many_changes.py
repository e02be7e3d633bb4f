"""A stage with more changes than an event can carry."""

from __future__ import annotations

from services.tool_executor.runner import ENTRIES_MOST, diff_of, whole_diff_of
from tests.services.tool_executor.tools.conftest import Desk


def test_answer_has_the_entries_that_an_event_leaves_out(desk: Desk) -> None:
    names = [f"{number:03}.txt" for number in range(ENTRIES_MOST + 1)]
    for name in names:
        desk.write(name, name)
    desk.scan()
    desk.run("manage-files.delete", paths=names)
    carried, answered = diff_of(desk.stage, 1), whole_diff_of(desk.stage, 1, 20_000)
    assert carried.count == answered.count == len(names)
    assert len(carried.entries) == ENTRIES_MOST
    assert [entry.path for entry in answered.entries] == names
