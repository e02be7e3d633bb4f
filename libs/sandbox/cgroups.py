"""Control groups for sandboxes without an engine: version 2 where it is delegated to this process, version 1 for root.

A group that cannot be made is no error: the runner then sets what a process can limit by itself, and the probe reports
what is missing.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from libs.sandbox.ports import Limits

PROC = Path("/proc/self")
PERIOD = 100_000
"""Microseconds, over which CPU time is counted."""
REMOVE_SECONDS = 2.0
PREFIX = "suma-sandbox-"
VERSION_1: Mapping[str, Callable[[Limits], Mapping[str, int]]] = {
    "memory": lambda limits: {"memory.limit_in_bytes": limits.memory},
    "pids": lambda limits: {"pids.max": limits.processes},
    "cpu": lambda limits: {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": PERIOD * limits.cpus},
}
VERSION_2: Mapping[str, Callable[[Limits], Mapping[str, str]]] = {
    "memory": lambda limits: {"memory.max": str(limits.memory)},
    "pids": lambda limits: {"pids.max": str(limits.processes)},
    "cpu": lambda limits: {"cpu.max": f"{PERIOD * limits.cpus} {PERIOD}"},
}
OPTIONAL = {"memory.memsw.limit_in_bytes": "memory", "memory.swap.max": ""}
"""Files that exist only where swap is counted: all memory counts, or no swap is given."""


@dataclass
class Group:
    """The groups of one sandbox: a folder for each controller, or one for all of them."""

    folders: Mapping[str, Path]

    def enter(self, pid: int) -> None:
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove the folders once their processes are gone, which takes the kernel a moment."""
        until = time.monotonic() + REMOVE_SECONDS
        for folder in set(self.folders.values()):
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > until:
                        break
                    time.sleep(0.005)


def create(name: str, limits: Limits, proc: Path = PROC) -> Group:
    """Make the groups that can be made here, with their limits. `proc` says which are ours."""
    made: dict[str, Path] = {}
    for controller, parent, version in _parents(proc):
        folder = parent / f"{PREFIX}{os.getpid()}-{name}"
        if controller in made:
            continue
        try:
            folder.mkdir(exist_ok=True)
            rules = VERSION_2[controller](limits) if version == 2 else VERSION_1[controller](limits)
            for file, value in rules.items():
                (folder / file).write_text(str(value))
            _close_swap(folder, limits)
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        made[controller] = folder
    return Group(made)


def remove_orphans() -> None:
    """Remove the groups of processes that are gone."""
    for parent in {parent for _, parent, _ in _parents(PROC)}:
        for folder in parent.glob(f"{PREFIX}*"):
            pid = folder.name.removeprefix(PREFIX).partition("-")[0]
            if not Path("/proc", pid).exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _close_swap(folder: Path, limits: Limits) -> None:
    for file, kind in OPTIONAL.items():
        if (folder / file).exists():
            with contextlib.suppress(OSError):
                (folder / file).write_text(str(limits.memory) if kind else "0")


def _parents(proc: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield folders in which a group may be made, each with a controller and the version.

    A group of version 2 that has processes gives its children no controllers, so there it is a sibling of our own.
    """
    own = dict(re.findall(r"^\d+:(\S*?):(.*)$", (proc / "cgroup").read_text(), re.MULTILINE))
    for line in (proc / "mountinfo").read_text().splitlines():
        fields, _, kind = line.partition(" - ")
        root, mount = fields.split()[3:5]
        kind, _, options = kind.split(maxsplit=2)
        if kind == "cgroup":
            names = [name for name in VERSION_1 if name in options.split(",")]
            path = next((path for held, path in own.items() if set(names) & set(held.split(","))), "/")
            yield from ((name, _below(mount, root, path), 1) for name in names)
        elif kind == "cgroup2":
            parent = _below(mount, root, own.get("", "/")).parent
            usable = parent / "cgroup.subtree_control"
            given = usable.read_text().split() if usable.is_file() else ()
            yield from ((name, parent, 2) for name in VERSION_2 if name in given)


def _below(mount: str, root: str, path: str) -> Path:
    """Return where a group is on the disk; `root` is the part of the hierarchy that is mounted."""
    inner = path.removeprefix(root if root != "/" else "")
    return Path(mount) / inner.lstrip("/")
