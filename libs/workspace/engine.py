"""The engine: applies a plan to the tree, or reverts it, and may be killed at any point.

Progress is read from the slots and markers alone: a slot is full or empty, the marker `placing` exists or not. The
names in the tree are not consulted, because other programs change them too, except where `place` takes two steps and a
file may have both names. Every rename is checked before (is it still what was planned?) and after (did the planned
inode reach the slot?), so that another program's file is never replaced.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable
from functools import partial

from libs.workspace.conflicts import CHANGED, GONE, differences
from libs.workspace.errors import PathConflict
from libs.workspace.journal import ABORTED, DISTURBED, PLACING, UNDOING, Folder
from libs.workspace.names import join
from libs.workspace.plan import Item, Plan, Swap, moved
from libs.workspace.safe_dir import SafeDir, exchange, place, syncfs
from libs.workspace.signature import Signature

Fence = Callable[[], None]
Step = Callable[[str], None]
OUTSIDE = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.ENOTEMPTY)
"""Errors of the system when another program moved, created or linked something meanwhile."""


class UnexpectedChange(Exception):
    """The file is not as planned: another program changed it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.conflict = PathConflict(path, reason)


class CommitAborted(Exception):
    """The plan could not be applied. `cause` is an UnexpectedChange or an OSError."""

    def __init__(self, path: str, cause: UnexpectedChange | OSError) -> None:
        super().__init__(path, cause)
        self.path, self.cause = path, cause

    @property
    def foreign(self) -> bool:
        """True if a change by another program is the reason."""
        return isinstance(self.cause, UnexpectedChange) or self.cause.errno in OUTSIDE


def no_fence() -> None:
    """Do nothing: the fence of a caller that cannot be replaced."""


def no_step(point: str) -> None:
    """Do nothing: the default of callers that do not observe steps."""


class Hooks:
    """Callbacks around each operation: the fence raises before it if another process owns the workspace now; `step` is
    called after it.
    """

    def __init__(self, fence: Fence = no_fence, step: Step = no_step) -> None:
        self._fence, self.step = fence, step
        self.lost = False
        """The fence has raised: from now on even cleaning up is the new owner's task."""

    def fence(self) -> None:
        try:
            self._fence()
        except BaseException:
            self.lost = True
            raise


class Engine:
    """One transaction in the folder `safe_dir`: markers in `own`, slots in `store`."""

    def __init__(self, safe_dir: SafeDir, own: Folder, store: Folder, plan: Plan, hooks: Hooks) -> None:
        self.safe_dir, self.own, self.store, self.plan, self.hooks = safe_dir, own, store, plan, hooks
        self._renamed: set[int] = set()
        self.unrestored: list[PathConflict] = []
        """Paths that could not be restored because another file has their place; the content stays in its slot."""

    def forward(self) -> None:
        """Apply the plan, or revert it and raise CommitAborted. An error of the fence passes through, and nothing is
        touched after it.
        """
        try:
            self._forward()
        except CommitAborted as halt:
            # The folders keep their new mtimes: the old ones would hide the other program's change from a rescan.
            if halt.foreign:
                self._mark(DISTURBED)
            self.backward()
            raise

    def backward(self) -> None:
        """Revert the transaction completely. Failures do not stop it: what cannot be restored is listed in
        `unrestored`.
        """
        self._mark(UNDOING)
        if self.own.holds(PLACING):
            # Swaps first: they were last, and may lie in a folder that arrived before.
            for swap in reversed(self.plan.swaps):
                if self._ino(swap.slot) != swap.new.ino:
                    self._revert(f"unswap:{swap.slot}", swap.after, partial(self._unswap, swap))
            for item in reversed(self.plan.arriving()):
                if not self.store.holds(item.slot) or self._in_both(item, item.after):
                    self._revert(f"retract:{item.slot}", item.after, partial(self._retract, item))
            # On the disk before the marker goes: without it a recovery would not look for what was placed.
            self._sync()
            self.hooks.fence()
            self.own.unmark(PLACING)
        # In reverse, so that a folder is back before its contents.
        for item in reversed(self.plan.leaving()):
            if self.store.holds(item.slot):
                self._revert(f"return:{item.slot}", item.before, partial(self._return, item))
        if not self.own.holds(DISTURBED):
            self._settle({t.before: t.mtime_before for t in self.plan.times})
        # On the disk before the mark: after `aborted` a recovery only tidies up.
        self._sync()
        self._mark(ABORTED)

    def _forward(self) -> None:
        if not self.own.holds(PLACING):
            for item in self.plan.leaving():
                if not self.store.holds(item.slot) or self._in_both(item, item.before):
                    self._do(f"detach:{item.slot}", item.before, partial(self._detach, item))
            # On the disk before the marker: with it an empty slot means placed, without it not yet taken out.
            self._do("sync", "", self._sync)
            self._mark(PLACING)
        for item in self.plan.arriving():
            if self.store.holds(item.slot):
                self._do(f"attach:{item.slot}", item.after, partial(self._attach, item))
        for swap in self.plan.swaps:
            # The slot holds the new file as long as the swap has not happened.
            if self._ino(swap.slot) == swap.new.ino:
                self._do(f"swap:{swap.slot}", swap.after, partial(self._swap, swap))
        self._settle({t.after: t.mtime_after for t in self.plan.times})
        self._do("sync", "", self._sync)

    def _do(self, point: str, path: str | None, act: Callable[[], None]) -> None:
        # The fence is outside the `try`: a process that lost its lease must not even undo, as the new owner does that.
        self.hooks.fence()
        try:
            act()
        except (OSError, UnexpectedChange) as error:
            raise CommitAborted(path or "", error) from error
        self.hooks.step(point)

    def _revert(self, point: str, path: str | None, act: Callable[[], None]) -> None:
        self.hooks.fence()
        try:
            act()
        except UnexpectedChange as error:
            self.unrestored.append(error.conflict)
        except OSError as error:
            self.unrestored.append(PathConflict(path or "", f"could not be restored: {error.strerror}"))
        self.hooks.step(point)

    def _mark(self, marker: str) -> None:
        self.hooks.fence()
        self.own.mark(marker)
        self.hooks.step(marker)

    def _detach(self, item: Item) -> None:
        path = item.before or ""
        with self.safe_dir.parent(path) as (fd, name):
            _expect(path, self._now(item.signature), Signature.at(fd, name))
            # Between the check and this rename another program may still act: the slot is compared again below.
            place(fd, name, self.store.fd, item.slot)
        # The rename has changed the ctime of all hard links of this file.
        self._renamed.add(item.signature.ino)
        _expect(path, item.signature.moved(), Signature.at(self.store.fd, item.slot))
        if item.after is None and item.inside is not None:
            self._inspect(item)

    def _inspect(self, item: Item) -> None:
        """Check, now that no other program can reach the folder by path, that it holds exactly what was planned."""
        for path, reason in differences(moved(item.inside or {}), self.store.safe_dir.listing(item.slot)):
            raise UnexpectedChange(join(item.before or "", path), reason)

    def _attach(self, item: Item) -> None:
        with self.safe_dir.parent(item.after or "") as (fd, name):
            # Without a check: `place` refuses a name that is taken, and other programs leave the slots alone.
            place(self.store.fd, item.slot, fd, name)

    def _swap(self, swap: Swap) -> None:
        with self.safe_dir.parent(swap.after) as (fd, name):
            _expect(swap.after, self._now(swap.old), Signature.at(fd, name))
            exchange(self.store.fd, swap.slot, fd, name)
        self._renamed.add(swap.old.ino)
        _expect(swap.after, swap.old.moved(), Signature.at(self.store.fd, swap.slot))

    def _unswap(self, swap: Swap) -> None:
        with self.safe_dir.parent(swap.after) as (fd, name):
            # By inode alone: what another program wrote to it meanwhile comes along, and is kept (`archive_undone`).
            _expect_inode(swap.after, swap.new, Signature.at(fd, name))
            exchange(self.store.fd, swap.slot, fd, name)

    def _retract(self, item: Item) -> None:
        with self.safe_dir.parent(item.after or "") as (fd, name):
            _expect_inode(item.after or "", item.signature, Signature.at(fd, name))
            place(fd, name, self.store.fd, item.slot)

    def _return(self, item: Item) -> None:
        with self.safe_dir.parent(item.before or "") as (fd, name):
            place(self.store.fd, item.slot, fd, name)

    def _settle(self, mtimes: dict[str | None, int | None]) -> None:
        """Set the folders' own mtimes after the last rename in them. Skip folders that another program removed."""
        for path, mtime_ns in mtimes.items():
            if path is None or mtime_ns is None:
                continue
            self.hooks.fence()
            # Unlike a rename, this does not use the transaction's folder, so it would not fail by itself.
            if self.own.removed:
                raise CommitAborted(path, FileNotFoundError(errno.ENOENT, "the transaction was taken over"))
            with contextlib.suppress(OSError):
                self.safe_dir.set_mtime(path, mtime_ns)

    def _now(self, planned: Signature) -> Signature:
        """Ignore the ctime of a file if another name of it, a hard link, was just renamed."""
        return planned.moved() if planned.ino in self._renamed else planned

    def _in_both(self, item: Item, path: str | None) -> bool:
        """Return whether a process was killed between the two steps of `place`."""
        with contextlib.suppress(OSError):
            found = self.safe_dir.signature(path or "")
            if found is not None and found.ino == self._ino(item.slot):
                # The second name has changed the ctime.
                self._renamed.add(found.ino)
                return True
        return False

    def _sync(self) -> None:
        syncfs(self.store.fd)

    def _ino(self, slot: str) -> int:
        found = Signature.at(self.store.fd, slot)
        return found.ino if found else 0


def _expect(path: str, planned: Signature, found: Signature | None) -> None:
    if not planned.matches(found):
        raise UnexpectedChange(path, GONE if found is None else CHANGED)


def _expect_inode(path: str, planned: Signature, found: Signature | None) -> None:
    if found is None or found.ino != planned.ino:
        raise UnexpectedChange(path, "another file has its place")
