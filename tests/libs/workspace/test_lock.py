"""Only one process at a time changes a workspace."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from libs.workspace.errors import Busy
from libs.workspace.lock import lock, seize
from tests.libs.workspace.trees import forked


@pytest.mark.requirement("A25")
def test_a_second_holder_waits_and_then_gives_up(tmp_path: Path) -> None:
    with lock(tmp_path), pytest.raises(Busy), lock(tmp_path, patience=0.02):
        pass


def test_lock_is_released_by_the_death_of_its_process(tmp_path: Path) -> None:
    assert forked(lambda: lock(tmp_path).__enter__()) == 0
    with lock(tmp_path, patience=0):
        pass


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    inside = 0

    def work() -> None:
        nonlocal inside
        with lock(tmp_path):
            inside += 1
            assert inside == 1
            inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_seized_lock_is_the_new_holders(tmp_path: Path) -> None:
    with lock(tmp_path), seize(tmp_path), pytest.raises(Busy), lock(tmp_path, patience=0):
        pass


def test_locking_leaves_the_roots_mtime(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mtime_ns
    with lock(tmp_path):
        pass
    assert tmp_path.stat().st_mtime_ns == before
