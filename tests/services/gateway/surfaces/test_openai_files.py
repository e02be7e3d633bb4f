"""Images and files of OpenAI's requests: uploads with all checks, never fetched from elsewhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio

from tests.services.gateway.surfaces.clients import client_of
from tests.support.stack import Stack

Json = Any
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
IMAGE = f"data:image/png;base64,{b64encode(PNG).decode()}"


@pytest_asyncio.fixture(loop_scope="session")
async def client(stack: Stack) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(stack) as made:
        yield made


async def chat(client: openai.AsyncOpenAI, *parts: Json) -> Json:
    said = [{"type": "text", "text": "frobnicate this"}, *parts]
    return await client.chat.completions.create(model="suma", messages=[{"role": "user", "content": said}])


async def respond(client: openai.AsyncOpenAI, *parts: Json) -> Json:
    said = [{"type": "input_text", "text": "frobnicate this"}, *parts]
    return await client.responses.create(model="suma", input=[{"role": "user", "content": said}])


async def attached(stack: Stack, answer: Json) -> list[Json]:
    """Return what the message of an answer's turn has attached."""
    async with stack.api() as api:
        path = f"/v1/sessions/{answer.suma['session_id']}/events"
        events = (await api.get(path, params={"stream": "false"})).json()["events"]
        return next(event["data"]["attachments"] for event in events if event["type"] == "message.accepted")


async def test_data_urls_become_uploads_of_the_message(stack: Stack, client: openai.AsyncOpenAI) -> None:
    (image,) = await attached(stack, await chat(client, {"type": "image_url", "image_url": {"url": IMAGE}}))
    assert (image["filename"], image["media_type"]) == ("image.png", "image/png")
    async with stack.api() as api:
        assert (await api.get(f"/v1/assets/{image['asset_id']}")).content == PNG
    text = f"data:text/plain;base64,{b64encode(b'12345').decode()}"
    note = {"type": "input_file", "filename": "note.txt", "file_data": text}
    again = {"type": "input_image", "file_id": image["asset_id"], "detail": "auto"}
    files = await attached(stack, await respond(client, note, again))
    assert [file["filename"] for file in files] == ["note.txt", "image.png"]


async def test_remote_and_false_files_are_refused(client: openai.AsyncOpenAI) -> None:
    refused: dict[str, str | None] = {}
    for url in ("https://example.com/cat.png", "file:///etc/passwd", IMAGE.replace("png", "jpeg")):
        with pytest.raises(openai.APIStatusError) as error:
            await chat(client, {"type": "image_url", "image_url": {"url": url}})
        with pytest.raises(openai.APIStatusError) as same:
            await respond(client, {"type": "input_image", "image_url": url, "detail": "auto"})
        assert same.value.code == error.value.code
        refused[url.partition(":")[0]] = refused.get(url.partition(":")[0], error.value.code)
    assert refused == {"https": "remote_file", "file": "bad_data_url", "data": "type_mismatch"}


async def test_file_of_another_tenant_is_not_attached(stack: Stack, client: openai.AsyncOpenAI) -> None:
    (image,) = await attached(stack, await chat(client, {"type": "image_url", "image_url": {"url": IMAGE}}))
    async with client_of(stack, await stack.stranger()) as stranger:
        refusals = []
        for id in (image["asset_id"], "none"):
            with pytest.raises(openai.BadRequestError) as hidden:
                await chat(stranger, {"type": "file", "file": {"file_id": id}})
            refusals.append(hidden.value.body)
    assert refusals[0] == refusals[1]


async def test_body_with_files_has_a_limit_of_its_own(client: openai.AsyncOpenAI) -> None:
    two = f"data:application/octet-stream;base64,{b64encode(bytes(1_500_000)).decode()}"
    assert (await chat(client, {"type": "file", "file": {"file_data": two}})).suma["turn_id"]
    with pytest.raises(openai.APIStatusError) as large:
        await chat(client, {"type": "file", "file": {"file_data": two * 6}})
    assert large.value.status_code == 413
