"""The scripted model plays what it was given and nothing else."""

from __future__ import annotations

import pytest

from libs.errors import Unavailable
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.ports import Answered, Model
from tests.support.scripted import OutOfReplies, Scripted

TASK, PLAN = Task(text="x", intent=""), Plan(plan_id="p")


async def test_each_verb_plays_its_own_replies_in_order() -> None:
    model: Model = Scripted(plans=[Answered("a"), Answered("b")], reviews=["Sure, looks good!", ""], resolutions=[PLAN])
    assert [await model.plan(TASK, ()), (await model.review(TASK, PLAN, ())).text] == [
        Answered("a"),
        "Sure, looks good!",
    ]
    assert [await model.plan(TASK, ()), (await model.review(TASK, PLAN, ())).text] == [Answered("b"), ""]
    assert (await model.resolve(TASK, PLAN, "no", ())).plan is PLAN


async def test_an_answer_comes_as_its_deltas() -> None:
    model = Scripted(answers=[["Hel", "lo"]])
    assert [said.text async for said in model.answer(TASK)] == ["Hel", "lo"]


async def test_an_exception_among_the_replies_is_raised_in_its_turn() -> None:
    model = Scripted(reviews=[Unavailable("down"), "{}"])
    with pytest.raises(Unavailable):
        await model.review(TASK, PLAN, ())
    assert (await model.review(TASK, PLAN, ())).text == "{}"


async def test_exhausted_script_raises_an_error() -> None:
    model = Scripted()
    with pytest.raises(OutOfReplies):
        await model.plan(TASK, ())
    assert model.asked == ["plan"]
