"""Push notifications: delivered at least once, in order, signed and screened, also after a restart (4.3, 13.2)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import orjson
import pytest
import pytest_asyncio
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError
from jwt.api_jwk import PyJWK
from jwt.api_jws import PyJWS
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from libs.database import Dsns
from libs.identity.tokens import encoded
from libs.keys.file import FileKeys
from libs.policy import Policy
from services import http_server
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.surfaces.a2a.agent import BINDINGS, Agent, Worker, message, send

PUBLIC, INSIDE = "93.184.215.14", "127.0.0.77"
HEADERS: dict[str, Any] = {
    "token": "t0ken",
    "authentication": AuthenticationInfo(scheme="Bearer", credentials="s3cret"),
}


@dataclass
class Receiver:
    """A webhook that keeps what it was sent. `answers` are its next statuses; then it answers 200."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    taken: list[dict[str, Any]] = field(default_factory=list)
    bodies: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        status = self.answers.pop(0) if self.answers else 200
        self.bodies.append((dict(request.headers), body))
        if status == 200:
            self.taken.append(orjson.loads(body))
        self._more.set()
        await Response(status_code=status, headers={"Location": self.url})(scope, receive, send)

    async def until(self, state: str) -> list[dict[str, Any]]:
        """Wait for a status; return all that was taken before, and it."""
        async with asyncio.timeout(30):
            while state not in [_state(each) for each in self.taken]:
                await self.called()
        return self.taken

    async def called(self) -> None:
        async with asyncio.timeout(30):
            await self._more.wait()
        self._more.clear()


def _state(update: dict[str, Any]) -> str:
    found: str = update.get("statusUpdate", {}).get("status", {}).get("state", "")
    return found.removeprefix("TASK_STATE_").lower()


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
        async with http_server.serving(made, door):
            made.url = f"{http_server.url_of(door)}/hook"
            yield made


@pytest_asyncio.fixture(loop_scope="session")
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as made:
        yield made


@pytest.mark.parametrize("binding", BINDINGS)
async def test_webhook_receives_every_update_in_order(agent: Agent, hook: Receiver, binding: str) -> None:
    async with agent.client(binding) as client:
        wanted = TaskPushNotificationConfig(url=hook.url, **HEADERS)
        task = await send(client, message("hello"), task_push_notification_config=wanted)
        told = await hook.until("completed")
    assert {each[next(iter(each))]["taskId"] for each in told} == {task.id}
    kinds = [_state(each) or next(iter(each)) for each in told]
    assert kinds == ["working", "artifactUpdate", "working", "artifactUpdate", "completed"]


async def test_notification_carries_credentials_and_a_signature(agent: Agent, hook: Receiver) -> None:
    async with agent.client() as client, agent.http("") as http:
        wanted = TaskPushNotificationConfig(url=hook.url, **HEADERS)
        await send(client, message("hello"), task_push_notification_config=wanted)
        await hook.until("completed")
        keys = {key["kid"]: key for key in (await http.get("/.well-known/jwks.json")).json()["keys"]}
    headers, body = hook.bodies[0]
    assert headers["content-type"] == "application/a2a+json"
    assert (headers["authorization"], headers["x-a2a-notification-token"]) == ("Bearer s3cret", "t0ken")
    seal = headers["x-a2a-notification-signature"]
    protected = PyJWS().get_unverified_header(seal)
    key = PyJWK.from_dict(keys[protected["kid"]])
    assert protected["aud"] == hook.url
    assert PyJWS().decode(_whole(seal, body), key, algorithms=["EdDSA"]) == body
    with pytest.raises(Exception, match="verification failed"):
        PyJWS().decode(_whole(seal, body + b" "), key, algorithms=["EdDSA"])


@pytest.mark.parametrize("lost", ["tenant", "principal", "key", "share"])
async def test_webhook_receives_nothing_after_access_is_lost(agent: Agent, hook: Receiver, lost: str) -> None:
    hook.answers = [503]
    directory, tenant = agent.gateway.context.identity.directory, agent.gateway.tenant
    async with agent.client() as client:
        wanted = TaskPushNotificationConfig(url=hook.url)
        await send(client, message("hello"), task_push_notification_config=wanted)
        await hook.called()
        match lost:
            case "tenant":
                await directory.disable_tenant(tenant)
            case "principal":
                await directory.disable_principal(tenant, "owner")
            case "key":
                await _changed(agent, "update gateway.api_keys set revoked_at = bus.now() where tenant_id = $1")
            case _:
                # The session is another one's, and not shared.
                change = "principal = 'bob', oversees = false"
                await _changed(agent, f"update gateway.push_configs set {change} where tenant_id = $1")
        await infrastructure.shift(agent.gateway.platform.database, seconds=30)
        await _lease_gone(agent.gateway)
    assert hook.taken == []


async def test_failed_webhook_delivery_is_retried(agent: Agent, hook: Receiver) -> None:
    hook.answers = [503, 302]
    async with agent.client() as client:
        wanted = TaskPushNotificationConfig(url=hook.url)
        await send(client, message("hello"), task_push_notification_config=wanted)
        for _ in range(2):
            await hook.called()
            await infrastructure.shift(agent.gateway.platform.database, seconds=10)
        await hook.until("completed")
    assert len({body for _, body in hook.bodies[:3]}) == 1


@pytest.mark.requirement("P1")
async def test_webhook_delivery_continues_after_a_restart(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, hook: Receiver
) -> None:
    settings = {"command_wait": 5.0, "push_hosts": ["127.0.0.1:*"]}
    given: dict[str, Any] = {"policy": rules, "keys": keys, "settings": settings}
    hook.answers = [503]
    worker = Worker()
    async with (
        running_gateway(gateway_where, owner, worker.subscriptions, **given) as made,
        served(made) as url,
        Agent(made, worker, url, owner).client() as client,
    ):
        await send(client, message("hello"), task_push_notification_config=TaskPushNotificationConfig(url=hook.url))
        await hook.called()
    assert hook.taken == []
    async with running_gateway(gateway_where, owner, worker.subscriptions, **given) as made:
        await infrastructure.shift(made.platform.database, seconds=60)
        await hook.until("completed")


@pytest.mark.requirement("P1")
async def test_delivery_during_a_stop_forgets_no_update(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, hook: Receiver
) -> None:
    settings = {"command_wait": 5.0, "push_hosts": ["127.0.0.1:*"]}
    given: dict[str, Any] = {"policy": rules, "keys": keys, "settings": settings}
    hook.answers = [503]
    worker = Worker()
    async with (
        running_gateway(gateway_where, owner, worker.subscriptions, **given) as made,
        served(made) as url,
        Agent(made, worker, url, owner).client() as client,
    ):
        await send(client, message("hello"), task_push_notification_config=TaskPushNotificationConfig(url=hook.url))
        failed = await _lease(made, "input ->> 'failures' = '1'")
        made.context.streams.close()
        await infrastructure.shift(made.platform.database, seconds=10)
        await _lease(made, f"id <> '{failed}'")
    async with running_gateway(gateway_where, owner, worker.subscriptions, **given) as made:
        await infrastructure.shift(made.platform.database, seconds=60)
        await hook.until("completed")


async def _changed(agent: Agent, statement: str) -> None:
    """Change rows as the owner of the schema."""
    connection = await asyncpg.connect(agent.gateway.platform.database.dsns.owner)
    try:
        await connection.execute("select set_config('suma.tenants', $1, false)", f"{{{agent.gateway.tenant}}}")
        await connection.execute(statement, agent.gateway.tenant)
    finally:
        await connection.close()


async def _lease_gone(gateway: RunningGateway) -> None:
    pool = await gateway.platform.database.bus()
    async with asyncio.timeout(30):
        while await pool.fetchval("select count(*) from bus.leases where kind = 'a2a_push'"):
            pass


async def _lease(gateway: RunningGateway, condition: str) -> str:
    """Wait for the lease of a webhook; return its id."""
    pool = await gateway.platform.database.bus()
    query = f"select id from bus.leases where kind = 'a2a_push' and {condition}"
    async with asyncio.timeout(30):
        while (found := await pool.fetchval(query)) is None:
            pass
    return str(found)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_webhooks_are_added_listed_read_and_deleted(agent: Agent, hook: Receiver, binding: str) -> None:
    async with agent.client(binding) as client:
        task = await send(client, message("wait"), return_immediately=True)
        named = TaskPushNotificationConfig(task_id=task.id, id="mine", url=hook.url, **HEADERS)
        assert await client.create_task_push_notification_config(named) == named
        about = {"task_id": task.id}
        assert list((await client.list_task_push_notification_configs(_listing(task.id))).configs) == [named]
        reading = GetTaskPushNotificationConfigRequest(id="mine", **about)
        assert await client.get_task_push_notification_config(reading) == named
        for _ in range(2):
            await client.delete_task_push_notification_config(
                DeleteTaskPushNotificationConfigRequest(id="mine", **about)
            )
        with pytest.raises(TaskNotFoundError):
            await client.get_task_push_notification_config(reading)


@pytest.mark.requirement("P8")
async def test_webhooks_of_others_are_hidden(agent: Agent, hook: Receiver) -> None:
    async with agent.client() as client:
        task = await send(client, message("wait"), return_immediately=True)
        named = TaskPushNotificationConfig(task_id=task.id, id="mine", url=hook.url, **HEADERS)
        await client.create_task_push_notification_config(named)
    reader = await agent.neighbour("chat", "sessions:read")
    async with agent.client(key=reader) as other:
        assert not (await other.list_task_push_notification_configs(_listing(task.id))).configs
    async with agent.client(key=await agent.stranger()) as other:
        with pytest.raises(TaskNotFoundError):
            await other.list_task_push_notification_configs(_listing(task.id))
        with pytest.raises(TaskNotFoundError):
            await other.create_task_push_notification_config(named)


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "https://2130706433/",
        "http://example.org/",
        "https://user@example.org/",
        "ftp://example.org/",
        "",
    ],
)
async def test_webhook_into_this_network_is_refused_and_starts_nothing(agent: Agent, url: str) -> None:
    async with agent.client() as client, agent.http() as http:
        wanted = TaskPushNotificationConfig(url=url)
        with pytest.raises(InvalidParamsError):
            await send(client, message("hello"), task_push_notification_config=wanted)
        assert (await http.get("/v1/sessions")).json()["sessions"] == []


@pytest.mark.requirement("A6")
async def test_named_host_opens_its_named_ports_only(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str
) -> None:
    settings = {"push_hosts": ["127.0.0.1", "127.0.0.2:8080"]}
    opened = ("http://127.0.0.1/", "https://127.0.0.1/", "http://127.0.0.2:8080/")
    closed = ("http://127.0.0.1:6379/", "http://127.0.0.1:443/", "http://127.0.0.2/", "http://127.0.0.2:6379/")
    given: dict[str, Any] = {"policy": rules, "keys": keys, "settings": settings}
    async with running_gateway(gateway_where, owner, Worker().subscriptions, **given) as made, made.client() as http:
        task = (await http.post("/v1/sessions/message", json={"text": "wait"})).json()["turn_id"]
        place, version = f"/a2a/v1/tasks/{task}/pushNotificationConfigs", {"A2A-Version": "1.0"}
        found = {url: await http.post(place, json={"url": url}, headers=version) for url in (*opened, *closed)}
    assert [url for url, answer in found.items() if answer.is_success] == [*opened]


@pytest.mark.requirement("A6")
async def test_webhook_whose_name_turned_private_is_not_called(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    reached: list[str] = []

    def resolve(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        asked.append(host)
        # It is checked twice when it is registered.
        address = PUBLIC if len(asked) <= 2 else INSIDE
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    async def asked_for(times: int) -> None:
        async with asyncio.timeout(30):
            while len(asked) < times:
                await asyncio.sleep(0.02)

    inside = await asyncio.start_server(lambda reader, writer: reached.append("reached"), INSIDE, 8443)
    async with inside, agent.client() as client:
        wanted = TaskPushNotificationConfig(url="https://rebinds.example:8443/hook")
        # The resolver of this machine is replaced, since no test may depend on real names.
        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        await send(client, message("hello"), return_immediately=True, task_push_notification_config=wanted)
        await asked_for(3)
        await infrastructure.shift(agent.gateway.platform.database, seconds=10)
        # The second attempt begins after the first one has failed.
        await asked_for(4)
    assert (set(asked), reached) == ({"rebinds.example"}, [])


async def test_values_that_are_no_headers_are_refused(agent: Agent, hook: Receiver) -> None:
    async with agent.client() as client:
        for wrong in ({"token": "a\r\nX: y"}, {"authentication": AuthenticationInfo(scheme="a b", credentials="c")}):
            refused: dict[str, Any] = {"url": hook.url, **wrong}
            with pytest.raises(InvalidParamsError):
                await send(
                    client, message("hello"), task_push_notification_config=TaskPushNotificationConfig(**refused)
                )


def _listing(task: str) -> ListTaskPushNotificationConfigsRequest:
    return ListTaskPushNotificationConfigsRequest(task_id=task)


def _whole(seal: str, body: bytes) -> str:
    """Return a signature with its content in it (RFC 7515, appendix F)."""
    protected, _, signature = seal.split(".")
    return f"{protected}.{encoded(body)}.{signature}"
