"""Recall by meaning and by words, never across a tenant, person, session or universe."""

from collections.abc import Sequence

import pytest
from typing_extensions import override

from libs.clients.memory import recall
from libs.errors import Unavailable
from libs.resilience import Level
from libs.search import Embedder, HashedEmbedder, Vector
from libs.search import Reranker as RerankerPort
from services.memory_service.mind.store import MindStore, RecentMinds
from services.memory_service.recalling import Recalling
from services.memory_service.store import Scope, Store
from tests.services.memory_service.running import RunningMemory

BLUE = "invoices are in the blue folder"


def recalling(at: RunningMemory, embedder: Embedder, reranker: RerankerPort | None = None) -> Recalling:
    database = at.platform.database
    return Recalling(Store(database), embedder, RecentMinds(MindStore(database), 0), reranker)


@pytest.mark.requirement("S3-06", "S0-04", "S0-05", "S0-08")
async def test_memory_is_found_by_its_meaning(at: RunningMemory) -> None:
    await at.remember("delete the duplicate pictures")
    await at.remember("the train leaves at nine")
    assert (await at.recalled("remove identical photos"))[0] == "delete the duplicate pictures"


@pytest.mark.requirement("S3-06")
async def test_a_memory_is_found_by_a_rare_word(at: RunningMemory) -> None:
    for n in range(8):
        await at.remember(f"delete the duplicate pictures {n}")
    await at.remember("the code word is xyzzy42")
    assert (await at.recalled("xyzzy42", top_k=1)) == ["the code word is xyzzy42"]


@pytest.mark.requirement("S3-06")
async def test_best_by_meaning_and_words_scores_one(at: RunningMemory) -> None:
    await at.remember("invoices are in the blue folder")
    await at.remember("folder names are in English")
    answer = await at.ask("POST", "/recall", {"query": "blue folder invoices", "top_k": 2})
    first, second = answer.json()["memories"]
    assert (first["text"], first["score"]) == ("invoices are in the blue folder", 1.0)
    assert 0 < second["score"] < 1
    assert {"id", "text", "score", "kind", "created_at", "sources", "fit", "newer"} <= first.keys()


@pytest.mark.requirement("S3-06")
async def test_score_is_explained_by_its_sources(at: RunningMemory) -> None:
    await at.remember("invoices are in the blue folder")
    await at.remember("folder names are in English")
    answer = await at.ask("POST", "/recall", {"query": "blue folder invoices", "top_k": 2})
    first, second = answer.json()["memories"]
    assert first["sources"] == [
        {"name": "vectors", "rank": 1, "contribution": 0.5},
        {"name": "words", "rank": 1, "contribution": 0.5},
    ]
    assert [one["rank"] for one in second["sources"]] == [2, 2]


async def test_repeated_memory_leaves_room_for_others(at: RunningMemory) -> None:
    for _ in range(3):
        await at.remember("invoices are in the blue folder")
    await at.remember("the blue folder is on the shelf")
    assert {*await at.recalled("blue folder invoices", top_k=2)} == {
        "invoices are in the blue folder",
        "the blue folder is on the shelf",
    }


class Away(HashedEmbedder):
    """An embedder whose server is away, but for the documents that it embedded before."""

    @override
    async def embed_query(self, text: str) -> Vector:
        raise Unavailable


@pytest.mark.requirement("S3-06")
async def test_memories_are_found_by_words_without_the_embedder(at: RunningMemory) -> None:
    await at.remember(BLUE)
    await at.remember("the train leaves at nine")
    by = recalling(at, Away())
    [found] = (await by.recall(Scope("acme", "session", "s-1", "ada"), "blue folder", 2)).memories
    assert (found.text, [one.name for one in found.sources]) == (BLUE, ["words"])
    # Both words of the question are in it, so a turn is given it.
    assert found.fit == 1


@pytest.mark.requirement("S3-58")
@pytest.mark.parametrize(
    ("strain", "rankings"),
    [
        (Level.MINOR, ["vectors", "words", "reranker"]),
        (Level.MODERATE, ["vectors", "words"]),
        (Level.SEVERE, ["words"]),
    ],
)
async def test_degraded_embedder_leaves_rankings_out(at: RunningMemory, strain: Level, rankings: Sequence[str]) -> None:
    await at.remember(BLUE)
    database = at.platform.database
    minds = RecentMinds(MindStore(database), 0)
    by = Recalling(Store(database), at.platform.embedder, minds, Reranker("blue"), strain=lambda: strain)
    [found] = (await by.recall(Scope("acme", "session", "s-1", "ada"), "blue folder", 2)).memories
    assert [source.name for source in found.sources] == rankings


class Reranker:
    """Prefers the texts that are nearest to its own taste."""

    def __init__(self, taste: str | None) -> None:
        self.taste = taste

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if self.taste is None:
            raise Unavailable
        return [float(self.taste in text) for text in texts]


@pytest.mark.requirement("S0-05")
@pytest.mark.parametrize(("taste", "first"), [("shelf", "the blue folder is on the shelf"), (None, BLUE)])
async def test_reranker_orders_memories_if_it_answers(at: RunningMemory, taste: str | None, first: str) -> None:
    await at.remember(BLUE)
    await at.remember("the blue folder is on the shelf")
    by = recalling(at, at.platform.embedder, Reranker(taste))
    found = (await by.recall(Scope("acme", "session", "s-1", "ada"), "blue folder invoices", 2)).memories
    assert [found[0].text, len(found)] == [first, 2]


@pytest.mark.requirement("S0-32", "A29")
async def test_a_session_never_sees_another_sessions_memories(at: RunningMemory) -> None:
    await at.remember("the password of the safe is 1234", session="s-1")
    assert await at.recalled("password of the safe", session="s-2") == []
    assert await at.recalled("password of the safe", session="s-1") == ["the password of the safe is 1234"]


@pytest.mark.requirement("S0-32", "A29")
async def test_a_session_cannot_be_asked_for_with_another_sessions_token(at: RunningMemory) -> None:
    await at.remember("the password of the safe is 1234", session="s-1")
    asked = {"query": "password", "session": "s-1"}
    answer = await at.ask("POST", "/recall", asked, session="s-2")
    assert (answer.status_code, answer.json()["code"]) == (403, "ANOTHER_SESSION")
    assert (await at.ask("POST", "/recall", asked, session=None)).json()["memories"]


@pytest.mark.requirement("A29")
@pytest.mark.parametrize("universe", ["session", "outcomes"])
async def test_a_person_never_sees_another_persons_memories(at: RunningMemory, universe: str) -> None:
    await at.remember("the password of the safe is 1234", user="ada", universe=universe)
    assert await at.recalled("password of the safe", user="bob", universe=universe) == []
    assert len(await at.recalled("password of the safe", user="ada", universe=universe)) == 1


@pytest.mark.requirement("A29")
@pytest.mark.parametrize("universe", ["session", "outcomes"])
async def test_a_tenant_never_sees_another_tenants_memories(at: RunningMemory, universe: str) -> None:
    await at.remember("the password of the safe is 1234", tenant="acme", universe=universe)
    assert await at.recalled("password of the safe", tenant="globex", universe=universe) == []


@pytest.mark.requirement("S3-06", "A29")
async def test_universes_are_apart_and_outlive_the_session(at: RunningMemory) -> None:
    await at.remember("mermaid drew the diagram well", universe="outcomes", session="s-1")
    assert await at.recalled("which tool drew the diagram", universe="outcomes", session="s-2") != []
    assert await at.recalled("which tool drew the diagram", universe="others") == []
    assert await at.recalled("which tool drew the diagram", universe="session", session="s-1") == []


@pytest.mark.requirement("A29")
async def test_a_caller_that_names_no_person_gets_nothing(at: RunningMemory) -> None:
    await at.remember("the password of the safe is 1234")
    answer = await at.ask("POST", "/recall", {"query": "password"}, user=None)
    assert (answer.status_code, answer.json()["code"]) == (403, "PERSON_MISSING")


async def test_empty_memory_recalls_nothing(at: RunningMemory) -> None:
    assert await at.recalled("anything at all") == []


@pytest.mark.parametrize(
    "query", ["", "the and of", "'); drop table memory.memories; --", "a & b | !c <-> 'x':*", "🦆" * 50]
)
async def test_any_query_has_an_answer(at: RunningMemory, query: str) -> None:
    await at.remember("!?")
    await at.remember("the duck likes a & b")
    assert set(await at.recalled(query)) <= {"the duck likes a & b", "!?"}


@pytest.mark.requirement("S3-51")
async def test_another_service_recalls_through_its_client(at: RunningMemory) -> None:
    await at.remember("invoices are in the blue folder")
    found = await recall(at.platform, "acme", "s-1", "where are the invoices?", "ada", 3)
    assert [(one["text"], bool(one["sources"])) for one in found] == [("invoices are in the blue folder", True)]


async def test_recall_says_that_nothing_fits(at: RunningMemory) -> None:
    await at.remember("the dentist moved to Mill Lane")
    answers = [(await at.ask("POST", "/recall", {"query": query})).json() for query in ("which flowers?", "dentist")]
    assert [answer["fits"] for answer in answers] == [False, True]


async def test_turn_is_given_no_weak_memories(at: RunningMemory) -> None:
    await at.remember("the dentist moved to Mill Lane")
    await at.remember("the train leaves at nine")
    assert await at.recalled("when does the train leave?", fitting=True) == ["the train leaves at nine"]
    assert await at.recalled("which flowers?", fitting=True) == []


async def test_older_statement_names_the_newer_one(at: RunningMemory) -> None:
    await at.remember("the rent is 900 pounds", memory_id="old")
    await at.remember("the rent is 950 pounds now", memory_id="new")
    found = (await at.ask("POST", "/recall", {"query": "how high is the rent?"})).json()["memories"]
    assert [(one["id"], one["newer"]) for one in found] == [("new", None), ("old", "new")]
