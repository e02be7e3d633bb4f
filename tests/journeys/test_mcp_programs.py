"""Servers of tools that are programs: they run in each sandbox alone, approved with every byte of their folder."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.events import Event, Plan, ToolFailed, ToolSucceeded, ToolUnknown
from libs.sandbox import Sandboxes
from tests.conformance.sandbox.rigs import Rig
from tests.support.platform import REPOSITORY, TENANT, RunningPlatform, plan, run_platform, scripted_model

PAGE = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
SERVER = re.findall(r"^```python title=words/server.py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
COUNT = ("words.count", {"text": "a b c"})
OUTCOMES = (ToolSucceeded, ToolFailed, ToolUnknown)
OPERATOR = {"principal": "op", "scopes": ["*"]}
LOOK = """
import os, socket
def tried(attempt):
    try:
        attempt()
        return "possible"
    except OSError:
        return "refused"
def found():
    away = tried(lambda: socket.create_connection(("192.0.2.1", 80), timeout=2))
    write = tried(lambda: open("/server/new", "w"))
    return f"{away} {write} {sorted(os.listdir('/server'))} {os.getuid() == 0} {os.path.exists('/etc/shadow')}"
"""


class Programs:
    """A platform with the server `words`, and its operator."""

    def __init__(self, at: RunningPlatform, folder: Path) -> None:
        self.at, self.folder = at, folder

    def write(self, text: str, name: str = "server.py") -> None:
        (self.folder / name).write_text(text)

    async def server(self) -> dict[str, Any]:
        """Look again at the server."""
        self.at.clock.by += timedelta(seconds=11)
        (server,) = (await self._put("servers"))["servers"]
        return dict(server)

    async def approve(self) -> None:
        (tool,) = (await self.server())["tools"]
        await self._put(f"tools/{tool['name']}/approval", digest=tool["digest"])

    async def count(self, kind: type[Any]) -> Any:
        """Call the tool, and return its outcome."""
        await self.at.say("count", session="s")
        asked = await self.at.until(Event, session="s", where=lambda event: isinstance(event, OUTCOMES))
        assert isinstance(asked, kind), asked
        return asked

    async def _put(self, path: str, **body: Any) -> Any:
        where = f"/internal/v1/remote/{path}"
        return await call(self.at.platform, "tool_executor", "PUT", where, tenant=TENANT, json={**OPERATOR, **body})


@asynccontextmanager
async def programs(
    where: Dsns, folder: Path, sandboxes: Sequence[Sandboxes], *, calls: int = 1, **fields: Any
) -> AsyncIterator[Programs]:
    (folder / "words").mkdir()
    (folder / "words" / "server.py").write_text(SERVER)
    words = {"command": ["python3", "server.py"], "folder": folder / "words", "read_only": ["count"], **fields}
    settings = {"tool_executor": {"mcp_servers": {"words": words}, "effect_attempts": 1, "settle_seconds": 0}}
    (step,) = plan(COUNT).steps
    steps = (step.model_copy(update={"mutates": not words["read_only"]}),)
    model = scripted_model(*[Plan(plan_id="p", steps=steps)] * calls)
    async with run_platform(where, folder, model=model, settings=settings, sandboxes=sandboxes) as at:
        yield Programs(at, folder / "words")


@pytest.mark.requirement("S0-34", "P4")
async def test_approved_program_answers_and_reaches_nothing_else(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    async with programs(where, tmp_path, [Sandboxes(rig.launcher())]) as made:
        looking = SERVER.replace('f"{count} words"', 'f"{count} words; {found()}"')
        made.write(looking.replace("import sys", f"import sys{LOOK}"))
        server = await made.server()
        assert (server["tools"][0]["state"], server["tools"][0]["effect_class"]) == ("new", "pure")
        assert server["address"].startswith("sandbox: python3 server.py in ")
        await made.approve()
        done = await made.count(ToolSucceeded)
        assert done.data.json_["text"] == "3 words; refused refused ['server.py'] False False"
        assert done.data.json_["untrusted"] == "said by the server words"


@pytest.mark.requirement("P4")
async def test_changed_byte_of_the_folder_needs_a_new_approval(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    async with programs(where, tmp_path, [Sandboxes(rig.launcher())], calls=2) as made:
        await made.approve()
        made.write("# another file", "more.py")
        assert (await made.count(ToolFailed)).code == "REMOTE_TOOL_CHANGED"
        assert (await made.server())["tools"][0]["state"] == "changed"
        await made.approve()
        await made.count(ToolSucceeded)


async def test_program_that_dies_in_a_call_leaves_the_effect_unknown(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    async with programs(where, tmp_path, [Sandboxes(rig.launcher())], read_only=[]) as made:
        made.write(SERVER.replace("count = len", "sys.exit(3)\n            count = len"))
        await made.approve()
        await made.at.say("count", session="s")
        await made.at.decide(await made.at.asked(session="s"), session="s")
        await made.at.until(ToolUnknown, session="s")


UNFIT = {
    "import sys; sys.exit('no licence')": "no licence",
    "print('not json', flush=True); import time; time.sleep(60)": "",
    "print('x' * (5 << 20), flush=True)": "",
    "import time; time.sleep(60)": "TimeoutError",
}
"""Programs that end, answer nonsense, answer too much, and are silent, each with a part of its problem."""


async def test_folder_with_a_link_is_listed_with_its_problem(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    async with programs(where, tmp_path, [Sandboxes(rig.launcher())]) as made:
        (made.folder / "passwd").symlink_to("/etc/passwd")
        assert "is a link or a device" in (await made.server())["problem"]


@pytest.mark.parametrize(("text", "problem"), UNFIT.items(), ids=["ends", "nonsense", "floods", "silent"])
async def test_unfit_program_is_listed_with_its_problem(
    where: Dsns, tmp_path: Path, rig: Rig, text: str, problem: str
) -> None:
    # Only one that sleeps is waited for; to start may take long on a busy machine.
    seconds = 5 if "sleep" in text else 30
    async with programs(where, tmp_path, [Sandboxes(rig.launcher())], connect_seconds=seconds) as made:
        made.write(text)
        server = await made.server()
        assert (server["tools"], bool(server["problem"]), problem in server["problem"]) == ([], True, True)


async def test_program_without_a_sandbox_is_refused(where: Dsns, tmp_path: Path) -> None:
    async with programs(where, tmp_path, ()) as made:
        server = await made.server()
        assert (server["tools"], "no sandbox works here" in server["problem"]) == ([], True)
