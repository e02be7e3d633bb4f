"""Folders that may be workspaces: configured ones, and those that the person allowed once, kept in `<data>/roots.json`.

The list is written only here, by the person's own account, into the folder that only this account can enter; no API of
the platform adds to it. The executor reads it and has the last word.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

from libs.workspace.roots import check_root
from services.cli.address import Address
from services.cli.errors import Usage

FILE, LOCK = "roots.json", "roots.lock"


def allowed(address: Address) -> list[Path]:
    if address.data is None:
        return list(address.roots)
    try:
        recorded = json.loads((address.data / FILE).read_text())
    except FileNotFoundError:
        recorded = []
    except ValueError:
        raise Usage(f"{address.data / FILE} is not a JSON list of folders: mend or remove it") from None
    return [*address.roots, *(Path(root) for root in recorded)]


def covers(roots: list[Path], folder: Path) -> bool:
    return any(folder.is_relative_to(root.resolve()) for root in roots)


def allow(address: Address, folder: Path) -> None:
    """Record a folder. Raises `Usage` where the platform is another's, `BadRoot` for one that may never be a root."""
    if address.data is None:
        raise Usage(f"{folder} is outside the roots of {address.url}: its administrator can add it to SUMA_ROOTS")
    root = check_root(folder, address.data)
    with _alone(address.data / LOCK):
        roots = [path for path in allowed(address) if path not in address.roots]
        _place(address.data / FILE, json.dumps([*map(str, roots), str(root)], indent=1))


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One terminal at a time adds to the list: of two that read it first and write it then, one would be forgotten.

    Whoever dies lets go; whoever lives holds it for as long as a small file takes.
    """
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        flock(handle, LOCK_EX)
        yield
    finally:
        os.close(handle)


def _place(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as opened:
        opened.write(text)
    draft.replace(file)
