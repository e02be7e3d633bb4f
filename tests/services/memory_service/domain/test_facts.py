"""Reading facts from sentences, and choosing those that a text is about."""

from datetime import UTC, datetime

import pytest

from services.memory_service.domain.facts import BadFact, Fact, bearing, named, read
from services.memory_service.known import known_of

THEN = datetime(2026, 1, 1, tzinfo=UTC)
MARKS = {"private": True, "untrusted": False, "secret": False}


def fact(value: str, key: str = "note", subject: str = "me") -> Fact:
    nothing = dict.fromkeys(("valid_to", "replaced_by", "event_id", "turn_id", "session_id", "forgotten_at"))
    known = {"id": value, "subject": subject, "key": key, "value": value, "many": False, "state": "active"}
    when = {"valid_from": THEN, "updated_at": THEN}
    return Fact(**known, source="person", confidence=1.0, **when, **nothing, **MARKS)  # type: ignore[arg-type]


INVOICES, JOB, TEA = fact("Finance/2026", "go to", "invoices"), fact("Google", "employer"), fact("likes tea")


@pytest.mark.requirement("S2-28")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Employer: Google", ("me", "employer", "Google")),
        ("  Home   town :  Rosario ", ("me", "home town", "Rosario")),
        ("invoices go to Finance/2026", ("invoices", "go to", "Finance/2026")),
        ("Put all my invoices in Finance/2026.", ("invoices", "go to", "Finance/2026")),
        ("the dentist letter belongs in Health", ("dentist letter", "go to", "Health")),
        ("las facturas van a Finance/2026", ("facturas", "go to", "Finance/2026")),
        ("trabajo en Google", ("me", "employer", "Google")),
        ("My employer is Google", ("me", "employer", "Google")),
        ("I'm allergic to nuts", ("me", "allergic to", "nuts")),
        ("see https://example.org", ("me", "note", "see https://example.org")),
        ("one two three four five: six", ("me", "note", "one two three four five: six")),
    ],
)
def test_sentence_names_a_setting_or_is_a_note(text: str, expected: tuple[str, str, str]) -> None:
    found = read(text)
    assert (found.subject, found.key, found.value) == expected


@pytest.mark.parametrize(
    ("text", "many"), [("I'm allergic to nuts", True), ("the bin goes out on Monday", True), ("I live in Bonn", False)]
)
def test_some_settings_hold_several_values(text: str, many: bool) -> None:
    assert read(text).many is many


@pytest.mark.parametrize("text", ["", "   ", "key:", "x" * 2_001])
def test_empty_or_too_long_text_is_no_fact(text: str) -> None:
    with pytest.raises(BadFact):
        read(text)


def test_facts_of_a_request_come_first() -> None:
    assert bearing([TEA, JOB, INVOICES], "move the invoices")[0] is INVOICES
    assert bearing([TEA, JOB], "hello") == [TEA, JOB]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("where invoices go", [INVOICES]),
        ("that I work at Google", [JOB]),
        ("employer", [JOB]),
        ("mi trabajo", [JOB]),
        ("my bank", []),
        ("the invoices from Google", []),
        ("the letter from my dentist and the tea", []),
    ],
)
def test_words_name_the_facts_to_forget(about: str, expected: list[Fact]) -> None:
    assert named([INVOICES, JOB, TEA], about) == expected


def test_known_facts_fit_the_budget_of_tokens() -> None:
    many = [fact("x" * 100, f"key {n}") for n in range(100)]
    assert 10 < len(known_of(many, "", tokens=500)) < 20
    assert len(known_of(many, "", tokens=10_000)) == 100
