"""Open workspaces: each session's tree with its stage, read from the disk and the stage's log, kept while it holds.

A kept workspace is taken out while it is worked on, and put back when what was staged has committed: after a failure
the next look reads everything again. One call of a session at a time works on its stage. A stage is of one turn: the
rest of an earlier turn's stage, whose end could not be reported, does not count for the next.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar
from weakref import WeakValueDictionary

import aiosql
import orjson
from pydantic import BeforeValidator, TypeAdapter

from libs.database import Database, Schema
from libs.errors import Rejected
from libs.keys import Keys
from libs.objects import Objects
from libs.telemetry import logger
from libs.workspace import ownership
from libs.workspace.blob_cache import BlobCache
from libs.workspace.engine import Fence, no_fence
from libs.workspace.errors import BadRoot, Forged
from libs.workspace.lock import lock
from libs.workspace.operations import Operation
from libs.workspace.recovery import recover
from libs.workspace.reserved import HIDDEN
from libs.workspace.roots import EXAMPLES, Root, belongs, check_root
from libs.workspace.scan import Check, Scan
from libs.workspace.stage import Stage
from libs.workspace.transaction import answer
from libs.workspace.tree import Tree
from services.tool_executor.blobs import StageBlobs
from services.tool_executor.scans import Scans
from services.tool_executor.settings import Settings

HERE = Path(__file__).parent
GROUP = "tool_executor"
SCHEMA = Schema("executor", HERE / "migrations", [HERE / "multimodal/assets.sql", HERE / "apply.sql"], users=(GROUP,))
ROOTS, BLOB_CACHES = "roots.json", "shelves"
_ROOTS = TypeAdapter(list[Annotated[Root, BeforeValidator(Root.of)]])
LOOK_SECONDS = 2.0
"""How long a root that was found in order is taken for one."""
LOOKED_MOST = 1_000
SMALL_NODES, SCAN_SECONDS = 300, 0.015
"""Nodes of a tree that is scanned and described in about a millisecond, if the last scan of its folder was as quick.

A scan in a thread may have waited 10 ms for a file that had just changed.
"""
OPEN_BYTES = 64 << 10
"""The minimum size of an open workspace."""

Hold = Callable[[Path], AbstractContextManager[None]]

log = logger("executor")
queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


T = TypeVar("T")


async def quickly(scan: Scan | None, work: Callable[..., T], *arguments: Any) -> T:
    """Return the result of work on a tree: on the event loop if the tree is small (below a millisecond), else in a
    thread.
    """
    if scan is not None and len(scan) <= SMALL_NODES:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


class NoWorkspace(Rejected):
    """This session has no folder to work in."""

    code = "NO_WORKSPACE"


class ForeignRoot(BadRoot):
    """This folder was not allowed as a workspace."""

    code = "ROOT_NOT_ALLOWED"


@dataclass
class Workspace:
    """A session's staged view. `revision` is the stage's in Postgres, as it was when this was read."""

    root: Path
    stage: Stage
    revision: int
    turn: str | None = None
    """The turn that this stage belongs to."""
    unread: bool = False
    """Whether Postgres was not asked for the stage, because its turn had staged nothing."""
    read_at: float = field(default_factory=time.monotonic)

    @property
    def scan(self) -> Scan:
        return self.stage.tree.base


class OpenWorkspaces:
    """Open workspaces, up to a size, for as long as they are used. A scan that several share counts once."""

    def __init__(self, bytes_most: int, idle_seconds: float) -> None:
        self._most, self._idle = bytes_most, idle_seconds
        self._by_session: OrderedDict[tuple[str, str], tuple[Workspace, int, float]] = OrderedDict()
        """The longest unused first, with what each takes beside its scan, and since when it is unused."""
        self._scans: dict[int, tuple[Scan, int]] = {}
        """Each scan once, by its identity, with the number of workspaces that share it."""
        self._bytes = 0
        self._due: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._by_session)

    @property
    def nbytes(self) -> int:
        """About what they take in memory."""
        return self._bytes

    def take(self, key: tuple[str, str]) -> Workspace | None:
        found = self._by_session.pop(key, None)
        if found is None:
            return None
        workspace, size, _ = found
        scan, users = self._scans.pop(id(workspace.scan))
        if users > 1:
            self._scans[id(scan)] = scan, users - 1
        self._bytes -= size + (scan.nbytes if users == 1 else 0)
        return workspace

    def put(self, key: tuple[str, str], workspace: Workspace) -> None:
        self.take(key)
        scan, size = workspace.scan, OPEN_BYTES + workspace.stage.nbytes
        _, users = self._scans.get(id(scan), (scan, 0))
        self._scans[id(scan)] = scan, users + 1
        self._bytes += size + (scan.nbytes if not users else 0)
        self._by_session[key] = workspace, size, time.monotonic()
        while self._by_session and self._bytes > self._most:
            self.take(next(iter(self._by_session)))
        self._rest()

    def _rest(self) -> None:
        """Look again when the longest unused is idle."""
        if self._by_session and self._due is None:
            left = next(iter(self._by_session.values()))[2] + self._idle - time.monotonic()
            self._due = asyncio.get_running_loop().call_later(max(left, 0), self._let_go)

    def _let_go(self) -> None:
        self._due, horizon = None, time.monotonic() - self._idle
        idle = [key for key, (_, _, since) in self._by_session.items() if since <= horizon]
        dropped = [self.take(key) for key in idle]
        # A large one takes its time to be freed: not on the event loop.
        asyncio.get_running_loop().run_in_executor(None, dropped.clear)
        self._rest()


async def _nothing_due(tenant: str, folder: Path) -> None:
    return None


class Workspaces:
    def __init__(
        self,
        database: Database,
        objects: Objects,
        keys: Keys,
        settings: Settings,
        *,
        data_dir: Path,
        opened: Callable[[str, Path], Awaitable[None]] = _nothing_due,
    ) -> None:
        """Keep them. `opened` is called at the first opening of a folder by this process, and after `reopen`."""
        self._database, self._keys, self._settings, self.data_dir = database, keys, settings, data_dir
        self._opened = opened
        self._blobs = StageBlobs(objects, data_dir / BLOB_CACHES)
        self.kept = OpenWorkspaces(settings.workspaces_bytes_most, settings.workspaces_idle_seconds)
        self._scans: WeakValueDictionary[Path, Scan] = WeakValueDictionary()
        """The newest scan of each folder that is in use; sessions of a folder share it while the folder is the same."""
        self._running_scans = Scans(self._scanned)
        self._scan_seconds: dict[Path, float] = {}
        """How long the last scan of a folder took in a thread."""
        self._locks: dict[tuple[str, str], tuple[asyncio.Lock, int]] = {}
        """By session: the lock, and how many hold it or wait for it."""
        self._recovered: set[Path] = set()
        self._set_aside: dict[Path, str] = {}
        """Folders whose `.suma` was not ours, with the sentence that says so, until an answer has it."""
        self._looked: dict[tuple[str, str], tuple[float, Path]] = {}
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
        self,
        tenant: str,
        session: str,
        root: str | None,
        *,
        turn: str | None = None,
        fresh: bool = False,
        unstaged: bool = False,
    ) -> Workspace:
        """Return the session's workspace as in Postgres and on disk, with the stage of `turn` or of the last turn.

        `unstaged` says that nothing has been staged in `turn` and that the caller stages nothing: Postgres is then not
        asked for the stage.

        Raises:
            NoWorkspace, BadRoot: there is no folder, or it may not be one.
        """
        folder = self.allowed(tenant, root)
        # Taken out while it is in use: work that fails drops its half-changed copy instead of putting it back.
        kept = self.kept.take((tenant, session))
        # The contents outlive the copy: a stage that is read again need not fetch them again.
        cache = kept.stage.blob_cache if kept else self._blobs.new_cache()
        if kept is None or fresh:
            return await self._open(tenant, session, folder, turn=turn, cache=cache, unstaged=unstaged)
        if unstaged and turn is not None and self._is_young(kept, folder, turn):
            return kept
        head = await self._database.row(GROUP, tenant, queries.stage_head, session=session)
        revision = head["revision"] if head else 0
        if kept.unread and (head is None or head["turn_id"] != kept.turn or not head["length"]):
            # Its turn has staged nothing in the meantime either.
            kept.revision, kept.unread = revision, False
        if self._is_young(kept, folder, turn) and not kept.unread and kept.revision == revision:
            return kept
        return await self._open(tenant, session, folder, turn=turn, cache=cache, unstaged=unstaged)

    async def fill(self, tenant: str, workspace: Workspace) -> None:
        """Fetch the contents that were staged beside the log, so that they can be read."""
        await self._blobs.fill(tenant, workspace.turn or "", workspace.stage)

    async def save(self, tenant: str, workspace: Workspace) -> bool:
        """Make the contents durable that were staged beside the log, before the log names them; return whether there
        were any.
        """
        return await self._blobs.save(tenant, workspace.turn or "", workspace.stage.blob_cache)

    def keep(self, tenant: str, session: str, workspace: Workspace) -> None:
        """Put it back: what is in memory is what Postgres has."""
        self.kept.put((tenant, session), workspace)

    def allowed(self, tenant: str, root: str | None) -> Path:
        """Return the folder if it is inside a root of this tenant and may be a workspace. Another tenant's folder is
        refused like one that was never allowed.
        """
        if root is None:
            raise NoWorkspace("this session has no folder; start one in a folder, as with `suma run … --in DIR`")
        looked, folder = self._looked.get((tenant, root), (float("-inf"), Path()))
        if time.monotonic() - looked < LOOK_SECONDS:
            return folder
        folder = self._looked_at(tenant, root)
        self._looked[tenant, root] = time.monotonic(), folder
        if len(self._looked) > LOOKED_MOST:
            self._looked.pop(next(iter(self._looked)))
        return folder

    def _looked_at(self, tenant: str, root: str) -> Path:
        folder = check_root(Path(root), self.data_dir)
        if not belongs(folder, tenant, self.roots(tenant)):
            raise ForeignRoot(f"{folder} is not inside an allowed root; allow it first with `suma roots add`")
        if note := ownership.check(folder, self._keys.secret(GROUP)):
            self._note(folder, note)
        return folder

    async def own(self, folder: Path) -> None:
        """Prove a folder's `.suma` as ours, before a commit makes use of it."""
        try:
            await asyncio.to_thread(ownership.own, folder, self._keys.secret(GROUP))
        except OSError as error:
            raise answer(HIDDEN, error) from error

    def notes(self, tenant: str, root: str | None) -> tuple[str, ...]:
        """Return what an answer must mention about a folder, once."""
        _, folder = self._looked.get((tenant, root or ""), (0.0, Path()))
        note = self._set_aside.pop(folder, None)
        return (note,) if note else ()

    def _note(self, folder: Path, note: str) -> None:
        log.warning("renamed foreign .suma", note=note)
        self._set_aside[folder] = note

    async def settle(self, root: Path, *, hold: Hold = lock, fence: Fence = no_fence) -> None:
        """Undo what a crash left in a folder, before anything else happens there."""
        try:
            await asyncio.to_thread(lambda: recover(root, "undo", hold=hold, fence=fence))
        except Forged:
            self._note(root, await asyncio.to_thread(ownership.set_aside, root))
        except OSError as error:
            raise answer(HIDDEN, error) from error

    async def scanned(self, folder: Path) -> Scan:
        """Return a new scan of a folder, or the last one if both found the same."""
        return await self._running_scans.of(folder)

    def reopen(self, root: Path) -> None:
        """Treat the next opening of a folder as the first: it is gone, and may come back in another state."""
        self._recovered.discard(root)

    def examples(self, tenant: str) -> Path:
        """Return the folder of a tenant's example workspaces."""
        return self.data_dir / EXAMPLES / tenant

    def roots(self, tenant: str) -> list[Root]:
        """Return the allowed folders of all tenants, with the examples of this one."""
        # Read each time: a folder that is allowed in a terminal is usable at once.
        listed = self.data_dir / ROOTS
        try:
            added = json.loads(listed.read_text("utf-8")) if listed.exists() else []
        except OSError as error:
            raise NoWorkspace(f"{listed} cannot be read; give it to the owner of {self.data_dir} with chown") from error
        return [*self._settings.roots, *_ROOTS.validate_python(added), Root(self.examples(tenant), tenant)]

    def _is_young(self, kept: Workspace, folder: Path, turn: str | None) -> bool:
        """Return whether a copy is of this folder and turn, and was read from the disk a moment ago."""
        young = time.monotonic() - kept.read_at <= self._settings.rescan_seconds
        return young and turn in (None, kept.turn) and kept.root == folder

    async def _open(
        self, tenant: str, session: str, folder: Path, *, turn: str | None, cache: BlobCache, unstaged: bool
    ) -> Workspace:
        unread = unstaged and turn is not None
        row = None if unread else await self._database.row(GROUP, tenant, queries.stage, session=session)
        whose = turn or (row["turn_id"] if row else None)
        logged = orjson.loads(row["operations"]) if row and row["turn_id"] == whose else []
        # Once per process. A later crash of another process is found by the next commit, as `Unfinished`.
        if folder not in self._recovered:
            await self.settle(folder)
            # Only after it succeeded: a folder that could not be settled is tried again by the next call.
            self._recovered.add(folder)
            await self._opened(tenant, folder)
        stage = None if logged else self._unstaged_at_once(folder, cache)
        if stage is None:
            scan = await self._running_scans.of(folder)
            stage = await quickly(scan, self._replayed, scan, logged, cache)
        return Workspace(folder, stage, row["revision"] if row else 0, whose, unread)

    def _unstaged_at_once(self, folder: Path, cache: BlobCache) -> Stage | None:
        """Return an empty stage without a thread; None if the folder is large, or slow to read."""
        # An unmeasured folder counts as slow: its first scan is in a thread, which measures it.
        if not cache.untouched or self._scan_seconds.get(folder, float("inf")) > SCAN_SECONDS:
            return None
        found = Scan.small(folder, SMALL_NODES)
        return Stage(Tree(self._shared(folder, found)), cache) if found is not None else None

    def _replayed(self, scan: Scan, logged: list[Any], cache: BlobCache) -> Stage:
        stage = Stage.replay(Tree(scan), [Operation.model_validate(operation) for operation in logged], cache)
        # The cache may come from the stage of an earlier turn.
        cache.prune(stage.blobs_needed)
        return stage

    def _scanned(self, folder: Path, check: Check) -> Scan:
        """Scan the folder, and note how long it takes."""
        began = time.monotonic()
        found = Scan.of(folder, check)
        self._scan_seconds[folder] = time.monotonic() - began if len(found) <= SMALL_NODES else float("inf")
        if len(self._scan_seconds) > LOOKED_MOST:
            self._scan_seconds.pop(next(iter(self._scan_seconds)), None)
        return self._shared(folder, found)

    def _shared(self, folder: Path, found: Scan) -> Scan:
        """Return the scan, or another session's of the folder if both found the same."""
        known = self._scans.get(folder)
        if known is not None and known.same(found):
            return known
        self._scans[folder] = found
        return found
