"""The messages that a client sends again: they find their conversation, and no old one refuses a request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio

from tests.services.gateway.surfaces.clients import DUPLICATES, Chat, client_of, user
from tests.support.stack import Stack

Json = Any
LOOK = "what is in this folder?"
OLD: list[Json] = [
    {"role": "system", "content": [{"type": "cache", "text": 1}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/cat.png"}]},
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    {"role": "critic", "content": {"some": "object"}},
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "summary": []}, {"type": "tool_use", "id": "t", "input": {}}],
    },
]
"""Messages of a chat that began with other models."""


@pytest_asyncio.fixture(loop_scope="session")
async def client(stack: Stack) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(stack) as made:
        yield made


async def say(client: openai.AsyncOpenAI, *messages: Json, **fixed: Json) -> Json:
    return await client.chat.completions.create(model="suma", messages=list(messages), **fixed)


async def test_chat_goes_on_in_its_session_and_folder(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folder = stack.folder("list", a_txt="1", b_txt="2", c_jpg="3")
    first = await say(client, user("list the txt files"), metadata={"root": str(folder)})
    chat = Chat(client)
    chat.messages = [user("list the txt files"), first.choices[0].message]
    assert "1. a.txt\n2. b.txt" in await chat.say("zip those")
    assert chat.last.suma["session_id"] == first.suma["session_id"]
    while chat.last.suma["state"] == "awaiting_approval":
        await chat.say("approve")
    assert (await chat.say(LOOK)).startswith("4 files")
    assert chat.last.suma["session_id"] == first.suma["session_id"]


async def test_chat_after_a_question_goes_on_in_its_session(stack: Stack, client: openai.AsyncOpenAI) -> None:
    chat = Chat(client, metadata={"root": str(stack.folder("marked", **DUPLICATES))})
    await chat.say("remove duplicates")
    session = chat.last.suma["session_id"]
    await chat.say("no")
    chat.messages[-1] = {"role": "assistant", "content": "an answer that was edited"}
    assert (await chat.say(LOOK)).startswith("5 files")
    assert chat.last.suma["session_id"] == session


async def test_chats_that_begin_alike_stay_apart(stack: Stack, client: openai.AsyncOpenAI) -> None:
    folders = [stack.folder("alike0", a_txt="1", b_jpg="2"), stack.folder("alike1", a_txt="1", c_pdf="3")]
    begun = [Chat(client, metadata={"root": str(folder)}) for folder in folders]
    for chat in begun:
        await chat.say("list the txt files")
        await chat.say(LOOK)
    assert begun[0].messages[1].content == begun[1].messages[1].content
    for chat, name in zip(begun, ("b.jpg", "c.pdf"), strict=True):
        free = Chat(client)
        free.messages = list(chat.messages)
        assert name in await free.say("list the files")
        assert free.last.suma["session_id"] == chat.last.suma["session_id"]


async def test_chat_of_another_principal_is_not_joined(stack: Stack, client: openai.AsyncOpenAI) -> None:
    chat = Chat(client, metadata={"root": str(stack.folder("mine", a_txt="private"))})
    await chat.say("what is in this folder?")
    async with client_of(stack, await stack.stranger()) as stranger:
        theirs = await say(stranger, *chat.messages, user("list the files"))
    assert theirs.suma["session_id"] != chat.last.suma["session_id"]


async def test_another_folder_begins_another_session(stack: Stack, client: openai.AsyncOpenAI) -> None:
    chat = Chat(client, metadata={"root": str(stack.folder("here", a_txt="1"))})
    await chat.say("list the txt files")
    moved = {"root": str(stack.folder("there", b_txt="1"))}
    there = await say(client, *chat.messages, user("list the txt files"), metadata=moved)
    assert "b.txt" in there.choices[0].message.content


async def test_response_input_without_ids_goes_on_in_its_session(stack: Stack, client: openai.AsyncOpenAI) -> None:
    about: Json = {"root": str(stack.folder("input", a_txt="1"))}
    first: Json = await client.responses.create(model="suma", input=LOOK, metadata=about)
    said = [user(LOOK), {"role": "assistant", "content": first.output_text}, user("list the files")]
    second: Json = await client.responses.create(model="suma", input=said)
    assert second.suma["session_id"] == first.suma["session_id"]


async def test_old_messages_of_any_kind_are_accepted(stack: Stack, client: openai.AsyncOpenAI) -> None:
    about = {"root": str(stack.folder("old", a_txt="12345"))}
    answer = await say(client, *OLD, user(LOOK), metadata=about)
    assert answer.choices[0].message.content.startswith("1 file")
    items: Json = [*OLD, {"type": "reasoning", "id": 5}, OLD[-1], user(LOOK)]
    again: Json = await client.responses.create(model="suma", input=items, metadata=about)
    assert again.output_text.startswith("1 file")


async def test_new_audio_is_refused_by_its_name(client: openai.AsyncOpenAI) -> None:
    part: Json = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
    with pytest.raises(openai.BadRequestError, match="audio"):
        await say(client, {"role": "user", "content": [part]})
    with pytest.raises(openai.BadRequestError, match="audio"):
        await client.responses.create(model="suma", input=[{"role": "user", "content": [part]}])


async def test_file_without_words_is_accepted(client: openai.AsyncOpenAI) -> None:
    image = f"data:text/plain;base64,{b64encode(b'12345').decode()}"
    part: Json = {"type": "file", "file": {"file_data": image, "filename": "note.txt"}}
    assert (await say(client, {"role": "user", "content": [part]})).suma["turn_id"]


async def test_foreign_session_id_is_ignored(stack: Stack, client: openai.AsyncOpenAI) -> None:
    about: Json = {"root": str(stack.folder("traced", a_txt="12345")), "session_id": "trace-4711"}
    assert (await say(client, user(LOOK), metadata=about)).choices[0].message.content.startswith("1 file")


async def test_prefixed_settings_are_those_of_suma(stack: Stack, client: openai.AsyncOpenAI) -> None:
    about = {"suma_root": str(stack.folder("prefixed", a_txt="1")), "suma_title": "Mine", "title": "Other"}
    answer = await say(client, user(LOOK), metadata=about)
    session = answer.suma["session_id"]
    async with stack.api() as api:
        assert (await api.get(f"/v1/sessions/{session}")).json()["title"] == "Mine"
    again = await say(client, user(LOOK), metadata={"suma_session_id": session})
    assert again.suma["session_id"] == session
