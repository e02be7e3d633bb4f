"""The in-process adapter: bundles are tried first, replaced as a whole, and kept when the next one is broken."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from libs.policy import Bundle, BundleBroken, PolicyUnanswered
from libs.policy.rego import RegoPolicy
from tests.conformance.policy.laws import SCOPED, SHIPPED, bundle, deciding, in_force

ABORTS = (SHIPPED / "suma.rego").read_text() + '\nok if decision.allowed == false with input as {"action": "x"}\n'
"""Valid Rego on which regopy 1.5.2 crashes during compilation."""

BROKEN = {
    "half a rule": "package suma\ndecision := {",
    "a builtin that no engine knows": deciding("not io.telepathy(input.x)"),
    "a builtin that this engine lacks": deciding('input.x == 1; not http.send({"url": "http://localhost"})'),
    "a yes to an empty question": deciding("true"),
    "an answer that is no decision": "package suma\ndecision := true\n",
    "no decision at all": "package suma\nverdict := true\n",
    "another package": deciding("input.x == 1").replace("package suma", "package other"),
    "rules at which the engine ends its process": ABORTS,
}


async def test_question_without_an_answer_is_counted(tmp_path: Path) -> None:
    def count() -> float:
        return REGISTRY.get_sample_value("suma_policy_unanswered_total", {"action": "chat"}) or 0.0

    before, policy = count(), RegoPolicy(tmp_path / "nothing")
    with pytest.raises(PolicyUnanswered):
        await policy.decide("chat", SCOPED)
    assert count() - before == 1


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("rules", BROKEN.values(), ids=[name.replace(" ", "-") for name in BROKEN])
async def test_broken_bundle_keeps_the_old_one_and_reports_it(tmp_path: Path, rules: str) -> None:
    policy = await in_force(bundle(tmp_path))
    revision = policy.revision
    bundle(tmp_path, rules)
    assert not await policy.reload()
    assert policy.problem is not None
    assert policy.problem.startswith("The policy bundle is broken: ")
    assert policy.revision == revision
    assert (await policy.decide("conversation.send", {**SCOPED, "length": 3})).revision == revision


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("data", ["{", "[]", "\udcff"])
async def test_broken_settings_keep_the_old_bundle_and_report_it(tmp_path: Path, data: str) -> None:
    policy = await in_force(bundle(tmp_path))
    (tmp_path / "data.json").write_bytes(data.encode(errors="surrogateescape"))
    assert not await policy.reload()
    assert policy.problem
    assert (await policy.decide("conversation.send", {**SCOPED, "length": 3})).allowed


@pytest.mark.requirement("A8")
async def test_corrected_bundle_becomes_active_and_clears_the_problem(tmp_path: Path) -> None:
    policy = await in_force(bundle(tmp_path))
    bundle(tmp_path, "package suma\ndecision := {")
    await policy.reload()
    bundle(tmp_path, settings={"max_message_length": 2})
    assert await policy.reload()
    assert policy.problem is None
    assert not (await policy.decide("conversation.send", {**SCOPED, "length": 3})).allowed


@pytest.mark.requirement("A8")
async def test_returning_to_the_active_bundle_clears_the_problem(tmp_path: Path) -> None:
    policy = await in_force(bundle(tmp_path))
    bundle(tmp_path, "package suma\ndecision := {")
    await policy.reload()
    bundle(tmp_path)
    assert not await policy.reload()
    assert policy.problem is None


@pytest.mark.requirement("S3-52")
async def test_revision_changes_with_policy_files_only(tmp_path: Path) -> None:
    before = Bundle.read(bundle(tmp_path)).revision
    (tmp_path / "suma_test.rego").write_text("package suma_test")
    (tmp_path / ".old").mkdir()
    (tmp_path / ".old" / "suma.rego").write_text("package suma")
    (tmp_path / "README.md").write_text("words")
    assert Bundle.read(tmp_path).revision == before
    (tmp_path / "ours.rego").write_text("package suma")
    assert Bundle.read(tmp_path).revision != before


@pytest.mark.requirement("S3-52")
def test_text_moved_from_one_file_to_another_is_another_bundle(tmp_path: Path) -> None:
    for name, first, second in (("one", "package suma\n#", ""), ("two", "package suma\n", "#")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.rego").write_text(first)
        (folder / "b.rego").write_text(second)
    assert Bundle.read(tmp_path / "one").revision != Bundle.read(tmp_path / "two").revision


def test_a_folder_that_is_not_there_is_a_broken_bundle(tmp_path: Path) -> None:
    with pytest.raises(BundleBroken):
        Bundle.read(tmp_path / "nowhere")


@pytest.mark.requirement("S3-52")
async def test_rule_in_a_separate_file_extends_the_policy(tmp_path: Path) -> None:
    bundle(tmp_path)
    (tmp_path / "ours.rego").write_text(
        'package suma\n\ngrants contains ["coffee", "we like it"] if {\n\tinput.action == "make.coffee"\n}\n'
    )
    policy = await in_force(tmp_path)
    assert (await policy.decide("make.coffee", SCOPED)).rule == "coffee"


@pytest.mark.requirement("A8")
async def test_threads_that_ask_at_once_get_their_own_answers(tmp_path: Path) -> None:
    policy = await in_force(bundle(tmp_path))
    wrong: list[int] = []

    def ask(length: int) -> None:
        for _ in range(40):
            decision = asyncio.run(policy.decide("conversation.send", {**SCOPED, "length": length}))
            if decision.allowed is not (length >= 0):
                wrong.append(length)

    threads = [threading.Thread(target=ask, args=(length,)) for length in (-1, 1, -2, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.requirement("A8")
async def test_without_a_bundle_nothing_is_answered(tmp_path: Path) -> None:
    policy = RegoPolicy(tmp_path)
    await policy.reload()
    assert policy.problem == "The policy bundle contains no rules."
    with pytest.raises(PolicyUnanswered):
        await policy.decide("conversation.send", {**SCOPED, "length": 3})


@pytest.mark.requirement("A8")
async def test_late_answer_leaves_the_question_unanswered() -> None:
    ticks = iter([0.0, 0.3])
    policy = RegoPolicy(SHIPPED, deadline=0.25, clock=lambda: next(ticks))
    await policy.reload()
    with pytest.raises(PolicyUnanswered, match="too late"):
        await policy.decide("conversation.send", {**SCOPED, "length": 3})
