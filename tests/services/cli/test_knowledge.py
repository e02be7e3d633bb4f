"""`suma knowledge`: what is sent, progress until a base is read, passages with their places, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result
from typing_extensions import override

from services.cli import knowledge
from services.cli.errors import AnswerRequired, Usage
from tests.services.cli.answering import Server, running

BASE: dict[str, Any] = {
    "name": "manuals",
    "shared": False,
    "source": "/home/ada/Manuals",
    "strategy": "fixed",
    "chunk_size": 512,
    "state": "ready",
    "detail": "",
    "files": 2,
    "done": 2,
    "updated_at": "2026-03-02T09:15:04Z",
    "chunks": 7,
    "unread": 1,
    "gaps": {"scan.pdf\x1b[2J": "no_words"},
}
PASSAGE = {
    "base": "manuals",
    "path": "boiler.pdf",
    "unit": "page",
    "first": 7,
    "last": 7,
    "text": "Bleed the radiators\x1b[2J before the first frost.",
    "score": 0.99,
    "sources": [{"name": "vectors", "rank": 1, "contribution": 0.5}],
    "fits": True,
}


class Library(Server):
    """Has one base, which is read after so many looks."""

    def __init__(self, *, looks: int = 0, ends: str = "ready") -> None:
        super().__init__()
        self.looks, self.ends = looks, ends

    @override
    def answer(self, path: str, body: Any) -> Any:
        if path.endswith("/search"):
            return {"passages": [PASSAGE] if "radiators" in body["query"] else []}
        if path == "/v1/knowledge" and body is None:
            return {"bases": [BASE]}
        if path.endswith("/remove"):
            return {"name": "manuals"}
        self.looks -= 1
        detail = "allow it first" if self.ends == "failed" else ""
        return {**BASE, "state": "reading"} if self.looks >= 0 else {**BASE, "state": self.ends, "detail": detail}


def asked(monkeypatch: pytest.MonkeyPatch, server: Library, *words: str) -> Result:
    monkeypatch.setattr(knowledge, "LOOK_SECONDS", 0)
    with running(server, monkeypatch) as runner:
        return runner.invoke(knowledge.app, [*words])


def test_folder_is_added_by_its_whole_path_and_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "My Manuals"
    place.mkdir()
    shown = asked(monkeypatch, server := Library(looks=2), "add", str(place), "--chunks", "sentence")
    about = {"name": "my-manuals", "source": str(place), "strategy": "sentence", "size": 512, "shared": False}
    assert server.posts == [("/v1/knowledge", about)]
    assert "manuals: ready, 2 of 2 files, 7 chunks" in shown.output
    assert len(server.asked) == 3


def test_waiting_can_be_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = asked(monkeypatch, server := Library(looks=9), "add", str(tmp_path), "--name", "manuals", "--no-wait")
    assert (len(server.asked), shown.exit_code) == (1, 0)
    assert "reading" in shown.output


def test_failed_reading_shows_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = asked(monkeypatch, Library(ends="failed"), "add", str(tmp_path), "-n", "manuals")
    assert shown.exit_code == 1
    assert "allow it first" in shown.output


def test_path_without_a_name_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = asked(monkeypatch, server := Library(), "add", "/")
    assert isinstance(shown.exception, Usage)
    assert server.asked == []


def test_status_names_files_that_were_not_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = asked(monkeypatch, Library(), "status", "manuals").output
    assert "1 file not read whole" in shown
    assert "no words" in shown
    assert "\x1b[2J" not in shown


def test_passages_are_shown_with_file_range_and_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = asked(monkeypatch, Library(), "search", "bleed", "radiators")
    assert "0.99  boiler.pdf, page 7 (manuals; vectors #1)" in shown.output
    assert "\x1b[2J" not in shown.output
    assert asked(monkeypatch, Library(), "search", "roses").exit_code == 1
    found = asked(monkeypatch, Library(), "search", "radiators", "--json").output
    assert json.loads(found) == [PASSAGE]


def test_bases_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = asked(monkeypatch, Library(), "list").output.splitlines()
    assert shown[1].split() == ["manuals", "you", "ready", "2/2", "/home/ada/Manuals"]


def test_removal_needs_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = asked(monkeypatch, server := Library(), "remove", "manuals")
    assert (isinstance(refused.exception, AnswerRequired), server.posts) == (True, [])
    assert asked(monkeypatch, server := Library(), "remove", "manuals", "--yes").exit_code == 0
    assert server.posts == [("/v1/knowledge/manuals/remove", {"shared": False})]


def test_each_command_explains_itself() -> None:
    for command in ("add", "list", "search", "status", "remove"):
        shown = CliRunner().invoke(knowledge.app, [command, "--help"])
        assert (shown.exit_code, "Usage" in shown.output) == (0, True)
