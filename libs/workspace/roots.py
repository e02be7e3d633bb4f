"""Which folders may be a workspace: never one that holds our own data or a person's keys (DESIGN §9)."""

from __future__ import annotations

import os
from pathlib import Path

from libs.workspace.errors import BadRoot

CREDENTIALS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config",
    ".docker",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".netrc",
    ".password-store",
)
"""Where a home keeps its keys. A root may not lie in one, nor hold one, whether or not it exists yet."""
SYSTEM = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys")
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - nothing of ours is put there
"""Folders in it are anybody's, as those in /tmp are."""


def check_root(path: Path, data_dir: Path, home: Path | None = None) -> Path:
    """The folder's real path, or BadRoot with one line that says why not. A home holds credential folders, so it is
    refused."""
    root = path.expanduser().resolve()
    if not root.is_dir():
        raise BadRoot(f"{path} is not a folder")
    if root == Path("/"):
        raise BadRoot("/ cannot be a workspace")
    _refuse_overlap(root, data_dir.resolve(), "Suma's own data")
    for system in SYSTEM:
        _refuse_inside(root, Path(system))
    home = (home or Path.home()).resolve()
    for name in CREDENTIALS:
        # By name and by what it links to: a linked ~/.ssh keeps its keys elsewhere.
        for folder in {home / name, (home / name).resolve()}:
            _refuse_overlap(root, folder, "credentials")
    if named := {".ssh", ".gnupg", ".aws"} & set(root.parts):
        raise BadRoot(f"{root} lies in {named.pop()}, which holds credentials")
    _refuse_foreign(root)
    return root


def _refuse_overlap(root: Path, folder: Path, what: str) -> None:
    if root.is_relative_to(folder):
        raise BadRoot(f"{root} lies in {folder}, which holds {what}")
    if folder.is_relative_to(root):
        raise BadRoot(f"{root} contains {folder}, which holds {what}")


def _refuse_inside(root: Path, folder: Path) -> None:
    if root.is_relative_to(folder) and IN_MEMORY not in root.parents:
        raise BadRoot(f"{root} lies in {folder}, which belongs to the system")


def _refuse_foreign(root: Path) -> None:
    """Ours, because only an owner may set a folder's mtime, which a rollback restores."""
    if os.geteuid() not in (0, root.stat().st_uid):
        raise BadRoot(f"{root} belongs to another user")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        raise BadRoot(f"{root} cannot be written")
