"""Indexes follow their folders in the background, with one embedder for all of them (S4-28, S4-44)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from libs.errors import Unavailable
from libs.search import Found, HashedEmbedder, Matrix
from libs.search.static import StaticEmbedder
from libs.workspace.scan import Scan
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor.content import Contents, Question, Unknown, as_data
from services.tool_executor.indexes import Indexed, Indexes
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import Workspace

TENANT, SECONDS = "t", 30.0


class Counting(HashedEmbedder):
    """An embedder that lists what it embeds; its model can be changed, and its server can be away."""

    def __init__(self) -> None:
        self.name, self.embedded, self.away = "one", list[str](), False

    @override
    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if self.away:
            raise Unavailable
        self.embedded += texts
        return await super().embed_documents(texts)


async def scan(folder: Path) -> Scan:
    return await asyncio.to_thread(Scan.of, folder)


@asynccontextmanager
async def running(embedder: Counting, settings: Settings | None = None) -> AsyncIterator[Indexes]:
    indexes = Indexes(settings or Settings(), embedder, scan)
    task = asyncio.ensure_future(indexes.keep_up())
    try:
        yield indexes
    finally:
        task.cancel()


async def followed(indexes: Indexes, folder: Path) -> Indexed:
    indexes.refresh((TENANT, folder), await scan(folder))
    return await indexes.settled((TENANT, folder), seconds=SECONDS)


async def searched(indexes: Indexes, folder: Path, query: str, top_k: int = 3) -> tuple[Found, Unknown]:
    workspace = Workspace(folder, Stage(Tree(await scan(folder))), 0)
    return await Contents(indexes).search(TENANT, workspace, Question(query, top_k, "."))


@pytest.mark.requirement("S4-18", "S4-28")
async def test_an_outside_change_embeds_only_the_changed_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the harbour at night")
    (tmp_path / "b.txt").write_text("the castle at dawn")
    embedder = Counting()
    async with running(embedder) as indexes:
        await followed(indexes, tmp_path)
        assert embedder.embedded == ["the harbour at night", "the castle at dawn"]
        (tmp_path / "b.txt").write_text("the castle at noon")
        (tmp_path / "a.txt").unlink()
        indexed = await followed(indexes, tmp_path)
        assert embedder.embedded[2:] == ["the castle at noon"]
        assert indexed.passages.paths == ["b.txt"]
        assert indexed.progress == (1, 1)


async def test_a_folder_that_is_gone_stops_no_other(tmp_path: Path) -> None:
    (gone := tmp_path / "gone").mkdir()
    (there := tmp_path / "there").mkdir()
    (there / "a.txt").write_text("the harbour at night")
    (gone / "b.txt").write_text("the castle at dawn")
    async with running(Counting()) as indexes:
        assert (await followed(indexes, gone)).progress == (1, 1)
        (gone / "b.txt").unlink()
        gone.rmdir()
        indexes.rescan((TENANT, gone))
        assert (await followed(indexes, there)).progress == (1, 1)


@pytest.mark.requirement("S4-17", "S4-44")
async def test_a_changed_model_embeds_all_files_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the harbour at night")
    embedder = Counting()
    async with running(embedder) as indexes:
        await followed(indexes, tmp_path)
        embedder.name = "two"
        (tmp_path / "b.txt").write_text("the castle at dawn")
        indexed = await followed(indexes, tmp_path)
        assert sorted(embedder.embedded) == ["the castle at dawn", *["the harbour at night"] * 2]
        assert (indexed.model, indexed.progress) == ("two", (2, 2))


async def test_names_of_secrets_are_never_embedded(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("the harbour at night")
    embedder = Counting()
    async with running(embedder) as indexes:
        await followed(indexes, tmp_path)
        assert embedder.embedded == []


async def test_words_are_found_while_the_embedder_is_away(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the harbour at night")
    embedder = Counting()
    embedder.away = True
    async with running(embedder) as indexes:
        await followed(indexes, tmp_path)
        found, unknown = await searched(indexes, tmp_path, "harbour")
        assert [match.path for match in found.matches] == ["a.txt"]
        assert as_data(found, unknown)["by_meaning"] == {"files": 0, "of": 1}


async def test_a_large_folder_keeps_within_its_passages(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(f"the harbour at {name}")
    embedder = Counting()
    async with running(embedder, Settings(index_passages_most=2)) as indexes:
        assert len((await followed(indexes, tmp_path)).passages) == 2
        found, _ = await searched(indexes, tmp_path, "harbour")
        assert len(found.matches) == 3


@pytest.mark.requirement("S4-27")
async def test_a_file_is_found_by_meaning_with_its_passage(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("Monday\n\nThe car was fixed at the garage.\n")
    (tmp_path / "shop.txt").write_text("Buy a vehicle tax sticker for the automobile.")
    (tmp_path / "garden.txt").write_text("Tomatoes need much sun and water.")
    indexes = Indexes(Settings(), StaticEmbedder(), scan)
    found, _ = await searched(indexes, tmp_path, "automobile repair")
    match = next(match for match in found.matches if match.path == "log.txt")
    assert (match.excerpt, match.place and match.place.last) == ("Monday The car was fixed at the garage.", 3)
    assert {source.name for source in match.sources} == {"meaning"}
    assert found.count == len(found.matches) == 2
