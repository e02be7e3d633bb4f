"""Rollback, and the tool executor's views of a session's files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from libs import ids
from libs.clock import SystemClock
from libs.database import Dsns
from libs.events import WorkspaceChanged
from libs.identity import internal
from libs.keys import Keys
from libs.policy import Policy
from tests.services.gateway.running import RunningGateway, running_gateway


async def _committed(home: RunningGateway, http: httpx.AsyncClient, *commits: str) -> str:
    """A session with these commits."""
    accepted = (await http.post("/v1/sessions/message", json={"text": "tidy"})).json()
    session = str(accepted["session_id"])
    for commit in commits:
        await _changed(home, session, "committed", commit)
    await home.caught_up(session, 1 + len(commits))
    return session


async def _changed(home: RunningGateway, session: str, change: str, commit: str, *, whole: bool = True) -> None:
    event = WorkspaceChanged(turn_id=ids.new(), change=change, epoch=1, commit_id=commit, whole=whole)
    await home.worker_says(session, event)


async def _sent_events(home: RunningGateway) -> list[Any]:
    return [data async for data in home.published("suma.rollback.requested.v1")]


@pytest.mark.requirement("S4-26", "S4-49")
async def test_rollback_takes_the_last_commit_not_yet_undone(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = await _committed(home, http, "c1", "c2", "c3")
    await _changed(home, session, "rolled_back", "c3")
    await home.caught_up(session, 5)
    answer = await http.post(f"/v1/sessions/{session}/rollback")

    assert answer.status_code == 202
    (told,) = await _sent_events(home)
    assert (told["commit_id"], told["snapshot"], told["turn_id"]) == ("c2", None, answer.json()["turn_id"])
    assert [record["verdict"] for record in await home.audited("workspace.rollback")] == ["allow"]
    assert (await http.get(f"/v1/turns/{told['turn_id']}")).json()["state"] == "received"


@pytest.mark.requirement("S4-49")
async def test_a_redo_takes_the_last_commit_that_is_undone(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = await _committed(home, http, "c1", "c2", "c3")
    early = await http.post(f"/v1/sessions/{session}/rollback", json={"redo": True})
    assert (early.status_code, early.json()["code"]) == (409, "NOTHING_TO_REDO")
    for change, commit in (("rolled_back", "c3"), ("rolled_back", "c2"), ("committed", "c2")):
        await _changed(home, session, change, commit)
    await home.caught_up(session, 7)
    answer = await http.post(f"/v1/sessions/{session}/rollback", json={"redo": True})
    await http.post(f"/v1/sessions/{session}/rollback")

    redo, undo = await _sent_events(home)
    assert (redo["commit_id"], redo["redo"], redo["turn_id"]) == ("c3", True, answer.json()["turn_id"])
    assert (undo["commit_id"], undo["redo"]) == ("c2", False)


async def test_rollback_after_a_partial_one_undoes_the_rest(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = await _committed(home, http, "c1", "c2")
    await _changed(home, session, "rolled_back", "c2", whole=False)
    await home.caught_up(session, 4)
    await http.post(f"/v1/sessions/{session}/rollback")
    assert [told["commit_id"] for told in await _sent_events(home)] == ["c2"]


async def test_rollback_accepts_snapshot_or_commit_and_exclusions(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    session = await _committed(home, http, "c1", "c2")
    await http.post(f"/v1/sessions/{session}/rollback", json={"snapshot": "s7"})
    await http.post(f"/v1/sessions/{session}/rollback", json={"commit_id": "c1", "exclude": ["a.txt"]})
    steps = await http.post(f"/v1/sessions/{session}/rollback", json={"snapshot": "s7", "redo": True})
    both = await http.post(f"/v1/sessions/{session}/rollback", json={"commit_id": "c1", "snapshot": "s7"})

    told = await _sent_events(home)
    assert [(t["snapshot"], t["commit_id"], t["exclude"]) for t in told] == [("s7", None, []), (None, "c1", ["a.txt"])]
    assert (both.status_code, steps.status_code) == (422, 422)


async def test_without_a_commit_there_is_nothing_to_roll_back(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = await _committed(home, http)
    answer = await http.post(f"/v1/sessions/{session}/rollback")
    assert (answer.status_code, answer.json()["code"]) == (409, "NOTHING_TO_ROLL_BACK")


@pytest.mark.requirement("A9")
async def test_caller_without_files_write_may_not_roll_back(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = await _committed(home, http, "c1")
    async with home.client(await home.key("chat", "files:read", principal="owner")) as reader:
        answer = await reader.post(f"/v1/sessions/{session}/rollback")
    assert (answer.status_code, answer.json()["code"], await _sent_events(home)) == (403, "POLICY_DENIED", [])
    assert [record["verdict"] for record in await home.audited("workspace.rollback")] == ["deny"]


def _executor(keys: Keys) -> FastAPI:
    """A fake of the used part of the tool executor's internal API: it returns the request and its caller."""
    app = FastAPI()

    @app.get("/internal/v1/{path:path}")
    async def told(path: str, request: Request) -> JSONResponse:
        now = SystemClock().now()
        claims = internal.verify(keys, request.headers[internal.HEADER], audience="tool_executor", now=now)
        if request.query_params.get("root") == "/nowhere":
            return JSONResponse({"code": "NO_SUCH_PATH", "detail": "there is no such path"}, 404)
        if request.query_params.get("root") == "/crash":
            return JSONResponse({"detail": "a secret of the executor"}, 500)
        asked = {"tenant": claims.tenant, "session": claims.session}
        return JSONResponse({"path": path, "params": dict(request.query_params), **asked})

    return app


@pytest_asyncio.fixture(loop_scope="session")
async def whole(gateway_where: Dsns, rules: Policy, keys: Keys, owner: str) -> AsyncIterator[RunningGateway]:
    """A gateway that reaches a tool executor."""
    app = _executor(keys)

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://tool_executor")

    async with running_gateway(
        gateway_where, owner, policy=rules, keys=keys, clients={"tool_executor": client}
    ) as made:
        yield made


@pytest.mark.requirement("S4-24", "S4-56")
@pytest.mark.parametrize("what", ["graph", "diff", "snapshots"])
async def test_the_executor_is_asked_for_one_session_of_one_tenant(whole: RunningGateway, what: str) -> None:
    async with whole.client() as http:
        session = (await http.post("/v1/sessions", json={"root": "/home/ada"})).json()["session_id"]
        seen = await http.get(f"/v1/sessions/{session}/{what}", params={"depth": "2", "root": "/etc"})

    assert seen.json() == {
        "path": f"v1/sessions/{session}/{what}".removeprefix("v1/"),
        "params": {"root": "/home/ada", **({"after": "0", "limit": "5000"} if what == "diff" else {})},
        "tenant": whole.tenant,
        "session": session,
    }


async def test_unchanged_diff_is_not_sent_again(whole: RunningGateway) -> None:
    async with whole.client() as http:
        path = f"/v1/sessions/{(await http.post('/v1/sessions', json={})).json()['session_id']}/diff"
        tag = (await http.get(path)).headers["etag"]
        assert (await http.get(path, headers={"If-None-Match": tag})).status_code == 304


@pytest.mark.requirement("S4-56")
async def test_short_graph_route_returns_the_same(whole: RunningGateway) -> None:
    async with whole.client() as http:
        session = (await http.post("/v1/sessions", json={})).json()["session_id"]
        assert (await http.get("/graph", params={"session": session})).json() == (
            await http.get(f"/v1/sessions/{session}/graph")
        ).json()


async def test_executor_refusals_pass_through_but_its_failures_do_not(whole: RunningGateway) -> None:
    async with whole.client() as http:
        opened = [(await http.post("/v1/sessions", json={"root": root})).json() for root in ("/nowhere", "/crash")]
        refused, crashed = [await http.get(f"/v1/sessions/{one['session_id']}/graph") for one in opened]

    assert (refused.status_code, refused.json()["code"]) == (404, "NO_SUCH_PATH")
    assert (crashed.status_code, "secret" in crashed.text) == (503, False)


async def test_tools_and_skills_are_the_executors(whole: RunningGateway) -> None:
    async with whole.client() as http:
        assert (await http.get("/v1/tools")).json()["path"] == "tools"
        assert (await http.get("/v1/skills")).json()["session"] is None


async def test_missing_executor_makes_only_files_unavailable(http: httpx.AsyncClient) -> None:
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    answer = await http.get(f"/v1/sessions/{session}/diff")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")


async def test_files_need_the_scope_to_read_them(whole: RunningGateway) -> None:
    async with whole.client(await whole.key("chat")) as talker:
        session = (await talker.post("/v1/sessions", json={})).json()["session_id"]
        answer = await talker.get(f"/v1/sessions/{session}/graph")
    assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")


async def test_a_folders_log_needs_the_scope_to_read_files(home: RunningGateway) -> None:
    async with home.client(await home.key("chat")) as chatter:
        answer = await chatter.get("/v1/workspace/log", params={"root": "/home/ada"})
    assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")


@pytest.mark.parametrize("body", [{}, {"root": "here"}, {"root": "/home/ada", "before": "2026-01-01T00:00:00"}])
async def test_a_purge_names_a_folder_and_a_moment(http: httpx.AsyncClient, body: dict[str, str]) -> None:
    assert (await http.post("/v1/workspace/purge", json=body)).status_code == 422


async def test_an_example_folder_needs_files_write(home: RunningGateway) -> None:
    async with home.client(await home.key("chat", "files:read")) as reader:
        answer = await reader.post("/v1/examples")
    assert (answer.status_code, answer.json()["code"]) == (403, "POLICY_DENIED")
    assert [record["verdict"] for record in await home.audited("workspace.example")] == ["deny"]
