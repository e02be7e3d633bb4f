"""The store of conversations: each is loaded whole, and saved by the rows that changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import aiosql
import orjson

from libs.changes import Changeset, Row
from libs.database import Database, Schema
from libs.events import NOTHING
from services.conversation_worker.admission import Slots
from services.conversation_worker.rows import ApprovalRow, SessionRow, StepRow, TurnRow
from services.conversation_worker.turn.state import Approval, Conversation, Session, StepRun, Turn

HERE = Path(__file__).parent
GROUP = "conversation_worker"
SCHEMA = Schema("conversation", HERE / "migrations", [HERE / "apply.sql"], users=(GROUP,))
KEPT_MOST = 5_000
KEPT_TEXT_MOST = 64 * 1024
"""Characters in a mailbox beyond which a session is read anew each time, so that the kept ones stay small."""

queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


class Store:
    """Sessions by (tenant, id).

    A copy is kept after our own commit, and removed while it is worked on, so that after a conflict or a failure the
    next load goes to Postgres (bus.md 3).
    """

    def __init__(self, database: Database, slots: Slots) -> None:
        self._database, self._slots = database, slots
        self._kept: OrderedDict[tuple[str, str], Conversation] = OrderedDict()

    async def load(self, tenant: str, session_id: str) -> Conversation:
        """Return the conversation; a new one at version 0 if there is none yet."""
        kept = self._kept.pop((tenant, session_id), None)
        if kept is not None:
            return kept
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.load_session(connection, tenant=tenant, session=session_id)
        if row is None:
            return Conversation(Session(session_id=session_id, touched=NOTHING))
        doc = orjson.loads(row["session"])
        return Conversation(
            Session.model_validate({**doc, "version": row["version"], "epoch": row["epoch"], "root": row["root"]}),
            Turn.model_validate(_renamed(orjson.loads(row["turn"]))) if row["turn"] else None,
            tuple(StepRun.model_validate(step) for step in orjson.loads(row["steps"])),
            tuple(Approval.model_validate(approval) for approval in orjson.loads(row["approvals"])),
        )

    async def peek(self, tenant: str, session_id: str, *, working: str) -> Conversation:
        """Return the conversation to read, not to change, for work under this lease.

        A kept copy that does not know of the lease is out of date. A copy that is only read has no version that could
        show that later, so it is loaded again.
        """
        conversation = await self.load(tenant, session_id)
        if conversation.turn is None or conversation.turn.working != working:
            conversation = await self.load(tenant, session_id)
        if conversation.session.version:
            self._keep((tenant, session_id), conversation)
        return conversation

    async def question(self, tenant: str, session_id: str, approval_id: str) -> tuple[str, Approval, StepRun] | None:
        """Return an open question whether an effect happened, as its turn, itself and its step."""
        about = {"tenant": tenant, "session": session_id, "approval": approval_id}
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.open_question(connection, **about)
        if row is None:
            return None
        return (
            row["turn_id"],
            Approval.model_validate_json(row["approval"]),
            StepRun.model_validate_json(row["step"]),
        )

    async def abandoned(self, tenant: str, session_id: str, step_id: str) -> tuple[str, StepRun] | None:
        """Return a step whose outcome is not known, and its turn."""
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.abandoned_step(connection, tenant=tenant, session=session_id, step=step_id)
        return (row["turn_id"], StepRun.model_validate_json(row["step"])) if row else None

    async def at_work(self, keys: Sequence[tuple[str, str]]) -> Collection[tuple[str, str]]:
        """Return the sessions whose turn does not wait for a person, as in `Conversation.at_work`."""
        tenants, sessions = [tenant for tenant, _ in keys], [session for _, session in keys]
        async with self._database.read(GROUP, *set(tenants)) as connection:
            rows = queries.at_work(connection, tenants=tenants, sessions=sessions)
            return {(row["tenant_id"], row["session_id"]) async for row in rows}

    def save(self, changeset: Changeset, rows: Rows) -> Changeset:
        """Return the changeset with every changed row. The session's row always goes along, as the guard."""
        session = rows.session.model_copy(update={"version": rows.session.version + 1})
        turn = rows.turn if rows.turn is not None and not rows.turn.state.has_ended else None
        kept = Conversation(session, turn, rows.steps if turn else (), rows.open if turn else ())
        written = Changeset(changeset.cause).put(*_rows(session, turn, rows)) + changeset
        key = changeset.cause.tenant, session.session_id
        return written.on_commit(lambda: self._keep(key, kept), lambda: self._note(key, kept))

    def _note(self, key: tuple[str, str], conversation: Conversation) -> None:
        (self._slots.work if conversation.at_work else self._slots.rest)(key)

    def _keep(self, key: tuple[str, str], conversation: Conversation) -> None:
        if sum(len(message.text) for message in conversation.session.queue) > KEPT_TEXT_MOST:
            return
        self._kept[key] = conversation
        if len(self._kept) > KEPT_MOST:
            self._kept.popitem(last=False)


FORMER_NAMES = {"letter": "message", "ending": "outcome", "settled": "commit_result"}
"""Fields of a stored turn as an earlier release wrote them, and their names now."""


def _renamed(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields by their present names; one that has been written since then wins."""
    former = {FORMER_NAMES[name]: value for name, value in stored.items() if name in FORMER_NAMES}
    return former | {name: value for name, value in stored.items() if name not in FORMER_NAMES}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one handling: the conversation as it was and as it is now, and which of its rows changed."""

    loaded: Conversation
    session: Session
    turn: Turn | None
    steps: tuple[StepRun, ...]
    open: tuple[Approval, ...]
    turns: Mapping[str, Turn]
    changed: Mapping[str, tuple[str, StepRun]]
    """Steps by id, each with its turn's id."""
    former: Mapping[str, StepRun]
    """The objects among them that had a row before, unchanged."""
    asked: Mapping[str, tuple[str, Approval]]


def _rows(session: Session, active: Turn | None, rows: Rows) -> Iterator[Row]:
    yield SessionRow(
        session_id=session.session_id,
        version=session.version,
        epoch=session.epoch,
        root=session.root,
        active_turn=active.turn_id if active else None,
        doc=_patch(rows.loaded.session if rows.loaded.session.version else None, session, COLUMNS),
    )
    before = rows.loaded.turn
    for turn in rows.turns.values():
        yield _turn(session, turn, before if before is not None and before.turn_id == turn.turn_id else None)
    for turn_id, run in rows.changed.values():
        yield _step(session, turn_id, run, rows.former.get(run.step_id))
    for turn_id, approval in rows.asked.values():
        yield ApprovalRow(
            session_id=session.session_id,
            turn_id=turn_id,
            approval_id=approval.approval_id,
            kind=approval.kind,
            outcome=approval.outcome,
            doc=_doc(approval),
        )


def _turn(session: Session, turn: Turn, before: Turn | None) -> TurnRow:
    return TurnRow(
        session_id=session.session_id,
        turn_id=turn.turn_id,
        state=turn.state.value,
        reason=turn.outcome.reason if turn.outcome else None,
        ended=turn.state.has_ended,
        doc=_patch(before, turn),
    )


def _step(session: Session, turn_id: str, run: StepRun, before: StepRun | None) -> StepRow:
    return StepRow(
        session_id=session.session_id,
        turn_id=turn_id,
        step_id=run.step_id,
        round=run.round,
        ordinal=run.step.ordinal,
        tool=run.step.tool,
        state=run.state.value,
        doc=_patch(before, run),
    )


def _doc(value: Approval) -> orjson.Fragment:
    return orjson.Fragment(value.model_dump_json(by_alias=True, exclude_defaults=True).encode())


COLUMNS = frozenset({"version", "epoch", "root"})
"""Fields of a session that are columns of its row."""
D = TypeVar("D", Session, Turn, StepRun)


def _patch(before: D | None, now: D, columns: frozenset[str] = frozenset()) -> orjson.Fragment:
    """Return the stored document's changed fields, as the row had them when it was loaded; all of them for a new row.

    A field that is its default again is written out, because the row still has its former value.
    """
    if before is None:
        return orjson.Fragment(now.model_dump_json(by_alias=True, exclude=set(columns), exclude_defaults=True).encode())
    # Copies share what they did not change, so identity finds the changed fields.
    former = before.__dict__
    changed = {name for name, value in now.__dict__.items() if value is not former[name]} - columns
    doc = now.model_dump(mode="json", by_alias=True, include=changed, exclude_defaults=True) if changed else {}
    if reset := changed - doc.keys():
        doc |= now.model_dump(mode="json", by_alias=True, include=reset)
    return orjson.Fragment(orjson.dumps(doc))
