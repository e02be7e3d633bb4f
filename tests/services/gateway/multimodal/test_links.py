"""Links to what a turn made, as each protocol returns them to its own client, and the names of the files."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from a2a.types.a2a_pb2 import Artifact, GetTaskRequest
from typing_extensions import override

from deploy.local.cache import Unprovided
from libs import ids
from libs.database import Dsns
from libs.events import MessageReceived, Plan, PlanProposed, Step, StepChanged, StepState
from libs.events.base import Event
from libs.keys import Keys
from libs.policy import Policy
from tests.infrastructure import agui
from tests.services.gateway.multimodal.test_jobs import SVG, Executor
from tests.services.gateway.running import running_gateway, served
from tests.services.gateway.surfaces.a2a.agent import BINDINGS, Agent, Worker, message, streamed
from tests.services.gateway.surfaces.clients import Chat, Thread, client_of, user
from tests.services.gateway.surfaces.mcp.test_limits import REVISIONS, connected
from tests.support.markdown import shown

Json = Any
MADE = {
    "diagram": {"title": "Parts/[whole](mailto:x)", "format": "svg", "media_type": "image/svg+xml"},
    "document": {"title": "Report", "format": "markdown", "media_type": "text/markdown"},
}
NAMES = ["Parts-[whole](mailto:x).svg", "Report.md"]


class Maker(Worker):
    """Simulate a conversation worker whose turns make a diagram, and by a second plan a document, before all else."""

    @override
    def _begun(self, session: str, said: MessageReceived) -> Sequence[Event]:
        began, *rest = super()._begun(session, said)
        planned = [event for n, one in enumerate(MADE, 2) for event in _planned(said.turn_id, n, one)]
        return (began, *planned, *rest)


def _planned(turn: str, n: int, made: str) -> Sequence[Event]:
    about: Json = {"description": "Make", "skill": "make-documents"}
    step = Step(step_id=f"m{n}", ordinal=n, tool=f"make.{made}", **about)
    plan = PlanProposed(turn_id=turn, plan=Plan(plan_id=f"p{n}", steps=(step,)))
    return plan, _changed(turn, step, "running"), _changed(turn, step, "succeeded")


def _changed(turn: str, step: Step, state: str) -> StepChanged:
    about: Json = step.model_dump(include={"step_id", "ordinal", "tool", "description"})
    made = {"asset": asset(turn, step.ordinal), "size": len(SVG), **MADE[step.tool.removeprefix("make.")]}
    data = made if state == "succeeded" else None
    return StepChanged(
        turn_id=turn, plan_id=f"p{step.ordinal}", **about, state=StepState(state), summary="Made.", data=data
    )


def asset(turn: str, ordinal: int) -> str:
    return ids.derived(turn, f"asset {ordinal}")


def paths(turn: str) -> list[str]:
    return [f"/v1/multimodal/assets/{asset(turn, ordinal)}" for ordinal in (2, 3)]


def linked(agent: Agent, turn: str, text: str) -> list[bool]:
    """Return whether a text links to each asset of a turn."""
    return [f"]({agent.url}{path})" in text for path in paths(turn)]


@pytest.fixture(scope="module")
def executor(keys: Keys) -> Executor:
    return Executor(keys)


@pytest_asyncio.fixture(loop_scope="session")
async def agent(gateway_where: Dsns, rules: Policy, keys: Keys, owner: str, executor: Executor) -> AsyncIterator[Agent]:
    ports: Json = {"policy": rules, "keys": keys, "clients": {"tool_executor": executor.client}}
    worker = Maker()
    async with (
        running_gateway(gateway_where, owner, worker.subscriptions, **ports) as made,
        served(made) as url,
    ):
        yield Agent(made, worker, url, owner)


def told(artifacts: Sequence[Artifact]) -> list[tuple[str, str, str]]:
    """Return the name, type and address of each file."""
    parts = [artifact.parts[0] for artifact in artifacts]
    return [(part.filename, part.media_type, part.url) for part in parts if part.filename]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_streamed_and_read_files_of_a_task_are_equal(agent: Agent, binding: str) -> None:
    async with agent.client(binding, streaming=True) as client:
        stream = await streamed(client, message("draw"))
        task = await client.get_task(GetTaskRequest(id=stream[0].task.id))
    updates = [each.artifact_update.artifact for each in stream if each.HasField("artifact_update")]
    # Steps of one moment have no order.
    assert sorted(told(updates)) == sorted(told(task.artifacts))
    assert [file[0] for file in told(updates)] == [*NAMES, "chart.png"]
    assert [file[2] for file in told(updates)[:2]] == [agent.url + path for path in paths(task.id)]


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_mcp_host_reads_the_resources_that_a_task_links(agent: Agent, executor: Executor, revision: str) -> None:
    async with connected(replace(agent.gateway, owner=agent.key), revision) as client:
        result: Json = await client.call_tool("suma_run", {"text": "draw"})
        links = [block for block in result.content if str(getattr(block, "uri", "")).startswith("suma://multimodal/")]
        assert [(link.name, link.mime_type) for link in links] == [
            (made["title"], made["media_type"]) for made in MADE.values()
        ]
        turn = result.structured_content["turn_id"]
        executor.asset = {"id": asset(turn, 2), "turn_id": turn, "size": len(SVG), "sha256": "0" * 64, "provenance": {}}
        executor.asset |= MADE["diagram"]
        read: Json = await client.read_resource(str(links[0].uri))
    (content,) = read.contents
    assert (content.mime_type, b64decode(content.blob)) == ("image/svg+xml", SVG)


async def test_response_names_assets_and_ends_with_links_to_them(agent: Agent) -> None:
    async with client_of(agent) as client:
        response: Json = await client.responses.create(model="suma", input="draw")
        again: Json = await client.responses.retrieve(response.id)
    calls = [item.output for item in response.output if item.type == "mcp_call"][:2]
    assert [path in call for path, call in zip(paths(response.suma["turn_id"]), calls, strict=True)] == [True, True]
    assert linked(agent, response.suma["turn_id"], response.output_text) == [True, True]
    assert again.output == response.output


async def test_streamed_response_ends_with_the_same_links(agent: Agent) -> None:
    async with client_of(agent) as client:
        async with client.responses.stream(model="suma", input="draw") as stream:
            told: Json = [event async for event in stream]
            final: Json = await stream.get_final_response()
        # A client that keeps the texts alone goes on in the same chat.
        kept = [user("draw"), {"role": "assistant", "content": final.output_text}, user("more")]
        more: Json = await client.responses.create(model="suma", input=kept)
    assert linked(agent, final.suma["turn_id"], final.output_text) == [True, True]
    assert "".join(event.delta for event in told if event.type == "response.output_text.delta") == final.output_text
    assert more.suma["session_id"] == final.suma["session_id"]


async def test_run_names_assets_and_ends_with_links_to_them(agent: Agent) -> None:
    try:
        async with agui.client() as client:
            seen = await Thread(client, agent, "made").say("draw")
    except Unprovided as reason:
        pytest.skip(str(reason))
    said = [one["content"] for one in seen.events if one["type"] == "TOOL_CALL_RESULT"][:2]
    assert [path in text for path, text in zip(paths(seen.state["turn_id"]), said, strict=True)] == [True, True]
    assert linked(agent, seen.state["turn_id"], seen.text) == [True, True]


async def test_chat_answer_ends_with_links_to_assets(agent: Agent) -> None:
    async with client_of(agent) as client:
        chat = Chat(client)
        answer = await chat.say("draw")
        turn, session = chat.last.suma["turn_id"], chat.last.suma["session_id"]
        about = {"session_id": session}
        async with client.chat.completions.stream(model="suma", messages=[user("draw")], metadata=about) as stream:
            final: Json = await stream.get_final_completion()
        await chat.say("more")
    assert linked(agent, turn, answer) == [True, True]
    assert [text in shown(answer) for text in ("DRAW", "Parts/[whole](mailto:x)", "Report")] == [True] * 3
    assert shown(final.choices[0].message.content).partition("[suma:")[0] == shown(answer).partition("[suma:")[0]
    # The client sends the answer back with its links, and the chat is found by it.
    assert chat.last.suma["session_id"] == session


async def test_chat_links_assets_made_before_its_approval(agent: Agent) -> None:
    async with client_of(agent) as client:
        chat = Chat(client)
        assert "/v1/multimodal/assets/" not in await chat.say("draw and approve")
        turn = chat.last.suma["turn_id"]
        answer = await chat.say("approve")
    assert [path in answer for path in paths(turn)] == [True, True]
