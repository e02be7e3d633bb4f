"""The builtins that the shipped bundle calls, tried in every engine: an unknown one would be undefined."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import regopy

from deploy.local import opa
from deploy.local.cache import Unprovided
from libs.policy.ports import ENTRYPOINT
from tests.conformance.policy.laws import SHIPPED

TRIED = {
    "neq": '"a" != "b"',
    "gte": "2 >= 1",
    "lte": "1 <= 2",
    "min": 'min({["b", "x"], ["a", "y"]}) == ["a", "y"]',
    "minus": '{"a", "b"} - {"b"} == {"a"}',
    "split": 'split("admin.roots", ".") == ["admin", "roots"]',
    "internal.member_2": '"a" in {"a"}',
    "is_string": 'is_string("a")',
}
"""For each builtin, a condition that must hold."""


ASK = """
import json, sys
import regopy
from libs.policy.trial import called, planned
rules, data, entrypoint = json.load(sys.stdin)
engine = regopy.Interpreter()
engine.add_module("suma.rego", rules)
engine.add_data_json(data)
print(json.dumps(sorted(called(planned(engine, engine.build(None, [entrypoint]))))))
"""


def called() -> set[str]:
    """Run in a separate process, as for a bundle in production: regopy sometimes aborts its process when it saves a
    bundle.
    """
    asked = [(SHIPPED / "suma.rego").read_text(), (SHIPPED / "data.json").read_text(), ENTRYPOINT]
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(
        command, input=json.dumps(asked).encode(), cwd=SHIPPED.parents[1], capture_output=True, check=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.requirement("A8")
def test_the_bundle_calls_only_builtins_that_are_tried() -> None:
    assert called() <= set(TRIED)


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("name", TRIED)
def test_embedded_engine_supports_the_builtin(name: str) -> None:
    engine = regopy.Interpreter()
    engine.add_module("one.rego", f"package one\ntrue_of_it if {{ {TRIED[name]} }}")
    output = engine.query("data.one.true_of_it")
    assert engine.is_builtin(name)
    assert output[0][0] is True


@pytest.mark.requirement("A8")
@pytest.mark.slow
def test_real_opa_supports_every_used_builtin(tmp_path: Path) -> None:
    try:
        command = opa.program()
    except Unprovided as reason:
        pytest.skip(f"no OPA: {reason}")
    rules = [f"truth_{number} if {{ {body} }}" for number, body in enumerate(TRIED.values())]
    (tmp_path / "one.rego").write_text("\n".join(["package one", *rules]))
    asked = [str(command), "eval", "--data", str(tmp_path), "--format", "raw", "data.one"]
    done = subprocess.run(asked, capture_output=True, check=True)
    assert json.loads(done.stdout) == {f"truth_{number}": True for number in range(len(TRIED))}
