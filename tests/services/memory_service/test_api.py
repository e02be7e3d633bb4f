"""The HTTP API: tokens are required, writes are changesets under policy, malformed requests are rejected."""

import asyncio

import pytest
from prometheus_client import REGISTRY

from tests.services.memory_service.running import RunningMemory

FACT = {"scopes": ["memory"], "key": "Employer", "value": "Google"}


async def facts(at: RunningMemory, user: str = "ada", tenant: str = "acme") -> list[tuple[str, str, str]]:
    answer = await at.ask("GET", "/facts", user=user, tenant=tenant)
    return [(fact["key"], fact["value"], fact["source"]) for fact in answer.json()["facts"]]


async def test_a_fact_is_kept_shown_and_forgotten(at: RunningMemory) -> None:
    kept = await at.ask("POST", "/facts", FACT)
    assert kept.status_code == 201
    assert await facts(at) == [("employer", "Google", "person")]
    shown = await at.ask("GET", "/facts/block")
    assert "- employer: Google (since " in shown.json()["block"]
    named = {"scope": "memory", "key": "EMPLOYER"}
    assert (await at.ask("DELETE", "/facts", params=named)).json() == {"forgotten": 1}
    assert (await at.ask("DELETE", "/facts", params=named)).json() == {"forgotten": 0}
    assert await facts(at) == []


async def test_a_newer_fact_replaces_the_value_of_its_setting(at: RunningMemory) -> None:
    for value in ("Google", "Google", "Suma"):
        await at.ask("POST", "/facts", FACT | {"value": value})
    assert await facts(at) == [("employer", "Suma", "person")]
    history = (await at.ask("GET", "/facts", params={"history": True})).json()["facts"]
    assert [(fact["value"], fact["state"]) for fact in history] == [("Suma", "active"), ("Google", "superseded")]
    await at.ask("DELETE", "/facts", params={"scope": "memory", "id": history[0]["id"]})
    assert await facts(at) == []


async def test_facts_stated_as_many_are_all_true(at: RunningMemory) -> None:
    for value in ("Google", "Suma"):
        await at.ask("POST", "/facts", FACT | {"value": value, "many": True})
    await at.ask("DELETE", "/facts", params={"scope": "memory", "key": "employer", "value": "Google"})
    assert await facts(at) == [("employer", "Suma", "person")]


@pytest.mark.requirement("S3-51")
async def test_memory_request_uses_the_user_of_its_token(at: RunningMemory) -> None:
    await at.ask("POST", "/facts", FACT)
    answer = await at.ask("GET", "/facts", user="eve", headers={"X-Internal-User": "ada"})
    assert answer.json()["facts"] == []


@pytest.mark.requirement("A29")
async def test_facts_of_other_people_and_tenants_are_inaccessible(at: RunningMemory) -> None:
    await at.ask("POST", "/facts", FACT)
    assert await facts(at, user="bob") == []
    assert await facts(at, tenant="globex") == []
    for user, tenant in (("bob", "acme"), ("ada", "globex")):
        named = {"scope": "memory", "key": "employer"}
        assert (await at.ask("DELETE", "/facts", params=named, tenant=tenant, user=user)).json() == {"forgotten": 0}
    assert len(await facts(at)) == 1


@pytest.mark.requirement("S3-53", "A9")
async def test_writes_that_policy_refuses_are_refused_and_recorded(at: RunningMemory) -> None:
    await at.ask("POST", "/facts", FACT)
    nobody = {"scopes": ["chat"]}
    refused = [
        await at.ask("POST", "/remember", nobody | {"text": "x"}),
        await at.ask("POST", "/facts", nobody | {"key": "a", "value": "b"}),
        await at.ask("DELETE", "/facts", params={"scope": "chat", "key": "employer"}),
        await at.ask("POST", "/context/feedback", nobody | {"subject": "t", "score": 1}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [(403, "POLICY_DENIED")] * 4
    assert [record["verdict"] for record in await at.recorded()] == ["allow", "deny", "deny", "deny", "deny"]
    assert len(await facts(at)) == 1


async def test_feedback_is_stored(at: RunningMemory) -> None:
    given = {"scopes": ["memory"], "subject": "turn-1", "score": 0.5, "comment": "good"}
    assert (await at.ask("POST", "/context/feedback", given)).status_code == 201
    [row] = await at.rows("select user_id, session_id, subject, score, comment from memory.feedback")
    assert tuple(row.values()) == ("ada", "s-1", "turn-1", 0.5, "good")


async def test_memory_id_reused_with_another_text_conflicts(at: RunningMemory) -> None:
    again = [await at.remember("one", memory_id="m-1") for _ in range(2)]
    assert [answer.json() for answer in again] == [{"id": "m-1"}] * 2
    assert len(await at.rows("select from memory.memories")) == 1
    assert (await at.remember("two", memory_id="m-1")).status_code == 409
    assert (await at.remember("one", memory_id="m-1", user="bob")).status_code == 409
    assert (await at.remember("two", memory_id="m-1", tenant="globex")).status_code == 201


async def test_many_writes_at_once_all_count(at: RunningMemory) -> None:
    said = [at.ask("POST", "/facts", FACT | {"value": f"{n % 4}", "many": True}, session=f"s-{n}") for n in range(24)]
    assert {answer.status_code for answer in await asyncio.gather(*said)} == {201}
    assert len(await facts(at)) == 4


@pytest.mark.requirement("A21", "S3-51")
@pytest.mark.parametrize(
    ("method", "route"),
    [("POST", "/remember"), ("POST", "/recall"), ("GET", "/facts"), ("POST", "/context/feedback"), ("GET", "/nowhere")],
)
async def test_memory_requests_need_a_token_for_this_service(at: RunningMemory, method: str, route: str) -> None:
    for token in ("", "nonsense", at.token(audience="audit_worker")):
        answer = await at.ask(method, route, token=token)
        assert (answer.status_code, answer.json()["code"]) == (401, "BAD_TOKEN")


@pytest.mark.requirement("A22")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b'{"text": "\xff"}', 400),
        (b'{"text": "x", "tenant": "globex"}', 422),
        (b'{"text": "\\ud800", "scopes": ["memory"]}', 422),
        (b'{"text": "\\u0000", "scopes": ["memory"]}', 422),
        (b"[" * 10_000, 400),
        (b'{"text": "' + b"x" * 600_000 + b'"}', 413),
    ],
    ids=["cut", "not UTF-8", "unknown field", "half a surrogate", "NUL", "deep", "large"],
)
async def test_malformed_request_gets_a_problem_document(at: RunningMemory, body: bytes, status: int) -> None:
    answer = await at.ask("POST", "/remember", content=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in answer.text
    assert (await at.remember("still here")).status_code == 201


async def test_a_memory_of_no_session_is_refused(at: RunningMemory) -> None:
    answer = await at.remember("x", session=None)
    assert (answer.status_code, answer.json()["code"]) == (422, "SESSION_MISSING")


async def test_health_needs_no_token(at: RunningMemory) -> None:
    assert (await at.ask("GET", "/healthz", token="")).json() == {"status": "ok"}


@pytest.mark.requirement("S3-60", "A37")
async def test_requests_are_counted_by_route_and_status(at: RunningMemory) -> None:
    def counted(route: str, status: str) -> float:
        labels = {"route": route, "status": status}
        return REGISTRY.get_sample_value("somabrain_http_requests_total", labels) or 0.0

    before = counted("/recall", "200"), counted("other", "404")
    await at.recalled("x")
    await at.ask("GET", "/made/up/by/a/stranger")
    assert (counted("/recall", "200"), counted("other", "404")) == (before[0] + 1, before[1] + 1)
    assert (REGISTRY.get_sample_value("somabrain_request_seconds_count", {"route": "/recall"}) or 0) > 0
