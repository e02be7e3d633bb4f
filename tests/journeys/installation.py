"""A installation of one's own: the real platform as a process, started, killed and asked as a person would."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import httpx

from libs.embedded import datadir
from libs.embedded.datadir import DataDirectory
from libs.embedded.postgres import Postgres
from tests.support.fork_server import Forked, shared

ROOT = Path(__file__).parents[2]
SECONDS = 300.0
"""What is reached only where something is wrong: a machine that does twenty other things starts a platform in 100 s."""
MEGABYTE = 1 << 20
COMPLAINTS = 4_000
"""Characters of what a platform that did not start said, in the test's report."""


Process: TypeAlias = asyncio.subprocess.Process | Forked


@dataclass(frozen=True)
class CommandResult:
    """What a program said, and how it ended."""

    code: int
    out: str
    err: str


@dataclass
class Installation:
    """One data directory, and one folder that may be worked in."""

    data: Path
    folder: Path
    extra: Mapping[str, str] = field(default_factory=dict)
    process: Process | None = None
    by_command: bool = False
    """Start programs as a person does; else they are forked from one that has imported them, which takes no second."""

    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SUMA_")}
        own = {"SUMA_DATA_DIR": str(self.data), "SUMA_PORT": "0", "SUMA_MEMORY_PORT": "0", "SUMA_CONFIG": os.devnull}
        return {**inherited, **own, "PYTHONPATH": str(ROOT), "SUMA_ROOTS": str(self.folder), **self.extra}

    @property
    def complaints(self) -> str:
        """What the platform has said on standard error."""
        return self._complaints.read_text(errors="replace")

    @property
    def _complaints(self) -> Path:
        return self.data.with_name("complaints")

    @property
    def directory(self) -> DataDirectory:
        return DataDirectory(self.data)

    @property
    def url(self) -> str:
        owner = self.directory.owner()
        assert owner is not None
        assert owner.url is not None
        return owner.url

    @property
    def key(self) -> str:
        key = self.directory.key()
        assert key is not None
        return key

    async def start(self, *service: str) -> None:
        """Start, and wait for the first line that it prints: that it is ready."""
        if not (self.by_command or service or self.data.exists() or "SUMA_DATABASE_URL" in self.extra):
            await self._furnish()
        self.process = await self._begun("services", *service, environment=self.environment(), errors=self._complaints)
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            first = await self.process.stdout.readline()
        assert b"is ready at" in first, self.complaints[-COMPLAINTS:]

    async def _furnish(self) -> None:
        """With a cluster as the first start makes it, which takes PostgreSQL a second: that is shown elsewhere."""
        copied = ("cp", "-a", await _cluster(), datadir.prepare(self.data).path)
        assert await (await asyncio.create_subprocess_exec(*copied)).wait() == 0

    async def end(self, how: signal.Signals) -> int:
        assert self.process is not None
        process, self.process = self.process, None
        process.send_signal(how)
        async with asyncio.timeout(SECONDS):
            await process.communicate()
        assert process.returncode is not None
        return process.returncode

    async def begin(self, module: str, *arguments: str, at: Path | None = None, **extra: str) -> Process:
        """One of our programs, without a terminal, in the folder `at`."""
        return await self._begun(module, *arguments, environment={**self.environment(), **extra}, at=at)

    async def _begun(
        self,
        module: str,
        *arguments: str,
        environment: Mapping[str, str],
        at: Path | None = None,
        errors: Path | None = None,
    ) -> Process:
        if not self.by_command:
            return await (await shared()).begin(module, *arguments, environment=environment, at=at, errors=errors)
        with errors.open("ab") if errors is not None else nullcontext(asyncio.subprocess.PIPE) as complaints:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", module, *arguments),
                env=environment,
                cwd=at,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=complaints,
                limit=MEGABYTE,
            )

    async def run(self, module: str, *arguments: str, at: Path | None = None, **extra: str) -> CommandResult:
        """The same to its end."""
        process = await self.begin(module, *arguments, at=at, **extra)
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate()
        assert process.returncode is not None
        return CommandResult(process.returncode, out.decode(), err.decode())

    async def suma(self, *arguments: str, at: Path | None = None) -> CommandResult:
        return await self.run("services.cli", *arguments, at=at)

    def servers(self) -> Sequence[int]:
        """The processes of PostgreSQL and Redis that serve this data directory."""
        found = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = place.read_bytes()
            except OSError:
                continue
            program = command.partition(b"\0")[0].rpartition(b"/")[2]
            if str(self.data).encode() in command and program in (b"postgres", b"redis-server"):
                found.append(int(place.parent.name))
        return found

    def api(self) -> httpx.AsyncClient:
        key = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=key, timeout=SECONDS, trust_env=False, verify=False)


_made: list[tempfile.TemporaryDirectory[str]] = []


async def _cluster() -> Path:
    """An empty cluster, made once for all tests of this process; it goes with it."""
    if not _made:
        folder = tempfile.TemporaryDirectory(prefix="suma-cluster-")
        async with Postgres(Path(folder.name)):
            _made.append(folder)
    return Path(_made[0].name) / "postgres"


@asynccontextmanager
async def installation(place: Path, **extra: str) -> AsyncIterator[Installation]:
    """Gone at the end, whatever happened in it."""
    folder = place / "Downloads"
    folder.mkdir(parents=True)
    made = Installation(place / "data", folder, extra)
    try:
        yield made
    finally:
        if made.process is not None:
            await made.end(signal.SIGTERM)
        for pid in made.servers():
            os.kill(pid, signal.SIGKILL)


async def readiness(api: httpx.AsyncClient, status: int = 200) -> httpx.Response:
    """What `/readyz` says once it says so: it tells the last look's, and a look at a busy machine may take too long."""
    async with asyncio.timeout(60):
        while (said := await api.get("/readyz")).status_code != status:
            await asyncio.sleep(0.05)
    return said
