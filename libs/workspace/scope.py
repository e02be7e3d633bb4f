"""The workspace's scope: a path is inside it, or is refused. No path is ever changed to fit (S4-29, A5)."""

from __future__ import annotations

import os
from pathlib import Path

from libs.workspace import names
from libs.workspace.errors import InvalidPath, OutsideWorkspace
from libs.workspace.reserved import hidden

NAME_MAX = 255  # bytes: NAME_MAX of linux/limits.h


def resolve(root: Path, path: str) -> tuple[str, ...]:
    """Return the components of a path that is relative to the root, or absolute and inside it; () is the root."""
    if not path:
        raise InvalidPath("the path is empty; the workspace itself is '.'")
    names.decode(path)
    if path.startswith("/"):
        path = _within(root, path)
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise OutsideWorkspace(f"{path}: a path may not contain '..'")
    if found := next(filter(hidden, parts), None):
        raise OutsideWorkspace(f"{path}: {found} is not part of the workspace")
    return parts


def _within(root: Path, path: str) -> str:
    """Compare whole components, so that `/data-evil` is not inside `/data`."""
    top = names.encode(os.fsencode(root)).rstrip("/")
    if path.rstrip("/") == top:
        return "."
    if not path.startswith(f"{top}/"):
        raise OutsideWorkspace(f"{path} is outside the workspace {root}")
    return path[len(top) + 1 :]


def checked_name(name: str) -> str:
    """Return the name if it is a single valid component."""
    raw = names.decode(name)
    if odd := names.ODD.search(name):
        raise InvalidPath(f"{names.escaped(name)!r} contains an unprintable character: {odd[0]!a}")
    if name in ("", ".", "..") or b"/" in raw:
        raise InvalidPath(f"{name!r} is not a file name")
    if len(raw) > NAME_MAX:
        raise InvalidPath(f"the name is longer than {NAME_MAX} bytes: {name[:40]}…")
    return name
