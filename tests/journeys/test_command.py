"""The `suma` command against a live platform, as a script would use it."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.installation import Installation
from tests.journeys.terminal import CTRL_C, CTRL_D, Terminal
from tests.libs.skills.folders import skill

GOAL = "remove duplicates and sort by type"


def mess(folder: Path) -> Path:
    folder.mkdir()
    for name, text in {"a.txt": "same", "b.txt": "same", "song.mp3": "la", "pic.jpg": "x"}.items():
        (folder / name).write_text(text)
    return folder


def names(folder: Path) -> set[str]:
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(".suma/")}


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.requirement("S4-26", "A24")
async def test_job_runs_shows_and_rolls_back(live: Installation) -> None:
    by_command = replace(live, by_command=True)
    folder = mess(live.folder / "job")
    before = names(folder)
    done = await by_command.suma("run", GOAL, "--in", str(folder), "--yes", "--json")
    assert done.code == 0, done.err
    events = lines(done.out)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {"plan.proposed", "approval.requested", "workspace.changed", "turn.ended"} <= {e["type"] for e in events}
    assert len(names(folder)) == len(before) - 1

    (newest, *_) = json.loads((await by_command.suma("sessions", "--json")).out)
    assert newest["title"] == GOAL
    shown = lines((await by_command.suma("events", newest["session_id"], "--json")).out)
    assert [(one["seq"], one["data"]) for one in shown] == [(one["seq"], one["data"]) for one in events]

    undone = await by_command.suma("rollback", newest["session_id"])
    assert undone.code == 0, undone.err
    assert names(folder) == before


async def test_question_without_terminal_stays_open_for_commit(live: Installation) -> None:
    folder = mess(live.folder / "later")
    asked = await live.suma("run", "sort by type", "--in", str(folder), "--ask", "once")
    assert asked.code == 3
    assert "waiting for your answer" in asked.err
    staged = await live.suma("diff", "--json")
    assert json.loads(staged.out)["moved"] == 4
    done = await live.suma("commit", "--yes")
    assert done.code == 0, done.err
    assert names(folder) == {"Documents/a.txt", "Documents/b.txt", "Audio/song.mp3", "Images/pic.jpg"}


async def test_a_commit_can_leave_files_out(live: Installation) -> None:
    folder = mess(live.folder / "partly")
    await live.suma("run", "sort by type", "--in", str(folder), "--ask", "once")
    done = await live.suma("commit", "--yes", "--exclude", "Audio/song.mp3")
    assert done.code == 0, done.err
    assert "song.mp3" in names(folder)
    assert "Images/pic.jpg" in names(folder)


@pytest.mark.requirement("A24")
async def test_copy_is_shown_and_undone_completely(live: Installation) -> None:
    folder = mess(live.folder / "copies")
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    await live.suma("run", "copy the txt files into backup", "--in", str(folder), "--ask", "once")
    assert "+ backup/a.txt (a copy of a.txt)" in (await live.suma("diff")).out
    done = await live.suma("commit", "--yes")
    assert "Copied 2 files (8 bytes) into backup." in done.out, done.err
    assert names(folder) == {*before, "backup/a.txt", "backup/b.txt"}
    assert (await live.suma("rollback")).code == 0
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before


async def test_current_directory_is_used_only_if_allowed(live: Installation, tmp_path: Path) -> None:
    folder, elsewhere = mess(live.folder / "here"), mess(tmp_path / "there")
    assert (await live.suma("run", "sort by type", "--yes", at=folder)).code == 0
    assert "Images/pic.jpg" in names(folder)
    refused = await live.suma("run", "sort by type", "--yes", at=elsewhere)
    assert refused.code == 1
    assert "no folder to work in" in refused.out + refused.err
    assert "Images/pic.jpg" not in names(elsewhere)


async def test_a_folder_outside_the_roots_is_not_touched_unasked(live: Installation, tmp_path: Path) -> None:
    elsewhere = mess(tmp_path / "elsewhere")
    refused = await live.suma("run", GOAL, "--in", str(elsewhere))
    assert refused.code == 3
    assert "not an allowed folder" in refused.err
    assert len(names(elsewhere)) == 4


async def test_allowed_folder_is_used_and_remembered(live: Installation, tmp_path: Path) -> None:
    elsewhere = mess(tmp_path / "elsewhere")
    done = await live.suma("run", "sort by type", "--in", str(elsewhere), "--yes")
    assert done.code == 0, done.out + done.err
    assert str(elsewhere) in json.loads((live.data / "roots.json").read_text())


async def test_skills_are_listed(live: Installation) -> None:
    found = json.loads((await live.suma("skills", "--json")).out)
    assert {"remove-duplicates", "organize-by-type", "analyze-directory"} <= {s["name"] for s in found}


@pytest.mark.requirement("S2-24")
async def test_folder_skill_is_approved_and_revoked_by_command(live: Installation) -> None:
    folder = mess(live.folder / "own")
    skill(folder / ".suma" / "skills", "letters")
    where = ("letters", "--in", str(folder), "--json")
    assert json.loads((await live.suma("skills", "info", *where)).out)["state"] == "off"
    assert json.loads((await live.suma("skills", "approve", "--yes", *where)).out)["state"] == "on"
    done = await live.suma("run", "sort by type", "--in", str(folder), "--yes")
    assert done.code == 0, done.out + done.err
    assert json.loads((await live.suma("skills", "info", *where)).out)["state"] == "on"
    assert json.loads((await live.suma("skills", "revoke", *where)).out)["state"] == "off"


@pytest.mark.requirement("S2-24")
async def test_added_user_skill_needs_no_restart(live: Installation) -> None:
    folder = skill(live.data / "skills", "postcards")
    async with live.api() as api, asyncio.timeout(90):
        while (found := await api.get("/v1/skills/postcards")).status_code == 404:
            pass
    shutil.rmtree(folder)
    assert (found.json()["source"], found.json()["kind"], found.json()["state"]) == ("user", "prompt", "on")


async def test_config_shows_each_setting_with_its_source(live: Installation) -> None:
    told = json.loads((await live.suma("config", "--json")).out)
    sources = {row["name"]: row["source"] for row in told["settings"]}
    assert sources["data_dir"] == "SUMA_DATA_DIR"
    assert sources["host"] == "default"


async def test_wrong_key_is_one_line(live: Installation) -> None:
    said = await live.run("services.cli", "sessions", SUMA_API_KEY="suma_no", SUMA_URL=live.url)
    assert said.code == 1
    assert said.err.strip() == f"suma: {live.url} does not know the key from SUMA_API_KEY"


async def test_a_platform_that_is_not_there_is_one_line(live: Installation, tmp_path: Path) -> None:
    said = await live.run("services.cli", "sessions", SUMA_API_KEY="suma_no", SUMA_URL="http://127.0.0.1:9")
    assert said.code == 4
    assert said.err.strip() == "suma: Suma does not answer at http://127.0.0.1:9: start it with `suma up`"


async def test_a_data_directory_that_is_not_there_is_one_line(live: Installation, tmp_path: Path) -> None:
    said = await live.run("services.cli", "sessions", SUMA_DATA_DIR=str(tmp_path / "none"))
    assert said.code == 2
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.requirement("S4-49", "A28")
async def test_a_person_at_the_terminal_leaves_one_group_out(live: Installation) -> None:
    folder = mess(live.folder / "asked")
    (folder / "one.md").write_text("twins")
    (folder / "two.md").write_text("twins")
    with Terminal(live, "run", "remove duplicates", "--in", str(folder), "--ask", "changes") as terminal:
        await terminal.answer("e[x]clude some", "x")
        await terminal.answer("Numbers to leave out", terminal.number_of("two.md"))
        await terminal.answer("Make 1 change?", None)
        await terminal.answer("[y]es", "y")
        assert await terminal.end() == 0
    assert {"one.md", "two.md"} <= names(folder)
    assert len(names(folder)) == 5


@pytest.mark.requirement("S4-34")
async def test_refused_approval_in_the_terminal_changes_nothing(live: Installation) -> None:
    folder = mess(live.folder / "denied")
    with Terminal(live, "run", "sort by type", "--in", str(folder)) as terminal:
        await terminal.answer("[y]es", "n")
        await terminal.end()
    assert names(folder) == {"a.txt", "b.txt", "song.mp3", "pic.jpg"}


async def test_file_is_excluded_from_the_whole_diff(live: Installation) -> None:
    folder = mess(live.folder / "once")
    with Terminal(live, "run", "sort by type", "--in", str(folder)) as terminal:
        await terminal.answer("e[x]clude some", "x")
        await terminal.answer("Numbers to leave out", None)
        await terminal.answer("such as 1,3-5", terminal.number_of("Audio/song.mp3"))
        assert await terminal.end() == 0
    assert names(folder) == {"Documents/a.txt", "Documents/b.txt", "song.mp3", "Images/pic.jpg"}
    assert "To undo this: suma rollback" in terminal.text


@pytest.mark.requirement("S4-34")
async def test_correction_is_planned_and_asked_about(live: Installation) -> None:
    folder = mess(live.folder / "corrected")
    (folder / "deep").mkdir()
    (folder / "deep" / "c.txt").write_text("deep")
    with Terminal(live, "run", "delete the txt files", "--in", str(folder)) as terminal:
        await terminal.answer("1 more in subfolders", None)
        await terminal.answer("[y]es", "in all subfolders too")
        await terminal.answer("Make 3 changes?", None)
        await terminal.answer("[y]es", "but not b.txt")
        await terminal.answer("Make 2 changes?", None)
        await terminal.answer("[y]es", "yes please")
        assert await terminal.end() == 0
    assert names(folder) == {"b.txt", "song.mp3", "pic.jpg"}


async def test_yes_includes_matches_in_subfolders(live: Installation) -> None:
    folder = mess(live.folder / "below")
    (folder / "deep").mkdir()
    (folder / "deep" / "old.log").touch()
    with Terminal(live, "run", "delete the log files", "--in", str(folder)) as terminal:
        await terminal.answer("No LOG files here, but 1 in subfolders (deep): all of these?", None)
        await terminal.answer("[y]es", "yes")
        await terminal.answer("Make 1 change?", None)
        await terminal.answer("[y]es", "y")
        assert await terminal.end() == 0
    assert names(folder) == {"a.txt", "b.txt", "song.mp3", "pic.jpg"}


async def test_chat_shows_everything_and_knows_its_commands(live: Installation) -> None:
    folder = mess(live.folder / "pointed")
    for n in range(45):
        (folder / f"n{n:02}.tmp").touch()
    with Terminal(live, "chat", "--in", str(folder)) as terminal:
        await terminal.answer("›", "find the tmp files")
        await terminal.answer("- n44.tmp", None)
        await terminal.answer("›", "delete those 45 files")
        await terminal.answer("Make 45 changes?", None)
        await terminal.answer("25 of these are not listed here: type “show all”", None)
        await terminal.answer("[y]es", "show all")
        await terminal.answer("45. - n44.tmp", None)
        await terminal.answer("[y]es", "not now")
        await terminal.answer("›", "/help")
        await terminal.answer("undo that   undoes the last change", None)
        await terminal.answer("›", "/nonsense")
        await terminal.answer("is not a command", None)
        await terminal.answer("›", "exit")
        assert await terminal.end() == 0
    assert len(names(folder)) == 49


async def test_rollback_names_the_last_session_with_changes(live: Installation) -> None:
    folder = mess(live.folder / "older")
    assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    assert (await live.suma("run", "list the files", "--in", str(folder))).code == 0
    refused = await live.suma("rollback")
    assert (refused.code, "undoes “sort by type”" in refused.err) == (2, True)
    with Terminal(live, "rollback") as terminal:
        await terminal.answer("Undo “sort by type”", "y")
        assert await terminal.end() == 0
    assert names(folder) == {"a.txt", "b.txt", "song.mp3", "pic.jpg"}


async def test_rollback_with_yes_asks_nothing(live: Installation) -> None:
    folder = mess(live.folder / "agreed")
    assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    assert (await live.suma("run", "list the files", "--in", str(folder))).code == 0
    undone = await live.suma("rollback", "--yes")
    assert (undone.code, names(folder)) == (0, {"a.txt", "b.txt", "song.mp3", "pic.jpg"})


@pytest.mark.requirement("A24")
async def test_undone_change_can_be_redone(live: Installation) -> None:
    folder = mess(live.folder / "redone")
    assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    sorted_names = names(folder)
    assert "To redo this: suma redo" in (await live.suma("rollback")).out
    (folder / "a.txt").write_text("by someone else")
    refused = await live.suma("redo")
    assert (refused.code, "suma redo --exclude PATH" in refused.out) == (1, True)
    redone = await live.suma("redo", "--exclude", "a.txt")
    assert redone.code == 0, redone.err
    assert "To undo this: suma rollback" in redone.out
    assert names(folder) == sorted_names - {"Documents/a.txt"} | {"a.txt"}


async def test_rollback_after_a_partial_one_undoes_the_rest(live: Installation) -> None:
    folder = mess(live.folder / "the rest")
    before = names(folder)
    assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    assert (await live.suma("rollback", "--exclude", "Audio/song.mp3")).code == 0
    assert (folder / "Audio" / "song.mp3").exists()
    rest = await live.suma("rollback")
    assert (rest.code, names(folder)) == (0, before), rest.err


async def test_undo_that_in_chat_reverses_the_last_change(live: Installation) -> None:
    folder = mess(live.folder / "undone")
    assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    with Terminal(live, "chat", "--in", str(folder)) as terminal:
        await terminal.answer("›", "undo that")
        await terminal.answer("a.txt (restored)", None)
        await terminal.answer("Undo this, the last change in this folder?", "y")
        await terminal.answer("Rolled back", None)
        await terminal.answer("›", CTRL_D)
        assert await terminal.end() == 0
    assert names(folder) == {"a.txt", "b.txt", "song.mp3", "pic.jpg"}


async def test_saying_undo_takes_the_folder_s_last_change(live: Installation) -> None:
    folder = mess(live.folder / "newest")
    with Terminal(live, "chat", "--in", str(folder)) as terminal:
        await terminal.answer("›", None)
        assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
        await terminal.answer("", "rename Audio to Music")
        await terminal.answer("[y]es", "y")
        await terminal.answer("To undo this, say: undo that", None)
        await terminal.answer("›", "undo that")
        await terminal.answer("Music → Audio", None)
        await terminal.answer("Undo this, the last change in this folder?", "y")
        await terminal.answer("Rolled back", None)
        await terminal.answer("›", CTRL_D)
        assert await terminal.end() == 0
    assert (folder / "Audio" / "song.mp3").exists()


async def test_ctrl_c_at_question_stops_only_the_turn(live: Installation) -> None:
    folder = mess(live.folder / "stopped")
    with Terminal(live, "chat", "--in", str(folder)) as terminal:
        await terminal.answer("›", "sort by type")
        await terminal.answer("[y]es", CTRL_C)
        await terminal.answer("Stop this task?", "")
        await terminal.answer("Stopped. No file was changed.", None)
        await terminal.answer("›", "")
        await terminal.answer("›", CTRL_D)
        assert await terminal.end() == 0
    assert names(folder) == {"a.txt", "b.txt", "song.mp3", "pic.jpg"}


@pytest.mark.requirement("A22b")
async def test_events_are_followed_while_they_happen(live: Installation) -> None:
    folder = mess(live.folder / "followed")
    async with live.api() as api:
        session = (await api.post("/v1/sessions", json={"root": str(folder)})).json()["session_id"]
        follower = await live.begin("services.cli", "events", session, "--follow", "--json")
        await api.post(f"/v1/sessions/{session}/messages", json={"text": "tell me what is there"})
    assert follower.stdout is not None
    try:
        async with asyncio.timeout(90):
            async for line in follower.stdout:
                if json.loads(line)["type"] == "turn.ended":
                    break
    finally:
        follower.terminate()
        await follower.wait()


@pytest.mark.requirement("A36")
async def test_audit_export_is_verified_offline(live: Installation, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    exported = await live.suma("audit", "export", "--out", str(file))
    assert exported.code == 0, exported.err
    said = await live.run("services.cli", "audit", "verify", str(file), "--json", SUMA_DATA_DIR=str(tmp_path / "none"))
    assert json.loads(said.out)["ok"] is True


@pytest.mark.requirement("A36")
async def test_malformed_export_fails_offline_verification(live: Installation, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_text('{"kind": "header"}\n')
    said = await live.run("services.cli", "audit", "verify", str(file), "--json", SUMA_DATA_DIR=str(tmp_path / "none"))
    assert said.code == 1
    assert json.loads(said.out)["ok"] is False
