"""Forms of MCP: each way to leave one ends the call in a state from which its host can go on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from mcp_types import CallToolResult, ElicitResult, ErrorData

from tests.services.gateway.running import RunningGateway
from tests.services.gateway.surfaces.a2a.agent import Agent
from tests.services.gateway.surfaces.mcp.test_limits import REVISIONS, connected

Said = ElicitResult | ErrorData
CANCELLED = ElicitResult(action="cancel")
FAILED = ErrorData(code=-32603, message="the window was closed")
EMPTY = ElicitResult(action="accept", content={})
ASKED = {"approve this": "awaiting_approval", "which one": "awaiting_clarification"}
"""What makes a worker ask, and the state of the turn that waits."""


@pytest.fixture
def home(agent: Agent) -> RunningGateway:
    return replace(agent.gateway, owner=agent.key)


class Person:
    """A host's user, who answers one form after the other."""

    def __init__(self, *answers: Said) -> None:
        self._answers = list(answers)

    async def __call__(self, context: Any, params: Any) -> Said:
        return self._answers.pop(0)

    @property
    def done(self) -> bool:
        return not self._answers


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize(
    ("revision", "said"),
    [("2025-11-25", CANCELLED), ("2025-11-25", FAILED), ("2026-07-28", CANCELLED)],
    ids=["cancelled before", "failed before", "cancelled"],
)
async def test_form_that_is_left_ends_its_call_with_the_question(
    home: RunningGateway, revision: str, text: str, said: Said
) -> None:
    async with connected(home, revision, elicitation_callback=Person(said)) as client:
        left: CallToolResult = await client.call_tool("suma_run", {"text": text})
    assert (left.structured_content["state"], left.is_error) == (ASKED[text], False)
    assert "question" in left.structured_content


@pytest.mark.parametrize("text", ASKED)
async def test_abandoned_question_is_asked_again_by_the_next_call(home: RunningGateway, text: str) -> None:
    answer = {"decision": "approve"} if "approve" in text else {"answer": "the red one"}
    person = Person(CANCELLED, CANCELLED, ElicitResult(action="accept", content=answer))
    async with connected(home, "2025-11-25", elicitation_callback=person) as client:
        left = (await client.call_tool("suma_run", {"text": text})).structured_content
        again = (await client.call_tool("suma_follow", {"turn_id": left["turn_id"]})).structured_content
        done = (await client.call_tool("suma_follow", {"turn_id": left["turn_id"]})).structured_content
    assert (again["turn_id"], again["state"], done["turn_id"]) == (left["turn_id"], ASKED[text], left["turn_id"])
    assert (done["state"], person.done) == ("completed", True)


async def test_empty_answer_ends_its_call_with_the_question(home: RunningGateway) -> None:
    async with connected(home, "2025-11-25", elicitation_callback=Person(EMPTY)) as client:
        left = (await client.call_tool("suma_run", {"text": "which one"})).structured_content
    assert left["state"] == "awaiting_clarification"


@pytest.mark.parametrize("revision", sorted(REVISIONS))
@pytest.mark.parametrize("text", ASKED)
async def test_declined_form_closes_its_question(home: RunningGateway, revision: str, text: str) -> None:
    person = Person(ElicitResult(action="decline"))
    async with connected(home, revision, elicitation_callback=person) as client:
        done = (await client.call_tool("suma_run", {"text": text})).structured_content
        query = "select count(*) from gateway.turns where ended_at is null and tenant_id = $1"
        (open,) = await home.rows(query, home.tenant)
    assert (done["state"], open["count"]) == ("completed" if "approve" in text else "cancelled", 0)
