"""Shared steps of commit, rollback and recovery: hold the workspace open, run a plan, archive the transaction."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from libs.errors import SumaError
from libs.workspace import ctimes
from libs.workspace.conflicts import CHANGED, disturbed
from libs.workspace.engine import OUTSIDE, CommitAborted, Engine, Hooks, UnexpectedChange
from libs.workspace.errors import (
    FULL,
    CommitConflict,
    Failed,
    NoSpace,
    NotPermitted,
    PathConflict,
    Unfinished,
    Unsupported,
)
from libs.workspace.journal import COMMITTED, Folder, Intent, Journal
from libs.workspace.plan import Plan
from libs.workspace.reserved import HIDDEN
from libs.workspace.safe_dir import SafeDir


@dataclass(frozen=True)
class Workplace:
    """A workspace under its lock."""

    safe_dir: SafeDir
    journal: Journal
    hooks: Hooks

    @classmethod
    @contextmanager
    def open(cls, root: Path, hooks: Hooks) -> Iterator[Workplace]:
        with SafeDir.open(root) as safe_dir, Journal.open(safe_dir) as journal:
            yield cls(safe_dir, journal, hooks)

    def refuse_unfinished(self) -> None:
        if pending := self.journal.pending():
            raise Unfinished(f"{pending[0]} was interrupted and must be recovered first")

    @contextmanager
    def begin(self, id: str) -> Iterator[Folder]:
        """Create a transaction's folder. A failure leaves nothing behind."""
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(self.journal.begin(id))
            except OSError as error:
                raise answer(HIDDEN, error) from error
            yield folder

    def prepared(self, folder: Folder, make: Callable[[], Intent]) -> Intent:
        """Create the intent and write it. A refusal leaves nothing behind, unless the fence has raised: then the new
        owner cleans up.
        """
        try:
            intent = make()
            self.hooks.fence()
            folder.write_intent(intent)
        except (OSError, SumaError) as error:
            # After a lost fence the folder belongs to the new owner.
            if not self.hooks.lost:
                self.journal.discard(folder)
            if isinstance(error, SumaError):
                raise
            raise answer("", error) from error
        self.hooks.step("intent")
        return intent

    def run(self, own: Folder, store: Folder, plan: Plan) -> tuple[PathConflict, ...]:
        """Run the plan and archive it. Return the changes of other programs to files that were taken out."""
        engine = Engine(self.safe_dir, own, store, plan, self.hooks)
        try:
            engine.forward()
        except CommitAborted as halt:
            self.archive_undone(engine)
            raise answer(halt.path, halt.cause, engine.unrestored) from halt
        return self.archive_committed(engine)

    def archive_committed(self, engine: Engine) -> tuple[PathConflict, ...]:
        """Mark the transaction committed, which is the point of no return, and archive it; recovery can do the rest as
        well.
        """
        late = tuple(_late(engine.plan, engine.store))
        self.hooks.fence()
        engine.own.mark(COMMITTED)
        self.hooks.step(COMMITTED)
        self.hooks.fence()
        self.journal.archive(engine.own)
        self.hooks.step("archived")
        return late

    def archive_undone(self, engine: Engine) -> None:
        """Record that it was undone. If a slot holds another program's bytes, it is kept with the history and never
        removed.
        """
        self.hooks.fence()
        # First: without it a second attempt would take these files for changed.
        ctimes.remember(self.journal.fd, _returned(engine.plan, self.safe_dir))
        # Noted before the folder goes: a repeated request must find an answer at any moment.
        self.journal.note(engine.own, "undone")
        self.hooks.step("noted")
        self.hooks.fence()
        foreign = engine.own is engine.store and (engine.unrestored or any(_foreign_writes(engine.plan, engine.store)))
        if foreign:
            self.journal.keep(engine.own)
        else:
            self.journal.discard(engine.own)
        self.hooks.step("put away")


def _returned(plan: Plan, safe_dir: SafeDir) -> Iterator[ctimes.Rename]:
    """Yield the files that were renamed and put back, with their ctimes before and after."""
    places = [(item.before, item.signature) for item in plan.items] + [(swap.before, swap.old) for swap in plan.swaps]
    for path, before in places:
        if path is None or not before.ctime_ns or before.is_directory:
            continue
        with contextlib.suppress(OSError):
            found = safe_dir.signature(path)
            if found is not None and before.moved().matches(found) and found.ctime_ns != before.ctime_ns:
                yield found.ino, before.ctime_ns, found.ctime_ns


def _late(plan: Plan, store: Folder) -> Iterator[PathConflict]:
    """Yield files that a program had open when they were taken out and still wrote to."""
    for item in plan.items:
        if item.before is not None and item.after is None and (reason := disturbed(store.safe_dir, item)):
            yield PathConflict(item.before, reason)
    for swap in plan.swaps:
        if not swap.old.moved().matches(store.safe_dir.signature(swap.slot)):
            yield PathConflict(swap.before, CHANGED)


def _foreign_writes(plan: Plan, store: Folder) -> Iterator[bool]:
    """Yield, for each created file, whether another program wrote to it before it was taken back."""
    yield from (disturbed(store.safe_dir, item) is not None for item in plan.items if item.before is None)
    yield from (not swap.new.moved().matches(store.safe_dir.signature(swap.slot)) for swap in plan.swaps)


def answer(path: str, cause: UnexpectedChange | OSError, unrestored: Sequence[PathConflict] = ()) -> SumaError:
    """Return the error that tells the caller what to do."""
    if isinstance(cause, UnexpectedChange):
        return CommitConflict([cause.conflict, *unrestored])
    where = f"{path}: " if path else ""
    match cause.errno:
        case code if code in FULL:
            return NoSpace(f"{where}the disk is full; nothing was changed")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return NotPermitted(f"{where}{cause.strerror}; nothing was changed")
        case errno.EXDEV | errno.EBUSY:
            return Unsupported(f"{where}another file system is mounted there; nothing was changed")
        case errno.EOPNOTSUPP:
            return Unsupported(f"{cause.strerror}; work on a copy on another drive. Nothing was changed")
        case code if code in OUTSIDE:
            return CommitConflict([PathConflict(path, f"changed meanwhile: {cause.strerror}"), *unrestored])
        case _:
            return Failed(f"{where}{cause.strerror}")
