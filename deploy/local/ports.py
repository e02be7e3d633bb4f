"""Free ports that no other process of the project takes: a locked file reserves each until its process ends."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

FIRST, COUNT = 10_000, 20_000
"""Below the range of ephemeral ports that the kernel assigns."""
_reserved: list[int] = []
"""The locked files; the kernel unlocks them when this process ends."""


def free_port() -> int:
    """Reserve a port that is free now, and return it."""
    while True:
        port = FIRST + int.from_bytes(os.urandom(4)) % COUNT
        if _reserve(port):
            with socket.socket() as trial, suppress(OSError):
                trial.bind(("127.0.0.1", port))
                return port


def _reserve(port: int) -> bool:
    folder = Path(tempfile.gettempdir()) / f"suma-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder / str(port), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    _reserved.append(handle)
    return True
