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
class Desk:
    """Takes every record that local delivery offers."""

    tail: PartitionCursor
    taken: list[Record] = field(default_factory=list)
    waiting: list[Record] = field(default_factory=list)
    """Records that were taken and are not done."""

    def hand(self, *positions: int) -> None:
        for position in positions:
            self.offer(said(position))

    def bring(self, offset: int, position: int, *, safe: int | None = None) -> None:
        logged = Logged(position, position - 1 if safe is None else safe)
        self.keep(replace(said(position), position=offset, logged=logged))

    def tell(self, offset: int, position: int, *, safe: int | None = None) -> None:
        """Report that our relay sent the record to this position."""
        self.told(said(position), offset, position - 1 if safe is None else safe)

    def told(self, record: Record, offset: int, safe: int) -> None:
        self.tail.observe_relayed(record, offset, safe=safe)
        self._take()

    def offer(self, record: Record) -> None:
        self.tail.local_delivery.offer(record)
        self._take()

    def keep(self, record: Record) -> None:
        self.tail.keep(record)
        self._take()

    def _take(self) -> None:
        while (early := self.tail.local_delivery.next()) is not None:
            self.tail.take(early)
        while (record := self.tail.next()) is not None:
            self.taken.append(record)
            self.waiting.append(record)

    @property
    def ids(self) -> list[str]:
        return [record.event_id for record in self.taken]


@pytest.fixture
def desk() -> Desk:
    return Desk(PartitionCursor(after=-1))


def test_local_delivery_waits_for_the_transports_first_position(desk: Desk) -> None:
    desk.hand(4)
    desk.bring(0, 3)
    desk.hand(5)
    assert desk.ids == ["e3"]
    desk.bring(1, 4)
    assert desk.ids == ["e3", "e4", "e5"]


def test_next_local_record_is_taken_and_its_copy_skipped(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2, 3)
    desk.bring(1, 2)
    desk.bring(2, 3)
    assert desk.ids == ["e1", "e2", "e3"]


def test_local_record_beyond_a_gap_waits_for_earlier_ones(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(3)
    assert desk.ids == ["e1"]
    desk.bring(1, 2)
    assert desk.ids == ["e1", "e2", "e3"]


def test_one_that_the_transport_brings_first_is_taken_once(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(3)
    desk.bring(1, 2, safe=0)
    desk.bring(2, 3, safe=0)
    desk.hand(2, 3)
    assert desk.ids == ["e1", "e2", "e3"]


def test_offset_of_a_copy_waits_until_its_record_is_done(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2)
    desk.bring(1, 2)
    desk.tail.done(desk.taken[0])
    assert desk.tail.low_watermark == 0
    desk.tail.done(desk.taken[1])
    assert desk.tail.low_watermark == 1


def test_repeated_copy_waits_until_its_record_is_done(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2)
    desk.bring(1, 2)
    desk.bring(2, 2)
    desk.tail.done(desk.taken[0])
    assert (desk.ids, desk.tail.low_watermark) == (["e1", "e2"], 0)
    desk.tail.done(desk.taken[1])
    assert desk.tail.low_watermark == 2


def test_early_local_records_are_kept_up_to_a_limit(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(*range(3, 2 * EARLY_MOST))
    desk.bring(1, 2)
    assert desk.tail.unfinished == 2 + EARLY_MOST


def test_while_the_transport_is_away_the_hand_stops_as_well(desk: Desk) -> None:
    desk.bring(0, 1)
    for position in range(2, 2 * PENDING_MOST):
        desk.hand(position)
        for record in desk.taken[len(desk.taken) - 1 :]:
            desk.tail.done(record)
    assert len(desk.taken) == 1 + PENDING_MOST


def test_reset_log_is_followed_from_its_new_position(desk: Desk) -> None:
    desk.bring(0, 100)
    desk.hand(102)
    desk.keep(replace(said(7), event_id="anew", position=1, logged=Logged(7, 6)))
    desk.bring(2, 101)
    assert desk.ids == ["e100", "anew", "e101"]


def test_a_copy_that_our_relay_has_carried_need_not_come(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2)
    desk.tell(1, 2)
    for record in desk.taken:
        desk.tail.done(record)
    assert (desk.ids, desk.tail.after, desk.tail.low_watermark) == (["e1", "e2"], 1, 1)


def test_relayed_record_reveals_the_position_of_the_log(desk: Desk) -> None:
    desk.tell(0, 3)
    desk.hand(4)
    assert desk.ids == ["e3", "e4"]


def test_relayed_copy_waits_for_another_processs_earlier_record(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(3)
    desk.tell(2, 3)
    assert desk.ids == ["e1"]
    desk.bring(1, 2)
    desk.bring(2, 3)
    assert (desk.ids, desk.tail.after) == (["e1", "e2", "e3"], 2)


def test_record_relayed_before_its_local_delivery_is_taken_once(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.tell(1, 2)
    desk.hand(2, 3)
    assert desk.ids == ["e1", "e2", "e3"]


def test_a_relay_of_ours_that_repeats_itself_is_known_again(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2)
    desk.tell(1, 2)
    desk.tell(2, 2)
    desk.tail.done(desk.taken[0])
    assert (desk.ids, desk.tail.low_watermark) == (["e1", "e2"], 0)


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
    desk: Desk | None = None

    def say(self, key: str, *, ours: bool) -> None:
        record = said(len(self.log) + 1, key)
        self.log.append(record)
        if ours and self.desk is not None:
            self.desk.offer(record)

    def carry(self, tenant: int) -> None:
        """Return our relay's next record, of this tenant or any."""
        left = [record for record in self.log if record.position not in self.sent]
        mine = [record for record in left if record.tenant == f"t{tenant}"] or left
        if mine:
            self.untold.append((mine[0], len(self.carried), self.safe))
            self._put(mine[0], self.safe)
            self.sent.add(mine[0].position)

    def tell(self) -> None:
        """Acknowledge a copy to our relay."""
        if self.untold:
            told = self.untold.pop(0)
            if self.desk is not None:
                self.desk.told(*told)

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

    def bring(self) -> None:
        if self.desk is None and len(self.carried) >= self.start:
            # Take the partition over from an owner that handled everything up to here.
            self.done = {record.event_id for record in self.carried[: self.start]}
            self.desk = Desk(PartitionCursor(after=self.start - 1))
        elif self.desk is not None and self.desk.tail.after + 1 < len(self.carried):
            self.desk.keep(self.carried[self.desk.tail.after + 1])

    def finish(self, which: int) -> None:
        if self.desk is not None and (waiting := self.desk.waiting):
            record = waiting.pop(which % len(waiting))
            self.desk.tail.done(record)
            self.done.add(record.event_id)

    def check(self) -> None:
        """Check that keys are in order and that no offset passes an unfinished record."""
        assert self.desk is not None
        met: dict[str, list[int]] = defaultdict(list)
        for record in [*self.carried[: self.start], *self.desk.taken]:
            at = int(record.event_id[1:])
            if at not in met[record.key]:
                met[record.key].append(at)
        for key, order in met.items():
            assert order == [record.position for record in self.log if record.key == key][: len(order)]
        assert {record.event_id for record in self.carried[: self.desk.tail.low_watermark + 1]} <= self.done


acts = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(["t0:a", "t0:b", "t1:a"]), st.booleans()),
    st.tuples(st.just("carry"), st.integers(0, 1)),
    st.tuples(st.just("bring")),
    st.tuples(st.just("tell")),
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
            case (("carry" | "finish" | "repeat" | "bring" | "tell"), numbers):
                getattr(story, str(name))(*numbers)
        if story.desk is not None:
            story.check()
    for _ in range(start + 1):
        story.say("t0:a", ours=False)
    for _ in range(4 * len(story.log) + 300):
        story.carry(0)
        story.bring()
        story.finish(0)
    story.check()
    assert story.done == {record.event_id for record in story.log}
    assert story.desk is not None
    assert story.desk.tail.low_watermark == len(story.carried) - 1
