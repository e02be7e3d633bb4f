"""Open workspaces: each session's tree with its stage, read from the disk and the stage's log, kept while it holds.

A kept workspace is taken out while it is worked on, and put back when what was staged has committed: after a failure
the next look reads everything again. One call of a session at a time works on its stage. A stage is of one turn: what
an earlier turn left behind, because its end could not be told, does not count for the next.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs.database import Database, Schema
from libs.errors import Rejected
from libs.guards.paths import within
from libs.objects import Objects
from libs.workspace.engine import Fence, no_fence
from libs.workspace.errors import BadRoot
from libs.workspace.lock import lock
from libs.workspace.operations import Operation
from libs.workspace.recovery import recover
from libs.workspace.roots import check_root
from libs.workspace.shelf import Shelf
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor.settings import Settings
from services.tool_executor.shelves import Shelves

HERE = Path(__file__).parent
SCHEMA = Schema("executor", HERE / "migrations", HERE / "apply.sql")
GROUP = "tool_executor"
ROOTS, SHELVES = "roots.json", "shelves"
LOOK_SECONDS = 2.0
"""How long a root that was found in order is taken for one."""
LOOKED_MOST = 1_000

Hold = Callable[[Path], AbstractContextManager[None]]

queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


class NoWorkspace(Rejected):
    """This session has no folder to work in."""

    code = "NO_WORKSPACE"


class ForeignRoot(BadRoot):
    """Nobody has allowed this folder as a workspace."""

    code = "ROOT_NOT_ALLOWED"


@dataclass
class Workspace:
    """A session's staged view. `revision` is the stage's in Postgres, as it was when this was read."""

    root: Path
    stage: Stage
    revision: int
    turn: str | None = None
    """Whose stage this is."""
    read_at: float = field(default_factory=time.monotonic)


class Workspaces:
    def __init__(self, database: Database, objects: Objects, settings: Settings, *, data_dir: Path) -> None:
        self._database, self._settings, self._data_dir = database, settings, data_dir
        self._shelves = Shelves(objects, data_dir / SHELVES)
        self._kept: OrderedDict[tuple[str, str], Workspace] = OrderedDict()
        self._locks: dict[tuple[str, str], tuple[asyncio.Lock, int]] = {}
        """By session: the lock, and how many hold it or wait for it."""
        self._recovered: set[Path] = set()
        self._looked: dict[str, tuple[float, Path]] = {}
        """Roots that were found in order, and when; asked several times for each call."""

    @asynccontextmanager
    async def at_work(self, tenant: str, session: str) -> AsyncIterator[None]:
        """Alone with a session's workspace."""
        key = tenant, session
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = lock, users - 1

    async def take(
        self, tenant: str, session: str, root: str | None, *, turn: str | None = None, fresh: bool = False
    ) -> Workspace:
        """The session's workspace, as Postgres and the disk have it; with the stage of `turn`, or of the last turn.

        Raises:
            NoWorkspace, BadRoot: there is no folder, or it may not be one.
        """
        folder = self.allowed(root)
        kept = self._kept.pop((tenant, session), None)
        shelf = kept.stage.shelf if kept else self._shelves.shelf()
        if kept is None or fresh:
            return await self._open(tenant, session, folder, turn=turn, shelf=shelf)
        async with self._database.read(GROUP, tenant) as connection:
            head = await queries.stage_head(connection, tenant=tenant, session=session)
        if self._holds(kept, folder, head, turn):
            return kept
        return await self._open(tenant, session, folder, turn=turn, shelf=shelf)

    async def fill(self, tenant: str, workspace: Workspace) -> None:
        """Bring the contents that were staged beside the log, for whoever is going to read them."""
        await self._shelves.fill(tenant, workspace.stage)

    async def save(self, tenant: str, workspace: Workspace) -> None:
        """Make the contents durable that were staged beside the log, before the log names them."""
        await self._shelves.save(tenant, workspace.stage.shelf)

    def keep(self, tenant: str, session: str, workspace: Workspace) -> None:
        """Put it back: what is in memory is what Postgres has."""
        self._kept[tenant, session] = workspace
        if len(self._kept) > self._settings.workspaces_kept:
            self._kept.popitem(last=False)

    def allowed(self, root: str | None) -> Path:
        """The folder, if it lies in one that was allowed, and may be a workspace at all."""
        if root is None:
            raise NoWorkspace("this session has no folder; start one in a folder, as with `suma run … --in DIR`")
        looked, folder = self._looked.get(root, (float("-inf"), Path()))
        if time.monotonic() - looked < LOOK_SECONDS:
            return folder
        folder = self._looked_at(root)
        self._looked[root] = time.monotonic(), folder
        if len(self._looked) > LOOKED_MOST:
            self._looked.pop(next(iter(self._looked)))
        return folder

    def _looked_at(self, root: str) -> Path:
        folder = check_root(Path(root), self._data_dir)
        if not any(_inside(allowed, folder) for allowed in self._roots()):
            raise ForeignRoot(f"{folder} is not inside an allowed root; allow it first, as `suma run --in` offers")
        return folder

    async def settle(self, root: Path, *, hold: Hold = lock, fence: Fence = no_fence) -> None:
        """Undo what a crash left in a folder, before anything else happens there."""
        await asyncio.to_thread(lambda: recover(root, "undo", hold=hold, fence=fence))

    def _roots(self) -> list[Path]:
        listed = self._data_dir / ROOTS
        added = json.loads(listed.read_text("utf-8")) if listed.exists() else []
        return [*self._settings.roots, *map(Path, added)]

    def _holds(self, kept: Workspace, folder: Path, head: Any, turn: str | None) -> bool:
        young = time.monotonic() - kept.read_at <= self._settings.rescan_seconds
        ours = turn in (None, kept.turn)
        return young and ours and kept.root == folder and kept.revision == (head["revision"] if head else 0)

    async def _open(self, tenant: str, session: str, folder: Path, *, turn: str | None, shelf: Shelf) -> Workspace:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.stage(connection, tenant=tenant, session=session)
        whose = turn or (row["turn_id"] if row else None)
        logged = orjson.loads(row["operations"]) if row and row["turn_id"] == whose else []
        if folder not in self._recovered:
            await self.settle(folder)
            self._recovered.add(folder)
        stage = await asyncio.to_thread(_replayed, folder, logged, shelf)
        return Workspace(folder, stage, row["revision"] if row else 0, whose)


def _replayed(folder: Path, logged: list[Any], shelf: Shelf) -> Stage:
    stage = Stage.replay(Tree.scan(folder), [Operation.model_validate(operation) for operation in logged], shelf)
    shelf.prune(stage.blobs_needed)
    return stage


def _inside(allowed: Path, folder: Path) -> bool:
    try:
        within(str(allowed.expanduser().resolve()), str(folder))
    except Rejected:
        return False
    return True
