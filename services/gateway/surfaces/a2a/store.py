"""Reads of tasks: the gateway's turns, with the time of their status, their files and their exchange of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs import ids
from libs.database import Database
from services.gateway.schema import GROUP
from services.gateway.sessions.models import TurnShown

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")

COUNTED_MOST = 10_000
"""Tasks beyond which a list's total is not counted."""


class TaskTurn(TurnShown):
    """A turn in the context that its reader knows: the name that the reader gave the session, or the session's id."""

    context_id: str


@dataclass(frozen=True, slots=True)
class Place:
    """A task's place in a list: the time of its status, then its id."""

    at: datetime
    turn: str


@dataclass(frozen=True, slots=True)
class Now:
    """A task, when it got its status, and the last number of its session's sequence, all of one moment."""

    turn: TaskTurn
    at: datetime
    seq: int


@dataclass(frozen=True, slots=True)
class Search:
    """Which tasks to list; None matches everything. `reader` is the principal that must see them, `caller` the one who
    asks.
    """

    caller: str
    reader: str | None
    session: str | None = None
    states: Sequence[str] | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A file that a step of the turn made."""

    turn_id: str
    asset_id: str
    filename: str
    media_type: str


@dataclass(frozen=True, slots=True)
class ExchangedMessage:
    """A question of the turn, or its answer. `role` is agent or user."""

    turn_id: str
    message_id: str
    role: str
    text: str
    at: datetime


def question_id(turn: str, seq: int) -> str:
    """Return the id of the message that asks a turn's question, by the number of the event that asked."""
    return ids.derived(turn, str(seq))


@dataclass(frozen=True, slots=True)
class PushConfig:
    """A principal's webhook for a task's updates. `base` is the gateway's address, as the principal knows it."""

    config_id: str
    turn_id: str
    session_id: str
    principal: str
    url: str
    token: str = field(repr=False)
    scheme: str
    credentials: str = field(repr=False)
    base: str
    delivery: str
    """The lease that tells it."""
    credential: str
    """The id of the key with which it was added; empty for a token of an outside issuer."""
    oversees: bool
    """Whether its principal sees the sessions of others without a share."""


class TaskStore:
    """The queries. Each is a transaction that sees only its tenant's rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def now(self, tenant: str, caller: str, turn: str) -> Now:
        """Return an existing turn's present state, as a caller knows it."""
        async with self._database.read(GROUP, tenant) as connection:
            row = dict(await queries.task_now(connection, tenant=tenant, caller=caller, turn=turn))
        at, seq = row.pop("at"), row.pop("seq")
        return Now(TaskTurn(**row), at, seq)

    async def page(
        self, tenant: str, search: Search, *, after: Place | None, most: int
    ) -> Sequence[tuple[TaskTurn, datetime]]:
        """Return the next tasks of a list, each with the time of its status."""
        place = {"at": after and after.at, "turn": after and after.turn}
        async with self._database.read(GROUP, tenant) as connection:
            about = {**_about(search), **place, "caller": search.caller, "most": most}
            rows = queries.tasks_before(connection, tenant=tenant, **about)
            return [_listed(dict(row)) async for row in rows]

    async def count(self, tenant: str, search: Search) -> int:
        """Return the number of a list's tasks, up to 10,000."""
        async with self._database.read(GROUP, tenant) as connection:
            about = {"tenant": tenant, **_about(search), "most": COUNTED_MOST}
            return int(await queries.tasks_count(connection, **about))

    async def files(self, tenant: str, turns: Sequence[str]) -> Sequence[File]:
        """Return the files of these turns, oldest first."""
        async with self._database.read(GROUP, tenant) as connection:
            return [File(**row) async for row in queries.task_files(connection, tenant=tenant, turns=list(turns))]

    async def exchange(self, tenant: str, turns: Sequence[str]) -> Sequence[ExchangedMessage]:
        """Return the questions of these turns and their answers, in order."""
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.task_exchange(connection, tenant=tenant, turns=list(turns))
            return [_exchanged(row) async for row in rows]

    async def push_configs(self, tenant: str, principal: str, turn: str) -> Sequence[PushConfig]:
        """Return a principal's addresses for a task's updates, by id."""
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.push_configs(connection, tenant=tenant, principal=principal, turn=turn)
            return [PushConfig(**row) async for row in rows]

    async def push_config_of(self, tenant: str, turn: str, config: str, delivery: str) -> PushConfig | None:
        """Return what a lease delivers to; None if the address was deleted or replaced since, or if its principal may
        not see the task any more.
        """
        about = {"tenant": tenant, "turn": turn, "config": config, "delivery": delivery}
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.push_config_of(connection, **about)
        return PushConfig(**row) if row else None


def _about(search: Search) -> Mapping[str, Any]:
    states = list(search.states) if search.states is not None else None
    return {"reader": search.reader, "session": search.session, "states": states, "since": search.since}


def _listed(row: dict[str, Any]) -> tuple[TaskTurn, datetime]:
    at: datetime = row.pop("at")
    return TaskTurn(**row), at


def _exchanged(row: Mapping[str, Any]) -> ExchangedMessage:
    name = row["message_id"] or question_id(row["turn_id"], row["seq"])
    return ExchangedMessage(row["turn_id"], name, row["role"], row["text"], row["at"])
