"""The start of a process: all six services on embedded servers, or one service on servers that run elsewhere.

A start after SIGKILL is an ordinary start: servers that still run are adopted, and the dead process's leases are
released at once instead of expiring.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from libs import ids
from libs.database import Database
from libs.embedded import datadir
from libs.embedded.datadir import DataDirectory
from libs.errors import NotFound, Rejected, Unavailable
from libs.events.topics import OBSERVERS, TOPICS
from libs.identity import internal, keys
from libs.runtime import Running, Shutdown
from libs.runtime.host import establish, host, prepare
from libs.telemetry import metrics
from services import catalog, http_server, observers, startup_checks, wiring
from services.connections import Bounds, Connections
from services.health import healthy
from services.settings import WEB, Process

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOCAL_TENANT, OWNER = "local", "owner"
"""The identity of the local key: the person who owns this machine (architecture.md 14)."""


GAUGE_SECONDS = 1.0
T = TypeVar("T")


class ServerEnded(Unavailable):
    """An embedded server has ended; start again."""

    code = "SERVER_ENDED"


class DatabaseEnded(ServerEnded):
    """PostgreSQL has ended, so no work can be written and no lease renewed; start again."""


class NoServers(Rejected):
    """The service has no server URLs, and no live platform was found; set the URLs or start a platform."""

    code = "NO_SERVERS"


@dataclass(frozen=True)
class Ready:
    """The text to show to a person once the process is ready."""

    url: str
    data: Path
    key: Path
    signin: str = ""
    """A link that opens the web UI signed in, once, within a minute."""
    notes: Sequence[str] = ()


async def together(settings: Process, tell: Callable[[Ready], None], leaving: Shutdown) -> None:
    """Run all services until cancelled; call `tell` once requests can be answered. The shutdown takes a limited time,
    and less when `leaving` is hurried.

    Raises `Rejected` for errors that the caller can correct: a port or a data directory that is in use or belongs to
    another program.
    """
    directory = datadir.prepare(settings.data_dir)
    settings = settings.model_copy(update={"data_dir": directory.path})
    async with AsyncExitStack() as stack:
        # One that ends in order leaves no record.
        after_death = directory.owner() is not None
        # The lock first: only its holder may adopt the servers and release the leases of this directory.
        hold = stack.enter_context(directory.held())
        front = stack.enter_context(closing(http_server.bind(settings.host, settings.port, variable="SUMA_PORT")))
        tls = _tls(settings)
        servers, given = await _start_servers(stack, settings)
        sections = _sections(settings, catalog.NAMES)
        sections["gateway"]["local_key"] = SecretStr(directory.key_or_new(_owners_key))
        lives = LeaseOwners(directory.path / "lives")
        member, dead = ids.new(), lives.past()
        # Before the first claim: after a crash the next start must know this name, and still the older ones.
        lives.record([*dead, member])
        context = ProcessContext(servers, given, sections, member, leaving, dead, after_death)
        running, apps = await unless_a_server_ends(_run(stack, settings, catalog.NAMES, context), servers)
        # Unwinds before the host, which would wait for work that cannot end without a database.
        stack.push(partial(_hurry_without_database, leaving))
        # Their leases are released by now.
        lives.record([member])
        among = Connections()
        notes = await _serve_memory(stack, settings, apps, running, leaving, among)
        await stack.enter_async_context(
            http_server.serving(
                apps["gateway"], front, leaving, among=among, tls=tls, bounds=_bounds(running, "gateway")
            )
        )
        # Unwinds first, while the port still answers.
        stack.push_async_exit(partial(_drain, running, leaving))
        url = _url(front, tls, sections["gateway"]["public_url"])
        # After the port answers: a client that finds the address connects at once.
        hold.announce(url, model=settings.model)
        signin = await _signin_link(url, running, sections["gateway"]["local_key"])
        tell(Ready(url, directory.path, directory.key_file, signin, notes))
        # Shielded: to the host, a future that was cancelled looks like a crash, after which it waits for nothing.
        await unless_a_server_ends(asyncio.shield(running.failed), servers)


async def alone(name: str, settings: Process, tell: Callable[[Ready], None], leaving: Shutdown) -> None:
    """Run one service until cancelled, on servers that run elsewhere."""
    entry = catalog.entry(name)
    directory = _directory(settings)
    settings = settings.model_copy(update={"data_dir": directory.path})
    async with AsyncExitStack() as stack:
        port = settings.port_alone(name)
        front = stack.enter_context(closing(http_server.bind(settings.host, port, variable="SUMA_PORT")))
        tls = _tls(settings)
        servers, sections = wiring.find_servers(settings), _sections(settings, [name])
        await startup_checks.answered(wiring.asks(servers), within=settings.start_seconds)
        if name == "gateway" and sections[name]["local_key"] is None:
            sections[name]["local_key"] = SecretStr(directory.key_or_new(_owners_key))
        context = ProcessContext(servers, await wiring.ports(settings, [name]), sections, ids.new(), leaving)
        if name in wiring.CALLING:
            # Sign something now: a key that is unreadable, or readable by others, fails here rather than in a turn.
            context.ports.keys.sign(internal.PURPOSE, b"start")
        running, apps = await _run(stack, settings, [entry.name], context)
        app = apps[name] if name == "gateway" else _internal(settings, name, apps.get(name), running)
        await stack.enter_async_context(
            http_server.serving(app, front, leaving, tls=tls, bounds=_bounds(running, name))
        )
        stack.push_async_exit(partial(_drain, running, leaving))
        tell(Ready(_url(front, tls, None), directory.path, directory.key_file))
        await unless_a_server_ends(asyncio.shield(running.failed), servers)


async def migrate(settings: Process) -> Sequence[str]:
    """Migrate every schema and declare all topics, as the owner of the database; return the names of the applied files.
    Safe to repeat, and beside running services.
    """
    servers = wiring.owners_servers(settings)
    await startup_checks.answered(wiring.asks(servers), within=settings.start_seconds)
    groups = {
        name: [topic.name for topic in TOPICS.values() if name in topic.consumers and not topic.projected]
        for name in catalog.NAMES
    }
    observed = [name for name, topic in TOPICS.items() if OBSERVERS in topic.optional]
    groups[OBSERVERS] = observed if settings.hooks.observers else []
    database = Database(servers.dsns)
    route = wiring.bus(database, servers.kafka, "migrate").get("route")
    try:
        return await establish(database, catalog.schemas(), groups, route)
    finally:
        await database.close()


def _tls(settings: Process) -> ssl.SSLContext | None:
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        return None
    return http_server.tls_context(settings.tls_cert_file, settings.tls_key_file)


def _url(front: socket.socket, tls: ssl.SSLContext | None, public: str | None) -> str:
    """Return the URL for programs on this machine. With TLS it needs the name in the certificate."""
    if tls is None:
        return http_server.url_of(front)
    return public or http_server.url_of(front, scheme="https")


@dataclass(frozen=True)
class ProcessContext:
    """The context in which a process runs its services. `dead` are the members whose leases it may release;
    `after_death` says that the last process did not end in order.
    """

    servers: wiring.Servers
    ports: wiring.Ports
    sections: Mapping[str, Any]
    member: str
    leaving: Shutdown
    dead: Sequence[str] = ()
    after_death: bool = False


async def _start_servers(stack: AsyncExitStack, settings: Process) -> tuple[wiring.Servers, wiring.Ports]:
    """Start the servers, and meanwhile prepare the ports that need none."""
    reading = asyncio.ensure_future(wiring.ports(settings, catalog.NAMES))
    try:
        servers = await stack.enter_async_context(wiring.start_servers(settings))
        return servers, await reading
    finally:
        reading.cancel()


async def _run(
    stack: AsyncExitStack, settings: Process, names: Sequence[str], context: ProcessContext
) -> tuple[Running, Mapping[str, ASGIApp]]:
    local = wiring.Local()
    platform = await stack.enter_async_context(
        wiring.platform(
            settings, context.servers, context.ports, context.member, local, context.sections, leaving=context.leaving
        )
    )
    services = [catalog.entry(name).build(platform) for name in names]
    # Before the host: a first event may lead to a query of another service.
    local.fill(services)
    beside = [observers.service(context.ports.observers, seconds=settings.hooks.seconds)]
    beside = beside if wiring.OBSERVING in names else []
    # Without observers, too: their group is forgotten then.
    await prepare(platform, [*services, *beside])
    subscribed = [each for each in beside if each.subscriptions]
    # Before the host: its first sweep finds these leases free.
    if context.dead:
        await platform.leases.free(context.dead)
    running = await stack.enter_async_context(host(platform, [*services, *subscribed], after_death=context.after_death))
    gauges = asyncio.ensure_future(_update_gauges(settings, running))
    stack.callback(gauges.cancel)
    return running, local.apps


async def _update_gauges(settings: Process, running: Running) -> None:
    """Update the gauges of disks and problems. The metrics thread reads disks, but must not read problems."""
    metrics.disk_free.labels("data").set_function(partial(_free, settings.data_dir))
    # By number, in the order of the settings: metrics are read without a key, and must not name folders.
    for n, root in enumerate(settings.roots, 1):
        metrics.disk_free.labels(f"root-{n}").set_function(partial(_free, root.path))
    while True:
        metrics.problems.set(len(running.problems()))
        await asyncio.sleep(GAUGE_SECONDS)


def _free(place: Path) -> float:
    try:
        usage = shutil.disk_usage(place)
    except OSError:
        return 0.0
    return usage.free / usage.total


async def _signin_link(url: str, running: Running, key: SecretStr) -> str:
    from services.gateway.service import signin_link

    (gateway,) = [service for service in running.services if service.name == "gateway"]
    return await signin_link(gateway, url, key.get_secret_value())


async def _serve_memory(
    stack: AsyncExitStack,
    settings: Process,
    apps: Mapping[str, ASGIApp],
    running: Running,
    leaving: Shutdown,
    among: Connections,
) -> Sequence[str]:
    """Serve the memory service on its own port. Nothing here needs that port, so one in use is at most a note: the
    usual one may belong to another platform of this machine.
    """
    try:
        taken = http_server.bind("127.0.0.1", settings.memory_port, variable="SUMA_MEMORY_PORT")
    except http_server.PortInUse as error:
        chosen = "memory_port" in settings.model_fields_set
        return [f"The memory service has no port of its own: {error}"] if chosen else []
    stack.enter_context(closing(taken))
    app = _internal(settings, "memory_service", apps["memory_service"], running)
    await stack.enter_async_context(http_server.serving(app, taken, leaving, among=among))
    return []


def _bounds(running: Running, name: str) -> Bounds:
    """Return the limits of a connection to a service."""
    (api,) = [service.api for service in running.services if service.name == name]
    return Bounds(send_seconds=api.send_seconds) if api is not None else Bounds()


def _internal(settings: Process, name: str, app: ASGIApp | None, running: Running) -> ASGIApp:
    """Return the app of a service other than the gateway, for its own host name and the one that others call."""
    hosts = {"localhost", name, urlsplit(settings.url_of(name)).hostname or name}
    return healthy(app, running.problems, running.health, hosts=hosts)


async def _drain(running: Running, leaving: Shutdown, kind: object, error: object, trace: object) -> None:
    """Start the shutdown while everything still runs: refuse new requests, and answer running ones, for which nothing
    is waited if the database has ended.
    """
    leaving.begin()
    waits = leaving
    if isinstance(error, DatabaseEnded):
        waits = Shutdown()
        waits.hurry()
    for service in running.services:
        if service.name == "gateway":
            from services.gateway.service import drain

            await drain(service, waits)


async def unless_a_server_ends(work: Awaitable[T], servers: wiring.Servers) -> T:
    """Return the result of `work`, unless an embedded server ends first: then only a new start helps. Raises
    `ServerEnded`.
    """
    endings = {asyncio.ensure_future(ended()): name for name, ended in servers.ended.items()}
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait({working, *endings}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        gone = [name for ending, name in endings.items() if ending.done()]
        kind = DatabaseEnded if "PostgreSQL" in gone else ServerEnded
        raise kind(f"{' and '.join(gone)} ended unexpectedly: start again (its log is in the data directory)")
    finally:
        for task in (working, *endings):
            task.cancel()
        await asyncio.gather(working, return_exceptions=True)


def _hurry_without_database(leaving: Shutdown, kind: object, error: object, trace: object) -> None:
    if isinstance(error, DatabaseEnded):
        leaving.hurry()


def _directory(settings: Process) -> DataDirectory:
    """Return a live platform's data directory, or, if all servers have URLs, the one that services alone share."""
    missing = {
        "SUMA_DATABASE_URL": settings.database_url,
        "SUMA_REDIS_URL": settings.redis_url,
    }
    unset = [name for name, url in missing.items() if url is None]
    if not unset:
        return datadir.prepare(settings.data_dir)
    try:
        return datadir.existing(settings.data_dir)
    except NotFound as absent:
        raise NoServers(f"set {' and '.join(unset)}: {absent}") from None


def _sections(settings: Process, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    sections = {name: settings.of(name).model_dump() for name in names}
    if "tool_executor" in sections:
        sections["tool_executor"]["roots"] = (*settings.roots, *sections["tool_executor"]["roots"])
    if "gateway" in sections:
        sections["gateway"]["web"] = sections["gateway"]["web"] or WEB
    return sections


def _owners_key() -> str:
    return keys.mint(LOCAL_TENANT, OWNER, scopes=["*"])[0]


class LeaseOwners:
    """The names under which platforms of this data directory hold leases: dead ones, and this one."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def past(self) -> list[str]:
        return self._file.read_text().split() if self._file.exists() else []

    def record(self, members: Sequence[str]) -> None:
        # Replaced as a whole: a crash in the middle must lose no name.
        draft = self._file.with_name(f"{self._file.name}.new")
        draft.write_text("".join(f"{member}\n" for member in members))
        draft.replace(self._file)
