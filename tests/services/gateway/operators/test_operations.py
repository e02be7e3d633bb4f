"""Operator views of events waiting for policy, of the bus, of recent metrics, and of the settings in force."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from libs.database import Dsns
from libs.identity import Role
from libs.identity.roles import BUNDLES
from libs.keys.file import FileKeys
from libs.policy import Policy
from services import settings
from services.gateway.operators.samples import SAMPLES_MOST
from tests.services.gateway.operators.conftest import WITHIN, Operator
from tests.services.gateway.running import running_gateway


async def parked(operator: Operator, count: int) -> None:
    pool = await operator.gateway.platform.database.bus()
    async with asyncio.timeout(WITHIN):
        while await pool.fetchval("select count(*) from bus.parked where state = 'parked'") != count:
            await asyncio.sleep(0.02)


@pytest.mark.requirement("S3-41", "A8")
async def test_event_waiting_for_policy_is_listed_until_handled(operator: Operator) -> None:
    said = await operator.say("policy: hm")
    await parked(operator, 1)
    (waiting,) = (await operator.http.get("/v1/admin/requeue")).json()["waiting"]
    assert (waiting["group"], waiting["turn_id"]) == ("conversation_worker", said["turn_id"])
    assert waiting["error"].startswith("POLICY_UNAVAILABLE: ")
    (notice,) = operator.worker.board.notices.values()
    assert (notice.id, notice.tenant, notice.turn) == (waiting["id"], "local", said["turn_id"])

    operator.worker.mended = True
    await operator.later(61)
    await operator.until_handled(1)
    await parked(operator, 0)
    assert (await operator.http.get("/v1/admin/requeue")).json()["waiting"] == []
    async with asyncio.timeout(WITHIN):
        while operator.worker.board.notices:
            await asyncio.sleep(0.02)


async def test_requeue_omits_events_that_wait_for_other_reasons(operator: Operator) -> None:
    said = await operator.say("policy: hm")
    await parked(operator, 1)
    await operator.say("behind", said["session_id"])
    await parked(operator, 2)
    (waiting,) = (await operator.http.get("/v1/admin/requeue")).json()["waiting"]
    assert waiting["turn_id"] == said["turn_id"]


@pytest.mark.requirement("S3-41")
async def test_retry_is_immediate_and_recorded(operator: Operator) -> None:
    await operator.say("policy: hm")
    await parked(operator, 1)
    pool = await operator.gateway.platform.database.bus()
    await pool.execute("update bus.parked set due_at = bus.now() + interval '1 day'")
    (waiting,) = (await operator.http.get("/v1/admin/requeue")).json()["waiting"]
    operator.worker.mended = True
    retried = await operator.http.post(f"/v1/admin/requeue/{waiting['id']}/retry")
    assert retried.json() == {"id": waiting["id"], "groups": ["conversation_worker"]}
    await operator.until_handled(1)
    records = await operator.gateway.audited("admin.requeue.write")
    assert [(r["phase"], r["verdict"]) for r in records] == [("decision", "allow"), ("outcome", "due")]
    assert (await operator.http.post("/v1/admin/requeue/nonesuch/retry")).status_code == 404


@pytest.mark.requirement("P8")
async def test_waiting_events_are_hidden_from_other_tenants_and_not_retried(operator: Operator) -> None:
    await operator.say("policy: hm")
    await parked(operator, 1)
    await operator.gateway.worker_waits()
    (waiting,) = (await operator.http.get("/v1/admin/requeue")).json()["waiting"]
    async with operator.gateway.client(await operator.gateway.key("admin", tenant="other")) as stranger:
        assert (await stranger.get("/v1/admin/requeue")).json()["waiting"] == []
        assert (await stranger.post(f"/v1/admin/requeue/{waiting['id']}/retry")).status_code == 404
        told = (await stranger.get("/v1/admin/bus")).json()
        assert {(group["parked"], group["dead"]) for group in told["groups"]} == {(0, 0)}
        assert told["leases"] == []


async def test_bus_reports_lag_and_parked_events(operator: Operator) -> None:
    await operator.remember("bad")
    await operator.say("policy: hm")
    await operator.letters(1)
    await parked(operator, 1)
    told = (await operator.http.get("/v1/admin/bus")).json()
    groups = {(group["group"], group["topic"]): group for group in told["groups"]}
    assert groups["conversation_worker", "memory.events"]["dead"] == 1
    inbound = groups["conversation_worker", "conversation.inbound"]
    assert (inbound["parked"], inbound["parked_since"] is not None, inbound["lag"] is not None) == (1, True, True)
    topics = {topic["topic"]: topic for topic in told["topics"]}
    assert topics["memory.events"]["records"] == 1
    assert topics["memory.events"]["oldest_seconds"] >= 0
    assert topics["tool.requests"]["oldest_seconds"] is None


async def test_bus_counts_leases_by_kind_with_the_oldest(operator: Operator) -> None:
    await operator.gateway.worker_waits()
    await operator.gateway.worker_waits()
    (told,) = (await operator.http.get("/v1/admin/bus")).json()["leases"]
    since = told.pop("since")
    assert told == {"group": "conversation_worker", "kind": "elsewhere", "leases": 2, "held": 0, "due": 2}
    assert since == min(row["since"] for row in await leases(operator)).isoformat().replace("+00:00", "Z")


async def leases(operator: Operator) -> Sequence[Any]:
    pool = await operator.gateway.platform.database.bus()
    return await pool.fetch("select since from bus.leases")


async def test_metrics_report_the_change_between_two_samples(operator: Operator) -> None:
    samples = operator.gateway.app.state.operators.samples
    samples.take()
    await operator.say("hello")
    await operator.until_handled(1)
    async with operator.gateway.client(await operator.gateway.key("chat")) as client:
        await client.get("/v1/admin/bus")
    samples.take()
    told = (await operator.http.get("/v1/admin/metrics")).json()
    last = told["samples"][-1]
    assert (last["requests"], last["unanswered"], last["dead_letters"]) == (2, 0, 0)
    assert last["allowed"] >= 1
    assert last["denied"] >= 1
    assert last["p95_seconds"] > 0
    assert last["memory_bytes"] > 1_000_000
    assert (told["every_seconds"], told["grafana_url"]) == (15.0, "")


async def test_metrics_keep_one_hour(operator: Operator) -> None:
    for _ in range(SAMPLES_MOST + 1):
        operator.gateway.app.state.operators.samples.take()
    assert len((await operator.http.get("/v1/admin/metrics")).json()["samples"]) == 3600 / 15


async def test_settings_name_their_sources_and_hide_secrets(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config.yaml").write_text("gateway: {web_hours: 12}\n")
    given = {
        "SUMA_CONFIG": str(tmp_path / "config.yaml"),
        "SUMA_REDIS_URL": "redis://:hunter2@cache",
        "SUMA_OTLP_URL": "http://me:hunter2@collector:4318/?token=hunter2",
        "SUMA_MODEL": "openai:gpt-5-mini",
        "SUMA_MODEL_KEY_FILE": "/run/secrets/key",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    shown = settings.explaining(settings.everything())
    async with (
        running_gateway(gateway_where, owner, policy=rules, keys=keys, effective_settings=shown) as gateway,
        gateway.client() as http,
    ):
        answer = await http.get("/v1/admin/settings")
    told = {each["name"]: each for each in answer.json()["settings"]}

    def source(name: str) -> tuple[object, ...]:
        return tuple(told[name][part] for part in ("service", "value", "set", "origin", "source"))

    assert "hunter2" not in answer.text
    assert source("gateway.web_hours") == ("gateway", "12.0", True, "file", given["SUMA_CONFIG"])
    assert source("redis_url") == ("platform", None, True, "environment", "SUMA_REDIS_URL")
    assert source("opa_token") == ("platform", None, False, "default", "default")
    assert source("model_key") == ("platform", None, True, "secret_file", "/run/secrets/key")
    assert source("otlp_url")[1] == "http://…@collector:4318/?…"
    assert told["gateway.web_hours"]["description"] == "Hours until a signed-in browser must sign in again"


@pytest.mark.requirement("P8", "A9")
@pytest.mark.parametrize("path", ["/v1/admin/metrics", "/v1/admin/settings"])
async def test_another_tenants_owner_sees_nothing_of_the_process(operator: Operator, path: str) -> None:
    async with operator.gateway.client(await operator.gateway.key("*", tenant="other")) as stranger:
        refused = await stranger.get(path)
    assert (refused.status_code, refused.json()["code"]) == (403, "POLICY_DENIED")


@pytest.mark.requirement("A9")
async def test_operator_reads_metrics_but_not_settings(operator: Operator) -> None:
    async with operator.gateway.client(await operator.gateway.key(*BUNDLES[Role.OPERATOR])) as http:
        assert (await http.get("/v1/admin/metrics")).status_code == 200
        assert (await http.get("/v1/admin/settings")).status_code == 403


@pytest.mark.requirement("A9")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/admin/bus"),
        ("GET", "/v1/admin/requeue"),
        ("POST", "/v1/admin/requeue/x/retry"),
        ("GET", "/v1/admin/metrics"),
        ("GET", "/v1/admin/settings"),
    ],
)
async def test_caller_without_admin_scope_is_refused(operator: Operator, method: str, path: str) -> None:
    async with operator.gateway.client(await operator.gateway.key("chat", "files:write")) as client:
        assert (await client.request(method, path)).status_code == 403
