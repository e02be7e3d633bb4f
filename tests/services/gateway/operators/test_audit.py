"""Search, status and export of the audit log, through the gateway and a real audit worker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio

from libs import ids
from libs.audit import verify
from libs.changes import Cause, Changeset
from libs.embedded.postgres import Postgres
from libs.events import ActionRecorded
from libs.keys.file import FileKeys
from libs.policy import Policy
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from services.audit_worker import service as audit_worker
from services.audit_worker.store import Search, Store
from tests import infrastructure
from tests.services.audit_worker.running import PROJECTED, Points
from tests.services.gateway.running import RunningGateway, running_gateway

PATH = "/v1/admin/audit"


@dataclass
class Auditor:
    """A tenant of a gateway that reaches an audit worker, and a client that holds only the auditor's scope."""

    gateway: RunningGateway
    http: httpx.AsyncClient
    points: Points

    async def record(self, *actions: ActionRecorded, session: str) -> None:
        """Publish audit records of a new session, and return once they are chained."""
        tenant, store = self.gateway.tenant, Store(self.gateway.platform.database)
        cause = Cause.request("tester", id=ids.new(), tenant=tenant, key=f"{tenant}:{session}", session=session)
        await self.gateway.platform.writer.apply(Changeset(cause).emit(*actions))
        while True:
            seen = self.points.seen[PROJECTED]
            if len(await store.search(tenant, Search(session=session, limit=500))) == len(actions):
                return
            await self.points.passed(PROJECTED, seen + 1)

    async def search(self, **asked: Any) -> dict[str, Any]:
        answer = await self.http.get(PATH, params=asked)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def resources(self, **asked: Any) -> list[str]:
        return [record["resource"] for record in (await self.search(**asked))["records"]]


def action(resource: str, **fields: Any) -> ActionRecorded:
    said = {"action": "tool.execute", "phase": "decision", "verdict": "allow", "principal": "ada"}
    return ActionRecorded(**{**said, "resource": resource, **fields})


def _client(app: Any) -> Callable[[], httpx.AsyncClient]:
    return lambda: httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://audit_worker")


@pytest.fixture(scope="session")
def points() -> Points:
    return Points()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def audited(
    server: Postgres,
    gateway_template: str,
    rules: Policy,
    keys: FileKeys,
    owner: str,
    points: Points,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[RunningGateway]:
    """A gateway and an audit worker in one process."""
    clients: dict[str, Callable[[], httpx.AsyncClient]] = {}

    def worker(platform: Platform) -> Service:
        service = audit_worker.build(platform)
        assert service.api is not None
        clients[service.name] = _client(service.api.app)
        return service

    ports: dict[str, Any] = {"policy": rules, "keys": keys, "clients": clients, "point": points}
    data_dir, database = tmp_path_factory.mktemp("data"), infrastructure.fresh_database(server, gateway_template)
    async with database as where, running_gateway(where, owner, others=[worker], data_dir=data_dir, **ports) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def auditor(audited: RunningGateway, points: Points) -> AsyncIterator[Auditor]:
    mine = replace(audited, tenant=ids.new())
    async with mine.client(await mine.key("admin.audit", principal="auditor")) as http:
        yield Auditor(mine, http, points)


@pytest.mark.requirement("S3-34")
async def test_audit_search_combines_its_filters(auditor: Auditor) -> None:
    await auditor.record(action("a"), action("b", verdict="deny", turn_id="t-1", principal="bob"), session="s-1")
    await auditor.record(action("c", action="memory.write"), session="s-2")
    assert await auditor.resources(session="s-1") == ["b", "a"]
    assert await auditor.resources(session="s-1", verdict="deny") == ["b"]
    assert await auditor.resources(turn="t-1", principal="bob") == ["b"]
    assert await auditor.resources(action="memory.write") == ["c"]
    assert await auditor.resources(session="s-1", action="memory.write") == []


async def test_audit_search_leaves_out_permissions_to_read(auditor: Auditor) -> None:
    await auditor.record(action("a"), action("b", action="admin.bus.read"), session="s-1")
    await auditor.record(
        action("c", action="admin.dlq.read", verdict="deny"), action("d", action="admin.audit"), session="s-2"
    )
    assert await auditor.resources(session="s-1", looks=False) == ["a"]
    assert await auditor.resources(session="s-2", looks=False) == ["c"]
    assert await auditor.resources(session="s-1") == ["b", "a"]


async def test_audit_search_is_bounded_by_time(auditor: Auditor) -> None:
    await auditor.record(action("a"), session="s-1")
    (first,) = (await auditor.search(session="s-1"))["records"]
    await auditor.record(action("b"), session="s-2")
    assert await auditor.resources(action="tool.execute", until=first["time"]) == []
    assert await auditor.resources(action="tool.execute", since=first["time"]) == ["b", "a"]


async def test_audit_search_pages_from_newest_to_oldest(auditor: Auditor) -> None:
    await auditor.record(*(action(str(n)) for n in range(5)), session="s-1")
    first = await auditor.search(session="s-1", limit=2)
    second = await auditor.search(session="s-1", limit=2, before=first["next"])
    last = await auditor.search(session="s-1", limit=2, before=second["next"])
    shown = [record["resource"] for page in (first, second, last) for record in page["records"]]
    assert (shown, last["next"]) == (["4", "3", "2", "1", "0"], None)


@pytest.mark.requirement("A36")
async def test_audit_record_has_the_exported_link(auditor: Auditor) -> None:
    await auditor.record(action("a", digests={"args": "00"}), session="s-1")
    (record,) = (await auditor.search(session="s-1"))["records"]
    exported = await auditor.http.get(f"{PATH}/export")
    lines = exported.content.splitlines(keepends=True)
    (line,) = [line for line in map(orjson.loads, lines) if line.get("position") == record["position"]]
    assert verify(lines).ok
    assert (line["link"], line["record"]["data"]["digests"]) == (record["link"], record["digests"])


async def test_audit_status_counts_sealed_records(auditor: Auditor) -> None:
    await auditor.record(action("a"), session="s-1")
    before = (await auditor.http.get(f"{PATH}/status")).json()
    await auditor.http.get(f"{PATH}/export")
    after = (await auditor.http.get(f"{PATH}/status")).json()
    assert (before["count"] >= 1, before["sealed"], before["sealed_at"]) == (True, 0, None)
    assert after["sealed"] >= before["count"]


async def test_audit_search_shows_only_the_callers_tenant(auditor: Auditor, audited: RunningGateway) -> None:
    await auditor.record(action("a"), session="s-1")
    stranger = replace(audited, tenant=ids.new())
    async with stranger.client(await stranger.key("admin")) as http:
        answer = await http.get(PATH, params={"session": "s-1"})
    assert (answer.status_code, answer.json()["records"]) == (200, [])


@pytest.mark.parametrize("route", ["", "/status", "/export"])
async def test_audit_routes_need_the_auditors_scope(home: RunningGateway, route: str) -> None:
    async with home.client(await home.key("chat", "files:read")) as http:
        answer = await http.get(f"{PATH}{route}")
    assert (answer.status_code, answer.json()["code"]) == (403, "POLICY_DENIED")


async def test_audit_access_is_recorded(auditor: Auditor) -> None:
    await auditor.search(action="tool.execute")
    records = await auditor.gateway.audited("admin.audit")
    assert [(r["principal"], r["resource"], r["verdict"]) for r in records] == [("auditor", "audit:search", "allow")]


@pytest.mark.parametrize("asked", [{"limit": 501}, {"before": 0}, {"before": 2**63}, {"since": "5"}, {"kind": "x"}])
async def test_audit_search_rejects_bad_filters(http: httpx.AsyncClient, asked: dict[str, Any]) -> None:
    assert (await http.get(PATH, params=asked)).status_code == 422
