"""Every fault of a vendor, a proxy or a network has an error class, and ends in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY

from libs.errors import Rejected, SumaError, Unavailable
from libs.models.ports import Answered, InvalidModelOutput
from libs.models.vendors import VendorModel
from libs.resilience import CircuitOpen, GuardedCall, Rules, State
from libs.skills import ToolDefinition
from tests.infrastructure.vendor import APPROVED, KEY, Turn, Vendor, called, planned, refused, said
from tests.libs.models.vendors.conftest import LISTED, PLAN, TASK, Open

Catalogue = tuple[ToolDefinition, ...]
Words = Callable[[VendorModel], AsyncIterator[str]]
LEFT_OPEN = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"t",'
    b'"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n'
)

SOON = {"first": 0.7, "pause": 0.7, "whole": 1.5}
FAULTS: dict[str, tuple[Turn, str, type[SumaError]]] = {
    "nothing but a connection": (Turn(hangs=True), "MODEL_TIMED_OUT", Unavailable),
    "silence in the middle": (said("a", hangs=True), "MODEL_TIMED_OUT", Unavailable),
    "a slow drip": (said(*"abcdefgh", pause=0.3), "MODEL_TIMED_OUT", Unavailable),
    "cut off in the middle": (said("a", breaks=True), "MODEL_UNAVAILABLE", Unavailable),
    "a stream that just ends": (Turn(raw=LEFT_OPEN), "MODEL_UNAVAILABLE", Unavailable),
    "a page of HTML": (Turn(raw=b"<html>Log in", kind="text/html"), "MODEL_BROKE", Unavailable),
    "JSON of another kind": (Turn(raw=b'{"a": 1}', kind="application/json"), "MODEL_BROKE", Unavailable),
    "half a chunk": (Turn(raw=b'data: {"id": \n\n'), "MODEL_UNAVAILABLE", Unavailable),
    "chunks of no shape": (
        Turn(raw=b'data: [1]\n\ndata: null\n\ndata: {"choices": [{}]}\n\n'),
        "MODEL_BROKE",
        Unavailable,
    ),
    "more than anyone asked for": (Turn(raw=b"data: " + b"x" * 9_000_000), "MODEL_BROKE", Unavailable),
    "a redirect": (Turn(raw=b"", status=307, headers={"location": "http://127.0.0.1:9/"}), "MODEL_REFUSED", Rejected),
    "400": (refused(400, "unknown field"), "MODEL_REFUSED", Rejected),
    "401": (refused(401), "MODEL_KEY_REFUSED", Rejected),
    "402": (refused(402), "MODEL_QUOTA_SPENT", Rejected),
    "403": (refused(403), "MODEL_KEY_REFUSED", Rejected),
    "404": (refused(404), "MODEL_NOT_FOUND", Rejected),
    "429": (refused(429), "MODEL_RATE_LIMITED", Unavailable),
    "500": (refused(500), "MODEL_UNAVAILABLE", Unavailable),
    "503": (refused(503), "MODEL_UNAVAILABLE", Unavailable),
    "too long": (refused(400, "This model's maximum context length is 10"), "MODEL_INPUT_TOO_LONG", Rejected),
    "the vendor's filter": (said(finish="content_filter"), "MODEL_REFUSED", Rejected),
    "no word": (said(), "MODEL_OUTPUT_INVALID", Rejected),
    "a call instead of an answer": (called({"x": 1}), "MODEL_OUTPUT_INVALID", Rejected),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_each_fault_has_its_code_within_the_time_limit(
    there: Vendor, model: Open, words: Words, name: str
) -> None:
    turn, code, kind = FAULTS[name]
    there.play(turn)
    bounds: Any = SOON if code == "MODEL_TIMED_OUT" else {}
    model_under_test = await model(**bounds)
    with pytest.raises(kind) as fault:
        async with asyncio.timeout(30):
            [_ async for _ in words(model_under_test)]
    assert fault.value.code == code
    assert fault.value.__cause__ is None, "what a vendor's library keeps of a request is not logged with ours"
    assert len(there.asked) == 1, "an answer is never asked for twice in place"


@pytest.mark.parametrize("turn", [refused(503), refused(429, retry_after_ms="20"), Turn(raw=b"", kind="text/html")])
async def test_transient_fault_is_retried_before_any_output(
    there: Vendor, model: Open, catalogue: Catalogue, turn: Turn
) -> None:
    there.play(turn, turn, planned(LISTED))
    await (await model()).plan(TASK, catalogue)
    assert len(there.asked) == 3


async def test_long_retry_after_is_not_retried_in_place(there: Vendor, model: Open, catalogue: Catalogue) -> None:
    there.play(refused(429, retry_after="30"))
    with pytest.raises(Unavailable) as busy:
        await (await model()).plan(TASK, catalogue)
    assert (getattr(busy.value, "retry_after", None), len(there.asked)) == (30.0, 1)


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_a_refusal_is_not_repeated(there: Vendor, model: Open, catalogue: Catalogue, status: int) -> None:
    there.play(refused(status))
    with pytest.raises(Rejected):
        await (await model()).review(TASK, PLAN, catalogue)
    assert len(there.asked) == 1


async def test_unavailable_vendor_is_not_called_until_it_answers(
    there: Vendor, model: Open, catalogue: Catalogue
) -> None:
    guard = GuardedCall("model", Rules(failures=2, rest=60))
    model_under_test = await model(guard=guard)
    there.play(refused(500), refused(500), called({"kind": "answer", "text": "back"}))
    with pytest.raises(CircuitOpen):
        await model_under_test.plan(TASK, catalogue)
    assert (len(there.asked), guard.state) == (2, State.OPEN)
    assert await model_under_test.alive() == "openai:toy", "its list of models is there again"
    guard.probe_now()
    assert isinstance(await model_under_test.plan(TASK, catalogue), Answered)


async def test_a_list_of_models_without_a_type_is_understood(there: Vendor, model: Open) -> None:
    there.list_kind = None
    assert await (await model()).status() == 200


async def test_model_without_any_answer_is_not_ready(there: Vendor, model: Open) -> None:
    model_under_test = await model()
    await there.stop()
    with pytest.raises(Unavailable, match="does not answer") as away:
        await model_under_test.alive()
    assert "openai:toy does not answer at http://" in str(away.value)
    assert "To use the offline planner, unset SUMA_MODEL" in str(away.value)


async def test_an_unknown_tool_is_answered_with_whole_names(there: Vendor, model: Open, catalogue: Catalogue) -> None:
    there.play(*[planned(("wrongtool", {}))] * 3)
    with pytest.raises(InvalidModelOutput) as useless:
        await (await model()).plan(TASK, catalogue)
    named = str(useless.value).partition("tools are ")[2].partition(";")[0].rstrip(".").split(", ")
    assert set(named) <= {tool.name for tool in catalogue}
    assert len(named) == 8


async def test_unreachable_address_is_unavailable(there: Vendor, model: Open, words: Words) -> None:
    model_under_test = await model()
    await there.stop()
    with pytest.raises(Unavailable, match="connection failed"):
        [_ async for _ in words(model_under_test)]


@pytest.mark.requirement("A23")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_abandoned_call_closes_its_connection_at_once(
    there: Vendor, model: Open, words: Words, provider: str
) -> None:
    there.play(said("Once upon", hangs=True))
    model_under_test, heard = await model(provider), asyncio.Event()

    async def listen() -> None:
        async for _ in words(model_under_test):
            heard.set()

    listening = asyncio.ensure_future(listen())
    await heard.wait()
    listening.cancel()
    await there.gone()


async def test_characters_split_between_chunks_arrive_whole(there: Vendor, model: Open, words: Words) -> None:
    there.play(said("Grüße, ", "🎉 日本", bytewise=True))
    assert "".join([word async for word in words(await model())]) == "Grüße, 🎉 日本"


@pytest.mark.parametrize("provider", ["openai", "openai-compatible", "ollama", "anthropic"])
async def test_answer_is_streamed_and_paid_for_once(there: Vendor, model: Open, provider: str) -> None:
    there.play(said("Hi"), said("Hel", "lo"))
    vendor_model = await model(provider)
    assert "".join([each.text async for each in vendor_model.answer(TASK)]) == "Hi"
    said_ = [each async for each in vendor_model.answer(TASK)]
    assert [each.text for each in said_] == ["Hel", "lo", ""]
    assert [each.usage.cost_micros for each in said_] == [0, 0, 140]
    assert not there.asked[0].form


async def test_truncated_answer_is_reported(there: Vendor, model: Open, words: Words) -> None:
    there.play(said("one, two", finish="length"))
    assert [word async for word in words(await model())] == ["one, two", " […]"]


async def test_a_vendor_that_counts_nothing_is_counted_for(there: Vendor, model: Open) -> None:
    there.play(said("abcd" * 10, usage=None))
    *_, last = [each async for each in (await model()).answer(TASK)]
    assert last.usage.output_tokens == 10
    assert last.usage.input_tokens > 100


async def test_the_key_goes_to_the_vendor_and_nowhere_else(
    there: Vendor,
    model: Open,
    catalogue: Catalogue,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    model_under_test = await model()
    there.play(
        planned(LISTED), refused(401, f"Incorrect API key provided: {KEY}"), refused(400, f"no {KEY[:9]}***81aa")
    )
    await model_under_test.plan(TASK, catalogue)
    faults = [await _fault(model_under_test, catalogue) for _ in range(2)]
    written = (
        caplog.text + "".join(capfd.readouterr()) + repr(faults) + repr(model_under_test) + repr(vars(model_under_test))
    )
    assert all(KEY in dict(each.headers).get("authorization", "") for each in there.asked)
    assert (KEY in written, KEY[:9] in written, KEY[:9] in str(faults)) == (False, False, False)


async def _fault(model_under_test: VendorModel, catalogue: Catalogue) -> SumaError:
    with pytest.raises(SumaError) as fault:
        await model_under_test.plan(TASK, catalogue)
    return fault.value


async def test_tokens_cost_and_errors_are_counted(there: Vendor, model: Open, catalogue: Catalogue) -> None:
    there.play(APPROVED, refused(401))
    model_under_test, before = await model("ollama"), counted("suma_model_cost_dollars_total", model="ollama:toy")
    await model_under_test.review(TASK, PLAN, catalogue)
    await _fault(model_under_test, catalogue)
    assert counted("suma_model_cost_dollars_total", model="ollama:toy") - before == pytest.approx(0.00014)
    assert counted("suma_model_tokens_total", model="ollama:toy", kind="output") >= 20
    about = {"model": "ollama:toy", "verb": "plan", "result": "model_key_refused"}
    assert counted("suma_model_calls_total", **about) == 1


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_invalid_output_does_not_open_the_circuit(there: Vendor, model: Open, words: Words) -> None:
    guard = GuardedCall("model", Rules(failures=1))
    there.play(said())
    with pytest.raises(InvalidModelOutput):
        [_ async for _ in words(await model(guard=guard))]
    assert guard.state is State.CLOSED
