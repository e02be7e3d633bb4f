"""Providers of pictures over real HTTP: each API, each way to fail, and no word of the key anywhere."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from pydantic import ValidationError

from libs.clients import Reply as Wire
from libs.errors import Rejected
from libs.guards import UrlRefused
from libs.multimodal.ports import Brief, CannotProduce, Made, Producer, StepType
from libs.resilience import GuardedCalls, State
from services.tool_executor.multimodal.calling import (
    BadAnswer,
    ProviderKeyRefused,
    ProviderQuotaSpent,
    ProviderRefused,
    ProviderUnavailable,
)
from services.tool_executor.multimodal.vendors import configured
from services.tool_executor.settings import Settings
from tests.infrastructure.fake_images import Images, Reply, images, openai, told
from tests.libs.documents.test_pictures import claimed, drawn

KEY = "sk-test-4f9d2c7b81aa"
BRIEF = Brief(StepType.IMAGE, "png", title="A cat", prompt="a cat on a roof", max_resolution=1920, key="k1")
PICTURE = drawn("PNG", (1024, 1024))
UNSENT = "HTTP 503"


def producer(there: Images, calls: GuardedCalls | None = None, **fields: Any) -> Producer:
    """The one configured producer."""
    given = {
        "kind": "openai",
        "url": there.url,
        "private": True,
        "key": KEY,
        "model": "dall-e-3",
        "cost_micros": 40_000,
        "seconds": 20,
        "poll_seconds": 0.01,
        **fields,
    }
    settings = Settings.model_validate({"image_providers": {"paint": given}})
    (only,) = configured(settings, calls or GuardedCalls())
    return only


async def made(there: Images, brief: Brief = BRIEF, **fields: Any) -> Made:
    return await producer(there, **fields).produce(brief, check=lambda: None)


async def test_capability_follows_the_settings() -> None:
    async with images(openai(PICTURE)) as there:
        found = producer(there, tool_id="dalle3_image_gen", sizes=["1792x1024", "1024x1024"]).capability
    assert (found.name, found.constraints["max_resolution"], found.cost_tier) == (
        "paint/dalle3_image_gen",
        1792,
        "high",
    )
    assert (found.cost_micros, found.destination) == (40_000, "127.0.0.1")


async def test_openai_makes_a_picture_with_the_critique_in_its_prompt() -> None:
    brief = Brief(StepType.IMAGE, "png", prompt="a cat", feedback=("make it larger", "more light"), max_resolution=1100)
    async with images(openai(PICTURE)) as there:
        found = await made(there, brief, sizes=["1792x1024", "1024x1024"])
    assert (found.data, found.width, found.cost_micros, found.model) == (PICTURE, 1024, 40_000, "dall-e-3")
    ((path, headers, body),) = there.asked
    asked = json.loads(body)
    assert (path, headers["authorization"]) == ("POST /images/generations", f"Bearer {KEY}")
    assert (asked["size"], asked["n"]) == ("1024x1024", 1)
    assert asked["prompt"].startswith("a cat\n\n")
    assert asked["prompt"].endswith("- more light\n- make it larger")


async def test_openai_picture_is_downloaded_without_the_key() -> None:
    async with images(told({}), **{"cat.png": Reply(PICTURE)}) as there:
        there.answers = [told({"data": [{"url": f"{there.url}/files/cat.png"}]})]
        assert (await made(there)).data == PICTURE
    assert "authorization" not in there.asked[-1][1]


async def test_lost_download_is_repeated_and_not_the_paid_request() -> None:
    async with images(told({})) as there:
        there.answers = [told({"data": [{"url": f"{there.url}/files/cat.png"}]}), Reply(b"", 502), Reply(PICTURE)]
        assert (await made(there)).data == PICTURE
    assert len(there.posts("POST")) == 1


async def test_stability_sends_a_form_and_takes_bytes() -> None:
    async with images(Reply(drawn("WEBP", (64, 36)))) as there:
        brief = Brief(StepType.IMAGE, "webp", prompt="a cat")
        found = await made(there, brief, kind="stability", model="core", formats=["webp"], sizes=["1280x720"])
    ((path, headers, body),) = there.asked
    assert (found.format, path) == ("webp", "POST /v2beta/stable-image/generate/core")
    assert headers["content-type"].startswith("multipart/form-data")
    assert b"a cat" in body
    assert b"16:9" in body


async def test_stability_filter_is_a_refusal() -> None:
    async with images(Reply(PICTURE, headers={"finish-reason": "CONTENT_FILTERED"})) as there:
        with pytest.raises(ProviderRefused, match="filter"):
            await made(there, kind="stability", model="core")


async def test_replicate_is_polled_until_the_picture_is_there() -> None:
    running = told({"id": "p1", "status": "processing"})
    async with images(told({}), **{"cat.png": Reply(PICTURE)}) as there:
        done = told({"id": "p1", "status": "succeeded", "output": [f"{there.url}/files/cat.png"]})
        there.answers = [told({"id": "p1", "status": "starting"}, 201), running, Reply(b"", 503), done]
        assert (await made(there, kind="replicate", model="toy/paint")).data == PICTURE
    assert len(there.posts("POST /models/toy/paint/predictions")) == 1
    assert len(there.posts("GET /predictions/p1")) == 3


async def test_replicate_failure_is_quoted_and_its_work_cancelled() -> None:
    failed = told({"id": "p1", "status": "failed", "error": "NSFW content detected"})
    async with images(told({"id": "p1", "status": "starting"}, 201), failed) as there:
        with pytest.raises(ProviderRefused, match="NSFW content detected"):
            await made(there, kind="replicate", model="toy/paint")
    assert there.posts("POST /predictions/p1/cancel")


async def test_polls_are_bounded() -> None:
    async with images(told({"id": "p1", "status": "starting"}, 201)) as there:
        with pytest.raises(ProviderUnavailable, match="asked 3 times") as caught:
            await made(there, kind="replicate", model="toy/paint", polls_most=3)
    assert caught.value.charged
    assert len(there.posts("GET /predictions")) == 3


async def test_replicate_id_cannot_lead_elsewhere() -> None:
    async with images(told({"id": "../account", "status": "starting"}, 201)) as there:
        with pytest.raises(BadAnswer, match="without the id"):
            await made(there, kind="replicate", model="toy/paint")
    assert len(there.asked) == 1


async def test_slow_provider_times_out_and_is_not_asked_twice() -> None:
    async with images(Reply(hangs=True)) as there:
        with pytest.raises(ProviderUnavailable, match="within") as caught:
            await made(there, seconds=1)
    assert caught.value.charged
    # A busy machine may not even have connected.
    assert len(there.asked) <= 1


async def test_cancel_ends_the_request() -> None:
    async with images(Reply(hangs=True)) as there:
        task = asyncio.ensure_future(made(there))
        async with asyncio.timeout(20):
            await there.came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(("status", "requests", "charged"), [(503, 3, False), (429, 3, False), (500, 1, True)])
async def test_only_uncharged_failures_are_repeated(status: int, requests: int, charged: bool) -> None:
    async with images(told({"error": {"message": "busy"}}, status)) as there:
        with pytest.raises(ProviderUnavailable, match=f"HTTP {status}") as caught:
            await made(there)
    assert (len(there.asked), caught.value.charged) == (requests, charged)


async def test_provider_with_keys_is_asked_again_with_the_same_key() -> None:
    async with images(told({}, 500), openai(PICTURE)) as there:
        assert (await made(there, honours_keys=True)).data == PICTURE
    assert [headers["idempotency-key"] for _, headers, _ in there.asked] == ["k1", "k1"]


async def test_long_retry_after_is_left_to_the_caller() -> None:
    async with images(told({}, 429, retry_after="120")) as there:
        with pytest.raises(ProviderUnavailable) as caught:
            await made(there)
    assert (caught.value.retry_after, len(there.asked)) == (120.0, 1)


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, {"error": {"message": "violates the content policy"}}, ProviderRefused),
        (403, {"errors": ["flagged by moderation"]}, ProviderRefused),
        (401, {"error": {"message": f"Incorrect API key {KEY}"}}, ProviderKeyRefused),
        (402, {"detail": "no credit"}, ProviderQuotaSpent),
        (429, {"error": {"message": "insufficient_quota"}}, ProviderQuotaSpent),
        (302, {}, ProviderRefused),
    ],
)
async def test_refusal_is_final(status: int, said: Any, kind: type[Rejected]) -> None:
    async with images(told(said, status)) as there:
        with pytest.raises(kind):
            await made(there)
    assert len(there.asked) == 1


async def test_refusal_quotes_one_safe_line_of_the_provider() -> None:
    said = {"error": {"message": f"bad\nprompt\x1b[31m with {KEY} and hunter2 {'x' * 9000}"}}
    async with images(told(said, 400)) as there:
        with pytest.raises(ProviderRefused) as caught:
            await made(there, key="hunter2")
    text = str(caught.value)
    assert "bad prompt with" in text
    assert len(text) < 400
    assert not any(secret in text for secret in (KEY, "hunter2", "\x1b"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Reply(b"{not json"), "not a JSON object"),
        (told([1]), "not a JSON object"),
        (told({"data": []}), "without a picture"),
        (told({"data": [{"b64_json": base64.b64encode(PICTURE).decode()[:-3]}]}), "cut off"),
        (openai(PICTURE[: len(PICTURE) // 2]), "no usable picture"),
        (openai(b"<svg/>"), "not a PNG, JPEG, GIF or WebP"),
        (openai(drawn("GIF", (64, 64))), "GIF picture"),
        (openai(drawn("JPEG", (64, 64))), "JPEG picture instead of PNG"),
        (openai(claimed(60_000, 60_000)), "more than 40,000,000"),
        (openai(drawn("PNG", (3000, 100))), "3000 × 100"),
        (Reply(b" " * 4_000_000), "sent more than"),
    ],
    ids=["malformed", "no object", "empty", "base64", "truncated", "svg", "gif", "jpeg", "bomb", "pixels", "huge"],
)
async def test_bad_answer_is_named_and_not_asked_for_again(answer: Reply, why: str) -> None:
    async with images(answer) as there:
        with pytest.raises(BadAnswer, match=why):
            await made(there, bytes_most=1 << 20)
    assert len(there.asked) == 1


async def test_huge_download_is_refused() -> None:
    async with images(told({}), **{"cat.png": Reply(b"x" * 2_000_000)}) as there:
        there.answers = [told({"data": [{"url": f"{there.url}/files/cat.png"}]})]
        with pytest.raises(BadAnswer, match="larger than"):
            await made(there, bytes_most=1 << 20)


@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/meta-data", "http://elsewhere.example/cat.png"])
async def test_redirect_of_a_download_elsewhere_is_refused(location: str) -> None:
    async with images(told({}), **{"cat.png": Reply(b"", 302, {"location": location})}) as there:
        there.answers = [told({"data": [{"url": f"{there.url}/files/cat.png"}]})]
        with pytest.raises(UrlRefused):
            await made(there)


@pytest.mark.parametrize("url", ["http://169.254.169.254/a.png", "file:///etc/passwd", "http://127.0.0.1:1/a.png"])
async def test_download_from_a_foreign_address_is_refused(url: str) -> None:
    async with images(told({"data": [{"url": url}]})) as there:
        with pytest.raises(UrlRefused):
            await made(there)


@pytest.mark.requirement("A33")
async def test_breaker_opens_after_repeated_503_and_closes_after_recovery() -> None:
    calls = GuardedCalls()
    async with images(told({}, 503)) as there:
        paint = producer(there, calls)
        for _ in range(2):
            with pytest.raises(ProviderUnavailable, match="unavailable"):
                await paint.produce(BRIEF, check=lambda: None)
        assert calls.to("images:paint").state is State.OPEN
        before = len(there.asked)
        with pytest.raises(ProviderUnavailable, match=f"circuit open.*{UNSENT}") as caught:
            await paint.produce(BRIEF, check=lambda: None)
        assert not caught.value.charged
        assert len(there.asked) == before
        assert UNSENT in await paint.problem()
        there.answers = [openai(PICTURE)]
        assert await paint.problem() == ""
        assert (await paint.produce(BRIEF, check=lambda: None)).data == PICTURE
        assert calls.to("images:paint").state is State.CLOSED


async def test_health_names_a_bad_key_and_a_missing_server() -> None:
    async with images(told({}, 401)) as there:
        paint = producer(there)
        assert "does not accept the key" in await paint.problem()
    assert "cannot be reached" in await paint.problem()


async def test_request_that_cannot_be_met_costs_nothing() -> None:
    async with images(openai(PICTURE)) as there:
        with pytest.raises(CannotProduce, match="below 1024 pixels"):
            await made(there, Brief(StepType.IMAGE, "png", prompt="a cat", max_resolution=512))
        with pytest.raises(CannotProduce, match="makes png, not webp"):
            await made(there, Brief(StepType.IMAGE, "webp", prompt="a cat"))
    assert there.asked == []


def test_key_shows_in_no_text() -> None:
    given = {"kind": "openai", "url": "https://images.example.org/v1", "key": KEY, "model": "m", "cost_micros": 1}
    settings = Settings.model_validate({"image_providers": {"paint": given}})
    assert KEY not in repr(settings) + settings.model_dump_json() + repr(
        Wire(200, {"authorization": KEY}, KEY.encode())
    )


@pytest.mark.parametrize("url", ["http://images.example.org", "https://10.0.0.1", "https://u@images.example.org", "x"])
def test_address_that_is_not_public_needs_private(url: str) -> None:
    given = {"kind": "openai", "url": url, "model": "m", "cost_micros": 1}
    with pytest.raises(ValidationError, match="url"):
        Settings.model_validate({"image_providers": {"paint": given}})
