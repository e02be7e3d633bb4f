"""Guarded calls: time limits, metrics, an open circuit while nothing answers, and bounded retries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from prometheus_client import REGISTRY

from libs import ids
from libs.errors import Conflict, Rejected, SumaError, Unavailable
from libs.resilience import CallTimedOut, CircuitOpen, GuardedCall, GuardedCalls, Rules, State
from libs.resilience.guarded_call import BUDGET_MOST


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def guard(clock: Clock | None = None, failures: int = 2) -> GuardedCall:
    return GuardedCall(ids.new(), Rules(failures=failures, rest=15.0), seconds=5.0, now=clock or Clock())


def raising(error: BaseException) -> Callable[[], Awaitable[str]]:
    async def ask() -> str:
        raise error

    return ask


async def yes() -> str:
    return "yes"


async def fails(at: GuardedCall, times: int) -> None:
    for _ in range(times):
        with pytest.raises(Unavailable):
            await at.call(raising(Unavailable()))


def counted(at: GuardedCall, result: str) -> float:
    return REGISTRY.get_sample_value("suma_outbound_calls_total", {"dependency": at.name, "result": result}) or 0.0


def shown(at: GuardedCall) -> float | None:
    return REGISTRY.get_sample_value("suma_breaker_state", {"dependency": at.name})


@pytest.mark.requirement("S3-58", "S3-03")
async def test_open_circuit_fails_at_once_with_retry_after_and_metrics() -> None:
    clock = Clock()
    at = guard(clock)
    await fails(at, 2)
    clock.now = 5.0
    with pytest.raises(CircuitOpen) as shut:
        await at.call(yes)
    assert (shut.value.retry_after, shown(at)) == (10.0, 2)
    assert (counted(at, "failed"), counted(at, "rejected"), counted(at, "ok")) == (2, 1, 0)


async def test_successful_call_after_the_pause_closes_the_circuit() -> None:
    clock = Clock()
    at = guard(clock)
    await fails(at, 2)
    clock.now = 15.0
    assert await at.call(yes) == "yes"
    assert (at.state, shown(at)) == (State.CLOSED, 0)


async def test_answering_dependency_is_tried_without_a_pause() -> None:
    at = guard()
    await fails(at, 2)
    at.probe_now()
    assert (at.state, shown(at)) == (State.HALF_OPEN, 1)
    assert await at.call(yes) == "yes"


@pytest.mark.parametrize("refusal", [Rejected("no"), Conflict("late")], ids=str)
async def test_a_refusal_is_an_answer(refusal: SumaError) -> None:
    at = guard()
    for _ in range(5):
        with pytest.raises(type(refusal)):
            await at.call(raising(refusal))
    assert (at.state, counted(at, "ok")) == (State.CLOSED, 5)


async def test_call_beyond_its_deadline_counts_as_a_failure() -> None:
    at = guard(failures=1)
    with pytest.raises(CallTimedOut):
        await at.call(asyncio.Event().wait, seconds=0.01)
    assert (at.state, counted(at, "timeout")) == (State.OPEN, 1)


async def test_cancelled_call_counts_neither_as_success_nor_failure() -> None:
    at = guard(failures=1)
    giving_up = asyncio.ensure_future(at.call(asyncio.Event().wait))
    await asyncio.sleep(0)
    giving_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await giving_up
    assert at.state is State.CLOSED


async def test_repeatable_call_is_tried_three_times() -> None:
    answers: list[Callable[[], Awaitable[str]]] = [raising(Unavailable()), raising(Unavailable()), yes]
    assert await guard(failures=9).repeat(lambda: answers.pop(0)()) == "yes"


async def test_a_refusal_is_not_repeated() -> None:
    at = guard()
    with pytest.raises(Rejected):
        await at.repeat(raising(Rejected("no")))
    assert counted(at, "ok") == 1


async def test_retry_budget_limits_retries_when_every_call_fails() -> None:
    at, calls = guard(failures=10_000), 100
    await asyncio.gather(*(at.repeat(raising(Unavailable())) for _ in range(calls)), return_exceptions=True)
    assert counted(at, "failed") <= calls + BUDGET_MOST + calls * 0.1


async def test_an_open_circuit_is_not_retried() -> None:
    at = guard()
    await fails(at, 2)
    with pytest.raises(CircuitOpen):
        await at.repeat(yes)
    assert counted(at, "rejected") == 1


def test_each_dependency_has_one_guard() -> None:
    guarded_calls = GuardedCalls()
    assert guarded_calls.to("redis") is guarded_calls.to("redis")
    assert [at.name for at in guarded_calls] == ["redis"]
    assert guarded_calls.to("memory_service") is not guarded_calls.to("redis")
