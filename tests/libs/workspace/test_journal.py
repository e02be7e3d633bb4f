"""The hidden folder is private, and a recovery's new generation disarms every holder of the old one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from libs.workspace.errors import BadRoot
from libs.workspace.journal import PLACING, Journal
from libs.workspace.safe_dir import SafeDir


def test_the_hidden_folder_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / ".suma").mkdir(mode=0o755)
    with SafeDir.open(tmp_path) as safe_dir, Journal.open(safe_dir):
        assert stat.S_IMODE((tmp_path / ".suma").stat().st_mode) == 0o700


@pytest.mark.requirement("A5")
def test_link_in_place_of_the_hidden_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work/.suma").symlink_to(tmp_path / "elsewhere")
    with SafeDir.open(tmp_path / "work") as safe_dir, pytest.raises(BadRoot), Journal.open(safe_dir):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.requirement("A25")
def test_replaced_transaction_folder_accepts_no_writes(tmp_path: Path) -> None:
    with SafeDir.open(tmp_path) as safe_dir, Journal.open(safe_dir) as journal, journal.begin("c") as old:
        with journal.renewed("txn", "c") as new:
            assert new is not None
            new.mark(PLACING)
        assert old.removed
        with pytest.raises(FileNotFoundError):
            old.mark(PLACING)
        with pytest.raises(FileNotFoundError):
            os.mkdir("slot", dir_fd=old.fd)


def test_an_interrupted_renewal_still_shows_its_markers(tmp_path: Path) -> None:
    with SafeDir.open(tmp_path) as safe_dir, Journal.open(safe_dir) as journal:
        with journal.begin("c") as folder:
            folder.mark(PLACING)
        name = next((tmp_path / ".suma/txn").iterdir()).name
        (tmp_path / ".suma/txn" / f"c.{int(name.rpartition('.')[2]) + 1}").mkdir()
        assert journal.marked("txn", "c", PLACING)
