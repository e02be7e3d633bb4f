"""The limit of leased work: a tenant with running work queues behind waiting tenants; the others do not."""

from __future__ import annotations

from typing import Any, cast

import pytest

from libs.runtime.lease_runner import ConcurrencyLimit
from libs.runtime.service import Kind
from tests.libs.runtime.conftest import GROUP, Workshop


def limit(*, most: int = 4, each: int = 2, at_work: str = "") -> ConcurrencyLimit:
    nobody = cast("Any", None)
    made = ConcurrencyLimit(Kind("tool", nobody, nobody, nobody, room=most, per_tenant=each))
    for tenant in at_work:
        made.enter(tenant)
    return made


def test_tenant_is_limited_to_its_share() -> None:
    full = limit(at_work="aa")
    assert not full.admits("a")
    assert full.admits("b")


def test_refused_tenant_waits_for_the_sweep_in_order() -> None:
    waiting = limit(at_work="aa")
    assert not waiting.admits("a")
    waiting.leave("a")
    assert not waiting.admits("a")
    waiting.swept({"a"}, filled=False)
    waiting.waiting.clear()
    assert waiting.admits("a")


def test_crowded_limit_admits_only_tenants_without_leases() -> None:
    crowded = limit(at_work="ab")
    crowded.swept(set(), filled=True)
    assert not crowded.admits("a")
    assert crowded.admits("c")


def test_freed_place_triggers_a_sweep_when_work_may_wait() -> None:
    assert limit(at_work="aa").has_waiting("a")
    assert limit(at_work="aabb").has_waiting("b")
    assert not limit(at_work="a").has_waiting("a")


@pytest.mark.requirement("A13")
async def test_parked_keys_of_one_tenant_do_not_delay_another(workshop: Workshop) -> None:
    await workshop.eye.execute(
        "insert into bus.parked (grp, topic, key, event_id, tenant, type, headers, data, since, due_at, state, error)"
        " select $1, 'memory.events', tenant || ':' || n, tenant || n, tenant, 'x', '{}'::jsonb, '{}'::jsonb,"
        " bus.now(), bus.now(), 'parked', ''"
        " from (values ('a', 200), ('z', 1)) as t (tenant, keys) cross join generate_series(1, t.keys) as n",
        GROUP,
    )
    tried = await workshop.platform.parked.retries(GROUP, most=4)
    assert [each.record.tenant for each in tried].count("z") == 1
