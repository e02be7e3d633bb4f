"""The relay: committed events are sent in order, whatever the outlet does; a blocked partition delays no other."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
import pytest_asyncio

from libs import ids
from libs.bus import relay as relaying
from libs.bus.log import declare
from libs.bus.ports import Record
from libs.bus.postgres import PostgresBus
from libs.bus.relay import RELAY, Relay, Route
from libs.changes import Cause, Changeset
from libs.changes.writer import WriterHooks
from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import RememberRequested
from libs.events.topics import MEMORY_EVENTS, TOPICS, Topic
from libs.runtime.host import host
from libs.runtime.platform import Platform, nowhere
from tests import infrastructure
from tests.conformance.bus.adapters import Greedy

TOPIC = MEMORY_EVENTS.name
WITHIN = 60.0


class Broken(Exception):
    """An outlet that raises an unexpected error."""


@dataclass
class FakeOutlet:
    """An outlet that stores, refuses or delays events, by partition."""

    kept: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    sends: int = 0
    safe: int = 0
    refusing: set[int] = field(default_factory=set)
    holding: dict[int, asyncio.Event] = field(default_factory=dict)
    broken: bool = False
    telling: bool = True
    """Whether it reports positions."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def declare(self, topics: Sequence[Topic]) -> None: ...

    async def close(self) -> None: ...

    async def send(self, records: Sequence[Record], *, safe: int) -> int | None:
        self.asked.set()
        if self.broken:
            raise Broken
        part = records[0].part
        if part in self.holding:
            await self.holding[part].wait()
        if part in self.refusing:
            raise Unavailable
        first = len(self.kept[part])
        self.kept[part].extend(record.event_id for record in records)
        self.sends += 1
        self.safe = safe
        return first if self.telling else None

    async def until_asked(self) -> None:
        async with asyncio.timeout(WITHIN):
            await self.asked.wait()

    async def until(self, count: int) -> None:
        """Wait until so many events are stored."""
        async with asyncio.timeout(WITHIN):
            while sum(map(len, self.kept.values())) < count:
                await asyncio.sleep(0.01)


@dataclass
class Yard:
    """A log, and relays that send it to one outlet."""

    platform: Platform
    outlet: FakeOutlet = field(default_factory=FakeOutlet)
    told: list[tuple[list[str], int]] = field(default_factory=list)

    def carried(self, records: Sequence[Record], *, first: int, safe: int) -> None:
        self.told.append(([record.event_id for record in records], first))

    @asynccontextmanager
    async def relay(self, outlet: FakeOutlet | None = None) -> AsyncIterator[Relay]:
        """Run a relay that owns every partition regardless of other members, without a service."""
        log = Greedy(PostgresBus(self.platform.database, ids.new(), scan=infrastructure.SCAN_SECONDS))
        route, groups = Route(log, outlet or self.outlet), MEMORY_EVENTS.consumers
        relay = Relay(route, nowhere, groups=groups, carried=self.carried, own_every=0.05, flush_every=0.02)
        tasks = [asyncio.ensure_future(part()) for part in relay.parts().values()]
        await relay.reader.ready.wait()
        try:
            yield relay
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await relay.close()

    async def say(self, *names: str, key: str = "k") -> list[str]:
        """Publish these events; return their ids."""
        cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=f"t1:{key}")
        events = [RememberRequested(memory_id=name, kind="fact", text="", user="u") for name in names]
        return [
            record.event_id for record in (await self.platform.writer.apply(Changeset(cause).emit(*events))).records
        ]

    def deliver(self, to: Callable[[Sequence[Record]], None]) -> None:
        self.platform.writer.hooks = WriterHooks(deliver=lambda records, left: to(records))

    async def say_here(self, relay: Relay, *names: str, key: str = "k") -> list[str]:
        """Publish these events in the relay's own process, whose consumers receive them at once."""
        self.deliver(lambda records: relay.enqueue(records, {record.event_id for record in records}))
        return await self.say(*names, key=key)

    async def behind(self) -> Mapping[tuple[str, str], int]:
        return await self.platform.bus.lag([RELAY])

    async def caught_up(self) -> None:
        async with asyncio.timeout(WITHIN):
            while any((await self.behind()).values()):
                await asyncio.sleep(0.02)


@pytest_asyncio.fixture(loop_scope="session")
async def yard(where: Dsns) -> AsyncIterator[Yard]:
    async with infrastructure.platform(where) as platform:
        await declare(platform.database, list(TOPICS.values()), {RELAY: list(TOPICS)})
        writing = asyncio.ensure_future(platform.writer.run())
        yield Yard(platform)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


def part_of(key: str) -> int:
    return MEMORY_EVENTS.partition_of(f"t1:{key}")


def elsewhere(key: str) -> str:
    """Return a key of another partition."""
    return next(other for other in map(str, range(100)) if part_of(other) != part_of(key))


@pytest.mark.requirement("A11")
async def test_records_committed_without_a_relay_are_sent_in_order(yard: Yard) -> None:
    said = [id for number in range(5) for id in await yard.say(str(number))]
    async with yard.relay():
        await yard.outlet.until(5)
        await yard.caught_up()
    assert yard.outlet.kept[part_of("k")] == said


@pytest.mark.requirement("A11")
async def test_no_record_overtakes_an_unsent_one(yard: Yard) -> None:
    yard.outlet.refusing = {part_of("k")}
    async with yard.relay():
        said = await yard.say("1")
        await yard.outlet.until_asked()
        said += await yard.say("2", "3")
        assert (await yard.behind())[RELAY, TOPIC] == 3
        yard.outlet.refusing = set()
        await yard.outlet.until(3)
        await yard.caught_up()
    assert yard.outlet.kept[part_of("k")] == said


async def test_a_partition_that_is_stuck_holds_no_other_up(yard: Yard) -> None:
    yard.outlet.holding = {part_of("k"): asyncio.Event()}
    async with yard.relay():
        await yard.say("stuck")
        said = await yard.say("1", "2", key=elsewhere("k"))
        await yard.outlet.until(2)
        assert yard.outlet.kept == {part_of(elsewhere("k")): said}


async def test_offset_advances_only_after_the_outlet_accepts_the_event(yard: Yard) -> None:
    yard.outlet.holding = {part_of("k"): asyncio.Event()}
    async with yard.relay() as relay:
        await yard.say("held")
        await yard.say("1", key=elsewhere("k"))
        await yard.outlet.until(1)
        await relay.reader.flush()
        assert (await yard.behind())[RELAY, TOPIC] == 1


@pytest.mark.requirement("A11", "A18")
async def test_relay_resumed_after_a_takeover_only_repeats_records(yard: Yard) -> None:
    asleep = FakeOutlet(yard.outlet.kept, holding={part_of("k"): asyncio.Event()})
    async with yard.relay(asleep):
        said = await yard.say("1", "2")
        await asleep.until_asked()
        async with yard.relay():
            said += await yard.say("3")
            await yard.outlet.until(3)
            asleep.holding.pop(part_of("k")).set()
            await yard.outlet.until(5)
    kept = yard.outlet.kept[part_of("k")]
    assert kept[:5] == [*said, *said[:2]]
    assert set(kept) == set(said)


async def test_a_late_outlet_is_a_problem_until_it_answers(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.outlet.holding = {part_of("k"): asyncio.Event()}
    async with yard.relay() as relay:
        assert relay.problem is None
        monkeypatch.setattr(relaying, "PATIENCE_SECONDS", -1.0)
        await yard.say("1")
        await yard.outlet.until_asked()
        assert relay.problem is not None
        yard.outlet.holding.pop(part_of("k")).set()
        await yard.caught_up()
        assert relay.problem is None


async def test_crash_of_the_outlet_ends_the_process(yard: Yard) -> None:
    yard.outlet.broken = True
    platform = replace(yard.platform, route=Route(yard.platform.bus, yard.outlet))
    async with host(platform, [], pace=infrastructure.PACE) as running:
        await yard.say("1")
        with pytest.raises(Broken):
            await asyncio.shield(running.failed)


async def test_finish_sends_the_events_of_the_last_changesets(yard: Yard) -> None:
    async with yard.relay() as relay:
        yard.outlet.holding = {part_of("k"): asyncio.Event()}
        said = await yard.say("1", "2")
        finishing = asyncio.ensure_future(relay.finish())
        await asyncio.sleep(0)
        yard.outlet.holding.pop(part_of("k")).set()
        await finishing
    assert yard.outlet.kept[part_of("k")] == said
    assert (await yard.behind())[RELAY, TOPIC] == 0


async def test_each_send_carries_the_position_sent_before(yard: Yard) -> None:
    async with yard.relay():
        await yard.say("1", "2")
        await yard.caught_up()
        await yard.say("3")
        await yard.caught_up()
    assert yard.outlet.safe == 2


async def test_relayed_positions_are_reported_once_known(yard: Yard) -> None:
    async with yard.relay():
        said = await yard.say("1", "2")
        await yard.caught_up()
        later = await yard.say("3")
        await yard.caught_up()
    assert yard.told == [(said, 0), (later, 2)]


async def test_unknown_relayed_positions_are_not_reported(yard: Yard) -> None:
    yard.outlet.telling = False
    async with yard.relay():
        await yard.say("1", "2")
        await yard.caught_up()
    assert yard.told == []


@pytest.fixture
def lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that no other process awaits would linger for ever."""
    monkeypatch.setattr(relaying, "LINGER_SECONDS", 3600.0)


@pytest.mark.usefixtures("lingering")
async def test_locally_running_records_are_sent_with_later_ones(yard: Yard) -> None:
    async with yard.relay() as relay:
        said = await yard.say_here(relay, "1", "2")
        said += await yard.say_here(relay, "3")
        await relay.finish()
    assert (yard.outlet.kept[part_of("k")], yard.outlet.sends) == (said, 1)


async def test_records_in_flight_are_not_sent_again_with_later_ones(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaying, "LINGER_SECONDS", 0.0)
    yard.outlet.holding[part_of("k")] = asyncio.Event()
    async with yard.relay() as relay:
        said = await yard.say("1")
        await yard.outlet.until_asked()
        await yard.say_here(relay, "2", key=elsewhere("k"))
        await yard.outlet.until(1)
        yard.outlet.holding.pop(part_of("k")).set()
        await yard.outlet.until(2)
        said += await yard.say_here(relay, "3")
        await yard.outlet.until(3)
    assert (yard.outlet.kept[part_of("k")], yard.outlet.sends) == (said, 3)


@pytest.mark.usefixtures("lingering")
async def test_records_arriving_during_a_send_linger_too(yard: Yard) -> None:
    yard.outlet.holding[part_of("k")] = asyncio.Event()
    async with yard.relay() as relay:
        said = await yard.say("1")
        await yard.outlet.until_asked()
        said += await yard.say_here(relay, "2", "3")
        yard.outlet.holding.pop(part_of("k")).set()
        await yard.outlet.until(1)
        said += await yard.say_here(relay, "4")
        await relay.finish()
    assert (yard.outlet.kept[part_of("k")], yard.outlet.sends) == (said, 2)


@pytest.mark.usefixtures("lingering")
async def test_awaited_records_do_not_linger_behind_a_send(yard: Yard) -> None:
    yard.outlet.holding[part_of("k")] = asyncio.Event()
    async with yard.relay() as relay:
        said = await yard.say_here(relay, "1")
        yard.deliver(lambda records: relay.enqueue(records, ()))
        said += await yard.say("2")
        await yard.outlet.until_asked()
        said += await yard.say_here(relay, "3")
        yard.deliver(lambda records: relay.enqueue(records, ()))
        said += await yard.say("4")
        yard.outlet.holding.pop(part_of("k")).set()
        await yard.outlet.until(4)
    assert (yard.outlet.kept[part_of("k")], yard.outlet.sends) == (said, 2)


@pytest.mark.usefixtures("lingering")
async def test_awaited_record_is_sent_at_once_after_lingering_ones(yard: Yard) -> None:
    async with yard.relay() as relay:
        said = await yard.say_here(relay, "1")
        yard.deliver(lambda records: relay.enqueue(records, ()))
        said += await yard.say("2")
        await yard.outlet.until(2)
    assert yard.outlet.kept[part_of("k")] == said
