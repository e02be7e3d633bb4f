"""A person's mind shapes recall: feedback, neuromodulators and persona, each bounded and undone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.database import Dsns
from libs.events import FeedbackGiven, RememberRequested
from libs.keys import Keys
from libs.policy.rego import RegoPolicy
from services.memory_service.domain.adaptation import EMPATHY, KIND_MOST, MEMORY_MOST, Mind
from services.memory_service.domain.modulators import Modulators
from services.memory_service.mind.store import MindStore, RecentMinds
from tests.services.memory_service.running import RunningMemory, running_memory

OWNER = {"scopes": ["memory"]}
BLUE, RED = "the blue folder has invoices", "the red folder has invoices"


async def remembered(at: RunningMemory, *texts: str, **fields: Any) -> None:
    for n, text in enumerate(texts):
        await at.remember(text, memory_id=f"m-{n}", **fields)


async def rated(at: RunningMemory, subject: str, score: float) -> None:
    answer = await at.ask("POST", "/context/feedback", OWNER | {"subject": subject, "score": score})
    assert answer.status_code == 201


async def scores(at: RunningMemory, query: str = "folder of invoices") -> dict[str, float]:
    answer = await at.ask("POST", "/recall", {"query": query})
    return {memory["text"]: memory["score"] for memory in answer.json()["memories"]}


async def modulated(at: RunningMemory, **levels: float) -> dict[str, Any]:
    answer = await at.ask("POST", "/neuromodulators", OWNER | levels)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


# Adaptation


@pytest.mark.requirement("S3-12")
async def test_good_feedback_raises_a_memory(at: RunningMemory) -> None:
    await remembered(at, BLUE, RED)
    first, second = await at.recalled("folder of invoices")
    await rated(at, "m-0" if second == BLUE else "m-1", 1.0)
    assert await at.recalled("folder of invoices") == [second, first]


@pytest.mark.requirement("S3-12")
async def test_feedback_on_a_turn_moves_its_memories(at: RunningMemory) -> None:
    said = RememberRequested(memory_id="m-1", kind="answer", text=BLUE, user="ada", scopes=("memory",))
    await at.say(said)
    before = (await scores(at))[BLUE]
    await at.say(FeedbackGiven(subject="t-1", score=-1.0, user="ada", scopes=("memory",)))
    assert (await scores(at))[BLUE] < before


async def test_feedback_is_explained_in_sources_and_state(at: RunningMemory) -> None:
    await remembered(at, BLUE)
    await rated(at, "m-0", 1.0)
    [found] = (await at.ask("POST", "/recall", {"query": "blue folder"})).json()["memories"]
    sources = {source["name"]: source["contribution"] for source in found["sources"]}
    assert sources.keys() == {"vectors", "words", "feedback"}
    assert found["score"] == pytest.approx(sum(sources.values()), abs=1e-3)
    state = (await at.ask("GET", "/context/adaptation/state")).json()
    assert [weight["subject"] for weight in state["weights"]] == ["m-0", "kind:message"]
    assert all(weight["weight"] > 1 for weight in state["weights"])


async def test_reset_ends_the_effect_of_earlier_feedback(at: RunningMemory) -> None:
    await remembered(at, BLUE, RED)
    before = await scores(at)
    await rated(at, "m-0", 1.0)
    assert await scores(at) != before
    assert (await at.ask("DELETE", "/context/adaptation", params={"scope": "memory"})).status_code == 200
    assert await scores(at) == before


@pytest.mark.requirement("A29")
async def test_feedback_moves_no_other_persons_recall(at: RunningMemory) -> None:
    await at.remember(BLUE, universe="notes", user="ada")
    await at.remember(BLUE, universe="notes", user="bob", memory_id="b-1")
    asked = {"query": "blue folder", "universe": "notes"}
    before = (await at.ask("POST", "/recall", asked, user="bob")).json()
    await rated(at, "b-1", -1.0)
    await rated(at, "kind:message", -1.0)
    assert (await at.ask("POST", "/recall", asked, user="bob")).json() == before


POINTS = st.floats(-1e6, 1e6)


@given(POINTS, POINTS, POINTS, st.floats(0, 1))
def test_weight_is_bounded_and_rises_with_feedback(less: float, more: float, general: float, gain: float) -> None:
    less, more = sorted((less, more))
    low, high = (
        Mind(Modulators(acetylcholine=gain), {"m": points, "kind:k": general}).weight("m", "k")
        for points in (less, more)
    )
    assert 1 - MEMORY_MOST - KIND_MOST <= low <= high <= 1 + MEMORY_MOST + KIND_MOST


# Neuromodulators


@pytest.mark.requirement("S3-06")
async def test_modulators_have_their_defaults_and_formulas(at: RunningMemory) -> None:
    shown = (await at.ask("GET", "/neuromodulators")).json()
    assert [shown[name] for name in ("dopamine", "serotonin", "noradrenaline", "acetylcholine")] == [0.4, 0.5, 0, 0]
    assert [shown[name] for name in ("exploration_factor", "patience", "focus")] == [0.7, 0.75, 0.5]
    shown = await modulated(at, dopamine=1.0, noradrenaline=0.5)
    assert [shown["exploration_factor"], shown["focus"], shown["serotonin"]] == [1.0, 0.75, 0.5]
    assert [shown[name] for name in ("creativity_boost", "empathy_boost", "alertness_boost")] == [True, False, True]


async def test_default_modulators_change_no_recall(at: RunningMemory) -> None:
    await remembered(at, BLUE, RED, BLUE, "folder names are English")
    before = await scores(at)
    await modulated(at, dopamine=0.4, serotonin=0.5, noradrenaline=0, acetylcholine=0)
    assert await scores(at) == before


async def test_focus_recalls_fewer_memories(at: RunningMemory) -> None:
    await remembered(at, *(f"invoice {n} is in the folder" for n in range(6)))
    await modulated(at, noradrenaline=1.0)
    assert len(await at.recalled("invoice folder", top_k=4)) == 2


async def test_exploration_spreads_recall(at: RunningMemory) -> None:
    query, far = "invoice folder of March", "the invoice of a plumber"
    await remembered(at, "invoice folder of March", "invoice folder of March two", far)
    assert far not in await at.recalled(query, top_k=2)
    await modulated(at, dopamine=1.0)
    assert far in await at.recalled(query, top_k=2)


async def test_alertness_prefers_recent_memories(at: RunningMemory) -> None:
    # A question about the past prefers none by itself.
    query = "code in the safe before"
    await remembered(at, "the code is in the safe", "the code for the safe is new")
    assert (await at.recalled(query))[0] == "the code is in the safe"
    await modulated(at, noradrenaline=0.4)
    [_, sources] = [memory["sources"] for memory in await _memories(at, query)]
    assert "recent" in {source["name"] for source in sources}


async def _memories(at: RunningMemory, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await at.ask("POST", "/recall", {"query": query})).json()["memories"]
    return found


@given(st.floats(0, 1), st.floats(0, 1e4))
def test_dopamine_decays_toward_its_default(level: float, minutes: float) -> None:
    after = Modulators(dopamine=level).after(minutes).dopamine
    assert min(level, 0.4) <= after <= max(level, 0.4)
    assert Modulators(dopamine=level).after(60).dopamine == pytest.approx(0.4)
    assert abs(Modulators(dopamine=1.0).after(2).dopamine - 0.9) < 1e-9


# Persona


@pytest.mark.requirement("S3-06")
async def test_persona_is_put_shown_and_deleted(at: RunningMemory) -> None:
    said = OWNER | {"text": "Answer in one line."}
    assert (await at.ask("PUT", "/persona/default", said)).status_code == 200
    assert (await at.ask("GET", "/persona/default")).json() == {"id": "default", "text": "Answer in one line."}
    assert (await at.ask("GET", "/persona/default", user="bob")).status_code == 404
    await at.ask("DELETE", "/persona/default", params={"scope": "memory"})
    assert (await at.ask("GET", "/persona/default")).status_code == 404


@pytest.mark.requirement("S3-06")
async def test_manner_has_persona_and_empathy(at: RunningMemory) -> None:
    async def manner(agent: str = "default", user: str = "ada") -> str:
        text: str = (await at.ask("GET", f"/persona/{agent}/manner", user=user)).json()["text"]
        return text

    assert await manner() == ""
    await at.ask("PUT", "/persona/default", OWNER | {"text": "Answer in one line."})
    assert await manner() == "Answer in one line."
    await modulated(at, serotonin=0.9)
    assert (await manner()).splitlines() == ["Answer in one line.", EMPATHY]
    assert [await manner("other"), await manner(user="bob")] == [EMPATHY, ""]


async def test_changed_rating_replaces_the_earlier_one(at: RunningMemory) -> None:
    await remembered(at, BLUE)
    given = OWNER | {"subject": "m-0", "feedback_id": "f"}
    for score in (1.0, -1.0):
        assert (await at.ask("POST", "/context/feedback", given | {"score": score})).json() == {"id": "f"}
    await at.ask("POST", "/context/feedback", given | {"score": 1.0}, user="eve")
    [row] = await at.rows("select user_id, score from memory.feedback")
    assert tuple(row.values()) == ("ada", -1.0)


@pytest.mark.requirement("S3-53", "A9")
async def test_mind_is_not_changed_without_permission(at: RunningMemory) -> None:
    nobody = {"scopes": ["chat"]}
    refused = [
        await at.ask("POST", "/neuromodulators", nobody | {"dopamine": 1.0}),
        await at.ask("PUT", "/persona/default", nobody | {"text": "x"}),
        await at.ask("DELETE", "/persona/default", params={"scope": "chat"}),
        await at.ask("DELETE", "/context/adaptation", params={"scope": "chat"}),
        await at.ask("POST", "/sleep/run", nobody),
        await at.ask("POST", "/sleep/s/undo", params={"scope": "chat"}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [(403, "POLICY_DENIED")] * 6
    assert [record["verdict"] for record in await at.recorded()] == ["deny"] * 6
    assert (await at.ask("GET", "/sleep")).json()["sleeps"] == []


async def test_recent_mind_is_read_again_after_its_seconds(at: RunningMemory) -> None:
    seconds = [0.0]
    recent = RecentMinds(MindStore(at.platform.database), 5.0, lambda: seconds[0])
    assert not (await recent.of("acme", "ada")).points
    await rated(at, "kind:message", 1.0)
    assert not (await recent.of("acme", "ada")).points
    seconds[0] = 5.0
    assert (await recent.of("acme", "ada")).points


@pytest.mark.requirement("S3-06", "S3-12")
async def test_rating_counts_at_once_and_is_listed(where: Dsns, keys: Keys, law: RegoPolicy) -> None:
    async with running_memory(where, keys=keys, policy=law, settings={"memory_service": {"mind_seconds": 60}}) as at:
        await remembered(at, BLUE, RED)
        first, second = await at.recalled("folder of invoices")
        rating = {"subject": "m-0" if second == BLUE else "m-1", "score": 1.0, "comment": "That is the one."}
        await at.ask("POST", "/context/feedback", OWNER | rating)
        assert await at.recalled("folder of invoices") == [second, first]
        [listed] = (await at.ask("GET", "/context/feedback")).json()["ratings"]
        assert rating.items() <= listed.items()


async def test_changed_persona_counts_at_once(where: Dsns, keys: Keys, law: RegoPolicy) -> None:
    settings = {"memory_service": {"mind_seconds": 60}}
    async with running_memory(where, keys=keys, policy=law, settings=settings) as at:
        for text in ("Be brief.", "Be polite."):
            await at.ask("PUT", "/persona/default", OWNER | {"text": text})
            assert await at.service.queries["manner"]("acme", user="ada", agent="default") == text
