"""What A2A shows of itself and how it refuses: the card, versions, credentials, limits, and broken requests."""

from __future__ import annotations

import logging
from copy import deepcopy
from typing import Any

import jwt
import pytest
from a2a.client import A2ACardResolver
from a2a.client.card_resolver import parse_agent_card
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from jwt.api_jwk import PyJWK

from libs.identity.keys import mint
from libs.identity.tokens import encoded
from libs.keys.canonical import canonical
from tests.services.gateway.surfaces.a2a.agent import Agent

CARD, KEYS = "/.well-known/agent-card.json", "/.well-known/jwks.json"
HELLO = {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}}
V1 = {"A2A-Version": "1.0"}


def call(method: str = "ListTasks", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


async def test_card_is_public_and_names_both_bindings(agent: Agent) -> None:
    async with agent.http("") as http:
        card = await A2ACardResolver(http, agent.url).get_agent_card()
    assert [(each.protocol_binding, each.url, each.protocol_version) for each in card.supported_interfaces] == [
        ("JSONRPC", f"{agent.url}/a2a", "1.0"),
        ("HTTP+JSON", f"{agent.url}/a2a/v1", "1.0"),
        ("JSONRPC", f"{agent.url}/a2a", "0.3"),
    ]
    assert card.capabilities.streaming
    assert {"bearer", "apiKey"} <= set(card.security_schemes)


async def test_card_is_cached_by_tag_and_by_date(agent: Agent) -> None:
    async with agent.http("") as http:
        first = await http.get(CARD)
        assert first.headers["cache-control"] == "public, max-age=300"
        tag, date = first.headers["etag"], first.headers["last-modified"]
        for header, value, status in (
            ("If-None-Match", tag, 304),
            ("If-None-Match", f'"x", W/{tag}', 304),
            ("If-None-Match", '"x"', 200),
            ("If-Modified-Since", date, 304),
            ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ):
            again = await http.get(CARD, headers={header: value})
            assert again.status_code == status, (header, value)
            assert again.headers["etag"] == tag


async def test_card_is_signed_by_a_published_key(agent: Agent) -> None:
    async with agent.http("") as http:
        card = (await http.get(CARD)).json()
        keys = {key["kid"]: key for key in (await http.get(KEYS)).json()["keys"]}

    def key_of(key_id: str | None, address: str | None) -> PyJWK:
        assert address == f"{agent.url}{KEYS}"
        return PyJWK.from_dict(keys[key_id or ""])

    verify = create_signature_verifier(key_of, ["EdDSA"])
    verify(parse_agent_card(deepcopy(card)))
    with pytest.raises(InvalidSignaturesError):
        verify(parse_agent_card({**deepcopy(card), "name": "Another"}))
    # A client of another language may verify the card as it is served.
    last = card.pop("signatures")[-1]
    token = f"{last['protected']}.{encoded(canonical(card))}.{last['signature']}"
    assert jwt.decode(token, key_of(jwt.get_unverified_header(token)["kid"], f"{agent.url}{KEYS}"), ["EdDSA"]) == card


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("", False), ("0.3", False), ("1.0", True), ("1.0.1", True), ("1.5", False)],
)
async def test_methods_of_1_0_need_their_version(agent: Agent, version: str, accepted: bool) -> None:
    async with agent.http(**({"A2A-Version": version} if version else {})) as http:
        rest = await http.get("/a2a/v1/tasks")
        rpc = (await http.post("/a2a", json=call())).json()
        query = await http.get("/a2a/v1/tasks", params={"A2A-Version": version}, headers={"A2A-Version": ""})
    assert {rest.status_code, query.status_code} == {200 if accepted else 400}
    assert rpc.get("error", {}).get("code") == (None if accepted else -32009)


@pytest.mark.parametrize("version", ["0.2.6", "1.5", "2", "x"])
async def test_unknown_version_is_refused_for_every_method(agent: Agent, version: str) -> None:
    async with agent.http(**{"A2A-Version": version}) as http:
        answers = [(await http.post("/a2a", json=call(method))).json() for method in ("message/send", "GetTask", "?")]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(7, -32009)] * 3


async def test_request_of_1_0_reaches_no_method_of_0_3(agent: Agent) -> None:
    async with agent.http(**V1) as http:
        assert (await http.post("/a2a", json=call("tasks/get"))).json()["error"]["code"] == -32601


async def test_address_of_json_rpc_may_end_in_a_slash(agent: Agent) -> None:
    async with agent.http(**V1) as http:
        assert (await http.post("/a2a/", json=call())).json()["result"]["totalSize"] == 0


async def test_missing_key_is_refused_with_a_challenge_in_protocol_errors(agent: Agent) -> None:
    wrong = mint("local", "mallory")[0]
    for key in ("", wrong):
        async with agent.http(key, **V1) as http:
            rest, rpc = await http.get("/a2a/v1/tasks"), await http.post("/a2a", json=call())
        assert (rest.status_code, rpc.status_code) == (401, 401)
        assert rest.headers["www-authenticate"].startswith("Bearer ")
        assert rest.json()["error"]["status"] == "UNAUTHENTICATED"
        assert rpc.json()["error"]["code"] == -32000


async def test_missing_scope_is_refused_and_recorded(agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    key = await agent.gateway.key("memory", principal="reader")
    async with agent.http(key, **V1) as http:
        rest, rpc = await http.get("/a2a/v1/tasks"), await http.post("/a2a", json=call())
    assert (rest.status_code, rpc.status_code) == (403, 403)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert rest.json()["error"]["status"] == "PERMISSION_DENIED"
    assert [record["rule"] for record in await agent.gateway.audited("identity.authorize")]


async def test_full_session_is_refused_in_protocol_errors(agent: Agent) -> None:
    async with agent.http(**V1) as http:
        settings = agent.gateway.context.settings
        first = (await http.post("/a2a/v1/message:send", json=_waiting(0))).json()["task"]["contextId"]
        for n in range(1, settings.turns_open_each_session):
            await http.post("/a2a/v1/message:send", json=_waiting(n, first))
        rest = await http.post("/a2a/v1/message:send", json=_waiting(-1, first))
        rpc = await http.post("/a2a", json=call("SendMessage", **_waiting(-2, first)))
    assert (rest.status_code, rest.json()["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert rest.json()["error"]["details"][0]["reason"] == "SESSION_FULL"
    assert (rpc.status_code, rpc.json()["error"]["data"][0]["reason"]) == (429, "SESSION_FULL")
    assert int(rest.headers["retry-after"]) >= 1


@pytest.mark.requirement("A22")
@pytest.mark.parametrize(
    "body",
    [b"{", b'{"a": "\xff"}', b"[" * 10_000, b'{"message": 7}', b'{"message": {"role": "ROLE_USER"}}', b"[]", b""],
)
async def test_broken_bodies_are_refused_in_protocol_errors(agent: Agent, body: bytes) -> None:
    async with agent.http(**V1, **{"Content-Type": "application/json"}) as http:
        rest = await http.post("/a2a/v1/message:send", content=body)
        rpc = await http.post("/a2a", content=body)
        assert rest.status_code in (400, 422)
        assert rest.json()["error"]["details"]
        assert rpc.json()["error"]["code"] in (-32700, -32600)
        assert "Traceback" not in rest.text + rpc.text
        assert (await http.get("/a2a/v1/tasks")).status_code == 200


async def test_unknown_operations_are_refused_in_protocol_errors(agent: Agent) -> None:
    async with agent.http(**V1) as http:
        assert (await http.post("/a2a", json=call("Nothing"))).json()["error"]["code"] == -32601
        assert (await http.get("/a2a/v1/nothing")).json()["error"]["status"] == "NOT_FOUND"
        assert (await http.post("/a2a/v1/message:send", content=b"x", headers={"Content-Type": "text/plain"})).json()[
            "error"
        ]["code"] == 415
        other = await http.post("/a2a", json=call("ListTasks", tenant="another"))
        assert other.json()["error"]["code"] == -32602


async def test_body_of_another_type_has_the_protocols_own_reason(agent: Agent) -> None:
    """The error's code is A2A's, so its domain and reason must be too (specification 9.5, 11.6)."""
    async with agent.http(**V1, **{"Content-Type": "text/plain"}) as http:
        rest = (await http.post("/a2a/v1/message:send", content=b"x")).json()["error"]
        rpc = (await http.post("/a2a", content=b"x")).json()["error"]
    assert (rest["code"], rpc["code"]) == (415, -32005)
    for (info,) in (rest["details"], rpc["data"]):
        assert (info["domain"], info["reason"]) == ("a2a-protocol.org", "CONTENT_TYPE_NOT_SUPPORTED")


async def test_foreign_host_is_refused_in_protocol_errors(agent: Agent) -> None:
    async with agent.http(**V1, Host="evil.example") as http:
        assert (await http.get("/a2a/v1/tasks")).json()["error"]["code"] == 421


def _waiting(n: int, context: str = "") -> dict[str, Any]:
    said = {"messageId": f"m{n}", "role": "ROLE_USER", "parts": [{"text": "wait"}], "contextId": context}
    return {"message": said, "configuration": {"returnImmediately": True}}
