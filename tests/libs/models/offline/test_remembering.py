"""Facts about the person in requests: they are kept, forgotten and told, and say where files go."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from libs.events import NAMES, KnownFact
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.offline import review
from libs.models.ports import Answered, ClarificationNeeded, PlanDraft
from libs.skills import ToolDefinition
from tests.libs.models.offline.conftest import FOLDER, Read, calls

INVOICES = KnownFact(subject="invoices", key="go to", value="Finance/2026", touched=NAMES)
JOB = KnownFact(subject="me", key="employer", value="Suma", touched=NAMES)
OTHERS = INVOICES.model_copy(update={"touched": NAMES.model_copy(update={"untrusted": True})})


@pytest.mark.requirement("S2-26", "S2-28")
@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("remember that invoices go to Finance/2026", ("memory.remember", {"text": "invoices go to Finance/2026"})),
        ("Please remember: employer: Suma", ("memory.remember", {"text": "employer: Suma"})),
        ("recuerda que trabajo en Suma", ("memory.remember", {"text": "trabajo en Suma"})),
        ("forget where invoices go", ("memory.forget", {"about": "where invoices go"})),
        ("Forget that I work at Suma.", ("memory.forget", {"about": "I work at Suma"})),
        ("olvida mi trabajo", ("memory.forget", {"about": "mi trabajo"})),
    ],
)
def test_request_to_remember_or_forget_is_one_step(
    read: Read, catalogue: Sequence[ToolDefinition], text: str, call: tuple[str, dict[str, Any]]
) -> None:
    outcome = read(text)
    assert calls(outcome) == [call]
    assert isinstance(outcome, PlanDraft)
    assert approved(text, outcome.plan, catalogue)


def approved(text: str, plan: Plan, catalogue: Sequence[ToolDefinition]) -> bool:
    return bool(json.loads(review.review(Task(text=text, intent="", workspace=FOLDER), plan, catalogue))["approved"])


def test_plan_that_remembers_unasked_is_rejected(read: Read, catalogue: Sequence[ToolDefinition]) -> None:
    outcome = read("remember that invoices go to Finance/2026")
    assert isinstance(outcome, PlanDraft)
    assert not approved("list the PDFs", outcome.plan, catalogue)


@pytest.mark.parametrize("text", ["forget it", "forget about that."])
def test_forget_it_forgets_no_fact(read: Read, text: str) -> None:
    assert not isinstance(read(text, facts=(INVOICES,)), PlanDraft)


@pytest.mark.parametrize(
    "text",
    ["move the invoices", "put away my invoices", "file the invoices", "sort the invoices", "Tidy up the invoices"],
)
def test_files_go_where_a_fact_says(read: Read, text: str) -> None:
    assert calls(read(text, facts=(JOB, INVOICES))) == calls(
        read('move the invoices to a new folder called "Finance/2026"')
    )
    without = read(text)
    assert not isinstance(without, PlanDraft) or calls(without) != calls(read(text, facts=(INVOICES,)))


def test_the_request_goes_before_a_fact(read: Read) -> None:
    assert calls(read("move the invoices to Best", facts=(INVOICES,))) == calls(read("move the invoices to Best"))


def test_facts_of_other_files_or_from_others_move_nothing(read: Read) -> None:
    assert read("move the invoices", facts=(OTHERS,)) == read("move the invoices")
    assert read("move the photos", facts=(INVOICES,)) == read("move the photos")


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        ("where do invoices go?", (JOB, INVOICES), "I remember: invoices go to Finance/2026."),
        ("What is my employer?", (JOB, INVOICES), "I remember: employer: Suma."),
        ("what do you remember about me?", (JOB,), "I remember: employer: Suma."),
        ("¿Qué recuerdas de mí?", (JOB,), "I remember: employer: Suma."),
    ],
)
def test_questions_are_answered_from_facts(read: Read, text: str, facts: tuple[KnownFact, ...], expected: str) -> None:
    assert read(text, facts=facts) == Answered(expected)


def test_question_without_a_fact_is_not_answered_from_facts(read: Read) -> None:
    assert isinstance(read("what is my employer?", facts=(INVOICES,)), ClarificationNeeded)
