"""The two tiers of the tests, of which each test belongs to one.

`make test` runs the fast tier (`-m "not slow"`), which has a witness of every promise and builds no server.
`make test-all` runs the slow tier (`-m slow`): the paths below, and the tests that bear the mark.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from deploy.local import cache

TESTS = Path(__file__).parent
SLOW = (
    *("browser/", "chaos/", "deploy/", "hostile/", "journeys/", "trial/"),
    # Real Kafka, OPA and S3.
    *("conformance/bus/", "libs/bus/kafka/", "libs/objects/test_s3.py", "libs/policy/test_opa.py"),
    "services/test_production_ports.py",
    # Real sandboxes, and a Docker engine.
    "conformance/sandbox/",
    # Real clients of other protocols, fetched from their registries.
    *("services/gateway/surfaces/mcp/test_conformance.py", "services/gateway/surfaces/test_agui.py"),
    "services/gateway/surfaces/test_pages.py",
    # Whole platforms, a process for each command, and thousands of files or rows.
    *("evals/test_day.py", "evals/test_gate.py", "evals/test_harm.py", "libs/budgets/test_crowd.py"),
    *("libs/database/test_frozen.py", "libs/models/offline/test_many_names.py"),
    "services/conversation_worker/test_growth.py",
    *("services/gateway/identity/test_identity_commands.py", "services/gateway/operators/test_operators.py"),
    *("services/gateway/test_killed.py", "services/test_fairness.py", "services/test_wiring.py"),
    "services/tool_executor/test_workspaces.py",
)
"""Slow files and folders. A test elsewhere is slow if it is marked so."""
MIXED = ("chaos/test_echo.py", "conformance/bus/test_order.py", "journeys/test_turn.py")
"""Files of slow folders whose tests are slow only if they are marked so."""
FAST_TIER = "not slow"
CPU_SECONDS = 2.0
"""A test of the fast tier that uses more is listed at the end, counted with its own fixtures and the children that it
waited for."""
CPU_MOST = 6.0
"""A test that uses more fails. Where two cores are threads of one, a test was seen to use 2.3 times as much, so nothing
near the first limit may fail."""

began = pytest.StashKey[float]()


def is_slow(file: Path) -> bool:
    place = file.relative_to(TESTS).as_posix()
    return place.startswith(SLOW) and place not in MIXED


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr == FAST_TIER:
        building = ExitStack()
        building.enter_context(cache.reporting(_refuse))
        config.add_cleanup(building.close)
        config.pluginmanager.register(CpuLimit(CPU_MOST), "cpu-limit")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Importing the slow files would take the fast tier a third of its time to collect."""
    fast = config.option.markexpr == FAST_TIER and collection_path.is_relative_to(TESTS)
    return True if fast and collection_path.suffix == ".py" and is_slow(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow paths, before pytest selects by marks."""
    for item in items:
        if item.path.is_relative_to(TESTS) and is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.markexpr == FAST_TIER:
        terminalreporter.write_line("fast tier only: `make test-all` runs the slow tests")


class CpuLimit:
    """Fails a passed test that used more CPU than a limit. Fixtures that tests share are not counted."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._shared = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        item.stash[began], self._shared = used(), 0.0
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        start, shared = used(), self._shared
        result = yield
        if fixturedef.scope != "function":
            # Not added to what is within it: that is a part of it.
            self._shared = shared + used() - start
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        spent = used() - item.stash[began] - self._shared
        if call.when == "call" and spent > CPU_SECONDS:
            # tests/conftest.py prints it at the end.
            report.user_properties.append((item.nodeid, f"{spent:.1f} s of CPU; aim for {CPU_SECONDS:g} s"))
        if call.when == "call" and report.passed and spent > self.seconds:
            report.outcome = "failed"
            report.longrepr = (
                f"used {spent:.1f} s of CPU, and a test of the fast tier may use {self.seconds:g} s:"
                " make it cheaper, or mark it with pytest.mark.slow"
            )
        return report


def used() -> float:
    """Return the CPU seconds of this process and of the children that it waited for."""
    return sum(os.times()[:4])


def _refuse(build: str) -> NoReturn:
    pytest.fail(f"{build}: `make test` builds nothing; mark this test with pytest.mark.slow", pytrace=False)
