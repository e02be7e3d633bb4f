"""A process from its first moment to its last: all six services on servers of our own, or one that finds its servers.

A start after SIGKILL is a start like any other: servers that were left running are taken over, and what the dead
process held is freed at once instead of running out.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr

from libs import ids
from libs.errors import NotFound, Rejected, Unavailable
from libs.identity import internal, keys
from libs.runtime.embedded import datadir
from libs.runtime.embedded.datadir import DataDirectory
from libs.runtime.host import Running, host, prepare
from libs.runtime.leaving import Leaving
from libs.telemetry import metrics
from services import catalog, serving, waiting, wiring
from services.health import healthy
from services.settings import Process

LOCAL_TENANT, OWNER = "local", "owner"
"""Who the local key stands for: the person whose machine this is (DESIGN §13)."""


TELL_SECONDS = 1.0
T = TypeVar("T")


class ServerEnded(Unavailable):
    """One of the servers that we run has ended."""

    code = "SERVER_ENDED"


class NoServers(Rejected):
    """A service run alone was not told where its servers are, and no live platform's are to be found."""

    code = "NO_SERVERS"


@dataclass(frozen=True)
class Ready:
    """What there is to tell a person once all is up."""

    url: str
    data: Path
    key: Path
    notes: Sequence[str] = ()


async def together(settings: Process, tell: Callable[[Ready], None], leaving: Leaving) -> None:
    """Run everything until it is cancelled; `tell` is called once the first request can be answered. What happens then
    is bounded in time, and hurried by `leaving`.

    Raises `Rejected` for what the caller can mend: a port or a data directory in use, or not ours."""
    directory = datadir.prepare(settings.data_dir)
    settings = settings.model_copy(update={"data_dir": directory.path})
    async with AsyncExitStack() as stack:
        hold = stack.enter_context(directory.held())
        front = stack.enter_context(closing(serving.bind(settings.host, settings.port, variable="SUMA_PORT")))
        grounds, given = await _grounds(stack, settings)
        sections = _sections(settings, catalog.NAMES)
        sections["gateway"]["local_key"] = SecretStr(directory.key_or_new(_owners_key))
        lives = Lives(directory.path / "lives")
        member, dead = ids.new(), lives.past()
        lives.record([*dead, member])
        stand = Stand(grounds, given, sections, member, leaving, dead)
        running, apps = await unless_a_server_ends(_run(stack, settings, catalog.NAMES, stand), grounds)
        lives.record([member])
        notes = await _serve_memory(stack, settings, apps, running, leaving)
        await stack.enter_async_context(serving.serving(apps["gateway"], front, leaving))
        stack.push_async_callback(_drain, running, leaving)
        url = serving.url_of(front)
        hold.announce(url)
        tell(Ready(url, directory.path, directory.key_file, notes))
        await unless_a_server_ends(asyncio.shield(running.failed), grounds)


async def alone(name: str, settings: Process, tell: Callable[[Ready], None], leaving: Leaving) -> None:
    """Run one service until it is cancelled, on servers that others run."""
    entry = catalog.entry(name)
    directory = _directory(settings)
    settings = settings.model_copy(update={"data_dir": directory.path})
    async with AsyncExitStack() as stack:
        port = settings.port_alone(name)
        front = stack.enter_context(closing(serving.bind(settings.host, port, variable="SUMA_PORT")))
        grounds, sections = wiring.found(settings), _sections(settings, [name])
        await waiting.answered(wiring.asks(grounds), within=settings.start_seconds)
        if name == "gateway" and sections[name]["local_key"] is None:
            sections[name]["local_key"] = SecretStr(directory.key_or_new(_owners_key))
        stand = Stand(grounds, await wiring.ports(settings, [name]), sections, ids.new(), leaving)
        # A key that lies open to others, or cannot be read, is better noticed here than by the first turn.
        stand.ports.keys.sign(internal.PURPOSE, b"start")
        running, apps = await _run(stack, settings, [entry.name], stand)
        app = apps[name] if name == "gateway" else healthy(apps.get(name), running.problems, running.health)
        await stack.enter_async_context(serving.serving(app, front, leaving))
        stack.push_async_callback(_drain, running, leaving)
        tell(Ready(serving.url_of(front), directory.path, directory.key_file))
        await unless_a_server_ends(asyncio.shield(running.failed), grounds)


@dataclass(frozen=True)
class Stand:
    """What a process is given to run its services with. `dead` are the members whose leases are ours to free."""

    grounds: wiring.Grounds
    ports: wiring.Ports
    sections: Mapping[str, Any]
    member: str
    leaving: Leaving
    dead: Sequence[str] = ()


async def _grounds(stack: AsyncExitStack, settings: Process) -> tuple[wiring.Grounds, wiring.Ports]:
    """Start the servers and read what needs none, side by side."""
    reading = asyncio.ensure_future(wiring.ports(settings, catalog.NAMES))
    try:
        grounds = await stack.enter_async_context(wiring.standing(settings))
        return grounds, await reading
    finally:
        reading.cancel()


async def _run(
    stack: AsyncExitStack, settings: Process, names: Sequence[str], stand: Stand
) -> tuple[Running, wiring.Apps]:
    apps: wiring.Apps = {}
    platform = await stack.enter_async_context(
        wiring.platform(settings, stand.grounds, stand.ports, stand.member, apps, stand.sections, leaving=stand.leaving)
    )
    services = [catalog.entry(name).build(platform) for name in names]
    apps.update({service.name: service.api.app for service in services if service.api is not None})
    await prepare(platform, services)
    if stand.dead:
        await platform.leases.free(stand.dead)
    running = await stack.enter_async_context(host(platform, services))
    for service in services:
        if service.name == "gateway":
            from services.gateway.service import watch

            watch(service, running.problems, running.health)
    telling = asyncio.ensure_future(_tell_what_a_process_knows(settings, running))
    stack.callback(telling.cancel)
    return running, apps


async def _tell_what_a_process_knows(settings: Process, running: Running) -> None:
    """Disks are looked at when the metrics are asked for, in a thread, where problems may not be asked."""
    metrics.disk_free.labels("data").set_function(partial(_free, settings.data_dir))
    for root in settings.roots:
        metrics.disk_free.labels(str(root)).set_function(partial(_free, root))
    while True:
        metrics.problems.set(len(running.problems()))
        await asyncio.sleep(TELL_SECONDS)


def _free(place: Path) -> float:
    try:
        usage = shutil.disk_usage(place)
    except OSError:
        return 0.0
    return usage.free / usage.total


async def _serve_memory(
    stack: AsyncExitStack, settings: Process, apps: wiring.Apps, running: Running, leaving: Leaving
) -> Sequence[str]:
    """Give the memory service its own port. Nobody in this process needs it, so a port in use is no reason to stop."""
    try:
        taken = serving.bind("127.0.0.1", settings.memory_port, variable="SUMA_MEMORY_PORT")
    except serving.PortInUse as error:
        return [f"The memory service has no port of its own: {error}"]
    stack.enter_context(closing(taken))
    app = healthy(apps["memory_service"], running.problems, running.health)
    await stack.enter_async_context(serving.serving(app, taken, leaving))
    return []


async def _drain(running: Running, leaving: Leaving) -> None:
    """The first thing on the way out, while all still runs: nothing new is let in, and what is in hand is answered."""
    leaving.begin()
    for service in running.services:
        if service.name == "gateway":
            from services.gateway.service import drain

            await drain(service, leaving)


async def unless_a_server_ends(work: Awaitable[T], grounds: wiring.Grounds) -> T:
    """The end of `work`, unless a server that we run goes away first: whatever needs it would only wait, and a new
    start mends what can be mended. Raises `ServerEnded`."""
    endings = {asyncio.ensure_future(ended()): name for name, ended in grounds.ended.items()}
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait({working, *endings}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        gone = [name for ending, name in endings.items() if ending.done()]
        raise ServerEnded(f"{' and '.join(gone)} ended by itself: start again (its log is in the data directory)")
    finally:
        for task in (working, *endings):
            task.cancel()
        await asyncio.gather(working, return_exceptions=True)


def _directory(settings: Process) -> DataDirectory:
    """One that a live platform made; where every server has a URL, one that the services which run alone share."""
    missing = {
        "SUMA_DATABASE_URL, SUMA_DATABASE_BUS_URL and SUMA_DATABASE_OWNER_URL": settings.database_url,
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
    return sections


def _owners_key() -> str:
    return keys.mint(LOCAL_TENANT, OWNER, scopes=["*"])[0]


class Lives:
    """The names under which the platforms of this data directory hold leases: the dead ones, and our own."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def past(self) -> list[str]:
        return self._file.read_text().split() if self._file.exists() else []

    def record(self, members: Sequence[str]) -> None:
        draft = self._file.with_name(f"{self._file.name}.new")
        draft.write_text("".join(f"{member}\n" for member in members))
        draft.replace(self._file)
