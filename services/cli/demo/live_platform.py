"""A platform for the demo in a temporary folder, started as `make run` starts one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from libs.embedded import datadir
from libs.errors import Unavailable
from services.cli.address import Address
from services.settings import ROOT

READY_SECONDS = 120.0
STOP_SECONDS = 60.0


class NotReady(Unavailable):
    """The platform did not start."""

    code = "NOT_READY"


@contextmanager
def platform(folder: Path, *, settings: Mapping[str, str] | None = None) -> Iterator[Address]:
    """Run a platform that may work in `folder`; delete it with all its data at the end.

    `settings` are added to its environment.
    """
    with tempfile.TemporaryDirectory(prefix="suma-demo-") as place:
        data = Path(place).resolve() / "data"
        log = Path(place) / "platform.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "services"],
                env=_environment(data, folder) | dict(settings or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            yield _address(process, data, log)
        finally:
            _stop(process)


def _environment(data: Path, folder: Path) -> dict[str, str]:
    """Return our environment without the settings of the person's own platform."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SUMA_")}
    settings = {
        "SUMA_DATA_DIR": str(data),
        "SUMA_PORT": "0",
        "SUMA_MEMORY_PORT": "0",
        "SUMA_ROOTS": str(folder),
        "SUMA_CONFIG": os.devnull,
        "PYTHONPATH": str(ROOT),
    }
    return inherited | settings


def _address(process: subprocess.Popen[bytes], data: Path, log: Path) -> Address:
    """Wait until the platform is ready, and return its address."""
    until = time.monotonic() + READY_SECONDS
    # One client for all polls: each new one loads the certificates, which would take CPU time from the start.
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < until and process.poll() is None:
            found = _announced(data)
            if found is not None and _ready(client, found.url):
                return found
            time.sleep(0.05)
    output = log.read_text(errors="replace").strip()
    raise NotReady(f"the platform did not start: {output[-2000:] or 'no output'}")


def _announced(data: Path) -> Address | None:
    directory = datadir.DataDirectory(data)
    owner = directory.owner()
    if owner is None or owner.url is None:
        return None
    return Address(owner.url, directory.key(), str(directory.key_file), data)


def _ready(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/readyz").is_success
    except httpx.TransportError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
