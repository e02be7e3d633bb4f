"""Handoff beside a transport: whatever comes first, each key goes in the log's order, and no offset passes what is not
done."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.bus.handoff import EARLY_MOST, OWED_MOST
from libs.bus.ports import Logged, Record
from libs.bus.reader import Tail


def said(position: int, key: str = "t:k") -> Record:
    """As our writer has it."""
    return Record("topic", 0, position, f"e{position}", key.partition(":")[0], key, "type", {}, b"{}")


@dataclass
class Desk:
    """Takes all that a tail has for it."""

    tail: Tail
    taken: list[Record] = field(default_factory=list)
    waiting: list[Record] = field(default_factory=list)
    """Taken, and not done."""

    def hand(self, *positions: int) -> None:
        for position in positions:
            self.offer(said(position))

    def bring(self, offset: int, position: int, *, safe: int | None = None) -> None:
        logged = Logged(position, position - 1 if safe is None else safe)
        self.keep(replace(said(position), position=offset, logged=logged))

    def tell(self, offset: int, position: int, *, safe: int | None = None) -> None:
        """Our relay has carried it there."""
        self.told(said(position), offset, position - 1 if safe is None else safe)

    def told(self, record: Record, offset: int, safe: int) -> None:
        self.tail.told(record, offset, safe=safe)
        self._take()

    def offer(self, record: Record) -> None:
        self.tail.handoff.offer(record)
        self._take()

    def keep(self, record: Record) -> None:
        self.tail.keep(record)
        self._take()

    def _take(self) -> None:
        while (early := self.tail.handoff.next()) is not None:
            self.tail.take(early)
        while (record := self.tail.next()) is not None:
            self.taken.append(record)
            self.waiting.append(record)

    @property
    def ids(self) -> list[str]:
        return [record.event_id for record in self.taken]


@pytest.fixture
def desk() -> Desk:
    return Desk(Tail(after=-1))


def test_nothing_comes_from_the_hand_until_the_transport_has_told_where_it_stands(desk: Desk) -> None:
    desk.hand(4)
    desk.bring(0, 3)
    desk.hand(5)
    assert desk.ids == ["e3"]
    desk.bring(1, 4)
    assert desk.ids == ["e3", "e4", "e5"]


def test_the_very_next_one_is_taken_and_its_copy_is_not_handled_again(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2, 3)
    desk.bring(1, 2)
    desk.bring(2, 3)
    assert desk.ids == ["e1", "e2", "e3"]


def test_one_beyond_a_gap_waits_for_what_another_process_said_before(desk: Desk) -> None:
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


def test_the_offset_of_a_copy_waits_until_its_record_is_done(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2)
    desk.bring(1, 2)
    desk.tail.done(desk.taken[0])
    assert desk.tail.mark == 0
    desk.tail.done(desk.taken[1])
    assert desk.tail.mark == 1


def test_a_copy_that_a_relay_repeats_before_its_record_is_done_waits_as_well(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(2)
    desk.bring(1, 2)
    desk.bring(2, 2)
    desk.tail.done(desk.taken[0])
    assert (desk.ids, desk.tail.mark) == (["e1", "e2"], 0)
    desk.tail.done(desk.taken[1])
    assert desk.tail.mark == 2


def test_of_what_comes_too_early_no_more_is_kept_than_allowed(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(*range(3, 2 * EARLY_MOST))
    desk.bring(1, 2)
    assert desk.tail.in_hand == 2 + EARLY_MOST


def test_while_the_transport_is_away_the_hand_stops_as_well(desk: Desk) -> None:
    desk.bring(0, 1)
    for position in range(2, 2 * OWED_MOST):
        desk.hand(position)
        for record in desk.taken[len(desk.taken) - 1 :]:
            desk.tail.done(record)
    assert len(desk.taken) == 1 + OWED_MOST


def test_a_log_that_was_set_back_is_followed_from_where_it_stands(desk: Desk) -> None:
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
    assert (desk.ids, desk.tail.after, desk.tail.mark) == (["e1", "e2"], 1, 1)


def test_what_our_relay_has_carried_tells_where_the_log_stands_as_well(desk: Desk) -> None:
    desk.tell(0, 3)
    desk.hand(4)
    assert desk.ids == ["e3", "e4"]


def test_a_copy_that_our_relay_has_carried_behind_another_s_comes_after_that(desk: Desk) -> None:
    desk.bring(0, 1)
    desk.hand(3)
    desk.tell(2, 3)
    assert desk.ids == ["e1"]
    desk.bring(1, 2)
    desk.bring(2, 3)
    assert (desk.ids, desk.tail.after) == (["e1", "e2", "e3"], 2)


def test_one_that_our_relay_has_carried_before_it_was_handed_over_is_taken_once(desk: Desk) -> None:
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
    assert (desk.ids, desk.tail.mark) == (["e1", "e2"], 0)


@dataclass
class Story:
    """A partition of the log, of which relays carry copies to a transport; and one who reads that from `start`, and is
    told of some copies where they stand."""

    start: int
    log: list[Record] = field(default_factory=list)
    carried: list[Record] = field(default_factory=list)
    sent: set[int] = field(default_factory=set)
    untold: list[tuple[Record, int, int]] = field(default_factory=list)
    """Of our own relay: the record, where it stands, and what was safe before it."""
    done: set[str] = field(default_factory=set)
    desk: Desk | None = None

    def say(self, key: str, *, ours: bool) -> None:
        record = said(len(self.log) + 1, key)
        self.log.append(record)
        if ours and self.desk is not None:
            self.desk.offer(record)

    def carry(self, tenant: int) -> None:
        """Our relay's next: of that tenant, or any."""
        left = [record for record in self.log if record.position not in self.sent]
        mine = [record for record in left if record.tenant == f"t{tenant}"] or left
        if mine:
            self.untold.append((mine[0], len(self.carried), self.safe))
            self._put(mine[0], self.safe)
            self.sent.add(mine[0].position)

    def tell(self) -> None:
        """The transport has answered our relay."""
        if self.untold:
            told = self.untold.pop(0)
            if self.desk is not None:
                self.desk.told(*told)

    def repeat(self, count: int) -> None:
        """Another relay begins a little before."""
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
            # Who had it before has done all up to there.
            self.done = {record.event_id for record in self.carried[: self.start]}
            self.desk = Desk(Tail(after=self.start - 1))
        elif self.desk is not None and self.desk.tail.after + 1 < len(self.carried):
            self.desk.keep(self.carried[self.desk.tail.after + 1])

    def finish(self, which: int) -> None:
        if self.desk is not None and (waiting := self.desk.waiting):
            record = waiting.pop(which % len(waiting))
            self.desk.tail.done(record)
            self.done.add(record.event_id)

    def check(self) -> None:
        """No key out of order; no offset beyond what is done."""
        assert self.desk is not None
        met: dict[str, list[int]] = defaultdict(list)
        for record in [*self.carried[: self.start], *self.desk.taken]:
            at = int(record.event_id[1:])
            if at not in met[record.key]:
                met[record.key].append(at)
        for key, order in met.items():
            assert order == [record.position for record in self.log if record.key == key][: len(order)]
        assert {record.event_id for record in self.carried[: self.desk.tail.mark + 1]} <= self.done


acts = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(["t0:a", "t0:b", "t1:a"]), st.booleans()),
    st.tuples(st.just("carry"), st.integers(0, 1)),
    st.tuples(st.just("bring")),
    st.tuples(st.just("tell")),
    st.tuples(st.just("finish"), st.integers(0, 9)),
    st.tuples(st.just("repeat"), st.integers(0, 4)),
)


@pytest.mark.requirement("A16")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 3), st.lists(acts, min_size=30, max_size=100))
def test_in_any_story_each_key_goes_in_the_log_s_order_and_all_is_met(
    start: int, acts: list[tuple[object, ...]]
) -> None:
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
    assert story.desk.tail.mark == len(story.carried) - 1
