"""Present states of tasks, and their updates from there: a stream repeats nothing that its first task shows."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from a2a.types.a2a_pb2 import Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

from libs import ids
from services.gateway.sessions.models import Accepted
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.viewer import TextDelta
from services.gateway.surfaces.a2a.request import Call, Sent
from services.gateway.surfaces.a2a.store import TaskStore, TaskTurn
from services.gateway.surfaces.a2a.tasks import PARTIAL_TEXT, STATES, Facts, Updates, pauses, task_of
from services.gateway.surfaces.segments import until_the_end

Update: TypeAlias = Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


@dataclass(frozen=True, slots=True)
class Now:
    """A task after event `seq` of its session."""

    facts: Facts
    seq: int

    @property
    def pauses(self) -> bool:
        """Whether it has ended, or waits for the client."""
        return pauses(STATES[self.facts.turn.state])

    @property
    def place(self) -> Accepted:
        """From where its further events follow."""
        turn = self.facts.turn
        return Accepted(session_id=turn.session_id, message_id="", turn_id=turn.turn_id, after=self.seq)


class TaskReader:
    """The tasks of the gateway's tables."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store

    async def now(self, call: Call, sent: Sent) -> Now:
        """Return a task's present state. Raises NotFound, also for one of others."""
        status = await call.turns.status(sent.turn_id)
        found = await self._store.now(call.who.tenant, call.who.id, sent.turn_id)
        if found.turn.state.startswith("awaiting") and status.question is None:
            # It began to ask between the two reads.
            status = await call.turns.status(sent.turn_id)
        turn, question = found.turn, status.question
        if turn.state.startswith("awaiting") and found.at == sent.asked_at:
            # Answered; a worker has only to read it.
            turn, question = turn.model_copy(update={"state": "running"}), None
        facts = Facts(
            turn,
            found.at,
            question if pauses(STATES[turn.state]) and turn.ended_at is None else None,
            await self._store.files(call.who.tenant, [turn.turn_id]),
            await self._store.exchange(call.who.tenant, [turn.turn_id]),
        )
        return Now(facts, found.seq)

    async def answered(self, call: Call, sent: Sent, history: int | None) -> AsyncGenerator[Update]:
        """Return the updates of a task that a message answered, until it ends or asks. Both may be so from the start:
        the worker may be faster than this process.
        """
        now = await self.now(call, sent)
        return self._followed(call, now.facts, history, after=None if now.pauses else now.seq)

    async def subscribed(self, call: Call, sent: Sent) -> AsyncGenerator[Update]:
        """Return the updates of an open task, until it ends or asks again."""
        now = await self.now(call, sent)
        return self._followed(call, now.facts, None, after=now.seq if now.facts.turn.ended_at is None else None)

    async def begun(self, call: Call, sent: Sent, history: int | None) -> AsyncGenerator[Update]:
        """Return the updates of a new task as it was accepted, without a read, until it ends or asks."""
        assert sent.accepted is not None
        accepted = sent.accepted
        at = datetime.fromtimestamp(ids.made_at(accepted.turn_id) or 0.0, UTC)
        turn = TaskTurn(
            context_id=sent.context or accepted.session_id,
            turn_id=accepted.turn_id,
            session_id=accepted.session_id,
            message_id=accepted.message_id,
            text=sent.text,
            state="received",
            reason=None,
            detail="",
            answer=None,
            created_at=at,
            started_at=None,
            ended_at=None,
        )
        return self._followed(call, Facts(turn, at), history, after=accepted.after)

    async def _followed(
        self, call: Call, facts: Facts, history: int | None, *, after: int | None
    ) -> AsyncGenerator[Update]:
        """Yield a task, then its updates after an event, unless there is none, until it ends or asks.

        Raises:
            Stopping: this server stops before that; subscribe again.
            AccessChanged: the caller may not see the task any more.
        """
        yield task_of(facts, base=call.base, history=history)
        if after is None:
            return
        turn, partial = facts.turn, PARTIAL_TEXT in call.extensions
        updates = Updates(turn, base=call.base)
        async with aclosing(until_the_end(call.turns, turn, after=after)) as items:
            async for item in items:
                match item:
                    case Numbered():
                        for update in updates.of(item):
                            yield update
                            if isinstance(update, TaskStatusUpdateEvent) and pauses(update.status.state):
                                return
                    case TextDelta() if partial:
                        yield updates.piece(item)
