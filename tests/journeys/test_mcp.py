"""MCP hosts, by the SDK's own client over a socket: both revisions, on one platform."""

from __future__ import annotations

import json
import os
import re
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult
from typing_extensions import override

from deploy.local.cache import Unprovided
from deploy.local.ports import free_port
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.events import ActionRecorded, ActionsRecorded
from libs.identity.keys import mint
from services import http_server
from services.gateway.identity.directory import Directory
from services.gateway.identity.local_key import ensure_local_key
from tests import infrastructure
from tests.infrastructure import mcp_inspector
from tests.journeys.clients.mcp import REVISIONS, connected
from tests.journeys.installation import ROOT
from tests.support import gateway_replica, platform
from tests.support.platform import SERVICES, WITHIN, ControllablePolicy, RunningPlatform
from tests.support.processes import Child

PAGE = ROOT / "docs" / "connect" / "mcp.md"


@dataclass(frozen=True)
class Served:
    """A platform behind a socket, and its owner's key."""

    at: RunningPlatform
    where: Dsns
    url: str
    key: str

    async def stranger(self) -> str:
        """Return the key of another tenant's owner."""
        text, stored = mint("acme", "owner", scopes=["*"])
        directory = Directory(self.at.platform.database)
        await directory.put_tenant("acme")
        await directory.put_key(stored, name="test", by="test")
        return text

    @asynccontextmanager
    async def client(
        self, revision: str, key: str | None = None, *, url: str | None = None, **callbacks: Any
    ) -> AsyncIterator[Client]:
        async with connected(url or self.url, key or self.key, revision, **callbacks) as client:
            with anyio.fail_after(WITHIN):
                yield client


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    key = mint("local", "owner", scopes=["*"])[0]
    settings: dict[str, Any] = {"gateway": {"local_key": key}}
    names = (*SERVICES, "audit_worker", "memory_service", "gateway")
    async with (
        infrastructure.fresh_database(server, await platform.template(server)) as where,
        platform.run_platform(where, tmp_path_factory.mktemp("mcp"), names=names, settings=settings) as at,
    ):
        await ensure_local_key(at.platform, key)
        app = at.platform.clients["gateway"]()._transport.app  # type: ignore[attr-defined]
        with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
            async with http_server.serving(app, door):
                yield Served(at, where, http_server.url_of(door), key)


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_primitive_returns_its_result(served: Served, revision: str) -> None:
    folder = served.at.folder("a.txt", "b.txt", at=f"look-{revision}")
    seen: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message or "")

    async with served.client(revision) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"suma_run", "suma_follow", "suma_cancel", "manage-files__list"} <= names
        args = {"path": ".", "root": str(folder)}
        found = await client.call_tool("manage-files__list", args, progress_callback=progress)
    assert not found.is_error, found
    assert found.structured_content["data"]["count"] == 2
    assert any("succeeded" in message for message in seen), seen


@dataclass
class Person:
    """A host's user: answers forms in order, and keeps what was asked."""

    answers: list[dict[str, Any] | str]
    asked: list[Any] = field(default_factory=list)

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        said = self.answers.pop(0)
        if isinstance(said, str):
            return ElicitResult(action=said)
        return ElicitResult(action="accept", content=said)


APPROVE: dict[str, Any] = {"decision": "approve"}


def folder_of(served: Served, name: str, revision: str) -> Path:
    return served.at.folder("a.tmp", "b.tmp", "notes.txt", at=f"{name}-{revision}")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[a-z]*"))


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_declined_form_changes_nothing(served: Served, revision: str) -> None:
    folder, person = folder_of(served, "no", revision), Person(["decline"] * 3)
    async with served.client(revision, elicitation_callback=person) as client:
        await client.call_tool("suma_run", {"text": "delete the tmp files", "root": str(folder)})
    assert person.asked
    assert len(names(folder)) == 3


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_client_without_forms_receives_the_question(served: Served, revision: str) -> None:
    folder = folder_of(served, "told", revision)
    async with served.client(revision) as client:
        told = await client.call_tool("suma_run", {"text": "delete the tmp files", "root": str(folder)})
        turn = told.structured_content["turn_id"]
        assert told.structured_content["question"]["kind"] == "step"
        again = await client.call_tool("suma_follow", {"turn_id": turn})
        assert again.structured_content["question"] == told.structured_content["question"]
        done = await client.call_tool("suma_cancel", {"turn_id": turn, "reason": "enough"})
    assert done.structured_content["state"] == "cancelled", done


@pytest.mark.requirement("A23")
@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_cancelled_call_cancels_its_turn(served: Served, revision: str) -> None:
    """A turn waits for an answer of policy; the client gives its call up."""
    folder, began = folder_of(served, "cancel", revision), anyio.Event()
    heard: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")
        began.set()

    policy = cast("ControllablePolicy", served.at.platform.policy)
    async with served.client(revision) as client:
        first = await client.call_tool("suma_run", {"text": "list the files", "root": str(folder)})
        session = first.structured_content["session_id"]
        policy.silent.add("tool.execute")
        try:
            async with anyio.create_task_group() as group:
                args = {"text": "list the files", "session_id": session}
                group.start_soon(lambda: client.call_tool("suma_run", args, progress_callback=progress))
                await began.wait()
                group.cancel_scope.cancel()
            turn = heard[0].split()[1]
            assert (await served.at.ended(turn, session=session)).state == "cancelled"
        finally:
            policy.silent.clear()


@pytest.mark.requirement("P8")
@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_another_tenants_turn_looks_like_none(served: Served, revision: str) -> None:
    folder = folder_of(served, "theirs", revision)
    async with served.client(revision) as client:
        mine = await client.call_tool("suma_run", {"text": "list the files", "root": str(folder)})
    turn, session = mine.structured_content["turn_id"], mine.structured_content["session_id"]
    async with served.client(revision, await served.stranger()) as client:
        for name in ("suma_follow", "suma_cancel"):
            seen, none = [await client.call_tool(name, {"turn_id": id}) for id in (turn, "none")]
            assert seen.is_error
            assert seen == none
        seen, none = [await client.call_tool("suma_run", {"text": "x", "session_id": id}) for id in (session, "none")]
        assert seen.is_error
        assert seen == none


OWN = ("suma://audit/head", "suma://memory/facts")


async def test_resources_show_sessions_results_facts_and_the_audit_head(served: Served) -> None:
    folder = served.at.folder(*(f"{'long' * 20}-{n}.txt" for n in range(900)), at="large")
    async with served.client("2026-07-28") as client:
        large = await client.call_tool("manage-files__list", {"path": ".", "root": str(folder)})
        turn, session = large.structured_content["turn_id"], large.structured_content["session_id"]
        listed = {str(each.uri) for each in (await client.list_resources()).resources}
        assert {f"suma://sessions/{session}", *OWN, "skill://manage-files/SKILL.md"} <= listed
        links = [block.uri for block in large.content if block.type == "resource_link"]
        seen = [await client.read_resource(uri) for uri in (*links, f"suma://sessions/{session}", *OWN)]
    result, shown, head, known = [json.loads(each.contents[0].model_dump()["text"]) for each in seen]
    assert result["count"] == 900
    assert [each["turn_id"] for each in shown["turns"]] == [turn]
    assert head["count"] > 0
    assert known == {"facts": []}
    assert {"asset.read", "admin.audit"} <= {record.action for record in await actions(served)}


async def actions(served: Served) -> list[ActionRecorded]:
    pool = await served.at.platform.database.bus()
    said = "select data::text from bus.log where type = $1"
    alone = [ActionRecorded.model_validate_json(row["data"]) for row in await pool.fetch(said, ActionRecorded.type)]
    rows = await pool.fetch(said, ActionsRecorded.type)
    return alone + [each for row in rows for each in ActionsRecorded.model_validate_json(row["data"]).records]


async def uploaded(served: Served) -> str:
    """Return the id of a file that the owner has uploaded."""
    content = b"mine alone"
    about = {"Upload-Length": str(len(content)), "Upload-Metadata": f"filename {b64encode(b'note.txt').decode()}"}
    bytes = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}
    held = {"Authorization": f"Bearer {served.key}"}
    async with httpx2.AsyncClient(base_url=served.url, headers=held, trust_env=False) as http:
        made = await http.post("/v1/uploads", headers={**about, **bytes}, content=content)
    return made.headers["location"].rpartition("/")[2]


@pytest.mark.requirement("P8")
@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_strangers_resource_looks_like_none(served: Served, revision: str) -> None:
    async with served.client(revision) as client:
        mine = await client.call_tool("suma_run", {"text": "list the files", "root": str(served.at.folder("a.txt"))})
        file = f"suma://assets/{await uploaded(served)}"
        assert (await client.read_resource(file)).contents[0].model_dump()["text"] == "mine alone"
    about = mine.structured_content
    async with served.client(revision, await served.stranger()) as client:
        for uri in (f"suma://sessions/{about['session_id']}", f"suma://turns/{about['turn_id']}", file):
            refused = []
            for one in (uri, uri.rpartition("/")[0] + "/none"):
                with pytest.raises(MCPError) as error:
                    await client.read_resource(one)
                refused.append((error.value.code, error.value.message))
            assert refused[0] == refused[1]
        assert not [each for each in (await client.list_resources()).resources if about["session_id"] in str(each.uri)]


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_skills_are_prompts_and_files(served: Served, revision: str) -> None:
    async with served.client(revision) as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert "manage-files" in names
        prompt = await client.get_prompt("manage-files", {"task": "sort my downloads"})
        page = await client.read_resource("skill://manage-files/SKILL.md")
    text = prompt.messages[0].content.model_dump()["text"]
    assert text.endswith("sort my downloads")
    assert "# Manage files" in text
    assert "# Manage files" in page.contents[0].model_dump()["text"]


def command(url: str, key: str) -> StdioServerParameters:
    """Return the page's command, for the file in which a desktop host has it."""
    (config,) = code("json")
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {"SUMA_URL": url, "SUMA_API_KEY": key, "PYTHONPATH": str(ROOT), "PATH": programs}
    return StdioServerParameters(**json.loads(config)["mcpServers"]["suma"], env=own)


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_command_serves_hosts_on_standard_streams(served: Served, revision: str) -> None:
    folder, person = folder_of(served, "stdio", revision), Person([APPROVE] * 3)
    host = Client(command(served.url, served.key), mode=REVISIONS[revision], elicitation_callback=person)
    with anyio.fail_after(WITHIN):
        async with host as client:
            assert client.protocol_version == revision
            done = await client.call_tool("suma_run", {"text": "delete the tmp files", "root": str(folder)})
    assert done.structured_content["state"] == "completed", done
    assert names(folder) == ["notes.txt"]


async def test_command_without_a_platform_reports_it() -> None:
    started = command(f"http://127.0.0.1:{free_port()}", "suma_none")
    ended = await anyio.run_process([started.command, *started.args], env=started.env, check=False, input=b"")
    assert ended.returncode == 4
    assert b"suma up" in ended.stderr


def code(kind: str) -> list[str]:
    """Return the blocks of the page in a language."""
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)


async def shell(served: Served, script: str, **environment: str) -> str:
    given = {"PATH": os.environ["PATH"], **environment, "SUMA_URL": served.url, "SUMA_API_KEY": served.key}
    with anyio.fail_after(WITHIN):
        return (await anyio.run_process(["sh", "-ec", script], env=given)).stdout.decode()


async def test_curl_of_the_page_works(served: Served) -> None:
    folder = folder_of(served, "page", "curl")
    said = await shell(served, code("sh")[1].replace("/home/ada/Downloads", str(folder)))
    assert "suma_follow" in said
    assert "notes.txt" in said


async def test_inspector_of_the_page_lists_the_tools(served: Served, tmp_path: Path) -> None:
    try:
        place = mcp_inspector.package()
    except Unprovided as reason:
        pytest.skip(str(reason))
    said = await shell(served, f"cd {place}\n{code('sh')[0]}", **mcp_inspector.environment(tmp_path))
    listed = json.loads(said)
    assert "suma_run" in [tool["name"] for tool in listed["tools"]]


class Replicas:
    """Gateways on one port, one after another."""

    def __init__(self, served: Served) -> None:
        self._served, self.port = served, free_port()
        self._child = self._begun()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answers(self) -> None:
        with anyio.fail_after(WITHIN):
            await self._answers()

    async def _answers(self) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            while True:
                try:
                    await http.get(f"{self.url}/healthz")
                    return
                except httpx2.TransportError:
                    await anyio.sleep(0.02)

    async def replace(self) -> None:
        """Kill the gateway, and start another."""
        await self.kill()
        self._child = self._begun()
        await self.answers()

    async def kill(self) -> None:
        self._child.kill()
        await self._child.ended()

    def _begun(self) -> Child:
        return Child(gateway_replica.serve, self._served.where, self._served.at.root.parent, self.port)


@pytest.mark.requirement("A22b", "P1")
async def test_calls_end_although_their_gateway_was_killed(served: Served) -> None:
    """The gateway dies while the users look at their forms. Their answers, and the calls, go on at the next one."""
    gateways, both, killed = Replicas(served), anyio.Semaphore(0), anyio.Event()
    done: dict[str, Any] = {}

    class Slow(Person):
        @override
        async def __call__(self, context: Any, params: Any) -> ElicitResult:
            both.release()
            await killed.wait()
            return await super().__call__(context, params)

    async def run(revision: str) -> None:
        person, args = Slow([APPROVE] * 4), {"text": "delete the tmp files"}
        root = str(folder_of(served, "killed", revision))
        async with served.client(revision, url=gateways.url, elicitation_callback=person) as client:
            done[revision] = await client.call_tool("suma_run", {**args, "root": root})

    await gateways.answers()
    async with anyio.create_task_group() as group:
        for revision in REVISIONS:
            group.start_soon(run, revision)
        for _ in REVISIONS:
            await both.acquire()
        await gateways.replace()
        killed.set()
    await gateways.kill()
    for revision in REVISIONS:
        assert done[revision].structured_content["state"] == "completed", done
        assert names(served.at.root / f"killed-{revision}") == ["notes.txt"]
