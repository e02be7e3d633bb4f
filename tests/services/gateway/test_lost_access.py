"""Every way in which the gateway goes on telling a person something, against every way of losing access to it.

A channel ends, or tells nothing more, soon after its caller may no longer see what it tells. Requests that begin after
the loss are in `test_leaks.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from typer.testing import CliRunner, Result
from websockets.asyncio.client import connect as websocket
from websockets.exceptions import ConnectionClosedError

from libs import ids
from libs.embedded.postgres import Postgres
from libs.events import MessageCompleted, StepChanged, TurnEnded
from libs.events.values import StepState
from libs.identity.roles import BUNDLES
from libs.keys.file import FileKeys
from libs.objects.filesystem import FilesystemObjects
from libs.policy import Policy
from services.cli.commands import app
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.surfaces.a2a.agent import Worker
from tests.services.gateway.surfaces.a2a.test_push import receiver
from tests.services.gateway.uploading import BYTES, PLACE
from tests.support import surfaces

pytestmark = pytest.mark.slow
Json = Any
SECRET = b"what was said after the loss"
SECONDS = 20.0
LARGE = 32 << 20
"""More than the buffers between the gateway and a client hold."""


@dataclass
class Scene:
    """A session of alice, which bob may use until he loses access; a turn in it is under way."""

    home: RunningGateway
    url: str
    alice: httpx.AsyncClient
    bob: httpx.AsyncClient
    key: str
    """Bob's."""
    session: str
    turn: str
    told: bytearray = field(default_factory=bytearray)
    """What bob was told."""

    async def asked(self, request: surfaces.Asked, method: str = "POST") -> None:
        """Send a request of bob, and keep what it tells until it ends."""
        body = request.body or None
        try:
            async with self.bob.stream(method, request.path, json=body, headers=dict(request.headers)) as answer:
                async for chunk in answer.aiter_raw():
                    self.told += chunk
        except httpx.RemoteProtocolError:
            """The gateway cut the answer."""

    async def go_on(self) -> None:
        """Let the turn answer and end."""
        said = MessageCompleted(turn_id=self.turn, message_id=ids.new(), text=SECRET.decode())
        await self.home.worker_says(self.session, said, TurnEnded(turn_id=self.turn, state="completed"))


async def revoke(scene: Scene) -> None:
    await scene.home.revoke(scene.key)


async def expire(scene: Scene) -> None:
    expired = "update gateway.api_keys set expires_at = now() - interval '1 second' where key_id = $1"
    await scene.home.own(scene.home.tenant, expired, scene.key.split("_")[1])


async def disable_principal(scene: Scene) -> None:
    await scene.home.context.identity.directory.disable_principal(scene.home.tenant, "bob")


async def disable_tenant(scene: Scene) -> None:
    await scene.home.context.identity.directory.disable_tenant(scene.home.tenant)


async def unshare(scene: Scene) -> None:
    assert (await scene.alice.delete(f"/v1/sessions/{scene.session}/share")).status_code == 200


LOSSES: Mapping[str, Callable[[Scene], Awaitable[None]]] = {
    "key revoked": revoke,
    "key expired": expire,
    "principal disabled": disable_principal,
    "tenant disabled": disable_tenant,
    "session unshared": unshare,
}
Channel = Callable[[Scene], Awaitable[None]]


def get(path: str, **headers: str) -> Channel:
    """Return a channel that a GET opens; its path may name the session and the turn."""
    return lambda scene: scene.asked(
        surfaces.Asked(path.format(session=scene.session, turn=scene.turn), {}, headers), "GET"
    )


def rpc(path: str, method: str, **headers: str) -> Channel:
    """Return a channel that follows the turn by a JSON-RPC call."""

    async def opened(scene: Scene) -> None:
        named = {"name": "suma_follow", "arguments": {"turn_id": scene.turn}, "_meta": {"progressToken": 1}}
        params = named if path == "/mcp" else {"id": scene.turn}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        await scene.asked(surfaces.Asked(path, body, headers))

    return opened


def saying(surface: surfaces.Surface, *, streams: bool) -> Channel:
    """Return a channel that opens with a message in the session, over a protocol."""

    def within(body: Json, session: str) -> Json:
        """Name the session where the protocol has a place for it."""
        match body:
            case {"params": {"arguments": args}}:
                args["session_id"] = session
            case {"params": {"message": message}} | {"message": message}:
                message["contextId"] = session
            case {"threadId": _}:
                body["threadId"] = session
            case _:
                body["metadata"] = {"suma_session_id": session}
        return body

    async def opened(scene: Scene) -> None:
        asked = surface("wait", streams)
        await scene.asked(replace(asked, body=within(dict(asked.body), scene.session)))

    return opened


async def invoked(scene: Scene) -> None:
    body = {"text": "wait", "session_id": scene.session}
    await scene.asked(surfaces.Asked("/v1/llm/invoke?wait=60", body))


def socket(path: str) -> Channel:
    async def opened(scene: Scene) -> None:
        url = scene.url.replace("http", "ws", 1) + path.format(session=scene.session)
        held = {"Authorization": f"Bearer {scene.key}"}
        async with websocket(url, additional_headers=held, proxy=None) as stream:
            with suppress(ConnectionClosedError):
                async for message in stream:
                    scene.told += str(message).encode()

    return opened


A2A = {"A2A-Version": "1.0"}
MCP = {"Accept": surfaces.ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
WAITING: Mapping[str, Channel] = {
    "events": get("/v1/sessions/{session}/events"),
    "WebSocket": socket("/v1/sessions/{session}/stream"),
    "Scope Weaver's WebSocket": socket("/stream?session={session}"),
    "invoke": invoked,
    **{name: saying(made, streams=True) for name, made in surfaces.SURFACES.items()},
    **{f"{name}, at once": saying(made, streams=False) for name, made in surfaces.SURFACES.items()},
    "A2A over REST": saying(surfaces.a2a_rest, streams=True),
    "A2A over REST, at once": saying(surfaces.a2a_rest, streams=False),
    "A2A subscription": rpc("/a2a", "SubscribeToTask", **A2A),
    "A2A subscription over REST": get("/a2a/v1/tasks/{turn}:subscribe", **A2A),
    "MCP follow": rpc("/mcp", "tools/call", **MCP),
    "response again": get("/v1/responses/resp_{turn}_0?stream=true"),
}
"""Channels that wait for what a turn tells."""
FOLLOWING = tuple(WAITING.keys() - {"invoke"})
OPENAI = tuple(name for name in WAITING if name.startswith("chat completions"))
RESPONSES = tuple(name for name in WAITING if name.startswith("response"))
OVER_A2A = tuple(name for name in WAITING if name.startswith("A2A"))
OVER_MCP = tuple(name for name in WAITING if name.startswith("MCP"))
OVER_AGUI = tuple(name for name in WAITING if name.startswith("AG-UI"))
TELLING: Mapping[str, Sequence[str]] = {
    "files/assets.py:streamed": ("download",),
    "memory/routes.py:export": ("export",),
    "operators/audit.py:export": ("export",),
    "sessions/routes.py:ended": ("invoke",),
    "sessions/socket.py:serve": ("WebSocket", "Scope Weaver's WebSocket"),
    "sessions/stream.py:events": ("events",),
    "sessions/stream.py:items": FOLLOWING,
    "surfaces/a2a/handler.py:_moves": OVER_A2A,
    "surfaces/a2a/push.py:_events": ("webhook",),
    "surfaces/a2a/reader.py:_followed": OVER_A2A,
    "surfaces/agui/runs.py:run": OVER_AGUI,
    "surfaces/mcp/tool_calls.py:_followed": OVER_MCP,
    "surfaces/mcp/tool_calls.py:_made": OVER_MCP,
    "surfaces/mcp/tool_calls.py:_until_it_ends": OVER_MCP,
    "surfaces/openai/chat.py:create": OPENAI,
    "surfaces/openai/responses.py:create": RESPONSES,
    "surfaces/openai/responses.py:retrieve": ("response again",),
    "surfaces/segments.py:follow": FOLLOWING,
    "surfaces/segments.py:until_the_end": FOLLOWING,
    "surfaces/turns.py:follow": FOLLOWING,
}
"""The functions of the gateway that go on telling, and the channels above and below that reach them."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served_gateway(
    server: Postgres, gateway_template: str, rules: Policy, keys: FileKeys, owner: str, tmp_path_factory: Json
) -> AsyncIterator[tuple[RunningGateway, str]]:
    folder: Path = tmp_path_factory.mktemp("objects")
    given: Json = {"policy": rules, "keys": keys, "objects": FilesystemObjects(folder, max_bytes=1 << 30)}
    given["clients"] = {"audit_worker": endless, "memory_service": remembering}
    settings = {"verify_seconds": 0.05, "push_hosts": ["127.0.0.1:*"]}
    async with (
        infrastructure.fresh_database(server, gateway_template) as where,
        running_gateway(where, owner, Worker().subscriptions, settings=settings, **given) as home,
        served(home) as url,
    ):
        yield home, url


def endless() -> httpx.AsyncClient:
    """Return a client of an audit worker whose export has no end."""

    async def lines() -> AsyncIterator[bytes]:
        while True:
            yield b"{}\n" * 10_000
            await asyncio.sleep(0)

    answer = httpx.MockTransport(lambda _: httpx.Response(200, content=lines()))
    return httpx.AsyncClient(transport=answer, base_url="http://audit_worker")


def remembering() -> httpx.AsyncClient:
    """Return a client of a memory service that keeps more of a person than a connection buffers."""
    rows = [{"table": "memory.memories", "content": {"text": "x" * 50_000}}] * (LARGE // 50_000)
    answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"rows": rows}))
    return httpx.AsyncClient(transport=answer, base_url="http://memory_service")


@pytest_asyncio.fixture(loop_scope="session")
async def scene(served_gateway: tuple[RunningGateway, str]) -> AsyncIterator[Scene]:
    home, url = replace(served_gateway[0], tenant=ids.new()), served_gateway[1]
    alice = await home.key("*", principal="alice")
    bob = await home.key(*BUNDLES["user"], "admin.audit", principal="bob")
    async with client_of(url, alice) as owning, client_of(url, bob) as using:
        said = (await owning.post("/v1/sessions/message", json={"text": "wait"})).json()
        shared = await owning.put(f"/v1/sessions/{said['session_id']}/share", json={"access": "write"})
        assert shared.status_code == 200
        yield Scene(home, url, owning, using, bob, said["session_id"], said["turn_id"])


@asynccontextmanager
async def client_of(url: str, key: str) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as http:
        yield http


@pytest.mark.parametrize("lost", LOSSES)
@pytest.mark.parametrize("channel", WAITING)
async def test_channel_ends_once_its_caller_lost_access(scene: Scene, channel: str, lost: str) -> None:
    async with open_channel(scene, WAITING[channel]) as telling, asyncio.timeout(SECONDS):
        await (waits(scene, telling) if channel != "invoke" else begins(scene))
        await LOSSES[lost](scene)
        await telling
    await scene.go_on()
    assert SECRET not in scene.told
    assert b'"completed"' not in scene.told


@pytest.mark.parametrize("lost", LOSSES)
async def test_download_is_cut_once_its_caller_lost_access(scene: Scene, lost: str) -> None:
    place = {**BYTES, "Upload-Length": str(LARGE)}
    upload = (await scene.alice.post(PLACE, headers=place, content=bytes(LARGE))).json()["upload_id"]
    said = {"text": "wait", "session_id": scene.session, "attachments": [upload]}
    assert (await scene.alice.post("/v1/sessions/message", json=said)).status_code == 202
    assert await cut(scene, f"/v1/assets/{upload}", lost) < LARGE


@pytest.mark.parametrize("lost", [loss for loss in LOSSES if loss != "session unshared"])
@pytest.mark.parametrize("path", ["/v1/admin/audit/export", "/v1/memory/export"])
async def test_export_is_cut_once_its_caller_lost_access(scene: Scene, path: str, lost: str) -> None:
    assert await cut(scene, path, lost)


async def cut(scene: Scene, path: str, lost: str) -> int:
    """Read the beginning of an answer, lose access, and read what is left; return the bytes in all."""
    taken = 0
    try:
        async with asyncio.timeout(SECONDS), scene.bob.stream("GET", path) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for chunk in answer.aiter_raw():
                if not taken:
                    async with open_channel(scene, WAITING["events"]) as telling:
                        await waits(scene, telling)
                        await LOSSES[lost](scene)
                        await telling
                taken += len(chunk)
    except httpx.RemoteProtocolError:
        return taken
    pytest.fail("the answer was not cut")


@pytest.mark.parametrize("lost", LOSSES)
async def test_webhook_ends_once_its_principal_lost_access(scene: Scene, lost: str) -> None:
    async with receiver() as hook, asyncio.timeout(SECONDS):
        added = await scene.bob.post(
            f"/a2a/v1/tasks/{scene.turn}/pushNotificationConfigs", json={"url": hook.url}, headers=A2A
        )
        assert added.status_code == 200, added.text
        await scene.home.worker_says(scene.session, step(scene.turn))
        await hook.called()
        await LOSSES[lost](scene)
        await scene.go_on()
        await told_all(scene)
    assert SECRET not in b"".join(body for _, body in hook.bodies)


def step(turn: str) -> StepChanged:
    about = {"plan_id": "p", "step_id": "s", "ordinal": 1, "tool": "draw.chart", "description": "Draw"}
    return StepChanged(turn_id=turn, **about, state=StepState.RUNNING)


async def told_all(scene: Scene) -> None:
    """Wait until no webhook of the tenant is left to tell."""
    pool = await scene.home.platform.database.bus()
    query = "select count(*) from bus.leases where kind = 'a2a_push' and tenant = $1"
    while await pool.fetchval(query, scene.home.tenant):
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("lost", LOSSES)
async def test_command_shows_nothing_once_its_caller_lost_access(scene: Scene, lost: str) -> None:
    before = await command(scene, "events", scene.session)
    await LOSSES[lost](scene)
    await scene.go_on()
    after = await command(scene, "events", scene.session)
    assert (before.exit_code, after.exit_code == 0) == (0, False), before.output
    assert SECRET.decode() not in after.output


async def command(scene: Scene, *words: str) -> Result:
    env = {"SUMA_URL": scene.url, "SUMA_API_KEY": scene.key}
    return await asyncio.to_thread(CliRunner().invoke, app, [*words], env=env)


@asynccontextmanager
async def open_channel(scene: Scene, channel: Channel) -> AsyncIterator[asyncio.Future[None]]:
    telling = asyncio.ensure_future(channel(scene))
    try:
        yield telling
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def waits(scene: Scene, telling: asyncio.Future[None]) -> None:
    """Wait until the channel does."""
    while not telling.done() and not scene.home.context.streams.open:
        await asyncio.sleep(0.01)
    assert not telling.done(), bytes(scene.told)


async def begins(scene: Scene) -> None:
    """Wait until another turn of the session has begun."""
    await scene.home.seen(scene.session, lambda e: e.type == "turn.started" and e.turn_id != scene.turn)
