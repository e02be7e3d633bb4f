"""Malformed requests: each gets a problem document, and the service keeps running."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest
from jsonschema import Draft202012Validator

from tests.services.gateway.running import RunningGateway

JSON = {"Content-Type": "application/json"}
DEEP = b'{"text": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"
DEEP_ARGS = b'{"verdict": "override", "digest": "d", "args": ' + b'{"a":' * 500 + b"1" + b"}" * 501


def _problem(answer: httpx.Response, status: int, code: str) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code), answer.text
    assert body["type"] == f"urn:suma:problem:{code}"
    assert body["title"]
    assert body["detail"]
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text


@pytest.mark.requirement("A22")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"text": ', 400, "MALFORMED_BODY"),
        (b"", 422, "INVALID_REQUEST"),
        (b"null", 422, "INVALID_REQUEST"),
        (b'{"text": "\xff\xfe"}', 400, "MALFORMED_BODY"),
        (b'{"text": "\\ud800"}', 400, "MALFORMED_BODY"),
        (b'{"text": NaN}', 400, "MALFORMED_BODY"),
        (b'{"text": "a", "text2": "b"}', 422, "INVALID_REQUEST"),
        (b'{"text": "a", "tenant": "globex"}', 422, "INVALID_REQUEST"),
        (b'{"text": "a\\u0000b"}', 422, "BODY_NOT_ACCEPTED"),
        (b'{"text": "   "}', 422, "INVALID_REQUEST"),
        ('{"text": "\u0085\ufeff "}'.encode(), 422, "INVALID_REQUEST"),
        (b'{"text": ["a"]}', 422, "INVALID_REQUEST"),
        (b'{"text": 1e400}', 400, "MALFORMED_BODY"),
        (b'{"text": "a", "session_id": "../../etc"}', 422, "INVALID_REQUEST"),
        (b'{"text": "a", "session_id": "s", "root": "/tmp"}', 422, "INVALID_REQUEST"),
        (b'{"text": "a", "root": "relative"}', 422, "INVALID_REQUEST"),
        (b'{"text": "' + b"a" * 100_001 + b'"}', 422, "INVALID_REQUEST"),
        (orjson.dumps({"text": "😀" * 100_000}), 413, "EVENT_TOO_LARGE"),
        (b'{"text": "' + b"a" * 1_000_001 + b'"}', 413, "TOO_LARGE"),
        (DEEP, 400, "MALFORMED_BODY"),
    ],
)
async def test_a_body_that_cannot_be_taken_is_a_problem(
    http: httpx.AsyncClient, body: bytes, status: int, code: str
) -> None:
    _problem(await http.post("/v1/sessions/message", content=body, headers=JSON), status, code)
    assert (await http.get("/healthz")).status_code == 200


@pytest.mark.requirement("A22")
async def test_deeply_nested_args_are_refused_before_recursion(http: httpx.AsyncClient) -> None:
    _problem(await http.post("/v1/approvals/a", content=DEEP_ARGS, headers=JSON), 422, "BODY_NOT_ACCEPTED")


@pytest.mark.requirement("A22")
async def test_a_body_without_a_length_is_bounded_too(http: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'{"text": "'
        for _ in range(200):
            yield b"a" * 10_000

    _problem(await http.post("/v1/sessions/message", content=endless(), headers=JSON), 413, "TOO_LARGE")


@pytest.mark.requirement("A22")
@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "NOT_FOUND"),
        ("GET", "/v1/sessionz", 404, "NOT_FOUND"),
        ("PATCH", "/v1/sessions", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/v1/sessions/%00", 422, "INVALID_REQUEST"),
        ("GET", "/v1/sessions/%2e%2e%2fetc", 404, "NOT_FOUND"),
        ("GET", f"/v1/sessions/{'a' * 65}", 422, "INVALID_REQUEST"),
        ("GET", "/v1/sessions?before=%00", 422, "INVALID_REQUEST"),
        ("GET", "/v1/sessions?limit=0", 422, "INVALID_REQUEST"),
        ("GET", "/v1/sessions?limit=x", 422, "INVALID_REQUEST"),
        ("GET", f"/v1/sessions/s/events?after={2**63}", 422, "INVALID_REQUEST"),
        ("GET", "/v1/sessions/s/events?after=-1", 422, "INVALID_REQUEST"),
        ("GET", "/v1/sessions/nobodys", 404, "NOT_FOUND"),
    ],
)
async def test_a_route_that_is_not_there_is_a_problem(
    http: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    _problem(await http.request(method, path), status, code)


@pytest.mark.parametrize("headers", [{"Idempotency-Key": "a b"}, {"Idempotency-Key": "x" * 201}])
async def test_an_idempotency_key_is_short_and_plain(http: httpx.AsyncClient, headers: Any) -> None:
    _problem(await http.post("/v1/sessions", json={}, headers=headers), 422, "INVALID_REQUEST")


async def test_problem_names_error_and_place_without_the_value(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/sessions", json={"hitl": "my-secret", "nope": 1})
    places = {error["pointer"] for error in answer.json()["errors"]}
    assert places == {"/body/hitl", "/body/nope"}
    assert "my-secret" not in answer.text


@pytest.mark.requirement("A22")
async def test_internal_error_shows_no_details(home: RunningGateway) -> None:
    async def crash() -> None:
        raise RuntimeError("the database's password is hunter2")

    app = home.app
    app.add_api_route("/crash", crash)
    try:
        async with home.client() as http:
            answer = await http.get("/crash")
    finally:
        app.router.routes.pop()
    _problem(answer, 500, "INTERNAL")
    assert "hunter2" not in answer.text


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "text: Field required"),
        ({"text": "a", "root": "here"}, "root: String should match pattern '^/'"),
        ({"text": 1, "on_busy": "wait"}, "text: Input should be a valid string (1 more in `errors`)"),
    ],
)
async def test_an_invalid_request_names_its_first_field(
    http: httpx.AsyncClient, body: dict[str, Any], says: str
) -> None:
    answer = await http.post("/v1/sessions/message", json=body)
    _problem(answer, 422, "INVALID_REQUEST")
    assert answer.json()["detail"] == says


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/v1/sessions", "GET, POST"), ("/v1/approvals/a", "GET, POST"), ("/v1/effects/a", "GET, POST"), ("/run", "POST")],
)
async def test_a_wrong_method_names_all_that_are_allowed(http: httpx.AsyncClient, path: str, allowed: str) -> None:
    answer = await http.delete(path)
    _problem(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("until", ["0.5", "0", "-1", "1e9", "2026", "yesterday"])
async def test_a_time_is_a_date_and_a_time(http: httpx.AsyncClient, until: str) -> None:
    answer = await http.get("/v1/admin/dlq", params={"until": until})
    _problem(answer, 422, "INVALID_REQUEST")
    assert (await http.get("/v1/admin/dlq", params={"until": "2026-01-31T12:00:00Z"})).status_code == 200


async def test_the_contract_says_which_fields_exclude_each_other(http: httpx.AsyncClient) -> None:
    schemas = (await http.get("/openapi.json")).json()["components"]["schemas"]
    both: dict[str, dict[str, Any]] = {
        "FirstMessage": {"text": "a", "session_id": "s", "root": "/tmp"},
        "Answer": {"verdict": "approve", "digest": "d", "exclude": ["a"]},
        "Finding": {"verdict": "did_not_happen", "digest": "d", "data": {}},
        "Rollback": {"snapshot": "a", "commit_id": "b"},
    }
    for name, body in both.items():
        check = Draft202012Validator({**schemas[name], "components": {"schemas": schemas}})
        assert not check.is_valid(body), name
        body.popitem()
        assert check.is_valid({"text": "a", **body} if name == "FirstMessage" else body), name
