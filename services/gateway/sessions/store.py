"""Reads of the gateway: sessions, events, turns, approvals, receipts and keys, of one tenant at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import md5
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs.database import Database, Schema
from libs.identity import ApiKey
from libs.identity.keys import Kind
from libs.objects import UPLOADS, area
from services.gateway.identity.access import Shared
from services.gateway.sessions.projection import short

GROUP = "gateway"
HERE = Path(__file__).parent
ABOVE = HERE.parent
PAGE_BYTES = 1 << 20
"""Bytes of event data that a viewer holds at once."""
SCHEMA = Schema(GROUP, ABOVE / "migrations", HERE / "apply.sql", users=(GROUP,), roles=ABOVE / "roles.sql")

queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Session:
    session_id: str
    principal: str
    shared: Shared | None
    title: str | None
    root: str | None
    hitl: str
    created_at: datetime
    last_at: datetime
    last_seq: int
    turn_id: str | None
    """The oldest open turn."""
    turn_state: str | None
    approvals: int
    context: str | None
    """Its name in another protocol, for its own principal."""


@dataclass(frozen=True)
class Numbered:
    """An event of a session's sequence. `body` is its data as JSON text, parsed on demand."""

    seq: int
    type: str
    turn_id: str | None
    time: datetime
    body: str
    correlation: str | None

    @cached_property
    def data(self) -> Mapping[str, Any]:
        return orjson.loads(self.body)  # type: ignore[no-any-return]

    @cached_property
    def json(self) -> str:
        """The JSON for viewers, serialised once for all that share the read."""
        about = {"seq": self.seq, "type": self.type, "turn_id": self.turn_id, "time": self.time}
        return orjson.dumps({**about, "data": orjson.Fragment(self.body.encode())}).decode()

    @cached_property
    def server_sent(self) -> bytes:
        """The same as a server-sent event (WHATWG HTML 9.2.6). JSON text has no line breaks."""
        return f"id: {self.seq}\nevent: {self.type}\ndata: {self.json}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Page:
    """Events in order, and whether more follow."""

    events: Sequence[Numbered]
    more: bool


@dataclass(frozen=True, slots=True)
class Turn:
    turn_id: str
    session_id: str
    message_id: str | None
    text: str
    state: str
    reason: str | None
    detail: str
    answer: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Approval:
    approval_id: str
    session_id: str
    turn_id: str
    kind: str
    digest: str
    data: Mapping[str, Any]
    opened_at: datetime
    expires_at: datetime
    outcome: str | None
    principal: str | None
    reason: str | None
    closed_at: datetime | None
    draft: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StoredAsset:
    """A downloadable file; its content is a blob. A step's result has a session, an upload a principal."""

    asset_id: str
    session_id: str | None
    turn_id: str | None
    filename: str
    media_type: str
    sha256: str
    size: int
    principal: str | None
    seen: bool
    """Whether the reader sees it, if it is an upload."""

    def place(self, tenant: str) -> str:
        """Return the part of the store that holds the content."""
        return tenant if self.principal is None else area(tenant, UPLOADS)


@dataclass(frozen=True, slots=True)
class Upload:
    """A principal's upload, under way or complete. The claims `media_type` and `sha256` are then confirmed."""

    upload_id: str
    filename: str
    media_type: str
    size: int
    received: int
    """Bytes that are stored: its offset."""
    sha256: str | None
    complete: bool
    expires_at: datetime | None
    """None once a message has named it."""
    metadata: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The stored answer of an idempotency key, and the digest of its request."""

    key: str
    body_hash: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    sessions: int
    turns: int
    approvals: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """Open turns of a tenant, and of one of its sessions."""

    tenant: int
    session: int


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as administrators see it."""

    tenant: str
    key_id: str
    principal: str
    name: str
    roles: Sequence[str]
    scopes: Sequence[str]
    origin: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    signs: bool
    state: str
    browsers: int
    """Browsers that are signed in with it."""


@dataclass(frozen=True, slots=True)
class PrincipalRow:
    tenant: str
    principal: str
    created_at: datetime
    disabled_at: datetime | None
    keys: int
    """Its valid keys."""


class Store:
    """The gateway's queries. Each is a transaction that sees only its tenant's rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def key(self, kind: Kind, value: str) -> ApiKey | None:
        """Return the key behind a credential: `key` by its id, `web` and `code` by the digest of their text."""
        async with self._database.read(GROUP) as connection:
            row = await queries.credential(connection, kind=kind, value=value)
        if row is None:
            return None
        return ApiKey(
            row["key_id"],
            row["tenant_id"],
            row["principal"],
            frozenset(row["scopes"]),
            row["hash"],
            row["expires_at"],
            row["revoked_at"],
            roles=frozenset(row["roles"]),
            disabled=row["disabled"],
            origin=row["origin"],
            signing_key=orjson.loads(row["signing_key"]) if row["signing_key"] else None,
            used=row["used_at"],
        )

    async def disabled(self, tenant: str, principal: str) -> bool | None:
        """Return whether a principal or its tenant is disabled; None if there is no such tenant."""
        async with self._database.read(GROUP, tenant) as connection:
            found: bool | None = await queries.account(connection, tenant=tenant, principal=principal)
            return found

    async def keys(
        self, tenant: str, *, principal: str | None, ended: bool, before: str | None, most: int
    ) -> Sequence[KeyRow]:
        """Return a tenant's keys, newest first; without `ended`, only valid ones."""
        about = {"tenant": tenant, "principal": principal, "ended": ended, "before": before, "most": most}
        async with self._database.read(GROUP, tenant) as connection:
            return [KeyRow(**row) async for row in queries.keys_of(connection, **about)]

    async def key_row(self, tenant: str, key_id: str) -> KeyRow | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.key_of(connection, tenant=tenant, id=key_id)
        return KeyRow(**row) if row else None

    async def principals(self, tenant: str, *, after: str | None, most: int) -> Sequence[PrincipalRow]:
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.principals_of(connection, tenant=tenant, after=after, most=most)
            return [PrincipalRow(**row) async for row in rows]

    async def session(self, tenant: str, session: str) -> Session | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.session_by_id(connection, tenant=tenant, session=session)
        return Session(**row) if row else None

    async def sessions(
        self,
        tenant: str,
        *,
        reader: str | None,
        before: str | None,
        words: str | None = None,
        open: bool = False,
        most: int,
    ) -> Sequence[Session]:
        """Return a tenant's newest sessions: all, or those that a principal owns or that are shared."""
        about = {"tenant": tenant, "reader": reader, "before": before, "words": words, "open": open, "most": most}
        async with self._database.read(GROUP, tenant) as connection:
            return [Session(**row) async for row in queries.sessions_before(connection, **about)]

    async def events(self, tenant: str, session: str, *, after: int, most: int) -> Page:
        """Return the next events of a session: at most `most`, and at most a megabyte or one larger event."""
        about = {"tenant": tenant, "session": session, "after": after, "most": most, "bytes": PAGE_BYTES}
        async with self._database.read(GROUP, tenant) as connection:
            rows = [row async for row in queries.events_after(connection, **about)]
        events = [_numbered(row) for row in rows]
        return Page(events, more=bool(rows) and (rows[0]["found"] > len(rows) or len(rows) == most))

    async def turn(self, tenant: str, turn: str) -> Turn | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.turn_by_id(connection, tenant=tenant, turn=turn)
        return Turn(**row) if row else None

    async def clarification(self, tenant: str, session: str, turn: str) -> Mapping[str, Any]:
        """Return the turn's last question and its number (`seq`); empty if it asked none."""
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.last_clarification(connection, tenant=tenant, session=session, turn=turn)
        return {**orjson.loads(row["data"]), "seq": row["seq"]} if row else {}

    async def turn_began(self, tenant: str, session: str, turn: str) -> int:
        """Return the number before the turn's first event."""
        async with self._database.read(GROUP, tenant) as connection:
            began: int = await queries.turn_began(connection, tenant=tenant, session=session, turn=turn)
            return began

    async def turns(self, tenant: str, session: str, *, after: str | None, most: int) -> Sequence[Turn]:
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.turns_after(connection, tenant=tenant, session=session, after=after, most=most)
            return [Turn(**row) async for row in rows]

    async def conversation(
        self, tenant: str, principal: str, *, root: str | None, turns: Sequence[str], texts: Sequence[str]
    ) -> str | None:
        """Return a principal's session that holds the last of these turns, or else most of these texts."""
        known = [md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
        about = {"tenant": tenant, "principal": principal, "root": root, "turns": turns, "texts": known}
        async with self._database.read(GROUP, tenant) as connection:
            found: str | None = await queries.conversation(connection, **about)
            return found

    async def approval(self, tenant: str, approval: str) -> Approval | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.approval_by_id(connection, tenant=tenant, approval=approval)
        return _approval(row) if row else None

    async def approvals(
        self,
        tenant: str,
        *,
        reader: str | None,
        session: str | None = None,
        kind: str | None = None,
        after: str | None = None,
        most: int,
    ) -> Sequence[Approval]:
        """Return open approvals of the sessions that `reader` sees, oldest first; None sees all."""
        about = {"tenant": tenant, "reader": reader, "session": session, "kind": kind, "after": after, "most": most}
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.open_approvals(connection, **about)
            return [_approval(row) async for row in rows]

    async def asset(self, tenant: str, asset: str, *, reader: str | None) -> StoredAsset | None:
        """Return a file, and whether `reader` sees it if it is an upload; None sees all."""
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.asset_by_id(connection, tenant=tenant, asset=asset, reader=reader)
        return StoredAsset(**row) if row else None

    async def upload(self, tenant: str, principal: str, upload: str) -> Upload | None:
        """Return an upload of this principal."""
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.upload_by_id(connection, tenant=tenant, principal=principal, upload=upload)
        return Upload(**row) if row else None

    async def upload_parts(self, tenant: str, upload: str) -> Sequence[str]:
        """Return the names of an upload's stored pieces, in order."""
        async with self._database.read(GROUP, tenant) as connection:
            return [row["sha256"] async for row in queries.upload_parts(connection, tenant=tenant, upload=upload)]

    async def upload_usage(self, tenant: str) -> tuple[int, int]:
        """Return a tenant's number of unused uploads, and the bytes of all its uploads."""
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.upload_usage(connection, tenant=tenant)
        return row["files"], int(row["bytes"])

    async def upload_left(self, tenant: str, upload: str) -> float | None:
        """Return the seconds until an upload expires; None if it is gone or used."""
        async with self._database.read(GROUP, tenant) as connection:
            left: float | None = await queries.upload_left(connection, tenant=tenant, upload=upload)
        return left

    async def condemned_blobs(self, tenant: str, collector: str, *, most: int) -> Sequence[str]:
        """Return blobs of uploads that this lease is to delete."""
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.condemned_blobs(connection, tenant=tenant, collector=collector, most=most)
            return [row["sha256"] async for row in rows]

    async def last_change(self, tenant: str, session: str, change: str) -> str | None:
        """Return the commit that was last `committed`, or last `rolled_back`, and is so still."""
        async with self._database.read(GROUP, tenant) as connection:
            found: str | None = await queries.last_change(connection, tenant=tenant, session=session, change=change)
            return found

    async def receipt(self, tenant: str, principal: str, key: str, *, keep: float) -> Receipt | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.receipt(connection, tenant=tenant, principal=principal, key=key, keep=keep)
        return Receipt(key, row["body_hash"], orjson.loads(row["receipt"])) if row else None

    async def last_receipt(self, tenant: str, principal: str, prefix: str, *, keep: float) -> Receipt | None:
        """Return the newest receipt whose key begins with `prefix`."""
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.last_receipt(connection, tenant=tenant, principal=principal, prefix=prefix, keep=keep)
        return Receipt(row["key"], row["body_hash"], orjson.loads(row["receipt"])) if row else None

    async def counts(self, tenant: str, *, reader: str | None) -> Counts:
        """Count what a principal sees; None sees all."""
        async with self._database.read(GROUP, tenant) as connection:
            return Counts(**await queries.counts(connection, tenant=tenant, reader=reader))

    async def waiting(self, tenant: str, session: str, *, most: int) -> Waiting:
        """Count open turns, up to `most`."""
        async with self._database.read(GROUP, tenant) as connection:
            return Waiting(**await queries.waiting(connection, tenant=tenant, session=session, most=most))

    async def ended_lately(self, tenant: str, session: str | None, *, seconds: float) -> int:
        async with self._database.read(GROUP, tenant) as connection:
            about = {"tenant": tenant, "session": session, "seconds": seconds}
            return int(await queries.ended_lately(connection, **about))

    async def alive(self) -> None:
        """Return once Postgres has answered. Raises Unavailable if it does not."""
        async with self._database.read(GROUP) as connection:
            await queries.alive(connection)


def _numbered(row: Mapping[str, Any]) -> Numbered:
    type, time = short(row["event_type"]), row["occurred_at"]
    return Numbered(row["seq"], type, row["turn_id"], time, row["data"], row["correlation"])


def _approval(row: Mapping[str, Any]) -> Approval:
    draft = orjson.loads(row["draft"]) if row["draft"] else None
    return Approval(**{**row, "data": orjson.loads(row["data"]), "draft": draft})
