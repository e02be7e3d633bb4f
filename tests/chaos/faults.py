"""Faults, carried out: each of the schedule at its time, side by side, and noted with what it did."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import asyncpg
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from libs.database import SILENCE
from libs.events.topics import TOPICS
from tests.chaos.load import Journal
from tests.chaos.schedule import Fault
from tests.chaos.stage import Stage

OF_PROCESSES = ("kill", "kill_two", "freeze", "restart", "bereave")
UP_SECONDS = 60.0
LOOK_SECONDS = 0.2
OWNED_SECONDS = 15.0
OWN_EVERY_SECONDS = 1.0
JOIN_SECONDS = 20.0
TELL_SECONDS = 1.0

FORWARD = "update bus.clock set shift = shift + make_interval(secs => $1)"
REWIND = """
with back as (
    select o.grp, o.topic, o.part, o.position as before, greatest(0, o.position - $2::bigint) as position
    from bus.offsets o join bus.partitions p using (grp, topic, part) where p.member = $1
), moved as (
    update bus.offsets o set position = b.position from back b where (o.grp, o.topic, o.part) = (b.grp, b.topic, b.part)
)
select coalesce(sum(before - position), 0) from back
"""


@dataclass
class Faults:
    """What happened so far, and how often."""

    stage: Stage
    journal: Journal
    ahead: float = 0.0
    """Seconds by which the database's clock is set forward in each freeze, which is so much shorter."""
    happened: list[Mapping[str, object]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    untrue: list[str] = field(default_factory=list)
    """What was said of readiness and was not so."""
    _frozen: set[str] = field(default_factory=set)

    async def carry_out(self, faults: Sequence[Fault], *, until: float) -> None:
        """Each at its time, until the last is over; then everything runs again.

        Where a process has to be up for a fault, all later ones come so much later, and those that would begin after
        `until` seconds do not come at all: a slow machine is hit less often, not always in its sleep."""
        began, slip = time.monotonic(), 0.0
        try:
            async with asyncio.TaskGroup() as tasks:
                for fault in faults:
                    await asyncio.sleep(max(0.0, began + fault.at + slip - time.monotonic()))
                    slip += await self._until_up(fault)
                    if fault.at + slip > until:
                        break
                    tasks.create_task(self._one(fault))
        finally:
            await self.mend()

    async def _until_up(self, fault: Fault) -> float:
        """The seconds that were waited for a process to be up, within a bound; some are hit while they start."""
        began = time.monotonic()
        if fault.kind in OF_PROCESSES and not fault.amount:
            awake = {name: program for name, program in self.stage.programs.items() if name not in self._frozen}
            names = fault.target.split("+") if fault.kind != "bereave" else list(awake)
            waiting = [program for name, program in awake.items() if name in names]
            with suppress(TimeoutError):
                async with asyncio.timeout(UP_SECONDS):
                    while waiting := [program for program in waiting if not await program.up()]:
                        await asyncio.sleep(LOOK_SECONDS)
        return time.monotonic() - began

    async def mend(self) -> None:
        """Everything runs, and every way is open."""
        for program in self.stage.programs.values():
            program.signal(signal.SIGCONT)
        for link in self.stage.links.values():
            link.flow()
            link.closed, link.delay = False, 0.0

    async def _one(self, fault: Fault) -> None:
        kinds: Mapping[str, Callable[[Fault], Awaitable[str]]] = {
            "kill": self._kill,
            "kill_two": self._kill,
            "freeze": self._freeze,
            "restart": self._restart,
            "cut": self._cut,
            "hold": self._hold,
            "slow": self._slow,
            "refuse": self._refuse,
            "outage": self._outage,
            "crash": self._crash,
            "stall": self._stall,
            "bereave": self._bereave,
            "rebalance": self._rebalance,
            "redeliver": self._redeliver,
            "join": self._join,
        }
        self.journal.note("fault", **asdict(fault))
        did = await kinds[fault.kind](fault)
        self.counts[fault.kind] += 1
        self.happened.append({**asdict(fault), "did": did})

    async def _kill(self, fault: Fault) -> str:
        hit = [self.stage.programs[name].signal(signal.SIGKILL) for name in fault.target.split("+")]
        self.counts["killed"] += sum(hit)
        return "killed" if any(hit) else "it was down already"

    async def _freeze(self, fault: Fault) -> str:
        """Stopped, and woken as what it was: a zombie that believes in its leases."""
        program = self.stage.programs[fault.target]
        frozen = program.child
        program.signal(signal.SIGSTOP)
        self._frozen.add(program.name)
        if self.ahead:
            await self._set_clock_forward()
        await asyncio.sleep(fault.seconds - self.ahead)
        self._frozen.discard(program.name)
        if frozen is None or frozen is not program.child:
            return "it was killed meanwhile"
        program.signal(signal.SIGCONT)
        return "woke again"

    async def _set_clock_forward(self) -> None:
        database = await asyncpg.connect(self.stage.database)
        try:
            await database.execute(FORWARD, self.ahead)
        finally:
            await database.close()

    async def _restart(self, fault: Fault) -> str:
        return "asked to stop" if self.stage.programs[fault.target].signal(signal.SIGTERM) else "it was down already"

    async def _cut(self, fault: Fault) -> str:
        cut = self.stage.links[fault.target].cut()
        self.counts["connections cut"] += cut
        return f"{cut} connections"

    async def _hold(self, fault: Fault) -> str:
        link = self.stage.links[fault.target]
        link.hold()
        await asyncio.sleep(fault.seconds)
        link.flow()
        return "held"

    async def _slow(self, fault: Fault) -> str:
        link = self.stage.links[fault.target]
        link.delay = fault.amount
        await asyncio.sleep(fault.seconds)
        link.delay = 0.0
        return "slowed"

    async def _refuse(self, fault: Fault) -> str:
        link = self.stage.links[fault.target]
        link.closed = True
        cut = link.cut()
        self.counts["connections cut"] += cut
        await asyncio.sleep(fault.seconds)
        link.closed = False
        return f"{cut} connections, and none anew"

    async def _outage(self, fault: Fault) -> str:
        """A server goes away for a while; who needs it should say so."""
        server = self.stage.servers[fault.target]
        await (server.kill() if fault.amount else server.stop())
        unready = await self._unready(fault)
        await server.start()
        return f"not ready meanwhile: {', '.join(unready) or 'nobody'}"

    async def _crash(self, fault: Fault) -> str:
        server = self.stage.servers[fault.target]
        await server.kill()
        await asyncio.sleep(fault.seconds)
        await server.start()
        return "came back"

    async def _stall(self, fault: Fault) -> str:
        server = self.stage.servers[fault.target]
        await server.pause()
        unready = await self._unready(fault)
        await server.resume()
        return f"not ready meanwhile: {', '.join(unready) or 'nobody'}"

    async def _bereave(self, fault: Fault) -> str:
        """The platform loses a server that it runs itself."""
        with suppress(FileNotFoundError):
            await self.stage.servers[fault.target].kill()
        return "killed"

    async def _rebalance(self, fault: Fault) -> str:
        """Another member takes its share of every group, handles none of it, and leaves, or dies without a word."""
        taken = await self._intrude(fault, rewind=0)
        return f"took {taken[0]} partitions"

    async def _redeliver(self, fault: Fault) -> str:
        """The same, and the partitions that it took are read again from further back."""
        taken, back = await self._intrude(fault, rewind=int(fault.amount))
        self.counts["redelivered"] += back
        return f"took {taken} partitions and set them back by {back} records"

    async def _join(self, fault: Fault) -> str:
        """Another member joins a consumer group of Kafka, is given its share, handles none of it, and leaves."""
        topics = [topic.name for topic in TOPICS.values() if fault.target in topic.consumers]
        consumer = AIOKafkaConsumer(
            *topics,
            bootstrap_servers=f"127.0.0.1:{self.stage.servers['kafka'].end}",
            group_id=fault.target,
            enable_auto_commit=False,
            partition_assignment_strategy=(type("Sticky", (StickyPartitionAssignor,), {}),),
        )
        taken = 0
        # Kafka may be away just now: then there is no group to join.
        with suppress(KafkaError, OSError, TimeoutError):
            async with asyncio.timeout(JOIN_SECONDS):
                await consumer.start()
            await asyncio.sleep(fault.seconds)
            taken = len(consumer.assignment())
        with suppress(KafkaError, OSError, TimeoutError):
            async with asyncio.timeout(JOIN_SECONDS):
                await consumer.stop()
        return f"took {taken} partitions"

    async def _intrude(self, fault: Fault, *, rewind: int) -> tuple[int, int]:
        member, until = f"ghost-{fault.at}", time.monotonic() + fault.seconds
        taken = back = 0
        # Postgres may be away just now: then there is nothing to intrude into.
        with suppress(*SILENCE):
            database = await asyncpg.connect(self.stage.database, timeout=5, command_timeout=20)
            try:
                groups = await database.fetchval("select array_agg(distinct grp) from bus.partitions")
                while time.monotonic() < until:
                    rows = await database.fetch("select * from bus.own($1, $2, $3)", groups, member, OWNED_SECONDS)
                    taken = len(rows)
                    await asyncio.sleep(OWN_EVERY_SECONDS)
                if rewind:
                    back = int(await database.fetchval(REWIND, member, rewind))
                if fault.amount:
                    await database.execute("select bus.leave($1, $2)", groups, member)
            finally:
                database.terminate()
        return taken, back

    async def _unready(self, fault: Fault) -> Sequence[str]:
        """Who has said, while a server was away, that it is not ready, in so many words or by saying nothing."""
        until, said = time.monotonic() + fault.seconds, set[str]()
        programs = list(self.stage.programs.values())
        while time.monotonic() < until:
            answers = await asyncio.gather(*(program.ready() for program in programs))
            said |= {program.name for program, ready in zip(programs, answers, strict=True) if not ready}
            await asyncio.sleep(TELL_SECONDS)
        for name in self.stage.profile.users(fault.target):
            if name not in said:
                self.untrue.append(f"{name} said that it was ready while {fault.target} was away for {fault.seconds} s")
        return sorted(said)
