"""Wiring: builds a Platform from settings. Only this file names adapters, and it imports only the chosen ones.

PostgreSQL takes a while to start; the rules and the skills are read meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from libs import ids
from libs.budgets.postgres import PostgresBudgets
from libs.bus import ParkedEvents
from libs.bus.postgres import PostgresBus
from libs.changes import Writer
from libs.clock import SystemClock
from libs.database import Database, Dsns, reach
from libs.embedded.postgres import Postgres, Role
from libs.embedded.redis import Redis
from libs.errors import Unavailable
from libs.hooks import Gates
from libs.identity import proofs
from libs.leases.postgres import PostgresLeases
from libs.resilience import GuardedCall, GuardedCalls
from libs.runtime import Platform, Shutdown
from services import catalog, embedder_factory, model_factory
from services.settings import BUNDLED, BadSettings, Process, explaining, variable

if TYPE_CHECKING:
    import httpx
    from pydantic import SecretStr
    from starlette.types import ASGIApp

    from libs.budgets import Budgets
    from libs.bus.kafka import Address
    from libs.clients import Query
    from libs.hooks import Hook
    from libs.keys import Keys
    from libs.models.ports import Model
    from libs.objects import Objects
    from libs.policy import Policy
    from libs.runtime import Service
    from libs.sandbox import Launcher, Sandboxes
    from libs.search import Embedder
    from libs.skills import Catalogue, Categories
    from libs.tools import Tool
    from services.committee_worker.settings import Settings as CommitteeSettings

ROLES: tuple[Role, ...] = ("suma_owner", "suma_bus", "suma_app")
Ended = Callable[[], Awaitable[None]]
Ask = Callable[[], Awaitable[str]]
"""Return a server's version or other details. Raises `SumaError`."""


@dataclass(frozen=True)
class Servers:
    """The addresses of Postgres and Redis. `ended` waits for the end of each embedded server."""

    dsns: Dsns
    redis: str = ""
    ended: Mapping[str, Ended] = field(default_factory=dict)
    kafka: Address | None = None
    """The address of Kafka, if it is the bus."""


@dataclass(frozen=True)
class Ports:
    """The ports that need no server."""

    policy: Policy
    skills: Catalogue
    embedder: Callable[[GuardedCalls], Embedder]
    model: Callable[[GuardedCalls, Budgets, Objects], Model | None]
    """Create the model behind its guard, paid for from these budgets; None if no service here uses a model."""
    keys: Keys
    objects: Objects
    tools: Mapping[str, Tool] = field(default_factory=dict)
    gates: Sequence[Hook] = ()
    observers: Sequence[Hook] = ()
    open: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Resources to close at the end."""


@dataclass(frozen=True)
class Local:
    """Interfaces that the services of this process offer to each other, by service: filled once they are built.

    `apps` are their HTTP apps, called by `Platform.clients`; `near` are the queries that need no HTTP.
    """

    apps: dict[str, ASGIApp] = field(default_factory=dict)
    near: dict[str, Mapping[str, Query]] = field(default_factory=dict)

    def fill(self, services: Sequence[Service]) -> None:
        self.apps.update({service.name: service.api.app for service in services if service.api is not None})
        self.near.update({service.name: service.queries for service in services if service.queries})


@asynccontextmanager
async def start_servers(settings: Process) -> AsyncIterator[Servers]:
    """Start the servers that have no URL, concurrently. The caller holds the data directory's lock."""
    elsewhere = _external_dsns(settings)
    postgres, redis = Postgres(settings.data_dir), Redis(settings.data_dir)
    async with AsyncExitStack() as stack:
        own: dict[str, Postgres | Redis] = {}
        if elsewhere is None:
            own["PostgreSQL"] = postgres
        if settings.redis_url is None:
            own["Redis"] = redis
        starts = [stack.enter_async_context(server) for server in own.values()]
        # Wait for both even if one fails: a started server must be stopped again.
        for started in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(started, BaseException):
                raise started
        yield Servers(
            elsewhere or _dsns(postgres),
            _redis_url(settings, redis),
            {name: server.ended for name, server in own.items()},
            _kafka(settings),
        )


def find_servers(settings: Process) -> Servers:
    """Return the servers that run elsewhere: by URL, or in the data directory of a live platform."""
    postgres, redis = Postgres(settings.data_dir), Redis(settings.data_dir)
    return Servers(_external_dsns(settings) or _dsns(postgres), _redis_url(settings, redis), kafka=_kafka(settings))


def owners_servers(settings: Process) -> Servers:
    """Return the servers that a migration needs, with the URL of the database's owner. Raises `BadSettings`."""
    owner = _plain(settings.database_owner_url)
    if owner is None:
        raise BadSettings(f"set {variable(('database_owner_url',))}: only the owner of the database may migrate")
    return Servers(Dsns(owner, owner, owner), kafka=_kafka(settings))


def asks(servers: Servers) -> dict[str, Ask]:
    """Return a check for each server that runs elsewhere; it raises until the server accepts us."""
    from libs.cache import redis

    asked: dict[str, Ask] = {"PostgreSQL": partial(reach, servers.dsns)}
    if servers.redis:
        asked["Redis"] = partial(redis.reach, servers.redis)
    if servers.kafka is not None:
        from libs.bus import kafka

        asked["Kafka"] = partial(kafka.reach, servers.kafka)
    return asked


def embedded(settings: Process) -> frozenset[str]:
    """Return the names of the servers that a platform starts itself, as in `asks`."""
    own = {"PostgreSQL": settings.database_url is None, "Redis": settings.redis_url is None}
    return frozenset(name for name, is_own in own.items() if is_own)


def probes(settings: Process, *, live: bool) -> dict[str, Ask]:
    """Return a check of each dependency; of embedded servers only where a platform is `live`."""
    if live:
        asked = asks(find_servers(settings))
    else:
        # Finding embedded servers would make the folder of their sockets.
        redis_url = _plain(settings.redis_url) or ""
        asked = asks(Servers(_external_dsns(settings) or Dsns("", "", ""), redis_url, kafka=_kafka(settings)))
        asked = {name: ask for name, ask in asked.items() if name not in embedded(settings)}
    return {**asked, "policy": partial(_policy_revision, settings), "objects": partial(_objects_place, settings)}


def sandboxes(settings: Process) -> tuple[Sandboxes, ...]:
    """Return the backends that may isolate commands, the preferred one first. A start shows whether one works here."""
    from libs.sandbox import Sandboxes
    from libs.sandbox.bubblewrap import Bubblewrap
    from libs.sandbox.docker import Docker, image_of

    runner = BUNDLED / "deploy" / "runner"
    platform = sha256(str(settings.data_dir).encode()).hexdigest()[:12]
    launchers: dict[str, Launcher] = {
        "docker": Docker(image_of(runner), platform),
        "bubblewrap": Bubblewrap(runner / "runner.py"),
    }
    return tuple(Sandboxes(made) for name, made in launchers.items() if settings.sandbox in (name, "auto"))


@asynccontextmanager
async def _planning(settings: Process, model: Model | None, names: Collection[str]) -> AsyncIterator[Model | None]:
    """Yield the model; where the committee's turns run in containers, behind their runner."""
    config = None
    if model is not None and "committee_worker" in names:
        committee = cast("CommitteeSettings", settings.of("committee_worker"))
        bundled = BUNDLED / "deploy" / "runner" / "agent.py"
        config = committee.runner(bundled=bundled, home=settings.data_dir / "turns")
    if model is None or config is None:
        yield model
        return
    from libs.turn_runner import TurnRunner

    # Backends of its own: commands have theirs, which another service closes.
    async with TurnRunner(model, sandboxes(settings), config) as runner:
        yield runner


async def _policy_revision(settings: Process) -> str:
    async with AsyncExitStack() as stack:
        policy = await _policy(settings, stack)
        if policy.problem is not None:
            raise Unavailable(policy.problem)
        return policy.revision


async def _objects_place(settings: Process) -> str:
    async with _objects(settings) as objects:
        await objects.alive()
    return f"bucket {settings.s3.bucket}" if settings.objects == "s3" else str(settings.data_dir / "objects")


def _kafka(settings: Process) -> Address | None:
    chosen = settings.kafka
    if settings.bus != "kafka" or chosen.bootstrap is None:
        return None
    from libs.bus.kafka import Address

    return Address(
        chosen.bootstrap,
        prefix=chosen.prefix,
        replication=chosen.replication,
        instance=chosen.instance,
        protocol=chosen.security_protocol,
        mechanism=chosen.sasl_mechanism,
        username=chosen.sasl_username,
        password=chosen.password(),
        ca_file=chosen.ca_file,
        cert_file=chosen.cert_file,
        key_file=chosen.key_file,
    )


def bus(database: Database, address: Address | None, member: str) -> dict[str, Any]:
    """Return the bus, by the names in the platform: the log itself, or Kafka with a relay from the log."""
    log = PostgresBus(database, member)
    if address is None:
        return {"bus": log}
    from libs.bus import relay
    from libs.bus.kafka import KafkaBus, KafkaOutlet

    route = relay.Route(log, KafkaOutlet(address, member))
    return {"bus": KafkaBus(address, member), "route": route, "log_readers": relay.readers}


def _external_dsns(settings: Process) -> Dsns | None:
    app, bus, owner = map(_plain, (settings.database_url, settings.database_bus_url, settings.database_owner_url))
    return Dsns(owner or "", bus or app, app) if app is not None else None


def _dsns(postgres: Postgres) -> Dsns:
    return Dsns(*map(postgres.dsn, ROLES))


def _redis_url(settings: Process, redis: Redis) -> str:
    return settings.redis_url.get_secret_value() if settings.redis_url is not None else redis.url


ADAPTERS = (
    "libs.skills",
    "libs.search.embedder",
    "libs.keys.file",
    "libs.cache.redis",
)


async def ports(settings: Process, names: Sequence[str]) -> Ports:
    """Prepare the ports that need no server: import the services and adapters, which takes longer than PostgreSQL's
    start, and read the rules, the skills and the model's vocabulary.
    """
    async with AsyncExitStack() as stack:
        # In one thread: concurrent imports of modules that import each other could meet half-initialised ones.
        imported = asyncio.ensure_future(asyncio.to_thread(_import, [*_adapters(settings, names), *_modules(names)]))
        policy = asyncio.ensure_future(_policy(settings, stack, imported))
        stack.callback(policy.cancel)
        await imported
        tools = await asyncio.to_thread(_tools, settings) if PLANNING.intersection(names) else ()
        gates, observers = await asyncio.to_thread(_hooks, settings, names)
        skills = await _skills(settings, tools)
        embedder = await stack.enter_async_context(embedder_factory.opened(settings, names))
        model = await stack.enter_async_context(_thinker(settings, names))
        known = {tool.name: tool for tool in tools}
        objects = await stack.enter_async_context(_objects(settings))
        return Ports(
            await policy,
            skills,
            embedder,
            model,
            _keys(settings),
            objects,
            known,
            gates,
            observers,
            stack.pop_all(),
        )


def _adapters(settings: Process, names: Sequence[str]) -> list[str]:
    policy_modules = ["libs.policy.opa"] if settings.policy_engine == "opa" else []
    model_modules = ["libs.models.offline"] if THINKING.intersection(names) else []
    return [*ADAPTERS, *policy_modules, *model_modules, f"libs.objects.{settings.objects}"]


def _modules(names: Sequence[str]) -> list[str]:
    return [catalog.entry(name).module for name in names]


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


async def _policy(settings: Process, stack: AsyncExitStack, imported: Awaitable[None] | None = None) -> Policy:
    policy: Policy
    if settings.policy_engine == "opa":
        if imported is not None:
            await imported
        policy = await stack.enter_async_context(_opa(settings))
    else:
        from libs.policy.rego import RegoPolicy

        policy = RegoPolicy(settings.policy)
    await policy.reload()
    return policy


def _opa(settings: Process) -> AbstractAsyncContextManager[Policy]:
    from libs.policy.bundle import Bundle, BundleBroken
    from libs.policy.opa import connected

    assert settings.opa_url is not None
    try:
        expected = Bundle.read(settings.policy).revision
    # OPA has rules of its own: our folder only serves the comparison.
    except BundleBroken:
        expected = ""
    return connected(settings.opa_url, token=_plain(settings.opa_token), expected=expected)


async def _skills(settings: Process, tools: Sequence[Tool]) -> Catalogue:
    from libs.skills import Catalogue, Place, Source

    places = (Place(settings.data_dir / "skills", Source.USER), Place(BUNDLED / "skills", Source.BUNDLED))
    return await asyncio.to_thread(partial(Catalogue, places, tools, multimodal=settings.multimodal))


PLANNING = frozenset(("conversation_worker", "committee_worker", "tool_executor"))
"""The services that know external tools: all that plan, decide or run."""


def _tools(settings: Process) -> tuple[Tool, ...]:
    """Load the tools that the executor's setting names. Raises `BadTool`: no tool is skipped silently."""
    from libs.tools import load

    return load(settings.of("tool_executor").tools)  # type: ignore[attr-defined]


GATING = frozenset(("conversation_worker", "tool_executor"))
"""The services that ask gates before they act."""
OBSERVING = "gateway"
"""The service beside which the observers run."""


def _hooks(settings: Process, names: Sequence[str]) -> tuple[Sequence[Hook], Sequence[Hook]]:
    """Load the gates and the observers that this process calls. Raises `BadHook`: no hook is skipped silently."""
    from libs.hooks import load

    gates = load(settings.hooks.gates) if GATING.intersection(names) else ()
    return gates, load(settings.hooks.observers) if OBSERVING in names else ()


def _categories() -> Categories:
    from libs.skills import Categories

    return Categories.load(BUNDLED / "skills" / "organize-by-type" / "references" / "categories.yaml")


def _offline(settings: Process) -> Model:
    from libs.models.offline import OfflineModel

    return OfflineModel(
        _categories(),
        threshold=settings.skill_match_threshold,
        gap=settings.skill_match_gap,
        seconds=settings.plan_seconds,
    )


CALLING = frozenset(("gateway", "conversation_worker", "committee_worker"))
"""The services that call others, and sign what they ask; the others only verify it."""
THINKING = frozenset(("conversation_worker", "committee_worker"))
"""The services that call the model: only these load one, and need its key."""


@asynccontextmanager
async def _thinker(
    settings: Process, names: Sequence[str]
) -> AsyncIterator[Callable[[GuardedCalls, Budgets, Objects], Model | None]]:
    """Yield a factory of the configured model, if a service here calls it. Raises `BadSettings`."""
    if not THINKING.intersection(names):
        yield lambda guarded_calls, budgets, objects: None
        return
    which = model_factory.chosen(settings)
    if which is None:
        offline = await asyncio.to_thread(_offline, settings)
        yield lambda guarded_calls, budgets, objects: offline
        return
    from libs.models.offline.agreement import Agreeing
    from libs.models.offline.model import NOW
    from libs.models.offline.planner import Planner

    planner = Planner(
        await asyncio.to_thread(_categories),
        new_id=ids.new,
        now=NOW,
        threshold=settings.skill_match_threshold,
        gap=settings.skill_match_gap,
        seconds=settings.plan_seconds,
    )
    async with model_factory.vendor(settings, which) as model:
        yield lambda guarded_calls, budgets, objects: Agreeing(
            model(guarded_calls.to(model_factory.GUARD), budgets, objects), planner
        )


def _keys(settings: Process) -> Keys:
    from libs.keys.file import FileKeys

    return FileKeys(settings.data_dir / "keys", settings.public_keys)


@asynccontextmanager
async def _objects(settings: Process) -> AsyncIterator[Objects]:
    if settings.objects == "s3":
        async with _s3(settings) as bucket:
            yield bucket
        return
    from libs.objects.filesystem import FilesystemObjects

    yield FilesystemObjects(settings.data_dir / "objects", max_bytes=settings.blob_bytes_most)


def _s3(settings: Process) -> AbstractAsyncContextManager[Objects]:
    from libs.objects.s3 import Account, Outside, connected

    chosen = settings.s3
    assert chosen.bucket is not None
    account = Account(chosen.endpoint, chosen.region, _plain(chosen.access_key), _plain(chosen.secret_key))
    outside = Outside(chosen.public_endpoint, chosen.link_seconds) if chosen.public_endpoint else None
    return connected(chosen.bucket, account, max_bytes=settings.blob_bytes_most, outside=outside)


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


@asynccontextmanager
async def _cache(url: str, guard: GuardedCall) -> AsyncIterator[dict[str, Any]]:
    """Yield the ports on Redis, by their names in the platform."""
    from libs.cache.guarded import GuardedBoard, GuardedCache, GuardedDeltas, GuardedWindows
    from libs.cache.redis import RedisBoard, RedisCache, RedisDeltas, RedisWindows, connect

    # One circuit for all ports: they share one server.
    async with connect(url) as client:
        yield {
            "deltas": GuardedDeltas(RedisDeltas(client), guard),
            "board": GuardedBoard(RedisBoard(client), guard),
            "windows": GuardedWindows(RedisWindows(client), guard),
            "cache": GuardedCache(RedisCache(client), guard),
        }


def _guarded(settings: Process, given: Ports, guarded_calls: GuardedCalls) -> dict[str, Any]:
    """Return the ports that may be outside the process, guarded if they are."""
    policy, objects = given.policy, given.objects
    if settings.policy_engine != "rego":
        from libs.policy.guarded import GuardedPolicy

        policy = GuardedPolicy(policy, guarded_calls.to("policy"))
    if settings.objects != "filesystem":
        from libs.objects.guarded import GuardedObjects

        objects = GuardedObjects(objects, guarded_calls.to("objects"))
    return {"policy": policy, "objects": objects}


@asynccontextmanager
async def platform(
    settings: Process,
    servers: Servers,
    given: Ports,
    member: str,
    local: Local,
    sections: Mapping[str, Any],
    *,
    leaving: Shutdown,
) -> AsyncIterator[Platform]:
    """Yield a process's platform. `sections` are the services' settings by name. Connections open at first use."""
    database = Database(servers.dsns)
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        # Closed last: everything else may still use it.
        stack.push_async_callback(database.close)
        await stack.enter_async_context(given.open)
        guarded_calls, budgets = GuardedCalls(), PostgresBudgets(database, settings.budgets.limits)
        cache = await stack.enter_async_context(_cache(servers.redis, guarded_calls.to("redis")))
        guarded = _guarded(settings, given, guarded_calls)
        gateway = "gateway" in sections
        # Only the gateway speaks for people; no other process needs the private half of that key.
        sign = {"sign": partial(proofs.sign, given.keys)} if gateway else {}
        model = given.model(guarded_calls, budgets, guarded["objects"])
        made = Platform(
            member=member,
            clock=clock,
            database=database,
            **bus(database, servers.kafka, member),
            leases=PostgresLeases(database, member),
            parked=ParkedEvents(database),
            writer=Writer(database, clock, member, **sign),
            **guarded,
            **cache,
            guarded_calls=guarded_calls,
            essential=frozenset(settings.essential),
            fuses=settings.fusing,
            trims=gateway,
            leaving=leaving,
            keys=given.keys,
            embedder=given.embedder(guarded_calls),
            model=await stack.enter_async_context(_planning(settings, model, sections)),
            budgets=budgets,
            catalogue=given.skills,
            tools=given.tools,
            agents=settings.agents,
            gates=Gates(given.gates, seconds=settings.hooks.seconds),
            data_dir=settings.data_dir,
            settings=sections,
            # Only the gateway shows them, and this reads the file of settings.
            effective_settings=explaining(settings) if gateway else list,
            clients={name: partial(_client, settings, local.apps, name) for name in catalog.NAMES},
            near=local.near,
            sandboxes=sandboxes(settings) if "tool_executor" in sections else (),
        )
        if _follows_remote_tools(sections):
            from libs.clients import executor

            given.skills.follow(partial(executor.remote_tools, made))
        yield made


def _follows_remote_tools(names: Collection[str]) -> bool:
    """Return whether this process needs remote tools without running the executor, which alone knows their servers."""
    return "tool_executor" not in names and bool(PLANNING.intersection(names))


def _client(settings: Process, apps: Mapping[str, ASGIApp], name: str) -> httpx.AsyncClient:
    """Return a client of a service's API: in memory if the app is in this process, else over HTTP."""
    import httpx

    if name in apps:
        # As over HTTP: an error of the other service is a status, not an exception here.
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(apps[name], raise_app_exceptions=False), base_url="http://localhost"
        )
    url = settings.url_of(name)
    # Without https there is nothing to verify, and reading the certificates would take 20 ms per call.
    return httpx.AsyncClient(base_url=url, verify=url.startswith("https:"))
