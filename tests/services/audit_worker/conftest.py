from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns, migrate
from libs.embedded.postgres import Postgres
from libs.keys import Keys
from libs.keys.file import FileKeys
from services.audit_worker.store import SCHEMA
from tests import infrastructure
from tests.services.audit_worker.running import RunningAudit, running_audit

CHAINED = "suma_audit"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def audit_template(server: Postgres) -> str:
    """A template database with the audit worker's schema."""
    await infrastructure.create_database(server, CHAINED, infrastructure.TEMPLATE)
    await migrate(server.dsn("suma_owner", CHAINED), SCHEMA)
    return CHAINED


@pytest_asyncio.fixture(loop_scope="session")
async def where(server: Postgres, audit_template: str) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, audit_template) as dsns:
        yield dsns


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return FileKeys(tmp_path_factory.mktemp("ours") / "keys")


@pytest_asyncio.fixture(loop_scope="session")
async def at(where: Dsns, keys: Keys, tmp_path: Path) -> AsyncIterator[RunningAudit]:
    async with running_audit(where, keys, tmp_path) as running:
        yield running
