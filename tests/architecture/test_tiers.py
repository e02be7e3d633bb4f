"""The fast tier: it has a witness of each promise, and no test of it uses much CPU."""

from __future__ import annotations

import ast

import pytest

from tests.proofs import named, rows
from tests.tiers import CPU_MOST, FAST_TIER, MIXED, SLOW, TESTS, is_slow

WITNESSES = {
    "P1": ["chaos/test_echo.py::test_kill_at_any_point_loses_nothing_and_repeats_nothing"],
    "P2": [
        "chaos/test_echo.py::test_kill_at_any_point_loses_nothing_and_repeats_nothing",
        "libs/runtime/test_rebalance.py::test_stop_during_a_slow_handler_loses_and_repeats_nothing",
    ],
    "P3": ["conformance/bus/test_order.py::test_events_of_a_key_are_handled_in_commit_order"],
    "P4": [
        "injection/test_injection.py::test_injected_instructions_have_no_effect_without_approval",
        "services/conversation_worker/test_given_calls.py::test_given_change_waits_for_approval_and_commit",
    ],
    "P5": [
        "journeys/test_turn.py::test_cleanup_without_one_group_is_rolled_back_exactly",
        "libs/workspace/test_recovery.py::test_killed_at_each_point_it_is_all_or_nothing",
    ],
    "P6": [
        "libs/audit/test_verify.py::test_one_byte_changed_anywhere_is_found_at_its_record",
        "services/conversation_worker/test_unknown.py::test_intents_outcomes_and_findings_are_recorded",
    ],
    "P7": [],
    "P8": [
        "architecture/test_tenants.py::test_no_table_shows_rows_to_other_or_missing_tenants",
        "services/gateway/test_leaks.py::test_no_route_shows_or_changes_a_strangers_things",
    ],
}
"""Promise → the tests of the fast tier that fail where it is broken."""
NO_REPLAY = pytest.mark.xfail(strict=True, reason="A38: a session cannot be replayed from its log yet")
PROMISES = [row.id for row in rows() if row.id.startswith("P")]


@pytest.mark.parametrize("promise", [pytest.param(p, marks=NO_REPLAY if p == "P7" else ()) for p in PROMISES])
def test_each_promise_has_a_witness_in_the_fast_tier(promise: str) -> None:
    assert WITNESSES[promise]
    for witness in WITNESSES[promise]:
        file, _, name = witness.partition("::")
        assert not is_slow(TESTS / file)
        module = ast.parse((TESTS / file).read_text("utf-8"))
        (test,) = (n for n in module.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == name)
        assert promise in set(named(test))
        assert "pytest.mark.slow" not in {ast.unparse(mark) for mark in test.decorator_list}


@pytest.mark.parametrize("path", [*SLOW, *MIXED])
def test_slow_paths_exist(path: str) -> None:
    assert (TESTS / path).exists()


ALONE = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:schemathesis")
BURN = """
import subprocess, sys, time
import pytest

def burn():
    until = time.process_time() + 0.1
    while time.process_time() < until: pass

@pytest.fixture
def own(): burn()

@pytest.fixture(scope="module")
def shared(): burn()

def test_by_a_shared_fixture(shared): pass
def test_itself(): burn()
def test_by_its_fixture(own): pass
def test_by_a_child(): subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.1: pass"])
def test_that_waits(): time.sleep(0.1)
"""


def test_test_above_the_cpu_limit_fails(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "from tests.tiers import CpuLimit\n"
        "def pytest_configure(config): config.pluginmanager.register(CpuLimit(0.08))\n"
    )
    pytester.makepyfile(BURN)
    ended = pytester.inline_run(*ALONE)
    passed, _, failed = ended.listoutcomes()
    assert [report.nodeid.partition("::")[2] for report in failed] == [
        *("test_itself", "test_by_its_fixture", "test_by_a_child"),
    ]
    assert len(passed) == 2
    assert "mark it with pytest.mark.slow" in str(failed[0].longrepr)


def test_fast_tier_leaves_out_slow_tests_and_builds_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path))
    pytester.makepyfile(
        "import pytest\n"
        "from deploy.local.cache import built\n"
        "@pytest.mark.slow\n"
        "def test_slow(): pass\n"
        "def test_limit(pytestconfig):\n"
        f"    assert pytestconfig.pluginmanager.get_plugin('cpu-limit').seconds == {CPU_MOST}\n"
        "def test_build(): built('opa', lambda place: None)\n"
    )
    ended = pytester.inline_run(*ALONE, "-p", "tests.tiers", "-m", FAST_TIER)
    passed, _, failed = ended.listoutcomes()
    assert [report.nodeid.partition("::")[2] for report in passed] == ["test_limit"]
    assert ["`make test` builds nothing" in str(report.longrepr) for report in failed] == [True]
