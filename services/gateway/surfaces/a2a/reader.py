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
        """Yield a task that a message answered, then its updates until it ends or asks. Both may be so from the start:
        the worker may be faster than this process.
        """
        now = await self.now(call, sent)
        yield task_of(now.facts, base=call.base, history=history)
        if not now.pauses:
            async with aclosing(self._followed(call, now.facts.turn, now.seq)) as updates:
                async for update in updates:
                    yield update

    async def subscribed(self, call: Call, sent: Sent) -> AsyncGenerator[Update]:
        """Yield an open task, then its updates until it ends or asks again."""
        now = await self.now(call, sent)
        yield task_of(now.facts, base=call.base, history=None)
        if now.facts.turn.ended_at is None:
            async with aclosing(self._followed(call, now.facts.turn, now.seq)) as updates:
                async for update in updates:
                    yield update

    async def begun(self, call: Call, sent: Sent, history: int | None) -> AsyncGenerator[Update]:
        """Yield a new task as it was accepted, without a read, then its updates until it ends or asks."""
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
        yield task_of(Facts(turn, at), base=call.base, history=history)
        async with aclosing(self._followed(call, turn, accepted.after)) as updates:
            async for update in updates:
                yield update

    async def _followed(self, call: Call, turn: TaskTurn, after: int) -> AsyncGenerator[Update]:
        """Yield a task's updates until it ends or asks.

        Raises:
            Stopping: this server stops before that; subscribe again.
            AccessChanged: the caller may not see the task any more.
        """
        updates, partial = Updates(turn, base=call.base), PARTIAL_TEXT in call.extensions
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
