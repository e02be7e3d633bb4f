"""The states of facts: active, superseded and invalidated, in the order of the events' times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.database import Connection
from libs.events import NOTHING, FactsForgotten, FactStated, RememberRequested, Touched
from tests.services.memory_service.running import OWNER, RunningMemory
from tests.services.memory_service.test_apply import app, apply
from tests.support.examples import examples

THEN = datetime(2026, 1, 1, tzinfo=UTC)
Row = tuple[str, dict[str, Any]]
__all__ = ["app"]


def said(n: int, value: str, *, source: str = "person", key: str = "employer", many: bool = False) -> Row:
    """Return what was said of a setting in minute `n`, under an id of its own."""
    when = THEN + timedelta(minutes=n)
    about = {"fact_id": f"f{n:03}", "user_id": "u", "subject": "me", "key": key, "value": value, "many": many}
    marks = {"private": True, "untrusted": False, "secret": False}
    return "fact.put", about | marks | {"source": source, "confidence": 1.0, "valid_from": when, "turn_id": f"t{n}"}


def forgotten(n: int, fact: int) -> Row:
    return "fact.forget", {"user_id": "u", "fact_id": f"f{fact:03}", "at": THEN + timedelta(minutes=n)}


async def stored(app: Connection, batches: Sequence[Sequence[Row]]) -> list[dict[str, Any]]:
    """Return the facts after these batches, by id, and roll back."""
    transaction = app.transaction()
    await transaction.start()
    try:
        for batch in batches:
            await apply(app, *batch)
        return [dict(row) for row in await app.fetch("select * from memory.facts order by fact_id")]
    finally:
        await transaction.rollback()


def states(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["value"], row["state"]) for row in rows]


WORDS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["person", "extraction", "tool"]), st.sampled_from(["employer", "home"])
    ),
    min_size=1,
    max_size=8,
)
bounded = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def expected(words: Sequence[tuple[str, str, str]], key: str) -> str | None:
    """Return the value of a setting by the rule: the latest word, but a person's stands against all others."""
    value, by_person = None, False
    for word, source, setting in words:
        if setting == key and (source == "person" or not by_person or word == value):
            value, by_person = word, by_person or source == "person"
    return value


@bounded
@given(WORDS, st.integers(1, 4))
async def test_a_setting_has_one_true_value(app: Connection, words: list[tuple[str, str, str]], size: int) -> None:
    rows = [said(n, value, source=source, key=key) for n, (value, source, key) in enumerate(words)]
    facts = await stored(app, [rows[n : n + size] for n in range(0, len(rows), size)])
    true = {fact["key"]: fact["value"] for fact in facts if fact["state"] == "active"}
    assert len([fact for fact in facts if fact["state"] == "active"]) == len(true)
    assert true == {key: value for key in ("employer", "home") if (value := expected(words, key)) is not None}
    for fact in facts:
        ended = fact["state"] == "superseded"
        assert (fact["valid_to"] is not None) is ended
        assert not ended or fact["valid_from"] < fact["valid_to"]


@bounded
@given(WORDS, st.data())
async def test_repeated_and_late_statements_change_nothing(
    app: Connection, words: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    rows = [said(n, f"{value}{n}", source=source, key=key) for n, (value, source, key) in enumerate(words)]
    again = data.draw(st.lists(st.sampled_from(rows), max_size=4))
    late = data.draw(st.permutations([*rows, *again]))
    assert states(await stored(app, [[row] for row in late])) == states(await stored(app, [rows]))


async def test_a_replaced_value_stays_in_history(app: Connection) -> None:
    facts = await stored(app, [[said(1, "Google")], [said(2, "Suma")], [said(3, "Google")]])
    assert states(facts) == [("Google", "superseded"), ("Suma", "superseded"), ("Google", "active")]
    assert [fact["replaced_by"] for fact in facts] == ["f002", "f003", None]


async def test_unrelated_facts_do_not_replace_each_other(app: Connection) -> None:
    rows = [said(1, "Google"), said(2, "Google", key="client"), said(3, "nuts", key="allergic to", many=True)]
    facts = await stored(app, [[*rows, said(4, "milk", key="allergic to", many=True)]])
    assert {fact["state"] for fact in facts} == {"active"}


async def test_a_persons_statement_outranks_extraction(app: Connection) -> None:
    facts = await stored(app, [[said(1, "Google")], [said(2, "Apple", source="extraction")], [said(3, "Suma")]])
    assert states(facts) == [("Google", "superseded"), ("Apple", "invalidated"), ("Suma", "active")]


async def test_forgetting_leaves_an_empty_tombstone(app: Connection) -> None:
    rows = [said(1, "Google"), said(2, "Suma"), said(3, "Bonn", key="home")]
    facts = await stored(app, [rows, [forgotten(4, fact=2)], rows, [said(2, "Suma", source="extraction")]])
    assert states(facts) == [("", "invalidated"), ("", "invalidated"), ("Bonn", "active")]
    assert not any(fact["key"] or fact["subject"] or fact["turn_id"] for fact in facts[:2])


async def test_a_forgotten_fact_can_be_stated_again(app: Connection) -> None:
    batch = [said(1, "Google"), forgotten(2, fact=1), said(3, "Suma")]
    assert states(await stored(app, [batch[:1], batch[1:]])) == [("", "invalidated"), ("Suma", "active")]


async def test_forgotten_facts_are_not_extracted_again(app: Connection) -> None:
    late = said(2, "Google", source="extraction")
    facts = await stored(app, [[said(1, "Google")], [forgotten(3, fact=1)], [late, said(5, "Suma", source="tool")]])
    assert states(facts) == [("", "invalidated"), ("Suma", "active")]


INVOICES = FactStated(fact_id="f-1", user="ada", text="invoices go to Finance/2026", scopes=OWNER, touched=NOTHING)


async def known(at: RunningMemory, **asked: Any) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = (await at.ask("GET", "/facts", params=asked)).json()["facts"]
    return facts


async def test_a_fact_has_the_time_and_source_of_its_event(at: RunningMemory) -> None:
    before = at.platform.clock.now()
    await at.say(INVOICES)
    await at.say(INVOICES)
    [fact] = await known(at)
    assert (fact["subject"], fact["key"], fact["value"]) == ("invoices", "go to", "Finance/2026")
    assert (fact["source"], fact["confidence"], fact["session_id"], fact["turn_id"]) == ("person", 1.0, "s-1", "t-1")
    assert before <= datetime.fromisoformat(fact["valid_from"]) <= at.platform.clock.now()
    assert fact["event_id"]


@pytest.mark.requirement("A29")
async def test_forgetting_removes_the_memories_of_its_turn(at: RunningMemory) -> None:
    text = "remember that invoices go to Finance/2026"
    await at.say(RememberRequested(memory_id="m-1", kind="message", text=text, user="ada", scopes=OWNER))
    await at.say(INVOICES)
    assert await at.recalled("invoices") == [text]
    await at.say(FactsForgotten(facts=("f-1",), user="ada", scopes=OWNER))
    assert (await known(at), await at.recalled("invoices")) == ([], [])
    [row] = await at.rows("select to_jsonb(f)::text as row from memory.facts f")
    assert "Finance" not in row["row"]
    assert "invoices" not in row["row"]


async def test_another_person_forgets_nothing_of_mine(at: RunningMemory) -> None:
    await at.say(INVOICES)
    await at.say(FactsForgotten(facts=("f-1",), user="bob", scopes=OWNER))
    assert len(await known(at)) == 1


async def test_facts_without_permission_are_not_kept(at: RunningMemory) -> None:
    await at.say(INVOICES.model_copy(update={"scopes": ("chat",)}))
    assert await known(at) == []
    assert [record["verdict"] for record in await at.recorded()] == ["deny"]


async def test_facts_keep_the_marks_of_their_sources(at: RunningMemory) -> None:
    await at.say(INVOICES.model_copy(update={"touched": Touched(secret=False), "source": "tool"}))
    [fact] = await known(at)
    assert (fact["untrusted"], fact["secret"], fact["source"]) == (True, False, "tool")
    assert "(from a text of others)" in (await at.ask("GET", "/facts/block")).json()["block"]
