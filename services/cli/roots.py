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
from typing import Annotated

import typer
from rich.text import Text

from libs.workspace.roots import LOCAL, Root, belongs, check_root
from services.cli import words
from services.cli.address import Address
from services.cli.errors import Usage
from services.cli.terminal import Json, connected, console, print_json

app = typer.Typer(help="Folders that Suma may work in.", no_args_is_help=True)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of this machine.", file_okay=False)]
FILE, LOCK = "roots.json", "roots.lock"


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List the allowed folders of your tenant."""
    with connected() as client:
        tenant = client.get("/status")["tenant"]
        found = [str(root.path) for root in _known(client.address) if root.tenant == tenant]
    if as_json:
        print_json(found)
    elif not found:
        console.print("No folder is allowed yet; `suma roots add DIR` allows one.")
    else:
        for path in found:
            console.print(Text(words.plain(path)), soft_wrap=True)


@app.command()
def add(folder: Folder) -> None:
    """Allow a folder with everything in it. A browser that waits for the permission goes on by itself."""
    with connected() as client:
        allow(client.address, folder, client.get("/status")["tenant"])
    console.print(Text(f"Suma may now work in {words.plain(folder.expanduser().resolve())}."), soft_wrap=True)


@app.command()
def remove(folder: Folder) -> None:
    """Withdraw the permission for a folder. Folders in SUMA_ROOTS stay allowed."""
    with connected() as client:
        withdraw(client.address, folder, client.get("/status")["tenant"])
    console.print(Text(f"Suma may no longer work in {words.plain(folder.expanduser().resolve())}."), soft_wrap=True)


def _known(address: Address) -> list[Root]:
    return [*address.roots, *(_recorded(address.data) if address.data is not None else ())]


def _recorded(data: Path) -> list[Root]:
    try:
        recorded = json.loads((data / FILE).read_text())
    except FileNotFoundError:
        return []
    except PermissionError:
        raise _foreign(data / FILE) from None
    except ValueError:
        raise Usage(f"{data / FILE} is not a JSON list of folders; fix or remove it") from None
    return [root for one in recorded if isinstance(root := Root.of(one), Root)]


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
        others = [known for known in _recorded(address.data) if known != Root(root, tenant)]
        _write(address.data, [*others, Root(root, tenant)])


def withdraw(address: Address, folder: Path, tenant: str) -> None:
    """Remove a recorded folder of a tenant. Raises `Usage` if it is not recorded."""
    gone = Root(folder.expanduser().resolve(), tenant)
    if address.data is None:
        raise Usage(f"the folders of {address.url} are changed on its machine")
    with _alone(address.data / LOCK):
        recorded = _recorded(address.data)
        if gone not in recorded:
            raise Usage(f"{folder} is not among the folders that were allowed here; see `suma roots list`")
        _write(address.data, [root for root in recorded if root != gone])


def _write(data: Path, roots: list[Root]) -> None:
    _place(data / FILE, json.dumps([*map(_written, roots)], indent=1))


def _written(root: Root) -> object:
    return str(root.path) if root.tenant == LOCAL else {"path": str(root.path), "tenant": root.tenant}


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Lock the list, so that two terminals cannot overwrite each other's entries.

    The lock ends with its process, and is held only while a small file is written.
    """
    handle = _created(lock, os.O_RDWR)
    try:
        flock(handle, LOCK_EX)
        yield
    finally:
        os.close(handle)


def _created(file: Path, flags: int) -> int:
    """Open a file for the owner of its folder, even if root writes it: the platform must be able to read it."""
    try:
        handle, owner = os.open(file, flags | os.O_CREAT, 0o600), file.parent.stat()
    except PermissionError:
        raise _foreign(file) from None
    if os.geteuid() == 0:
        os.fchown(handle, owner.st_uid, owner.st_gid)
    return handle


def _foreign(file: Path) -> Usage:
    return Usage(f"{file} belongs to another user; give it to the owner of {file.parent} with chown")


def _place(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.new")
    handle = _created(draft, os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(handle, "w") as opened:
        opened.write(text)
    # Replaced whole: the platform may read it at any moment, and a crash leaves the old list.
    draft.replace(file)
