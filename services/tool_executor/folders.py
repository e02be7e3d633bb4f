"""Folders that a person types: whether one may be a workspace, before a session is made in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from libs.workspace.errors import BadRoot
from libs.workspace.roots import LOCAL, Root, belongs, check_root

SUGGESTED_MOST, LISTED_MOST = 20, 1_000
State = Literal["allowed", "needs_permission", "missing", "refused"]


@dataclass(frozen=True)
class Folder:
    """A typed path, its state and, if it is refused, the reason. `suggestions` complete it inside allowed folders."""

    path: str
    state: State
    detail: str = ""
    suggestions: tuple[str, ...] = ()


def look(path: str, tenant: str, roots: Sequence[Root], data_dir: Path, *, owner: bool) -> Folder:
    """Return the state of a path.

    Outside the tenant's roots the disk is read only for the machine's owner: others cannot probe which folders exist.
    """
    owner = owner and tenant == LOCAL
    place = Path.home() / path[2:] if owner and path.startswith("~/") else Path(path)
    if "\0" in path or not place.is_absolute():
        return Folder(path, "missing", "Give the whole path, beginning with /.", ())
    found = tuple(islice(_completions(place, path, tenant, roots), SUGGESTED_MOST))
    state, detail = _state(place, tenant, roots, data_dir, owner=owner)
    return Folder(str(place), state, detail, found)


def _state(place: Path, tenant: str, roots: Sequence[Root], data_dir: Path, *, owner: bool) -> tuple[State, str]:
    allowed = belongs(place.resolve(), tenant, roots)
    if not allowed and not owner:
        return "needs_permission", ""
    if not _is_dir(place):
        return "missing", f"{place} is not a folder."
    try:
        check_root(place, data_dir)
    except BadRoot as error:
        return "refused", str(error)
    return ("allowed" if allowed else "needs_permission"), ""


def _is_dir(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a name that is too long, or a folder that cannot be entered
        return False


def _completions(place: Path, typed: str, tenant: str, roots: Sequence[Root]) -> Iterator[str]:
    """Yield the tenant's roots, and folders inside them, whose path begins with the typed text."""
    yield from (str(root.path) for root in roots if root.tenant == tenant and str(root.path).startswith(typed))
    around = place if typed.endswith("/") else place.parent
    if not belongs(around.resolve(), tenant, roots):
        return
    try:
        with os.scandir(around) as listed:
            names = sorted(each.name for each in islice(listed, LISTED_MOST) if each.is_dir(follow_symlinks=False))
    except OSError:
        return
    start = "" if typed.endswith("/") else place.name
    yield from (str(around / name) for name in names if name.startswith(start) and not name.startswith("."))
