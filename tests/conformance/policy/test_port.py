"""The contract of the policy port, for every adapter: valid questions, answers, and missing answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from libs.policy import Bundle, Policy, PolicyUnanswered, QuestionRefused, committee_required
from tests.conformance.policy.conftest import InForce
from tests.conformance.policy.laws import SCOPED, SHIPPED, bundle, deciding
from tests.support.examples import examples


@pytest.fixture(scope="module")
async def policy(in_force: InForce) -> Policy:
    return await in_force(SHIPPED)


@pytest.mark.requirement("S3-52")
async def test_an_answer_names_its_rule_and_its_bundle(policy: Policy) -> None:
    decision = await policy.decide("conversation.send", {**SCOPED, "length": 3})
    assert (decision.rule, decision.revision) == ("conversation.send", Bundle.read(SHIPPED).revision)
    assert decision.reason


async def test_decisions_are_counted_by_action_and_verdict(policy: Policy) -> None:
    def count(allowed: str) -> float:
        labels = {"action": "conversation.send", "allowed": allowed}
        return REGISTRY.get_sample_value("suma_policy_decisions_total", labels) or 0.0

    yes, no = count("true"), count("false")
    await policy.decide("conversation.send", {**SCOPED, "length": 3})
    await policy.decide("conversation.send", {**SCOPED, "length": -1})
    assert (count("true") - yes, count("false") - no) == (1, 1)


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("yes", ['"true"', "1", "[true]", '{"allowed": true}', "null", "{true}"])
async def test_only_exactly_true_allows(in_force: InForce, tmp_path: Path, yes: str) -> None:
    policy = await in_force(bundle(tmp_path, deciding("input.x == 1").replace('"allowed": true', f'"allowed": {yes}')))
    decision = await policy.decide("anything", {**SCOPED, "x": 1})
    assert (decision.allowed, decision.rule) == (False, "malformed")


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("lost", ['"rule": 5', '"rule": null'])
async def test_answer_without_a_rule_allows_nothing(in_force: InForce, tmp_path: Path, lost: str) -> None:
    policy = await in_force(bundle(tmp_path, deciding("input.x == 1").replace('"rule": "one"', lost)))
    assert not (await policy.decide("anything", {**SCOPED, "x": 1})).allowed


@pytest.mark.requirement("A8")
async def test_malformed_obligations_deny(in_force: InForce, tmp_path: Path) -> None:
    rules = deciding("input.x == 1").replace('"obligations": []} if', '"obligations": "approval"} if')
    policy = await in_force(bundle(tmp_path, rules))
    assert not (await policy.decide("anything", {**SCOPED, "x": 1})).allowed


@pytest.mark.requirement("A8")
async def test_contradicting_rules_leave_the_question_unanswered(in_force: InForce, tmp_path: Path) -> None:
    other = deciding("input.x == 1").splitlines()[2].replace('"one"', '"two"')
    policy = await in_force(bundle(tmp_path, deciding("input.x == 1") + other))
    with pytest.raises(PolicyUnanswered):
        await policy.decide("anything", {**SCOPED, "x": 1})


@pytest.mark.requirement("A8")
async def test_failing_builtin_is_unanswered_even_when_negated(in_force: InForce, tmp_path: Path) -> None:
    policy = await in_force(bundle(tmp_path, deciding("input.x == 1; not 1 / input.zero == 1")))
    with pytest.raises(PolicyUnanswered):
        await policy.decide("anything", {**SCOPED, "x": 1, "zero": 0})


@pytest.mark.requirement("A8")
async def test_committee_is_skipped_only_for_clearly_harmless_plans(policy: Policy) -> None:
    harmless = {**SCOPED, "mutates": False, "leaves_machine": False, "costs_money": False}
    assert not (await committee_required(policy, harmless)).allowed
    assert (await committee_required(policy, {**harmless, "mutates": True})).allowed
    assert (await committee_required(policy, SCOPED)).allowed


@pytest.mark.requirement("A8")
async def test_malformed_answer_requires_the_committee(in_force: InForce, tmp_path: Path) -> None:
    policy = await in_force(bundle(tmp_path, deciding("input.x == 1").replace('"allowed": true', '"allowed": 1')))
    assert (await committee_required(policy, {**SCOPED, "x": 1})).allowed


@pytest.mark.requirement("A8")
async def test_committee_question_is_refused_as_a_plain_decision(policy: Policy) -> None:
    with pytest.raises(QuestionRefused):
        await policy.decide("committee.required", SCOPED)


@pytest.mark.requirement("A9")
@pytest.mark.parametrize(
    "input",
    [
        {},
        {"tenant": "", "principal": {"id": "ada", "scopes": ["*"]}},
        {"tenant": "acme", "principal": {"scopes": ["*"]}},
        {"tenant": "acme", "principal": "ada"},
        {**SCOPED, "action": "admin.keys"},
        {**SCOPED, "length": 2**64},
        {**SCOPED, "length": float("nan")},
        {**SCOPED, "length": b"5"},
        {**SCOPED, "length": "\ud800"},
        {**SCOPED, "length": {5: "five"}},
    ],
)
async def test_question_that_the_engine_would_change_is_refused(policy: Policy, input: dict[str, object]) -> None:
    with pytest.raises(QuestionRefused):
        await policy.decide("conversation.send", input)


@pytest.mark.requirement("A9")
async def test_too_deeply_nested_question_is_refused(policy: Policy) -> None:
    deep: object = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(QuestionRefused):
        await policy.decide("conversation.send", {**SCOPED, "length": deep})


@pytest.fixture(scope="module")
async def mirror(in_force: InForce, tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """Return rules that allow when two texts of the input are equal."""
    return await in_force(bundle(tmp_path_factory.mktemp("law"), deciding('input.x == "a\\"b\\\\c\\n\\u0000é"')))


@pytest.mark.requirement("A8")
async def test_rules_see_text_unchanged(mirror: Policy) -> None:
    assert (await mirror.decide("anything", {**SCOPED, "x": 'a"b\\c\n\0é'})).allowed


@pytest.mark.requirement("A8")
@given(text=st.text(alphabet='ab"\\n\n\0cé/', max_size=12))
@settings(max_examples=examples(200), deadline=None)
async def test_only_the_exact_text_is_allowed(mirror: Policy, text: str) -> None:
    decision = await mirror.decide("anything", {**SCOPED, "x": text})
    assert decision.allowed is (text == 'a"b\\c\n\0é')


@pytest.mark.requirement("A8")
async def test_action_name_is_not_truncated_at_a_nul(policy: Policy) -> None:
    assert not (await policy.decide("workspace.rollback\0.all", SCOPED)).allowed
