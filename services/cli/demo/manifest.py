"""List the contents of a folder that a rollback must restore: `python manifest.py DIR`.

One line of JSON per entry: name (hex of its bytes), type, mode, mtime in nanoseconds, size, SHA-256 or link target.
Suma's own `.suma`, which holds the history, is left out. This file imports nothing of Suma.
"""

# Names are bytes here, which pathlib does not support.
# ruff: noqa: PTH115, PTH118, PTH123

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from typing import Any

OWN = b".suma"


def entries(root: bytes) -> Iterator[dict[str, Any]]:
    """Yield every entry, the folder itself first, in the order of the names' bytes."""
    yield _entry(b".", root)
    for folder, folders, files in os.walk(root):
        if folder == root and OWN in folders:
            folders.remove(OWN)
        folders.sort()
        for name in sorted([*folders, *files]):
            path = os.path.join(folder, name)
            yield _entry(os.path.relpath(path, root), path)


def _entry(name: bytes, path: bytes) -> dict[str, Any]:
    state = os.lstat(path)
    shown: dict[str, Any] = {
        "name": name.hex(),
        "type": stat.filemode(state.st_mode)[0],
        "mode": oct(stat.S_IMODE(state.st_mode)),
        "mtime_ns": state.st_mtime_ns,
    }
    if stat.S_ISREG(state.st_mode):
        shown |= {"size": state.st_size, "sha256": _digest(path)}
    elif stat.S_ISLNK(state.st_mode):
        shown["target"] = os.readlink(path).hex()
    return shown


def _digest(path: bytes) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    for entry in entries(os.fsencode(sys.argv[1])):
        print(json.dumps(entry))
