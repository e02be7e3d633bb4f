"""A stage with more changes than an event can carry."""

from __future__ import annotations

from services.tool_executor.runner import ENTRIES_MOST, diff_of, whole_diff_of
from tests.services.tool_executor.tools.conftest import StagedFolder


def test_answer_has_the_entries_that_an_event_leaves_out(folder: StagedFolder) -> None:
    names = [f"{number:03}.txt" for number in range(ENTRIES_MOST + 1)]
    for name in names:
        folder.write(name, name)
    folder.scan()
    folder.run("manage-files.delete", paths=names)
    carried, answered = diff_of(folder.stage, 1, 30.0), whole_diff_of(folder.stage, 1, 30.0, 20_000)
    assert carried.count == answered.count == len(names)
    assert len(carried.entries) == ENTRIES_MOST
    assert [entry.path for entry in answered.entries] == names
