"""Turns over the other protocols: the time to the first event beside the REST routes, and many calls in flight.

The gateway has a process of its own. The conversation worker is in this one: it ends a turn when it is told to, so that
the time is the gateway's alone, and calls stay in flight for as long as they are looked at.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson
from rich.text import Text

from libs import ids
from libs.changes import Cause, Changeset
from libs.events import MessageReceived, TurnEnded
from libs.events.envelope import Envelope
from libs.runtime.platform import Platform
from libs.runtime.service import Subscription
from tests.benchmarks.rows import Row, most
from tests.benchmarks.start import megabytes
from tests.benchmarks.streams import OPENED_AT_ONCE, TENANT, LoadedGateway, gateway
from tests.support.surfaces import SURFACES, Asked, Surface

CALLS = 1000
WARM_CALLS, WARM_ROUNDS = 50, 5
WITHIN = 300.0
CALL_KB_MOST = 256.0
"""Kilobytes of a call in flight: its task, its frames in the protocol's SDK and its socket."""
REST = "REST"
TEXT = "hello"


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rows = await _first_events(tell, rounds=30 if quick else 200)
    for name, surface in SURFACES.items():
        tell(f"{CALLS} calls in flight: {name}")
        rows += await _in_flight(name, surface)
    return rows, Text()


async def _first_events(tell: Callable[[str], None], *, rounds: int) -> list[Row]:
    """Compare each surface with REST in rounds, each in another order."""
    taken: dict[str, list[float]] = defaultdict(list)
    worker, rng, names = Worker(), Random(1), [REST, *SURFACES]
    async with gateway(worker.subscription) as loaded:
        client = Client(loaded, worker)
        for n in range(-WARM_ROUNDS, rounds):
            tell(f"first event, round {max(n, 0) + 1} of {rounds}")
            for name in rng.sample(names, len(names)):
                seconds = await (client.rest() if name == REST else client.first(SURFACES[name](TEXT, True)))
                if n >= 0:
                    taken[name].append(seconds)
    return [_first_event(name, taken) for name in SURFACES]


def _first_event(name: str, taken: Mapping[str, Sequence[float]]) -> Row:
    ours, rest = taken[name], taken[REST]
    paired = statistics.median(our / their for our, their in zip(ours, rest, strict=True))
    value, reference = (statistics.median(times) * 1000 for times in (ours, rest))
    return Row(
        f"request to first event, p50: {name}",
        value,
        "ms",
        "REST message, then its stream",
        reference,
        most(1.5),
        paired,
    )


async def _in_flight(name: str, surface: Surface) -> list[Row]:
    """Hold many calls, each until its turn ends; a gateway of its own, since a process keeps the memory that it had."""
    worker = Worker()
    async with gateway(worker.subscription) as loaded:
        client = Client(loaded, worker)
        await client.hold(surface, WARM_CALLS)
        await client.finish()
        before = megabytes(loaded.pid)
        await client.hold(surface, CALLS)
        memory = (megabytes(loaded.pid) - before) / CALLS * 1024
        answered = await client.finish()
    return [
        Row(f"of {CALLS:,} calls in flight, refused: {name}", CALLS - answered, "calls", goal=most(0)),
        Row(f"memory of a call in flight: {name}", memory, "kB", goal=most(CALL_KB_MOST)),
    ]


@dataclass
class Worker:
    """A conversation worker that takes each message, and ends its turn when it is told to."""

    taken: asyncio.Queue[tuple[str, str]] = field(default_factory=asyncio.Queue)
    """Sessions and their turns."""

    @property
    def subscription(self) -> Subscription:
        return Subscription(MessageReceived, self._received)

    async def _received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        self.taken.put_nowait((event.session or "", event.data.turn_id))
        return Changeset(cause)

    async def end_one(self, platform: Platform) -> None:
        session, turn = await self.taken.get()
        key = f"{TENANT}:{session}"
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=TENANT, key=key, session=session)
        await platform.writer.apply(Changeset(cause).emit(TurnEnded(turn_id=turn, state="completed")))


class Client:
    """Clients of a gateway, as cheap as can be."""

    def __init__(self, loaded: LoadedGateway, worker: Worker) -> None:
        self._loaded, self._worker = loaded, worker
        self._held: list[asyncio.Task[bool]] = []

    async def first(self, asked: Asked) -> float:
        """Run a turn; return the seconds from the request to its first event."""
        reader, writer = await self._connected()
        with closing(writer):
            began = time.perf_counter()
            writer.write(self._request("POST", asked.path, asked.body, **asked.headers))
            await _event(reader)
            return await self._ended(began, reader)

    async def rest(self) -> float:
        """Run a turn by REST, with one connection for its two requests."""
        reader, writer = await self._connected()
        with closing(writer):
            began = time.perf_counter()
            writer.write(self._request("POST", "/v1/sessions/message", {"text": TEXT}, Connection="keep-alive"))
            sent = await _answer(reader)
            where = f"/v1/sessions/{sent['session_id']}/events?after={sent['after']}&until={sent['turn_id']}"
            writer.write(self._request("GET", where))
            await _event(reader)
            return await self._ended(began, reader)

    async def hold(self, surface: Surface, calls: int) -> None:
        """Begin so many calls that wait for their turns, some at once: those that arrive are requests for a moment."""
        self._held = []
        async with asyncio.timeout(WITHIN):
            for _ in range(0, calls, OPENED_AT_ONCE):
                self._held += [asyncio.ensure_future(self._call(surface(TEXT, False))) for _ in range(OPENED_AT_ONCE)]
                while self._worker.taken.qsize() + sum(call.done() for call in self._held) < len(self._held):
                    await asyncio.sleep(0.02)

    async def finish(self) -> int:
        """End all turns; return how many calls had waited for that, and were answered with a 200."""
        waiting = [call for call in self._held if not call.done()]
        await asyncio.gather(*(self._worker.end_one(self._loaded.platform) for _ in range(self._worker.taken.qsize())))
        return sum(await asyncio.gather(*waiting))

    async def _call(self, asked: Asked) -> bool:
        reader, writer = await self._connected()
        with closing(writer):
            writer.write(self._request("POST", asked.path, asked.body, **asked.headers))
            async with asyncio.timeout(WITHIN):
                return (await reader.read()).startswith(b"HTTP/1.1 200")

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._loaded.port)

    async def _ended(self, began: float, reader: asyncio.StreamReader) -> float:
        """Return the time until now; end the turn and read the stream to its end, so that the next one is alone."""
        taken = time.perf_counter() - began
        async with asyncio.timeout(WITHIN):
            await self._worker.end_one(self._loaded.platform)
            await reader.read()
        return taken

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None, **headers: str) -> bytes:
        content = orjson.dumps(body) if body is not None else b""
        about = {
            "Host": "localhost",
            "Authorization": f"Bearer {self._loaded.key}",
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
            "Connection": "close",
            **headers,
        }
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in about.items())])
        return f"{head}\r\n\r\n".encode() + content


async def _event(reader: asyncio.StreamReader) -> None:
    """Read up to the first event with data."""
    async with asyncio.timeout(WITHIN):
        status = await reader.readline()
        assert b" 200 " in status, status + await reader.read()
        while not (line := await reader.readline()).startswith(b"data: {"):
            assert line, "the stream ended before its first event"


async def _answer(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Read a JSON answer that announces its length."""
    async with asyncio.timeout(WITHIN):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        found: dict[str, Any] = orjson.loads(await reader.readexactly(int(length.partition(b":")[2])))
        return found
