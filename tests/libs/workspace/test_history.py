"""Old inodes are kept for a time and up to a size, and how a commit ended is remembered longer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from libs.workspace.commit import commit, outcome
from libs.workspace.errors import HistoryGone
from libs.workspace.history import kept, prune
from libs.workspace.operations import AnyOperation, Delete
from libs.workspace.rollback import rollback
from tests.libs.workspace.trees import owner, staged


def done(root: Path, *operations: AnyOperation, id: str = "c") -> None:
    commit(root, staged(root, *operations), commit_id=id, fence=owner)


@pytest.mark.requirement("A24")
def test_history_is_pruned_by_age_and_its_outcome_is_remembered(root: Path) -> None:
    done(root, Delete(path="README"))
    finished = kept(root)[0].finished_at
    assert prune(root, now=finished + timedelta(days=29).total_seconds()).commits == ()
    assert prune(root, now=finished + timedelta(days=31).total_seconds()).commits == ("c",)
    assert outcome(root, "c") == "committed"
    with pytest.raises(HistoryGone):
        rollback(root, "c", fence=owner)


def test_history_is_pruned_by_size_oldest_first(root: Path) -> None:
    for number, name in enumerate(("report.pdf", "report copy.pdf", "binary.bin")):
        done(root, Delete(path=name), id=f"c{number}")
    rollback(root, "c0", fence=owner)
    sizes = {entry.commit_id: entry.size for entry in kept(root)}
    assert prune(root, max_bytes=sizes["c1"] + sizes["c2"]).commits == ("c0",)
    assert [entry.commit_id for entry in kept(root)] == ["c1", "c2"]
    assert (root / "report.pdf").exists()
    assert list((root / ".suma/trash").iterdir()) == []
