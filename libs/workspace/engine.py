"""The engine: carries a plan to the tree, or back, and can be killed anywhere in between.

What was done already is read from the slots and markers alone: a slot is full or empty, the marker `placing` stands
or not. The tree's own names are never asked, because they are other people's, too. Every rename is checked before
(is it still what was planned?) and after (is what landed in the slot really that?), so that nothing of someone
else's is ever replaced.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable
from functools import partial

from libs.workspace.beneath import Beneath, exchange, place, syncfs
from libs.workspace.conflicts import CHANGED, GONE, differences
from libs.workspace.errors import Clash
from libs.workspace.journal import ABORTED, DISTURBED, PLACING, UNDOING, Folder
from libs.workspace.names import join
from libs.workspace.plan import Item, Plan, Swap
from libs.workspace.signature import Signature

Fence = Callable[[], None]
Step = Callable[[str], None]
OUTSIDE = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.ENOTEMPTY)
"""What the system answers when someone moved, made or linked something under our hands."""


class Collision(Exception):
    """Something is not as it was planned: someone else was here."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.clash = Clash(path, reason)


class Halted(Exception):
    """The plan could not be carried through. `cause` is a Collision or an OSError."""

    def __init__(self, path: str, cause: Collision | OSError) -> None:
        super().__init__(path, cause)
        self.path, self.cause = path, cause

    @property
    def foreign(self) -> bool:
        """Whether someone else's change is the reason."""
        return isinstance(self.cause, Collision) or self.cause.errno in OUTSIDE


def no_fence() -> None:
    """For who cannot be replaced."""


def no_step(point: str) -> None:
    """For who does not watch."""


class Watch:
    """What stands around each operation: the fence raises before it when another owns the workspace now, `step`
    hears that it is done."""

    def __init__(self, fence: Fence = no_fence, step: Step = no_step) -> None:
        self._fence, self.step = fence, step
        self.lost = False
        """The fence has raised: not even tidying up is ours to do."""

    def fence(self) -> None:
        try:
            self._fence()
        except BaseException:
            self.lost = True
            raise


class Engine:
    """One transaction in the tree `door`: markers in `own`, slots in `store`."""

    def __init__(self, door: Beneath, own: Folder, store: Folder, plan: Plan, watch: Watch) -> None:
        self.door, self.own, self.store, self.plan, self.watch = door, own, store, plan, watch
        self.stuck: list[Clash] = []
        """What could not be put back because someone else has its place; it is kept in its slot."""

    def forward(self) -> None:
        """Carry it through, or take it back and raise Halted. What the fence raises passes with nothing touched."""
        try:
            self._forward()
        except Halted as halt:
            # Then the folders' mtimes stay new: the old ones would hide what someone else did from a rescan.
            if halt.foreign:
                self._mark(DISTURBED)
            self.backward()
            raise

    def backward(self) -> None:
        """As if it had never begun. Nothing stops it: what cannot go back is in `stuck`."""
        self._mark(UNDOING)
        if self.own.holds(PLACING):
            for swap in reversed(self.plan.swaps):
                if self._ino(swap.slot) != swap.new.ino:
                    self._revert(f"unswap:{swap.slot}", swap.after, partial(self._unswap, swap))
            for item in reversed(self.plan.arriving()):
                if not self.store.holds(item.slot):
                    self._revert(f"retract:{item.slot}", item.after, partial(self._retract, item))
            self._sync()
            self.watch.fence()
            self.own.unmark(PLACING)
        for item in reversed(self.plan.leaving()):
            if self.store.holds(item.slot):
                self._revert(f"return:{item.slot}", item.before, partial(self._return, item))
        if not self.own.holds(DISTURBED):
            self._settle({t.before: t.mtime_before for t in self.plan.times})
        self._sync()
        self._mark(ABORTED)

    def _forward(self) -> None:
        if not self.own.holds(PLACING):
            for item in self.plan.leaving():
                if not self.store.holds(item.slot):
                    self._do(f"detach:{item.slot}", item.before, partial(self._detach, item))
            self._do("sync", "", self._sync)
            self._mark(PLACING)
        for item in self.plan.arriving():
            if self.store.holds(item.slot):
                self._do(f"attach:{item.slot}", item.after, partial(self._attach, item))
        for swap in self.plan.swaps:
            if self._ino(swap.slot) == swap.new.ino:
                self._do(f"swap:{swap.slot}", swap.after, partial(self._swap, swap))
        self._settle({t.after: t.mtime_after for t in self.plan.times})
        self._do("sync", "", self._sync)

    def _do(self, point: str, path: str | None, act: Callable[[], None]) -> None:
        # The fence stands outside the `try`: a zombie must not even undo, that is the new owner's work.
        self.watch.fence()
        try:
            act()
        except (OSError, Collision) as error:
            raise Halted(path or "", error) from error
        self.watch.step(point)

    def _revert(self, point: str, path: str | None, act: Callable[[], None]) -> None:
        self.watch.fence()
        try:
            act()
        except Collision as error:
            self.stuck.append(error.clash)
        except OSError as error:
            self.stuck.append(Clash(path or "", f"could not be put back: {error.strerror}"))
        self.watch.step(point)

    def _mark(self, marker: str) -> None:
        self.watch.fence()
        self.own.mark(marker)
        self.watch.step(marker)

    def _detach(self, item: Item) -> None:
        path = item.before or ""
        with self.door.parent(path) as (fd, name):
            _expect(path, item.signature, Signature.at(fd, name))
            place(fd, name, self.store.fd, item.slot)
        _expect(path, item.signature, Signature.at(self.store.fd, item.slot))
        if item.after is None and item.inside is not None:
            self._inspect(item)

    def _inspect(self, item: Item) -> None:
        """Now that nobody can come in by path any more: is exactly what was planned in the folder?"""
        for path, reason in differences(item.inside or {}, self.store.door.listing(item.slot)):
            raise Collision(join(item.before or "", path), reason)

    def _attach(self, item: Item) -> None:
        with self.door.parent(item.after or "") as (fd, name):
            place(self.store.fd, item.slot, fd, name)

    def _swap(self, swap: Swap) -> None:
        with self.door.parent(swap.after) as (fd, name):
            _expect(swap.after, swap.old, Signature.at(fd, name))
            exchange(self.store.fd, swap.slot, fd, name)
        _expect(swap.after, swap.old, Signature.at(self.store.fd, swap.slot))

    def _unswap(self, swap: Swap) -> None:
        with self.door.parent(swap.after) as (fd, name):
            _expect_inode(swap.after, swap.new, Signature.at(fd, name))
            exchange(self.store.fd, swap.slot, fd, name)

    def _retract(self, item: Item) -> None:
        with self.door.parent(item.after or "") as (fd, name):
            _expect_inode(item.after or "", item.signature, Signature.at(fd, name))
            place(fd, name, self.store.fd, item.slot)

    def _return(self, item: Item) -> None:
        with self.door.parent(item.before or "") as (fd, name):
            place(self.store.fd, item.slot, fd, name)

    def _settle(self, mtimes: dict[str | None, int | None]) -> None:
        """Folders' own mtimes, once nothing moves in them any more. A folder that someone removed has none."""
        for path, mtime_ns in mtimes.items():
            if path is None or mtime_ns is None:
                continue
            self.watch.fence()
            # Unlike a rename, this does not go through our folder and would not fail by itself.
            if self.own.removed:
                raise Halted(path, FileNotFoundError(errno.ENOENT, "the transaction was taken over"))
            with contextlib.suppress(OSError):
                self.door.set_mtime(path, mtime_ns)

    def _sync(self) -> None:
        syncfs(self.store.fd)

    def _ino(self, slot: str) -> int:
        found = Signature.at(self.store.fd, slot)
        return found.ino if found else 0


def _expect(path: str, planned: Signature, found: Signature | None) -> None:
    if not planned.matches(found):
        raise Collision(path, GONE if found is None else CHANGED)


def _expect_inode(path: str, planned: Signature, found: Signature | None) -> None:
    if found is None or found.ino != planned.ino:
        raise Collision(path, "someone else's file has its place")
