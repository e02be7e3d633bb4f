"""A worker keeps copies of the conversations that it worked on; one that others have carried on meanwhile misleads
nobody (bus.md 3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typing_extensions import override

from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import MessageCompleted, TurnEnded, WorkspaceChanged
from libs.events.committee import Task
from libs.events.values import Hitl
from libs.models.ports import ModelText
from libs.runtime.host import host, prepare
from tests.infrastructure import PACE
from tests.support.platform import (
    ControllablePolicy,
    MovedClock,
    RunningPlatform,
    build_platform,
    law,
    plan,
    run_platform,
    scripted_model,
)
from tests.support.scripted import Scripted

TIDY = plan(
    ("manage-files.list", {"path": "."}),
    ("organize-by-type.sort", {"source": "$step(1).nodes", "by": "extension_category", "target": "."}),
)


class Mute(Scripted):
    """A model that cannot be reached when the answer is to be written."""

    @override
    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        raise Unavailable
        yield ModelText("")


@pytest.mark.requirement("A10", "A18")
async def test_returning_worker_takes_an_answer_of_a_turn_advanced_elsewhere(home: Dsns, tmp_path: Path) -> None:
    judge, clock = ControllablePolicy(await law()), MovedClock()
    async with build_platform(home, tmp_path, model=scripted_model(TIDY), policy=judge, clock=clock) as (
        platform,
        services,
    ):
        await prepare(platform, services)
        one = RunningPlatform(platform, tmp_path / "root", judge, clock)
        async with host(platform, services, pace=PACE):
            turn = await one.say("tidy", session="s", root=one.folder("a.txt"), hitl=Hitl.BYPASS)
            question = await one.asked(session="s")
        async with run_platform(home, tmp_path, model=Mute()) as other:
            await other.decide(question, session="s")
            await other.until(WorkspaceChanged, session="s")
        async with host(platform, services, pace=PACE):
            await one.later(60)
            assert (await one.until(MessageCompleted, session="s")).text == "done"
            assert (await one.until(TurnEnded, session="s")).turn_id == turn
