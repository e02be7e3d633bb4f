"""Gathering: records of a partition become one changeset, all or none; if that fails, one each."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import Rejected
from libs.events import RememberRequested
from libs.events.envelope import Envelope
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service, Subscription
from tests import infrastructure
from tests.support.echo_service import Echo
from tests.support.rows import any_row


class Notes:
    """A gathering group that records each event in the echo schema, and rejects the text `bad`."""

    async def noted(self, cause: Cause, event: Envelope[Any]) -> Changeset:
        if event.data.text == "bad":
            raise Rejected("never")
        return Changeset(cause).put(
            any_row("echo", "noted", grp=cause.group, event_id=cause.id, type="t", key="k", turn_id="")
        )

    def services(self, platform: Platform) -> list[Service]:
        schema = Echo(platform, "").services()[0].schema
        listens = [Subscription(RememberRequested, self.noted)]
        return [Service("memory_service", listens, schema=schema, batch=True, batch_delay=0.05)]


def memory(text: str) -> RememberRequested:
    return RememberRequested(memory_id=ids.new(), kind="fact", text=text, user="ada")


async def say(platform: Platform, *texts: str, key: str = "acme:s") -> None:
    cause = Cause.request("gateway", id=ids.new(), tenant="acme", key=key, session="s")
    await platform.writer.apply(Changeset(cause).emit(*map(memory, texts)))


async def states(platform: Platform, count: int) -> list[str]:
    """Wait until the group's inbox has so many rows; return them."""
    pool = await platform.database.bus()
    async with asyncio.timeout(60):
        while len(rows := await pool.fetch("select state from bus.inbox where grp = 'memory_service'")) < count:
            await platform.bus.waiting()
    return sorted(row["state"] for row in rows)


async def noted(platform: Platform) -> int:
    async with platform.database.read("memory_service", "acme") as connection:
        return int(await connection.fetchval("select count(*) from echo.noted"))


@pytest.mark.requirement("A12")
async def test_gathered_records_are_each_answered_once(where: Dsns) -> None:
    async with infrastructure.platform(where) as platform:
        services = Notes().services(platform)
        await prepare(platform, services)
        async with host(platform, services):
            await say(platform, *(str(n) for n in range(150)))
            assert await states(platform, 150) == ["done"] * 150
        assert await noted(platform) == 150


@pytest.mark.requirement("A13")
async def test_one_refused_record_of_a_batch_is_dead_alone(where: Dsns) -> None:
    async with infrastructure.platform(where) as platform:
        services = Notes().services(platform)
        await prepare(platform, services)
        async with host(platform, services):
            await say(platform, "a", "bad", "b", key="acme:s1")
            assert await states(platform, 3) == ["dead", "done", "done"]
        assert await noted(platform) == 2


@pytest.mark.requirement("A12")
async def test_record_answered_by_another_owner_is_not_answered_again(where: Dsns) -> None:
    async with infrastructure.platform(where) as platform:
        notes = Notes()
        services = notes.services(platform)
        await prepare(platform, services)
        async with host(platform, services):
            await say(platform, "a", "b", "c")
            await states(platform, 3)
            rows = await (await platform.database.bus()).fetch("select event_id, key from bus.log order by position")
            again = [
                Changeset(cause).put(
                    any_row("echo", "noted", grp="memory_service", event_id=cause.id, type="t", key="k", turn_id="")
                )
                for cause in (
                    Cause(id=row["event_id"], group="memory_service", tenant="acme", key=row["key"]) for row in rows
                )
            ]
            applied = await platform.writer.apply_gathered(again, lane=("memory_service", "x"))
            assert applied.verdict == "seen"
        assert await noted(platform) == 3


@pytest.mark.requirement("A12")
async def test_a_mixture_of_new_and_answered_inputs_changes_nothing(where: Dsns) -> None:
    async with infrastructure.platform(where) as platform:
        services = Notes().services(platform)
        await prepare(platform, services)
        async with host(platform, services):
            causes = [Cause(id=name, group="memory_service", tenant="acme", key="acme:s") for name in ("x", "y")]
            sets = [
                Changeset(c).put(any_row("echo", "noted", grp=c.group, event_id=c.id, type="t", key="k", turn_id=""))
                for c in causes
            ]
            assert (await platform.writer.apply(sets[0])).verdict == "fresh"
            with pytest.raises(Exception, match="answered before"):
                await platform.writer.apply_gathered(sets, lane=("memory_service", "l"))
            assert await noted(platform) == 1
