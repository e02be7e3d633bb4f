"""A process from its first moment to its last: all six services on servers of our own, or one that finds its servers.

A start after SIGKILL is a start like any other: servers that were left running are taken over, and what the dead
process held is freed at once instead of running out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from libs import ids
from libs.errors import Unavailable
from libs.identity import keys
from libs.runtime.embedded import datadir
from libs.runtime.embedded.datadir import DataDirectory
from libs.runtime.host import Running, host, prepare
from services import catalog, serving, wiring
from services.health import healthy
from services.settings import Process

LOCAL_TENANT, OWNER = "local", "owner"
"""Who the local key stands for: the person whose machine this is (DESIGN §13)."""


class ServerEnded(Unavailable):
    """One of the servers that we run has ended."""

    code = "SERVER_ENDED"


@dataclass(frozen=True)
class Ready:
    """What there is to tell a person once all is up."""

    url: str
    data: Path
    key: Path
    notes: Sequence[str] = ()


async def together(settings: Process, tell: Callable[[Ready], None]) -> None:
    """Run everything until it is cancelled; `tell` is called once the first request can be answered.

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
        running, apps = await _run(stack, settings, catalog.NAMES, Stand(grounds, given, sections, member, dead))
        lives.record([member])
        notes = await _serve_memory(stack, settings, apps, running)
        await stack.enter_async_context(serving.serving(apps["gateway"], front))
        url = serving.url_of(front)
        hold.announce(url)
        tell(Ready(url, directory.path, directory.key_file, notes))
        await _until_something_ends(running, grounds)


async def alone(name: str, settings: Process, tell: Callable[[Ready], None]) -> None:
    """Run one service until it is cancelled, on servers that others run."""
    entry = catalog.entry(name)
    directory = _directory(settings)
    settings = settings.model_copy(update={"data_dir": directory.path})
    async with AsyncExitStack() as stack:
        port = settings.port_alone(name)
        front = stack.enter_context(closing(serving.bind(settings.host, port, variable="SUMA_PORT")))
        grounds, sections = wiring.found(settings), _sections(settings, [name])
        if name == "gateway" and directory.key_file.exists():
            sections[name]["local_key"] = SecretStr(directory.key())
        stand = Stand(grounds, await wiring.ports(settings, [name]), sections, ids.new())
        running, apps = await _run(stack, settings, [entry.name], stand)
        app = apps[name] if name == "gateway" else healthy(apps.get(name), running.problems)
        await stack.enter_async_context(serving.serving(app, front))
        tell(Ready(serving.url_of(front), directory.path, directory.key_file))
        await _until_something_ends(running, grounds)


@dataclass(frozen=True)
class Stand:
    """What a process is given to run its services with. `dead` are the members whose leases are ours to free."""

    grounds: wiring.Grounds
    ports: wiring.Ports
    sections: Mapping[str, Any]
    member: str
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
        wiring.platform(settings, stand.grounds, stand.ports, stand.member, apps, stand.sections)
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

            watch(service, running.problems)
    return running, apps


async def _serve_memory(stack: AsyncExitStack, settings: Process, apps: wiring.Apps, running: Running) -> Sequence[str]:
    """Give the memory service its own port. Nobody in this process needs it, so a port in use is no reason to stop."""
    try:
        taken = serving.bind("127.0.0.1", settings.memory_port, variable="SUMA_MEMORY_PORT")
    except serving.PortInUse as error:
        return [f"The memory service has no port of its own: {error}"]
    stack.enter_context(closing(taken))
    await stack.enter_async_context(serving.serving(healthy(apps["memory_service"], running.problems), taken))
    return []


async def _until_something_ends(running: Running, grounds: wiring.Grounds) -> None:
    """A part that fails, or a server that goes away, ends the process; a start mends what a start can mend."""
    endings = {asyncio.ensure_future(ended()): name for name, ended in grounds.ended.items()}
    try:
        await asyncio.wait({running.failed, *endings}, return_when=asyncio.FIRST_COMPLETED)
        if running.failed.done():
            running.failed.result()
        gone = [name for ending, name in endings.items() if ending.done()]
        raise ServerEnded(f"{' and '.join(gone)} ended by itself: start again (its log is in the data directory)")
    finally:
        for ending in endings:
            ending.cancel()


def _directory(settings: Process) -> DataDirectory:
    """One that a live platform made; where every server has a URL, one of our own will do."""
    if settings.database_url is not None and settings.redis_url is not None:
        return datadir.prepare(settings.data_dir)
    return datadir.existing(settings.data_dir)


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
