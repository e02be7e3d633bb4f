"""The MCP endpoint behind the gateway's own doors: identity, Host and Origin, limits, and ids that clients carry."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from libs.database import Dsns
from libs.keys import Keys
from libs.policy import Policy
from tests.services.gateway.running import RunningGateway, running_gateway

ACCEPT = {"Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "test", "version": "1"},
}


def rpc(method: str, params: Any = None, id: int | None = 1) -> dict[str, Any]:
    about = {"id": id} if id is not None else {}
    return {"jsonrpc": "2.0", "method": method, **about, **({"params": params} if params is not None else {})}


async def post(http: httpx.AsyncClient, body: Any, **headers: str) -> httpx.Response:
    return await http.post("/mcp", json=body, headers={**ACCEPT, **headers})


async def session_id(http: httpx.AsyncClient) -> str:
    return (await post(http, rpc("initialize", INITIALIZE))).headers["mcp-session-id"]


@pytest.mark.requirement("A21")
async def test_without_an_issuer_nothing_points_to_oauth(home: RunningGateway) -> None:
    async with home.client() as http:
        del http.headers["Authorization"]
        refused = await post(http, rpc("tools/list"))
        described = [await http.get(f"/.well-known/oauth-protected-resource{path}") for path in ("", "/mcp")]
    challenge = refused.headers["www-authenticate"]
    assert (refused.status_code, refused.json()["error"]["data"]["code"]) == (401, "BAD_KEY")
    assert 'scope="chat files:read files:write memory"' in challenge
    assert "resource_metadata" not in challenge
    assert [(each.status_code, each.json()["code"]) for each in described] == [(404, "NO_ISSUER")] * 2


async def test_unknown_well_known_document_is_not_found(home: RunningGateway) -> None:
    async with home.client() as http:
        del http.headers["Authorization"]
        answers = [await http.get(f"/.well-known/{name}") for name in ("oauth-authorization-server", "openid")]
    assert [answer.status_code for answer in answers] == [404] * 2


async def test_missing_scope_is_challenged_and_recorded(home: RunningGateway) -> None:
    async with home.client(await home.key("memory")) as http:
        refused = await post(http, rpc("tools/list"))
    assert refused.status_code == 403
    assert 'error="insufficient_scope", scope="chat"' in refused.headers["www-authenticate"]
    records = await home.audited("identity.authorize")
    assert [record["resource"] for record in records] == ["POST /mcp"]


@pytest.mark.requirement("A28a")
@pytest.mark.parametrize(
    ("header", "value", "status"), [("Host", "evil.example", 421), ("Origin", "https://evil.example", 403)]
)
async def test_foreign_host_and_origin_are_refused(
    http: httpx.AsyncClient, header: str, value: str, status: int
) -> None:
    refused = await post(http, rpc("tools/list"), **{header: value})
    assert refused.status_code == status
    assert refused.json()["jsonrpc"] == "2.0"


async def test_no_stream_without_a_request(http: httpx.AsyncClient) -> None:
    assert (await http.get("/mcp", headers={"Accept": "text/event-stream"})).status_code == 405
    assert (await http.delete("/mcp")).status_code == 405


@pytest.mark.parametrize("accept", ["", "*/*"])
async def test_any_accept_and_a_slash_are_served(http: httpx.AsyncClient, accept: str) -> None:
    begun = await http.post("/mcp/", json=rpc("initialize", INITIALIZE), headers={"Accept": accept})
    assert (begun.status_code, "serverInfo" in begun.text) == (200, True)


@pytest.mark.requirement("P8")
async def test_session_id_is_of_one_caller(home: RunningGateway) -> None:
    async with home.client() as mine, home.client(await home.key("*", principal="eve")) as others:
        known = {"mcp-session-id": await session_id(mine)}
        assert (await post(mine, rpc("tools/list"), **known)).status_code == 200
        for http, headers in ((others, known), (mine, {"mcp-session-id": "forged"})):
            assert (await post(http, rpc("tools/list"), **headers)).status_code == 404


async def test_limit_answers_as_an_error_of_the_protocol(
    gateway_where: Dsns, rules: Policy, keys: Keys, owner: str
) -> None:
    settings = {"requests_per_minute_by_route": {"POST /mcp": 1}}
    async with (
        running_gateway(gateway_where, owner, policy=rules, keys=keys, settings=settings) as made,
        made.client() as http,
    ):
        answers = [await post(http, rpc("ping")) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["retry-after"]) >= 1
    assert answers[1].json()["error"]["data"]["code"] == "ROUTE_RATE_LIMITED"


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff\xfe"])
async def test_malformed_message_is_refused(http: httpx.AsyncClient, body: bytes) -> None:
    headers = {**ACCEPT, "Content-Type": "application/json"}
    assert (await http.post("/mcp", content=body, headers=headers)).status_code == 400
    assert (await post(http, rpc("ping"))).status_code == 200
