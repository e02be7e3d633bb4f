"""Scratch folders: of limited size where this process may mount, measured elsewhere, and removed after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.sandbox import Limits, scratch_folder
from libs.sandbox.quota import exceeds, remove_orphans

pytestmark = pytest.mark.requirement("S2-12")
DEAD = 2**22 + 1
"""More than any process's number."""


async def test_folder_is_removed_with_closed_and_linked_contents() -> None:
    async with scratch_folder(None, Limits()) as folder:
        deep = folder / "closed"
        (deep / "inner").mkdir(parents=True)
        (deep / "inner" / "file").touch()
        (deep / "link").symlink_to("/etc")
        (deep / "inner").chmod(0)
        deep.chmod(0)
    assert not folder.parent.exists()
    assert Path("/etc/passwd").exists()


def test_folders_of_dead_processes_are_removed(tmp_path: Path) -> None:
    for name in (f"suma-scratch-{DEAD}-x", f"suma-scratch-{os.getpid()}-x", "suma-scratch-y", "other"):
        (tmp_path / name / "workspace").mkdir(parents=True)
    (tmp_path / f"suma-scratch-{DEAD}-link").symlink_to(tmp_path / "other")
    remove_orphans(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"suma-scratch-{os.getpid()}-x", "other", "suma-scratch-y", f"suma-scratch-{DEAD}-link"),
    }
    assert (tmp_path / "other" / "workspace").exists()


@pytest.mark.parametrize(
    ("limits", "full"),
    [
        (Limits(), False),
        (Limits(disk=100_000), True),
        (Limits(entries=2), True),
    ],
)
def test_folder_is_measured_without_following_links(tmp_path: Path, limits: Limits, full: bool) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(os.urandom(200_000))
    (tmp_path / "link").symlink_to("/usr")
    assert exceeds(tmp_path, limits) is full
