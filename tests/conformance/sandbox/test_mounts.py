"""Folders of the host in a sandbox: the guest writes only to writable ones, and leaves none."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from libs.sandbox import Command, Limits, Mount, Refused, Sandboxes, Session, scratch_folder
from tests.conformance.sandbox.conftest import LIMITS
from tests.conformance.sandbox.escapes import PRELUDE
from tests.conformance.sandbox.rigs import output, said

pytestmark = pytest.mark.requirement("S2-11", "S2-18")
MB = 1 << 20


@dataclass
class Shared:
    """A session with one writable mount and one that is not; the host listens on a socket in the latter."""

    session: Session
    writable: Path
    readable: Path
    listener: socket.socket

    async def tried(self, script: str) -> str:
        """Run a script inside, as tests/conformance/sandbox/escapes.py does."""
        source = PRELUDE.replace("sys.argv[1]", "'{}'") + script
        return (await output(self.session, Command(("python3", "-"), stdin=source.encode())))[0]


@pytest.fixture
def readable() -> Iterator[tuple[Path, socket.socket]]:
    with tempfile.TemporaryDirectory(dir="/tmp") as made, closing(socket.socket(socket.AF_UNIX)) as listener:
        folder = Path(made)
        (folder / "sub").mkdir()
        (folder / "file").write_text("given")
        for path in (folder, folder / "sub", folder / "file"):
            path.chmod(0o777)
        listener.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o666)
        listener.listen()
        listener.settimeout(5)
        yield folder, listener


@pytest_asyncio.fixture
async def shared(backend: Sandboxes, readable: tuple[Path, socket.socket]) -> AsyncIterator[Shared]:
    async with scratch_folder(None, LIMITS) as folder, scratch_folder(None, LIMITS) as writable:
        mounts = (Mount(readable[0], "/turn/given"), Mount(writable, "/turn", writable=True))
        session = await backend.open("mounted", folder, LIMITS, mounts=mounts)
        yield Shared(session, writable, *readable)
        await session.close()


async def test_writable_mount_is_shared_both_ways(shared: Shared) -> None:
    (shared.writable / "in").write_text("from the host")
    assert await said(shared.session, "sh", "-c", "cat /turn/in; echo from the guest > /turn/out") == "from the host"
    assert (shared.writable / "out").read_text() == "from the guest\n"
    assert (shared.writable / "out").stat().st_uid != 0


async def test_mount_lies_inside_another(shared: Shared) -> None:
    assert await said(shared.session, "cat", "/turn/given/file") == "given"


WRITES = {
    "write": "write('/turn/given/file')",
    "append": "os.open('/turn/given/file', os.O_WRONLY | os.O_APPEND)",
    "truncate": "os.truncate('/turn/given/file', 0)",
    "create": "write('/turn/given/new')",
    "create below": "write('/turn/given/sub/new')",
    "remove": "os.unlink('/turn/given/file')",
    "move inside": "os.rename('/turn/given/file', '/turn/given/other')",
    "move out": "os.rename('/turn/given/file', '/turn/file')",
    "move in": "os.rename('/workspace', '/turn/given/sub')",
    "hard link inside": "os.link('/turn/given/file', '/turn/given/other')",
    "hard link out": "os.link('/turn/given/file', '/turn/other')",
    "hard link to the workspace": "os.link('/turn/given/file', '/workspace/other')",
    "rights": "os.chmod('/turn/given/file', 0o4755)",
    "time": "os.utime('/turn/given/file')",
    "attribute": "os.setxattr('/turn/given/file', 'user.a', b'b')",
    "socket": "os.unlink('/turn/given/socket')",
    "socket moved": "os.rename('/turn/given/socket', '/turn/given/file')",
    "mount point": "os.rename('/turn/given', '/turn/gone')",
    "mount point removed": "os.rmdir('/turn/given')",
    "by its descriptor": "os.open('/proc/self/fd/%d' % os.open('/turn/given/file', os.O_RDONLY), os.O_WRONLY)",
    "remount": "call(165, 40, None, b'/turn/given', None, 0x1020, None)",
    "mount over": "call(165, 40, b'/workspace', b'/turn/given', None, 0x1000, None)",
    "unmount": "call(166, 39, b'/turn/given', 2)",
}


@pytest.mark.parametrize("attempt", WRITES, ids=lambda name: name.replace(" ", "-"))
async def test_read_only_mount_refuses(shared: Shared, attempt: str) -> None:
    text = await shared.tried(f"def attempt(): {WRITES[attempt]}\ntries(attempt)")
    assert text.startswith("refused:")
    assert sorted(path.name for path in shared.readable.iterdir()) == ["file", "socket", "sub"]
    assert (shared.readable / "file").read_text() == "given"


async def test_mounts_lead_nowhere_outside(shared: Shared) -> None:
    script = (
        "print(sorted(os.listdir('/turn/..')) == sorted(os.listdir('/')), os.path.exists('/turn/given/../../root/x'))"
    )
    assert await shared.tried(script) == "True False\n"
    (shared.writable / "way").symlink_to(shared.readable)
    assert await shared.tried("tries(read, '/turn/way/file')") == "refused: No such file or directory\n"


async def test_device_of_the_host_cannot_be_made(shared: Shared) -> None:
    script = "def attempt(): os.mknod('/turn/disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))\ntries(attempt)"
    assert (await shared.tried(script)).startswith("refused:")


async def test_socket_of_a_read_only_mount_reaches_its_listener(shared: Shared) -> None:
    script = "one = socket.socket(socket.AF_UNIX); one.connect('/turn/given/socket'); one.sendall(b'asked')"
    await shared.tried(script)
    accepted, _ = shared.listener.accept()
    with closing(accepted):
        assert accepted.recv(10) == b"asked"


async def test_replaced_socket_of_a_writable_mount_deceives_no_listener(shared: Shared) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(shared.writable / "socket"))
        os.chown(shared.writable / "socket", *shared.writable.stat()[4:6])
        listener.listen()
        listener.setblocking(False)
        script = (
            "os.unlink('/turn/socket'); one = socket.socket(socket.AF_UNIX); one.bind('/turn/socket'); one.listen()"
        )
        assert await shared.tried(f"{script}\nconnect('/turn/socket', socket.AF_UNIX); print('own')") == "own\n"
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_full_mount_ends_the_command(backend: Sandboxes) -> None:
    small = replace(LIMITS, disk=8 * MB)
    # A plain folder, whose file system has room.
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o777)
        async with scratch_folder(None, small) as folder:
            session = await backend.open("full", folder, small, mounts=[Mount(Path(made), "/turn", writable=True)])
            script = "for n in $(seq 1 200); do head -c 500000 /dev/zero > /turn/$n; sleep 0.05; done"
            assert (await output(session, Command(("sh", "-c", script))))[1].limit == "disk"
            await session.close()


async def test_other_mounts_get_another_sandbox(backend: Sandboxes, readable: tuple[Path, socket.socket]) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        first = await backend.open("changing", folder, LIMITS, mounts=[Mount(readable[0], "/one")])
        assert await backend.open("changing", folder, LIMITS, mounts=[Mount(readable[0], "/one")]) is first
        second = await backend.open("changing", folder, LIMITS, mounts=[Mount(readable[0] / "file", "/two")])
        assert await said(second, "sh", "-c", "cat /two; ls /one 2>/dev/null") == "given"
        await second.close()


TARGETS = ["/", "/usr", "/usr/x", "/lib64", "/proc/x", "/tmp/x", "/workspace", "/workspace/x", "/run/suma", "turn"]
BENT = ["/turn/../etc", "/turn/", "//turn", "/a b", "/a,b", "/a:b", "/.turn", "/turn\n", "/turn\0", ""]


@pytest.mark.parametrize("target", TARGETS + BENT)
async def test_mount_over_the_system_is_refused(backend: Sandboxes, tmp_path: Path, target: str) -> None:
    with pytest.raises(Refused):
        await backend.open("covering", tmp_path, mounts=[Mount(tmp_path, target)])


async def test_mount_without_a_plain_source_is_refused(backend: Sandboxes, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "file").touch()
    bad = [Mount(tmp_path / "absent", "/a"), Mount(tmp_path / "link", "/a"), Mount(Path("tests"), "/a")]
    for mounts in (
        *([one] for one in bad),
        [Mount(tmp_path / "file", "/a", writable=True)],
        [Mount(tmp_path, "/a")] * 2,
    ):
        with pytest.raises(Refused):
            await backend.open("bent", tmp_path, Limits(), mounts=mounts)
