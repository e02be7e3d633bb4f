"""The examples of docs/extending.md, as they stand on the page."""

from __future__ import annotations

import asyncio
import re
import shlex
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.events import PlanRejected, StepChanged, StepState, ToolCall, TurnEnded
from libs.events.topics import OBSERVERS
from libs.hooks import Gates
from libs.hooks import load as load_hooks
from libs.remote_tools import ServerDown
from libs.remote_tools.mcp_server import McpServer
from libs.resilience import GuardedCall
from libs.skills import Skills, read_skill
from libs.tools import Intent
from libs.tools import load as load_tools
from services import observers
from services.settings import Process, everything
from tests.support.platform import REPOSITORY, TENANT, RunningPlatform, plan, run_platform, scripted_model

PAGE = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
FILES = dict(re.findall(r"^```\w+ title=(\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SETTINGS = re.findall(r"^export (.*)$", PAGE, re.MULTILINE)
WRITE = "edit-files.write"


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Process:
    """Install the page's files, and return the settings with the page's variables."""
    for name, text in FILES.items():
        file = tmp_path / "page" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "page")
    monkeypatch.setenv("ACME_NOTES", str(tmp_path / "notes"))
    for word in SETTINGS:
        name, _, value = shlex.split(word)[0].partition("=")
        monkeypatch.setenv(name, value)
    return everything()


async def act(at: RunningPlatform, **said: Any) -> TurnEnded:
    turn = await at.say("do it", session="s", root=at.folder("a.txt"), **said)
    return await at.finish(turn, session="s")


async def errors(at: RunningPlatform) -> Sequence[str]:
    changed = [event for event in await at.logged("s") if isinstance(event, StepChanged)]
    return [event.error or "" for event in changed if event.state is StepState.DENIED]


@pytest.mark.requirement("S0-34")
async def test_tool_of_the_page_runs(home: Dsns, tmp_path: Path, given: Process) -> None:
    tools = load_tools(given.of("tool_executor").tools)  # type: ignore[attr-defined]
    model = scripted_model(plan(("clock.now", {"zone": "Europe/Berlin"})))
    async with run_platform(home, tmp_path, model=model, tools=tools) as at:
        assert (await act(at)).state == "completed"
        assert await at.steps("s") == {1: StepState.SUCCEEDED}


@pytest.mark.requirement("S2-07")
async def test_one_list_has_every_tool_with_its_risks(home: Dsns, tmp_path: Path, given: Process) -> None:
    tools = load_tools(given.of("tool_executor").tools)  # type: ignore[attr-defined]
    async with run_platform(home, tmp_path, tools=tools) as at:
        found = await call(at.platform, "tool_executor", "GET", "/internal/v1/tools", tenant=TENANT)
        # A tool that the list names can be called by its name.
        turn = await at.say("the time", session="s", call=ToolCall(tool="clock.now", args={"zone": "Etc/UTC"}))
        await at.finish(turn, session="s")
        changed = [event for event in await at.logged("s") if isinstance(event, StepChanged)]
        assert str(changed[-1].data).endswith("+00:00'}")
        listed = {tool["name"]: (tool["source"], tool["risks"], tool["effect_class"]) for tool in found["tools"]}
        assert listed["clock.now"] == ("package", ["reads"], "pure")
        assert listed["web.fetch"] == ("skill", ["reads", "network"], "pure")
        assert listed["manage-files.delete"] == ("skill", ["changes"], "staged")


@pytest.mark.requirement("S0-35")
async def test_gate_of_the_page_refuses_one_call_of_two(home: Dsns, tmp_path: Path, given: Process) -> None:
    gates = Gates(load_hooks(given.hooks.gates), seconds=given.hooks.seconds)
    calls = [(WRITE, {"path": path, "content": "x"}) for path in ("b.txt", "contracts/c.txt")]
    async with run_platform(home, tmp_path, model=scripted_model(plan(*calls)), gates=gates) as at:
        await act(at)
        assert await at.steps("s") == {1: StepState.SUCCEEDED, 2: StepState.DENIED}
        assert await errors(at) == ["hook: acme_gates:keep_contracts: contracts are kept as they are"]


@pytest.mark.requirement("S0-35")
async def test_observer_of_the_page_notes_a_failed_task(home: Dsns, tmp_path: Path, given: Process) -> None:
    watching = observers.service(load_hooks(given.hooks.observers), seconds=given.hooks.seconds)
    async with run_platform(home, tmp_path, agents=given.agents, others=[watching]) as at:
        turn = await at.say("hello", session="s", agent="gone")
        await at.ended(turn, session="s")
        async with asyncio.timeout(30):
            while sum((await at.platform.bus.lag([OBSERVERS])).values()):
                await at.platform.bus.waiting()
    assert (tmp_path / "notes").read_text().endswith(" s UNKNOWN_AGENT\n")


def test_skill_of_the_page_is_valid(tmp_path: Path, given: Process) -> None:
    skill = read_skill(tmp_path / "page" / "naming-photos")
    assert (skill.name, skill.tools) == ("naming-photos", ())
    assert "naming-photos" in Skills.of([skill], {}).skills


@pytest.mark.requirement("S1-22")
async def test_agent_of_the_page_cannot_write(home: Dsns, tmp_path: Path, given: Process) -> None:
    given_call = ToolCall(tool=WRITE, args={"path": "b.txt", "content": "x"})
    async with run_platform(home, tmp_path, agents=given.agents) as at:
        assert (await act(at, agent="reader", call=given_call)).state == "refused"
        assert [event for event in await at.logged("s") if isinstance(event, PlanRejected)]


async def test_server_of_the_page_is_called_over_http(
    home: Dsns, tmp_path: Path, given: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("PORT", str(port))
    monkeypatch.setenv("SUMA_TOOL_EXECUTOR__MCP_SERVERS__TICKETS__URL", f"http://127.0.0.1:{port}/mcp")
    program = await asyncio.create_subprocess_exec(sys.executable, tmp_path / "page" / "acme_tickets.py")
    try:
        async with asyncio.timeout(60):
            while (tickets := await _answering(everything())) is None:
                assert program.returncode is None
        intent = Intent("i", "t", "s", "turn", "s1", "tickets.create", {"title": "a door"}, 1, lambda: True)
        done = await tickets.call("create", intent, unchanged=lambda found: None)
        assert done.data["text"] == "created a door"
    finally:
        program.kill()
        await program.wait()


async def _answering(settings: Process) -> McpServer | None:
    """Return the server once it listens."""
    given = settings.of("tool_executor").mcp_servers["tickets"]  # type: ignore[attr-defined]
    tickets = McpServer("tickets", given, GuardedCall("tickets"))
    try:
        assert [tool.name for tool in await tickets.tools()] == ["create"]
    except ServerDown:
        return None
    return tickets


def test_program_of_the_page_has_its_settings(given: Process) -> None:
    words = given.of("tool_executor").mcp_servers["words"]  # type: ignore[attr-defined]
    assert (words.command, words.folder, words.read_only) == (("python3", "server.py"), Path("/srv/words"), ("count",))
