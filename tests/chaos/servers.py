"""The servers that a profile stands on, each with the same verbs: it can be stopped in order, killed, frozen, and
started again on its data.

PostgreSQL and Redis are the ones that the embedded platform runs, in a folder of the run; Kafka, OPA and S3 are those
of the tests. Whoever reaches a server goes through a link of ours, which knows its port or socket.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeAlias

from deploy.local.kafka import Kafka, kafka
from deploy.local.opa import opa
from deploy.local.s3 import S3, s3
from deploy.local.served import Served
from libs.embedded import postgres, redis
from libs.embedded.daemon import socket_directory
from tests.chaos.proxy import End

ROOT = Path(__file__).parents[2]
CONNECTIONS = {"max_connections": "300"}
"""A dozen processes hold up to 13 each."""


class Server(Protocol):
    """Something that services need and that can go away under them."""

    @property
    def end(self) -> End: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def kill(self) -> None: ...
    async def pause(self) -> None: ...
    async def resume(self) -> None: ...


class PostgresServer:
    """PostgreSQL. A `stop` is `immediate` (SIGQUIT), so that every start after it is a recovery, as after a crash; a
    `fast` one, which a clean end is, is `close`."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._server = postgres.Postgres(data, settings=CONNECTIONS)
        data.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def end(self) -> End:
        return socket_directory(self._data.resolve()) / ".s.PGSQL.5432"

    @property
    def superuser(self) -> str:
        return self._server.dsn("postgres")

    async def start(self) -> None:
        await self._server.__aenter__()

    async def close(self) -> None:
        await self._server.__aexit__(None, None, None)

    async def stop(self) -> None:
        _signal([self._postmaster()], signal.SIGQUIT)
        await self._server.ended()

    async def kill(self) -> None:
        """The postmaster and all its workers at once, as when the machine dies."""
        _signal(self._all(), signal.SIGKILL)
        await self._server.ended()

    async def pause(self) -> None:
        _signal(self._all(), signal.SIGSTOP)

    async def resume(self) -> None:
        _signal(self._all(), signal.SIGCONT)

    def _postmaster(self) -> int:
        return int((self._data / "postgres" / "postmaster.pid").read_text().split()[0])

    def _all(self) -> Sequence[int]:
        master = self._postmaster()
        return [master, *children(master)]


class RedisServer:
    """Redis. It keeps nothing, so every start is an empty one."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._server = redis.Redis(data)
        data.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def end(self) -> End:
        return socket_directory(self._data.resolve()) / "redis.sock"

    async def start(self) -> None:
        await self._server.__aenter__()

    async def close(self) -> None:
        await self._server.__aexit__(None, None, None)

    async def stop(self) -> None:
        await self.close()

    async def kill(self) -> None:
        _signal(self._all(), signal.SIGKILL)
        await self._server.ended()

    async def pause(self) -> None:
        _signal(self._all(), signal.SIGSTOP)

    async def resume(self) -> None:
        _signal(self._all(), signal.SIGCONT)

    def _all(self) -> Sequence[int]:
        return serving(self.end)


class Remote:
    """A server with a port, which tests run."""

    def __init__(self, server: Served | Kafka) -> None:
        self.server = server
        self.start, self.stop, self.kill = server.start, server.stop, server.kill
        self.pause, self.resume = server.pause, server.resume

    @property
    def end(self) -> End:
        return self.server.port


@asynccontextmanager
async def _own(server: PostgresServer | RedisServer) -> AsyncIterator[Server]:
    await server.start()
    try:
        yield server
    finally:
        await server.resume()
        await server.close()


@asynccontextmanager
async def _kafka(place: Path, advertised: int) -> AsyncIterator[Server]:
    """A broker that tells its clients to come by a link."""
    async with kafka(place, advertised=advertised) as broker:
        yield Remote(broker)


@asynccontextmanager
async def _opa() -> AsyncIterator[Server]:
    async with opa(ROOT / "deploy" / "opa") as server:
        yield Remote(server)


@asynccontextmanager
async def _s3(place: Path) -> AsyncIterator[Server]:
    async with s3(place) as server:
        yield Remote(server)


Run: TypeAlias = Callable[[Path, int], AbstractAsyncContextManager[Server]]
RUNS: Mapping[str, Run] = {
    "postgres": lambda place, port: _own(PostgresServer(place)),
    "redis": lambda place, port: _own(RedisServer(place)),
    "kafka": _kafka,
    "opa": lambda place, port: _opa(),
    "s3": lambda place, port: _s3(place),
}
"""(its folder, the port of the link to it) → the server, running until the block ends."""


def environment(name: str, server: Server, port: int) -> dict[str, str]:
    """The settings of a process that reaches the server by this port."""
    match name:
        case "postgres":
            names = {"DATABASE_URL": "suma_app", "DATABASE_BUS_URL": "suma_bus", "DATABASE_OWNER_URL": "suma_owner"}
            where = f"127.0.0.1:{port}/suma?sslmode=disable"
            return {f"SUMA_{name}": f"postgresql://{role}@{where}" for name, role in names.items()}
        case "redis":
            return {"SUMA_REDIS_URL": f"redis://127.0.0.1:{port}"}
        case "kafka":
            return {"SUMA_BUS": "kafka", "SUMA_KAFKA__BOOTSTRAP": f"127.0.0.1:{port}"}
        case "opa":
            return {"SUMA_POLICY_ENGINE": "opa", "SUMA_OPA_URL": f"http://127.0.0.1:{port}"}
        case _:
            assert isinstance(server, Remote)
            assert isinstance(server.server, S3)
            return {
                "SUMA_OBJECTS": "s3",
                "SUMA_S3__BUCKET": "suma",
                "SUMA_S3__ENDPOINT": f"http://127.0.0.1:{port}",
                "SUMA_S3__REGION": server.server.region,
                "SUMA_S3__ACCESS_KEY": server.server.access_key,
                "SUMA_S3__SECRET_KEY": server.server.secret_key,
            }


def children(parent: int) -> Sequence[int]:
    """The processes that this one has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name, in brackets, may hold anything.
            rest = status.read_text().rpartition(")")[2].split()
            if int(rest[1]) == parent:
                found.append(int(status.parent.name))
    return found


def serving(mark: object) -> Sequence[int]:
    """The processes whose command line names this."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(str(mark)) in command.read_bytes():
                found.append(int(command.parent.name))
    return found


def _signal(processes: Sequence[int], what: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, what)
