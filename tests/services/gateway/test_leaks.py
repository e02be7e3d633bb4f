"""No route, event type or id shows or changes what belongs to another tenant, or to another principal of one's own.

Two strangers hold every id of a victim: a key of another tenant with every scope, and an ordinary user of the same
tenant. They walk the application's own route table; a route without a probe fails the test.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute

from libs import ids
from libs.changes import Cause, Changeset
from libs.clock import SystemClock
from libs.database import Dsns
from libs.events import ApprovalRequested, registry
from libs.events.base import Event
from libs.identity import internal
from libs.identity.roles import BUNDLES
from libs.keys import Keys
from libs.policy import Policy
from services.gateway.app import PUBLIC
from tests.services.gateway.running import RunningGateway, running_gateway
from tests.services.gateway.uploading import BYTES, PLACE, TUS

GOLDEN = Path(__file__).parents[3] / "proto" / "golden"
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}")
WITHIN = 60.0
SECRET = "the victim's own words"
TABLES = ("session_envelopes", "session_events", "turns", "approvals", "attachments", "push_configs", "dlq_messages")
SERVICES = ("tool_executor", "audit_worker", "memory_service")
Json = Any


@dataclass(frozen=True)
class Probe:
    """How a stranger asks a route for what is the victim's. Its path's parameters are the victim's ids.

    `shows`: the route answers about the stranger's own things; else it must answer as if the ids did not exist.
    """

    body: Json = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    shows: bool = False


TEXT = {"text": "hello"}
RESOLVED = {"status": "resolved", "payload": {"approve": True}}
SAID = {"content": "hello"}
VERDICT = {"verdict": "deny", "digest": "d1"}
FINDING = {"verdict": "happened", "digest": "d1"}
SKILL = {"root": "/home/victim"}
KEY = {"principal": "eve", "roles": ["user"], "tenant": "{tenant}"}
OWN = Probe(shows=True)
HIDDEN = Probe()
RPC = {"Accept": "application/json, text/event-stream"}
CALL = {"name": "suma_follow", "arguments": {"turn_id": "{turn_id}"}}
OF_SESSION = Probe(query={"session": "{session_id}"})
A2A = {"A2A-Version": "1.0"}
OF_TASK = Probe(headers=A2A)
TO_TASK = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [TEXT], "taskId": "{turn_id}"}}
GET_TASK = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "{turn_id}"}}
PROBES: dict[str, Probe] = {
    "GET /v1/me": OWN,
    "POST /v1/signin/code": OWN,
    "GET /v1/signin": OWN,
    "POST /v1/signin": OWN,
    "POST /v1/signout": OWN,
    "POST /v1/sessions": Probe(body={}, shows=True),
    "GET /v1/sessions": Probe(query={"limit": "500"}, shows=True),
    "POST /v1/sessions/message": Probe(body={**TEXT, "session_id": "{session_id}"}),
    "POST /v1/llm/invoke": Probe(body={**TEXT, "session_id": "{session_id}"}),
    "POST /run": Probe(body={**TEXT, "session_id": "{session_id}"}),
    "GET /v1/sessions/{session_id}": HIDDEN,
    "GET /v1/sessions/{session_id}/history": HIDDEN,
    "GET /v1/sessions/{session_id}/events": HIDDEN,
    "GET /v1/sessions/{session_id}/stream": OWN,
    "WS /v1/sessions/{session_id}/stream": HIDDEN,
    "WS /stream": OF_SESSION,
    "PUT /v1/sessions/{session_id}/share": Probe(body={"access": "write"}),
    "DELETE /v1/sessions/{session_id}/share": HIDDEN,
    "POST /v1/sessions/{session_id}/messages": Probe(body=TEXT),
    "GET /v1/turns/{turn_id}": HIDDEN,
    "POST /v1/turns/{turn_id}/cancel": HIDDEN,
    "GET /v1/approvals": Probe(query={"session": "{session_id}"}, shows=True),
    "GET /v1/approvals/{approval_id}": HIDDEN,
    "POST /v1/approvals/{approval_id}": Probe(body=VERDICT),
    "PUT /v1/approvals/{approval_id}/draft": Probe(body={"digest": "x"}),
    "GET /v1/effects": Probe(query={"session": "{session_id}"}, shows=True),
    "GET /v1/effects/{effect_id}": HIDDEN,
    "POST /v1/effects/{effect_id}": Probe(body=FINDING),
    "GET /v1/sessions/{session_id}/graph": HIDDEN,
    "GET /v1/sessions/{session_id}/diff": HIDDEN,
    "GET /v1/sessions/{session_id}/snapshots": HIDDEN,
    "GET /v1/sessions/{session_id}/content": Probe(query={"path": "a.txt", "side": "after"}),
    "POST /v1/sessions/{session_id}/commit": HIDDEN,
    "POST /v1/sessions/{session_id}/rollback": HIDDEN,
    "GET /v1/workspace/log": Probe(query={"root": "/home/victim"}, shows=True),
    "POST /v1/workspace/purge": Probe(body=SKILL, shows=True),
    "GET /v1/folders": Probe(query={"path": "/home/victim"}, shows=True),
    "POST /v1/examples": OWN,
    "GET /graph": OF_SESSION,
    "GET /v1/assets/{asset_id}": HIDDEN,
    "POST /v1/multimodal/jobs": Probe(body={"request": "hello", "session_id": "{session_id}"}),
    "GET /v1/multimodal/jobs": Probe(query={"state": "open"}, shows=True),
    "GET /v1/multimodal/jobs/{job_id}": HIDDEN,
    "POST /v1/multimodal/jobs/{job_id}/cancel": HIDDEN,
    "GET /v1/multimodal/assets/{asset_id}": HIDDEN,
    "GET /v1/multimodal/assets/{asset_id}/provenance": HIDDEN,
    "POST /v1/multimodal/assets/{asset_id}/link": HIDDEN,
    "GET /v1/multimodal/capabilities": OWN,
    "OPTIONS /v1/uploads": OWN,
    "POST /v1/uploads": Probe(headers={**TUS, "Upload-Length": "5"}, shows=True),
    "GET /v1/uploads/{upload_id}": HIDDEN,
    "PATCH /v1/uploads/{upload_id}": Probe(headers={**BYTES, "Upload-Offset": "0"}),
    "DELETE /v1/uploads/{upload_id}": Probe(headers=TUS),
    "GET /v1/agents": OWN,
    "GET /v1/tools": OWN,
    "GET /v1/skills": Probe(query=SKILL, shows=True),
    "GET /v1/skills/{name}": Probe(query=SKILL, shows=True),
    "POST /v1/skills/{name}/approve": Probe(body={**SKILL, "digest": "0" * 64}, shows=True),
    "POST /v1/skills/{name}/revoke": Probe(body=SKILL, shows=True),
    "PUT /v1/turns/{turn_id}/rating": Probe(body={"score": 1}),
    "GET /v1/turns/{turn_id}/memories": HIDDEN,
    "PUT /v1/memory/memories/{memory_id}/rating": Probe(body={"score": 1}),
    "GET /v1/memory/ratings": OWN,
    "GET /v1/memory/adaptation": OWN,
    "DELETE /v1/memory/adaptation": OWN,
    "GET /v1/memory/modulators": OWN,
    "PUT /v1/memory/modulators": Probe(body={"dopamine": 0.4}, shows=True),
    "GET /v1/memory/personas/{agent}": OWN,
    "PUT /v1/memory/personas/{agent}": Probe(body=TEXT, shows=True),
    "DELETE /v1/memory/personas/{agent}": OWN,
    "GET /v1/memory/sleeps": OWN,
    "POST /v1/memory/sleeps": Probe(body={}, shows=True),
    "POST /v1/memory/sleeps/{sleep_id}/undo": OWN,
    "GET /v1/knowledge": OWN,
    "POST /v1/knowledge": Probe(body={"name": "manuals", "source": "/home/victim"}, shows=True),
    "POST /v1/knowledge/search": Probe(body={"query": "words", "base": "{name}"}, shows=True),
    "GET /v1/knowledge/{name}": OWN,
    "POST /v1/knowledge/{name}/remove": OWN,
    "GET /v1/budgets": OF_SESSION,
    "GET /v1/memory/facts": OWN,
    "PUT /v1/memory/facts": Probe(body={"key": "employer", "value": "Acme"}, shows=True),
    "DELETE /v1/memory/facts/{fact_id}": HIDDEN,
    "GET /v1/memory/memories": OF_SESSION,
    "DELETE /v1/memory/memories/{memory_id}": HIDDEN,
    "GET /v1/memory/search": Probe(query={"query": "words", "session": "{session_id}"}),
    "GET /v1/memory/held": OWN,
    "GET /v1/memory/export": OWN,
    "POST /v1/memory/erase": OWN,
    "GET /status": OF_SESSION,
    "GET /v1/admin/audit": Probe(query={"session": "{session_id}"}, shows=True),
    "GET /v1/admin/audit/status": OWN,
    "GET /v1/admin/audit/export": OWN,
    "GET /v1/admin/dlq": Probe(query={"state": "any", "session": "{session_id}"}, shows=True),
    "POST /v1/admin/dlq/replay": Probe(body={"session": "{session_id}"}, shows=True),
    "POST /v1/admin/dlq/discard": Probe(body={"session": "{session_id}", "reason": "mine"}, shows=True),
    "GET /v1/admin/dlq/{letter_id}": HIDDEN,
    "POST /v1/admin/dlq/{letter_id}/replay": HIDDEN,
    "POST /v1/admin/dlq/{letter_id}/discard": Probe(body={"reason": "mine"}),
    "GET /v1/admin/requeue": OWN,
    "POST /v1/admin/requeue/{event_id}/retry": HIDDEN,
    "GET /v1/admin/bus": OWN,
    "GET /v1/admin/metrics": OWN,
    "GET /v1/admin/settings": OWN,
    "GET /v1/admin/tools": OWN,
    "POST /v1/admin/tools/{tool}/approve": Probe(body={"digest": "0" * 64}, shows=True),
    "POST /v1/admin/tools/{tool}/revoke": OWN,
    "GET /v1/admin/keys": Probe(query={"tenant": "{tenant}", "ended": "true"}),
    "POST /v1/admin/keys": Probe(body=KEY),
    "POST /v1/admin/keys/{key_id}/rotate": HIDDEN,
    "POST /v1/admin/keys/{key_id}/revoke": HIDDEN,
    "GET /v1/admin/tenants": OWN,
    "POST /v1/admin/tenants": Probe(body={"tenant": "another"}, shows=True),
    "POST /v1/admin/tenants/{tenant}/disable": HIDDEN,
    "POST /v1/admin/tenants/{tenant}/enable": HIDDEN,
    "GET /v1/admin/principals": Probe(query={"tenant": "{tenant}"}),
    "POST /v1/admin/principals/{principal}/disable": Probe(query={"tenant": "{tenant}"}),
    "POST /v1/admin/principals/{principal}/enable": HIDDEN,
    "GET /v1/health": OWN,
    "GET /v1/health/services": OWN,
    "GET /v1/models": OWN,
    "GET /v1/models/{model}": OWN,
    "POST /agui": Probe(
        body={"threadId": "t", "runId": "r", "messages": [], "resume": [{"interruptId": "{turn_id}_1", **RESOLVED}]}
    ),
    "POST /v1/responses": Probe(body={"model": "suma", "input": "yes", "previous_response_id": "resp_{turn_id}_0"}),
    "GET /v1/responses/{response}": HIDDEN,
    "POST /v1/responses/{response}/cancel": HIDDEN,
    "DELETE /v1/responses/{response}": HIDDEN,
    "POST /v1/chat/completions": Probe(
        body={"model": "suma", "messages": [{"role": "user", **SAID}], "metadata": {"suma_session_id": "{session_id}"}}
    ),
    # JSON-RPC answers 200 with an error; tests/services/gateway/surfaces/a2a compares them.
    "POST /a2a": Probe(body=GET_TASK, headers=A2A, shows=True),
    "POST /a2a/": Probe(body=GET_TASK, headers=A2A, shows=True),
    "POST /a2a/v1/message:send": Probe(body=TO_TASK, headers=A2A),
    "POST /a2a/v1/message:stream": Probe(body=TO_TASK, headers=A2A),
    "GET /a2a/v1/tasks": Probe(query={"contextId": "{session_id}"}, headers=A2A, shows=True),
    "GET /a2a/v1/tasks/{id}": OF_TASK,
    "POST /a2a/v1/tasks/{id}:cancel": OF_TASK,
    "GET /a2a/v1/tasks/{id}:subscribe": OF_TASK,
    "POST /a2a/v1/tasks/{id}:subscribe": OF_TASK,
    "POST /a2a/v1/tasks/{id}/pushNotificationConfigs": Probe(body={"url": "https://1.1.1.1/"}, headers=A2A),
    "GET /a2a/v1/tasks/{id}/pushNotificationConfigs": OF_TASK,
    "GET /a2a/v1/tasks/{id}/pushNotificationConfigs/{push_id}": OF_TASK,
    "DELETE /a2a/v1/tasks/{id}/pushNotificationConfigs/{push_id}": OF_TASK,
    "GET /a2a/v1/extendedAgentCard": Probe(headers=A2A, shows=True),
    "POST /mcp": Probe(
        body={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}, headers=RPC, shows=True
    ),
    "GET /mcp": OWN,
    "DELETE /mcp": OWN,
}


@dataclass(frozen=True)
class Victim:
    """What belongs to one principal, by the names of path parameters."""

    home: RunningGateway
    key: str
    ids: Mapping[str, str]
    marks: frozenset[str]
    """Texts that nobody else may read."""

    async def rows(self) -> Json:
        """Return all that belongs to the victim, except when its key was last used."""
        found = {
            table: [
                row["all"]
                for row in await self.home.rows(
                    f"select to_jsonb(t)::text as all from gateway.{table} t where session_id = $1 order by 1",
                    self.ids["session_id"],
                )
            ]
            for table in TABLES
        }
        for table, column in (("api_keys", "principal"), ("principals", "principal_id"), ("uploads", "principal")):
            query = f"select (to_jsonb(t) - 'used_at')::text as all from gateway.{table} t where {column} = 'victim'"
            found[table] = [row["all"] for row in await self.home.rows(query)]
        found["tenants"] = [
            r["all"] for r in await self.home.rows("select to_jsonb(t)::text as all from gateway.tenants t")
        ]
        assert all(found.values()), f"the victim owns nothing of some kind: {found}"
        return found


class Inside:
    """Our own services, which answer with what they were asked for."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.tenants: list[str] = []
        self.people: list[str | None] = []
        """The persons that the memory service was asked about."""
        self.turn = ""
        """The turn of every asset of a job: the victim's."""

    def client(self, service: str) -> httpx.AsyncClient:
        app = FastAPI()

        @app.api_route("/{path:path}", methods=["GET", "PUT", "POST", "DELETE"])
        async def told(path: str, request: Request) -> JSONResponse:
            token, now = request.headers[internal.HEADER], SystemClock().now()
            claims = internal.verify(self._keys, token, audience=service, now=now)
            self.tenants.append(claims.tenant)
            if service == "memory_service":
                return self._remembered(claims.user, request)
            if path.startswith("internal/v1/multimodal/"):
                return JSONResponse({"executions": [], "turn_id": self.turn})
            state = {"count": 0, "sealed": 0, "sealed_at": None, "head": ""}
            return JSONResponse(
                {
                    "rows": [],
                    "records": [],
                    "next": None,
                    "behind": 0,
                    "root": "/home/own",
                    "files": 1,
                    "bytes": 1,
                    **state,
                }
            )

        return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=f"http://{service}")

    def _remembered(self, person: str | None, request: Request) -> JSONResponse:
        self.people.append(person)
        if "/memories/" in request.url.path and not request.url.path.endswith("/search"):
            return JSONResponse({"detail": "no such memory"}, 404)
        nothing: Json = {name: [] for name in ("facts", "memories", "ratings", "rows", "bases", "passages")}
        return JSONResponse({**nothing, "forgotten": 0, "waiting": 0, "lagging": False})


def goldens() -> Iterator[Event]:
    for path in sorted(GOLDEN.glob("*.json")):
        said = json.loads(path.read_text())
        yield registry[said["type"]].model_validate(said["data"])


async def handled(home: RunningGateway, event: Event, session: str, turn: str) -> None:
    """Publish an event, whose commit projects it."""
    if "turn_id" in type(event).model_fields:
        event = event.model_copy(update={"turn_id": turn})
    key = f"{home.tenant}:{session}"
    cause = Cause.request("elsewhere", id=ids.new(), tenant=home.tenant, key=key, session=session, turn=turn)
    await home.platform.writer.apply(Changeset(cause).emit(event))


def heard(home: RunningGateway) -> list[Event]:
    """Return an example of every event type that the gateway projects."""
    topics = {projection.topic for projection in home.service.projections}
    found = [event for event in goldens() if event.topic in topics]
    assert {type(event) for event in found} == {event for event in registry.values() if event.topic in topics}
    return found


async def victim_of(home: RunningGateway) -> Victim:
    key = await home.key("*", principal="victim")
    async with home.client(key) as http:
        accepted = (await http.post("/v1/sessions/message", json={"text": SECRET})).json()
        session, turn = accepted["session_id"], accepted["turn_id"]
        upload = (await http.post(PLACE, headers={**TUS, "Upload-Length": "5"})).json()["upload_id"]
        # The discard port refuses each call, so that nothing tells the webhook and ends it.
        hook = {"id": "hook-of-victim", "url": "http://127.0.0.1:9/hook-of-victim", "token": "token-of-victim"}
        added = await http.post(f"/a2a/v1/tasks/{turn}/pushNotificationConfigs", json=hook, headers=A2A)
        assert added.status_code == 200, added.text
    for event in heard(home):
        await handled(home, event, session, turn)
    asked = next(event for event in goldens() if isinstance(event, ApprovalRequested))
    approvals = {name: ids.new() for name in ("commit", "effect")}
    for kind, id in approvals.items():
        await handled(home, asked.model_copy(update={"kind": kind, "approval_id": id, "digest": "d1"}), session, turn)
    (asset,) = await home.rows("select asset_id from gateway.attachments limit 1")
    (letter,) = await home.rows("select letter_id, event_id from gateway.dlq_messages limit 1")
    known = {
        "session_id": session,
        "turn_id": turn,
        "job_id": turn,
        "id": turn,
        "push_id": hook["id"],
        "approval_id": approvals["commit"],
        "effect_id": approvals["effect"],
        "asset_id": asset["asset_id"],
        "upload_id": upload,
        "letter_id": letter["letter_id"],
        "event_id": letter["event_id"],
        "key_id": key.split("_")[1],
        "principal": "victim",
        "tenant": home.tenant,
        "name": "victims-skill",
        "agent": "victims-agent",
        "memory_id": "memory-of-victim",
        "fact_id": "fact-of-victim",
        "sleep_id": "sleep-of-victim",
        "model": "victims-model",
        "tool": "tickets.create",
        "response": f"resp_{turn}_0",
    }
    marks = {session, turn, upload, *approvals.values(), known["asset_id"], known["letter_id"], known["key_id"], SECRET}
    marks |= {hook["url"], hook["token"]}
    marks |= {text for event in heard(home) for text in ID.findall(event.model_dump_json())}
    return Victim(home, key, known, frozenset(marks))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def inside(keys: Keys) -> Inside:
    return Inside(keys)


@pytest_asyncio.fixture(loop_scope="session")
async def victim(gateway_where: Dsns, rules: Policy, keys: Keys, owner: str, inside: Inside) -> AsyncIterator[Victim]:
    clients = {name: lambda name=name: inside.client(name) for name in SERVICES}
    ports: Json = {"policy": rules, "keys": keys, "clients": clients, "settings": {"push_hosts": ["127.0.0.1:9"]}}
    async with running_gateway(gateway_where, owner, **ports) as made:
        found = await victim_of(replace(made, tenant=ids.new()))
        inside.turn = found.ids["turn_id"]
        yield found


def routes(home: RunningGateway) -> Iterator[str]:
    """Yield every route of the application, except the public ones."""
    for route in home.app.routes:
        match route:
            case Route() if route.path not in PUBLIC:
                yield from (f"{method} {route.path}" for method in (route.methods or ()) if method != "HEAD")
            case WebSocketRoute():
                yield f"WS {route.path}"
            case Route():
                pass
            case _:
                raise AssertionError(f"{route} is of a kind that this test does not walk")


def filled(value: Json, known: Mapping[str, str]) -> Json:
    """Return a probe's text, body or query with ids for its placeholders."""
    match value:
        case str():
            return re.sub(r"\{(\w+)\}", lambda found: known[found[1]], value)
        case dict():
            return {name: filled(part, known) for name, part in value.items()}
        case _:
            return value


@dataclass(frozen=True)
class Answer:
    status: int
    text: str


async def ask(home: RunningGateway, key: str, route: str, known: Mapping[str, str]) -> Answer:
    method, path = route.split(" ")
    probe = PROBES[route]
    path, query, body = filled(path, known), filled(dict(probe.query), known), filled(probe.body, known)
    if method == "WS":
        return await _socket(home, key, path, query)
    async with home.client(key) as http, asyncio.timeout(WITHIN):
        answer = await http.request(method, path, params=query, json=body, headers=probe.headers)
    return Answer(answer.status_code, answer.text)


async def _socket(home: RunningGateway, key: str, path: str, query: Mapping[str, str]) -> Answer:
    sent: list[Json] = []
    headers = [(b"host", b"localhost:8010"), (b"authorization", f"Bearer {key}".encode())]
    scope = {
        "type": "websocket",
        "path": path,
        "raw_path": path.encode(),
        "query_string": str(httpx.QueryParams(query)).encode(),
        "headers": headers,
        "scheme": "ws",
        "subprotocols": [],
        "extensions": {"websocket.http.response": {}},
    }

    async def receive() -> Json:
        return {"type": "websocket.connect"}

    async def send(message: Json) -> None:
        sent.append(message)

    async with asyncio.timeout(WITHIN):
        await home.app(scope, receive, send)
    return Answer(sent[0].get("status", 101), b"".join(message.get("body", b"") for message in sent).decode())


STRANGERS = {"another tenant's owner": "*", "another tenant's admin": "admin", "another user": "user"}


async def stranger_of(victim: Victim, who: str) -> tuple[RunningGateway, str]:
    role = STRANGERS[who]
    home = victim.home if who == "another user" else replace(victim.home, tenant=ids.new())
    return home, await home.key(*BUNDLES.get(role, {"*"}), principal="stranger")


@pytest.mark.requirement("P8", "A29")
def test_every_route_has_a_probe(running: RunningGateway) -> None:
    assert set(routes(running)) == set(PROBES)


@pytest.mark.requirement("P8", "A21", "A29")
@pytest.mark.parametrize("who", STRANGERS)
async def test_no_route_shows_or_changes_a_strangers_things(victim: Victim, inside: Inside, who: str) -> None:
    home, key = await stranger_of(victim, who)
    before, nothing = await victim.rows(), {name: f"none-{name.replace('_', '-')}" for name in victim.ids}
    if home.tenant == victim.ids["tenant"]:
        nothing["tenant"] = home.tenant
    inside.tenants.clear()
    inside.people.clear()
    for route in routes(home):
        answer = await ask(home, key, route, victim.ids)
        assert answer.status < 500, (route, answer)
        assert [mark for mark in victim.marks if mark in answer.text] == [], (route, answer)
        if not PROBES[route].shows:
            assert answer.status in (403, 404), (route, answer)
            assert answer == await ask(home, key, route, nothing), f"{route} tells that an id exists"
    assert await victim.rows() == before
    assert set(inside.tenants) == {home.tenant}
    assert set(inside.people) == {"stranger"}


@pytest.mark.requirement("P8", "A21")
@pytest.mark.parametrize("lost", ["key revoked", "key expired", "principal disabled", "tenant disabled"])
async def test_every_route_refuses_a_key_that_no_longer_counts(victim: Victim, lost: str) -> None:
    home, directory = victim.home, victim.home.context.identity.directory
    match lost:
        case "key revoked":
            await directory.revoke_key(home.tenant, victim.ids["key_id"])
        case "key expired":
            expired = "update gateway.api_keys set expires_at = now() - interval '1 second' where key_id = $1"
            await home.own(home.tenant, expired, victim.ids["key_id"])
        case "principal disabled":
            await directory.disable_principal(home.tenant, "victim")
        case _:
            await directory.disable_tenant(home.tenant)
    answers = {route: await ask(home, victim.key, route, victim.ids) for route in routes(home)}
    assert {route for route, answer in answers.items() if answer.status != 401} == set()
    assert {route for route, answer in answers.items() if any(mark in answer.text for mark in victim.marks)} == set()


@pytest.mark.requirement("P8", "A29")
async def test_no_event_of_another_tenant_changes_a_session(victim: Victim) -> None:
    before, other = await victim.rows(), replace(victim.home, tenant=ids.new())
    await other.key("*")
    for event in heard(other):
        await handled(other, event, victim.ids["session_id"], victim.ids["turn_id"])
    assert await victim.rows() == before


@pytest.mark.requirement("P8")
async def test_public_routes_reveal_nothing_about_a_tenant(victim: Victim) -> None:
    async with victim.home.client() as http:
        del http.headers["Authorization"]
        for path in PUBLIC:
            text = (await http.get(path)).text
            assert [mark for mark in {*victim.marks, victim.ids["tenant"]} if mark in text] == [], path
