"""Allowed folders: those from the settings, and those that the person allowed, kept in `<data>/roots.json`.

Only this command writes the list, as the person's own account, into a folder that only this account can enter. No API
of the platform adds to it. The executor reads it and decides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

from libs.workspace.roots import LOCAL, Root, belongs, check_root
from services.cli.address import Address
from services.cli.errors import Usage

FILE, LOCK = "roots.json", "roots.lock"


def _known(address: Address) -> list[Root]:
    if address.data is None:
        return list(address.roots)
    try:
        recorded = json.loads((address.data / FILE).read_text())
    except FileNotFoundError:
        recorded = []
    except ValueError:
        raise Usage(f"{address.data / FILE} is not a JSON list of folders; fix or remove it") from None
    return [*address.roots, *(root for one in recorded if isinstance(root := Root.of(one), Root))]


def covers(address: Address, tenant: str, folder: Path) -> bool:
    """Check whether a tenant may work in a folder without a permission question."""
    return belongs(folder, tenant, _known(address))


def check(address: Address, folder: Path) -> None:
    """Refuse a folder that can never be a workspace. Raises `BadRoot`."""
    if address.data is not None:
        check_root(folder, address.data)


def allow(address: Address, folder: Path, tenant: str) -> None:
    """Record a folder for a tenant.

    Raises `Usage` if the platform runs on another machine, `BadRoot` if the folder can never be a workspace.
    """
    if address.data is None:
        raise Usage(f"{folder} is outside the roots of {address.url}: its administrator can add it to SUMA_ROOTS")
    root = check_root(folder, address.data)
    with _alone(address.data / LOCK):
        roots = [known for known in _known(address) if known not in address.roots]
        _place(address.data / FILE, json.dumps([*map(_written, roots), _written(Root(root, tenant))], indent=1))


def _written(root: Root) -> object:
    return str(root.path) if root.tenant == LOCAL else {"path": str(root.path), "tenant": root.tenant}


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Lock the list, so that two terminals cannot overwrite each other's entries.

    The lock ends with its process, and is held only while a small file is written.
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
