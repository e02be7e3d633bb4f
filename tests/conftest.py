"""What every test may ask for: one Postgres for the run (for each worker of pytest-xdist), a fresh database for the
test."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

from libs.database import Dsns
from libs.runtime.embedded.postgres import Postgres
from libs.runtime.host import prepare
from libs.telemetry import logs
from tests import infrastructure
from tests.echo import Echo
from tests.infrastructure.cache import Unprovided, for_workspaces
from tests.infrastructure.kafka import Kafka
from tests.infrastructure.shared import kafka_of

TESTS = Path(__file__).parent
ECHO_TEMPLATE = "suma_echo"
SELDOM = (10_000, 20, 20)


DEAREST = ("chaos/test_run.py", "chaos/", "deploy/", "journeys/", "trial/", "conformance/bus/", "libs/models/offline/")
"""What takes longest is begun first, so that workers that take file after file end together. The first starts a dozen
processes: beside it run those that start few."""


settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
"""How long an example takes says how busy a machine is, and nothing of what is tested."""


def pytest_configure(config: pytest.Config) -> None:
    logs.configure(json=False, level="CRITICAL")
    if (place := for_workspaces()) is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_dearness)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing of what is collected is garbage, and looking for it costs a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # And most of what a test makes goes when it ends: it is looked at less often than a small program's would be.
        gc.set_threshold(*SELDOM)
        gc.enable()


def _dearness(item: pytest.Item) -> int:
    place = item.path.relative_to(TESTS).as_posix()
    return next((n for n, dear in enumerate(DEAREST) if place.startswith(dear)), len(DEAREST))


if os.environ.get("SUMA_TEST_LOOP") == "uvloop":  # the loop that the platform itself runs on
    import uvloop

    def pytest_asyncio_loop_factories(
        config: pytest.Config, item: pytest.Item
    ) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
        return {"uvloop": uvloop.new_event_loop}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[Postgres]:
    """A real PostgreSQL with a migrated template."""
    async with infrastructure.postgres() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def where(server: Postgres) -> AsyncIterator[Dsns]:
    """A database of the test's own, with the bus in it."""
    async with infrastructure.fresh_database(server) as database:
        yield database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def echo_template(server: Postgres) -> str:
    """A template that also holds what the echo services keep."""
    await infrastructure.create_database(server, ECHO_TEMPLATE, infrastructure.TEMPLATE)
    async with infrastructure.platform(infrastructure.dsns(server, ECHO_TEMPLATE)) as platform:
        await prepare(platform, Echo(platform, "").services())
    return ECHO_TEMPLATE


@pytest_asyncio.fixture(loop_scope="session")
async def echo_where(server: Postgres, echo_template: str) -> AsyncIterator[Dsns]:
    """A database of the test's own for the echo services, everything declared."""
    async with infrastructure.fresh_database(server, echo_template) as database:
        yield database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(server: Postgres) -> AsyncIterator[str]:
    """The other database, where effects are made."""
    async with infrastructure.world(server) as dsn:
        yield dsn


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def broker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kafka]:
    """A real Kafka for the run, with doors that ask who comes. Each test that stands on it has topics of its own, by a
    prefix.
    """
    workers = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else None
    try:
        async with kafka_of(workers) as running:
            yield running
    except Unprovided as reason:
        pytest.skip(str(reason))
