"""Every action of the authorization matrix, allowed and refused, through the shipped bundle in each engine."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from libs.policy.rego import RegoPolicy
from tests.conformance.policy.cases import MATRIX, Case
from tests.conformance.policy.laws import OPA, SHIPPED, bundle, in_force, opa_eval

needs_opa = pytest.mark.skipif(OPA is None, reason="no opa on PATH: only the engine in process was asked")


def by_settings() -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in MATRIX:
        groups.setdefault(json.dumps(case.settings), []).append(case)
    return groups


@pytest.fixture(scope="module")
async def laws(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RegoPolicy]:
    """One engine per set of settings that the matrix names."""
    return {
        key: await in_force(bundle(tmp_path_factory.mktemp("law"), settings=cases[0].settings))
        for key, cases in by_settings().items()
    }


@pytest.mark.requirement("A9", "S3-52", "S3-53")
@pytest.mark.parametrize("case", MATRIX, ids=lambda case: case.says.replace(" ", "-"))
async def test_the_law_answers_as_the_matrix_says(laws: dict[str, RegoPolicy], case: Case) -> None:
    decision = await laws[json.dumps(case.settings)].decide(case.action, case.input)
    assert (decision.allowed, decision.obligations) == (case.allowed, case.owes)
    assert (decision.rule == "default") is not case.allowed


@pytest.mark.requirement("A9", "S3-52", "S3-53")
@needs_opa
def test_a_real_opa_answers_as_the_matrix_says(tmp_path: Path) -> None:
    for number, cases in enumerate(by_settings().values()):
        folder = bundle(tmp_path / str(number), settings=cases[0].settings)
        for case, decision in zip(cases, opa_eval(folder, [(case.action, case.input) for case in cases]), strict=True):
            assert (case.says, decision.allowed, decision.obligations) == (case.says, case.allowed, case.owes)


@pytest.mark.requirement("A9")
@needs_opa
def test_the_bundles_own_tests_pass() -> None:
    assert OPA is not None
    done = subprocess.run([OPA, "test", str(SHIPPED)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.requirement("A9")
def test_every_action_has_an_allowed_and_a_refused_case() -> None:
    asked = set(re.findall(r'input\.action == "([^"]+)"', (SHIPPED / "suma.rego").read_text()))
    asked |= {"admin.roots", "admin.dlq.replay"}
    for verdict in (True, False):
        assert asked <= {case.action for case in MATRIX if case.allowed is verdict}


@pytest.mark.requirement("A8")
def test_nothing_in_the_bundle_is_negated() -> None:
    rules = re.sub(r"#.*|\"[^\"]*\"", "", (SHIPPED / "suma.rego").read_text())
    assert not re.search(r"\bnot\b", rules)


@pytest.mark.requirement("S3-52")
async def test_the_shipped_settings_are_those_that_the_rules_read(laws: dict[str, RegoPolicy]) -> None:
    read = set(re.findall(r"data\.settings\.(\w+)", (SHIPPED / "suma.rego").read_text()))
    assert read == set(json.loads((SHIPPED / "data.json").read_text())["settings"])
