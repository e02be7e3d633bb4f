"""Checks of which folders may be a workspace: never one with Suma's data or credentials (architecture.md 10)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from libs.workspace import names
from libs.workspace.errors import BadRoot
from libs.workspace.names import ODD
from libs.workspace.reserved import REPOSITORY_DATA

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
"""Credential folders of a home. A root may not be inside one, nor contain one, whether or not it exists yet."""
SYSTEM = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys")
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - Suma puts nothing there
"""Any user may own folders in it, like those in /tmp."""


EXAMPLES = "examples"
"""The folder of the data directory that holds example workspaces: the only part of it that may be a workspace."""
LOCAL = "local"
"""The tenant of the machine's owner."""
_FOR_TENANT = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Root:
    """A folder whose sub-folders may be workspaces, and the tenant that it belongs to."""

    path: Path
    tenant: str = LOCAL

    @classmethod
    def of(cls, value: object) -> object:
        """Convert `/path`, `tenant=/path`, or an object with both, as in settings and `roots.json`."""
        match value:
            case Path():
                return cls(value)
            case str():
                named = _FOR_TENANT.fullmatch(value)
                return cls(Path(named[2]), named[1]) if named else cls(Path(value))
            case {"path": str(path), "tenant": str(tenant)}:
                return cls(Path(path), tenant)
        return value


def belongs(folder: Path, tenant: str, roots: Iterable[Root]) -> bool:
    """Return whether a tenant may work in a folder: the nearest root around it is the tenant's, and it contains no root
    of another tenant.
    """
    known = [(root.path.expanduser().resolve(), root.tenant) for root in roots]
    around = [(path, owner) for path, owner in known if folder.is_relative_to(path)]
    nearest = max((len(path.parts) for path, _ in around), default=0)
    owned = any(owner == tenant for path, owner in around if len(path.parts) == nearest)
    return owned and all(owner == tenant for path, owner in known if path != folder and path.is_relative_to(folder))


def check_root(path: Path, data_dir: Path, home: Path | None = None) -> Path:
    """Return the folder's real path. A home contains credential folders, so it is refused.

    Raises:
        BadRoot: one line that gives the reason.
    """
    root = path.expanduser().resolve()
    if not root.is_dir():
        raise BadRoot(f"{path} is not a folder")
    if ODD.search(names.encode(os.fsencode(root))):
        raise BadRoot(f"{names.escaped(str(root))!r} holds a character that cannot be shown; rename the folder first")
    if root == Path("/"):
        raise BadRoot("/ cannot be a workspace")
    if data_dir.resolve() / EXAMPLES not in root.parents:
        _refuse_overlap(root, data_dir.resolve(), "Suma's own data")
    for system in SYSTEM:
        _refuse_inside(root, Path(system))
    home = (home or Path.home()).resolve()
    for name in CREDENTIALS:
        # Check both the name and the target of a link: a linked ~/.ssh keeps its keys elsewhere.
        for folder in {home / name, (home / name).resolve()}:
            _refuse_overlap(root, folder, "credentials")
    if named := {".ssh", ".gnupg", ".aws"} & set(root.parts):
        raise BadRoot(f"{root} is in {named.pop()}, which contains credentials; choose another folder")
    if inner := next((part for part in root.parts if part in REPOSITORY_DATA), None):
        raise BadRoot(f"{root} is inside {inner}, a repository's own data; choose another folder")
    _refuse_foreign(root)
    return root


def _refuse_overlap(root: Path, folder: Path, what: str) -> None:
    if root.is_relative_to(folder):
        raise BadRoot(f"{root} holds {what}; choose another folder")
    if folder.is_relative_to(root):
        raise BadRoot(f"{root} contains {folder}, which holds {what}; choose a folder in it")


def _refuse_inside(root: Path, folder: Path) -> None:
    if root.is_relative_to(folder) and IN_MEMORY not in root.parents:
        raise BadRoot(f"{root} is a system folder; choose a folder of your own")


def _refuse_foreign(root: Path) -> None:
    """Refuse another user's folder: only an owner may set a folder's mtime, which a rollback restores."""
    if os.geteuid() not in (0, root.stat().st_uid):
        raise BadRoot(f"{root} belongs to another user")
    if not os.access(root, os.R_OK | os.X_OK):
        raise BadRoot(f"{root} cannot be read")
