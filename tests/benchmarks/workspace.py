"""The workspace: opening a large tree, snapshots, rollbacks, and a commit of many operations (architecture.md 18)."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.text import Text

from libs.workspace.commit import commit
from libs.workspace.operations import Inline, Move, Write
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.benchmarks.rows import Row, most

OF_A_FOLDER = 500
CONTENT = b"x" * 100
SNAPSHOTS = 100_000


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    files, operations, times = (20_000, 2_000, 3) if quick else (100_000, 10_000, 5)
    with tempfile.TemporaryDirectory(prefix="suma-bench-") as folder:
        large, small = Path(folder) / "large", Path(folder) / "small"
        tell(f"making {files:,} files")
        fill(large, files)
        fill(small, files // 10)
        tell(f"opening {files:,} files")
        rows = [_opened(large, files, times)]
        tell("snapshots and rollbacks")
        rows += _undone(large, small, files)
        tell(f"committing {operations:,} operations")
        rows += _committed(Path(folder), operations)
    return rows, Text()


def fill(root: Path, files: int) -> None:
    for n in range(files):
        path = root / _path(n)
        if n % OF_A_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.touch()


def _path(n: int) -> str:
    return f"{n // OF_A_FOLDER:04}/{n:06}.txt"


def _opened(root: Path, files: int, times: int) -> Row:
    ours, theirs = [], []
    for _ in range(times):
        ours.append(timed(lambda: Tree.scan(root)))
        theirs.append(timed(lambda: _walk(root)))
    ratio = statistics.median(our / their for our, their in zip(ours, theirs, strict=True))
    figures = statistics.median(ours) * 1000, "ms", "scandir + stat walk", statistics.median(theirs) * 1000
    return Row(f"open a workspace of {files:,} files", *figures, most(3.0), ratio)


def _walk(root: Path) -> int:
    found, left = 0, [str(root)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                found += entry.stat(follow_symlinks=False).st_size >= 0
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
    return found


def _undone(large: Path, small: Path, files: int) -> list[Row]:
    """The same changes in two trees: their cost may not know how large the tree is."""
    stages = [Stage(Tree.scan(root)) for root in (large, small)]
    beside = f"{files // 10:,} files"
    snapshot = [_snapshot(stage) for stage in stages]
    many = files // 20
    few, same = ([_rollback(stage, changes) for stage in stages] for changes in (many // 10, many))
    name = f"rollback of {many:,} changes, {files:,} files"
    return [
        Row(f"snapshot, {files:,} files", snapshot[0] * 1e6, "µs", beside, snapshot[1] * 1e6, most(2.0)),
        Row(name, same[0] * 1e3, "ms", beside, same[1] * 1e3, most(2.0)),
        Row(name, same[0] * 1e3, "ms", f"{many // 10:,} changes", few[0] * 1e3, most(15.0)),
    ]


def _rollback(stage: Stage, changes: int) -> float:
    times = []
    for _ in range(7):
        version = stage.snapshot()
        for n in range(changes):
            stage.apply(Move(path=_path(n), target=f"0000/moved-{n:06}.txt"))
        times.append(timed(lambda: stage.rollback(version)))  # noqa: B023 - called at once
    return min(times)


def _snapshot(stage: Stage) -> float:
    return min(timed(lambda: [stage.snapshot() for _ in range(SNAPSHOTS)]) for _ in range(7)) / SNAPSHOTS


def _committed(folder: Path, operations: int) -> list[Row]:
    """New contents for many files, in ours all or none and undoable, beside each written, synced and renamed alone."""
    ours, theirs = folder / "ours", folder / "theirs"
    for root in (ours, theirs):
        fill(root, operations)
    stage = Stage(Tree.scan(ours))
    paths = [_path(n) for n in range(operations)]
    for path in paths:
        stage.apply(Write(path=path, content=Inline.of(CONTENT)))
    taken = timed(lambda: commit(ours, stage, commit_id="bench", fence=lambda: None))
    by_hand = timed(lambda: _replace(theirs / path for path in paths))
    name = f"commit of {operations:,} operations"
    return [Row(name, operations / taken, "/s", "write, fsync, rename of each", operations / by_hand)]


def _replace(paths: Iterable[Path]) -> None:
    for path in paths:
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(CONTENT)
            os.fsync(file.fileno())
        fresh.rename(path)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
