"""Facts stated in passing: kept once the session is silent, once, and never against the person's own word."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.events import NOTHING, FactsForgotten, FactStated, RememberRequested
from libs.keys import Keys
from libs.policy.rego import RegoPolicy
from services.memory_service.domain.facts import extracted
from tests.infrastructure import shift
from tests.services.memory_service.running import OWNER, RunningMemory, running_memory

ENDED = "memory_service:extract:finish:after"
AT_ONCE, LATER = {"memory_service": {"extract_after": 0}}, {"memory_service": {"extract_after": 3_600}}


@pytest_asyncio.fixture(loop_scope="session")
async def silent(where: Dsns, keys: Keys, law: RegoPolicy) -> AsyncIterator[RunningMemory]:
    """A service to which every session has ended at once."""
    async with running_memory(where, keys=keys, policy=law, settings=AT_ONCE) as running:
        yield running


def message(text: str, id: str = "m-1", **more: Any) -> RememberRequested:
    return RememberRequested(memory_id=id, kind="message", text=text, user="ada", **{"scopes": OWNER, **more})


async def facts(at: RunningMemory) -> list[tuple[str, str, str]]:
    answer = await at.ask("GET", "/facts")
    return sorted((fact["key"], fact["value"], fact["source"]) for fact in answer.json()["facts"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi. I work at Suma, and my dentist is Dr Ray!", []),
        ("Hi. I work at Suma. My dentist is Dr Ray!", [("employer", "Suma"), ("dentist", "Dr Ray")]),
        ("vivo en Rosario", [("home", "Rosario")]),
        ("put my invoices in Finance", []),
        ("is my employer Google? my folder is a mess", []),
        ("remember that I work at Suma", []),
    ],
)
def test_only_statements_about_the_person_are_extracted(text: str, expected: list[tuple[str, str]]) -> None:
    found = [(one.key, one.value) for one in extracted(text)]
    assert found == expected or (not expected and [key for key, _ in found] == ["employer"])


@pytest.mark.requirement("S2-25", "S2-28")
async def test_statements_are_kept_once_the_session_has_ended(silent: RunningMemory) -> None:
    await silent.say(message("I work at Suma. Thanks."))
    await silent.points.passed(ENDED, 1)
    await silent.say(message("I work at Suma. Thanks."))
    await silent.points.passed(ENDED, 2)
    assert await facts(silent) == [("employer", "Suma", "extraction")]


async def test_extraction_does_not_replace_the_persons_word(silent: RunningMemory) -> None:
    await silent.say(FactStated(fact_id="f", user="ada", text="employer: Bonn AG", scopes=OWNER, touched=NOTHING))
    await silent.say(message("I work at Suma"))
    await silent.points.passed(ENDED, 1)
    assert await facts(silent) == [("employer", "Bonn AG", "person")]


async def test_extraction_without_permission_keeps_nothing(silent: RunningMemory) -> None:
    await silent.say(message("I work at Suma", scopes=("chat",)))
    assert await facts(silent) == []


async def test_a_forgotten_message_is_not_extracted(where: Dsns, keys: Keys, law: RegoPolicy) -> None:
    async with running_memory(where, keys=keys, policy=law, settings=LATER) as at:
        await at.say(FactStated(fact_id="f", user="ada", text="I live in Bonn", scopes=OWNER, touched=NOTHING))
        await at.say(message("I live in Bonn"))
        await at.say(FactsForgotten(facts=("f",), user="ada", scopes=OWNER))
        await shift(at.platform.database, seconds=3_700)
        await at.points.passed(ENDED, 1)
        assert await facts(at) == []


async def test_extraction_waits_while_the_session_goes_on(where: Dsns, keys: Keys, law: RegoPolicy) -> None:
    async with running_memory(where, keys=keys, policy=law, settings=LATER) as at:
        await at.say(message("I live in Bonn"))
        # The bus's clock moves, and not that of the rows: the session has just spoken.
        await shift(at.platform.database, seconds=3_700)
        await at.points.passed(ENDED, 1)
        pool = await at.platform.database.bus()
        assert await pool.fetchval("select count(*) from bus.leases where kind = 'extract'") == 1
        assert await facts(at) == []
