"""Reads of tasks: the gateway's turns, with the time of their status, their files and their exchange of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs import ids
from libs.events import StepChanged
from services.gateway.multimodal.jobs import asset_of, file_name
from services.gateway.schema import Reads
from services.gateway.sessions.models import TurnShown
from services.gateway.surfaces.a2a.rows import PushConfig

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
class TaskFile:
    """A file that a step of the turn made."""

    turn_id: str
    asset_id: str
    filename: str
    media_type: str
    path: str = ""
    """Its address, if it is not that of other assets."""


@dataclass(frozen=True, slots=True)
class ExchangedMessage:
    """A question of the turn, or its answer. `role` is agent or user."""

    turn_id: str
    message_id: str
    role: str
    text: str
    at: datetime


def made_file(step: StepChanged) -> TaskFile | None:
    """Return the picture or document that a step made."""
    asset = asset_of(step)
    if asset is None:
        return None
    name = file_name(asset.title, asset.media_type)
    return TaskFile(step.turn_id, asset.asset_id, name, asset.media_type, asset.content)


def question_id(turn: str, seq: int) -> str:
    """Return the id of the message that asks a turn's question, by the number of the event that asked."""
    return ids.derived(turn, str(seq))


class TaskStore(Reads):
    async def now(self, tenant: str, caller: str, turn: str) -> Now:
        """Return an existing turn's present state, as a caller knows it."""
        row = dict(await self._one(queries.task_now, tenant, caller=caller, turn=turn))
        at, seq = row.pop("at"), row.pop("seq")
        return Now(TaskTurn(**row), at, seq)

    async def page(
        self, tenant: str, search: Search, *, after: Place | None, most: int
    ) -> Sequence[tuple[TaskTurn, datetime]]:
        """Return the next tasks of a list, each with the time of its status."""
        place = {"at": after and after.at, "turn": after and after.turn}
        about = {**_about(search), **place, "caller": search.caller, "most": most}
        return await self._rows(_listed, queries.tasks_before, tenant, **about)

    async def count(self, tenant: str, search: Search) -> int:
        """Return the number of a list's tasks, up to 10,000."""
        return int(await self._one(queries.tasks_count, tenant, **_about(search), most=COUNTED_MOST))

    async def files(self, tenant: str, turns: Sequence[str]) -> Sequence[TaskFile]:
        """Return the files of these turns, oldest first."""
        return await self._rows(_file, queries.task_files, tenant, turns=list(turns))

    async def exchange(self, tenant: str, turns: Sequence[str]) -> Sequence[ExchangedMessage]:
        """Return the questions of these turns and their answers, in order."""
        return await self._rows(_exchanged, queries.task_exchange, tenant, turns=list(turns))

    async def push_configs(self, tenant: str, principal: str, turn: str) -> Sequence[PushConfig]:
        """Return a principal's addresses for a task's updates, by id."""
        return await self._rows(PushConfig, queries.push_configs, tenant, principal=principal, turn=turn)

    async def push_config_of(self, tenant: str, turn: str, config: str, delivery: str) -> PushConfig | None:
        """Return what a lease delivers to; None if the address was deleted or replaced since, or if its principal may
        not see the task any more.
        """
        about = {"turn": turn, "config": config, "delivery": delivery}
        return await self._row(PushConfig, queries.push_config_of, tenant, **about)


def _about(search: Search) -> Mapping[str, Any]:
    states = list(search.states) if search.states is not None else None
    return {"reader": search.reader, "session": search.session, "states": states, "since": search.since}


def _listed(*, at: datetime, **row: Any) -> tuple[TaskTurn, datetime]:
    return TaskTurn(**row), at


def _file(*, step: str | None, **row: Any) -> TaskFile:
    made = made_file(StepChanged.model_validate_json(step)) if step is not None else None
    return made or TaskFile(**row)


def _exchanged(*, seq: int, message_id: str | None, **row: Any) -> ExchangedMessage:
    return ExchangedMessage(**row, message_id=message_id or question_id(row["turn_id"], seq))
