"""The history of folders: what was committed, what it holds, and giving that space back.

A commit starts a wait that ends when its history is due. Every removal runs under a lease, so that a crash leaves it
to the next holder; the folder's own journal decides what is left, and the rows here follow it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.events import ActionRecorded
from libs.leases import Lease, NewLease
from libs.runtime import Platform, permitted
from libs.telemetry import logger
from libs.workspace.engine import Fence
from libs.workspace.errors import BadRoot, HistoryGone
from libs.workspace.history import Kept, Pruned, kept, make_room, prune
from services.tool_executor.rows import JournalFreed
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import GROUP, Workspaces, queries

HISTORY, ACTION = "history", "workspace.purge"
SYSTEM = "system"
"""The principal of what the settings alone decide."""
MARGIN_SECONDS, RETRY_SECONDS = 1.0, 3600.0
ANSWER_SECONDS = 8.0
"""How long a request waits for its purge, which goes on without it."""
MARGIN_BYTES = 1 << 20
"""The space of a commit on a disk beside its contents."""

log = logger("executor")


class Purge(BaseModel):
    """Remove the history of commits that were finished before a time, on behalf of a principal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: str
    before: float
    """Seconds since the epoch."""
    principal: str
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class Freed:
    """The result of a removal: the commits that are gone, and those that the folder still holds."""

    pruned: Pruned
    gone: tuple[str, ...]
    left: tuple[Kept, ...]


class History:
    def __init__(
        self,
        platform: Platform,
        workspaces: Workspaces,
        settings: Settings,
        *,
        fence: Callable[[Lease], Fence],
    ) -> None:
        self._platform, self._workspaces, self._settings = platform, workspaces, settings
        self._fence = fence
        self._waiting: dict[str, asyncio.Future[Freed]] = {}
        """Requests of this process, by the lease that does their work."""

    async def log(self, tenant: str, root: str, most: int) -> dict[str, Any]:
        """Return the commits of a folder, newest first, each with its contents and the end of its undo period."""
        folder = self._workspaces.allowed(tenant, root)
        rows = await self._platform.database.rows(GROUP, tenant, queries.commits, root=str(folder), most=most)
        entries = {entry.commit_id: entry for entry in await asyncio.to_thread(kept, folder)}
        known = [self._commit(row, entries.pop(row["commit_id"], None)) for row in rows]
        # From a folder that was copied here, or from before the database: they take space, too.
        strange = [self._stranger(entry) for entry in entries.values()] if len(rows) < most else []
        commits = sorted((*known, *strange), key=lambda commit: commit["at"], reverse=True)
        return {"root": str(folder), "bytes": sum(commit["bytes"] for commit in commits), "commits": commits}

    async def purge(self, tenant: str, wish: Purge) -> dict[str, Any]:
        """Remove history now. Raises Denied; a removal that takes long goes on, and says `running`."""
        folder = self._workspaces.allowed(tenant, wish.root)
        lease = ids.new()
        changes = await self._permitted(tenant, wish, lease, folder)
        about = {"root": str(folder), "purge": wish.model_dump(mode="json")}
        # Registered before the lease starts: this process may finish it before `apply` returns.
        done = self._waiting[lease] = asyncio.get_running_loop().create_future()
        try:
            await self._platform.writer.apply(changes.start(NewLease(lease, HISTORY, about)))
            async with asyncio.timeout(ANSWER_SECONDS):
                freed = await done
        except TimeoutError:
            return {"root": str(folder), "state": "running", "commits": [], "bytes": 0}
        finally:
            del self._waiting[lease]
        pruned = freed.pruned
        return {"root": str(folder), "state": "done", "commits": list(pruned.commits), "bytes": pruned.size}

    def committed(self, changes: Changeset, commit_id: str, root: str) -> Changeset:
        """Start the wait until this commit's history is due, and the removal of what is due already."""
        return changes.start(NewLease(f"{commit_id}:history:1", HISTORY, {"root": root, "commit": commit_id, "n": 1}))

    async def opened(self, tenant: str, root: Path) -> None:
        """Start the removal of what is due in a folder that was away when its time came."""
        entries = await asyncio.to_thread(kept, root)
        total = sum(entry.size for entry in entries)
        if total > self._settings.history_bytes_most or any(self._left(entry) <= 0 for entry in entries):
            cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{root}")
            start = NewLease(ids.new(), HISTORY, {"root": str(root)})
            await self._platform.writer.apply(Changeset(cause).start(start))

    @property
    def days(self) -> float:
        """How long a commit can be undone."""
        return self._settings.history_days

    async def make_room(self, lease: Lease, root: Path, wanted: int) -> Pruned:
        """On a full disk: remove the oldest commits, none younger than a day."""
        spare = await self._spared(lease.tenant)
        work = partial(make_room, root, wanted + MARGIN_BYTES, spare=spare, fence=self._fence(lease))
        return await asyncio.to_thread(work)

    async def gone(self, tenant: str, commit_id: str) -> HistoryGone | None:
        """Return the error for a commit that the folder no longer holds; None if there was no such commit."""
        row = await self._platform.database.row(GROUP, tenant, queries.commit_freed, commit=commit_id)
        if row is None:
            return None
        when = f" on {row['freed_at']:%Y-%m-%d}" if row["freed_at"] else ""
        return HistoryGone(f"This commit can no longer be undone: its history was removed{when}.")

    async def run(self, lease: Lease) -> Freed:
        """Remove what is due, or what a person wants removed, under the folder's lock."""
        root = self._workspaces.allowed(lease.tenant, lease.input["root"])
        # Read before the removal: a commit that is made meanwhile must not count as removed.
        rows = await self._platform.database.rows(GROUP, lease.tenant, queries.unfreed, root=str(root))
        known = [row["commit_id"] for row in rows]
        spare, purge = await self._spared(lease.tenant), lease.input.get("purge")
        work = partial(prune, root, spare=spare, fence=self._fence(lease), step=self._step)
        if purge is None:
            age, size = timedelta(days=self._settings.history_days), self._settings.history_bytes_most
            pruned = await asyncio.to_thread(work, age, size)
        else:
            # A person asked by time alone, so size removes nothing more.
            pruned = await asyncio.to_thread(work, timedelta(), 1 << 62, now=purge["before"])
        left = await asyncio.to_thread(kept, root)
        there = {entry.commit_id for entry in left}
        return Freed(pruned, tuple(commit for commit in known if commit not in there), left)

    async def ended(self, lease: Lease, freed: Freed) -> Changeset:
        """Mark removed commits as not undoable, and start the next look at what is left."""
        changes = Changeset(Cause.of_lease(lease))
        for commit in freed.gone:
            changes = changes.put(JournalFreed(commit))
        if lease.input.get("purge") or freed.pruned.commits:
            changes = changes.emit(self._recorded(lease, "succeeded"))
        if freed.pruned.commits:
            log.info("removed history", root=lease.input["root"], commits=len(freed.pruned.commits))
        own = lease.input.get("commit")
        for entry in freed.left:
            if entry.commit_id == own:
                # Not due yet, or spared: without another wait it would stay for ever.
                changes = changes.start(self._next(lease, max(self._left(entry), 0) + MARGIN_SECONDS))
        return changes.on_commit(lambda: self._answer(lease.id, freed))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        log.warning("could not remove history", root=lease.input["root"], reason=str(error))
        changes = Changeset(Cause.of_lease(lease)).on_commit(lambda: self._answer(lease.id, error))
        if isinstance(error, BadRoot):
            # A deleted folder would be tried for ever. One that comes back is looked at when it is opened.
            changes = changes.on_commit(lambda: self._workspaces.reopen(Path(lease.input["root"])))
        elif lease.input.get("commit"):
            # This lease ends here; a later one tries again, since the history is still due.
            changes = changes.start(self._next(lease, RETRY_SECONDS))
        return changes.emit(self._recorded(lease, "failed", rule=error.code)) if lease.input.get("purge") else changes

    def _answer(self, lease: str, result: Freed | SumaError) -> None:
        waiting = self._waiting.get(lease)
        if waiting is None or waiting.done():
            return
        if isinstance(result, SumaError):
            waiting.set_exception(result)
        else:
            waiting.set_result(result)

    def _next(self, lease: Lease, delay: float) -> NewLease:
        about = {"root": lease.input["root"], "commit": lease.input["commit"], "n": lease.input["n"] + 1}
        return NewLease(f"{about['commit']}:history:{about['n']}", HISTORY, about, delay=delay)

    def _left(self, entry: Kept) -> float:
        """Return the seconds until it is due by its age."""
        return entry.finished_at + timedelta(days=self._settings.history_days).total_seconds() - time.time()

    async def _spared(self, tenant: str) -> Sequence[str]:
        rows = await self._platform.database.rows(GROUP, tenant, queries.rolling_back)
        return [row["commit_id"] for row in rows]

    def _step(self, done: str) -> None:
        """Mark a point at which the process may die or stall."""
        self._platform.point(f"{GROUP}:history:{done.replace(' ', '-')}")

    def _commit(self, row: Mapping[str, Any], entry: Kept | None) -> dict[str, Any]:
        diff = orjson.loads(row["diff"])
        undoable = entry is not None and entry.undoable and row["state"] == "committed"
        return {
            "commit_id": row["commit_id"],
            "session_id": row["session_id"],
            "turn_id": row["turn_id"],
            "at": row["at"].isoformat(),
            "state": row["state"],
            "operations": row["operations"],
            "changes": {name: diff[name] for name in ("created", "changed", "moved", "deleted")},
            "bytes": entry.size if entry is not None else 0,
            "undoable": undoable,
            "redoable": entry is not None and entry.undoable and row["state"] == "rolled_back",
            "undo_until": self._until(entry) if entry is not None and undoable else None,
        }

    def _stranger(self, entry: Kept) -> dict[str, Any]:
        """Describe a commit that the database does not know."""
        return {
            **dict.fromkeys(("session_id", "turn_id", "operations", "changes")),
            "commit_id": entry.commit_id,
            "at": datetime.fromtimestamp(entry.finished_at, UTC).isoformat(),
            "state": "unknown",
            "bytes": entry.size,
            "undoable": entry.undoable,
            "redoable": False,
            "undo_until": self._until(entry) if entry.undoable else None,
        }

    def _until(self, entry: Kept) -> str:
        return (
            datetime.fromtimestamp(entry.finished_at, UTC) + timedelta(days=self._settings.history_days)
        ).isoformat()

    def _recorded(self, lease: Lease, verdict: str, *, rule: str = "") -> ActionRecorded:
        purge = lease.input.get("purge")
        return ActionRecorded(
            action=ACTION,
            phase="outcome",
            verdict=verdict,
            principal=purge["principal"] if purge else SYSTEM,
            resource=lease.input["root"][:200],
            rule=rule or ("" if purge else "history_days, history_bytes_most"),
            call_id=lease.id,
        )

    async def _permitted(self, tenant: str, wish: Purge, lease: str, folder: Path) -> Changeset:
        """Return the record of policy's yes and of the intent."""
        cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{wish.principal}")
        root = str(folder)
        said = await permitted(self._platform, cause, ACTION, wish.principal, wish.scopes, resource=root, root=root)
        record = said.model_copy(update={"call_id": lease})
        return Changeset(cause).emit(record, record.model_copy(update={"phase": "intent", "verdict": "begin"}))
