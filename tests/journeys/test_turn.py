"""The worked example (S4-48, S4-49): a Downloads folder is cleaned, one group excluded, committed, and rolled back."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ApprovalRequested, MessageCompleted, TurnEnded
from tests.support.platform import run_platform

WISH = "clean up this folder: remove duplicates, sort by type, and tell me what is there"
OLD = 1_600_000_000
Entry = tuple[str, int, int, str]


def downloads(where: Path) -> None:
    """47 files: 3 groups of duplicates with 5 surplus files, unicode names, an empty file, a nested folder."""
    (where / "älter").mkdir(parents=True)
    groups = {"invoice": ("pdf", 3), "ferien": ("jpg", 3), "Lied ♪": ("mp3", 2)}
    for name, (suffix, copies) in groups.items():
        for copy in range(copies):
            (where / f"{name} ({copy}).{suffix}").write_bytes(name.encode() * 999)
    for n in range(37):
        suffix = ("txt", "png", "zip", "docx", "mp4")[n % 5]
        (where / f"file-{n}.{suffix}").write_bytes(bytes([n]) * (n + 1) * 31)
    (where / "leer.txt").touch()
    (where / "älter" / "naïve 名.csv").write_bytes(b"\x00\xff binary")
    for n, path in enumerate(sorted(where.rglob("*"))):
        os.chmod(path, 0o750 if path.is_dir() else 0o640)
        os.utime(path, ns=(OLD * 10**9 + n, OLD * 10**9 + n * 7))
    os.utime(where, ns=(OLD, OLD))


def manifest(where: Path) -> dict[bytes, Entry]:
    """Name bytes → type, mode, mtime in ns, SHA-256."""
    found = {}
    for path in [where, *where.rglob("*")]:
        if ".suma" in str(path):
            continue
        stat = path.stat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        # The workspace keeps its journal in the root itself, whose own time therefore moves on.
        mtime = 0 if path == where else stat.st_mtime_ns
        found[os.fsencode(path.relative_to(where))] = ("d" if path.is_dir() else "f", stat.st_mode, mtime, digest)
    return found


@pytest.mark.requirement("S4-48", "S4-49", "A24", "A28", "P5")
async def test_cleanup_without_one_group_is_rolled_back_exactly(where: Dsns, tmp_path: Path) -> None:
    async with run_platform(where, tmp_path) as at:
        folder = at.root / "Downloads"
        downloads(folder)
        assert sum(path.is_file() for path in folder.rglob("*")) == 47
        before = manifest(folder)

        turn = await at.say(WISH, session="s", root=folder)
        remove = await at.until(ApprovalRequested, session="s")
        assert len(remove.items) == 3
        spared = next(item for item in remove.items if "Lied" in item["keep"])
        await at.decide(remove, "override", session="s", exclude=(spared["id"],))
        sort = await at.until(ApprovalRequested, session="s")
        await at.decide(sort, session="s")
        commit = await at.until(ApprovalRequested, session="s")
        assert manifest(folder) == before
        assert commit.diff is not None
        assert commit.diff.deleted == 4
        await at.decide(commit, session="s")
        answer = await at.until(MessageCompleted, session="s")
        assert "4 duplicate files" in answer.text
        assert (await at.until(TurnEnded, session="s", where=lambda e: e.turn_id == turn)).state == "completed"
        assert sum(path.is_file() and ".suma" not in str(path) for path in folder.rglob("*")) == 43

        undo = await at.roll_back(session="s")
        assert (await at.until(TurnEnded, session="s", where=lambda e: e.turn_id == undo)).state == "completed"
        assert manifest(folder) == before
