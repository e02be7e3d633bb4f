"""A commit, rollback or redo killed at any point has its full effect or none, also through further kills."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Mapping
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Protocol

import pytest

from libs.errors import Conflict
from libs.workspace.commit import commit, outcome
from libs.workspace.engine import Fence, Step, no_step
from libs.workspace.errors import Busy, NoSuchPath
from libs.workspace.lock import lock, seize
from libs.workspace.operations import AnyOperation, Copy, Create, Delete, Move, Write
from libs.workspace.recovery import Decision, recover
from libs.workspace.rollback import redo, rollback
from tests.libs.workspace.trees import (
    Counted,
    Killed,
    born,
    forked,
    grow,
    manifest,
    owner,
    shape,
    staged,
    text,
)

OPERATIONS: list[AnyOperation] = [
    Create(path="new", directory=True),
    Create(path="new/file", content=text("made")),
    Copy(path="docs", target="new/docs"),
    Copy(path="b", target="b copy"),
    Write(path="a", content=text("ours")),
    Move(path="docs/old", target="new/old"),
    Delete(path="docs"),
    Move(path="b", target="t"),
    Move(path="c", target="b"),
    Move(path="t", target="c"),
]
SMALL: dict[str, bytes | str | None] = {
    "a": "a",
    "b": "bb",
    "c": "ccc",
    "docs/x": "x",
    "docs/old/y": "y",
    "docs/old/z": "z",
}


class Act(Protocol):
    def __call__(self, root: Path, step: Step = no_step, fence: Fence = owner) -> object: ...


def committing(root: Path, step: Step = no_step, fence: Fence = owner) -> None:
    commit(root, staged(root, *OPERATIONS), commit_id="c", fence=fence, step=step)


def rolling_back(root: Path, step: Step = no_step, fence: Fence = owner) -> None:
    rollback(root, "c", fence=fence, step=step)


def redoing(root: Path, step: Step = no_step, fence: Fence = owner) -> None:
    redo(root, "c", fence=fence, step=step)


ACTS: Mapping[Act, str] = {committing: "c", rolling_back: "c~1", redoing: "c~2"}
"""The actions that are killed, each after those before it, and their transactions."""


class Trial:
    """A tree before and after an action, fresh copies of it, and the permitted results."""

    def __init__(self, folder: Path, act: Act) -> None:
        self.folder, self.act = folder, act
        self.copies = 0
        self.pre = shape(self.fresh())
        whole = self.fresh()
        seen = Counted()
        act(whole, seen)
        self.post, self.points = shape(whole), seen.points

    def fresh(self) -> Path:
        self.copies += 1
        root = grow(self.folder / str(self.copies), SMALL)
        for earlier in takewhile(lambda act: act is not self.act, ACTS):
            earlier(root)
        return root

    def settled(self, root: Path, decide: Decision, before: object) -> None:
        """Check all or nothing by the outcome; nothing includes the last mtime."""
        assert all(recovered.unrestored == () for recovered in recover(root, decide))
        done = outcome(root, ACTS[self.act]) == "committed"
        assert shape(root) == (self.post if done else self.pre)
        if not done:
            assert manifest(root) == before
        assert recover(root) == []


@pytest.fixture(params=ACTS, ids=["commit", "rollback", "redo"])
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Trial:
    return Trial(tmp_path, request.param)


@pytest.mark.requirement("A25", "A24", "P5")
@pytest.mark.parametrize("decide", ["undo", "finish"])
def test_killed_at_each_point_it_is_all_or_nothing(trial: Trial, decide: Decision) -> None:
    for at in range(1, len(trial.points) + 1):
        root = trial.fresh()
        before = manifest(root)
        assert forked(partial(trial.act, root, Killed(at))) == -signal.SIGKILL
        trial.settled(root, decide, before)


@pytest.mark.requirement("A25")
@pytest.mark.parametrize("back", [2, 6], ids=["all but committed", "in the middle"])
@pytest.mark.parametrize(("first", "then"), [("undo", "finish"), ("finish", "undo")])
@pytest.mark.parametrize("at", [1, 2], ids=["odd points", "even points"])
def test_kill_at_any_point_of_recovery_is_all_or_nothing(
    trial: Trial, first: Decision, then: Decision, back: int, at: int
) -> None:
    code = -signal.SIGKILL
    while code == -signal.SIGKILL:
        root = trial.fresh()
        before = manifest(root)
        assert forked(partial(trial.act, root, Killed(len(trial.points) - back))) == -signal.SIGKILL
        code = forked(partial(recover, root, first, step=Killed(at)))
        trial.settled(root, then, before)
        at += 2
    assert at > 4


@pytest.mark.requirement("A25")
def test_kill_at_any_moment_of_a_large_commit_is_atomic(tmp_path: Path) -> None:
    chosen = random.Random(11)
    root = grow(tmp_path / "work", {f"d{number % 10}/{number}": str(number) for number in range(700)})
    operations: list[AnyOperation] = [
        *(Move(path=f"d{number % 10}/{number}", target=f"d{(number + 1) % 10}/m{number}") for number in range(400)),
        *(Delete(path=f"d{number % 10}/{number}") for number in range(400, 700)),
        *(Create(path=f"d{number % 10}/new{number}") for number in range(300)),
    ]
    before = manifest(root)
    stage = staged(root, *operations)
    for number in range(6):
        id = f"c{number}"
        forked(partial(_cut_short, chosen.uniform(0.01, 0.25), partial(commit, root, stage, commit_id=id, fence=owner)))
        recover(root, chosen.choice(["undo", "finish"]))
        if outcome(root, id) == "committed":
            rollback(root, id, fence=owner)
        assert manifest(root) == before


class Lost(Conflict):
    """The lease belongs to another process."""


@pytest.mark.requirement("A25")
@pytest.mark.parametrize("decide", ["undo", "finish"])
def test_process_resumed_after_its_recovery_changes_nothing(trial: Trial, decide: Decision) -> None:
    """At every point the newer owner seizes the lock and recovers; then the older one continues."""
    for at in range(1, len(trial.points) + 1):
        root, left, after = trial.fresh(), at, {}

        def sleep(point: str) -> None:
            nonlocal left, after
            left -= 1
            if left == 0:
                recover(root, decide, hold=seize)  # noqa: B023
                after = manifest(root)  # noqa: B023

        def fence() -> None:
            if left <= 0:  # noqa: B023
                raise Lost()

        try:
            trial.act(root, sleep, fence)
        except Lost:
            assert manifest(root) == after
        else:
            assert shape(root) == trial.post


@pytest.mark.requirement("A25")
@pytest.mark.parametrize("decide", ["undo", "finish"])
def test_recovery_disarms_an_owner_paused_before_its_system_call(trial: Trial, decide: Decision) -> None:
    """The fence still passes, then the process pauses, and the newer owner recovers before its system call."""
    at = 0
    while True:
        root, calls, after, at = trial.fresh(), 0, None, at + 1

        def fence() -> None:
            nonlocal calls, after
            calls += 1
            if calls > at:  # noqa: B023
                raise Lost()
            if calls == at:  # noqa: B023
                recover(root, decide, hold=seize)  # noqa: B023
                after = manifest(root)  # noqa: B023

        try:
            trial.act(root, fence=fence)
        except (Conflict, OSError, NoSuchPath):
            assert manifest(root) == after
        if calls < at:
            return


@pytest.mark.requirement("A25")
def test_a_stopped_process_that_wakes_after_another_recovered_changes_nothing(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", SMALL)
    before = manifest(root)
    moved = tmp_path / "lease moved"

    def fence() -> None:
        if moved.exists():
            raise Lost()

    def stop(point: str) -> None:
        if point == "placing":
            os.kill(os.getpid(), signal.SIGSTOP)

    def act() -> None:
        with pytest.raises(Lost):
            commit(root, staged(root, *OPERATIONS), commit_id="c", fence=fence, step=stop)

    pid = born(act)
    os.waitpid(pid, os.WUNTRACED)
    with pytest.raises(Busy), lock(root, patience=0):
        pass
    moved.touch()
    assert [recovered.outcome for recovered in recover(root, "undo", hold=seize)] == ["undone"]
    assert manifest(root) == before
    os.kill(pid, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert manifest(root) == before


@pytest.mark.requirement("A26")
def test_undo_never_replaces_a_foreign_file(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", SMALL)
    assert (
        forked(
            lambda: commit(
                root, staged(root, Delete(path="a"), Delete(path="b")), commit_id="c", fence=owner, step=_die
            )
        )
        == -9
    )
    (root / "a").write_text("theirs")
    [recovered] = recover(root, "undo")
    assert [conflict.path for conflict in recovered.unrestored] == ["a"]
    assert ((root / "a").read_text(), (root / "b").read_text()) == ("theirs", "bb")
    assert [path.read_text() for path in (root / ".suma/history").glob("c~kept.*/o*")] == ["a"]


def test_tree_without_commits_has_nothing_to_recover(tmp_path: Path) -> None:
    assert recover(grow(tmp_path, {"a": "a"})) == []
    assert not (tmp_path / ".suma").exists()


def _die(point: str) -> None:
    if point == "placing":
        os.kill(os.getpid(), signal.SIGKILL)


def _cut_short(seconds: float, act: Callable[[], object]) -> None:
    """Kill the process by a timer's signal at any place, in a system call or between two."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    act()
