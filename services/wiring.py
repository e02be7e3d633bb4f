"""Wiring: settings become a Platform. The only file that names an adapter, and none is imported that was not chosen.

PostgreSQL takes a while to be ready; meanwhile the rules and the skills are read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from libs.budgets.postgres import PostgresBudgets
from libs.bus.parked import ParkedEvents
from libs.bus.postgres import PostgresBus
from libs.changes.writer import Writer
from libs.clock import SystemClock
from libs.database import Database, Dsns, reach
from libs.leases.postgres import PostgresLeases
from libs.outbound import Door, Doors
from libs.runtime.embedded.postgres import Postgres, Role
from libs.runtime.embedded.redis import Redis
from libs.runtime.leaving import Leaving
from libs.runtime.platform import Platform
from services import catalog, minds
from services.settings import HOUSE, Process

if TYPE_CHECKING:
    import httpx
    from pydantic import SecretStr
    from starlette.types import ASGIApp

    from libs.budgets import Budgets
    from libs.bus.kafka import Address
    from libs.keys import Keys
    from libs.models.ports import Model
    from libs.objects import Objects
    from libs.policy import Policy
    from libs.retrieval import Embedder
    from libs.skills import Catalogue
    from libs.tools import Tool

ROLES: tuple[Role, ...] = ("suma_owner", "suma_bus", "suma_app")
Ended = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Grounds:
    """Where Postgres and Redis are. `ended` tells of the end of each server that is our own."""

    dsns: Dsns
    redis: str
    ended: Mapping[str, Ended] = field(default_factory=dict)
    kafka: Address | None = None
    """Where Kafka is, when it is the bus."""


@dataclass(frozen=True)
class Ports:
    """The ports that need no server."""

    policy: Policy
    skills: Catalogue
    embedder: Embedder
    model: Callable[[Doors, Budgets], Model | None]
    """The model behind the door that the process has for it, and the accounts that pay for it; None where nobody asks
    one.
    """
    keys: Keys
    objects: Objects
    tools: Mapping[str, Tool] = field(default_factory=dict)
    open: AsyncExitStack = field(default_factory=AsyncExitStack)
    """What is to be closed at the end."""


Apps = dict[str, "ASGIApp"]
"""The HTTP apps of this process, by service: filled once they are built, called by `Platform.clients`."""


@asynccontextmanager
async def standing(settings: Process) -> AsyncIterator[Grounds]:
    """Run what no URL was given for, side by side. For the holder of the data directory's lock."""
    elsewhere = _elsewhere(settings)
    postgres, redis = Postgres(settings.data_dir), Redis(settings.data_dir)
    async with AsyncExitStack() as stack:
        own: dict[str, Postgres | Redis] = {}
        if elsewhere is None:
            own["PostgreSQL"] = postgres
        if settings.redis_url is None:
            own["Redis"] = redis
        starts = [stack.enter_async_context(server) for server in own.values()]
        # Wait for both even when one fails: what has started must be stopped again.
        for started in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(started, BaseException):
                raise started
        yield Grounds(
            elsewhere or _dsns(postgres),
            _redis_url(settings, redis),
            {name: server.ended for name, server in own.items()},
            _kafka(settings),
        )


def found(settings: Process) -> Grounds:
    """What others run: by URL, or in the data directory of a live platform."""
    postgres, redis = Postgres(settings.data_dir), Redis(settings.data_dir)
    return Grounds(_elsewhere(settings) or _dsns(postgres), _redis_url(settings, redis), kafka=_kafka(settings))


def asks(grounds: Grounds) -> dict[str, Callable[[], Awaitable[None]]]:
    """How each server that others run is asked whether it is there for us."""
    from libs.cache import redis

    asked: dict[str, Callable[[], Awaitable[None]]] = {
        "PostgreSQL": partial(reach, grounds.dsns),
        "Redis": partial(redis.reach, grounds.redis),
    }
    if grounds.kafka is not None:
        from libs.bus import kafka

        asked["Kafka"] = partial(kafka.reach, grounds.kafka)
    return asked


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
        password=_told(chosen.sasl_password),
        ca_file=chosen.ca_file,
        cert_file=chosen.cert_file,
        key_file=chosen.key_file,
    )


def _bus(log: PostgresBus, address: Address | None, member: str) -> dict[str, Any]:
    """The bus is the log itself, or Kafka with a relay from the log."""
    if address is None:
        return {"bus": log}
    from libs.bus import relay
    from libs.bus.kafka import KafkaBus, KafkaOutlet

    route = relay.Route(log, KafkaOutlet(address, member))
    return {"bus": KafkaBus(address, member), "route": route, "log_readers": relay.readers}


def _elsewhere(settings: Process) -> Dsns | None:
    urls = (settings.database_owner_url, settings.database_bus_url, settings.database_url)
    given = [url.get_secret_value() for url in urls if url is not None]
    return Dsns(*given) if len(given) == len(urls) else None


def _dsns(postgres: Postgres) -> Dsns:
    return Dsns(*map(postgres.dsn, ROLES))


def _redis_url(settings: Process, redis: Redis) -> str:
    return settings.redis_url.get_secret_value() if settings.redis_url is not None else redis.url


ADAPTERS = (
    "libs.skills",
    "libs.retrieval.offline",
    "libs.keys.file",
    "libs.cache.redis",
)


async def ports(settings: Process, names: Sequence[str]) -> Ports:
    """Import the code of these services and of our adapters, which takes longer than PostgreSQL's start beside it; read
    the rules, the skills and, for those who think, the model's words."""
    async with AsyncExitStack() as stack:
        # In one thread: side by side, modules that import each other could be met half made.
        imported = asyncio.ensure_future(asyncio.to_thread(_import, [*_adapters(settings, names), *_modules(names)]))
        policy = asyncio.ensure_future(_policy(settings, stack, imported))
        stack.callback(policy.cancel)
        await imported
        tools = await asyncio.to_thread(_tools, settings) if PLANNING.intersection(names) else ()
        skills, embedder = await asyncio.gather(_skills(settings, tools), asyncio.to_thread(_embedder))
        model = await stack.enter_async_context(_thinker(settings, names, embedder))
        known = {tool.name: tool for tool in tools}
        objects = await stack.enter_async_context(_objects(settings))
        return Ports(await policy, skills, embedder, model, _keys(settings), objects, known, stack.pop_all())


def _adapters(settings: Process, names: Sequence[str]) -> list[str]:
    law = ["libs.policy.opa"] if settings.policy_engine == "opa" else []
    mind = ["libs.models.offline"] if THINKING.intersection(names) else []
    return [*ADAPTERS, *law, *mind, f"libs.objects.{settings.objects}"]


def _modules(names: Sequence[str]) -> list[str]:
    return [catalog.entry(name).module for name in names]


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


async def _policy(settings: Process, stack: AsyncExitStack, imported: Awaitable[None]) -> Policy:
    policy: Policy
    if settings.policy_engine == "opa":
        await imported
        policy = await stack.enter_async_context(_opa(settings))
    else:
        from libs.policy.rego import RegoPolicy

        policy = RegoPolicy(settings.policy)
    await policy.reload()
    return policy


def _opa(settings: Process) -> AbstractAsyncContextManager[Policy]:
    from libs.policy.opa import connected

    assert settings.opa_url is not None
    return connected(settings.opa_url, token=_told(settings.opa_token))


async def _skills(settings: Process, tools: Sequence[Tool]) -> Catalogue:
    from libs.skills import Catalogue, Place, Source

    places = (Place(settings.data_dir / "skills", Source.USER), Place(HOUSE / "skills", Source.BUNDLED))
    return await asyncio.to_thread(Catalogue, places, tools)


PLANNING = frozenset(("conversation_worker", "committee_worker", "tool_executor"))
"""Who knows the tools from outside: all that plan, decide or run."""


def _tools(settings: Process) -> tuple[Tool, ...]:
    """What the executor's setting names. Raises `BadTool`: none is quietly left out."""
    from libs.tools import load

    return load(settings.of("tool_executor").tools)  # type: ignore[attr-defined]


def _embedder() -> Embedder:
    from libs.retrieval.offline import HashedEmbedder

    return HashedEmbedder()


def _offline(embedder: Embedder) -> Model:
    from libs.models.offline import OfflineModel
    from libs.skills import Categories

    categories = Categories.load(HOUSE / "skills" / "organize-by-type" / "references" / "categories.yaml")
    return OfflineModel(embedder, categories)


THINKING = frozenset(("conversation_worker", "committee_worker"))
"""Who asks the model: these alone load one, and need its key."""


@asynccontextmanager
async def _thinker(
    settings: Process, names: Sequence[str], embedder: Embedder
) -> AsyncIterator[Callable[[Doors, Budgets], Model | None]]:
    """The model that is configured, where anyone thinks. Raises `BadSettings`."""
    if not THINKING.intersection(names):
        yield lambda doors, budgets: None
        return
    which = minds.chosen(settings)
    if which is None:
        offline = await asyncio.to_thread(_offline, embedder)
        yield lambda doors, budgets: offline
        return
    from libs.models.offline.agreement import Agreeing
    from libs.models.offline.matching import Matcher

    matcher = Matcher(embedder)
    async with minds.vendor(settings, which) as model:
        yield lambda doors, budgets: Agreeing(model(doors.to(minds.DOOR), budgets), matcher)


def _keys(settings: Process) -> Keys:
    from libs.keys.file import FileKeys

    return FileKeys(settings.data_dir / "keys")


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
    account = Account(chosen.endpoint, chosen.region, _told(chosen.access_key), _told(chosen.secret_key))
    outside = Outside(chosen.public_endpoint, chosen.link_seconds) if chosen.public_endpoint else None
    return connected(chosen.bucket, account, max_bytes=settings.blob_bytes_most, outside=outside)


def _told(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


@asynccontextmanager
async def _cache(url: str, door: Door) -> AsyncIterator[dict[str, Any]]:
    """What Redis is used for, by the platform's names."""
    from libs.cache.guarded import GuardedBoard, GuardedDeltas, GuardedWindows
    from libs.cache.redis import RedisBoard, RedisDeltas, RedisWindows, connect

    async with connect(url) as client:
        yield {
            "deltas": GuardedDeltas(RedisDeltas(client), door),
            "board": GuardedBoard(RedisBoard(client), door),
            "windows": GuardedWindows(RedisWindows(client), door),
        }


def _guarded(settings: Process, given: Ports, doors: Doors) -> dict[str, Any]:
    """The ports that may lie outside the process, each behind its door where it does."""
    policy, objects = given.policy, given.objects
    if settings.policy_engine != "rego":
        from libs.policy.guarded import GuardedPolicy

        policy = GuardedPolicy(policy, doors.to("policy"))
    if settings.objects != "filesystem":
        from libs.objects.guarded import GuardedObjects

        objects = GuardedObjects(objects, doors.to("objects"))
    return {"policy": policy, "objects": objects}


@asynccontextmanager
async def platform(
    settings: Process,
    grounds: Grounds,
    given: Ports,
    member: str,
    apps: Apps,
    sections: Mapping[str, Any],
    *,
    leaving: Leaving,
) -> AsyncIterator[Platform]:
    """A process's platform. `sections` are the services' settings, by name; connections are made at their first use."""
    database = Database(grounds.dsns)
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        await stack.enter_async_context(given.open)
        doors, budgets = Doors(), PostgresBudgets(database, settings.budgets.limits)
        cache = await stack.enter_async_context(_cache(grounds.redis, doors.to("redis")))
        yield Platform(
            member=member,
            clock=clock,
            database=database,
            **_bus(PostgresBus(database, member), grounds.kafka, member),
            leases=PostgresLeases(database, member),
            parked=ParkedEvents(database),
            writer=Writer(database, clock, member),
            **_guarded(settings, given, doors),
            **cache,
            doors=doors,
            essential=frozenset(settings.essential),
            leaving=leaving,
            keys=given.keys,
            embedder=given.embedder,
            model=given.model(doors, budgets),
            budgets=budgets,
            catalogue=given.skills,
            tools=given.tools,
            data_dir=settings.data_dir,
            settings=sections,
            clients={name: partial(_client, settings, apps, name) for name in catalog.NAMES},
        )


def _client(settings: Process, apps: Apps, name: str) -> httpx.AsyncClient:
    """A client of a service's API: straight into the app where it is in this process, else over HTTP."""
    import httpx

    if name in apps:
        return httpx.AsyncClient(transport=httpx.ASGITransport(apps[name]), base_url="http://localhost")
    url = settings.url_of(name)
    # Without https there is nothing to verify, and reading the certificates would cost each call 20 ms.
    return httpx.AsyncClient(base_url=url, verify=url.startswith("https:"))
