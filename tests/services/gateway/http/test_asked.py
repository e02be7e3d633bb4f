"""Every route of the contract asks policy: one that denies its action refuses it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import pytest_asyncio
import yaml

from libs import ids
from libs.changes import Cause, Changeset
from libs.embedded.postgres import Postgres
from libs.events import ApprovalRequested, TurnStarted
from tests import infrastructure
from tests.support.platform import REPOSITORY, ControllablePolicy, skills, template
from tests.support.stack import NAMES as NAMES_SERVED
from tests.support.stack import Stack, served

CONTRACT = REPOSITORY / "proto" / "openapi.yaml"
UNASKED = {
    "GET /v1/me": "the caller itself",
    "GET /v1/signin": "signing in",
    "POST /v1/signin": "signing in",
    "POST /v1/signin/code": "signing in",
    "POST /v1/signout": "signing out",
    "GET /v1/health": "health",
    "GET /v1/health/services": "health",
    "GET /healthz": "health",
    "GET /readyz": "health",
    "GET /.well-known/oauth-protected-resource": "how to authenticate",
    "GET /.well-known/oauth-protected-resource/mcp": "how to authenticate",
    "OPTIONS /v1/uploads": "the protocol's version",
    "POST /v1/sessions/{session_id}/messages": "the conversation worker asks, and refuses the turn",
}
DIGEST = "9" * 64


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    shape: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


def operations() -> Iterator[Operation]:
    for path, methods in yaml.safe_load(CONTRACT.read_text())["paths"].items():
        for method, shape in methods.items():
            yield Operation(method.upper(), path, shape)


@dataclass
class World:
    """A platform with one object of each kind that routes name."""

    stack: Stack
    named: dict[str, str]

    @property
    def judge(self) -> ControllablePolicy:
        return cast("ControllablePolicy", self.stack.platform.policy)

    async def send(self, of: Operation, denied: set[str]) -> httpx.Response:
        """Send the contract's example of a request while policy denies these actions."""
        given = {p["name"]: self.named.get(p["name"], p["example"]) for p in of.shape.get("parameters", ())}
        placed = {where: {p["name"] for p in of.shape.get("parameters", ()) if p["in"] == where} for where in PLACES}
        headers = {name: str(given[name]) for name in placed["header"] if name in HEADERS}
        query = {name: given[name] for name in placed["query"] if name in QUERY}
        content = next(iter(of.shape.get("requestBody", {}).get("content", {}).items()), None)
        body = b""
        if content is not None:
            kind, example = content[0], content[1].get("example")
            headers["Content-Type"] = kind
            body = (
                json.dumps({**example, **self._own(example)}).encode() if isinstance(example, dict) else b"0123456789"
            )
        self.judge.denied = denied
        try:
            async with self.stack.api() as http:
                return await http.request(
                    of.method, of.path.format(**self.named), params=query, headers=headers, content=body
                )
        finally:
            self.judge.denied = set()

    def _own(self, example: dict[str, Any]) -> dict[str, Any]:
        own = {"root": str(self.stack.root / "work"), "digest": DIGEST, "exclude": []}
        own |= {"verdict": "approve"} if example.get("verdict") == "override" else {}
        return {name: value for name, value in own.items() if name in example}


PLACES = ("path", "query", "header")
HEADERS = {"Tus-Resumable", "Upload-Offset", "Upload-Length"}
QUERY = {"root", "path", "side", "session"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder: Path = tmp_path_factory.mktemp("asked")
    database = infrastructure.fresh_database(server, await template(server))
    names = (*NAMES_SERVED, "memory_service")
    drawing = replace(skills(), multimodal=True)
    async with (
        database as where,
        served(where, folder, settings={"key_seconds": 0.0}, names=names, skills=drawing) as stack,
    ):
        yield World(stack, await _objects(stack))


async def _objects(stack: Stack) -> dict[str, str]:
    root = stack.folder("work", a_txt="a")
    async with stack.api() as http:
        session = (await http.post("/v1/sessions", json={"root": str(root)})).json()["session_id"]
        tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "10"}
        upload = (await http.post("/v1/uploads", headers=tus)).headers["Location"].rpartition("/")[2]
        # It waits for the approval of its changes.
        spoken = {"text": "remove duplicates", "root": str(stack.folder("copies", a_txt="a", b_txt="a"))}
        turn = (await http.post("/v1/sessions/message", json=spoken)).json()["turn_id"]
        asked = {kind: await _ask(stack, session, turn, kind) for kind in ("commit", "effect")}
        wanted = {"request": "make a chart of file types as chart.png", "root": str(stack.folder("drawn", a_txt="a"))}
        job = (await http.post("/v1/multimodal/jobs", json=wanted)).json()["job_id"]
        while len((await http.get("/v1/approvals")).json()["approvals"]) < len(asked) + 2:
            await stack.platform.bus.waiting()
    named = {"session_id": session, "turn_id": turn, "upload_id": upload, "job_id": job}
    named |= {"approval_id": asked["commit"], "effect_id": asked["effect"], "root": str(root), "path": str(root)}
    missing = ("asset_id", "letter_id", "key_id", "event_id", "fact_id", "memory_id", "sleep_id")
    return {**{name: ids.new() for name in missing}, **NAMES, **named, "session": session}


NAMES = {
    "name": "tidy",
    "tool": "mcp.mail.send",
    "tenant": "acme",
    "principal": "ada",
    "agent": "default",
    "Tus-Resumable": "1.0.0",
    "Upload-Offset": "0",
    "Upload-Length": "10",
}


async def _ask(stack: Stack, session: str, turn: str, kind: str) -> str:
    """Let the conversation worker ask a question in the session."""
    cause = Cause.request(
        "conversation_worker", id=ids.new(), tenant="local", key=f"local:{session}", session=session, turn=turn
    )
    approval = ids.new()
    about = {"approval_id": approval, "digest": DIGEST, "title": kind, "expires_in": 3600.0}
    asked = ApprovalRequested.model_validate({"turn_id": turn, "kind": kind, **about})
    begun = TurnStarted(turn_id=turn, message_id=None, text="x")
    await stack.platform.writer.apply(Changeset(cause).emit(begun, asked))
    return approval


@pytest.mark.requirement("S3-52", "A9")
@pytest.mark.parametrize("operation", [o for o in operations() if o.name not in UNASKED], ids=lambda o: o.name)
async def test_denied_action_refuses_its_route(world: World, operation: Operation) -> None:
    whole = await world.send(operation, {"*"})
    assert whole.status_code == 403, whole.text
    action = world.judge.asked[-1] if operation.method == "HEAD" else whole.json()["detail"].partition(":")[0]
    assert (await world.send(operation, {action})).status_code == 403


@pytest.mark.requirement("S3-52")
def test_unasked_routes_are_those_of_the_contract() -> None:
    assert {operation.name for operation in operations()} >= UNASKED.keys()


@pytest.mark.requirement("S3-52", "A8")
async def test_silent_policy_shows_nothing(world: World) -> None:
    async with world.stack.api() as http:
        world.judge.silent.add("*")
        try:
            read = await http.get("/v1/sessions")
        finally:
            world.judge.silent.clear()
        assert (read.status_code, read.json()["code"]) == (503, "POLICY_UNAVAILABLE")
        assert (await http.get("/v1/sessions")).status_code == 200


@pytest.mark.requirement("S3-52")
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/models"), ("GET", "/v1/responses/resp_{turn_id}_0"), ("POST", "/mcp")]
)
async def test_denied_reading_refuses_other_protocols(world: World, method: str, path: str) -> None:
    world.judge.denied = {"session.read", "catalogue.read"}
    try:
        async with world.stack.api() as http:
            answer = await http.request(method, path.format(**world.named), json={} if method == "POST" else None)
    finally:
        world.judge.denied = set()
    assert answer.status_code == 403, answer.text
