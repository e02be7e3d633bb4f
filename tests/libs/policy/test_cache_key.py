"""Cache keys follow the fields that the rules read, by the engine's plan; in doubt nothing is cached."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.policy.bundle import Bundle, try_apart
from libs.policy.cache_key import cache_key
from libs.policy.rego import RegoPolicy

FOLDER = Path(__file__).parents[3] / "deploy" / "opa"
RULES = """package suma
default decision := {"allowed": false, "rule": "default", "reason": "no", "obligations": []}
decision := {"allowed": true, "rule": "r", "reason": "yes", "obligations": []} if { %s }
"""


def read(condition: str, more: str = "") -> frozenset[str] | None:
    return try_apart(Bundle((("law.rego", RULES % condition + more),), "{}", "0" * 64))


@pytest.mark.parametrize(
    ("condition", "fields"),
    [
        ('input.tool == "a"; input.principal.id', {"tool", "principal"}),
        ('input["tool"] == "a"', {"tool"}),
        ('x := `\n#`; input.tool == "a"', {"tool"}),
        ('x := {"input": 1}; x.input == input.turn', {"turn"}),
        ('x := "input.secret"; x == input.tool # input.session\n', {"tool"}),
        ('startswith(input.tool, "a"); input.paths[0] == "0"', {"tool", "paths"}),
    ],
)
def test_only_fields_that_rules_read_are_keys(condition: str, fields: set[str]) -> None:
    assert set(read(condition) or ()) == fields


@pytest.mark.parametrize(
    ("condition", "more"),
    [
        ('name := "tool"; input[name] == "a"', ""),
        ('some name in {"tool", "turn"}; input[name] == "a"', ""),
        ("some key, value in input; value", ""),
        ("count(input) > 3", ""),
        ('x := input; x.tool == "a"', ""),
        ('object.get(input, "tool", "") == "a"', ""),
        ("whole(input)", 'whole(x) if x.tool == "a"\n'),
        ('[input][0].tool == "a"', ""),
        ('{"a": input}.a.tool == "a"', ""),
        ('input.turn == "a"; helped with input as {"tool": "a"}', 'helped if input.tool == "a"\n'),
        ("time.now_ns() > 5; input.tool", ""),
    ],
)
def test_rules_that_may_read_more_are_asked_each_time(condition: str, more: str) -> None:
    assert read(condition, more) is None


async def test_a_question_that_differs_where_rules_read_is_another(tmp_path: Path) -> None:
    hidden = 'x := `\n#`; input.tool == "a"'
    (tmp_path / "law.rego").write_text(RULES % hidden)
    policy = RegoPolicy(tmp_path, deadline=60)
    await policy.reload()
    asked = {"tenant": "t", "principal": {"id": "p"}}
    assert (await policy.decide("tool.execute", {**asked, "tool": "a"})).allowed
    assert not (await policy.decide("tool.execute", {**asked, "tool": "b"})).allowed


def test_values_of_other_types_are_other_questions() -> None:
    fields = frozenset({"approved"})
    keys = {cache_key(fields, {"approved": value}) for value in (True, "true", 1, None)}
    assert len(keys | {cache_key(fields, {})}) == 5


@pytest.mark.requirement("S3-52")
def test_our_own_rules_read_no_ids_of_turns() -> None:
    fields = try_apart(Bundle.read(FOLDER))
    assert fields is not None
    assert {"tool", "principal", "tenant", "action"} <= fields
    assert not fields & {"turn", "session", "args_digest"}
