"""Whoever can write to the bus is nobody: what speaks for a person counts only with the gateway's proof."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from libs import ids
from libs.database import Dsns
from libs.events import (
    ApprovalDecided,
    ApprovalRequested,
    EffectResolved,
    EventDeadLettered,
    MessageReceived,
    RollbackRequested,
    TurnCancelRequested,
)
from libs.events.envelope import Envelope
from libs.events.inbound import Spoken
from libs.events.values import Hitl
from tests.support.platform import WHO, RunningPlatform, plan, run_platform, scripted_model

TIDY = plan(
    ("manage-files.list", {"path": ".", "include": ["*.tmp"]}),
    ("manage-files.delete", {"paths": "$step(1).nodes"}),
)
Forge = Callable[[Envelope[Any]], Envelope[Any]]


@pytest.fixture
async def at(home: Dsns, tmp_path: Path) -> AsyncIterator[RunningPlatform]:
    async with run_platform(home, tmp_path, model=scripted_model(TIDY)) as running:
        yield running


def altered(sign: Forge, **fields: Any) -> Forge:
    """Sign an event, and change it afterwards."""

    def forged(event: Envelope[Any]) -> Envelope[Any]:
        if not isinstance(event.data, Spoken):
            return event
        changed = {name: value for name, value in fields.items() if hasattr(event.data, name)}
        signed = sign(event)
        return replace(signed, data=signed.data.model_copy(update=changed), id=ids.new() if not changed else signed.id)

    return forged


def spoken(turn: str, asked: ApprovalRequested) -> list[Spoken]:
    """One of each kind, about an open approval."""
    answer = {"approval_id": asked.approval_id, "digest": asked.digest, "principal": WHO, "scopes": ("*",)}
    return [
        MessageReceived(message_id=ids.new(), turn_id=turn, text="tidy", principal=WHO, scopes=("*",)),
        ApprovalDecided(verdict="approve", **answer),
        EffectResolved(verdict="happened", **answer),
        TurnCancelRequested(turn_id=turn, principal=WHO, scopes=("*",)),
        RollbackRequested(turn_id=turn, principal=WHO, scopes=("*",)),
    ]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "forgery", ["without a proof", "another principal", "more scopes", "another question", "another event's proof"]
)
async def test_forged_event_changes_nothing(at: RunningPlatform, forgery: str) -> None:
    turn = await at.say("tidy", session="s", root=at.folder("a.tmp"), hitl=Hitl.BYPASS)
    asked = await at.asked(session="s")
    writer = at.platform.writer
    sign = writer.sign
    writer.sign = {
        "without a proof": lambda event: event,
        "another principal": altered(sign, principal="mallory"),
        "more scopes": altered(sign, scopes=("*", "admin")),
        "another question": altered(sign, answers="another"),
        "another event's proof": altered(sign),
    }[forgery]
    forged = spoken(turn, asked)
    for event in forged:
        await at.publish(event, session="s", turn=turn)
    dead = [await at.until(EventDeadLettered, session="s") for _ in forged]
    assert {each.code for each in dead} == {"BAD_PROOF"}
    writer.sign = sign
    assert (at.root / "work" / "a.tmp").exists()
    await at.decide(asked, session="s")
    assert (await at.ended(turn, session="s")).state == "completed"


async def test_proof_of_one_session_is_refused_in_another(at: RunningPlatform) -> None:
    turn = await at.say("tidy", session="s", root=at.folder("a.tmp"), hitl=Hitl.BYPASS)
    asked = await at.asked(session="s")
    writer = at.platform.writer
    sign = writer.sign
    writer.sign = lambda event: replace(sign(replace(event, key=f"{event.tenant}:other")), key=event.key)
    await at.decide(asked, session="s")
    assert (await at.until(EventDeadLettered, session="s")).code == "BAD_PROOF"
    writer.sign = sign
    await at.cancel(turn, session="s")
    await at.ended(turn, session="s")
    assert (at.root / "work" / "a.tmp").exists()
