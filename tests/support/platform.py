"""The platform in a test: the real services on a real database, with real policy, keys and files, and any model."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import httpx
import orjson

from libs import ids
from libs.cache.ports import Delta, Stream, StreamEntry
from libs.changes import Cause, Changeset
from libs.clock import SystemClock
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.events import (
    ActionRecorded,
    ActionsRecorded,
    ApprovalDecided,
    ApprovalRequested,
    EffectResolved,
    MessageReceived,
    RollbackRequested,
    StepChanged,
    TurnCancelRequested,
    TurnEnded,
)
from libs.events.base import Event, registry
from libs.events.values import Plan, Step, StepState
from libs.keys.file import FileKeys
from libs.models.offline import OfflineModel
from libs.models.ports import Model, PlanDraft, PlannerOutcome
from libs.objects.filesystem import FilesystemObjects
from libs.policy.ports import Decision, Policy, PolicyUnanswered
from libs.policy.rego import RegoPolicy
from libs.runtime.host import Pace, host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from libs.search.embedder import HashedEmbedder
from libs.skills import Categories, Skills
from libs.tools import Tool, checked
from tests import infrastructure
from tests.support.scripted import Scripted

TEMPLATE = "suma_house"
SERVICES = ("conversation_worker", "committee_worker", "tool_executor")
LOGGED = "select type, data from bus.log where key = $1 order by at, topic, position"
FRESH = """
select log.topic, log.part, log.position, log.key, log.type, log.data
from bus.log left join unnest($1::text[], $2::int[], $3::bigint[]) as seen(topic, part, position)
on (seen.topic, seen.part) = (log.topic, log.part)
where log.position > coalesce(seen.position, 0) order by log.at, log.topic, log.part, log.position
"""
"""Return new events, by the last seen position of each partition."""
OPEN = """
select kind as what from bus.leases where kind not in ('history', 'assets')
union all select type from bus.parked where state = 'parked'
"""
REPOSITORY = Path(__file__).parents[2]
WITHIN = 90.0
TENANT, WHO = "local", "tester"
E = TypeVar("E", bound=Event)


class NoDeltas:
    """Keep nothing; a read waits in vain for as long as it may."""

    async def append(self, stream: Stream, delta: Delta) -> None:
        return None

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, list[StreamEntry]]:
        await asyncio.sleep(block)
        return {}


@cache
def skills() -> Skills:
    return Skills.load((REPOSITORY / "skills",))


@cache
def categories() -> Categories:
    return Categories.load(REPOSITORY / "skills" / "organize-by-type" / "references" / "categories.yaml")


@cache
def offline() -> OfflineModel:
    """One for all platforms, as a process has one for all sessions: it caches the skills that it has read."""
    return OfflineModel(categories())


@dataclass
class MovedClock:
    """The machine's clock, set forward."""

    by: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.by


@dataclass
class ControllablePolicy:
    """The real policy with faults: it can be silent, fail, deny, or have changed rules, for the named actions."""

    law: Policy
    silent: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    """Action → another rule's name, as after a change of the bundle."""
    asked: list[str] = field(default_factory=list)
    told: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    """The action and facts of each question, in order."""

    @property
    def revision(self) -> str:
        return hashlib.sha256(str(sorted(self.denied)).encode()).hexdigest() if self.denied else self.law.revision

    @property
    def problem(self) -> str | None:
        return "the policy engine is silent" if self.silent else None

    async def reload(self) -> bool:
        return await self.law.reload()

    async def decide(self, action: str, input: Mapping[str, object]) -> Decision:
        self.asked.append(action)
        self.told.append((action, input))
        if action in self.silent or "*" in self.silent:
            raise PolicyUnanswered
        if action in self.failing:
            raise RuntimeError("a hook that raises")
        decision = await self.law.decide(action, input)
        if action in self.denied or "*" in self.denied:
            return replace(decision, allowed=False, rule="default", reason="denied", obligations=())
        return replace(decision, rule=self.renamed.get(action, decision.rule))


def plan(*calls: tuple[str, dict[str, Any]], complete: bool = True) -> Plan:
    """Return a plan of these (tool, args), in order."""
    steps = tuple(
        Step(
            step_id=f"s{n}",
            ordinal=n,
            description=f"{tool} {n}",
            skill=tool.split(".")[0],
            tool=tool,
            args=args,
            mutates=any(known.name == tool and known.mutates for known in skills().tools),
        )
        for n, (tool, args) in enumerate(calls, 1)
    )
    return Plan(plan_id="p", steps=steps, complete=complete)


def scripted_model(*plans: Plan | PlannerOutcome, answers: int = 5) -> Scripted:
    """Return a model that drafts these plans, approves everything, and answers `done`."""
    return Scripted(
        plans=[PlanDraft(each) if isinstance(each, Plan) else each for each in plans],
        reviews=['{"approved": true}'] * 20,
        answers=[("do", "ne")] * answers,
    )


@dataclass
class RunningPlatform:
    """A running platform, with methods to send messages, decide, and read events."""

    platform: Platform
    root: Path
    judge: ControllablePolicy
    clock: MovedClock
    seen: list[tuple[str, Event]] = field(default_factory=list)
    _after: dict[tuple[str, int], int] = field(default_factory=dict)

    async def say(
        self, text: str, *, session: str, root: Path | None = None, turn: str | None = None, **fields: Any
    ) -> str:
        """Send a message as the gateway would; return the id of its turn."""
        turn = turn or ids.new()
        message = MessageReceived(
            message_id=ids.new(),
            turn_id=turn,
            text=text,
            principal=WHO,
            scopes=fields.pop("scopes", ("*",)),
            root=str(root) if root else None,
            **fields,
        )
        await self.publish(message, session=session, turn=turn)
        return turn

    async def decide(self, approval: Any, verdict: str = "approve", *, session: str, **fields: Any) -> None:
        answer = ApprovalDecided(
            approval_id=approval.approval_id,
            verdict=verdict,
            digest=fields.pop("digest", approval.digest),
            principal=WHO,
            scopes=("*",),
            **fields,
        )
        await self.publish(answer, session=session)

    async def find_out(self, question: Any, verdict: str = "happened", *, session: str, **fields: Any) -> None:
        """Resolve an unknown effect."""
        about = {"approval_id": question.approval_id, "verdict": verdict, "digest": question.digest}
        finding = {"principal": WHO, "scopes": ("*",), **about, **fields}
        await self.publish(EffectResolved.model_validate(finding), session=session)

    async def finish(self, turn: str, *, session: str) -> TurnEnded:
        """Approve every request until the turn has ended."""
        while True:
            event = await self.until(
                Event, session=session, where=lambda event: isinstance(event, ApprovalRequested | TurnEnded)
            )
            if isinstance(event, ApprovalRequested):
                await self.decide(event, session=session)
            elif isinstance(event, TurnEnded) and event.turn_id == turn:
                return event

    async def ended(self, turn: str, *, session: str) -> TurnEnded:
        return await self.until(TurnEnded, session=session, where=lambda event: event.turn_id == turn)

    async def asked(self, *, session: str) -> ApprovalRequested:
        return await self.until(ApprovalRequested, session=session)

    async def later(self, seconds: float) -> None:
        """Advance the time of the bus and of the machine."""
        self.clock.by += timedelta(seconds=seconds)
        await infrastructure.shift(self.platform.database, seconds=seconds)

    async def logged(self, session: str) -> list[Event]:
        """Return every event of the session, in order."""
        pool = await self.platform.database.bus()
        rows = await pool.fetch(
            "select type, data from bus.log where key = $1 order by at, topic, position", f"{TENANT}:{session}"
        )
        return [registry[row["type"]].model_validate(orjson.loads(row["data"])) for row in rows]

    async def steps(self, session: str) -> dict[int, StepState]:
        """Return the last state of each step, by its place in the plan."""
        return {e.ordinal: e.state for e in await self.logged(session) if isinstance(e, StepChanged)}

    def folder(self, *names: str, at: str = "work") -> Path:
        """Create a folder in the root with files whose content is their name."""
        where = self.root / at
        where.mkdir(exist_ok=True)
        for name in names:
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            if not (where / name).exists():
                (where / name).write_text(name)
        return where

    async def audited(self, session: str) -> list[ActionRecorded]:
        """Return the audit records, those that travelled together one by one."""
        return [
            record
            for event in await self.logged(session)
            if isinstance(event, ActionRecorded | ActionsRecorded)
            for record in (event.records if isinstance(event, ActionsRecorded) else (event,))
        ]

    async def open(self) -> list[str]:
        """Count running and waiting work: leases and parked events."""
        pool = await self.platform.database.bus()
        rows = await pool.fetch(OPEN)
        return [row["what"] for row in rows]

    async def quiet(self) -> None:
        """Wait until no work is left."""
        async with asyncio.timeout(WITHIN):
            while await self.open():
                await self.platform.bus.waiting()

    async def cancel(self, turn: str, *, session: str) -> None:
        await self.publish(TurnCancelRequested(turn_id=turn, principal=WHO), session=session)

    async def roll_back(self, *, session: str, **fields: Any) -> str:
        turn = ids.new()
        request = RollbackRequested(turn_id=turn, principal=WHO, scopes=("*",), **fields)
        await self.publish(request, session=session, turn=turn)
        return turn

    async def publish(self, event: Event, *, session: str, turn: str | None = None, tenant: str = TENANT) -> None:
        cause = Cause.request(
            "gateway", id=ids.new(), tenant=tenant, key=f"{tenant}:{session}", session=session, turn=turn
        )
        await self.platform.writer.apply(Changeset(cause).emit(event))

    async def until(self, kind: type[E], *, session: str, where: Callable[[E], bool] = lambda event: True) -> E:
        """Wait for the next event of this kind in the session."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + WITHIN
        while loop.time() < deadline:
            for n, (key, event) in enumerate(self.seen):
                if key == session and isinstance(event, kind) and where(event):
                    del self.seen[n]
                    return event
            await self._read()
        raise AssertionError(f"no {kind.__name__} came; open: {await self.open()}; last: {self.seen[-3:]}")

    async def told(self, session: str) -> list[Event]:
        """Return the session's events that no call has waited for."""
        await self._read()
        return [event for key, event in self.seen if key == session]

    async def _read(self) -> None:
        pool = await self.platform.database.bus()
        topics, parts = zip(*self._after, strict=True) if self._after else ((), ())
        fresh = await pool.fetch(FRESH, topics, parts, list(self._after.values()))
        for row in fresh:
            self._after[row["topic"], row["part"]] = max(
                row["position"], self._after.get((row["topic"], row["part"]), 0)
            )
            event = registry[row["type"]].model_validate(orjson.loads(row["data"]))
            self.seen.append((row["key"].split(":", 1)[1], event))
        if not fresh:
            await self.platform.bus.waiting()


_templated: WeakSet[Postgres] = WeakSet()


async def template(server: Postgres) -> str:
    """Return the name of a template database with the services' schemas."""
    if server not in _templated:
        await infrastructure.create_database(server, TEMPLATE, infrastructure.TEMPLATE)
        with tempfile.TemporaryDirectory() as folder:
            async with build_platform(infrastructure.dsns(server, TEMPLATE), Path(folder)) as (platform, services):
                await prepare(platform, services)
        _templated.add(server)
    return TEMPLATE


@asynccontextmanager
async def run_platform(
    where: Dsns,
    folder: Path,
    *,
    model: Model | None = None,
    names: tuple[str, ...] = SERVICES,
    pace: Pace = infrastructure.PACE,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    tools: Sequence[Tool] = (),
    others: Sequence[Service] = (),
    **ports: Any,
) -> AsyncIterator[RunningPlatform]:
    """Run the services and `others` on this database, with `folder/root` as the only workspace root."""
    judge, clock = ControllablePolicy(await law()), MovedClock()
    given = {"policy": judge, "clock": clock, "model": model or offline(), **ports}
    async with build_platform(where, folder, names=names, settings=settings, tools=tools, **given) as (
        platform,
        services,
    ):
        await prepare(platform, [*services, *others])
        subscribed = [other for other in others if other.subscriptions]
        async with host(platform, [*services, *subscribed], pace=pace):
            yield RunningPlatform(platform, folder / "root", judge, clock)


_law: list[RegoPolicy] = []


async def law() -> RegoPolicy:
    """Return the real bundle, compiled once per run."""
    if not _law:
        fresh = RegoPolicy(REPOSITORY / "deploy" / "opa", deadline=5.0)
        await fresh.reload()
        _law.append(fresh)
    return _law[0]


def keys_of(folder: Path) -> FileKeys:
    """The keys of the platform in this folder; a process that writes to its bus for the gateway needs them."""
    return FileKeys(folder / "data" / "keys")


@asynccontextmanager
async def build_platform(
    where: Dsns,
    folder: Path,
    *,
    names: tuple[str, ...] = SERVICES,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    tools: Sequence[Tool] = (),
    **ports: Any,
) -> AsyncIterator[tuple[Platform, list[Service]]]:
    """Yield a platform with real parts, and its services; `clients_of` reaches services that run elsewhere."""
    from services import catalog

    root, data = folder / "root", folder / "data"
    root.mkdir(exist_ok=True)
    data.mkdir(exist_ok=True, mode=0o700)
    apps: dict[str, Any] = {}
    near: dict[str, Any] = {}
    chosen, others = settings or {}, ports.pop("clients_of", {})
    given: dict[str, Any] = {
        "keys": keys_of(folder),
        "objects": FilesystemObjects(data / "objects", max_bytes=1 << 30),
        "deltas": NoDeltas(),
        "model": offline(),
        "skills": skills().plus(tools),
        "tools": {tool.name: tool for tool in checked(tools)},
        "embedder": HashedEmbedder(),
        "data_dir": data,
        "settings": {**chosen, "tool_executor": {"roots": [root], **chosen.get("tool_executor", {})}},
        "clients": {**{name: _client(apps, name) for name in catalog.NAMES}, **others},
        "near": near,
    }
    async with infrastructure.platform(where, **{**given, **ports}) as platform:
        services = [catalog.entry(name).build(platform) for name in names]
        apps.update({s.name: s.api.app for s in services if s.api is not None})
        near.update({s.name: s.queries for s in services if s.queries and s.name not in others})
        yield platform, services


def _client(apps: Mapping[str, Any], name: str) -> Callable[[], httpx.AsyncClient]:
    return lambda: httpx.AsyncClient(transport=httpx.ASGITransport(apps[name]), base_url=f"http://{name}")
