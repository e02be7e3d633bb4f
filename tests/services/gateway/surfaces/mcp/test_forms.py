"""Forms of MCP: each way to leave one ends the call in a state from which its host can go on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from mcp_types import CallToolResult, ElicitResult, ErrorData

from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from tests.services.gateway.running import RunningGateway, running_gateway
from tests.services.gateway.surfaces.a2a.agent import DIGEST, Agent, Worker
from tests.services.gateway.surfaces.mcp.test_limits import REVISIONS, connected

Said = ElicitResult | ErrorData
CANCELLED = ElicitResult(action="cancel")
FAILED = ErrorData(code=-32603, message="the window was closed")
EMPTY = ElicitResult(action="accept", content={})
ASKED = {"approve this": "awaiting_approval", "which one": "awaiting_clarification"}
"""What makes a worker ask, and the state of the turn that waits."""


@pytest_asyncio.fixture(loop_scope="session")
async def home(gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str) -> AsyncIterator[RunningGateway]:
    given: dict[str, Any] = {"policy": rules, "keys": keys}
    async with running_gateway(gateway_where, owner, Worker().subscriptions, **given) as made:
        yield made


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
async def test_left_question_is_asked_anew_by_the_next_call(home: RunningGateway, text: str) -> None:
    answer = {"decision": "approve"} if "approve" in text else {"answer": "the red one"}
    person = Person(CANCELLED, CANCELLED, ElicitResult(action="accept", content=answer))
    async with connected(home, "2025-11-25", elicitation_callback=person) as client:
        left = (await client.call_tool("suma_run", {"text": text})).structured_content
        again = (await client.call_tool("suma_follow", {"turn_id": left["turn_id"]})).structured_content
        done = (await client.call_tool("suma_follow", {"turn_id": left["turn_id"]})).structured_content
    assert (again["turn_id"], again["state"], done["turn_id"]) == (left["turn_id"], ASKED[text], left["turn_id"])
    assert (done["state"], person.done) == ("completed", True)


async def test_misfit_answer_ends_its_call_with_the_question(home: RunningGateway) -> None:
    said = ElicitResult(action="accept", content={"decision": "approve", "exclude": ["nothing"]})
    async with connected(home, "2025-11-25", elicitation_callback=Person(said)) as client:
        left = (await client.call_tool("suma_run", {"text": "approve this"})).structured_content
    assert left["state"] == "awaiting_approval"


async def test_empty_answer_ends_its_call_with_the_question(home: RunningGateway) -> None:
    async with connected(home, "2025-11-25", elicitation_callback=Person(EMPTY)) as client:
        left = (await client.call_tool("suma_run", {"text": "which one"})).structured_content
    assert left["state"] == "awaiting_clarification"


@pytest.mark.parametrize("revision", sorted(REVISIONS))
@pytest.mark.parametrize("ending", ["approved", "denied", "declined", "failed", "closed elsewhere", "expired"])
async def test_each_ending_returns_the_turn_that_ended(home: RunningGateway, revision: str, ending: str) -> None:
    turn = _Asked(home, ending)
    async with connected(home, revision, elicitation_callback=turn.answered) as client:
        done = (await client.call_tool("suma_run", {"text": f"approve {ending}"})).structured_content
        again = (await client.call_tool("suma_follow", {"turn_id": done["turn_id"]})).structured_content
        more = {"text": "hello", "session_id": done["session_id"]}
        after = (await client.call_tool("suma_run", more)).structured_content
    assert (done["state"], again) == ("failed" if ending == "failed" else "completed", done)
    assert (after["state"], after["answer"]) == ("completed", "HELLO")


class _Asked:
    """A turn whose form is open, as its approval ends."""

    def __init__(self, home: RunningGateway, ending: str) -> None:
        self._home, self._ending = home, ending

    async def answered(self, context: Any, params: Any) -> Said:
        agent = Agent(self._home, Worker(), "", self._home.owner)
        ((session, turn, approval),) = await self._home.rows(
            "select session_id, turn_id, approval_id from gateway.approvals where outcome is null"
        )
        match self._ending:
            case "closed elsewhere":
                async with self._home.client() as http:
                    await http.post(f"/v1/approvals/{approval}", json={"verdict": "deny", "digest": DIGEST})
                await self._home.seen(session, lambda event: event.type == "turn.ended")
            case "expired":
                await agent.expire(session, turn, approval)
            case "declined":
                return ElicitResult(action="decline")
        decision = "deny" if self._ending == "denied" else "approve"
        return ElicitResult(action="accept", content={"decision": decision})


@pytest.mark.parametrize("revision", sorted(REVISIONS))
@pytest.mark.parametrize("text", ASKED)
async def test_declined_form_closes_its_question(home: RunningGateway, revision: str, text: str) -> None:
    person = Person(ElicitResult(action="decline"))
    async with connected(home, revision, elicitation_callback=person) as client:
        done = (await client.call_tool("suma_run", {"text": text})).structured_content
        (open,) = await home.rows("select count(*) from gateway.turns where ended_at is null")
    assert (done["state"], open["count"]) == ("completed" if "approve" in text else "cancelled", 0)
