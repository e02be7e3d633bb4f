"""Sessions share no file, sandbox, fact, memory or stream, whatever a model asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tests.infrastructure.vendor import APPROVED, Vendor, planned, said
from tests.infrastructure.wish import answered, get, post
from tests.journeys.installation import Installation, installation
from tests.support.platform import skills

SECRET, CLUB = "opens with 4711", "Zugzwang Chess Club"
IDENTITY = {"session", "session_id", "tenant", "tenant_id", "user", "user_id", "principal", "universe", "turn_id"}
COMMAND = "run-commands.run"


async def started(api: httpx.AsyncClient, own: Installation, name: str, text: str) -> str:
    """Return a session of its own in a folder of its own."""
    folder = own.folder / name
    folder.mkdir()
    (folder / f"{name}.txt").write_text(text)
    return str((await post(api, "/v1/sessions", {"root": str(folder)}))["session_id"])


async def asked(api: httpx.AsyncClient, session: str, text: str) -> tuple[str, list[dict[str, Any]]]:
    """Ask for something, agree to all of it, and return the turn with every event of the session."""
    turn = (await post(api, f"/v1/sessions/{session}/messages", {"text": text}))["turn_id"]
    await answered(api, session, turn)
    return turn, (await get(api, f"/v1/sessions/{session}/events", stream="false"))["events"]


@pytest.mark.requirement("A29", "S0-32")
async def test_session_reaches_nothing_of_another_one(
    in_bubblewrap: Mapping[str, str], there: Vendor, tmp_path: Path
) -> None:
    async with installation(tmp_path / "installation", **in_bubblewrap) as own:
        await own.start()
        async with own.api() as api:
            first = await started(api, own, "one", f"the safe {SECRET}")
            leave = (COMMAND, {"command": "cp one.txt /tmp/left.txt"}), (COMMAND, {"command": "cat /tmp/left.txt"})
            remember = ("memory.remember", {"text": f"my club is {CLUB}"})
            there.play(planned(*leave, remember), APPROVED, said("Done."))
            _, events = await asked(api, first, f"the safe {SECRET}; leave a copy, and remember my club")
            assert f"the safe {SECRET}" in [e["data"]["data"]["output"] for e in events if e["data"].get("data")]
            async with asyncio.timeout(60):
                while CLUB not in str(await get(api, "/v1/memory/facts")):
                    pass
                while SECRET not in str(await get(api, "/v1/memory/memories", session=first)):
                    pass

            key = (await post(api, "/v1/admin/keys", {"principal": "guest", "roles": ["user"]}))["key"]
            guest = {"Authorization": f"Bearer {key}"}
            commands = ("cat /tmp/left.txt", "cat ../one/one.txt", f"cat {own.folder}/one/one.txt")
            reads = [(COMMAND, {"command": command}) for command in commands]
            for name, headers, secrets in (("two", {}, [SECRET]), ("three", guest, [SECRET, CLUB])):
                api.headers.update(headers)
                own_session = await started(api, own, name, "nothing")
                before = len(there.asked)
                told = ("manage-files.list", {"path": ".", "session_id": first})
                there.play(planned(told), planned(*reads), APPROVED, said("Nothing."))
                turn, events = await asked(api, own_session, "how does the safe open, and which club is mine?")
                outputs = [e["data"]["data"]["output"] for e in events if e["data"].get("data")]
                assert [output.endswith("No such file or directory\n") for output in outputs] == [True] * 3, outputs
                assert {e["turn_id"] for e in events} == {turn}
                prompts = [each.text for each in there.asked[before:]]
                assert "session_id" in prompts[1], "the plan that names a session was not refused"
                assert [s for s in secrets if s in "".join(prompts) or s in orjson.dumps(events).decode()] == []
            for path in (f"/v1/sessions/{first}/events", f"/v1/sessions/{first}/diff"):
                assert (await api.get(path)).status_code == 404


@pytest.mark.requirement("A29")
def test_tools_take_no_session_from_a_model() -> None:
    tools = skills().tools
    assert [tool.name for tool in tools if tool.params.get("additionalProperties") is not False] == []
    assert [tool.name for tool in tools if IDENTITY.intersection(tool.params.get("properties", {}))] == []
