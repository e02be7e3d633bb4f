"""Starting: who held leases here before, also when a start is killed half way."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from libs.database import Dsns
from services.start import LeaseOwners, ServerEnded, unless_a_server_ends
from services.wiring import Ended, Servers


def test_first_start_has_no_past_owners(tmp_path: Path) -> None:
    assert LeaseOwners(tmp_path / "lives").past() == []


def test_dead_owners_are_remembered_until_their_leases_are_freed(tmp_path: Path) -> None:
    lives = LeaseOwners(tmp_path / "lives")
    lives.record(["first"])
    # A start that is killed before it has freed them.
    lives.record([*lives.past(), "second"])
    assert LeaseOwners(tmp_path / "lives").past() == ["first", "second"]
    lives.record(["third"])
    assert lives.past() == ["third"]


@pytest.mark.requirement("A17")
async def test_start_ends_when_its_server_ends() -> None:
    gone = asyncio.Event()
    grounds = Servers(Dsns("", "", ""), "", {"PostgreSQL": _when(gone), "Redis": _when(asyncio.Event())})
    starting = asyncio.Event()

    async def start() -> None:
        gone.set()
        await starting.wait()

    with pytest.raises(ServerEnded, match="PostgreSQL ended"):
        await unless_a_server_ends(start(), grounds)


async def test_error_of_a_failed_part_ends_the_process() -> None:
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    failed.set_exception(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await unless_a_server_ends(asyncio.shield(failed), Servers(Dsns("", "", ""), ""))


def _when(event: asyncio.Event) -> Ended:
    async def ended() -> None:
        await event.wait()

    return ended
