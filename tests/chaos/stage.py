"""The stage of a profile: its servers, its links and its processes, in one folder that also keeps every log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.local.fleet import Program
from deploy.local.kafka import TOOL_LOGGING, archived, jars
from deploy.local.ports import free_port
from libs.embedded import datadir
from libs.identity import keys
from services import catalog
from services.start import LOCAL_TENANT, OWNER
from tests.chaos.profiles import ALONE, Profile
from tests.chaos.proxy import End, Link
from tests.chaos.servers import RUNS, PostgresServer, RedisServer, Server, environment
from tests.support.fork_server import forked, shared

OWN: Mapping[str, Callable[[Path], Server]] = {"postgres": PostgresServer, "redis": RedisServer}
READY_SECONDS = 180.0
LOOK_SECONDS = 0.3


class NotReady(Exception):
    """The platform does not come up; its logs say why."""


@dataclass(frozen=True)
class Stage:
    profile: Profile
    place: Path
    servers: Mapping[str, Server]
    """Also those that the platform runs itself; they can only be killed."""
    links: Mapping[str, Link]
    programs: Mapping[str, Program]
    key: str

    @property
    def url(self) -> str:
        """Where clients go."""
        return f"http://127.0.0.1:{self.links['clients>gateway'].port}"

    @property
    def folders(self) -> Path:
        return self.place / "folders"

    @property
    def journal(self) -> Path:
        return self.place / "journal.jsonl"

    @property
    def database(self) -> str:
        """As superuser, past every link."""
        server = self.servers["postgres"]
        assert isinstance(server, PostgresServer)
        return server.superuser

    @property
    def kafka(self) -> dict[str, Any] | None:
        """How Kafka's own tools are run, and where Kafka is; None where there is none."""
        if "kafka" not in self.servers:
            return None
        logging = self.place / "tools.properties"
        logging.write_text(TOOL_LOGGING)
        settings = (f"-Dlog4j2.configurationFile={logging}", "-Dlog4j2.disableJmx=true")
        options = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *archived())
        java = ["java", "-cp", f"{jars()}/*", *options, *settings]
        return {"java": java, "bootstrap": f"127.0.0.1:{self.servers['kafka'].end}"}

    async def ready(self) -> None:
        """Until every process says that it is. Raises `NotReady`."""
        if names := await self.unready():
            raise NotReady(f"{', '.join(names)} did not become ready: see {self.place / 'logs'}")

    async def unready(self) -> Sequence[str]:
        """Who does not become ready in time."""
        waiting = list(self.programs.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_SECONDS):
                while waiting := [program for program in waiting if not await program.ready()]:
                    await asyncio.sleep(LOOK_SECONDS)
        return [program.name for program in waiting]

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """The platform has stopped in order, and the servers stand; also those that went with it."""
        await _end(self.programs)
        async with AsyncExitStack() as stack:
            for name in self.profile.own_servers:
                await stack.enter_async_context(RUNS[name](self.place / "data", 0))
            yield


@asynccontextmanager
async def opened(profile: Profile, place: Path) -> AsyncIterator[Stage]:
    """Everything of the profile, ready; gone at the end, but for its logs and data."""
    data = datadir.prepare(place / "data")
    for folder in ("folders", "logs"):
        (place / folder).mkdir()
    key = data.key_or_new(lambda: keys.mint(LOCAL_TENANT, OWNER, scopes=["*"])[0])
    async with AsyncExitStack() as stack:
        links = {name: await stack.enter_async_context(Link(name).listening()) for name in profile.links}
        birth = forked(await shared())
        servers = await _servers(profile, place, links, stack)
        ports = {name: free_port() for name in profile.programs}
        for name, link in links.items():
            link.ends = _ends(name, profile, servers, ports)
        programs = {
            name: Program(name, _service(name), environment, place / "logs" / f"{name}.log", ports[name], birth)
            for name, environment in _environments(profile, place, servers, links, ports).items()
        }
        stage = Stage(profile, place, servers, links, programs, key)
        stack.push_async_callback(_end, programs)
        for program in programs.values():
            program.begin()
        await stage.ready()
        yield stage


async def _end(programs: Mapping[str, Program]) -> None:
    await asyncio.gather(*(program.end() for program in programs.values()))


async def _servers(
    profile: Profile, place: Path, links: Mapping[str, Link], stack: AsyncExitStack
) -> dict[str, Server]:
    """In a folder of their own each; the platform's own servers live in its data directory."""
    own: dict[str, Server] = {name: OWN[name](place / "data") for name in profile.own_servers}
    runs = [RUNS[name](place / name, _port_of(name, links)) for name in profile.servers]
    servers = await asyncio.gather(*(stack.enter_async_context(run) for run in runs))
    return own | dict(zip(profile.servers, servers, strict=True))


def _port_of(server: str, links: Mapping[str, Link]) -> int:
    """Of the one link to a server that all share."""
    link = links.get(f"services>{server}")
    return link.port if link else 0


def _ends(name: str, profile: Profile, servers: Mapping[str, Server], ports: Mapping[str, int]) -> Sequence[End]:
    """Where a link leads: to a server, or to every process of a service."""
    to = name.partition(">")[2]
    if to in servers:
        return [servers[to].end]
    service = "suma" if ALONE in profile.replicas else to
    return [port for program, port in ports.items() if program.rpartition("-")[0] == service]


def _service(program: str) -> str:
    name = program.rpartition("-")[0]
    return ALONE if name == "suma" else name


def _environments(
    profile: Profile, place: Path, servers: Mapping[str, Server], links: Mapping[str, Link], ports: Mapping[str, int]
) -> dict[str, dict[str, str]]:
    """The settings of each process."""
    common = {
        "SUMA_DATA_DIR": str(place / "data"),
        "SUMA_ROOTS": str(place / "folders"),
        "SUMA_MEMORY_PORT": "0",
        "SUMA_LOG_FORMAT": "json",
    }
    if ALONE not in profile.replicas:
        common["SUMA_URLS"] = json.dumps({service: _url(service, links, ports) for service in catalog.NAMES})
    made = {program: dict(common) for program in ports}
    for program, settings in made.items():
        for name in profile.servers:
            settings |= environment(name, servers[name], links[profile.way(program, name)].port)
    return made


def _url(service: str, links: Mapping[str, Link], ports: Mapping[str, int]) -> str:
    link = links.get(f"services>{service}")
    return f"http://127.0.0.1:{link.port if link else ports[f'{service}-1']}"
