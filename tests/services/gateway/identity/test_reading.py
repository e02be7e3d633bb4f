"""Policy's permissions to read, and for how long they are remembered."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from tests.services.gateway.running import running_gateway
from tests.support.platform import ControllablePolicy


@pytest.fixture
def judge(rules: Policy) -> ControllablePolicy:
    return ControllablePolicy(rules)


@pytest_asyncio.fixture(loop_scope="session")
async def http(
    gateway_where: Dsns, judge: ControllablePolicy, keys: FileKeys, owner: str
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway that remembers for a minute."""
    settings = {"key_seconds": 60.0}
    gateway = running_gateway(gateway_where, owner, policy=judge, keys=keys, settings=settings)
    async with gateway as home, home.client() as client:
        yield client


@pytest.mark.requirement("S3-52")
async def test_many_reads_cost_one_question(http: httpx.AsyncClient, judge: ControllablePolicy) -> None:
    answers = [await http.get(path) for path in ("/v1/sessions", "/v1/approvals", "/v1/effects", "/v1/budgets")]
    assert {answer.status_code for answer in answers} == {200}
    assert judge.asked.count("session.read") == 1


@pytest.mark.requirement("S3-52", "A8")
async def test_remembered_permission_ends_with_silence(http: httpx.AsyncClient, judge: ControllablePolicy) -> None:
    assert (await http.get("/v1/sessions")).status_code == 200
    judge.silent.add("*")
    silent = await http.get("/v1/sessions")
    assert (silent.status_code, silent.json()["code"]) == (503, "POLICY_UNAVAILABLE")
    judge.silent.clear()
    assert (await http.get("/v1/sessions")).status_code == 200


@pytest.mark.requirement("S3-52")
async def test_changed_rules_end_a_remembered_permission(http: httpx.AsyncClient, judge: ControllablePolicy) -> None:
    assert (await http.get("/v1/sessions")).status_code == 200
    judge.denied.add("session.read")
    denied = await http.get("/v1/sessions")
    assert (denied.status_code, denied.json()["code"]) == (403, "POLICY_DENIED")
