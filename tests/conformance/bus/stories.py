"""Stories: trees of events over four services, which a process may handle one by one or in the commit of their cause.

Each event carries what its handler does and says. Whichever way it is handled, the same notes must be left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import orjson

from libs import ids
from libs.changes import Cause, Changeset, batch
from libs.changes.writer import Applied
from libs.clock import SystemClock
from libs.database import Dsns, Schema
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import FeedbackGiven, MessageReceived, PlanRequested, RememberRequested, ToolRequested
from libs.events.base import Event
from libs.events.committee import Task
from libs.events.envelope import Envelope
from libs.leases.ports import Lease, NewLease
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Kind, Service, Subscription
from tests import infrastructure
from tests.chaos.driver import DENSE, TICK, WITHIN, time_flies, until_over
from tests.conformance.bus.adapters import Place
from tests.support.echo_service import FOLDER
from tests.support.rows import any_row

GROUPS: Mapping[str, type[Event]] = {
    "conversation_worker": MessageReceived,
    "committee_worker": PlanRequested,
    "tool_executor": ToolRequested,
    "memory_service": RememberRequested,
}
DEEDS = ("note", "note", "aside", "work", "refuse", "stumble", "conflict", "poison")
WORK = "work"
NOTED = "select grp, turn_id from echo.noted where key = $1 order by n"
LOGGED = "select topic, event_id from bus.log where key = $1 order by topic, position"
ANSWERED = "select grp, event_id from echo.noted where key = $1 order by n"
TRANSACTIONS = "select count(distinct xmin::text) from echo.noted where starts_with(turn_id, $1)"


@dataclass(frozen=True)
class Node:
    """An event to this group: what its handler does, and what it says then."""

    group: str
    does: str = "note"
    says: tuple[Node, ...] = ()

    def notes(self, name: str) -> Iterator[tuple[str, str]]:
        """The (group, name) of everything that is noted because of this event."""
        if self.does in ("refuse", "poison"):
            return
        yield self.group, name
        if self.does == WORK:
            yield self.group, f"{name}!"
        for n, child in enumerate(self.says):
            yield from child.notes(f"{name}.{n}")

    def event(self, name: str) -> Event:
        says = [child.document(f"{name}.{n}") for n, child in enumerate(self.says)]
        return carrying(self.group, {"group": self.group, "name": name, "does": self.does, "says": says})

    def document(self, name: str) -> dict[str, Any]:
        says = [child.document(f"{name}.{n}") for n, child in enumerate(self.says)]
        return {"group": self.group, "name": name, "does": self.does, "says": says}


def carrying(group: str, document: Mapping[str, Any]) -> Event:
    """An event that this group listens to, with the document inside."""
    text, name = orjson.dumps(document).decode(), str(document["name"])
    about = {"turn_id": name, "plan_id": "p", "step_id": "s", "ordinal": 1, "epoch": 0, "deadline": 30}
    match group:
        case "conversation_worker":
            return MessageReceived(message_id=name, turn_id=name, text=text, principal="p")
        case "committee_worker":
            return PlanRequested(request_id=name, turn_id=name, round=1, task=Task(text=text, intent="statement"))
        case "tool_executor":
            return ToolRequested(call_id=name, tool="echo", principal="p", grant="", args={"text": text}, **about)
        case _ if document["does"] == "aside":
            return FeedbackGiven(subject=text, score=1, user="u")
        case _:
            return RememberRequested(memory_id=name, kind="fact", text=text, user="u")


def carried(event: Event) -> dict[str, Any]:
    match event:
        case MessageReceived(text=text) | RememberRequested(text=text):
            return dict(orjson.loads(text))
        case FeedbackGiven(subject=text):
            return dict(orjson.loads(text))
        case PlanRequested(task=task):
            return dict(orjson.loads(task.text))
        case ToolRequested(args=args):
            return dict(orjson.loads(args["text"]))
        case _:
            raise LookupError(event.type)


@dataclass
class Tellers:
    """The four services of one process. `stumbled` is shared: each event that stumbles is parked once."""

    stumbled: set[str]

    async def heard(self, cause: Cause, event: Envelope[Any]) -> Changeset:
        node = carried(event.data)
        changeset = Changeset(cause).put(_note(cause, node["name"]))
        match node["does"]:
            case "refuse":
                raise Rejected("it says so itself")
            case "poison":
                return changeset.put(any_row("echo", "turn.start", turn_id=cause.id, text="no\x00no"))
            case "stumble" if cause.id not in self.stumbled:
                # Left out of a chain it is not parked yet: it stumbles in its lane, too.
                if not cause.uncommitted:
                    self.stumbled.add(cause.id)
                raise Unavailable("it says so itself")
            case "conflict" if not cause.again and cause.parked is None:
                return changeset.put(any_row("echo", "turn.move", turn_id="none", state="acting", seen="thinking"))
            case "work":
                return changeset.start(NewLease(ids.derived(cause.id, WORK), WORK, {"node": node}))
        return changeset.emit(*_said(node))

    async def work(self, lease: Lease) -> None:
        return None

    async def worked(self, lease: Lease, _: None) -> Changeset:
        cause, node = Cause.of_lease(lease), lease.input["node"]
        return Changeset(cause).put(_note(cause, f"{node['name']}!")).emit(*_said(node))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        raise AssertionError(error)

    def services(self) -> list[Service]:
        schema = Schema("echo", FOLDER / "migrations", [FOLDER / "apply.sql"])
        kind = Kind(WORK, self.work, self.worked, self.failed)
        fused = {group: [Subscription(event, self.heard, fuses=True)] for group, event in GROUPS.items()}
        # An event that never joins a chain, in the topic of one that may: the later one must not overtake it.
        fused["memory_service"].append(Subscription(FeedbackGiven, self.heard))
        return [
            Service(group, subscriptions, [kind], schema=schema if n == 0 else None)
            for n, (group, subscriptions) in enumerate(fused.items())
        ]


def _note(cause: Cause, name: str) -> Any:
    return any_row("echo", "noted", grp=cause.group, event_id=cause.id, type="t", key=cause.key, turn_id=name)


def _said(node: Mapping[str, Any]) -> Sequence[Event]:
    return [carrying(child["group"], child) for child in node["says"]]


@dataclass
class Stage:
    """Processes that host the four services on one database."""

    services: Sequence[Service]
    eye: asyncpg.Connection[asyncpg.Record]
    where: Dsns
    platforms: list[Platform] = field(default_factory=list)

    async def say(self, node: Node, key: str, name: str = "0", *, by: int = 0) -> Applied:
        """Publish a story's first event, as a request to one of the processes does."""
        cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=f"t1:{key}")
        return await self.platforms[by].writer.apply(Changeset(cause).emit(node.event(name)))

    def batch_of(self, node: Node, key: str, name: str) -> str:
        """Return the batch by which another process would publish a story's first event."""
        cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=f"t1:{key}")
        event = node.event(name)
        entry = batch.Queued([Changeset(cause).emit(event)], [batch.item(cause, "done")], (cause.group, cause.key))
        envelope = batch.envelope(cause, event, now=SystemClock().now(), traceparent=None)
        entry.spoken.append((*batch.spoken(envelope, {}), 0))
        return batch.document([entry])

    async def until_something_waits_for_a_lock(self) -> None:
        async with asyncio.timeout(WITHIN):
            while not await self.eye.fetchval("select exists (select from pg_locks where not granted)"):
                await asyncio.sleep(TICK)

    async def over(self) -> None:
        await until_over(self.where, self.services)

    async def notes(self, key: str) -> list[tuple[str, str]]:
        return [(row["grp"], row["turn_id"]) for row in await self.eye.fetch(NOTED, f"t1:{key}")]

    async def is_in_order(self, key: str) -> bool:
        """Return whether each group has handled its events of a key in the order of the log."""
        answered = [tuple(row) for row in await self.eye.fetch(ANSWERED, f"t1:{key}")]
        logged = [tuple(row) for row in await self.eye.fetch(LOGGED, f"t1:{key}")]
        done = {event for _, event in answered}
        return all(
            [event for by, event in answered if by == group and event in {id for _, id in logged}]
            == [event for topic, event in logged if topic == listens.topic.name and event in done]
            for group, listens in GROUPS.items()
        )

    async def is_dense(self) -> bool:
        return bool(await self.eye.fetchval(DENSE))

    async def transactions(self, name: str) -> int:
        """Return the number of transactions in which a story's events were handled."""
        return int(await self.eye.fetchval(TRANSACTIONS, name))


@asynccontextmanager
async def telling(place: Place, *, processes: int = 1, fuses: bool = True) -> AsyncIterator[Stage]:
    """Run so many processes of the four services."""
    tellers = Tellers(set())
    eye = await asyncpg.connect(place.where.owner.replace("suma_owner", "postgres"))
    try:
        stage = Stage(tellers.services(), eye, place.where)
        async with _joined(place, stage, processes, fuses):
            yield stage
    finally:
        await eye.close()


@asynccontextmanager
async def _joined(place: Place, stage: Stage, left: int, fuses: bool) -> AsyncIterator[None]:
    async with place.platform(fuses=fuses) as platform:
        if not stage.platforms:
            await prepare(platform, stage.services)
        stage.platforms.append(platform)
        async with host(platform, stage.services, pace=infrastructure.PACE):
            if left > 1:
                async with _joined(place, stage, left - 1, fuses):
                    yield
            else:
                async with time_flies(platform):
                    yield
