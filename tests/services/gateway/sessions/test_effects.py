"""Unknown effects and findings about them over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from libs import ids
from libs.events import ApprovalClosed, ApprovalRequested, EffectResolved, TurnEnded, TurnStarted
from tests.services.gateway.running import RunningGateway

HAPPENED = {"verdict": "happened", "digest": "d1", "reason": "it is in the books", "data": {"row": 7}}


async def doubted(home: RunningGateway, http: httpx.AsyncClient) -> ApprovalRequested:
    """A turn that waits for a finding about its effect."""
    accepted = (await http.post("/v1/sessions/message", json={"text": "send it"})).json()
    turn = accepted["turn_id"]
    asked = ApprovalRequested(
        turn_id=turn,
        approval_id=ids.new(),
        kind="effect",
        digest="d1",
        title="Did this happen? Send it",
        expires_in=3600,
        tool="mail.send",
        args={"to": "ada"},
        detail="It was interrupted.",
        intent="0" * 64,
    )
    await home.worker_says(accepted["session_id"], TurnStarted(turn_id=turn, message_id=None, text="send it"), asked)
    await home.seen(accepted["session_id"], lambda event: event.type == "approval.requested")
    return asked


async def session_of(http: httpx.AsyncClient, asked: ApprovalRequested) -> str:
    return str((await http.get(f"/v1/effects/{asked.approval_id}")).json()["session_id"])


async def told(home: RunningGateway) -> list[Any]:
    return [data async for data in home.published("suma.effect.resolved.v1")]


async def test_unknown_effect_is_in_the_inbox_and_the_effect_list(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    asked = await doubted(home, http)
    (effect,) = (await http.get("/v1/effects")).json()["effects"]
    (approval,) = (await http.get("/v1/approvals")).json()["approvals"]
    assert effect == approval
    assert (effect["kind"], effect["data"]["intent"], effect["data"]["detail"]) == (
        "effect",
        asked.intent,
        "It was interrupted.",
    )


async def test_unknown_effect_stays_in_the_inbox_after_its_turn(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await doubted(home, http)
    session = await session_of(http, asked)
    await home.worker_says(session, TurnEnded(turn_id=asked.turn_id, state="failed", reason="EFFECT_UNKNOWN"))
    await home.caught_up(session, 4)
    assert [effect["approval_id"] for effect in (await http.get("/v1/effects")).json()["effects"]] == [
        asked.approval_id
    ]
    assert (await http.post(f"/v1/effects/{asked.approval_id}", json=HAPPENED)).status_code == 202


async def test_finding_reaches_the_worker_with_its_principal(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await doubted(home, http)
    answer = await http.post(f"/v1/effects/{asked.approval_id}", json=HAPPENED)
    (finding,) = map(EffectResolved.model_validate, await told(home))
    assert (answer.status_code, finding.verdict, finding.data) == (202, "happened", {"row": 7})
    assert (finding.principal, finding.scopes, finding.reason) == ("owner", ("*",), "it is in the books")
    assert [record["verdict"] for record in await home.audited("effect.resolve")] == ["allow"]


@pytest.mark.requirement("A20")
async def test_the_same_answer_sent_again_is_one_answer(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await doubted(home, http)
    path, key = f"/v1/effects/{asked.approval_id}", {"Idempotency-Key": "k1"}
    first = await http.post(path, json=HAPPENED, headers=key)
    again = await http.post(path, json=HAPPENED, headers=key)
    assert first.json() == again.json()
    assert len(await told(home)) == 1


@pytest.mark.requirement("A22a")
async def test_second_answer_conflicts_and_shows_the_first(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await doubted(home, http)
    session = await session_of(http, asked)
    done = ApprovalClosed(
        turn_id=asked.turn_id, approval_id=asked.approval_id, outcome="did_not_happen", principal="ada", reason="asked"
    )
    await home.worker_says(session, done)
    await home.caught_up(session, 4)
    answer = await http.post(f"/v1/effects/{asked.approval_id}", json=HAPPENED)
    assert (answer.status_code, answer.json()["code"]) == (409, "APPROVAL_CLOSED")
    seen = (await http.get(f"/v1/effects/{asked.approval_id}")).json()
    assert (seen["outcome"], seen["principal"], seen["reason"]) == ("did_not_happen", "ada", "asked")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({**HAPPENED, "digest": "other"}, 409, "APPROVAL_CHANGED"),
        ({**HAPPENED, "verdict": "perhaps"}, 422, "INVALID_REQUEST"),
        ({**HAPPENED, "verdict": "did_not_happen"}, 422, "INVALID_REQUEST"),
        ({"verdict": "happened"}, 422, "INVALID_REQUEST"),
        ({**HAPPENED, "data": [1]}, 422, "INVALID_REQUEST"),
    ],
)
async def test_invalid_effect_answer_is_refused(
    home: RunningGateway, http: httpx.AsyncClient, body: dict[str, Any], status: int, code: str
) -> None:
    asked = await doubted(home, http)
    answer = await http.post(f"/v1/effects/{asked.approval_id}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert await told(home) == []


async def test_effects_and_approvals_have_separate_routes(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await doubted(home, http)
    yes = await http.post(f"/v1/approvals/{asked.approval_id}", json={"verdict": "approve", "digest": "d1"})
    assert (yes.status_code, yes.json()["code"]) == (422, "NO_APPROVAL")
    session = await session_of(http, asked)
    step = asked.model_copy(update={"approval_id": ids.new(), "kind": "step"})
    await home.worker_says(session, step)
    await home.caught_up(session, 4)
    assert (await http.post(f"/v1/effects/{step.approval_id}", json=HAPPENED)).status_code == 404


@pytest.mark.requirement("P8", "P4")
async def test_effect_is_closed_to_other_tenants_and_readers(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = await doubted(home, http)
    path = f"/v1/effects/{asked.approval_id}"
    async with home.client(await home.key("*", tenant=ids.new())) as stranger:
        assert (await stranger.get("/v1/effects")).json()["effects"] == []
        assert (await stranger.get(path)).status_code == 404
        assert (await stranger.post(path, json=HAPPENED)).status_code == 404
    async with home.client(await home.key("chat", "files:read", principal="owner")) as reader:
        assert (await reader.post(path, json=HAPPENED)).status_code == 403
    assert await told(home) == []
