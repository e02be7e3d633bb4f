"""Costs of scanning and committing, measured in one run so that the ratios hold on any machine. A benchmark calls
these.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from libs.workspace.commit import commit
from libs.workspace.operations import AnyOperation, Create, Delete, Inline, Move, Write
from libs.workspace.rollback import rollback
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree

T = TypeVar("T")


@dataclass(frozen=True)
class ScanCost:
    """Seconds, the best of three each. `scandir` is the baseline: a walk with one stat per entry."""

    files: int
    walk_lstat: float
    scandir: float
    scan: float


@dataclass(frozen=True)
class CommitCost:
    """Seconds. `operations` are net changes: files created, moved, replaced or removed."""

    operations: int
    stage: float
    snapshot: float
    unstage: float
    commit: float
    rollback: float


def planted(root: Path, files: int, per_folder: int = 50) -> Path:
    """Create a tree of small files, fifty to a folder."""
    for number in range(0, files, per_folder):
        folder = root / f"d{number // per_folder % 100}" / f"e{number // per_folder}"
        folder.mkdir(parents=True)
        for name in range(min(per_folder, files - number)):
            (folder / f"file{name}.txt").write_bytes(b"content %d" % number)
    return root


def scan_cost(root: Path) -> ScanCost:
    files = sum(len(names) for _, _, names in os.walk(root))
    return ScanCost(files, _best(lambda: _walked(root)), _best(lambda: _scanned(root)), _best(lambda: Tree.scan(root)))


def commit_cost(root: Path, operations: int) -> CommitCost:
    """Return a mix of moves, deletions, creations and overwrites in a tree with at least as many files."""
    stage = Stage(Tree.scan(root))
    wanted = _mixed(root, operations)
    staged, _ = _timed(lambda: [stage.apply(operation) for operation in wanted])
    snapshot, _ = _timed(lambda: [stage.snapshot() for _ in range(1000)])
    unstaged, dropped = _timed(lambda: stage.rollback(0))
    for operation in dropped:
        stage.apply(operation)
    committed, result = _timed(lambda: commit(root, stage, commit_id="measured", fence=_free))
    undone, _ = _timed(lambda: rollback(root, "measured", fence=_free))
    return CommitCost(result.operations, staged, snapshot / 1000, unstaged, committed, undone)


def _mixed(root: Path, operations: int) -> list[AnyOperation]:
    paths = sorted(str(path.relative_to(root)) for path in root.rglob("file*.txt"))[:operations]
    made: list[AnyOperation] = []
    for number, path in enumerate(paths):
        match number % 4:
            case 0:
                made.append(Move(path=path, target=f"{path}.moved"))
            case 1:
                made.append(Delete(path=path))
            case 2:
                made.append(Create(path=f"{path}.new", content=Inline.of(b"new")))
            case _:
                made.append(Write(path=path, content=Inline.of(b"written")))
    return made


def _walked(root: Path) -> None:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            os.lstat(os.path.join(folder, name))


def _scanned(root: Path) -> None:
    pending = [str(root)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)


def _best(act: Callable[[], object]) -> float:
    return min(_timed(act)[0] for _ in range(3))


def _timed(act: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    result = act()
    return time.perf_counter() - started, result


def _free() -> None:
    """Do nothing: no other process competes for the workspace."""
