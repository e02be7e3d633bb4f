"""Local delivery beside a transport: each key stays in log order, and no offset passes an unfinished record."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.bus.local_delivery import EARLY_MOST, PENDING_MOST
from libs.bus.ports import Logged, Record
from libs.bus.reader import PartitionCursor
from tests.support.examples import examples


def said(position: int, key: str = "t:k") -> Record:
    """Return a record as our writer delivers it."""
    return Record("topic", 0, position, f"e{position}", key.partition(":")[0], key, "type", {}, b"{}")


@dataclass
class Receiver:
    """Takes every record that local delivery offers."""

    cursor: PartitionCursor
    taken: list[Record] = field(default_factory=list)
    waiting: list[Record] = field(default_factory=list)
    """Records that were taken and are not done."""

    def deliver(self, *positions: int) -> None:
        for position in positions:
            self.offer(said(position))

    def fetch(self, offset: int, position: int, *, safe: int | None = None) -> None:
        logged = Logged(position, position - 1 if safe is None else safe)
        self.keep(replace(said(position), position=offset, logged=logged))

    def relay(self, offset: int, position: int, *, safe: int | None = None) -> None:
        """Report that our relay sent the record to this position."""
        self.observe_relayed(said(position), offset, position - 1 if safe is None else safe)

    def observe_relayed(self, record: Record, offset: int, safe: int) -> None:
        self.cursor.observe_relayed(record, offset, safe=safe)
        self._take()

    def offer(self, record: Record) -> None:
        self.cursor.local_delivery.offer(record)
        self._take()

    def keep(self, record: Record) -> None:
        self.cursor.keep(record)
        self._take()

    def _take(self) -> None:
        while (early := self.cursor.local_delivery.next()) is not None:
            self.cursor.take(early)
        while (record := self.cursor.next()) is not None:
            self.taken.append(record)
            self.waiting.append(record)

    @property
    def ids(self) -> list[str]:
        return [record.event_id for record in self.taken]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver(PartitionCursor(after=-1))


def test_local_delivery_waits_for_the_transports_first_position(receiver: Receiver) -> None:
    receiver.deliver(4)
    receiver.fetch(0, 3)
    receiver.deliver(5)
    assert receiver.ids == ["e3"]
    receiver.fetch(1, 4)
    assert receiver.ids == ["e3", "e4", "e5"]


def test_next_local_record_is_taken_and_its_copy_skipped(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(2, 3)
    receiver.fetch(1, 2)
    receiver.fetch(2, 3)
    assert receiver.ids == ["e1", "e2", "e3"]


def test_local_record_beyond_a_gap_waits_for_earlier_ones(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(3)
    assert receiver.ids == ["e1"]
    receiver.fetch(1, 2)
    assert receiver.ids == ["e1", "e2", "e3"]


def test_one_that_the_transport_brings_first_is_taken_once(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(3)
    receiver.fetch(1, 2, safe=0)
    receiver.fetch(2, 3, safe=0)
    receiver.deliver(2, 3)
    assert receiver.ids == ["e1", "e2", "e3"]


def test_offset_of_a_copy_waits_until_its_record_is_done(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(2)
    receiver.fetch(1, 2)
    receiver.cursor.done(receiver.taken[0])
    assert receiver.cursor.low_watermark == 0
    receiver.cursor.done(receiver.taken[1])
    assert receiver.cursor.low_watermark == 1


def test_repeated_copy_waits_until_its_record_is_done(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(2)
    receiver.fetch(1, 2)
    receiver.fetch(2, 2)
    receiver.cursor.done(receiver.taken[0])
    assert (receiver.ids, receiver.cursor.low_watermark) == (["e1", "e2"], 0)
    receiver.cursor.done(receiver.taken[1])
    assert receiver.cursor.low_watermark == 2


def test_early_local_records_are_kept_up_to_a_limit(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(*range(3, 2 * EARLY_MOST))
    receiver.fetch(1, 2)
    assert receiver.cursor.unfinished == 2 + EARLY_MOST


def test_local_delivery_pauses_while_the_transport_is_away(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    for position in range(2, 2 * PENDING_MOST):
        receiver.deliver(position)
        for record in receiver.taken[len(receiver.taken) - 1 :]:
            receiver.cursor.done(record)
    assert len(receiver.taken) == 1 + PENDING_MOST


def test_reset_log_is_followed_from_its_new_position(receiver: Receiver) -> None:
    receiver.fetch(0, 100)
    receiver.deliver(102)
    receiver.keep(replace(said(7), event_id="anew", position=1, logged=Logged(7, 6)))
    receiver.fetch(2, 101)
    assert receiver.ids == ["e100", "anew", "e101"]


def test_relayed_copy_is_not_awaited_from_the_transport(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(2)
    receiver.relay(1, 2)
    for record in receiver.taken:
        receiver.cursor.done(record)
    assert (receiver.ids, receiver.cursor.after, receiver.cursor.low_watermark) == (["e1", "e2"], 1, 1)


def test_relayed_record_reveals_the_position_of_the_log(receiver: Receiver) -> None:
    receiver.relay(0, 3)
    receiver.deliver(4)
    assert receiver.ids == ["e3", "e4"]


def test_relayed_copy_waits_for_another_processs_earlier_record(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(3)
    receiver.relay(2, 3)
    assert receiver.ids == ["e1"]
    receiver.fetch(1, 2)
    receiver.fetch(2, 3)
    assert (receiver.ids, receiver.cursor.after) == (["e1", "e2", "e3"], 2)


def test_record_relayed_before_its_local_delivery_is_taken_once(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.relay(1, 2)
    receiver.deliver(2, 3)
    assert receiver.ids == ["e1", "e2", "e3"]


def test_repeated_relay_of_a_record_is_recognised(receiver: Receiver) -> None:
    receiver.fetch(0, 1)
    receiver.deliver(2)
    receiver.relay(1, 2)
    receiver.relay(2, 2)
    receiver.cursor.done(receiver.taken[0])
    assert (receiver.ids, receiver.cursor.low_watermark) == (["e1", "e2"], 0)


@dataclass
class Story:
    """A log partition that relays copy to a transport, and a reader of the transport from `start` that learns the
    positions of some copies.
    """

    start: int
    log: list[Record] = field(default_factory=list)
    carried: list[Record] = field(default_factory=list)
    sent: set[int] = field(default_factory=set)
    untold: list[tuple[Record, int, int]] = field(default_factory=list)
    """Copies by our relay: the record, its position, and the safe position before it."""
    done: set[str] = field(default_factory=set)
    receiver: Receiver | None = None

    def say(self, key: str, *, ours: bool) -> None:
        record = said(len(self.log) + 1, key)
        self.log.append(record)
        if ours and self.receiver is not None:
            self.receiver.offer(record)

    def carry(self, tenant: int) -> None:
        """Return our relay's next record, of this tenant or any."""
        left = [record for record in self.log if record.position not in self.sent]
        mine = [record for record in left if record.tenant == f"t{tenant}"] or left
        if mine:
            self.untold.append((mine[0], len(self.carried), self.safe))
            self._put(mine[0], self.safe)
            self.sent.add(mine[0].position)

    def relay(self) -> None:
        """Acknowledge a copy to our relay."""
        if self.untold:
            told = self.untold.pop(0)
            if self.receiver is not None:
                self.receiver.observe_relayed(*told)

    def repeat(self, count: int) -> None:
        """Let another relay repeat a few records."""
        begin = max(0, self.safe - count)
        for record in self.log[begin : self.safe]:
            self._put(record, begin)

    @property
    def safe(self) -> int:
        return next((n for n in range(len(self.log)) if n + 1 not in self.sent), len(self.log))

    def _put(self, record: Record, safe: int) -> None:
        logged = Logged(record.position, safe)
        self.carried.append(replace(record, position=len(self.carried), logged=logged))

    def fetch(self) -> None:
        if self.receiver is None and len(self.carried) >= self.start:
            # Take the partition over from an owner that handled everything up to here.
            self.done = {record.event_id for record in self.carried[: self.start]}
            self.receiver = Receiver(PartitionCursor(after=self.start - 1))
        elif self.receiver is not None and self.receiver.cursor.after + 1 < len(self.carried):
            self.receiver.keep(self.carried[self.receiver.cursor.after + 1])

    def finish(self, which: int) -> None:
        if self.receiver is not None and (waiting := self.receiver.waiting):
            record = waiting.pop(which % len(waiting))
            self.receiver.cursor.done(record)
            self.done.add(record.event_id)

    def check(self) -> None:
        """Check that keys are in order and that no offset passes an unfinished record."""
        assert self.receiver is not None
        met: dict[str, list[int]] = defaultdict(list)
        for record in [*self.carried[: self.start], *self.receiver.taken]:
            at = int(record.event_id[1:])
            if at not in met[record.key]:
                met[record.key].append(at)
        for key, order in met.items():
            assert order == [record.position for record in self.log if record.key == key][: len(order)]
        assert {record.event_id for record in self.carried[: self.receiver.cursor.low_watermark + 1]} <= self.done


acts = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(["t0:a", "t0:b", "t1:a"]), st.booleans()),
    st.tuples(st.just("carry"), st.integers(0, 1)),
    st.tuples(st.just("fetch")),
    st.tuples(st.just("relay")),
    st.tuples(st.just("finish"), st.integers(0, 9)),
    st.tuples(st.just("repeat"), st.integers(0, 4)),
)


@pytest.mark.requirement("A16")
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 3), st.lists(acts, min_size=30, max_size=100))
def test_any_interleaving_keeps_key_order_and_delivers_all(start: int, acts: list[tuple[object, ...]]) -> None:
    story = Story(start)
    for name, *arguments in acts:
        match name, arguments:
            case "say", [str(key), bool(ours)]:
                story.say(key, ours=ours)
            case (("carry" | "finish" | "repeat" | "fetch" | "relay"), numbers):
                getattr(story, str(name))(*numbers)
        if story.receiver is not None:
            story.check()
    for _ in range(start + 1):
        story.say("t0:a", ours=False)
    for _ in range(4 * len(story.log) + 300):
        story.carry(0)
        story.fetch()
        story.finish(0)
    story.check()
    assert story.done == {record.event_id for record in story.log}
    assert story.receiver is not None
    assert story.receiver.cursor.low_watermark == len(story.carried) - 1
