"""The disk quota of a scratch folder: by a file system of its own where this process may mount one, else by looking."""

from __future__ import annotations

import asyncio
import ctypes
import os
import stat
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from libs.sandbox.ports import GID, UID, Limits
from libs.workspace import names
from libs.workspace.safe_dir import SafeDir

NOSUID, NODEV, DETACH = 2, 4, 2
"""MS_NOSUID, MS_NODEV and MNT_DETACH of linux/mount.h."""
PREFIX, SLACK = "suma-scratch-", 1.05
DEEPEST = 256
"""Most levels of folders: each path is resolved from the top, so a deep tree costs its square to measure."""


def owner() -> tuple[int, int]:
    """Return the user and group of sandboxed processes, which are never root."""
    return (UID, GID) if os.geteuid() == 0 else (os.geteuid(), os.getegid())


@asynccontextmanager
async def scratch_folder(home: Path | None, limits: Limits) -> AsyncIterator[Path]:
    """Yield an empty folder that sandboxed processes own, of limited size if this process may mount; removed after.

    It is made in `home`, by default the system's folder for temporary files, which the sandbox's user must be able to
    reach.
    """
    folder = await asyncio.to_thread(_made, home, limits)
    try:
        yield folder
    finally:
        await asyncio.shield(asyncio.to_thread(_removed, folder))


def _made(home: Path | None, limits: Limits) -> Path:
    # Inside a closed folder: what a command makes there, set-user-id programs too, is out of other users' reach.
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=home)) / "workspace"
    folder.mkdir(mode=0o700)
    os.chown(folder, *owner())
    if os.geteuid() == 0:
        # The backend's processes must reach it by its path.
        folder.parent.chmod(0o711)
        _mount(folder, limits)
    return folder


def remove_orphans(home: Path | None = None) -> None:
    """Remove the folders of processes that are gone."""
    for parent in (home or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"):
        try:
            pid, found = parent.name.removeprefix(PREFIX).partition("-")[0], parent.lstat()
        except FileNotFoundError:
            # Its process, or another one that looks for orphans, has just removed it.
            continue
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if own and pid.isdigit() and not Path("/proc", pid).exists():
            _removed(parent / "workspace")


def _removed(folder: Path) -> None:
    if os.geteuid() == 0:
        ctypes.CDLL(None).umount2(os.fsencode(folder), DETACH)
    # These two follow no link, whatever the depth and the rights of what a command left.
    for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf", "--one-file-system")):
        subprocess.run([*command, "--", folder.parent], stderr=subprocess.DEVNULL, check=False)  # noqa: S603


def _mount(folder: Path, limits: Limits) -> bool:
    """Put a file system of limited size at an empty folder; False if this process may not."""
    user, group = owner()
    options = f"size={limits.disk},nr_inodes={limits.entries},mode=0700,uid={user},gid={group}"
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", NOSUID | NODEV, options.encode()) == 0)


def has_quota(folder: Path, limits: Limits) -> bool:
    """Return whether the file system itself holds no more than the limit."""
    found = os.statvfs(folder)
    return found.f_blocks * found.f_frsize <= limits.disk * SLACK


def exceeds(folder: Path, limits: Limits) -> bool:
    """Return whether the folder holds more than its limit. Commands may change it meanwhile, so no link is followed."""
    used, count, pending = 0, 0, [""]
    with SafeDir.open(folder) as safe_dir:
        while pending:
            here = pending.pop()
            if here.count("/") > DEEPEST:
                return True
            try:
                with safe_dir.entries(here) as entries:
                    for entry in entries:
                        used, count = used + entry.stat(follow_symlinks=False).st_blocks * 512, count + 1
                        if used > limits.disk or count > limits.entries:
                            return True
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(names.join(here, names.encode(os.fsencode(entry.name))))
            except PermissionError:
                # A folder closed by a command could hide any amount.
                return True
            except OSError:
                # Removed or replaced since its own folder was read.
                continue
    return False
