"""The platform with an OPA server and an S3 bucket: a whole turn, and the truth about each while it is away."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import boto3
import httpx
import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.opa import opa
from deploy.local.s3 import S3, s3
from deploy.local.served import Served
from libs.policy import Bundle
from tests.journeys.installation import ROOT, Installation, installation, readiness

RULES = ROOT / "deploy" / "opa"
FILES = 1000
"""Whose names, together, are too much for an event."""


@dataclass
class Production:
    """A running platform and the servers that it stands on."""

    installation: Installation
    opa: Served
    s3: S3

    def stored(self) -> list[str]:
        client = boto3.client(
            "s3",
            endpoint_url=self.s3.url,
            region_name=self.s3.region,
            aws_access_key_id=self.s3.access_key,
            aws_secret_access_key=self.s3.secret_key,
        )
        return [each["Key"] for each in client.list_objects_v2(Bucket="suma").get("Contents", [])]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def production(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Production]:
    async with AsyncExitStack() as stack:
        try:
            law, store = await stack.enter_async_context(opa(RULES)), await stack.enter_async_context(s3())
        except Unprovided as reason:
            pytest.skip(f"no production servers: {reason}")
        chosen = {
            "SUMA_POLICY_ENGINE": "opa",
            "SUMA_OPA_URL": law.url,
            "SUMA_OBJECTS": "s3",
            "SUMA_S3__ENDPOINT": store.url,
            "SUMA_S3__BUCKET": "suma",
            "SUMA_S3__ACCESS_KEY": store.access_key,
            "SUMA_S3__SECRET_KEY": store.secret_key,
            "SUMA_S3__PUBLIC_ENDPOINT": store.url,
        }
        made = await stack.enter_async_context(installation(tmp_path_factory.mktemp("suma"), **chosen))
        await made.start()
        yield Production(made, law, store)


def clean_up(made: Installation) -> tuple[str, ...]:
    return ("run", "remove duplicates", "--in", str(made.folder), "--yes", "--json")


@pytest.mark.requirement("A9", "S3-52")
async def test_turn_with_opa_records_the_bundle_revision(production: Production) -> None:
    for name in ("a.txt", "b.txt"):
        (production.installation.folder / name).write_text("same")
    said = await production.installation.suma(*clean_up(production.installation))
    assert said.code == 0, said.err
    ended = [json.loads(line) for line in said.out.splitlines() if "turn.ended" in line]
    assert [event["type"] for event in ended] == ["turn.ended"]
    assert len(list(production.installation.folder.glob("[!.]*"))) == 1
    async with production.installation.api() as api:
        checks = (await api.get("/readyz")).json()["checks"]
    assert checks["policy"]["detail"] == Bundle.read(RULES).revision
    assert checks["objects"]["ok"]


async def listed(made: Installation) -> tuple[httpx.Response, dict[str, Any]]:
    """A listing that is too large for an event: what is answered when it is fetched, and what the step said of it."""
    said = await made.suma("run", "list the files", "--in", str(made.folder), "--yes", "--json")
    assert said.code == 0, said.err
    told = [json.loads(line)["data"] for line in said.out.splitlines() if "step.changed" in line]
    (result,) = (step["result"] for step in told if step["result"])
    async with made.api() as api:
        return await api.get(f"/v1/assets/{result['asset_id']}"), result


@pytest.mark.requirement("A17b", "A29", "P4")
async def test_large_result_link_appears_in_no_record(
    production: Production,
) -> None:
    for n in range(FILES):
        (production.installation.folder / f"{n:05}-{'ü' * 40}.txt").touch()
    answer, result = await listed(production.installation)
    assert answer.status_code == 307
    link = answer.headers["location"]
    async with httpx.AsyncClient() as anyone:
        content = (await anyone.get(link)).raise_for_status().content
    assert hashlib.sha256(content).hexdigest() == result["sha256"]
    assert len(json.loads(content)["nodes"]) >= FILES
    assert link.rpartition("=")[2] not in production.installation.complaints
    for path in production.installation.folder.glob("*ü*"):
        path.unlink()


@pytest.mark.requirement("A8", "A17")
async def test_opa_outage_pauses_the_turn_until_it_returns(
    production: Production,
) -> None:
    for name in ("c.txt", "d.txt"):
        (production.installation.folder / name).write_text("other")
    async with production.installation.api() as api:
        await production.opa.pause()
        said = (await readiness(api, 503)).json()
        assert any("policy" in str(problem) for problem in said["problems"])
        refused = await api.post("/v1/sessions", json={"root": str(production.installation.folder)})
        assert refused.status_code == 503
        assert len(list(production.installation.folder.glob("[cd].txt"))) == 2
        await production.opa.resume()
        await readiness(api)
    assert (await production.installation.suma(*clean_up(production.installation))).code == 0


@pytest.mark.requirement("A17")
async def test_s3_outage_and_recovery_change_readiness(production: Production) -> None:
    async with production.installation.api() as api:
        await production.s3.stop()
        said = (await readiness(api, 503)).json()
        assert any(str(problem).startswith("objects: the object store") for problem in said["problems"])
        await production.s3.start()
        await readiness(api)
