"""Reads of sessions, their events, turns and approvals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import md5
from pathlib import Path
from typing import Any, get_args

import aiosql
import orjson
from pydantic import ValidationError

from libs.events import Outbound
from services.gateway.http.models import short
from services.gateway.schema import Reads
from services.gateway.sessions.models import ApprovalShown, Session, TurnShown

PAGE_BYTES = 1 << 20
"""Bytes of event data that a viewer holds at once."""

_CLASSES: Mapping[str, type[Outbound]] = {short(cls.type): cls for cls in get_args(Outbound)}

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


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
    def event(self) -> Outbound | None:
        """The data as its class; None for `message.accepted`, and for what only a newer release knows."""
        try:
            return _CLASSES[self.type].model_validate_json(self.body)
        except (KeyError, ValidationError):
            return None

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
class Waiting:
    """Open turns of a tenant, and of one of its sessions."""

    tenant: int
    session: int


class Store(Reads):
    async def session(self, tenant: str, session: str) -> Session | None:
        return await self._row(Session, queries.session_by_id, tenant, session=session)

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
        about = {"reader": reader, "before": before, "words": words, "open": open, "most": most}
        return await self._rows(Session, queries.sessions_before, tenant, **about)

    async def events(self, tenant: str, session: str, *, after: int, most: int) -> Page:
        """Return the next events of a session: at most `most`, and at most a megabyte or one larger event."""
        about = {"session": session, "after": after, "most": most, "bytes": PAGE_BYTES}
        rows = await self._rows(_numbered, queries.events_after, tenant, **about)
        more = bool(rows) and (rows[0][1] > len(rows) or len(rows) == most)
        return Page([event for event, _ in rows], more)

    async def turn(self, tenant: str, turn: str) -> TurnShown | None:
        return await self._row(TurnShown, queries.turn_by_id, tenant, turn=turn)

    async def open_question(self, tenant: str, session: str, turn: str) -> Numbered | None:
        """Return the event that asked what the turn waits for."""
        row = await self._row(_numbered, queries.open_question, tenant, session=session, turn=turn)
        return row[0] if row is not None else None

    async def recalled_for(self, tenant: str, session: str, turn: str) -> Sequence[Mapping[str, Any]]:
        """Return the memories that a turn was planned with, best first: `id`, `score` and `sources`."""
        found = await self._one(queries.recalled_for, tenant, session=session, turn=turn)
        return orjson.loads(found) if found is not None else ()

    async def turn_began(self, tenant: str, session: str, turn: str) -> int:
        """Return the number before the turn's first event."""
        return int(await self._one(queries.turn_began, tenant, session=session, turn=turn))

    async def turns(self, tenant: str, session: str, *, after: str | None, most: int) -> Sequence[TurnShown]:
        return await self._rows(TurnShown, queries.turns_after, tenant, session=session, after=after, most=most)

    async def conversation(
        self, tenant: str, principal: str, *, root: str | None, turns: Sequence[str], texts: Sequence[str]
    ) -> str | None:
        """Return a principal's session that holds the last of these turns, or else most of these texts."""
        known = [md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
        about = {"principal": principal, "root": root, "turns": turns, "texts": known}
        found: str | None = await self._one(queries.conversation, tenant, **about)
        return found

    async def approval(self, tenant: str, approval: str) -> ApprovalShown | None:
        return await self._row(_approval, queries.approval_by_id, tenant, approval=approval)

    async def approvals(
        self,
        tenant: str,
        *,
        reader: str | None,
        session: str | None = None,
        kind: str | None = None,
        after: str | None = None,
        most: int,
    ) -> Sequence[ApprovalShown]:
        """Return open approvals of the sessions that `reader` sees, oldest first; None sees all."""
        about = {"reader": reader, "session": session, "kind": kind, "after": after, "most": most}
        return await self._rows(_approval, queries.open_approvals, tenant, **about)

    async def last_change(self, tenant: str, session: str, change: str) -> str | None:
        """Return the commit that was last `committed`, or last `rolled_back`, and is so still."""
        found: str | None = await self._one(queries.last_change, tenant, session=session, change=change)
        return found

    async def counts(self, tenant: str, *, reader: str | None) -> Mapping[str, Any]:
        """Count what a principal sees (None: all): `sessions`, `turns` and `approvals`, at `as_of`."""
        return dict(await self._one(queries.counts, tenant, reader=reader))

    async def waiting(self, tenant: str, session: str, *, most: int) -> Waiting:
        """Count open turns, up to `most`."""
        return Waiting(**await self._one(queries.waiting, tenant, session=session, most=most))

    async def ended_lately(self, tenant: str, session: str | None, *, seconds: float) -> int:
        return int(await self._one(queries.ended_lately, tenant, session=session, seconds=seconds))


def _numbered(
    *,
    seq: int,
    event_type: str,
    turn_id: str | None,
    occurred_at: datetime,
    data: str,
    correlation: str | None,
    found: int = 1,
) -> tuple[Numbered, int]:
    """Return an event, and how many the read found."""
    return Numbered(seq, short(event_type), turn_id, occurred_at, data, correlation), found


def _approval(*, data: str, draft: str | None, **about: Any) -> ApprovalShown:
    return ApprovalShown(**about, data=orjson.loads(data), draft=orjson.loads(draft) if draft else None)
