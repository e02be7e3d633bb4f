"""Bundles and engines for the tests of the policy port: each engine is a real one, over a real folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from libs.policy import Decision
from libs.policy.ports import Json, answer, question
from libs.policy.rego import RegoPolicy

SHIPPED = Path(__file__).parents[3] / "deploy" / "opa"
OPA = shutil.which("opa")
SCOPED: dict[str, Json] = {"tenant": "acme", "principal": {"id": "ada", "scopes": ["*"]}, "session": "s1"}


def bundle(folder: Path, rules: str | None = None, *, settings: Mapping[str, Json] | None = None) -> Path:
    """A copy of the shipped bundle in `folder`, with other rules or other settings."""
    folder.mkdir(parents=True, exist_ok=True)
    law = json.loads((SHIPPED / "data.json").read_text())
    law["settings"].update(settings or {})
    (folder / "data.json").write_text(json.dumps(law))
    (folder / "suma.rego").write_text(rules if rules is not None else (SHIPPED / "suma.rego").read_text())
    return folder


def deciding(body: str) -> str:
    """Rules whose answer is a yes under `body`."""
    return (
        'package suma\ndefault decision := {"allowed": false, "rule": "default", "reason": "", "obligations": []}\n'
        f'decision := {{"allowed": true, "rule": "one", "reason": "", "obligations": []}} if {{ {body} }}\n'
    )


async def in_force(folder: Path) -> RegoPolicy:
    policy = RegoPolicy(folder)
    assert await policy.reload(), policy.problem
    return policy


def opa_eval(folder: Path, questions: Sequence[tuple[str, Mapping[str, Json]]]) -> list[Decision]:
    """The same questions to the real engine, through its command line."""
    assert OPA is not None
    query = "[answer | some asked in input; answer := data.suma.decision with input as asked]"
    command = [OPA, "eval", "--bundle", str(folder), "--stdin-input", "--format", "raw", query]
    document = json.dumps([question(action, input) for action, input in questions]).encode()
    done = subprocess.run(command, input=document, capture_output=True, check=True, timeout=30)
    answers = json.loads(done.stdout)
    return [answer(action, given, revision="") for (action, _), given in zip(questions, answers, strict=True)]
