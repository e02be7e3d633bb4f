"""Room for leased work: who has some already queues behind who waits, and nobody else does."""

from __future__ import annotations

from typing import Any, cast

import pytest

from libs.runtime.keeper import Room
from libs.runtime.service import Kind
from tests.libs.runtime.conftest import GROUP, Workshop


def room(*, most: int = 4, each: int = 2, at_work: str = "") -> Room:
    nobody = cast("Any", None)
    made = Room(Kind("tool", nobody, nobody, nobody, room=most, per_tenant=each))
    for tenant in at_work:
        made.enter(tenant)
    return made


def test_a_tenant_has_its_share_and_the_rest_is_for_others() -> None:
    full = room(at_work="aa")
    assert not full.admits("a")
    assert full.admits("b")


def test_who_was_refused_waits_for_the_sweep_and_is_not_passed_by_its_own_next() -> None:
    waiting = room(at_work="aa")
    assert not waiting.admits("a")
    waiting.leave("a")
    assert not waiting.admits("a")
    waiting.swept({"a"}, filled=False)
    waiting.waiting.clear()
    assert waiting.admits("a")


def test_while_more_is_due_than_fits_only_who_has_nothing_here_is_let_in_at_birth() -> None:
    crowded = room(at_work="ab")
    crowded.swept(set(), filled=True)
    assert not crowded.admits("a")
    assert crowded.admits("c")


def test_a_place_that_someone_may_wait_for_is_looked_at_when_it_is_left() -> None:
    assert room(at_work="aa").tight("a")
    assert room(at_work="aabb").tight("b")
    assert not room(at_work="a").tight("a")


@pytest.mark.requirement("A13")
async def test_one_tenant_s_parked_keys_do_not_keep_another_s_from_being_tried(workshop: Workshop) -> None:
    await workshop.eye.execute(
        "insert into bus.parked (grp, topic, key, event_id, tenant, type, headers, data, since, due_at, state, error)"
        " select $1, 'memory.events', tenant || ':' || n, tenant || n, tenant, 'x', '{}'::jsonb, '{}'::jsonb,"
        " bus.now(), bus.now(), 'parked', ''"
        " from (values ('a', 200), ('z', 1)) as t (tenant, keys) cross join generate_series(1, t.keys) as n",
        GROUP,
    )
    tried = await workshop.platform.parked.retries(GROUP, most=4)
    assert [each.record.tenant for each in tried].count("z") == 1
