"""A stage changes the graph alone and can return to any version."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.errors import Rejected
from libs.workspace.errors import (
    AlreadyExists,
    InvalidPath,
    NoSuchPath,
    OutsideWorkspace,
    Sealed,
    WrongKind,
)
from libs.workspace.operations import AnyOperation, Batch, Copy, Create, Delete, Move, Rename, Write
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.actions import ACTIONS, Action, act
from tests.libs.workspace.trees import find, graph, grow, manifest, staged, staged_shape, text
from tests.support.examples import examples


def state(stage: Stage) -> tuple[dict[int, Any], set[tuple[int, int]], dict[int, list[int]], dict[int, Any]]:
    """Return everything that an operation may change."""
    shown = graph(stage.tree)
    nodes = {node: dict(attrs) for node, attrs in shown.nodes(data=True)}
    return nodes, set(shown.edges()), {n: list(stage.tree.inside(n)) for n in stage.tree}, dict(stage.contents)


@pytest.mark.requirement("S4-25")
def test_no_operation_touches_the_disk(root: Path) -> None:
    before = manifest(root)
    staged(
        root,
        Create(path="new", directory=True),
        Move(path="docs", target="new/docs"),
        Write(path="README", content=text("other")),
        Delete(path="photos"),
    )
    assert manifest(root) == before
    assert not (root / ".suma").exists()


@pytest.mark.requirement("S4-21", "S4-26", "S0-24")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, max_size=25), back=st.integers(0, 25))
def test_a_rollback_gives_back_exactly_the_version(root: Path, actions: list[Action], back: int) -> None:
    stage = Stage(Tree.scan(root))
    versions = [state(stage)]
    versions += [state(stage) for action in actions if act(stage, action)]
    version = min(back, stage.version)
    stage.rollback(version)
    assert state(stage) == versions[version]
    assert stage.tree.export() == nx.node_link_data(graph(stage.tree), edges="edges")


@pytest.mark.requirement("S4-26")
def test_snapshot_equals_the_length_of_the_log(root: Path) -> None:
    stage = staged(root, Delete(path="README"), Delete(path="docs"))
    assert stage.snapshot() == stage.version == 2


@pytest.mark.requirement("S4-21")
def test_a_rollback_names_the_operations_that_it_dropped(root: Path) -> None:
    stage = staged(root, Delete(path="README"), Delete(path="docs"), Delete(path="photos"))
    assert stage.rollback(1) == (Delete(path="docs"), Delete(path="photos"))
    assert [entry.path for entry in stage.diff().entries] == ["README"]


@pytest.mark.parametrize("version", [-1, 2])
def test_unknown_version_is_refused(root: Path, version: int) -> None:
    with pytest.raises(Rejected):
        staged(root, Delete(path="README")).rollback(version)


@pytest.mark.requirement("S4-29", "A5")
@pytest.mark.parametrize(
    "operation",
    [
        Delete(path="../work"),
        Delete(path="/etc/passwd"),
        Create(path="link/x"),
        Move(path="README", target="../README"),
        Move(path="README", target="link/README"),
        Copy(path="docs", target="/tmp/docs"),
        Rename(path="README", new_name="../README"),
        Rename(path="README", new_name=".suma"),
        Create(path=".suma/x"),
    ],
    ids=repr,
)
def test_an_operation_that_leaves_the_workspace_is_refused(root: Path, operation: AnyOperation) -> None:
    stage = Stage(Tree.scan(root))
    with pytest.raises((OutsideWorkspace, InvalidPath)):
        stage.apply(operation)
    assert stage.version == 0


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (Delete(path="nothing"), NoSuchPath),
        (Delete(path="."), WrongKind),
        (Create(path="README"), AlreadyExists),
        (Create(path="none/x"), NoSuchPath),
        (Create(path="README/x"), WrongKind),
        (Write(path="docs", content=text("")), WrongKind),
        (Write(path="link", content=text("")), WrongKind),
        (Move(path="README", target="empty.txt"), AlreadyExists),
        (Move(path="docs", target="docs/old/docs"), InvalidPath),
        (Copy(path="docs", target="docs/copy"), InvalidPath),
        (Rename(path="README", new_name="a/b"), InvalidPath),
    ],
    ids=repr,
)
def test_impossible_operation_is_refused_without_a_trace(
    root: Path, operation: AnyOperation, error: type[Exception]
) -> None:
    stage = Stage(Tree.scan(root))
    before = state(stage)
    with pytest.raises(error):
        stage.apply(operation)
    assert state(stage) == before


def test_batch_with_a_refused_operation_stages_nothing(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    before = state(stage)
    with pytest.raises(NoSuchPath):
        stage.apply(Batch(operations=(Delete(path="docs"), Delete(path="docs"))))
    assert (state(stage), stage.version) == (before, 0)


def test_a_move_to_a_folder_goes_into_it(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    assert stage.apply(Move(path="README", target="docs")).paths == ("docs/README",)


def test_copy_has_the_content_of_its_source(root: Path) -> None:
    stage = staged(root, Write(path="docs/letter.txt", content=text("new")), Copy(path="docs", target="copy"))
    shape = staged_shape(stage)
    assert {path[5:]: held for path, held in shape.items() if path.startswith("copy/")} == {
        path[5:]: held for path, held in shape.items() if path.startswith("docs/")
    }


def test_unreadable_folder_is_neither_moved_nor_deleted(root: Path) -> None:
    tree = Tree.scan(root)
    tree.sealed[find(tree, "hollow") or 0] = "another file system is mounted here"
    with pytest.raises(Sealed):
        Stage(tree).apply(Delete(path="hollow"))


@pytest.mark.requirement("S4-26")
def test_move_cost_is_independent_of_folder_size(tmp_path: Path) -> None:
    root = grow(tmp_path, {"small/x": "", "to": None, **{f"large/{number}": "" for number in range(3000)}})
    stage = Stage(Tree.scan(root))
    for name in ("large", "small"):
        stage.apply(Move(path=name, target="to"))
        assert len(stage._log[-1].edit.inverses) == 1
    assert len(stage.touched) == 2


def test_thousands_of_deletions_are_staged_within_two_seconds(tmp_path: Path) -> None:
    root = grow(tmp_path, {f"d{number % 20}/{number}": "" for number in range(3000)})
    stage = Stage(Tree.scan(root))
    started = time.process_time()
    stage.apply(Batch(operations=tuple(Delete(path=f"d{number % 20}/{number}") for number in range(3000))))
    assert stage.diff().counts["deleted"] == 3000
    assert time.process_time() - started < 2


@pytest.mark.requirement("S4-19")
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, max_size=20))
def test_a_replayed_log_is_the_same_stage(root: Path, actions: list[Action]) -> None:
    first = Stage(Tree.scan(root))
    log = [applied.operation for action in actions if (applied := act(first, action))]
    second = Stage.replay(Tree.scan(root), log)
    assert staged_shape(second) == staged_shape(first)
    assert second.diff() == first.diff()
    assert second.outdated == {}


@pytest.mark.requirement("A26")
def test_replay_detects_changes_made_after_staging(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    log = [stage.apply(Delete(path="docs")).operation, stage.apply(Delete(path="README")).operation]
    (root / "docs/old/new.txt").write_text("someone's")
    (root / "README").write_text("someone else's")
    assert sorted(Stage.replay(Tree.scan(root), log).outdated) == ["README", "docs"]


@pytest.mark.requirement("A26")
def test_replay_of_inapplicable_operations_keeps_the_versions(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    log = [stage.apply(Delete(path="README")).operation, stage.apply(Delete(path="empty.txt")).operation]
    (root / "README").unlink()
    again = Stage.replay(Tree.scan(root), log)
    assert (again.version, list(again.outdated)) == (2, ["README"])
    assert [entry.path for entry in again.diff().entries] == ["empty.txt"]
