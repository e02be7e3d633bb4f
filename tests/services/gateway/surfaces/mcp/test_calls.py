"""Calls as MCP hosts without forms make them: the SDK's own client, in both revisions."""

from __future__ import annotations

from typing import Any

import pytest

from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from tests.services.gateway.running import running_gateway
from tests.services.gateway.surfaces.a2a.agent import Worker
from tests.services.gateway.surfaces.mcp.test_limits import REVISIONS, connected


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_answer_returns_the_result_of_the_asking_turn(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, revision: str
) -> None:
    given: dict[str, Any] = {"policy": rules, "keys": keys}
    async with (
        running_gateway(gateway_where, owner, Worker().subscriptions, **given) as made,
        connected(made, revision) as client,
    ):
        asked = (await client.call_tool("suma_run", {"text": "which one"})).structured_content
        answer = {"text": "the red one", "session_id": asked["session_id"]}
        done = (await client.call_tool("suma_run", answer)).structured_content
    assert (asked["state"], asked["question"]["text"]) == ("awaiting_clarification", "Which folder?")
    assert (done["turn_id"], done["state"], done["answer"]) == (asked["turn_id"], "completed", "THE RED ONE")
