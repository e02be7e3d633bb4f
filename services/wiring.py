"""Wiring: settings become a Platform. The only file that names an adapter, and none is imported that was not chosen.

PostgreSQL takes a while to be ready; meanwhile the rules and the skills are read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from libs.bus.parked import ParkedEvents
from libs.bus.postgres import PostgresBus
from libs.changes.writer import Writer
from libs.clock import SystemClock
from libs.database import Database, Dsns
from libs.leases.postgres import PostgresLeases
from libs.runtime.embedded.postgres import Postgres, Role
from libs.runtime.embedded.redis import Redis
from libs.runtime.platform import Platform
from services import catalog
from services.settings import HOUSE, Process

if TYPE_CHECKING:
    import httpx
    from starlette.types import ASGIApp

    from libs.cache.ports import Deltas
    from libs.keys import Keys
    from libs.models.ports import Model
    from libs.objects import Objects
    from libs.policy import Policy
    from libs.retrieval import Embedder
    from libs.skills import Skills

ROLES: tuple[Role, ...] = ("suma_owner", "suma_bus", "suma_app")
Ended = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Grounds:
    """Where Postgres and Redis are. `ended` tells of the end of each server that is our own."""

    dsns: Dsns
    redis: str
    ended: Mapping[str, Ended] = field(default_factory=dict)


@dataclass(frozen=True)
class Ports:
    """The ports that need no server."""

    policy: Policy
    skills: Skills
    embedder: Embedder
    model: Model
    keys: Keys
    objects: Objects


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
        )


def found(settings: Process) -> Grounds:
    """What others run: by URL, or in the data directory of a live platform."""
    postgres, redis = Postgres(settings.data_dir), Redis(settings.data_dir)
    return Grounds(_elsewhere(settings) or _dsns(postgres), _redis_url(settings, redis))


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
    "libs.models.offline",
    "libs.retrieval.offline",
    "libs.keys.file",
    "libs.objects.filesystem",
    "libs.cache.redis",
)


async def ports(settings: Process, names: Sequence[str]) -> Ports:
    """Import the code of these services and of our adapters, which takes longer than PostgreSQL's start beside it; read
    the rules, the skills and the model's words."""
    policy = asyncio.ensure_future(_policy(settings))
    try:
        # In one thread: side by side, modules that import each other could be met half made.
        await asyncio.to_thread(_import, [*ADAPTERS, *(catalog.entry(name).module for name in names)])
        skills, (embedder, model) = await asyncio.gather(_skills(settings), asyncio.to_thread(_minds))
        return Ports(await policy, skills, embedder, model, _keys(settings), _objects(settings))
    finally:
        policy.cancel()


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


async def _policy(settings: Process) -> Policy:
    from libs.policy.rego import RegoPolicy

    policy = RegoPolicy(settings.policy)
    await policy.reload()
    return policy


async def _skills(settings: Process) -> Skills:
    from libs.skills import Skills

    return await asyncio.to_thread(Skills.load, (settings.data_dir / "skills", HOUSE / "skills"))


def _minds() -> tuple[Embedder, Model]:
    from libs.models.offline import OfflineModel
    from libs.retrieval.offline import HashedEmbedder
    from libs.skills import Categories

    categories = Categories.load(HOUSE / "skills" / "organize-by-type" / "references" / "categories.yaml")
    embedder = HashedEmbedder()
    return embedder, OfflineModel(embedder, categories)


def _keys(settings: Process) -> Keys:
    from libs.keys.file import FileKeys

    return FileKeys(settings.data_dir / "keys")


def _objects(settings: Process) -> Objects:
    from libs.objects.filesystem import FilesystemObjects

    return FilesystemObjects(settings.data_dir / "objects", max_bytes=settings.blob_bytes_most)


@asynccontextmanager
async def _deltas(url: str) -> AsyncIterator[Deltas]:
    from libs.cache.redis import RedisDeltas, connect

    async with connect(url) as client:
        yield RedisDeltas(client)


@asynccontextmanager
async def platform(
    settings: Process, grounds: Grounds, given: Ports, member: str, apps: Apps, sections: Mapping[str, Any]
) -> AsyncIterator[Platform]:
    """A process's platform. `sections` are the services' settings, by name; connections are made at their first use."""
    database = Database(grounds.dsns)
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        deltas = await stack.enter_async_context(_deltas(grounds.redis))
        yield Platform(
            member=member,
            clock=clock,
            database=database,
            bus=PostgresBus(database, member),
            leases=PostgresLeases(database, member),
            parked=ParkedEvents(database),
            writer=Writer(database, clock, member),
            policy=given.policy,
            keys=given.keys,
            objects=given.objects,
            deltas=deltas,
            embedder=given.embedder,
            model=given.model,
            skills=given.skills,
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
