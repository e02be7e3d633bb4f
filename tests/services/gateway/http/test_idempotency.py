"""One Idempotency-Key, one effect: repeated, concurrent, with another body, a day later."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from libs import ids
from libs.database import Dsns
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway

KEY = {"Idempotency-Key": "from-my-phone-1"}


async def _messages(home: RunningGateway, tenant: str | None = None) -> int:
    (row,) = await home.rows("select count(*) as n from gateway.turns", tenant=tenant)
    return int(row["n"])


@pytest.mark.requirement("A20", "S3-42")
async def test_a_message_posted_twice_with_one_key_makes_one_turn(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    first = await http.post(f"/v1/sessions/{session}/messages", json={"text": "tidy"}, headers=KEY)
    again = await http.post(f"/v1/sessions/{session}/messages", json={"text": "tidy"}, headers=KEY)

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert await _messages(home) == 1


@pytest.mark.requirement("A20")
@pytest.mark.parametrize("route", ["/v1/sessions/message", "/v1/sessions/{session}/messages"])
async def test_fifty_requests_at_once_with_one_key_make_one_turn(
    home: RunningGateway, http: httpx.AsyncClient, route: str
) -> None:
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    post = http.post
    answers = await asyncio.gather(
        *(post(route.format(session=session), json={"text": "tidy"}, headers=KEY) for _ in range(50))
    )

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.text for answer in answers}) == 1
    assert await _messages(home) == 1


@pytest.mark.requirement("A20")
async def test_a_key_with_another_body_or_route_is_refused(http: httpx.AsyncClient) -> None:
    await http.post("/v1/sessions/message", json={"text": "tidy"}, headers=KEY)
    other = await http.post("/v1/sessions/message", json={"text": "delete"}, headers=KEY)
    elsewhere = await http.post("/run", json={"text": "tidy"}, headers=KEY)

    assert [(a.status_code, a.json()["code"]) for a in (other, elsewhere)] == [(422, "IDEMPOTENCY_KEY_REUSED")] * 2


async def test_equivalent_json_bodies_count_as_equal(home: RunningGateway, http: httpx.AsyncClient) -> None:
    json = {**KEY, "Content-Type": "application/json"}
    await http.post("/v1/sessions/message", content=b'{"text": "tid\\u0079", "on_busy": "queue"}', headers=json)
    again = await http.post("/v1/sessions/message", content=b'{"text":"tidy"}', headers=json)
    assert (again.status_code, await _messages(home)) == (202, 1)


async def test_a_key_belongs_to_its_principal(home: RunningGateway, http: httpx.AsyncClient) -> None:
    await http.post("/v1/sessions/message", json={"text": "tidy"}, headers=KEY)
    async with home.client(await home.key("chat", principal="ada")) as ada:
        await ada.post("/v1/sessions/message", json={"text": "something else"}, headers=KEY)
    globex = ids.new()
    async with home.client(await home.key("chat", tenant=globex)) as elsewhere:
        await elsewhere.post("/v1/sessions/message", json={"text": "something else"}, headers=KEY)
    assert (await _messages(home), await _messages(home, globex)) == (2, 1)


async def test_a_key_may_be_used_again_after_a_day(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner) as home, home.client() as http:
        await http.post("/v1/sessions/message", json={"text": "tidy"}, headers=KEY)
        await infrastructure.shift(home.platform.database, seconds=24 * 3600 + 1)
        again = await http.post("/v1/sessions/message", json={"text": "tidy up"}, headers=KEY)

        assert (again.status_code, await _messages(home)) == (202, 2)
        (row,) = await home.rows("select count(*) as n from gateway.idempotency")
        assert row["n"] == 1


async def test_refused_request_does_not_use_its_idempotency_key(home: RunningGateway) -> None:
    async with home.client(await home.key("chat")) as reader:
        refused = await reader.post("/v1/sessions", json={"root": "/home/ada"}, headers=KEY)
        allowed = await reader.post("/v1/sessions", json={}, headers=KEY)
    assert (refused.status_code, allowed.status_code) == (403, 201)
