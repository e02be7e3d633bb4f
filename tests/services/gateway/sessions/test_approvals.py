"""Approvals and their answers, with a simulated conversation worker."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from libs import ids
from libs.database import Dsns
from libs.events import ApprovalClosed, ApprovalDecided, ApprovalRequested, TurnStarted
from libs.policy import Policy
from tests.services.gateway.running import RunningGateway, running_gateway


async def _asked(home: RunningGateway, http: httpx.AsyncClient, kind: str = "step") -> ApprovalRequested:
    """A turn that waits for an approval."""
    accepted = (await http.post("/v1/sessions/message", json={"text": "tidy"})).json()
    turn = accepted["turn_id"]
    asked = ApprovalRequested(
        turn_id=turn,
        approval_id=ids.new(),
        kind=kind,
        digest="d1",
        title="Delete 3 files",
        expires_in=3600,
        tool="delete_files",
        args={"paths": ["a", "b"]},
        items=({"id": "a"}, {"id": "b"}),
    )
    await home.worker_says(accepted["session_id"], TurnStarted(turn_id=turn, message_id=None, text="tidy"), asked)
    await home.seen(accepted["session_id"], lambda event: event.type == "approval.requested")
    return asked


async def _session_of(http: httpx.AsyncClient, asked: ApprovalRequested) -> str:
    return str((await http.get(f"/v1/approvals/{asked.approval_id}")).json()["session_id"])


def _close(asked: ApprovalRequested, outcome: str) -> ApprovalClosed:
    return ApprovalClosed(turn_id=asked.turn_id, approval_id=asked.approval_id, outcome=outcome, principal="owner")


async def _sent_events(home: RunningGateway) -> list[Any]:
    """Return the gateway's events for the conversation worker."""
    return [data async for data in home.published("suma.approval.decided.v1")]


@pytest.mark.requirement("S4-34")
async def test_inbox_lists_an_approval_until_it_is_closed(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http)
    session = await _session_of(http, asked)
    (open_one,) = (await http.get("/v1/approvals", params={"session": session})).json()["approvals"]
    assert (open_one["digest"], open_one["data"]["items"]) == ("d1", [{"id": "a"}, {"id": "b"}])
    assert (await http.get(f"/v1/turns/{asked.turn_id}")).json()["state"] == "awaiting_approval"

    await home.worker_says(session, _close(asked, "approved"))
    await home.caught_up(session, 4)
    assert (await http.get("/v1/approvals")).json()["approvals"] == []
    assert (await http.get(f"/v1/turns/{asked.turn_id}")).json()["state"] == "running"


async def test_inbox_is_read_page_by_page(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = [(await _asked(home, http)).approval_id for _ in range(3)]
    found, after = list[str](), None
    for _ in range(4):
        page = (await http.get("/v1/approvals", params={"limit": 1, **({"after": after} if after else {})})).json()
        found += [approval["approval_id"] for approval in page["approvals"]]
        after = page["next"]
    assert (found, after) == (asked, None)


async def test_answer_reaches_the_worker_with_its_principal(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http)
    body = {"verdict": "override", "digest": "d1", "exclude": ["b"], "reason": "b is mine"}
    answer = await http.post(f"/v1/approvals/{asked.approval_id}", json=body)

    assert (answer.status_code, answer.json()["outcome"]) == (202, None)
    (sent,) = await _sent_events(home)
    decided = ApprovalDecided.model_validate(sent)
    assert (decided.verdict, decided.exclude, decided.principal, decided.scopes) == (
        "override",
        ("b",),
        "owner",
        ("*",),
    )
    assert [record["verdict"] for record in await home.audited("approval.decide")] == ["allow"]


async def test_answer_returns_its_outcome_if_known_in_time(eager: RunningGateway) -> None:
    async with eager.client() as http:
        asked = await _asked(eager, http)
        answer = await http.post(f"/v1/approvals/{asked.approval_id}", json={"verdict": "approve", "digest": "d1"})

    assert answer.status_code == 200
    assert answer.json()["outcome"]["type"] == "approval.closed"
    assert answer.json()["outcome"]["data"]["outcome"] == "approved"


@pytest.mark.requirement("A22a")
async def test_answer_to_a_changed_approval_changes_nothing(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http)
    answer = await http.post(f"/v1/approvals/{asked.approval_id}", json={"verdict": "approve", "digest": "older"})
    assert (answer.status_code, answer.json()["code"]) == (409, "APPROVAL_CHANGED")
    assert await _sent_events(home) == []


@pytest.mark.requirement("A22a")
@pytest.mark.parametrize("outcome", ["denied", "expired", "superseded"])
async def test_late_answer_reports_the_first_outcome(
    home: RunningGateway, http: httpx.AsyncClient, outcome: str
) -> None:
    asked = await _asked(home, http)
    await home.worker_says(await _session_of(http, asked), _close(asked, outcome))
    await home.caught_up(await _session_of(http, asked), 4)
    answer = await http.post(f"/v1/approvals/{asked.approval_id}", json={"verdict": "approve", "digest": "d1"})

    assert (answer.status_code, answer.json()["code"]) == (409, "APPROVAL_CLOSED")
    assert outcome in answer.json()["detail"]
    assert await _sent_events(home) == []


@pytest.mark.requirement("A22a")
@pytest.mark.parametrize(
    ("verdict", "outcome", "status"),
    [
        ("approve", "denied", 409),
        ("approve", "approved", 200),
        ("deny", "denied", 200),
        ("override", "overridden", 409),
    ],
)
async def test_answer_that_lost_a_race_returns_the_true_outcome(
    gateway_where: Dsns, rules: Policy, owner: str, verdict: str, outcome: str, status: int
) -> None:
    body = {"verdict": verdict, "digest": "d1", **({"exclude": ["a"]} if verdict == "override" else {})}
    async with (
        running_gateway(gateway_where, owner, policy=rules, settings={"command_wait": 30.0}) as home,
        home.client() as http,
    ):
        asked = await _asked(home, http)
        session = await _session_of(http, asked)
        answering = asyncio.ensure_future(http.post(f"/v1/approvals/{asked.approval_id}", json=body))
        while not await _sent_events(home):
            await asyncio.sleep(0.02)
        # What another answer gets that fits nothing is not the outcome of this one.
        await home.worker_says(session, _close(asked, "stale"))
        await home.worker_says(session, _close(asked, outcome))
        answer = await answering
    assert answer.status_code == status
    assert outcome in (answer.json().get("detail") or answer.json()["outcome"]["data"]["outcome"])


@pytest.mark.requirement("A20")
async def test_a_repeated_answer_is_sent_on_once(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http)
    for _ in range(2):
        answer = await http.post(
            f"/v1/approvals/{asked.approval_id}",
            json={"verdict": "deny", "digest": "d1", "reason": "no"},
            headers={"Idempotency-Key": "k"},
        )
        assert answer.status_code == 202
    assert len(await _sent_events(home)) == 1


@pytest.mark.requirement("A9")
async def test_caller_without_files_write_may_deny_but_not_approve(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    asked = await _asked(home, http)
    async with home.client(await home.key("chat", principal="owner")) as talker:
        where = f"/v1/approvals/{asked.approval_id}"
        approved = await talker.post(where, json={"verdict": "approve", "digest": "d1"})
        denied = await talker.post(where, json={"verdict": "deny", "digest": "d1"})

    assert (approved.status_code, approved.json()["code"], denied.status_code) == (403, "POLICY_DENIED", 202)
    assert "missing scope: files:write" in approved.json()["detail"]
    assert [record["verdict"] for record in await home.audited("approval.decide")] == ["deny", "allow"]
    assert [sent["verdict"] for sent in await _sent_events(home)] == ["deny"]


@pytest.mark.parametrize("body", [{"verdict": "approve", "exclude": ["a"]}, {"verdict": "override"}])
async def test_edits_are_an_override_and_nothing_else_is(
    home: RunningGateway, http: httpx.AsyncClient, body: Any
) -> None:
    asked = await _asked(home, http)
    answer = await http.post(f"/v1/approvals/{asked.approval_id}", json={**body, "digest": "d1"})
    assert answer.status_code == 422


async def test_args_of_a_commit_cannot_be_edited(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http, kind="commit")
    body = {"verdict": "override", "digest": "d1", "args": {"path": "/etc"}}
    answer = await http.post(f"/v1/approvals/{asked.approval_id}", json=body)
    assert (answer.status_code, answer.json()["code"], await _sent_events(home)) == (422, "NO_ARGS", [])


@pytest.mark.requirement("S4-48")
async def test_a_commit_answers_the_sessions_open_diff(home: RunningGateway, http: httpx.AsyncClient) -> None:
    await _asked(home, http)
    asked = await _asked(home, http, kind="commit")
    where = f"/v1/sessions/{await _session_of(http, asked)}/commit"
    answer = await http.post(where)

    assert (answer.status_code, answer.json()["turn_id"]) == (202, asked.turn_id)
    (sent,) = await _sent_events(home)
    assert (sent["approval_id"], sent["verdict"], sent["exclude"]) == (asked.approval_id, "approve", [])


async def test_a_commit_needs_no_body_and_repeats_safely(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http, kind="commit")
    session = await _session_of(http, asked)
    first = await http.post(f"/v1/sessions/{session}/commit", headers={"Idempotency-Key": "k"})
    await home.worker_says(session, _close(asked, "approved"))
    await home.caught_up(session, 4)
    again = await http.post(f"/v1/sessions/{session}/commit", headers={"Idempotency-Key": "k"})

    assert again.json()["request_id"] == first.json()["request_id"]
    assert [sent["verdict"] for sent in await _sent_events(home)] == ["approve"]


async def test_without_an_open_diff_there_is_nothing_to_commit(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await _asked(home, http)
    answer = await http.post(f"/v1/sessions/{await _session_of(http, asked)}/commit")
    assert (answer.status_code, answer.json()["code"]) == (409, "NOTHING_OPEN")
