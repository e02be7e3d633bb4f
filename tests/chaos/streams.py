"""The stream trial: `make stream-trial`.

A gateway's process dies by SIGKILL again and again while a worker publishes a turn's events. Meanwhile a client of the
server-sent events and a tab with a WebSocket are cut, at any byte or message, and come back with the last number that
they have. Each must see every event once, in order (A22b). Exit 1: one did not.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import httpx
import orjson
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidMessage

from deploy.local.ports import free_port
from libs import ids
from libs.bus.log import SCHEMA
from libs.changes import Cause, Changeset
from libs.database import Dsns, migrate
from libs.embedded.postgres import ephemeral
from libs.events import Event, MessageCompleted, TurnAnalysed, TurnEnded, TurnStarted
from libs.identity.keys import mint
from libs.runtime.host import prepare
from libs.runtime.platform import Platform
from services.gateway.service import build
from tests import infrastructure
from tests.chaos.stream_scenario import gateway
from tests.services.gateway.sse import Sse
from tests.support.processes import Child

WITHIN, EACH_KILL_WITHIN = 60.0, 30.0
"""Seconds that only a trial that hangs takes: a busy machine starts a gateway in ten."""
BACK_SECONDS = 0.02
LONGEST_CUT = 1500
"""Bytes that a client receives before it is cut, at most: about three events."""
PUBLISHED_EVERY = 0.02
TENANT = "local"
Tell = Callable[[str], None]
GONE = (httpx.TransportError, OSError, ConnectionClosed, InvalidMessage, TimeoutError)


@dataclass
class Viewer:
    """A client that is cut `cuts` times; what it has seen, by number."""

    trial: Trial
    watch: Callable[[Viewer], Awaitable[bool]]
    rng: Random
    cuts: int
    seqs: list[int] = field(default_factory=list)
    returns: int = 0
    """Connections that it opened, cut by itself or by a kill."""

    @property
    def last(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    async def run(self) -> None:
        """Watch until the turn's last event."""
        over = False
        while not over:
            self.returns += 1
            with suppress(*GONE):
                over = await self.watch(self)
            await asyncio.sleep(BACK_SECONDS)

    def cut(self) -> bool:
        """Whether this connection is to be cut."""
        self.cuts -= 1
        return self.cuts >= 0

    def saw(self, seq: int) -> None:
        self.seqs.append(seq)
        self.trial.seen += 1


async def client(viewer: Viewer) -> bool:
    """Server-sent events, cut at any byte; True if the stream ended by itself."""
    trial, sse = viewer.trial, Sse()
    left = viewer.rng.randint(1, LONGEST_CUT) if viewer.cut() else None
    path, headers = f"/v1/sessions/{trial.session}/events", {"Last-Event-ID": str(viewer.last)}
    async with trial.http.stream("GET", path, headers=headers, params={"until": trial.turn}) as answer:
        answer.raise_for_status()
        async for chunk in answer.aiter_raw():
            known = len(sse.events)
            sse.feed(chunk if left is None else chunk[:left])
            for id, _, _ in sse.events[known:]:
                viewer.saw(int(id or 0))
            if left is not None and (left := left - len(chunk)) <= 0:
                return False
    return sse.retry is None


async def tab(viewer: Viewer) -> bool:
    """A WebSocket, dropped without a word after any message; True if the gateway closed it as done."""
    trial = viewer.trial
    left = viewer.rng.randint(1, 3) if viewer.cut() else None
    url = f"ws://127.0.0.1:{trial.port}/v1/sessions/{trial.session}/stream?after={viewer.last}&until={trial.turn}"
    async with connect(url, additional_headers=trial.held, proxy=None) as socket:
        async for text in socket:
            message = orjson.loads(text)
            if "seq" in message:
                viewer.saw(message["seq"])
            if left is not None and (left := left - 1) <= 0:
                socket.transport.abort()
                return False
        return socket.close_code == 1000


@dataclass
class Trial:
    """A database, and the gateways that serve it one after another."""

    where: Dsns
    owner: str
    http: httpx.AsyncClient
    port: int
    held: dict[str, str]
    """The owner's key, as a header."""
    session: str = ""
    turn: str = ""
    seen: int = 0
    """Events that the viewers have seen in all."""
    published: int = 1
    kills: int = 0
    _gateways: list[Child] = field(default_factory=list)

    async def started(self) -> None:
        """Start another gateway, and wait until it answers."""
        names = [f"gateway-{n}" for n in range(len(self._gateways) + 1)]
        self._gateways.append(Child(gateway, self.where, self.owner, self.port, names[-1], names[:-1]))
        async with asyncio.timeout(WITHIN):
            while not await self._answers():
                await asyncio.sleep(BACK_SECONDS)

    async def killed(self) -> None:
        """Kill the gateway, as it stands."""
        self._gateways[-1].kill()
        await self._gateways[-1].ended()
        self.kills += 1

    async def opened(self) -> None:
        """Begin the turn that all watch."""
        said = (await self.http.post("/v1/sessions/message", json={"text": "hello"})).json()
        self.session, self.turn = said["session_id"], said["turn_id"]

    async def published_until(self, over: asyncio.Event) -> None:
        """Publish events of the turn as the conversation worker does, and its end once all is over."""
        async with infrastructure.platform(self.where) as platform:
            writing = asyncio.ensure_future(platform.writer.run())
            await self._publish(platform, TurnStarted(turn_id=self.turn, message_id=None, text="hello"))
            while not over.is_set():
                note = TurnAnalysed(turn_id=self.turn, intent="task", sentiment="neutral", tags=(f"é{self.published}",))
                await self._publish(platform, note)
                await asyncio.sleep(PUBLISHED_EVERY)
            answer = MessageCompleted(turn_id=self.turn, message_id=ids.new(), text="done\n\nid: 99\n\n")
            await self._publish(platform, answer, TurnEnded(turn_id=self.turn, state="completed"))
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _publish(self, platform: Platform, *events: Event) -> None:
        key = f"{TENANT}:{self.session}"
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=TENANT, key=key, session=self.session)
        await platform.writer.apply(Changeset(cause).emit(*events))
        self.published += len(events)

    async def _answers(self) -> bool:
        try:
            return (await self.http.get("/readyz")).status_code == 200
        except GONE:
            return False


@dataclass(frozen=True)
class Account:
    """What a trial did, and what each viewer saw that was not as promised."""

    events: int
    kills: int
    returns: int
    problems: Sequence[str]


async def run(
    where: Dsns, *, kills: int, cuts: int, seed: int, tell: Callable[[str], None] = lambda _: None
) -> Account:
    """Kill the gateway `kills` times and cut the clients `cuts` times."""
    owner, port, rng = mint(TENANT, "owner", scopes=["*"])[0], free_port(), Random(seed)
    held = {"Authorization": f"Bearer {owner}"}
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers=held, timeout=20, trust_env=False
    ) as http:
        trial = Trial(where, owner, http, port, held)
        viewers = [Viewer(trial, watch, Random(f"{seed}{n}"), cuts // 2) for n, watch in enumerate((client, tab))]
        await trial.started()
        try:
            async with asyncio.timeout(WITHIN + EACH_KILL_WITHIN * kills):
                await trial.opened()
                await _performed(trial, viewers, rng, kills, tell)
        finally:
            await trial.killed()
    return Account(trial.published, kills, sum(viewer.returns for viewer in viewers), list(_problems(trial, viewers)))


async def _performed(trial: Trial, viewers: Sequence[Viewer], rng: Random, kills: int, tell: Tell) -> None:
    over = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(trial.published_until(over))
        for viewer in viewers:
            tasks.create_task(viewer.run())
        while trial.kills < kills:
            await _until_seen(trial, trial.seen + rng.randint(1, 20))
            await trial.killed()
            await trial.started()
            tell(f"{trial.kills} kills, {trial.published} events, {sum(v.returns for v in viewers)} connections")
        while any(viewer.cuts > 0 for viewer in viewers):
            await asyncio.sleep(BACK_SECONDS)
        over.set()


async def _until_seen(trial: Trial, count: int) -> None:
    while trial.seen < count:
        await asyncio.sleep(BACK_SECONDS)


def _problems(trial: Trial, viewers: Sequence[Viewer]) -> Iterator[str]:
    expected = list(range(1, trial.published + 1))
    for viewer in viewers:
        if viewer.seqs != expected:
            missed, again = set(expected) - set(viewer.seqs), len(viewer.seqs) - len(set(viewer.seqs))
            name = viewer.watch.__name__
            yield f"the {name} missed {len(missed)} of {len(expected)} events and saw {again} more than once"


async def _main(asked: argparse.Namespace) -> Account:
    async with ephemeral() as server:
        where = infrastructure.dsns(server, "suma")
        await migrate(where.owner, SCHEMA)
        async with infrastructure.platform(where) as platform:
            await prepare(platform, [build(platform)])
        return await run(where, kills=asked.kills, cuts=asked.cuts, seed=asked.seed, tell=_say)


def _say(line: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')} {line}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.streams", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of the gateway's process")
    parser.add_argument("--cuts", type=int, default=1000, help="of the clients, besides those by the kills")
    parser.add_argument("--seed", type=int, default=1)
    account = asyncio.run(_main(parser.parse_args()))
    print(f"{account.events} events, {account.kills} kills, {account.returns} connections of two viewers")
    for problem in account.problems:
        print(f"✘ {problem}")
    print("✔ each saw every event once" if not account.problems else "✘ not clean")
    return int(bool(account.problems))


if __name__ == "__main__":
    sys.exit(main())
