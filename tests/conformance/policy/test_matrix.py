"""Every action of the authorization matrix, allowed and denied, through the shipped bundle in each engine."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from deploy.local import opa
from deploy.local.cache import Unprovided
from libs.policy import Policy
from tests.conformance.policy.cases import MATRIX, Case
from tests.conformance.policy.conftest import InForce
from tests.conformance.policy.laws import SHIPPED, bundle


def by_settings() -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in MATRIX:
        groups.setdefault(json.dumps(case.settings), []).append(case)
    return groups


@pytest.fixture(scope="module")
async def laws(in_force: InForce, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Policy]:
    """Per engine, one policy for each set of settings in the matrix."""
    return {
        key: await in_force(bundle(tmp_path_factory.mktemp("law"), settings=cases[0].settings))
        for key, cases in by_settings().items()
    }


@pytest.mark.requirement("A9", "S3-52", "S3-53")
@pytest.mark.parametrize("case", MATRIX, ids=lambda case: case.says.replace(" ", "-"))
async def test_decisions_match_the_matrix(laws: dict[str, Policy], case: Case) -> None:
    decision = await laws[json.dumps(case.settings)].decide(case.action, case.input)
    assert (decision.allowed, decision.obligations) == (case.allowed, case.owes)
    assert (decision.rule == "default") is not case.allowed


@pytest.mark.requirement("A9")
@pytest.mark.slow
def test_the_bundles_own_tests_pass() -> None:
    try:
        command = opa.program()
    except Unprovided as reason:
        pytest.skip(f"no OPA: {reason}")
    done = subprocess.run([command, "test", SHIPPED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.requirement("A9")
def test_every_action_has_an_allowed_and_a_refused_case() -> None:
    asked = set(re.findall(r'input\.action == "([^"]+)"', (SHIPPED / "suma.rego").read_text()))
    asked |= {"admin.roots", "admin.audit", "admin.bus.read", "admin.skills", "admin.tenants.write"}
    asked |= {"admin.metrics.read", "admin.settings.read", "admin.tools"}
    asked |= {f"admin.{area}.{verb}" for area in ("dlq", "keys", "requeue") for verb in ("read", "write")}
    for verdict in (True, False):
        assert asked <= {case.action for case in MATRIX if case.allowed is verdict}


@pytest.mark.requirement("A8")
def test_bundle_contains_no_negation() -> None:
    rules = re.sub(r"#.*|\"[^\"]*\"", "", (SHIPPED / "suma.rego").read_text())
    assert not re.search(r"\bnot\b", rules)


@pytest.mark.requirement("S3-52")
def test_the_shipped_settings_are_those_that_the_rules_read() -> None:
    read = set(re.findall(r"data\.settings\.(\w+)", (SHIPPED / "suma.rego").read_text()))
    assert read == set(json.loads((SHIPPED / "data.json").read_text())["settings"])


@pytest.mark.requirement("S3-52")
def test_every_action_of_the_bundle_is_asked() -> None:
    actions = re.findall(r'input\.action == "([^"]+)"', (SHIPPED / "suma.rego").read_text())
    sources = "".join(
        file.read_text() for room in ("libs", "services") for file in (SHIPPED.parents[1] / room).rglob("*.py")
    )
    assert [action for action in actions if f'"{action}"' not in sources] == []
