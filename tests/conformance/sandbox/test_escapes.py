"""No attempt leaves a sandbox: host and neighbours are unharmed, and the same session goes on."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import pytest
import pytest_asyncio

from libs.sandbox import Command, Limits, Sandboxes, Session, scratch_folder
from tests.conformance.sandbox.conftest import LIMITS
from tests.conformance.sandbox.escapes import ESCAPES, Escape
from tests.conformance.sandbox.rigs import is_usable, output, said

pytestmark = pytest.mark.requirement("S2-11", "S2-18", "S2-19", "A30")
LONG = Limits(seconds=3600.0)
BEAT = "import time\nwhile True: print('beat', flush=True); time.sleep(0.05)"
"""A neighbour's command, which must go on during each attempt."""
COUNT = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
"""Process 1 and this one are left."""


@dataclass
class Host:
    """Bait, and what must be as before after each attempt."""

    secret: Path
    process: subprocess.Popen[bytes]
    bait: dict[str, object]

    def is_unharmed(self) -> bool:
        return self.secret.read_text() == "secret" and self.process.poll() is None


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    folder.chmod(0o755)
    secret, word = folder / "secret", token_hex(8)
    secret.write_text("secret")
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as port,
        closing(socket.socket(socket.AF_UNIX)) as abstract,
        closing(socket.socket(socket.AF_UNIX)) as file,
        subprocess.Popen(["sleep", "3600"]) as process,
    ):
        abstract.bind(f"\0{word}")
        file.bind(str(folder / "socket"))
        for one in (abstract, file):
            one.listen()
        bait: dict[str, object] = {
            "secret": str(secret),
            "socket": str(folder / "socket"),
            "abstract": f"\0{word}",
            "port": port.getsockname()[1],
            "process": process.pid,
            "word": word,
            "engine": ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"],
        }
        yield Host(secret, process, bait)
        process.kill()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def neighbour(backend: Sandboxes) -> AsyncIterator[asyncio.Task[object]]:
    async with scratch_folder(None, LONG) as folder:
        session = await backend.open("neighbour", folder, LONG)
        beating = asyncio.create_task(session.run(Command(("python3", "-c", BEAT))))
        yield beating
        beating.cancel()
        await asyncio.wait({beating})
        await session.close()


@pytest_asyncio.fixture
async def attacker(backend: Sandboxes) -> AsyncIterator[Session]:
    async with scratch_folder(None, LIMITS) as folder:
        session = await backend.open("attacker", folder, LIMITS)
        yield session
        await session.close()


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.name.replace(" ", "-"))
async def test_attempt_ends_refused_or_contained(
    attacker: Session, escape: Escape, host: Host, neighbour: asyncio.Task[object]
) -> None:
    words = ("python3", "-", json.dumps(host.bait))
    text, ended = await output(attacker, Command(words, stdin=escape.source.encode(), seconds=escape.seconds))
    assert "ESCAPED" not in text
    assert "Traceback" not in text or "MemoryError" in text, text[-2000:]
    assert escape.limit in (None, ended.limit)
    assert await is_usable(attacker)
    assert await said(attacker, "python3", "-c", COUNT) == "2"
    assert host.is_unharmed()
    assert not neighbour.done()
