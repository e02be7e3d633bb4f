"""Sessions, messages and turns over HTTP."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from libs import ids
from libs.database import Dsns
from libs.events import (
    ClarificationReplied,
    ClarificationRequested,
    MessageCompleted,
    MessageReceived,
    TurnEnded,
    TurnQueued,
    TurnStarted,
)
from libs.keys.file import FileKeys
from libs.policy import Policy
from services.gateway.sessions.models import SessionRead, SessionShown
from tests.services.gateway.running import RunningGateway, running_gateway
from tests.support import surfaces
from tests.support.platform import ControllablePolicy


@pytest.mark.requirement("S3-08", "S3-30")
async def test_opened_session_is_visible_at_once(http: httpx.AsyncClient) -> None:
    opened = await http.post("/v1/sessions", json={"title": "Downloads", "root": "/home/ada/Downloads", "hitl": "all"})

    assert opened.status_code == 201
    read = await http.get(f"/v1/sessions/{opened.json()['session_id']}")
    assert read.json() == opened.json()
    assert read.json()["hitl"] == "all"
    assert [s["title"] for s in (await http.get("/v1/sessions")).json()["sessions"]] == ["Downloads"]


async def test_session_keeps_its_name_in_other_protocols_to_itself(http: httpx.AsyncClient) -> None:
    session = (await http.post("/v1/sessions", json={})).json()
    (listed,) = (await http.get("/v1/sessions")).json()["sessions"]
    status = (await http.get("/status", params={"session": session["session_id"]})).json()["session"]
    assert session.keys() == SessionRead.model_fields.keys()
    assert listed.keys() == status.keys() == SessionShown.model_fields.keys()


async def test_accepted_message_is_in_the_history_at_once(http: httpx.AsyncClient) -> None:
    accepted = await http.post("/v1/sessions/message", json={"text": "tidy up\nplease"})

    assert accepted.status_code == 202
    where = f"/v1/sessions/{accepted.json()['session_id']}"
    (turn,) = (await http.get(f"{where}/history")).json()["turns"]
    assert (turn["turn_id"], turn["text"], turn["state"]) == (accepted.json()["turn_id"], "tidy up\nplease", "received")
    session = (await http.get(where)).json()
    assert (session["title"], session["last_seq"], session["turn_id"]) == ("tidy up", 1, turn["turn_id"])


async def test_worker_events_are_numbered_after_the_message(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "hello"})).json()
    session, turn = accepted["session_id"], accepted["turn_id"]
    await home.worker_says(session, TurnStarted(turn_id=turn, message_id=accepted["message_id"], text="hello"))
    await home.worker_says(
        session,
        MessageCompleted(turn_id=turn, message_id=ids.new(), text="hi"),
        TurnEnded(turn_id=turn, state="completed"),
    )
    await home.caught_up(session, 4)

    page = (await http.get(f"/v1/sessions/{session}/events", params={"stream": "false"})).json()
    assert [(e["seq"], e["type"]) for e in page["events"]] == [
        (1, "message.accepted"),
        (2, "turn.started"),
        (3, "message.completed"),
        (4, "turn.ended"),
    ]
    answered = (await http.get(f"/v1/turns/{turn}")).json()
    assert (answered["state"], answered["answer"], answered["reason"]) == ("completed", "hi", None)
    assert answered["ended_at"] is not None


@pytest.mark.requirement("S3-08")
async def test_caller_that_waits_receives_the_completed_turn(eager: RunningGateway) -> None:
    async with eager.client() as http:
        done = await http.post("/v1/llm/invoke", params={"wait": 5}, json={"text": "hello"})
    assert (done.status_code, done.json()["state"], done.json()["answer"]) == (200, "completed", "HELLO")


async def test_caller_that_waits_too_briefly_gets_202(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = await http.post("/v1/llm/invoke", params={"wait": 0.05}, json={"text": "hello"})
    fields = {"session_id", "message_id", "turn_id", "after", "answers"}
    assert (accepted.status_code, set(accepted.json())) == (202, fields)


async def test_message_answers_the_open_clarification(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = (await http.post("/v1/sessions/message", json={"text": "find them"})).json()
    where, turn = f"/v1/sessions/{asked['session_id']}", asked["turn_id"]
    await home.worker_says(asked["session_id"], ClarificationRequested(turn_id=turn, question="Which?"))
    await home.caught_up(asked["session_id"], 2)
    reply = (await http.post(f"{where}/messages", json={"text": "the old ones"})).json()

    assert (reply["turn_id"], reply["answers"]) == (turn, True)
    assert len((await http.get(f"{where}/history")).json()["turns"]) == 1
    replied = ClarificationReplied(turn_id=turn, message_id=reply["message_id"], text="the old ones")
    await home.worker_says(asked["session_id"], replied)
    await home.caught_up(asked["session_id"], 4)
    assert (await http.get(f"/v1/turns/{turn}")).json()["state"] == "running"
    assert not (await http.post(f"{where}/messages", json={"text": "and then this"})).json()["answers"]


async def test_reply_that_comes_too_late_is_a_turn(home: RunningGateway, http: httpx.AsyncClient) -> None:
    asked = (await http.post("/v1/sessions/message", json={"text": "find them"})).json()
    late = ids.new()
    replied = ClarificationReplied(turn_id=asked["turn_id"], message_id=ids.new(), text="the old ones", instead=late)
    await home.worker_says(asked["session_id"], replied)
    await home.caught_up(asked["session_id"], 2)
    turn = (await http.get(f"/v1/turns/{late}")).json()
    assert (turn["text"], turn["state"]) == ("the old ones", "received")


async def test_a_cancelled_turn_is_answered_with_its_end(eager: RunningGateway) -> None:
    async with eager.client() as http:
        turn = (await http.post("/v1/sessions/message", json={"text": "wait for it"})).json()["turn_id"]
        cancelled = await http.post(f"/v1/turns/{turn}/cancel", json={"reason": "changed my mind"})
        again = await http.post(f"/v1/turns/{turn}/cancel")

    assert cancelled.status_code == 200
    ended = cancelled.json()["outcome"]["data"]
    assert (ended["turn_id"], ended["state"], ended["detail"]) == (turn, "cancelled", "changed my mind")
    assert (again.status_code, again.json()["code"]) == (409, "TURN_ENDED")


async def test_cancel_goes_through_while_policy_is_silent(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str
) -> None:
    judge = ControllablePolicy(rules)
    async with running_gateway(gateway_where, owner, policy=judge, keys=keys) as home, home.client() as http:
        turn = (await http.post("/v1/sessions/message", json={"text": "wait for it"})).json()["turn_id"]
        judge.silent.add("*")
        async with home.client(await home.key("files:read", principal="owner")) as without:
            assert (await without.post(f"/v1/turns/{turn}/cancel")).status_code == 403
        assert (await http.post(f"/v1/turns/{turn}/cancel")).status_code == 202
        assert [told["turn_id"] async for told in home.published("suma.turn.cancel_requested.v1")] == [turn]
        recorded = [told async for told in home.published("suma.action.recorded.v1")]
    (cancel,) = [told for told in recorded if told["action"] == "turn.cancel"]
    assert (cancel["verdict"], cancel["rule"]) == ("allow", "POLICY_UNAVAILABLE")


async def test_message_carries_its_principal_scopes_and_folder(home: RunningGateway) -> None:
    async with home.client(await home.key("chat", "files:read", principal="ada")) as ada:
        session = (await ada.post("/v1/sessions", json={"root": "/home/ada", "hitl": "all"})).json()["session_id"]
        accepted = (await ada.post(f"/v1/sessions/{session}/messages", json={"text": "tidy", "skill": "tidy"})).json()
    (told,) = [data async for data in home.published("suma.message.received.v1")]

    received = MessageReceived.model_validate(told)
    assert (received.message_id, received.turn_id) == (accepted["message_id"], accepted["turn_id"])
    assert (received.principal, received.scopes) == ("ada", ("chat", "files:read"))
    assert (received.root, received.hitl, received.skill, received.on_busy) == ("/home/ada", "all", "tidy", "queue")


async def test_late_events_do_not_reopen_an_ended_turn(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "hello"})).json()
    session, turn = accepted["session_id"], accepted["turn_id"]
    await home.worker_says(
        session, TurnEnded(turn_id=turn, state="cancelled"), TurnQueued(turn_id=turn, message_id="m", position=1)
    )
    await home.caught_up(session, 3)
    assert (await http.get(f"/v1/turns/{turn}")).json()["state"] == "cancelled"


@pytest.mark.requirement("A12", "S3-31")
async def test_many_events_at_once_are_numbered_without_gap_or_repetition(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    names = [(await http.post("/v1/sessions/message", json={"text": "hello"})).json() for _ in range(5)]
    said = [
        home.worker_says(a["session_id"], TurnStarted(turn_id=a["turn_id"], message_id=None, text=str(n)))
        for a in names
        for n in range(10)
    ]
    await asyncio.gather(*said)
    for accepted in names:
        await home.caught_up(accepted["session_id"], 11)
        page = (await http.get(f"/v1/sessions/{accepted['session_id']}/events?stream=false&limit=4&after=2")).json()
        assert ([e["seq"] for e in page["events"]], page["next"], page["more"]) == ([3, 4, 5, 6], 6, True)
        query = "select seq from gateway.session_events where session_id = $1 order by seq"
        rows = await home.rows(query, accepted["session_id"])
        assert [row["seq"] for row in rows] == list(range(1, 12))


async def test_sessions_and_turns_come_in_pages(http: httpx.AsyncClient) -> None:
    opened = [(await http.post("/v1/sessions", json={"title": str(n)})).json() for n in range(3)]
    first = (await http.get("/v1/sessions", params={"limit": 2})).json()
    rest = (await http.get("/v1/sessions", params={"limit": 2, "before": first["next"]})).json()
    ids = sorted((s["session_id"] for s in opened), reverse=True)
    assert [s["session_id"] for s in first["sessions"] + rest["sessions"]] == ids
    assert rest["next"] is None


async def test_session_with_a_derived_id_sorts_by_its_creation(eager: RunningGateway) -> None:
    async with eager.client() as http:
        for _ in range(3):
            run = surfaces.agui("hello", True)
            assert (await http.post(run.path, json=run.body)).status_code == 200
        newest = (await http.post("/v1/sessions", json={"title": "newest"})).json()["session_id"]
        first = (await http.get("/v1/sessions", params={"limit": 2})).json()
        rest = (await http.get("/v1/sessions", params={"limit": 3, "before": first["next"]})).json()
    shown = [session["session_id"] for session in first["sessions"] + rest["sessions"]]
    assert (shown[0], len(set(shown)), rest["next"]) == (newest, 4, None)


async def test_runs_of_a_new_thread_share_its_session(eager: RunningGateway) -> None:
    async with eager.client() as http:
        runs = [surfaces.agui("hello", True) for _ in range(8)]
        answers = await asyncio.gather(*(http.post(run.path, json={**run.body, "threadId": "new"}) for run in runs))
        (session,) = (await http.get("/v1/sessions")).json()["sessions"]
        turns = (await http.get(f"/v1/sessions/{session['session_id']}/history")).json()["turns"]
    assert [answer.status_code for answer in answers] == [200] * 8
    assert len(turns) == 8


@pytest.mark.requirement("S4-56")
async def test_legacy_route_names_do_the_same(http: httpx.AsyncClient) -> None:
    run = (await http.post("/run", json={"text": "tidy", "hitl": "bypass"})).json()
    status = (await http.get("/status", params={"session": run["session_id"]})).json()
    assert (status["sessions"], status["turns"], status["session"]["turn_id"]) == (1, 1, run["turn_id"])


@pytest.mark.requirement("A9")
async def test_a_folder_needs_more_than_the_scope_to_talk(home: RunningGateway) -> None:
    async with home.client(await home.key("chat")) as talker:
        refused = await talker.post("/v1/sessions/message", json={"text": "tidy", "root": "/home/ada"})
    assert (refused.status_code, refused.json()["code"]) == (403, "POLICY_DENIED")
    assert refused.json()["detail"].endswith("missing scope: files:read")
    assert [(r["verdict"], len(r["revision"])) for r in await home.audited("session.create")] == [("deny", 64)]
    assert await home.rows("select from gateway.session_envelopes") == []


@pytest.mark.requirement("A9")
async def test_without_the_scope_chat_nothing_is_sent(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    body = {"text": "hello"}
    async with home.client(await home.key("files:read", principal="owner")) as silent:
        answers = [
            await silent.post(f"/v1/sessions/{session}/messages", json=body),
            await silent.post("/v1/sessions/message", json={**body, "session_id": session}),
            await silent.post("/v1/sessions/message", json=body),
            await silent.post("/v1/llm/invoke", json=body),
            await silent.post("/run", json=body),
        ]
    assert [(a.status_code, a.json()["code"]) for a in answers] == [(403, "SCOPE_MISSING")] * 5
    assert all("chat" in answer.json()["detail"] for answer in answers)
    assert [r["verdict"] for r in await home.audited("conversation.send")] == ["deny"] * 5
    assert (await http.get(f"/v1/sessions/{session}")).json()["last_seq"] == 0
    assert [data async for data in home.published("suma.message.received.v1")] == []


async def test_sessions_are_found_by_their_words_and_state(http: httpx.AsyncClient) -> None:
    await http.post("/v1/sessions", json={"title": "Tax papers", "root": "/home/ada/100%"})
    await http.post("/v1/sessions/message", json={"text": "sort the Photos"})
    found = {}
    for words in ("TAX", "photos", "100%", "_"):
        answer = await http.get("/v1/sessions", params={"words": words})
        found[words] = [session["title"] for session in answer.json()["sessions"]]
    assert found == {"TAX": ["Tax papers"], "photos": ["sort the Photos"], "100%": ["Tax papers"], "_": []}
    running = (await http.get("/v1/sessions", params={"open": True})).json()["sessions"]
    assert [session["title"] for session in running] == ["sort the Photos"]
