"""Content search looks into documents, and says what it could not read or does not know as it is now (S4-23)."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import MessageCompleted, ToolFailed, ToolSucceeded
from libs.events.values import Hitl
from tests.libs.documents import samples
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

SEARCH = ("search-files.search", {"query": "harbour", "top_k": 3, "path": "."})
WRITE = ("manage-files.create", {"path": ".", "name": "new.txt", "type": "file", "content": "harbour"})


async def found(at: RunningPlatform) -> ToolSucceeded:
    turn = await at.say("search", session="s", root=at.folder(), hitl=Hitl.BYPASS)
    await at.finish(turn, session="s")
    told = [e for e in await at.logged("s") if isinstance(e, ToolSucceeded)]
    return next(e for e in told if isinstance(e.data.json_, dict) and "matches" in e.data.json_)


@pytest.mark.requirement("S4-22", "S4-23")
async def test_staged_file_is_counted_as_stale_with_a_warning(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(WRITE, SEARCH))) as at:
        (at.folder() / "old.txt").write_text("the harbour at night")
        told = await found(at)
        assert told.data.json_["stale"] == 1
        assert [match["path"] for match in told.data.json_["matches"]] == ["old.txt"]
        assert any("Content index out of date for 1 nodes" in warning for warning in told.warnings)


@pytest.mark.requirement("S4-23")
async def test_an_index_that_is_up_to_date_warns_of_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH))) as at:
        (at.folder() / "old.txt").write_text("the harbour at night")
        told = await found(at)
        assert (told.data.json_["stale"], told.warnings) == (0, ())


@pytest.mark.slow
@pytest.mark.requirement("S4-22")
async def test_words_inside_documents_are_found_and_excerpted_as_text(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH))) as at:
        (at.folder() / "plan.pdf").write_bytes(samples.pdf("Cranes", "The harbour opens in May"))
        (at.folder() / "letter.docx").write_bytes(samples.word("Meet me at the harbour", heading="Dear Ann"))
        (at.folder() / "costs.xlsx").write_bytes(samples.excel(["place", "sum"], ["harbour", 12]))
        told = await found(at)
        excerpts = {match["path"]: match["excerpt"] for match in told.data.json_["matches"]}
        assert excerpts == {
            "plan.pdf": "Cranes The harbour opens in May",
            "letter.docx": "Dear Ann Meet me at the harbour",
            "costs.xlsx": "place sum harbour 12",
        }


async def test_search_counts_more_files_than_it_returns(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH))) as at:
        for n in range(5):
            (at.folder() / f"{n}.txt").write_text("the harbour at night")
        told = await found(at)
        assert (len(told.data.json_["matches"]), told.data.json_["count"], told.summary) == (3, 5, "Found 5 files.")


async def test_excluded_files_are_neither_found_nor_counted_as_unread(home: Dsns, tmp_path: Path) -> None:
    without = ("search-files.search", {"query": "harbour", "top_k": 3, "path": ".", "exclude": ["old", "*.md"]})
    async with run_platform(home, tmp_path, model=scripted_model(plan(without))) as at:
        folder = at.folder("old/harbour.txt", "harbour.md")
        (folder / "new.txt").write_text("the harbour at night")
        (folder / "old" / "scan.pdf").write_bytes(samples.pdf(""))
        told = await found(at)
        assert [match["path"] for match in told.data.json_["matches"]] == ["new.txt"]
        assert told.data.json_["unread"]["count"] == 0


async def test_words_in_binary_files_are_not_found(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH))) as at:
        (at.folder() / "photo.jpg").write_bytes(b"\xff\xd8\xff harbour harbour")
        (at.folder() / "~$letter.docx").write_bytes(b"harbour")
        (at.folder() / "page.html").write_text("<p class='harbour'>a quiet place</p>")
        told = await found(at)
        assert told.data.json_["matches"] == []
        assert told.data.json_["unread"]["count"] == 0


async def test_unread_documents_are_reported_with_the_reason(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH))) as at:
        (at.folder() / "secret.pdf").write_bytes(samples.locked(samples.pdf("harbour"), "secret"))
        (at.folder() / "broken.docx").write_bytes(samples.word("harbour")[:-30])
        (at.folder() / "scan.pdf").write_bytes(samples.pdf(""))
        (at.folder() / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(100))
        told = await found(at)
        assert told.data.json_["unread"] == {
            "count": 4,
            "why": {"locked": 1, "damaged": 1, "no_words": 1, "older_form": 1},
            "paths": ["broken.docx", "old.doc", "scan.pdf", "secret.pdf"],
        }


@pytest.mark.requirement("S4-22", "S4-23")
async def test_search_among_files_shows_and_counts_only_these(home: Dsns, tmp_path: Path) -> None:
    asked = (SEARCH[0], {**SEARCH[1], "among": ["*minutes*"]})
    async with run_platform(home, tmp_path, model=scripted_model(plan(asked))) as at:
        (at.folder() / "minutes may.txt").write_text("the harbour at night")
        (at.folder() / "notes.txt").write_text("the harbour at dawn")
        (at.folder() / "scan.pdf").write_bytes(b"%PDF broken")
        told = await found(at)
        assert [match["path"] for match in told.data.json_["matches"]] == ["minutes may.txt"]
        assert told.data.json_["unread"]["count"] == 0
        assert told.data.json_["elsewhere"] == {"count": 1, "paths": ["notes.txt"]}


@pytest.mark.requirement("S4-22")
async def test_search_among_files_without_the_word_shows_the_others(home: Dsns, tmp_path: Path) -> None:
    asked = (SEARCH[0], {**SEARCH[1], "among": ["*minutes*"]})
    async with run_platform(home, tmp_path, model=scripted_model(plan(asked))) as at:
        (at.folder() / "minutes may.txt").write_text("the castle at night")
        (at.folder() / "notes.txt").write_text("the harbour at dawn")
        assert [match["path"] for match in (await found(at)).data.json_["matches"]] == ["notes.txt"]


@pytest.mark.requirement("S4-23")
async def test_files_beyond_the_bound_of_the_index_are_stale(home: Dsns, tmp_path: Path) -> None:
    bounded = {"tool_executor": {"index_text_bytes_most": 10}}
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH)), settings=bounded) as at:
        for name in "abc":
            (at.folder() / f"{name}.txt").write_text("the harbour at night")
        told = await found(at)
        assert (len(told.data.json_["matches"]), told.data.json_["stale"]) == (1, 2)


@pytest.mark.requirement("S4-28")
async def test_a_committed_change_is_found_by_the_next_search(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), plan(WRITE), plan(SEARCH))) as at:
        (at.folder() / "old.txt").write_text("the harbour at night")
        for _ in range(3):
            turn = await at.say("search", session="s", root=at.folder(), hitl=Hitl.BYPASS)
            await at.finish(turn, session="s")
        told = [e for e in await at.logged("s") if isinstance(e, ToolSucceeded) and "matches" in (e.data.json_ or {})]
        assert {match["path"] for match in told[-1].data.json_["matches"]} == {"old.txt", "new.txt"}
        assert told[-1].data.json_["stale"] == 0


async def test_a_match_names_the_lines_of_its_passage(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH))) as at:
        text = "Dear Ann,\n\nwe were at\nthe harbour.\n"
        (at.folder() / "letter.txt").write_text(text)
        [match] = (await found(at)).data.json_["matches"]
        assert match["lines"] == [1, 4]
        assert text[slice(*match["range"])] == text.strip()


async def test_offline_question_of_place_names_file_and_passage(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        (at.folder() / "scan-0412.txt").write_text("Invoice\n\nDr. Molar, dentist\nYour letter of May is answered.\n")
        turn = await at.say("where did I put the dentist letter?", session="s", root=at.folder())
        await at.finish(turn, session="s")
        [answer] = [e for e in await at.logged("s") if isinstance(e, MessageCompleted)]
        assert "scan-0412.txt, lines 1–4: Invoice Dr. Molar, dentist Your letter of May is answered" in answer.text


@pytest.mark.requirement("S4-23")
async def test_block_on_stale_refuses_to_search_beside_staged_files(home: Dsns, tmp_path: Path) -> None:
    blocked, model = {"tool_executor": {"block_on_stale": True}}, scripted_model(plan(WRITE, SEARCH), answers=5)
    async with run_platform(home, tmp_path, model=model, settings=blocked) as at:
        turn = await at.say("search", session="s", root=at.folder("old.txt"), hitl=Hitl.BYPASS)
        await at.finish(turn, session="s")
        failed = next(e for e in await at.logged("s") if isinstance(e, ToolFailed))
        assert "Content index out of date for 1 nodes" in failed.error


@pytest.mark.requirement("S4-28")
async def test_a_staged_move_is_found_at_its_new_place(home: Dsns, tmp_path: Path) -> None:
    move = ("manage-files.move", {"source": "old.txt", "target": "Papers"})
    async with run_platform(home, tmp_path, model=scripted_model(plan(SEARCH), plan(move, SEARCH))) as at:
        (at.folder("Papers/x.md") / "old.txt").write_text("the harbour at night")
        for n in range(2):
            turn = await at.say("search", session=f"s{n}", root=at.folder(), hitl=Hitl.BYPASS)
            await at.finish(turn, session=f"s{n}")
        told = [e for e in await at.logged("s1") if isinstance(e, ToolSucceeded) and "matches" in (e.data.json_ or {})]
        assert [match["path"] for match in told[0].data.json_["matches"]] == ["Papers/old.txt"]
        assert told[0].data.json_["stale"] == 1
