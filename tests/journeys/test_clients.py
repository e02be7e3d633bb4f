"""Each client library holds its whole conversation with a platform, on either bus: a clarification, an approval without
a part, a commit, a cancel; and a platform that is killed while all of them have calls open.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.kafka import Kafka
from deploy.local.ports import free_port
from tests.infrastructure import agui as agui_package
from tests.infrastructure.vendor import APPROVED, KEY, Asked, Turn, Vendor, called, planned, said, vendor
from tests.journeys.clients import a2a, agui, mcp, openai
from tests.journeys.clients.conversation import APPROVAL, CLARIFICATION, Conversation
from tests.journeys.installation import Installation, installation
from tests.journeys.test_command import names
from tests.services.gateway.surfaces.clients import Thread, client_of, user

Open = Callable[[Installation, Path], AbstractAsyncContextManager[Conversation]]
CLIENTS: Mapping[str, Open] = {
    "openai chat": openai.chat,
    "openai responses": openai.responses,
    "ag-ui": agui.thread,
    "a2a": a2a.task,
    "mcp 2025-11-25": mcp.before,
    "mcp 2026-07-28": mcp.now,
}
UNCLEAR, DELETE, LOOK, COUNT = "tidy it up", "delete the tmp files", "list the files", "count the files"
FILES = ("a.tmp", "b.tmp", "notes.txt")
LIST = ("manage-files.list", {"path": "."})
ANSWER = "There are three files."


@dataclass
class ModelScript:
    """What the model says to which words. Its answer to COUNT hangs, and later waits to be released."""

    hangs: bool = True
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, asked: Asked) -> Turn:
        match asked.form:
            case "judge":
                return APPROVED
            case "propose" if COUNT in asked.text or LOOK in asked.text:
                return planned(LIST)
            case "propose" if DELETE in asked.text:
                return planned(LIST, ("manage-files.delete", {"paths": ["a.tmp", "b.tmp"]}))
            case "propose":
                return called({"kind": "question", "text": "Which files?", "missing": ["files"]})
            case _ if COUNT not in asked.text:
                return said("Done.")
            case _ if self.hangs:
                return said("There are ", "some", hangs=True)
            case _:
                return said(ANSWER, held=self.released)


@dataclass(frozen=True)
class Platform:
    """A platform on one bus, and the model that it calls."""

    suma: Installation
    model: Vendor
    script: ModelScript

    def folder(self, name: str) -> Path:
        folder = self.suma.folder / name
        folder.mkdir()
        for file in FILES:
            (folder / file).write_text(file)
        return folder


@pytest.fixture(scope="module", params=("postgres", "kafka"))
def bus(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Return the settings of a bus. A named instance keeps its partitions of Kafka over a quick restart."""
    if request.param == "postgres":
        return {}
    broker: Kafka = request.getfixturevalue("broker")
    own = {"BOOTSTRAP": broker.bootstrap, "PREFIX": "clients", "INSTANCE": "one"}
    return {"SUMA_BUS": "kafka", **{f"SUMA_KAFKA__{name}": value for name, value in own.items()}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def platform(bus: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    """A platform that keeps its address over a restart, as any server does."""
    at, script = tmp_path_factory.mktemp("clients"), ModelScript()
    (at / "key").write_text(KEY)
    async with vendor(script=script) as model:
        model_at = {"SUMA_MODEL": "openai-compatible:toy", "SUMA_MODEL_URL": model.url}
        keyed = {"SUMA_MODEL_KEY_FILE": str(at / "key"), "SUMA_PORT": str(free_port())}
        async with installation(at / "suma", **model_at, **keyed, **bus) as made:
            await made.start()
            yield Platform(made, model, script)


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "ag-ui":
        _node()
    return name


def _node() -> None:
    try:
        agui_package.package()
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest.mark.requirement("S3-02")
async def test_job_is_clarified_approved_without_a_part_and_committed(platform: Platform, client: str) -> None:
    folder = platform.folder(f"job {client}")
    async with CLIENTS[client](platform.suma, folder) as conversation:
        assert await conversation.say(UNCLEAR) == CLARIFICATION
        assert await conversation.say(DELETE) == APPROVAL
        assert await conversation.approve(without="b.tmp") == APPROVAL
        assert names(folder) == set(FILES)
        assert await conversation.approve() == "completed"
    assert names(folder) == {"b.tmp", "notes.txt"}


@pytest.mark.requirement("S3-02")
async def test_cancel_of_a_waiting_approval_changes_nothing(platform: Platform, client: str) -> None:
    folder = platform.folder(f"cancel {client}")
    async with CLIENTS[client](platform.suma, folder) as conversation:
        assert await conversation.say(DELETE) == APPROVAL
        assert await conversation.cancel() == "cancelled"
    assert names(folder) == set(FILES)


async def test_usage_counts_every_token_of_the_turn(platform: Platform) -> None:
    """The model is asked for a plan and for the answer: 100 tokens in and 20 out each."""
    _node()
    root = str(platform.folder("usage"))
    async with client_of(platform.suma) as client, agui_package.client() as front_end:
        about: dict[str, Any] = {"model": "suma", "metadata": {"root": root}}
        completion = await client.chat.completions.create(messages=[user(LOOK)], **about)
        response = await client.responses.create(input=LOOK, **about)
        run = await Thread(front_end, platform.suma, "usage", root=root).say(LOOK)
    used, counted, (shown,) = completion.usage, response.usage, run.events[-1]["usage"]
    assert used is not None
    assert (used.prompt_tokens, used.completion_tokens, used.total_tokens) == (200, 40, 240)
    assert counted is not None
    assert (counted.input_tokens, counted.output_tokens, counted.total_tokens) == (200, 40, 240)
    assert (shown["inputTokens"], shown["outputTokens"], shown["totalTokens"]) == (200, 40, 240)
    assert shown["model"] == "openai-compatible:toy"


@pytest.mark.requirement("A22b", "P1")
async def test_open_calls_end_after_their_platform_was_killed(platform: Platform) -> None:
    """Every client has a call open when all processes of the platform are killed."""
    _node()
    asked = len(platform.model.asked)
    async with AsyncExitStack() as stack:
        conversations = {
            name: await stack.enter_async_context(opened(platform.suma, platform.folder(f"killed {name}")))
            for name, opened in CLIENTS.items()
        }
        await asyncio.gather(*(each.begin(COUNT) for each in conversations.values()))
        await platform.model.heard(asked + 2 * len(CLIENTS))
        await platform.suma.end(signal.SIGKILL)
        platform.script.hangs = False
        await platform.suma.start()
        await asyncio.gather(*(each.rejoin() for each in conversations.values()))
        platform.script.released.set()
        ends = await asyncio.gather(*(each.end() for each in conversations.values()))
    # A client that had heard a part of the interrupted answer gets the whole one after it.
    heard = [end.rpartition("\n\n")[2] for end in ends]
    assert dict(zip(conversations, heard, strict=True)) == dict.fromkeys(CLIENTS, ANSWER)
    plans = [each for each in platform.model.asked[asked:] if each.form == "propose"]
    assert len(plans) == len(CLIENTS), "no client began a second turn"
