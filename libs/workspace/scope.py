"""The workspace's scope: a path inside it, or a refusal. Nothing is clipped to a path that was not asked for (S4-29,
A5)."""

from __future__ import annotations

import os
from pathlib import Path

from libs.workspace import names
from libs.workspace.errors import InvalidPath, OutsideWorkspace

HIDDEN = ".suma"
"""The folder in the root that holds open transactions and history. It is no part of the workspace."""
NAME_MAX = 255  # bytes: NAME_MAX of linux/limits.h


def resolve(root: Path, path: str) -> tuple[str, ...]:
    """The components of a path that is relative to the root, or absolute and inside it; () is the root."""
    if not path:
        raise InvalidPath("the path is empty; the workspace itself is '.'")
    names.decode(path)
    if path.startswith("/"):
        path = _within(root, path)
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise OutsideWorkspace(f"{path}: a path may not hold '..'")
    if parts[:1] == (HIDDEN,):
        raise OutsideWorkspace(f"{path}: {HIDDEN} is not part of the workspace")
    return parts


def _within(root: Path, path: str) -> str:
    """By whole components, so that `/data-evil` is not inside `/data`."""
    top = names.encode(os.fsencode(root)).rstrip("/")
    if path.rstrip("/") == top:
        return "."
    if not path.startswith(f"{top}/"):
        raise OutsideWorkspace(f"{path} is outside the workspace {root}")
    return path[len(top) + 1 :]


def checked_name(name: str) -> str:
    """A single component that a file can be called."""
    raw = names.decode(name)
    if name in ("", ".", "..") or b"/" in raw:
        raise InvalidPath(f"{name!r} is not a file name")
    if len(raw) > NAME_MAX:
        raise InvalidPath(f"the name is longer than {NAME_MAX} bytes: {name[:40]}…")
    return name
