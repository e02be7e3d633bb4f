"""Suma as it runs embedded: all six services, asked at the gateway's door, with policy, grants, audit chain, traces and
metrics on. The model plays a script, in the time of a call; the tool lists a folder after the time of a call.

A turn is one `POST /v1/llm/invoke?wait=`, straight into the gateway's application: it answers with the finished turn.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import orjson
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from pydantic import SecretStr
from typing_extensions import override

from libs import ids
from libs.cache.redis import RedisDeltas, connect
from libs.database import Dsns, Sizes
from libs.embedded.redis import Redis
from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.identity import keys
from libs.keys.file import FileKeys
from libs.leases.ports import Lease
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.objects.filesystem import FilesystemObjects
from libs.policy.rego import RegoPolicy
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Kind, Service
from libs.search.embedder import HashedEmbedder
from libs.skills import Skills, ToolDefinition
from libs.telemetry import logs, traces
from services import catalog
from tests import infrastructure
from tests.benchmarks import load
from tests.benchmarks.contenders.buses import carried
from tests.benchmarks.contenders.echo import behind

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ROOT = Path(__file__).resolve().parents[3]
TOOL = "manage-files.list"
WAIT_SECONDS = 60
ROOM = {"calls_at_once": 64, "calls_at_once_per_tenant": 64}
"""For 64 sessions of one tenant; the default keeps one tenant from filling the executor."""


class Script:
    """A model that wants one look at the folder and then answers, each in the time of a call."""

    name = "scripted:bench"

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        await load.call()
        step = Step(step_id=ids.new(), ordinal=1, description="List the folder", tool=TOOL, args={"path": "."})
        return PlanDraft(Plan(plan_id=ids.new(), reasoning="The folder must be read.", steps=(step,)))

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText(orjson.dumps({"approved": True, "reason": "It only reads.", "step": None}).decode())

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        return PlanDraft(plan)

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        await load.call()
        yield ModelText("There are three files.")


class Discarded(SpanExporter):
    """Spans are made, batched and handed over; what a collector does with them is not ours."""

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


@dataclass
class Client:
    """Speaks ASGI to the gateway as a server does, without a socket."""

    app: ASGIApp
    key: str
    root: Path
    sessions: dict[str, str] = field(default_factory=dict)

    async def turn(self, session: str) -> None:
        """The first message of a session opens it."""
        known = self.sessions.get(session)
        where = {"session_id": known} if known else {"root": str(self.root)}
        answer = await self.post("/v1/llm/invoke", f"wait={WAIT_SECONDS}", {"text": "list the files", **where})
        if answer.get("state") != "completed":
            raise RuntimeError(f"the turn ended otherwise: {answer}")
        self.sessions[session] = answer["session_id"]

    async def post(self, path: str, query: str, body: dict[str, Any]) -> dict[str, Any]:
        sent, said = asyncio.Event(), bytearray()
        incoming = [{"type": "http.request", "body": orjson.dumps(body), "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not incoming:
                await sent.wait()
                return {"type": "http.disconnect"}
            return incoming.pop()

        async def send(message: Any) -> None:
            said.extend(message.get("body", b""))

        headers = {"host": "localhost", "content-type": "application/json", "authorization": f"Bearer {self.key}"}
        await self.app(
            {
                "type": "http",
                "asgi": {"version": "3.0"},
                "http_version": "1.1",
                "method": "POST",
                "scheme": "http",
                "path": path,
                "raw_path": path.encode(),
                "query_string": query.encode(),
                "root_path": "",
                "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
                "client": ("127.0.0.1", 1),
                "server": ("127.0.0.1", 8010),
            },
            receive,
            send,
        )
        sent.set()
        return dict(orjson.loads(said))


def timed(service: Service) -> Service:
    """Its tools take the time of a call beside their own work."""

    async def run(kind: Kind[Any], lease: Lease) -> Any:
        await load.call()
        return await kind.run(lease)

    kinds = [replace(kind, run=partial(run, kind)) for kind in service.kinds]
    return replace(service, kinds=kinds) if service.name == "tool_executor" else service


Observe = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]
"""Wraps the transport that carries the services' calls of each other."""


async def main(where: Dsns, bootstrap: str | None) -> None:
    logs.configure(json=True, level="ERROR")
    async with running(where, bootstrap) as (client, platform):
        await load.serve(client.turn, lambda: behind(platform))


@asynccontextmanager
async def running(
    where: Dsns,
    bootstrap: str | None = None,
    *,
    spans: SpanExporter | None = None,
    observe: Observe = lambda transport: transport,
) -> AsyncIterator[tuple[Client, Platform]]:
    """Run all six services in this process, with the pool sizes of production, and yield their client."""
    end = traces.configure(spans or Discarded(), at_once=spans is not None)
    with tempfile.TemporaryDirectory(prefix="suma-bench-") as folder:
        data, root = Path(folder) / "data", Path(folder) / "root"
        data.mkdir(mode=0o700)
        root.mkdir()
        for n in range(3):
            (root / f"file-{n}.txt").write_text("hello")
        key, apps, near = keys.mint("local", "owner", scopes=["*"])[0], dict[str, Any](), dict[str, Any]()
        async with Redis(data) as redis, connect(redis.url) as client:
            ports = await _ports(data, root, key)
            ports["deltas"] = RedisDeltas(client)
            ports["clients"] = {name: partial(_client, apps, name, observe) for name in catalog.NAMES}
            async with infrastructure.platform(where, sizes=Sizes(), near=near, **ports) as made:
                platform = carried(made, bootstrap)
                async with _hosted(platform, apps, near):
                    yield Client(apps["gateway"], key, root), platform
    end()


async def _ports(data: Path, root: Path, key: str) -> dict[str, Any]:
    policy = RegoPolicy(ROOT / "deploy" / "opa", deadline=5.0)
    await policy.reload()
    return {
        "policy": policy,
        "keys": FileKeys(data / "keys"),
        "objects": FilesystemObjects(data / "objects", max_bytes=1 << 30),
        "model": Script(),
        "skills": Skills.load((ROOT / "skills",)),
        "embedder": HashedEmbedder(),
        "data_dir": data,
        "settings": {"gateway": {"local_key": SecretStr(key)}, "tool_executor": {"roots": [root], **ROOM}},
    }


@asynccontextmanager
async def _hosted(platform: Platform, apps: dict[str, Any], near: dict[str, Any]) -> AsyncIterator[None]:
    """Run the services until the block ends; `apps` receives their HTTP applications, `near` their queries."""
    services = [timed(entry.build(platform)) for entry in catalog.SERVICES]
    apps.update({service.name: service.api.app for service in services if service.api is not None})
    near.update({service.name: service.queries for service in services if service.queries})
    await prepare(platform, services)
    async with host(platform, services) as hosted:
        while hosted.problems():
            await asyncio.sleep(0.05)
        yield


def _client(apps: dict[str, Any], name: str, observe: Observe) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=observe(httpx.ASGITransport(apps[name])), base_url="http://localhost")


if __name__ == "__main__":
    load.run(main(Dsns(*sys.argv[1:4]), next(iter(sys.argv[4:]), None)))
