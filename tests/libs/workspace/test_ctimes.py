"""The ctimes of files that an undone commit put back survive a write that failed midway."""

from __future__ import annotations

import os
from pathlib import Path

from libs.workspace import ctimes
from libs.workspace.safe_dir import SafeDir


def test_partial_line_damages_no_other_line(tmp_path: Path) -> None:
    hidden = tmp_path / ".suma"
    hidden.mkdir()
    with SafeDir.open(tmp_path) as safe_dir:
        fd = os.open(hidden, os.O_RDONLY)
        ctimes.remember(fd, [(1, 10, 20)])
        with (hidden / ctimes.NAME).open("a") as file:
            file.write("\n[2, 10")
        ctimes.remember(fd, [(3, 10, 20)])
        os.close(fd)
        assert ctimes.recall(safe_dir) == {(1, 20): 10, (3, 20): 10}
