"""Responses, as OpenAI's own client sees them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio

from tests.services.gateway.surfaces.clients import DUPLICATES, client_of, names
from tests.support.stack import Stack

Json = Any
LOOK = "what is in this folder?"


@pytest_asyncio.fixture(loop_scope="session")
async def client(stack: Stack) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(stack) as made:
        yield made


async def ask(client: openai.AsyncOpenAI, input: Json, **fixed: Json) -> Json:
    return await client.responses.create(model="suma", input=input, **fixed)


async def test_stream_shows_steps_and_ends_with_the_retrieved_response(
    stack: Stack, client: openai.AsyncOpenAI
) -> None:
    about = {"root": str(stack.folder("stream", a_txt="12345")), "mine": "kept"}
    async with client.responses.stream(model="suma", input=LOOK, metadata=about) as stream:
        kinds = [event.type async for event in stream]
        final: Json = await stream.get_final_response()
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert "response.mcp_call.completed" in kinds
    assert final.output_text.startswith("1 file (5 bytes).")
    assert final.metadata == about
    call = final.output[0]
    assert (call.type, call.server_label, call.status) == ("mcp_call", "suma", "completed")
    again: Json = await client.responses.retrieve(final.id)
    assert [item.id for item in again.output] == [item.id for item in final.output]
    assert (again.output_text, again.usage) == (final.output_text, final.usage)
    replayed = await client.responses.retrieve(final.id, stream=True)
    assert [event.type async for event in replayed][-1] == "response.completed"


async def test_request_for_approval_is_answered_without_a_part(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("approval", **DUPLICATES)
    first = await ask(client, "remove duplicates", metadata={"root": str(folder)})
    request = first.output[-1]
    assert (first.status, request.type) == ("completed", "mcp_approval_request")
    (kept, _) = json.loads(request.arguments)["items"]
    some = {
        "type": "mcp_approval_response",
        "approval_request_id": request.id,
        "approve": True,
        "exclude": [kept["id"]],
    }
    second = await ask(client, [some], previous_response_id=first.id)
    commit = second.output[-1]
    assert [item["id"] for item in json.loads(commit.arguments)["items"]] == ["a.txt"]
    yes = {"type": "mcp_approval_response", "approval_request_id": commit.id, "approve": True}
    done = await ask(client, [yes], previous_response_id=second.id)
    assert done.output_text.startswith("Removed 1 duplicate file.")
    assert names(folder) == ["b.txt", "c.txt", "d.txt", "kept.txt"]
    assert (await ask(client, [yes], previous_response_id=second.id)).output == done.output
    assert (await client.responses.retrieve(first.id)).output == first.output


async def test_clarification_is_answered_by_the_next_input(stack: Stack, client: openai.AsyncOpenAI) -> None:
    first = await ask(client, "frobnicate it", metadata={"root": str(stack.folder("unclear", a_txt="12345"))})
    assert "did not understand" in first.output_text
    assert first.suma["state"] == "awaiting_clarification"
    second = await ask(client, LOOK, previous_response_id=first.id)
    assert second.output_text.startswith("1 file")
    assert second.suma["turn_id"] == first.suma["turn_id"]
    third = await ask(client, LOOK, conversation=second.conversation.id)
    assert third.suma["session_id"] == first.suma["session_id"]
    history = [*third.model_dump(mode="json")["output"], {"role": "user", "content": LOOK}]
    assert (await ask(client, history)).suma["session_id"] == first.suma["session_id"]


async def test_words_answer_an_approval_only_if_they_are_clear(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("clear", **DUPLICATES)
    first = await ask(client, "remove duplicates", metadata={"root": str(folder)})
    unclear = await ask(client, "maybe", previous_response_id=first.id)
    blind = await ask(client, "ok", conversation=first.conversation.id)
    assert unclear.output == blind.output == first.output[-1:]
    assert (await client.responses.retrieve(blind.id)).output == blind.output
    denied = await ask(client, "no", previous_response_id=unclear.id)
    assert denied.suma["state"] != "awaiting_approval"
    assert len(names(folder)) == 5


async def test_background_response_is_cancelled(client: openai.AsyncOpenAI) -> None:
    begun = await ask(client, "frobnicate this", background=True)
    assert begun.status == "in_progress"
    assert (await client.responses.cancel(begun.id)).status == "cancelled"
    assert (await client.responses.retrieve(begun.id)).status == "cancelled"
    with pytest.raises(openai.ConflictError) as over:
        await client.responses.cancel(begun.id)
    assert over.value.code == "turn_ended"
    with pytest.raises(openai.BadRequestError) as kept:
        await client.responses.delete(begun.id)
    assert kept.value.code == "response_kept"


async def test_response_of_another_tenant_looks_missing(stack: Stack, client: openai.AsyncOpenAI) -> None:
    theirs = await ask(client, "frobnicate that")
    async with client_of(stack, await stack.stranger()) as stranger:
        refusals = []
        for id in (theirs.id, "resp_none_0", "nonsense"):
            with pytest.raises(openai.NotFoundError) as hidden:
                await stranger.responses.retrieve(id)
            refusals.append(hidden.value.body)
            with pytest.raises(openai.NotFoundError):
                await ask(stranger, "yes", previous_response_id=id)
            with pytest.raises(openai.NotFoundError):
                await stranger.responses.cancel(id)
    assert refusals[0] == refusals[1] == refusals[2]
