"""The critic that sees: its model gets the picture and the rubric, and anything but a verdict is an error."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from libs.errors import Unavailable
from libs.multimodal.ports import Brief, Made, StepType, Verdict
from libs.resilience import GuardedCalls
from services.tool_executor.multimodal.calling import ProviderUnavailable
from services.tool_executor.multimodal.vision import JudgeUnreadable, VisionCritic, configured
from services.tool_executor.settings import Settings
from tests.infrastructure.fake_images import Images, Reply, chatted, images, told
from tests.libs.documents.test_pictures import drawn

BRIEF = Brief(StepType.IMAGE, "png", prompt="a red wall")
PICTURE = Made(drawn("PNG", (64, 64)), "png", 64, 64)
RUBRIC = {"clarity": 0.5, "relevance": 0.7}


def critic(there: Images, seconds: float = 20) -> VisionCritic:
    """The configured one."""
    given = {"url": there.url, "private": True, "model": "toy-vision", "seconds": seconds}
    found = configured(Settings.model_validate({"vision": given}), GuardedCalls(), None)
    assert found is not None
    return found


async def judged(there: Images, made: Made = PICTURE, rubric: Any = RUBRIC) -> Verdict:
    return await critic(there).judge(BRIEF, made, rubric, check=lambda: None)


@pytest.mark.requirement("S3-25")
async def test_vision_model_sees_the_picture_and_its_scores_decide() -> None:
    fair = 'Sure! ```json\n{"scores": {"clarity": 0.9, "relevance": 0.6}, "critique": ["Show\\na wall."]}\n``` Done.'
    async with images(chatted(fair)) as there:
        found = await judged(there)
    assert (found.passed, found.scores) == (False, {"clarity": 0.9, "relevance": 0.6})
    assert (found.critique, found.judge) == (("Show a wall.",), "vision:toy-vision")
    words, picture = json.loads(there.asked[0][2])["messages"][1]["content"]
    assert "a red wall" in words["text"]
    assert base64.b64decode(picture["image_url"]["url"].partition(",")[2]).startswith(b"\xff\xd8")


async def test_picture_passes_with_the_least_scores() -> None:
    async with images(chatted('{"scores": {"clarity": 0.5, "relevance": 7}, "critique": "fine"}')) as there:
        found = await judged(there)
    assert (found.passed, found.scores["relevance"], found.critique) == (True, 1.0, ("fine",))


@pytest.mark.parametrize(
    "text",
    ["I like it.", '{"scores": {"clarity": 1}}', '{"scores": {"clarity": "1", "relevance": true}}', "{" * 50_000],
)
async def test_answer_without_a_verdict_is_asked_for_once_more(text: str) -> None:
    async with images(chatted(text)) as there:
        with pytest.raises(JudgeUnreadable, match="no verdict"):
            await judged(there)
    assert len(there.asked) == 2


async def test_critique_of_a_model_is_bounded() -> None:
    said = {"scores": {"clarity": 1, "relevance": 1}, "critique": ["x" * 900, 7, *["y"] * 90]}
    async with images(chatted(json.dumps(said))) as there:
        found = await judged(there)
    assert [len(note) for note in found.critique] == [300, 1, 1, 1]


async def test_damaged_picture_fails_without_a_question() -> None:
    async with images(told({})) as there:
        found = await judged(there, Made(b"none", "png"))
    assert (found.passed, there.asked) == (False, [])


@pytest.mark.parametrize("answer", [told({}, 503), Reply(hangs=True)], ids=["503", "slow"])
async def test_judge_that_does_not_answer_is_unavailable(answer: Reply) -> None:
    async with images(answer) as there:
        with pytest.raises(Unavailable) as caught:
            await critic(there, 0.5).judge(BRIEF, PICTURE, RUBRIC, check=lambda: None)
    assert isinstance(caught.value, ProviderUnavailable) or caught.value.code == "CALL_TIMED_OUT"


def test_without_a_vision_model_there_is_no_such_critic() -> None:
    assert configured(Settings(), GuardedCalls(), None) is None
