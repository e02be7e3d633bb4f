"""Fixtures for all tests: one Postgres per run (and pytest-xdist worker), and a new database per test."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings
from hypothesis.internal.charmap import charmap

from deploy.local.cache import Unprovided, for_workspaces
from deploy.local.kafka import Kafka
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.runtime.host import prepare
from libs.telemetry import logs
from tests import infrastructure
from tests.infrastructure.shared import kafka_of
from tests.support.echo_service import Echo
from tests.support.examples import examples
from tests.support.fork_server import close_shared

pytest_plugins = ["tests.tiers", "tests.stuck", "pytester"]
TESTS = Path(__file__).parent
ECHO_TEMPLATE = "suma_echo"
IN_MEMORY = pytest.StashKey[bool]()
"""Whether this process, and not its parent, moved temporary files to memory."""
SELDOM = (10_000, 20, 20)


DEAREST = (
    *("chaos/test_run.py", "deploy/test_processes.py", "trial/test_trial.py", "conformance/bus/", "evals/test_gate.py"),
    *("chaos/test_making.py", "hostile/"),
    *("browser/", "chaos/", "journeys/", "deploy/", "services/test_fairness.py", "services/tool_executor/"),
    *("services/conversation_worker/", "services/gateway/", "services/cli/", "libs/policy/", "libs/workspace/"),
    *("libs/models/", "libs/runtime/", "libs/bus/", "libs/objects/"),
)
"""Start the slowest files first, so that workers end together. Those that mostly wait run beside those that compute."""


settings.register_profile(
    "any machine", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
"""An example's duration depends on the machine's load, and says nothing about the code."""


def pytest_configure(config: pytest.Config) -> None:
    logs.configure(json=False, level="CRITICAL")
    if (place := for_workspaces()) is not None:
        config.stash[IN_MEMORY] = "PYTEST_DEBUG_TEMPROOT" not in os.environ
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Free the memory, also after a failure; PYTEST_DEBUG_TEMPROOT=/tmp keeps the files of failed tests."""
    if config.stash.get(IN_MEMORY, False) and (made := getattr(config, "_tmp_path_factory", None)) is not None:
        shutil.rmtree(made.getbasetemp(), ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted, such as the scenarios of a conformance suite, and the sums of their numbers."""
    sums = Counter[str]()
    for report in (each for kind in ("passed", "failed") for each in terminalreporter.stats.get(kind, ())):
        for name, counted in report.user_properties if report.when == "call" else ():
            if isinstance(counted, int):
                sums[name] += counted
            else:
                terminalreporter.write_line(f"{name}: {counted}")
    for name, counted in sums.items():
        terminalreporter.write_line(f"{name}: {counted}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_dearness)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collection creates no garbage, and searching for it would take a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # Most of a test's objects die with it, so garbage is collected less often than in a small program.
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


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def nothing_left_running() -> AsyncIterator[None]:
    """End shared processes with the run."""
    yield
    await close_shared()


@pytest.fixture(scope="session", autouse=True)
def characters() -> None:
    """Let no test pay for the table of characters that Hypothesis makes at its first text."""
    charmap()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[Postgres]:
    """Yield a real PostgreSQL with a migrated template."""
    async with infrastructure.postgres() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def where(server: Postgres) -> AsyncIterator[Dsns]:
    """Yield a database for this test alone, with the bus's schema."""
    async with infrastructure.fresh_database(server) as database:
        yield database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def echo_template(server: Postgres) -> str:
    """Create a template that also contains the echo services' schemas."""
    await infrastructure.create_database(server, ECHO_TEMPLATE, infrastructure.TEMPLATE)
    async with infrastructure.platform(infrastructure.dsns(server, ECHO_TEMPLATE)) as platform:
        await prepare(platform, Echo(platform, "").services())
    return ECHO_TEMPLATE


@pytest_asyncio.fixture(loop_scope="session")
async def echo_where(server: Postgres, echo_template: str) -> AsyncIterator[Dsns]:
    """Yield a database for this test alone, prepared for the echo services."""
    async with infrastructure.fresh_database(server, echo_template) as database:
        yield database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(server: Postgres) -> AsyncIterator[str]:
    """Yield the second database, where effects are made."""
    async with infrastructure.world(server) as dsn:
        yield dsn


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def broker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kafka]:
    """Yield a real Kafka for the run, with authenticated listeners. Each test has its own topics, by a prefix."""
    workers = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else None
    try:
        async with kafka_of(workers) as running:
            yield running
    except Unprovided as reason:
        pytest.skip(str(reason))
