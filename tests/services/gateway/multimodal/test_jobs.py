"""Multimodal jobs over HTTP, with a tool executor that answers as the real one does."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from libs import ids
from libs.clock import SystemClock
from libs.database import Dsns
from libs.events import Plan, PlanProposed, Step, StepChanged, StepState, TurnEnded
from libs.identity import internal
from libs.identity.roles import BUNDLES
from libs.keys import Keys
from libs.policy import Policy
from libs.skills import Skills
from services.settings import BUNDLED
from tests.services.gateway.running import RunningGateway, running_gateway

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
WORDS = {"request": "make a chart of file types"}
DOCUMENT: Json = {
    "version": "1.0",
    "tasks": [
        {"task_id": "chart", "step_type": "generate_chart", "modality": "image", "inputs": {"of": "file_types"}},
        {"task_id": "report", "step_type": "compose_srs", "modality": "document", "depends_on": ["chart"]},
    ],
}
Json = Any


class Executor:
    """The internal API of the tool executor: one asset of one turn."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.asset: Json = None
        self.executions: list[Json] = []

    def client(self) -> httpx.AsyncClient:
        app = FastAPI()

        @app.get("/internal/v1/multimodal/{path:path}")
        async def told(path: str, request: Request) -> Response:
            now, token = SystemClock().now(), request.headers[internal.HEADER]
            internal.verify(self._keys, token, audience="tool_executor", now=now)
            return self._answer(path, request.query_params)

        return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://tool_executor")

    def _answer(self, path: str, asked: Mapping[str, str]) -> Response:
        if path.startswith("turns/"):
            return JSONResponse({"executions": self.executions})
        if path == "capabilities":
            known = {"tool_id": "vega", "provider": "local", "modalities": ["image"], "formats": ["svg"]}
            health = {"health_status": "healthy", "problem": "", "checked_at": None}
            about = {"constraints": {}, "cost_tier": "free", "latency_ms": 420}
            return JSONResponse({"capabilities": [{**known, **health, **about}]})
        if self.asset is None or path.split("/")[1] != self.asset["id"]:
            return JSONResponse({"detail": "no such asset"}, 404)
        if path.endswith("/content"):
            return Response(SVG[int(asked["start"]) : int(asked["end"])])
        return JSONResponse(self.asset)


@dataclass(frozen=True)
class Jobs:
    gateway: RunningGateway
    executor: Executor
    http: httpx.AsyncClient

    async def begun(self, body: Json = WORDS) -> Json:
        answer = await self.http.post("/v1/multimodal/jobs", json=body)
        assert answer.status_code == 202, answer.text
        return answer.json()

    async def made(self) -> Json:
        """Begin a job whose chart is made, and its report not yet."""
        begun = await self.begun()
        turn = begun["job_id"]
        steps = [_step(1, "chart"), replace_depends(_step(2, "document"), (1,))]
        self.executor.asset = {"id": ids.new(), "turn_id": turn, "title": "File types", **_content(), "provenance": {}}
        data = {"asset": self.executor.asset["id"], "title": "File types", "format": "svg", **_content()}
        about = {"turn_id": turn, "plan_id": "p", "description": "", "state": StepState.SUCCEEDED}
        told = StepChanged(**about, step_id="s1", ordinal=1, tool="make-documents.chart", data=data)
        proposed = PlanProposed(turn_id=turn, plan=Plan(plan_id="p", steps=tuple(steps)))
        await self.gateway.worker_says(begun["session_id"], proposed, told)
        self.executor.executions = [_execution(1, critique="larger letters", cost=20), _execution(2, cost=30)]
        return begun

    async def job(self, job: str) -> Json:
        return (await self.http.get(f"/v1/multimodal/jobs/{job}")).json()

    @property
    def path(self) -> str:
        return f"/v1/multimodal/assets/{self.executor.asset['id']}"


def _content() -> Json:
    return {"media_type": "image/svg+xml", "size": len(SVG), "sha256": hashlib.sha256(SVG).hexdigest()}


def _step(ordinal: int, name: str) -> Step:
    tool = f"make-documents.{name}"
    return Step(step_id=f"s{ordinal}", ordinal=ordinal, description=name, skill="make-documents", tool=tool)


def replace_depends(step: Step, on: Sequence[int]) -> Step:
    return step.model_copy(update={"depends_on": tuple(on)})


def _execution(attempt: int, *, critique: str = "", cost: int = 0) -> Json:
    about = {"step_id": "s1", "step_index": 1, "tool_id": "vega", "provider": "local", "latency_ms": 8, "error": None}
    more = {"asset_id": None, "status": "succeeded", "quality": 0.5, "at": "2026-03-02T09:15:08Z"}
    return {**about, **more, "attempt": attempt, "critique": [critique] if critique else [], "cost_micros": cost}


@pytest.fixture(scope="module")
def skills() -> Skills:
    return replace(Skills.load([BUNDLED / "skills"]), multimodal=True)


@pytest_asyncio.fixture(loop_scope="session")
async def jobs(gateway_where: Dsns, rules: Policy, keys: Keys, owner: str, skills: Skills) -> AsyncIterator[Jobs]:
    executor = Executor(keys)
    ports: Json = {"policy": rules, "keys": keys, "skills": skills, "clients": {"tool_executor": executor.client}}
    async with running_gateway(gateway_where, owner, **ports) as made, made.client() as http:
        yield Jobs(made, executor, http)


async def test_a_job_is_a_turn_of_a_new_session(jobs: Jobs) -> None:
    begun = await jobs.begun()
    (sent,) = [data async for data in jobs.gateway.published("suma.message.received.v1")]
    assert (sent["turn_id"], sent["text"]) == (begun["job_id"], WORDS["request"])
    (listed,) = (await jobs.http.get("/v1/multimodal/jobs", params={"state": "open"})).json()["jobs"]
    assert (listed["job_id"], listed["state"], listed["steps"]) == (begun["job_id"], "received", 0)
    assert (await jobs.http.get(begun["links"]["job"])).json()["request"] == WORDS["request"]


async def test_a_repeated_request_begins_one_job(jobs: Jobs) -> None:
    key = {"Idempotency-Key": "once"}
    answers = [await jobs.http.post("/v1/multimodal/jobs", json=WORDS, headers=key) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert len((await jobs.http.get("/v1/multimodal/jobs")).json()["jobs"]) == 1


@pytest.mark.requirement("S3-26")
async def test_a_document_of_the_dsl_becomes_the_message(jobs: Jobs) -> None:
    await jobs.begun({"plan": DOCUMENT})
    (sent,) = [data async for data in jobs.gateway.published("suma.message.received.v1")]
    assert '"task_id":"chart"' in sent["text"]


@pytest.mark.requirement("A35")
async def test_a_document_is_refused_with_every_problem(jobs: Jobs) -> None:
    wrong = {**DOCUMENT, "tasks": [{**DOCUMENT["tasks"][0], "depends_on": ["nothing"], "modality": "document"}]}
    answer = await jobs.http.post("/v1/multimodal/jobs", json={"plan": wrong})
    assert (answer.status_code, answer.json()["code"]) == (422, "PLAN_REFUSED")
    assert "nothing" in answer.json()["detail"]
    assert "modality" in answer.json()["detail"]
    assert (await jobs.http.get("/v1/multimodal/jobs")).json()["jobs"] == []


async def test_a_job_needs_words_or_a_plan(jobs: Jobs) -> None:
    bodies: list[Json] = [{}, {**WORDS, "plan": DOCUMENT}, {"plan": {}}]
    for body in bodies:
        assert (await jobs.http.post("/v1/multimodal/jobs", json=body)).status_code == 422


@pytest.mark.requirement("S3-37", "S3-38")
async def test_a_job_shows_steps_attempts_assets_and_cost(jobs: Jobs) -> None:
    begun = await jobs.made()
    job = await jobs.job(begun["job_id"])
    chart, report = job["plan"]
    assert (chart["state"], report["state"], report["depends_on"]) == ("succeeded", "pending", [1])
    assert [one["critique"] for one in chart["executions"]] == [["larger letters"], []]
    assert (job["assets"][0]["title"], job["cost_micros"]) == ("File types", 50)
    (row,) = await jobs.gateway.rows(
        "select plan_json -> 'steps' ->> 0 as step, status from gateway.multimodal_job_plans"
    )
    assert ("make-documents.chart" in row["step"], row["status"]) == (True, "received")


async def test_a_turn_that_plans_documents_is_a_job(jobs: Jobs) -> None:
    said = [(await jobs.http.post("/v1/sessions/message", json={"text": text})).json() for text in ("draw", "sort")]
    for one, skill in zip(said, ("make-documents", "organize-by-type"), strict=True):
        step = _step(1, "chart").model_copy(update={"skill": skill})
        plan = Plan(plan_id=ids.new(), steps=(step,))
        await jobs.gateway.worker_says(one["session_id"], PlanProposed(turn_id=one["turn_id"], plan=plan))
    listed = (await jobs.http.get("/v1/multimodal/jobs")).json()["jobs"]
    assert [one["job_id"] for one in listed] == [said[0]["turn_id"]]
    assert (await jobs.http.get(f"/v1/multimodal/jobs/{said[1]['turn_id']}")).json()["code"] == "NO_SUCH_JOB"


async def test_waiting_for_a_job_returns_at_its_end(jobs: Jobs) -> None:
    begun = await jobs.begun()
    ended = TurnEnded(turn_id=begun["job_id"], state="completed")
    await jobs.gateway.worker_says(begun["session_id"], ended)
    answer = await jobs.http.get(begun["links"]["job"], params={"wait": 30})
    assert answer.json()["state"] == "completed"
    late = await jobs.http.post(begun["links"]["cancel"])
    assert (late.status_code, late.json()["code"]) == (409, "TURN_ENDED")


async def test_a_cancel_reaches_the_turn(jobs: Jobs) -> None:
    begun = await jobs.begun()
    assert (await jobs.http.post(begun["links"]["cancel"])).status_code == 202
    (sent,) = [data async for data in jobs.gateway.published("suma.turn.cancel_requested.v1")]
    assert sent["turn_id"] == begun["job_id"]


async def test_an_asset_is_a_download_that_runs_nothing(jobs: Jobs) -> None:
    await jobs.made()
    answer = await jobs.http.get(jobs.path)
    assert (answer.content, answer.headers["content-type"]) == (SVG, "image/svg+xml")
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "File%20types.svg" in answer.headers["content-disposition"]
    part = await jobs.http.get(jobs.path, headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.content, part.headers["etag"]) == (206, SVG[1:4], answer.headers["etag"])
    beyond = await jobs.http.get(jobs.path, headers={"Range": "bytes=9000-"})
    assert beyond.status_code == 416
    assert len(await jobs.gateway.audited("asset.read")) == 6


@pytest.mark.requirement("S3-39")
async def test_provenance_names_the_job_of_an_asset(jobs: Jobs) -> None:
    begun = await jobs.made()
    jobs.executor.asset["provenance"] = {"provider": "local"}
    told = (await jobs.http.get(f"{jobs.path}/provenance")).json()
    assert (told["job_id"], told["provenance"]) == (begun["job_id"], {"provider": "local"})


@pytest.mark.requirement("P8", "A29")
async def test_others_see_neither_job_nor_asset(jobs: Jobs) -> None:
    begun = await jobs.made()
    key = await jobs.gateway.key(*BUNDLES["user"], principal="eve")
    async with jobs.gateway.client(key) as eve:
        places = (begun["links"]["job"], jobs.path, f"{jobs.path}/provenance")
        assert [(await eve.get(place)).status_code for place in places] == [404, 404, 404]
        assert (await eve.get("/v1/multimodal/jobs")).json()["jobs"] == []


async def test_capabilities_are_listed_with_health_and_latency(jobs: Jobs) -> None:
    told = (await jobs.http.get("/v1/multimodal/capabilities")).json()
    (able,) = told["capabilities"]
    assert (told["enabled"], able["health_status"], able["latency_ms"]) == (True, "healthy", 420)


@pytest.mark.requirement("S3-13")
async def test_a_disabled_deployment_says_how_to_enable_it(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/multimodal/jobs", json=WORDS)
    assert (answer.status_code, answer.json()["code"]) == (404, "MULTIMODAL_DISABLED")
    assert "SA01_ENABLE_multimodal_capabilities" in answer.json()["detail"]
    told = (await http.get("/v1/multimodal/capabilities")).json()
    assert (told["enabled"], told["capabilities"]) == (False, [])
