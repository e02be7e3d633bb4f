"""What a commit, a rollback and a recovery share: the workspace held open, a plan run, and a transaction put away."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from libs.errors import SumaError
from libs.workspace.beneath import Beneath
from libs.workspace.conflicts import CHANGED, disturbed
from libs.workspace.engine import OUTSIDE, Collision, Engine, Halted, Watch
from libs.workspace.errors import Clash, CommitConflict, Failed, NoSpace, NotPermitted, Unfinished, Unsupported
from libs.workspace.journal import COMMITTED, Folder, Intent, Journal
from libs.workspace.plan import Plan


@dataclass(frozen=True)
class Workplace:
    """A workspace under its lock."""

    door: Beneath
    journal: Journal
    watch: Watch

    @classmethod
    @contextmanager
    def open(cls, root: Path, watch: Watch) -> Iterator[Workplace]:
        with Beneath.open(root) as door, Journal.open(door) as journal:
            yield cls(door, journal, watch)

    def refuse_unfinished(self) -> None:
        if pending := self.journal.pending():
            raise Unfinished(f"{pending[0]} was interrupted and must be recovered first")

    def prepared(self, folder: Folder, make: Callable[[], Intent]) -> Intent:
        """Make the intent and write it. A refusal leaves nothing behind, unless the fence has raised: then it is
        left to the owner."""
        try:
            intent = make()
            self.watch.fence()
            folder.write_intent(intent)
        except (OSError, SumaError) as error:
            if not self.watch.lost:
                self.journal.discard(folder)
            if isinstance(error, SumaError):
                raise
            raise answer("", error) from error
        self.watch.step("intent")
        return intent

    def run(self, own: Folder, store: Folder, plan: Plan) -> tuple[Clash, ...]:
        """Carry the plan through and put it away. The answer is what late writers did to what was taken out."""
        engine = Engine(self.door, own, store, plan, self.watch)
        try:
            engine.forward()
        except Halted as halt:
            self.put_away_undone(engine)
            raise answer(halt.path, halt.cause, engine.stuck) from halt
        return self.put_away_done(engine)

    def put_away_done(self, engine: Engine) -> tuple[Clash, ...]:
        """The point of no return is the marker; the rest is housekeeping that a recovery would do as well."""
        late = tuple(_late(engine.plan, engine.store))
        self.watch.fence()
        engine.own.mark(COMMITTED)
        self.watch.step(COMMITTED)
        self.watch.fence()
        self.journal.archive(engine.own)
        self.watch.step("archived")
        return late

    def put_away_undone(self, engine: Engine) -> None:
        """Remember that it was undone. A slot that holds someone else's bytes is kept with the history, never thrown
        away."""
        self.watch.fence()
        self.journal.note(engine.own.id, "undone")
        self.watch.step("noted")
        self.watch.fence()
        foreign = engine.own is engine.store and (engine.stuck or any(_spoiled(engine.plan, engine.store)))
        if foreign:
            self.journal.keep(engine.own)
        else:
            self.journal.discard(engine.own)
        self.watch.step("put away")


def _late(plan: Plan, store: Folder) -> Iterator[Clash]:
    """Who had a file open when it was taken out still writes into it there."""
    for item in plan.items:
        if item.before is not None and item.after is None and (reason := disturbed(store.door, item)):
            yield Clash(item.before, reason)
    for swap in plan.swaps:
        if not swap.old.matches(store.door.signature(swap.slot)):
            yield Clash(swap.before, CHANGED)


def _spoiled(plan: Plan, store: Folder) -> Iterator[bool]:
    """Whether someone wrote into what we had made, before it was taken back."""
    yield from (disturbed(store.door, item) is not None for item in plan.items if item.before is None)
    yield from (not swap.new.matches(store.door.signature(swap.slot)) for swap in plan.swaps)


def answer(path: str, cause: Collision | OSError, stuck: Sequence[Clash] = ()) -> SumaError:
    """The error that tells the caller what can be done about it."""
    if isinstance(cause, Collision):
        return CommitConflict([cause.clash, *stuck])
    where = f"{path}: " if path else ""
    match cause.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return NoSpace(f"{where}the disk is full; everything is as it was")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return NotPermitted(f"{where}{cause.strerror}; everything is as it was")
        case errno.EXDEV | errno.EBUSY:
            return Unsupported(f"{where}another file system is mounted there; everything is as it was")
        case code if code in OUTSIDE:
            return CommitConflict([Clash(path, f"changed meanwhile: {cause.strerror}"), *stuck])
        case _:
            return Failed(f"{where}{cause.strerror}")
