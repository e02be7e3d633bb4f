"""The agents that a message may choose."""

from __future__ import annotations

from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from libs.runtime import Agent
from tests.services.gateway.running import running_gateway

AGENTS = {"reader": Agent(tools=("edit-files.read",), role="reads", prompt="secret of the operator")}


async def test_message_chooses_a_listed_agent_only(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str
) -> None:
    async with running_gateway(gateway_where, owner, policy=rules, keys=keys, agents=AGENTS) as made:
        async with made.client() as http:
            listed = (await http.get("/v1/agents")).json()
            assert listed == {"agents": [{"name": "reader", "role": "reads", "tools": ["edit-files.read"]}]}
            unknown = await http.post("/v1/sessions/message", json={"text": "hello", "agent": "nobody"})
            assert (unknown.status_code, unknown.json()["code"]) == (422, "UNKNOWN_AGENT")
            known = await http.post("/v1/sessions/message", json={"text": "hello", "agent": "reader"})
            assert known.status_code == 202
        assert [data["agent"] async for data in made.published("suma.message.received.v1")] == ["reader"]
