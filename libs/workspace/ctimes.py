"""Ctimes changed by renames of Suma: a file that an undone commit moved and put back is still the same file.

Nothing else records this, so a second attempt of the stage's commit would see the file as changed. A lost entry costs
one extra question and never a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from libs.workspace.reserved import HIDDEN
from libs.workspace.safe_dir import SafeDir

NAME = "ctimes"
BYTES_MOST = 4 << 20
Rename = tuple[int, int, int]
"""A file that was renamed and put back: inode, ctime before, ctime after."""


def remember(folder: int, renames: Iterable[Rename]) -> None:
    """Append to the file in the hidden folder, which is emptied when it is full. A disk that takes no more lines, or
    only half of one, changes nothing else.
    """
    # Each line begins with its own line break, so that it never continues half a line.
    lines = "".join(f"\n{json.dumps(rename)}" for rename in renames)
    if not lines:
        return
    # Without space for these lines the commit must still be undone to its end.
    with suppress(OSError):
        fd = os.open(NAME, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        with os.fdopen(fd, "ab") as file:
            # Emptied rather than rotated: a lost entry costs one extra question.
            if os.fstat(fd).st_size > BYTES_MOST:
                file.truncate(0)
            file.write(lines.encode())


def recall(safe_dir: SafeDir) -> Mapping[tuple[int, int], int]:
    """Return the ctime before the renames by inode and ctime after them."""
    try:
        with os.fdopen(safe_dir.at(f"{HIDDEN}/{NAME}", os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            lines = file.read(2 * BYTES_MOST).splitlines()
    except OSError:
        return {}
    found: dict[tuple[int, int], int] = {}
    for line in lines:
        # A crash or a full disk may leave half a line.
        with suppress(ValueError, TypeError):
            ino, before, after = json.loads(line)
            found[ino, after] = before
    return found
