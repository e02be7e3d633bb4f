"""The production profile on this machine, without containers: real servers, and the six services as six processes.

    python -m deploy.local.up            as `make up-real` runs it
    python -m deploy.local.up --data DIR --any-port

All data is kept in one folder and reused by the next start. A server that cannot be provided is reported in one line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from urllib.parse import parse_qs, urlsplit

import httpx

from deploy.local.cache import Unprovided, reporting, tell
from deploy.local.fleet import Birth, Program, by_command
from deploy.local.kafka import KafkaFailed, kafka
from deploy.local.opa import opa
from deploy.local.ports import free_port
from deploy.local.s3 import s3
from deploy.local.served import ServerFailed
from libs.embedded import datadir
from libs.embedded.postgres import Postgres, program
from libs.embedded.redis import Redis
from libs.errors import SumaError
from services import catalog
from services.__main__ import MIGRATE

SAYS = "The production profile on this machine: real servers, and the six services as six processes."
ROOT = Path(__file__).parents[2]
READY_SECONDS = 240.0
LOOK_SECONDS = 0.1
NOT_TO_BE_HAD = 3
"""The exit code if a server cannot be provided on this machine."""
CONNECTIONS = {"max_connections": "200"}
"""Each of the six processes opens up to 13 connections."""


class DidNotStart(Exception):
    """A service ended before it was ready; the text is its last log line."""


@dataclass
class Servers:
    """The servers of the profile: settings for the services, and addresses to show to a person."""

    environment: dict[str, str] = field(default_factory=dict)
    """Settings of all services."""
    own: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Settings of one service, or of `migrate`: its roles and their passwords."""
    told: dict[str, str] = field(default_factory=dict)


@dataclass
class Up:
    """The running profile."""

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
        """Return a client of the gateway that acts as the owner."""
        key = {"Authorization": f"Bearer {self.directory.key()}"}
        return httpx.AsyncClient(base_url=self.url(), headers=key, timeout=READY_SECONDS, trust_env=False, verify=False)


@asynccontextmanager
async def servers(folder: Path) -> AsyncIterator[Servers]:
    """Yield all servers of the production profile, started on this folder and stopped at the end.

    Raises:
        Unprovided: a server cannot be provided on this machine.
    """
    made = Servers()
    async with AsyncExitStack() as stack:
        ours = datadir.prepare(folder)
        stack.enter_context(ours.held())
        for name, start in STARTS.items():
            began = time.monotonic()
            tell(f"starting {name}")
            await start(stack, ours.path, made)
            tell(f"{name} is up after {time.monotonic() - began:.0f} s")
        yield made


async def _postgres(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(Postgres(folder, settings=CONNECTIONS))
    made.told["PostgreSQL"] = server.dsn("postgres")
    await asyncio.to_thread(provision, server)
    made.own[MIGRATE]["SUMA_DATABASE_OWNER_URL"] = server.dsn("suma_owner")
    for name in catalog.NAMES:
        made.own[name]["SUMA_DATABASE_URL"] = server.dsn(f"suma_{name}")


def provision(server: Postgres, **variables: str) -> None:
    """Run deploy/postgres/provision.sh, with passwords that this server does not ask for."""
    passwords = {f"SUMA_{role.upper()}_PASSWORD": token_hex() for role in ("owner", *catalog.NAMES)}
    host = parse_qs(urlsplit(server.dsn("postgres")).query)["host"][0]
    path = f"{program('psql').parent}{os.pathsep}{os.defpath}"
    known = {"PATH": path, "PGHOST": host, **passwords, **variables}
    subprocess.run([ROOT / "deploy" / "postgres" / "provision.sh"], env=known, check=True)


async def _redis(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(Redis(folder))
    made.environment["SUMA_REDIS_URL"] = made.told["Redis"] = server.url


async def _kafka(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(kafka(folder / "kafka", closed=True))
    made.environment |= {
        "SUMA_BUS": "kafka",
        "SUMA_KAFKA__BOOTSTRAP": server.bootstrap,
        "SUMA_KAFKA__SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SUMA_KAFKA__SASL_MECHANISM": "PLAIN",
    }
    for name, user in {MIGRATE: "broker", **dict(zip(catalog.NAMES, catalog.NAMES, strict=True))}.items():
        login = {"USERNAME": f"suma_{user}", "PASSWORD": server.passwords[user]}
        made.own[name] |= {f"SUMA_KAFKA__SASL_{part}": value for part, value in login.items()}
    made.told["Kafka"] = f"{server.bootstrap} (log {server.log})"


async def _opa(stack: AsyncExitStack, folder: Path, made: Servers) -> None:
    server = await stack.enter_async_context(opa(ROOT / "deploy" / "opa"))
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


STARTS = {"PostgreSQL": _postgres, "Redis": _redis, "Kafka": _kafka, "OPA": _opa, "S3": _s3}


@asynccontextmanager
async def up(
    folder: Path,
    *,
    any_port: bool = True,
    roots: Sequence[Path] = (),
    birth: Birth = by_command,
) -> AsyncIterator[Up]:
    """Yield the running profile once every service is ready. `birth` starts its processes.

    Raises:
        Unprovided: a server cannot be provided on this machine.
        DidNotStart: a service ended before it was ready.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with (
        servers(folder / "servers") as running,
        services(folder, running, any_port=any_port, roots=roots, birth=birth) as made,
    ):
        yield made


@asynccontextmanager
async def services(
    folder: Path,
    running: Servers,
    *,
    any_port: bool = True,
    roots: Sequence[Path] = (),
    birth: Birth = by_command,
) -> AsyncIterator[Up]:
    """Yield the six services on running servers. Raises DidNotStart."""
    tell(f"starting the services: {', '.join(entry.name for entry in catalog.SERVICES)}")
    made = Up(folder, running, _programs(folder, running, any_port=any_port, roots=roots, birth=birth))
    try:
        await _migrated(folder, running, birth)
        for program in made.programs.values():
            program.begin()
        await _all_ready(made.programs.values())
        yield made
    finally:
        await asyncio.gather(*(program.end() for program in made.programs.values()))


def _programs(
    folder: Path, running: Servers, *, any_port: bool, roots: Sequence[Path], birth: Birth
) -> dict[str, Program]:
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    ports = {entry.name: free_port() if any_port else entry.port for entry in catalog.SERVICES}
    environment = {
        **running.environment,
        "SUMA_DATA_DIR": str(folder / "suma"),
        "SUMA_ROOTS": os.pathsep.join(map(str, roots)),
        "SUMA_LOG_FORMAT": "json",
        **{f"SUMA_URLS__{name.upper()}": f"http://127.0.0.1:{port}" for name, port in ports.items()},
    }
    return {
        name: Program(name, name, {**environment, **running.own[name]}, logs / f"{name}.log", port, birth)
        for name, port in ports.items()
    }


async def _migrated(folder: Path, running: Servers, birth: Birth) -> None:
    """Run the step that alone has the database owner's URL, to its end."""
    step = Program(
        MIGRATE, MIGRATE, {**running.environment, **running.own[MIGRATE]}, folder / "logs" / "migrate", 0, birth
    )
    if await step.run_once() != 0:
        raise DidNotStart(f"{MIGRATE}: {_last_log_line(step.log)} (its log: {step.log})")


async def _all_ready(programs: Iterable[Program]) -> None:
    waiting = list(programs)
    async with asyncio.timeout(READY_SECONDS):
        while waiting:
            for program in waiting:
                if program.ends:
                    raise DidNotStart(f"{program.name}: {_last_log_line(program.log)} (its log: {program.log})")
            waiting = [program for program in waiting if not await program.ready()]
            await asyncio.sleep(LOOK_SECONDS)


def _last_log_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if not line.startswith("--- ")]
    return lines[-1] if lines else "it logged nothing"


def main(arguments: Sequence[str] | None = None, *, birth: Birth = by_command) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        asyncio.run(_until_asked_to_stop(chosen.data.absolute(), any_port=chosen.any_port, birth=birth))
    except (Unprovided, DidNotStart, ServerFailed, KafkaFailed, SumaError) as error:
        sys.stderr.write(f"up: {error}\n")
        return NOT_TO_BE_HAD if isinstance(error, Unprovided) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    home = datadir.location({name: value for name, value in os.environ.items() if name != "SUMA_DATA_DIR"})
    parser = argparse.ArgumentParser(prog="python -m deploy.local.up", description=SAYS)
    parser.add_argument("--data", type=Path, default=home.with_name("suma-real"), help="the folder for all data")
    parser.add_argument("--any-port", action="store_true", help="use free ports instead of the usual ones")
    return parser


async def _until_asked_to_stop(folder: Path, *, any_port: bool, birth: Birth) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for asked in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(asked, task.cancel)
    roots = [Path(part) for part in os.environ.get("SUMA_ROOTS", "").split(os.pathsep) if part]
    with suppress(asyncio.CancelledError), reporting(_progress):
        async with up(folder, any_port=any_port, roots=roots, birth=birth) as made:
            with made.directory.held() as hold:
                # The command then finds the services by SUMA_DATA_DIR alone, at whatever ports they have.
                hold.announce(made.url(), urls={name: made.url(name) for name in made.programs})
                _print_addresses(made)
                await asyncio.Event().wait()


def _progress(line: str) -> None:
    sys.stderr.write(f"up: {line}\n")
    sys.stderr.flush()


def _print_addresses(made: Up) -> None:
    rows = {
        "the key": str(made.directory.key_file),
        **made.servers.told,
        **{name: f"{made.url(name)} (log {program.log})" for name, program in made.programs.items()},
    }
    width = max(map(len, rows))
    sys.stdout.write(f"The production profile is up at {made.url()} (Ctrl-C stops it)\n")
    sys.stdout.writelines(f"  {name:{width}}  {where}\n" for name, where in rows.items())
    sys.stdout.write(f"\nTo use it:\n  SUMA_DATA_DIR={made.directory.path} .venv/bin/suma chat\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
