"""A served gateway with a simulated worker for all tests, and a whole platform for each module. Tests use tenants, or
sessions and folders, of their own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from libs import ids
from libs.cache.redis import RedisDeltas, connect
from libs.embedded.postgres import Postgres
from libs.embedded.redis import Redis
from libs.keys.file import FileKeys
from libs.objects.filesystem import FilesystemObjects
from libs.policy import Policy
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.surfaces.a2a.agent import Agent, Worker
from tests.support import stack as stacks
from tests.support.stack import Stack

SETTINGS = {"requests_per_minute_by_route": {"GET /v1/models/{model}": 3, "POST /agui": 60}}
"""Routes with limits for each key that a test reaches."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with infrastructure.fresh_database(server) as where:
        folder: Path = tmp_path_factory.mktemp("stack")
        async with stacks.served(where, folder, settings=SETTINGS) as made:
            yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_agent(
    server: Postgres,
    gateway_template: str,
    rules: Policy,
    keys: FileKeys,
    owner: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[RunningGateway, Worker, str]]:
    worker = Worker()
    database = infrastructure.fresh_database(server, gateway_template)
    settings = {"command_wait": 5.0, "push_hosts": ["127.0.0.1:*"]}
    objects = FilesystemObjects(tmp_path_factory.mktemp("objects"), max_bytes=1 << 20)
    given: dict[str, Any] = {"policy": rules, "keys": keys, "objects": objects, "settings": settings}
    async with (
        Redis(tmp_path_factory.mktemp("redis")) as redis,
        aclosing(connect(redis.url)) as client,
        database as where,
        running_gateway(where, owner, worker.subscriptions, deltas=RedisDeltas(client), **given) as made,
        served(made) as url,
    ):
        yield made, worker, url


@pytest_asyncio.fixture(loop_scope="session")
async def agent(shared_agent: tuple[RunningGateway, Worker, str]) -> Agent:
    """The gateway with a simulated worker, for a tenant of the test's own."""
    made, worker, url = shared_agent
    mine = replace(made, tenant=ids.new())
    return Agent(mine, worker, url, await mine.key("*", principal="owner"))
