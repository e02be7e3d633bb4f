"""What rules can see decides what may be remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.policy.sight import Sight

BUNDLE = Path(__file__).parents[3] / "deploy" / "opa"


def test_fields_that_no_rule_reads_make_no_difference() -> None:
    sight = Sight.of(['allow if input.tool == "a"', "deny if input.principal.id"])
    assert sight.key({"tool": "a", "turn": "1"}) == sight.key({"tool": "a", "turn": "2"})
    assert sight.key({"tool": "a", "principal": {"id": "x"}}) != sight.key({"tool": "a", "principal": {"id": "y"}})


def test_a_value_and_its_like_of_another_type_are_two_questions() -> None:
    sight = Sight.of(["allow if input.approved == true"])
    assert len({sight.key({"approved": value}) for value in (True, "true", 1, None)} | {sight.key({})}) == 5


def test_a_hash_in_a_text_hides_nothing() -> None:
    sight = Sight.of(['allow if { data.x == "a#b"; input.tool == "c" }'])
    assert sight.key({"tool": "c"}) != sight.key({"tool": "d"})


@pytest.mark.parametrize(
    "rule",
    [
        'allow if input["tool"]',
        "allow if some key, value in input",
        "allow if time.now_ns() > 5; x := input.tool",
        'allow if http.send({"url": input.tool})',
    ],
)
def test_a_rule_that_may_see_everything_or_looks_elsewhere_is_asked_each_time(rule: str) -> None:
    assert Sight.of([rule]).key({"tool": "a"}) is None


@pytest.mark.requirement("S3-52")
def test_our_own_bundle_can_be_remembered_and_reads_no_ids_of_turns() -> None:
    sources = [path.read_text() for path in BUNDLE.glob("*.rego") if not path.stem.endswith("_test")]
    sight = Sight.of(sources)
    assert sight.fields is not None
    assert not sight.fields & {"turn", "session", "args_digest"}
