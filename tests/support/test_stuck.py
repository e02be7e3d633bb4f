"""The limit on a test's time: what hangs fails by name, and shows where it waits."""

from __future__ import annotations

import pytest

HANG = """
import asyncio, time

async def deep(): await asyncio.Event().wait()
async def outer(): await deep()

async def test_waiting(): await asyncio.create_task(outer())
def test_sleeping(): time.sleep(60)
def test_short(): pass
"""


def test_hanging_tests_fail_and_show_where_they_wait(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "from tests.stuck import TimeLimit\n"
        "def pytest_configure(config): config.pluginmanager.register(TimeLimit(0.5))\n"
    )
    pytester.makepyfile(HANG)
    ended = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:xdist", "-o", "asyncio_mode=auto"
    )
    ended.assert_outcomes(passed=1, failed=2)
    ended.stdout.fnmatch_lines_random(["*::test_waiting did not end within 0.5 s", "*deep", "*time.sleep(60)"])
