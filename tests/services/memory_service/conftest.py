from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns, migrate
from libs.embedded.postgres import Postgres
from libs.keys import Keys
from libs.keys.file import FileKeys
from libs.policy.rego import RegoPolicy
from services.memory_service.store import SCHEMA
from tests import infrastructure
from tests.services.memory_service.running import RunningMemory, running_memory

BUNDLE = Path(__file__).parents[3] / "deploy" / "opa"
REMEMBERING = "suma_memory"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def memory_template(server: Postgres) -> str:
    """A template database with the memory service's schema."""
    await infrastructure.create_database(server, REMEMBERING, infrastructure.TEMPLATE)
    await migrate(server.dsn("suma_owner", REMEMBERING), SCHEMA)
    return REMEMBERING


@pytest_asyncio.fixture(loop_scope="session")
async def where(server: Postgres, memory_template: str) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, memory_template) as dsns:
        yield dsns


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return FileKeys(tmp_path_factory.mktemp("ours") / "keys")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def law() -> RegoPolicy:
    """The shipped policy bundle."""
    policy = RegoPolicy(BUNDLE, deadline=5)
    await policy.reload()
    assert policy.problem is None
    return policy


@pytest_asyncio.fixture(loop_scope="session")
async def at(where: Dsns, keys: Keys, law: RegoPolicy) -> AsyncIterator[RunningMemory]:
    async with running_memory(where, keys=keys, policy=law) as running:
        yield running
