"""The validity of a lease before each effect, also in a process that was stopped meanwhile."""

from __future__ import annotations

import time

import pytest

from libs.leases.ports import TTL_SECONDS, Lease
from libs.runtime.lease_runner import MARGIN_SECONDS, Work
from tests.libs.runtime.conftest import Workshop

HELD = Lease("x", "g", "tool", "t", "t:s", 1, 1, {})


@pytest.mark.requirement("A18", "A25")
def test_lease_renewed_too_long_ago_is_invalid() -> None:
    allowed = TTL_SECONDS - MARGIN_SECONDS
    assert Work(HELD, renewed=time.monotonic() - allowed + 1).valid()
    assert not Work(HELD, renewed=time.monotonic() - allowed).valid()


@pytest.mark.requirement("A18")
def test_lost_lease_is_invalid() -> None:
    work = Work(HELD, renewed=time.monotonic())
    work.lost = True
    assert not work.valid()


@pytest.mark.requirement("A18", "A25")
async def test_work_sees_that_its_lease_was_taken_over(workshop: Workshop) -> None:
    seen: list[bool] = []

    async def run(held: Lease) -> None:
        seen.append(held.valid())
        try:
            await workshop.released.wait()
        finally:
            seen.append(held.valid())
            workshop.handled.append(held.id)

    workshop.on_run = run
    async with workshop.open():
        lease = await workshop.start()
        await workshop.started.wait()
        await workshop.eye.execute("update bus.leases set token = token + 1, owner = 'thief' where id = $1", lease)
        await workshop.until(lambda: bool(workshop.handled))
    assert seen == [True, False]
