"""The contents of changed files, before and after, for a person who reads a diff."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Literal

from libs.errors import NotFound
from libs.workspace.diff import Entry
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from libs.workspace.view import Excerpt, View

MOST = 1 << 20
"""Bytes of a file that are shown."""


class NotChanged(NotFound):
    """The stage does not change this file; read the diff again."""


def of(stage: Stage, path: str, side: Literal["before", "after"]) -> dict[str, Any]:
    """Return the beginning of a file of the diff, as it was or as it would be.

    Raises:
        NotChanged: the path is not in the diff, or has no such side.
        Rejected: it is not a file, or changed since the workspace was read.
    """
    entry = next((entry for entry in stage.diff().entries if entry.path == path), None)
    absent = {"created": "before", "deleted": "after"}
    if entry is None or entry.kind != "file" or absent.get(entry.change) == side:
        raise NotChanged
    found = _read(stage, entry, side, MOST)
    return {"path": path, "side": side, "size": found.size, "truncated": found.truncated, **_shown(found)}


def text(stage: Stage, entry: Entry, side: Literal["before", "after"], most: int) -> tuple[str, bool] | None:
    """Return the beginning of a text as it was or as it would be, and whether it goes on; None if it is no text.

    Raises:
        Rejected: it changed since the workspace was read.
    """
    found = _read(stage, entry, side, most)
    shown = _text(found)
    return None if shown is None else (shown, found.truncated)


def _read(stage: Stage, entry: Entry, side: Literal["before", "after"], most: int) -> Excerpt:
    if side == "after":
        return stage.read_content(entry.path, most)
    # What is overwritten is at the path itself; a moved file was elsewhere.
    source = None if entry.change == "overwritten" else entry.source
    return View(Tree(stage.tree.base)).read_content(source or entry.path, most)


def _shown(found: Excerpt) -> dict[str, str | None]:
    text = _text(found)
    return {"text": text, "base64": None if text is not None else b64encode(found.data).decode()}


def _text(found: Excerpt) -> str | None:
    """Return the bytes as text; None if they are something else. A cut may split the last character."""
    if b"\0" in found.data:
        return None
    for lost in range(4 if found.truncated else 1):
        try:
            return found.data[: len(found.data) - lost].decode()
        except UnicodeDecodeError:
            continue
    return None
