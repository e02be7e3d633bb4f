"""Chat completions, as OpenAI's own client sees them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio

from tests.services.gateway.surfaces.clients import DUPLICATES, Chat, client_of, names, user
from tests.support.markdown import marked, shown
from tests.support.stack import Stack

Json = Any
TOOL = {"type": "function", "function": {"name": "suma_approval", "parameters": {"type": "object"}}}


@pytest_asyncio.fixture(loop_scope="session")
async def client(stack: Stack) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(stack) as made:
        yield made


async def test_models_list_suma_alone(client: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == ["suma"]
    assert (await client.models.retrieve("suma")).owned_by == "suma"


async def test_stream_gives_the_same_text_in_pieces(stack: Stack, client: openai.AsyncOpenAI) -> None:
    chat = Chat(client, metadata={"root": str(stack.folder("answer", a_txt="12345"))})
    whole = await chat.say("what is in this folder?")
    assert whole.startswith("1 file (5 bytes).")
    about = {"session_id": chat.last.suma["session_id"]}
    async with client.chat.completions.stream(
        model="suma",
        messages=[user("what is in this folder?")],
        metadata=about,
        stream_options={"include_usage": True},
    ) as stream:
        final = await stream.get_final_completion()
    assert final.choices[0].message.content == whole
    assert final.choices[0].finish_reason == "stop"
    assert final.usage is not None
    assert final.id.startswith("chatcmpl-")


async def test_stream_shows_steps_in_chunks_without_text(stack: Stack, client: openai.AsyncOpenAI) -> None:
    about = {"root": str(stack.folder("steps", a_txt="12345"))}
    messages = [user("what is in this folder?")]
    stream = await client.chat.completions.create(model="suma", messages=messages, metadata=about, stream=True)
    chunks: list[Json] = [chunk async for chunk in stream]
    steps = [chunk for chunk in chunks if "event" in (getattr(chunk, "suma", None) or {})]
    assert {chunk.choices[0].delta.content for chunk in steps} == {None}
    assert {chunk.suma["event"] for chunk in steps} == {"step.changed"}
    assert [chunk.suma["data"]["state"] for chunk in steps][-2:] == ["running", "succeeded"]
    assert (chunks[0].suma["state"], chunks[-1].suma["state"]) == ("running", "completed")


async def test_approval_in_words_leaves_out_a_part(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("words", **DUPLICATES)
    chat = Chat(client, metadata={"root": str(folder)})
    asked = await chat.say("remove duplicates")
    assert "1. keep d.txt, remove c.txt\n2. keep b.txt, remove a.txt" in asked
    assert "nothing was decided" in await chat.say("approve except 3")
    assert "1. delete: c.txt (same as d.txt, which stays)" in await chat.say("approve except 2")
    assert await chat.say("yes") == (
        "Removed 1 duplicate file. 1 change made. 5 bytes kept in history, freed in 30 days or by `suma purge`."
    )
    assert chat.last.suma["state"] == "completed"
    assert names(folder) == ["a.txt", "b.txt", "d.txt", "kept.txt"]
    assert (await chat.say("what is in this folder?")).startswith("4 files")


async def test_names_are_no_markdown_in_answers_and_questions(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("markdown")
    hostile = ["[click](mailto:x)", "a@evil.example", "www.evil.example.tmp", "__init__.tmp"]
    for name in hostile:
        (folder / name).write_text("[see](https://evil.example)")
    chat = Chat(client, metadata={"root": str(folder)})
    listed = await chat.say("list all files")
    asked = await chat.say("delete all files with e in the name")
    assert (marked(listed), marked(asked.partition("\n\n[suma:")[0])) == ([], [])
    assert all(name in shown(listed) for name in hostile)
    assert all(name in shown(asked) for name in hostile[1:3])


async def test_words_answer_only_a_question_that_their_client_was_shown(
    stack: Stack, client: openai.AsyncOpenAI
) -> None:
    folder = stack.folder("blind", **DUPLICATES)
    chat = Chat(client, metadata={"root": str(folder)})
    await chat.say("remove duplicates")
    for words in ("ok", "yes", "approve", "no"):
        blind = Chat(client, metadata={"session_id": chat.last.suma["session_id"]})
        assert "1. keep d.txt, remove c.txt" in await blind.say(words)
    assert len(names(folder)) == 5


async def test_declared_tool_takes_the_approval(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("tool", **DUPLICATES)
    chat = Chat(client, metadata={"root": str(folder)}, tools=[TOOL])
    await chat.say("remove duplicates")
    assert chat.last.choices[0].finish_reason == "tool_calls"
    (call,) = chat.last.choices[0].message.tool_calls
    groups = json.loads(call.function.arguments)["items"]
    await chat.result(json.dumps({"approve": True, "exclude": [groups[0]["id"]]}))
    assert chat.last.choices[0].finish_reason == "tool_calls"
    assert (await chat.result("deny: not today")).startswith("Nothing was changed")
    late: Json = await client.chat.completions.create(model="suma", messages=chat.messages[:-1])
    said = late.choices[0].message.content
    assert said.startswith("That question was closed before this answer, so it decided nothing.\n\nNothing was changed")
    assert len(names(folder)) == 5


async def test_clarification_is_answered_by_the_next_message(stack: Stack, client: openai.AsyncOpenAI) -> None:
    chat = Chat(client, metadata={"root": str(stack.folder("unclear", a_txt="12345"))})
    assert "did not understand" in await chat.say("frobnicate it")
    assert chat.last.suma["state"] == "awaiting_clarification"
    turn = chat.last.suma["turn_id"]
    assert (await chat.say("what is in this folder?")).startswith("1 file")
    assert chat.last.suma["turn_id"] == turn


async def test_cancelled_approval_changes_no_file(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("cancelled", **DUPLICATES)
    chat = Chat(client, metadata={"root": str(folder)})
    await chat.say("remove duplicates")
    turn = chat.last.suma["turn_id"]
    done: Json = await client.responses.cancel("resp_" + chat.last.id.removeprefix("chatcmpl-"))
    assert (done.status, done.suma["state"]) == ("cancelled", "cancelled")
    assert len(names(folder)) == 5
    assert (await chat.say("what is in this folder?")).startswith("5 files")
    assert chat.last.suma["turn_id"] != turn


async def test_repeated_request_gets_the_first_turn(client: openai.AsyncOpenAI) -> None:
    sent: Json = {"model": "suma", "messages": [user("frobnicate twice")]}
    once = await client.chat.completions.create(**sent)
    again = await client.chat.completions.create(**sent, extra_headers={"x-stainless-retry-count": "1"})
    new = await client.chat.completions.create(**sent)
    assert again.id == once.id
    assert new.id != once.id


async def test_key_that_begins_another_is_free(client: openai.AsyncOpenAI) -> None:
    async def say(text: str, key: str) -> str | None:
        headers = {"Idempotency-Key": key}
        done = await client.chat.completions.create(model="suma", messages=[user(text)], extra_headers=headers)
        return done.choices[0].finish_reason

    assert await say("hello", "mine:a") == await say("what can you do?", "mine") == "stop"
    with pytest.raises(openai.BadRequestError, match="another request"):
        await say("hello", "mine")


async def test_session_of_another_tenant_looks_missing(stack: Stack, client: openai.AsyncOpenAI) -> None:
    said = Chat(client)
    await said.say("frobnicate")
    theirs: Json = said.last.model_extra
    async with client_of(stack, await stack.stranger()) as stranger:
        refusals: list[Json] = []
        for session in (theirs["suma"]["session_id"], "no-such-session"):
            with pytest.raises(openai.NotFoundError) as refused:
                await Chat(stranger, metadata={"suma_session_id": session}).say("hello")
            refusals.append(refused.value.body)
        with pytest.raises(openai.NotFoundError):
            await stranger.chat.completions.create(model="suma", messages=[*said.messages, user("yes")])
    assert refusals[0] == refusals[1]
    assert refusals[0]["type"] == "invalid_request_error"


async def test_refusals_come_in_the_envelope(stack: Stack, client: openai.AsyncOpenAI) -> None:
    async with client_of(stack, "suma_wrong") as wrong:
        with pytest.raises(openai.AuthenticationError) as unknown:
            await wrong.models.list()
    assert unknown.value.code == "invalid_api_key"
    with pytest.raises(openai.NotFoundError) as missing:
        await client.chat.completions.create(model="gpt-x", messages=[user("hello")])
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as two:
        await client.chat.completions.create(model="suma", messages=[user("hello")], n=2)
    assert two.value.param == "n"
    with pytest.raises(openai.BadRequestError) as called:
        await client.chat.completions.create(model="suma", messages=[user("hello")], tool_choice="required")
    assert called.value.code == "unsupported_tool_choice"
    with pytest.raises(openai.BadRequestError) as several:
        await client.chat.completions.create(model="suma", messages=[user("hello")], n=2, logprobs=True)
    assert several.value.param == "n"
    assert "`errors`" not in several.value.message


async def test_missing_routes_of_openai_answer_in_its_envelope(client: openai.AsyncOpenAI) -> None:
    calls = (client.embeddings.create(model="suma", input="x"), client.completions.create(model="suma", prompt="x"))
    for call in (*calls, client.files.list()):
        with pytest.raises(openai.NotFoundError) as missing:
            await call
        assert missing.value.code == "not_found"


async def test_limits_are_rate_limit_errors_with_a_wait(client: openai.AsyncOpenAI) -> None:
    async def until_refused() -> None:
        for _ in range(5):
            await client.models.retrieve("suma")

    with pytest.raises(openai.RateLimitError) as limited:
        await until_refused()
    assert limited.value.code == "rate_limit_exceeded"
    assert int(limited.value.response.headers["Retry-After"]) >= 1
