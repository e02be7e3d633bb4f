"""The production profile on this machine, without containers: real servers, and the six services as six processes.

    python -m tests.infrastructure.up            what `make up-real` does
    python -m tests.infrastructure.up --data DIR --any-port

Everything is kept in one folder and found again by the next start. What cannot be had here is refused in one line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from libs.errors import SumaError
from libs.runtime.embedded import datadir
from libs.runtime.embedded.postgres import Postgres
from libs.runtime.embedded.redis import Redis
from services import catalog
from tests.chaos.fleet import Birth, Program, by_command, free_port
from tests.infrastructure.cache import Unprovided
from tests.infrastructure.kafka import KafkaFailed, kafka
from tests.infrastructure.opa import opa
from tests.infrastructure.s3 import s3
from tests.infrastructure.served import ServerFailed

SAYS = "The production profile on this machine: real servers, and the six services as six processes."
HOUSE = Path(__file__).parents[2]
READY_SECONDS = 240.0
LOOK_SECONDS = 0.1
NOT_TO_BE_HAD = 3
"""The exit code where a server cannot be had on this machine."""
CONNECTIONS = {"max_connections": "200"}
"""Six processes hold up to 13 each."""


class DidNotStart(Exception):
    """A service ended before it was ready; what it said last."""


@dataclass
class Servers:
    """What the services stand on: the settings that name it, and what a person wants to know of it."""

    environment: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)


@dataclass
class Up:
    """The profile at work."""

    folder: Path
    servers: Servers
    programs: dict[str, Program]

    @property
    def directory(self) -> datadir.DataDirectory:
        """The data directory that the services share."""
        return datadir.DataDirectory(self.folder / "suma")

    def url(self, service: str = "gateway") -> str:
        return f"http://127.0.0.1:{self.programs[service].port}"

    def api(self) -> httpx.AsyncClient:
        """A client of the gateway, as the owner."""
        key = {"Authorization": f"Bearer {self.directory.key()}"}
        return httpx.AsyncClient(base_url=self.url(), headers=key, timeout=READY_SECONDS, trust_env=False, verify=False)


@asynccontextmanager
async def servers(folder: Path) -> AsyncIterator[Servers]:
    """All that the production profile stands on, started on this folder and stopped at the end.

    Raises:
        Unprovided: one of them cannot be had on this machine.
    """
    made = Servers()
    async with AsyncExitStack() as stack:
        ours = datadir.prepare(folder)
        stack.enter_context(ours.held())
        for each in (_postgres, _redis, _kafka, _opa, _s3):
            await each(stack, ours.path, made)
        yield made


async def _postgres(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(Postgres(folder, settings=CONNECTIONS))
    made.environment |= {
        "SUMA_DATABASE_URL": server.dsn("suma_app"),
        "SUMA_DATABASE_BUS_URL": server.dsn("suma_bus"),
        "SUMA_DATABASE_OWNER_URL": server.dsn("suma_owner"),
    }
    made.told["PostgreSQL"] = server.dsn("postgres")


async def _redis(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(Redis(folder))
    made.environment["SUMA_REDIS_URL"] = made.told["Redis"] = server.url


async def _kafka(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(kafka(folder / "kafka"))
    made.environment |= {"SUMA_BUS": "kafka", "SUMA_KAFKA__BOOTSTRAP": server.bootstrap}
    made.told["Kafka"] = f"{server.bootstrap} (log {server.log})"


async def _opa(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(opa(HOUSE / "deploy" / "opa"))
    made.environment |= {"SUMA_POLICY_ENGINE": "opa", "SUMA_OPA_URL": server.url}
    made.told["OPA"] = server.url


async def _s3(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(s3(folder / "s3"))
    made.environment |= {
        "SUMA_OBJECTS": "s3",
        "SUMA_S3__BUCKET": "suma",
        "SUMA_S3__ENDPOINT": server.url,
        "SUMA_S3__REGION": server.region,
        "SUMA_S3__ACCESS_KEY": server.access_key,
        "SUMA_S3__SECRET_KEY": server.secret_key,
    }
    made.told["S3"] = f"{server.url} (bucket suma)"


@asynccontextmanager
async def up(
    folder: Path, *, any_port: bool = True, roots: Sequence[Path] = (), birth: Birth = by_command
) -> AsyncIterator[Up]:
    """Everything at work until the block ends; entered once every service says that it is ready. `birth` is how its
    processes begin.

    Raises:
        Unprovided: a server cannot be had on this machine.
        DidNotStart: a service ended before it was ready.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with (
        servers(folder / "servers") as standing,
        services(folder, standing, any_port=any_port, roots=roots, birth=birth) as made,
    ):
        yield made


@asynccontextmanager
async def services(
    folder: Path,
    standing: Servers,
    *,
    any_port: bool = True,
    roots: Sequence[Path] = (),
    birth: Birth = by_command,
) -> AsyncIterator[Up]:
    """The six, on servers that stand. Raises DidNotStart."""
    made = Up(folder, standing, _programs(folder, standing, any_port=any_port, roots=roots, birth=birth))
    try:
        for program in made.programs.values():
            program.begin()
        await _all_ready(made.programs.values())
        yield made
    finally:
        await asyncio.gather(*(program.end() for program in made.programs.values()))


def _programs(
    folder: Path, standing: Servers, *, any_port: bool, roots: Sequence[Path], birth: Birth
) -> dict[str, Program]:
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    ports = {entry.name: free_port() if any_port else entry.port for entry in catalog.SERVICES}
    environment = {
        **standing.environment,
        "SUMA_DATA_DIR": str(folder / "suma"),
        "SUMA_ROOTS": os.pathsep.join(map(str, roots)),
        "SUMA_LOG_FORMAT": "json",
        **{f"SUMA_URLS__{name.upper()}": f"http://127.0.0.1:{port}" for name, port in ports.items()},
    }
    return {name: Program(name, name, environment, logs / f"{name}.log", port, birth) for name, port in ports.items()}


async def _all_ready(programs: Iterable[Program]) -> None:
    waiting = list(programs)
    async with asyncio.timeout(READY_SECONDS):
        while waiting:
            for program in waiting:
                if program.ends:
                    raise DidNotStart(f"{program.name}: {_last_words(program.log)} (its log: {program.log})")
            waiting = [program for program in waiting if not await program.ready()]
            await asyncio.sleep(LOOK_SECONDS)


def _last_words(log: Path) -> str:
    said = [line for line in log.read_text(errors="replace").splitlines() if not line.startswith("--- ")]
    return said[-1] if said else "it said nothing"


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        asyncio.run(_until_asked_to_stop(chosen.data.absolute(), any_port=chosen.any_port))
    except (Unprovided, DidNotStart, ServerFailed, KafkaFailed, SumaError) as error:
        sys.stderr.write(f"up: {error}\n")
        return NOT_TO_BE_HAD if isinstance(error, Unprovided) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    home = datadir.location({name: value for name, value in os.environ.items() if name != "SUMA_DATA_DIR"})
    parser = argparse.ArgumentParser(prog="python -m tests.infrastructure.up", description=SAYS)
    parser.add_argument("--data", type=Path, default=home.with_name("suma-real"), help="where everything is kept")
    parser.add_argument("--any-port", action="store_true", help="take ports that are free, not the usual ones")
    return parser


async def _until_asked_to_stop(folder: Path, *, any_port: bool) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for asked in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(asked, task.cancel)
    roots = [Path(part) for part in os.environ.get("SUMA_ROOTS", "").split(os.pathsep) if part]
    with suppress(asyncio.CancelledError):
        async with up(folder, any_port=any_port, roots=roots) as made:
            _tell(made)
            await asyncio.Event().wait()


def _tell(made: Up) -> None:
    rows = {
        "the key": str(made.directory.key_file),
        **made.servers.told,
        **{name: f"{made.url(name)} (log {program.log})" for name, program in made.programs.items()},
    }
    width = max(map(len, rows))
    sys.stdout.write(f"The production profile is up at {made.url()} (Ctrl-C stops it)\n")
    sys.stdout.writelines(f"  {name:{width}}  {where}\n" for name, where in rows.items())
    said = f"SUMA_URL={made.url()} SUMA_DATA_DIR={made.directory.path}"
    sys.stdout.write(f"\nTo talk to it:\n  {said} .venv/bin/suma chat\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
