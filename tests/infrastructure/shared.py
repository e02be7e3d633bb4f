"""One broker for all workers of a run: a start costs as much as fifty tests.

Who needs it first starts it, and stops it when nobody else uses it any more.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from deploy.local.certificates import Certificates
from deploy.local.kafka import Kafka, kafka


@asynccontextmanager
async def kafka_of(run: Path | None) -> AsyncIterator[Kafka]:
    """The broker, with doors that ask who comes, of the workers that share a folder; without one, a broker of one's
    own.

    Raises:
        Unprovided: as `kafka`.
    """
    async with AsyncExitStack() as using:
        if run is None:
            yield await using.enter_async_context(kafka(secured=True))
            return
        async with _held(run / "kafka.door", fcntl.LOCK_EX):
            found = _running(run)
            entered = _lent(run, found) if found else _begun(run)
            broker = await using.enter_async_context(entered)
        yield broker


@asynccontextmanager
async def _begun(run: Path) -> AsyncIterator[Kafka]:
    async with kafka(secured=True) as broker:
        ports = {"port": broker.port, "tls_port": broker.tls_port, "sasl_port": broker.sasl_port}
        _card(run).write_text(json.dumps({"folder": str(broker.folder), "log": str(broker.log), "ports": ports}))
        yield broker
        async with _held(run / "kafka.door", fcntl.LOCK_EX):
            _card(run).unlink()
        async with _held(run / "kafka.users", fcntl.LOCK_EX):
            pass


@asynccontextmanager
async def _lent(run: Path, broker: Kafka) -> AsyncIterator[Kafka]:
    async with _held(run / "kafka.users", fcntl.LOCK_SH):
        yield broker


def _running(run: Path) -> Kafka | None:
    if not _card(run).exists():
        return None
    told = json.loads(_card(run).read_text())
    folder = Path(told["folder"])
    return Kafka(folder, Path(told["log"]), **told["ports"], certificates=Certificates.at(folder))


def _card(run: Path) -> Path:
    return run / "kafka.json"


@asynccontextmanager
async def _held(file: Path, how: int) -> AsyncIterator[None]:
    """A lock on a file; it goes with its holder, however that ends."""
    with file.open("a") as lock:
        await asyncio.to_thread(fcntl.flock, lock, how)
        yield
