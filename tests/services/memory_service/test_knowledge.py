"""Knowledge bases: read under leases by what changed, found by meaning and words, apart by person and tenant."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from typing_extensions import override

from libs.clients import executor, knowledge
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.errors import Denied, NotFound, Rejected, Unavailable
from libs.runtime import Platform
from libs.search.embedder import HashedEmbedder
from libs.search.ports import Matrix
from libs.skills import Skills
from services.memory_service.knowledge.reading import FILES_AT_ONCE
from services.memory_service.store import GROUP
from tests import infrastructure
from tests.libs.documents.samples import docx, pdf
from tests.libs.skills.folders import skill
from tests.services.memory_service.running import Points
from tests.support import platform as support

ENDED = f"{GROUP}:knowledge:finish:after"
OWNER = ("*",)
Json = dict[str, Any]


class CountingEmbedder(HashedEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @override
    async def embed_documents(self, texts: Any) -> Matrix:
        self.texts += texts
        return await super().embed_documents(texts)


@dataclass
class Library:
    """A memory service with an executor, and one person's requests."""

    platform: Platform
    root: Path
    points: Points
    embedder: CountingEmbedder
    scopes: tuple[str, ...] = ("memory", "files:read")
    tenant: str = "local"

    async def begin(self, name: str = "manuals", *, user: str = "ada", **more: Any) -> Json:
        asked = {"source": str(self.root), "scopes": self.scopes, **more}
        return await knowledge.add(self.platform, self.tenant, user, name, asked)

    async def add(self, name: str = "manuals", *, user: str = "ada", **more: Any) -> Json:
        """Read a base to the end."""
        done = self.points.seen[ENDED]
        base = await self.begin(name, user=user, **more)
        while base["state"] == "reading":
            done += 1
            await self.points.passed(ENDED, done)
            base = await self.status(name, user=user, shared=more.get("shared", False))
        return base

    async def status(self, name: str = "manuals", *, user: str = "ada", shared: bool = False) -> Json:
        return await knowledge.status(self.platform, self.tenant, user, name, shared=shared)

    async def find(self, query: str, *, user: str = "ada", **more: Any) -> list[Json]:
        asked = {"query": query, **more}
        found: list[Json] = (await knowledge.find(self.platform, self.tenant, user, asked))["passages"]
        return found

    async def places(self, query: str, **more: Any) -> list[tuple[str, str, int, int]]:
        return [(one["path"], one["unit"], one["first"], one["last"]) for one in await self.find(query, **more)]

    async def remove(self, name: str = "manuals", *, user: str = "ada", **more: Any) -> None:
        asked = {"scopes": self.scopes, **more}
        await knowledge.remove(self.platform, self.tenant, user, name, asked)

    async def rows(self, table: str) -> int:
        async with self.platform.database.read(GROUP, self.tenant) as connection:
            count: int = await connection.fetchval(f"select count(*) from memory.{table}")
        return count

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.md").write_text(text)


@asynccontextmanager
async def library(
    where: Dsns,
    folder: Path,
    *,
    point: Callable[[str], None] = lambda point: None,
    embedder: CountingEmbedder | None = None,
    **ports: Any,
) -> AsyncIterator[Library]:
    points, embedder = Points(), embedder or CountingEmbedder()

    def passed(name: str) -> None:
        point(name)
        points(name)

    names = ("memory_service", "tool_executor")
    async with support.run_platform(where, folder, names=names, point=passed, embedder=embedder, **ports) as running:
        yield Library(running.platform, running.root, points, embedder)


@pytest_asyncio.fixture(loop_scope="session")
async def home(server: Postgres) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, await support.template(server)) as database:
        yield database


@pytest_asyncio.fixture(loop_scope="session")
async def at(home: Dsns, tmp_path: Path) -> AsyncIterator[Library]:
    async with library(home, tmp_path) as made:
        yield made


@pytest.mark.requirement("S4-12")
async def test_passage_is_found_with_its_file_and_lines(at: Library) -> None:
    (at.root / "house").mkdir()
    (at.root / "house" / "boiler.txt").write_text("The boiler.\n\n\nBleed the radiators before the first frost.\n")
    at.write(garden="Prune the roses in February.")
    base = await at.add(strategy="paragraph", size=100)
    assert (base["state"], base["files"], base["done"], base["chunks"], base["unread"]) == ("ready", 2, 2, 2, 0)
    [first, *_] = await at.find("when do I bleed the radiators?")
    assert (first["path"], first["unit"], first["first"], first["last"]) == ("house/boiler.txt", "line", 1, 4)
    assert "first frost" in first["text"]
    assert first["fits"]
    assert {source["name"] for source in first["sources"]} == {"vectors", "words"}
    assert first["score"] == pytest.approx(sum(source["contribution"] for source in first["sources"]), abs=1e-3)


async def test_pdf_is_cited_by_its_page(at: Library) -> None:
    (at.root / "lease.pdf").write_bytes(pdf("Rent is due on the first.", "", "Pets need the landlord's consent."))
    await at.add(size=100)
    assert await at.places("are pets allowed by the landlord", top_k=1) == [("lease.pdf", "page", 3, 3)]


async def test_documents_and_pages_are_read_as_text(at: Library) -> None:
    (at.root / "offer.docx").write_bytes(
        docx("<w:p><w:r><w:t>The kitchen costs nine thousand euros.</w:t></w:r></w:p>")
    )
    (at.root / "page.html").write_text("<html><body><h1>Opening</h1><p>Closed on Mondays.</p></body></html>")
    await at.add()
    assert (await at.places("what does the kitchen cost", top_k=1))[0][0] == "offer.docx"
    [page] = await at.find("closed on mondays", top_k=1)
    assert "<p>" not in page["text"]


async def test_unchanged_files_are_not_read_again(at: Library) -> None:
    at.write(one="Apples are red.", two="Plums are blue.")
    await at.add()
    at.embedder.texts.clear()
    at.write(two="Plums are violet.", three="Pears are green.")
    assert (await at.add())["files"] == 3
    assert sorted(at.embedder.texts) == ["Pears are green.", "Plums are violet."]
    assert [one["text"] for one in await at.find("plums", top_k=1)] == ["Plums are violet."]


async def test_touched_file_with_the_same_text_keeps_its_chunks(at: Library) -> None:
    at.write(one="Apples are red.")
    base = await at.add()
    at.embedder.texts.clear()
    at.write(one="Apples are blue")
    at.write(one="Apples are red.")
    assert (await at.add())["chunks"] == base["chunks"] == 1
    assert at.embedder.texts == []


async def test_removed_file_leaves_the_base(at: Library) -> None:
    at.write(one="Apples are red.", two="Plums are blue.")
    await at.add()
    (at.root / "one.md").unlink()
    base = await at.add()
    assert (base["files"], base["chunks"]) == (1, 1)
    assert await at.places("apples are red") == []


@pytest.mark.requirement("S4-12", "S4-42")
async def test_another_size_of_chunks_reads_all_again(at: Library) -> None:
    at.write(one=" ".join(f"Sentence number {n} is here." for n in range(20)))
    small, large = await at.add(size=100), await at.add(size=8000)
    assert (small["chunks"] > 3, large["chunks"]) == (True, 1)


async def test_files_that_cannot_be_read_are_named_with_the_reason(at: Library) -> None:
    (at.root / "broken.pdf").write_bytes(b"%PDF-1.7 nothing else")
    (at.root / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(200))
    (at.root / "id_rsa").write_text("a key")
    at.write(one="Apples are red.")
    base = await at.add()
    assert base["gaps"] == {"broken.pdf": "damaged", "photo.jpg": "no_words"}
    assert (base["files"], base["unread"]) == (3, 2)


async def test_one_file_can_be_a_base(at: Library) -> None:
    at.write(one="Apples are red.", two="Plums are blue.")
    base = await at.add(source=str(at.root / "one.md"))
    assert base["files"] == 1
    assert await at.places("plums are blue") == []


@pytest.mark.requirement("S2-21")
async def test_folder_outside_the_roots_is_not_read(at: Library, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("the secret of others")
    (at.root / "way").symlink_to(outside)
    for source in (outside, outside / "secret.txt", at.root / "way", at.root / ".." / "outside"):
        base = await at.add(source=str(source))
        assert (base["state"], base["chunks"]) == ("failed", 0)
        assert "not inside an allowed root" in base["detail"]
    assert (await at.add())["chunks"] == 0, "a link in a folder is not followed"


@pytest.mark.requirement("P8", "A29")
async def test_base_of_another_person_or_tenant_does_not_exist(at: Library) -> None:
    at.write(one="Apples are red.")
    await at.add()
    for tenant, user in (("local", "bob"), ("acme", "ada")):
        assert (await knowledge.bases(at.platform, tenant, user))["bases"] == []
        found = await knowledge.find(at.platform, tenant, user, {"query": "apples"})
        assert found["passages"] == []
        with pytest.raises(NotFound):
            await knowledge.status(at.platform, tenant, user, "manuals", shared=False)
        with pytest.raises(NotFound):
            await knowledge.remove(at.platform, tenant, user, "manuals", {"scopes": ["*"]})
        with pytest.raises(NotFound):
            await knowledge.find(at.platform, tenant, user, {"query": "apples", "base": "manuals"})
    assert len(await at.find("apples")) == 1


@pytest.mark.requirement("P8")
async def test_folder_of_another_tenant_is_not_read(at: Library) -> None:
    at.write(one="Apples are red.")
    with pytest.raises(Rejected, match="not inside an allowed root"):
        await executor.knowledge_files(at.platform, "acme", str(at.root))
    with pytest.raises(Rejected, match="not inside an allowed root"):
        await executor.knowledge_texts(at.platform, "acme", str(at.root), ["one.md"])


async def test_shared_base_needs_the_owners_key(at: Library) -> None:
    at.write(one="Apples are red.")
    with pytest.raises(Denied):
        await at.begin(shared=True)
    await at.add(shared=True, scopes=OWNER)
    assert len(await at.find("apples", user="bob")) == 1
    with pytest.raises(Denied):
        await at.remove(user="bob", shared=True)


@pytest.mark.requirement("S3-53", "A9")
async def test_adding_and_removing_ask_policy(at: Library) -> None:
    at.write(one="Apples are red.")
    with pytest.raises(Denied):
        await at.begin(scopes=("files:read",))
    assert await at.rows("knowledge_bases") == 0
    await at.add()
    with pytest.raises(Denied):
        await at.remove(scopes=("chat",))
    assert await at.rows("knowledge_chunks") == 1


@pytest.mark.requirement("P8")
async def test_every_row_has_its_person(at: Library) -> None:
    at.write(one="Apples are red.")
    await at.add()
    async with at.platform.database.read(GROUP, at.tenant) as connection:
        for table in ("knowledge_bases", "knowledge_files", "knowledge_chunks"):
            assert await connection.fetchval(f"select array_agg(user_id) from memory.{table}") == ["ada"]


async def test_removed_base_leaves_nothing(at: Library) -> None:
    at.write(one="Apples are red.")
    await at.add()
    await at.remove()
    tables = ("knowledge_bases", "knowledge_files", "knowledge_chunks")
    assert [await at.rows(table) for table in tables] == [0, 0, 0]
    with pytest.raises(NotFound):
        await at.status()


async def test_base_removed_while_it_is_read_stays_removed(home: Dsns, tmp_path: Path) -> None:
    reading, removed = asyncio.Event(), asyncio.Event()

    class Slow(CountingEmbedder):
        @override
        async def embed_documents(self, texts: Any) -> Matrix:
            reading.set()
            await removed.wait()
            return await super().embed_documents(texts)

    async with library(home, tmp_path, embedder=Slow()) as at:
        at.write(one="Apples are red.")
        await at.begin()
        await reading.wait()
        await at.remove()
        removed.set()
        await at.points.passed(ENDED, 1)
        assert [await at.rows(table) for table in ("knowledge_bases", "knowledge_chunks")] == [0, 0]


async def test_reading_goes_on_where_a_process_ended(home: Dsns, tmp_path: Path) -> None:
    count, seen = 3 * FILES_AT_ONCE, Counter[str]()
    (tmp_path / "root").mkdir()
    for n in range(count):
        (tmp_path / "root" / f"{n:03}.md").write_text(f"The number of this file is {n}.")

    def broken(point: str) -> None:
        seen[point] += 1
        if point == f"{GROUP}:knowledge:finish:before" and seen[point] > 1:
            raise Unavailable("the process is about to end")

    async with library(home, tmp_path, point=broken) as first:
        await first.begin()
        await first.points.passed(ENDED, 1)
        assert (await first.status())["done"] == FILES_AT_ONCE
    async with library(home, tmp_path) as second:
        done = 0
        while (base := await second.status())["state"] == "reading":
            done += 1
            await second.points.passed(ENDED, done)
        assert (base["state"], base["done"], base["chunks"]) == ("ready", count, count)
        assert len(second.embedder.texts) == count - FILES_AT_ONCE


@pytest.mark.requirement("S4-11", "S4-12", "S4-42")
async def test_knowledge_of_a_skill_is_searched_for_everyone(home: Dsns, tmp_path: Path) -> None:
    text = " ".join(f"Rule {n} of the house style." for n in range(40))
    folder = skill(tmp_path / "skills", "letters", kb__style_dot_md=f"{text} Sign letters with blue ink.")
    page = folder / "SKILL.md"
    settings = 'metadata:\n  uses_retrieval: "true"\n  kb_chunk_strategy: sentence\n  kb_chunk_size: "200"\n'
    page.write_text(page.read_text().replace("\n---\n\n", f"\n{settings}---\n\n"))
    async with library(home, tmp_path, skills=Skills.load((tmp_path / "skills",))) as at:
        # The first search of a skill's knowledge begins to read it.
        await at.find("which ink signs letters")
        await at.points.passed(ENDED, 1)
        for user in ("ada", "bob"):
            [first] = await at.find("which ink signs letters", user=user, top_k=1)
            assert (first["base"], first["path"], len(first["text"]) <= 200) == ("skill:letters", "style.md", True)


async def test_only_passages_that_fit_are_given_to_a_plan(at: Library) -> None:
    at.write(one="Invoices of the landlord go to Finance/2026.", two="Plums are blue.")
    await at.add()
    found = await knowledge.search(at.platform, "local", "where do invoices of the landlord go?", "ada", 5)
    assert [(one["path"], one["base"]) for one in found] == [("one.md", "manuals")]
    assert await knowledge.search(at.platform, "local", "delete all duplicates in Downloads", "ada", 5) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Manuals", {}),
        ("a/b", {}),
        ("manuals", {"source": "relative"}),
        ("manuals", {"strategy": "clever"}),
        ("manuals", {"size": 10}),
    ],
)
async def test_malformed_bases_are_refused(at: Library, name: str, wrong: Json) -> None:
    with pytest.raises((Rejected, NotFound)):
        await at.begin(name, **wrong)
    assert await at.rows("knowledge_bases") == 0
