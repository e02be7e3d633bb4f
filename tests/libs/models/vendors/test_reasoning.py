"""Reasoning that a server sends as text reaches neither a plan nor an answer, wherever the stream is split."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from libs.models.ports import Answered, InvalidModelOutput
from libs.models.vendors import VendorModel
from libs.skills import ToolDefinition
from tests.infrastructure.vendor import Vendor, said
from tests.libs.models.vendors.conftest import PLAN, TASK, Open

Words = Callable[[VendorModel], AsyncIterator[str]]
REASONED = {
    "tags": "<think>\nThe user wants a list. {\n</think>\n\n",
    "other tags": "\n<reasoning>hm</reasoning>",
    "a closing tag alone": "The user wants a list.\n</think>\n\n",
    "two of them": "<think>hm</think>\n<think>so</think>\n",
    "nothing": "",
}
JSON = '{"kind": "answer", "text": "Close it with </think> then."}'


def cut(text: str, size: int) -> list[str]:
    return [text[n : n + size] for n in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 7, 30, 1000])
@pytest.mark.parametrize("name", REASONED)
@pytest.mark.parametrize("provider", ["openai-compatible", "ollama"])
async def test_answer_has_no_reasoning(
    there: Vendor, model: Open, words: Words, name: str, size: int, provider: str
) -> None:
    there.play(said(*cut(f"{REASONED[name]}Here are <b>two</b> files.", size)))
    assert "".join([word async for word in words(await model(provider))]) == "Here are <b>two</b> files."


@pytest.mark.parametrize("size", [7, 30, 1000])
@pytest.mark.parametrize("name", REASONED)
async def test_plan_has_no_reasoning(
    there: Vendor, model: Open, catalogue: tuple[ToolDefinition, ...], name: str, size: int
) -> None:
    there.play(said(*cut(f"{REASONED[name]}{JSON}", size)))
    found = await (await model("openai-compatible", output="text")).plan(TASK, catalogue)
    assert isinstance(found, Answered)
    assert found.text == "Close it with </think> then."


async def test_review_has_no_reasoning(there: Vendor, model: Open, catalogue: tuple[ToolDefinition, ...]) -> None:
    there.play(said('The plan is fine.\n</think>\n```json\n{"approved": true}\n```'))
    assert (await (await model("ollama")).review(TASK, PLAN, catalogue)).text == '{"approved": true}'


async def test_reply_of_reasoning_alone_is_no_answer(there: Vendor, model: Open, words: Words) -> None:
    there.play(said("<think>", "I could go on"))
    with pytest.raises(InvalidModelOutput, match="empty answer"):
        [word async for word in words(await model("openai-compatible"))]


async def test_pieces_follow_tagged_reasoning_at_once(there: Vendor, model: Open, words: Words) -> None:
    there.play(said("<thi", "nk>hm</think>", "\nHel", "lo"))
    assert [word async for word in words(await model())] == ["Hel", "lo"]


async def test_model_without_opening_tags_is_remembered(
    there: Vendor, model: Open, words: Words, catalogue: tuple[ToolDefinition, ...]
) -> None:
    there.play(said(f"hm</think>{JSON}"), said("so", "</think>", "Hel", "lo"))
    learning = await model("openai", output="text")
    await learning.plan(TASK, catalogue)
    assert [word async for word in words(learning)] == ["Hel", "lo"]
