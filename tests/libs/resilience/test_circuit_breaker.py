"""The breaker: it opens after consecutive failures, pauses, admits one call, and follows its result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from libs.resilience import Breaker, Rules, State
from tests.libs.resilience.steps import opened

RULES = Rules(failures=3, rest=15.0)


def test_consecutive_failures_open_it_and_an_answer_resets_them() -> None:
    breaker = Breaker(RULES)
    for _ in range(2):
        breaker = breaker.failed(0, 0.0)
    breaker = breaker.answered(0).failed(0, 1.0).failed(0, 1.0)
    assert breaker.state is State.CLOSED
    assert breaker.failed(0, 2.0).state is State.OPEN


def test_open_circuit_admits_one_call_after_its_pause() -> None:
    breaker = opened(RULES, at=10.0)
    assert breaker.admitted(24.9) is None
    assert breaker.wait(20.0) == 5.0
    probing = breaker.admitted(25.0)
    assert probing is not None
    assert probing.state is State.HALF_OPEN
    assert probing.admitted(25.0) is None


def test_probe_closes_or_reopens_the_circuit() -> None:
    probing = opened(RULES, at=0.0).admitted(15.0)
    assert probing is not None
    assert probing.answered(probing.generation).state is State.CLOSED
    again = probing.failed(probing.generation, 16.0)
    assert (again.state, again.wait(16.0)) == (State.OPEN, 15.0)


def test_abandoned_probe_lets_another_call_probe() -> None:
    probing = opened(RULES, at=0.0).admitted(15.0)
    assert probing is not None
    assert probing.withdrawn(probing.generation).admitted(15.0) is not None


def test_call_started_before_the_opening_changes_nothing() -> None:
    probing = opened(RULES, at=0.0).admitted(15.0)
    assert probing is not None
    assert probing.failed(0, 15.0) == probing
    assert probing.answered(0) == probing


def test_open_circuit_admits_a_probe_at_once_on_request() -> None:
    assert opened(RULES, at=0.0).probed_now().admitted(0.1) is not None
    assert Breaker(RULES).probed_now().state is State.CLOSED


@given(st.lists(st.booleans(), max_size=30))
def test_closed_circuit_opens_exactly_at_the_failure_limit(answers: list[bool]) -> None:
    breaker, run = Breaker(RULES), 0
    for ok in answers:
        run = 0 if ok else run + 1
        breaker = breaker.answered(0) if ok else breaker.failed(0, 0.0)
        if run == RULES.failures:
            assert breaker.state is State.OPEN
            return
        assert breaker.state is State.CLOSED


class Life(RuleBasedStateMachine):
    """Calls that begin, end and are cancelled at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker, self.now, self.calls = Breaker(RULES), 0.0, list[int]()

    @rule(seconds=st.floats(0, 20))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def a_call_begins(self) -> None:
        before = self.breaker
        admitted = before.admitted(self.now)
        if admitted is not None:
            assert before.state is State.CLOSED or not before.probing
            self.breaker = admitted
            self.calls.append(admitted.generation)

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), how=st.sampled_from(["answered", "failed", "withdrawn"]))
    def a_call_ends(self, data: st.DataObject, how: str) -> None:
        era = self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1)))
        match how:
            case "answered":
                self.breaker = self.breaker.answered(era)
            case "failed":
                self.breaker = self.breaker.failed(era, self.now)
            case _:
                self.breaker = self.breaker.withdrawn(era)

    @rule()
    def it_is_seen_to_answer(self) -> None:
        self.breaker = self.breaker.probed_now()

    @invariant()
    def a_probe_is_under_way_only_half_open_and_only_one(self) -> None:
        ours = self.calls.count(self.breaker.generation)
        if self.breaker.state is State.HALF_OPEN:
            assert ours == int(self.breaker.probing)
        else:
            assert not self.breaker.probing

    @invariant()
    def it_never_stays_shut_for_ever(self) -> None:
        if not self.breaker.probing:
            assert self.breaker.admitted(self.now + RULES.rest) is not None


TestLife = Life.TestCase
