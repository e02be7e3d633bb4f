"""Calls between our services: their tokens, and the meaning of responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from libs.clients.calls import Query, ServiceDown, call
from libs.clock import Clock, SystemClock
from libs.errors import Conflict, Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import BadToken, internal
from libs.keys import Keys
from libs.keys.file import FileKeys
from libs.resilience import CallFailed, CircuitOpen, GuardedCalls

Answer = Callable[[httpx.Request], httpx.Response]


@dataclass(frozen=True)
class Caller:
    keys: Keys
    clients: Mapping[str, Callable[[], httpx.AsyncClient]]
    clock: Clock = field(default_factory=SystemClock)
    guarded_calls: GuardedCalls = field(default_factory=GuardedCalls)
    near: Mapping[str, Mapping[str, Query]] = field(default_factory=dict)


def calling(place: Path, answer: Answer) -> Caller:
    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://localhost")

    return Caller(FileKeys(place), {"memory_service": client})


@pytest.mark.requirement("S3-51")
async def test_call_carries_a_token_for_tenant_session_and_service(tmp_path: Path) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"yes": 1})

    caller = calling(tmp_path, answer)
    found = await call(caller, "memory_service", "GET", "/x", tenant="acme", session="s1", user="ada")
    token, now = seen[0].headers[internal.HEADER], caller.clock.now()
    claims = internal.verify(caller.keys, token, audience="memory_service", now=now)
    assert (claims.tenant, claims.session, claims.user) == ("acme", "s1", "ada")
    with pytest.raises(BadToken):
        internal.verify(caller.keys, token, audience="audit_worker", now=now)
    assert found == {"yes": 1}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected),
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (409, Conflict),
        (422, Rejected),
        (429, Unavailable),
        (500, CallFailed),
        (502, ServiceDown),
        (504, ServiceDown),
        (503, ServiceDown),
    ],
)
async def test_refusal_raises_the_matching_error_class(tmp_path: Path, status: int, kind: type[SumaError]) -> None:
    caller = calling(tmp_path, lambda request: httpx.Response(status, json={"detail": "why", "code": "WHY"}))
    with pytest.raises(kind) as refused:
        await call(caller, "memory_service", "GET", "/x", tenant="acme")
    assert type(refused.value) is kind
    if status < 500:
        assert (str(refused.value), refused.value.code) == ("why", "WHY")


@pytest.mark.parametrize(
    "errors", [None, 3, "no", {"pointer": "/x"}, [None, "no"], [{}], [{"pointer": 1, "detail": ["x"]}]]
)
async def test_refusal_with_malformed_fields_is_still_a_refusal(tmp_path: Path, errors: object) -> None:
    document = {"detail": "why", "code": ["WHY"], "errors": errors}
    caller = calling(tmp_path, lambda request: httpx.Response(422, json=document))
    with pytest.raises(Rejected, match="why") as refused:
        await call(caller, "memory_service", "GET", "/x", tenant="acme")
    assert refused.value.code == "REJECTED"


async def test_answer_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    caller = calling(tmp_path, lambda request: httpx.Response(200, text="<html>"))
    with pytest.raises(ServiceDown, match="not JSON"):
        await call(caller, "memory_service", "GET", "/x", tenant="acme")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]"])
async def test_refusal_without_a_problem_document_still_raises(tmp_path: Path, body: bytes) -> None:
    caller = calling(tmp_path, lambda request: httpx.Response(400, content=body))
    with pytest.raises(Rejected, match="refused with 400"):
        await call(caller, "memory_service", "GET", "/x", tenant="acme")


async def test_a_service_that_is_away_is_unavailable(tmp_path: Path) -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("too slow")

    with pytest.raises(ServiceDown, match="memory_service: ConnectTimeout"):
        await call(calling(tmp_path, away), "memory_service", "GET", "/x", tenant="acme")


async def test_unconfigured_service_is_unavailable(tmp_path: Path) -> None:
    caller = calling(tmp_path, lambda request: httpx.Response(200))
    with pytest.raises(ServiceDown, match="not configured"):
        await call(caller, "tool_executor", "GET", "/x", tenant="acme")


async def test_a_route_that_crashes_opens_no_circuit(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(500) if request.url.path == "/bad" else httpx.Response(200, json={})

    caller = calling(tmp_path, answer)
    for _ in range(20):
        with pytest.raises(CallFailed):
            await call(caller, "memory_service", "GET", "/bad", tenant="acme")
    assert await call(caller, "memory_service", "GET", "/good", tenant="acme") == {}


async def test_a_service_that_is_away_opens_its_circuit(tmp_path: Path) -> None:
    caller = calling(tmp_path, lambda request: httpx.Response(503))
    for _ in range(3):
        with pytest.raises((ServiceDown, CircuitOpen)):
            await call(caller, "memory_service", "GET", "/x", tenant="acme")
    with pytest.raises(CircuitOpen):
        await call(caller, "memory_service", "GET", "/x", tenant="acme")
