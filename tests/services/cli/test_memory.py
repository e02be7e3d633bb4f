"""`suma memory`: lists, searches with their reasons, forgetting, export and erasure with a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result
from typing_extensions import override

from services.cli import memory
from services.cli.errors import AnswerRequired
from tests.services.cli.answering import Server, running

FACT: dict[str, Any] = {
    "id": "f-1",
    "subject": "me",
    "key": "employer",
    "value": "Acme\x1b[2J Labs",
    "source": "person",
    "confidence": 1.0,
    "untrusted": True,
    "valid_from": "2026-03-02T09:15:04Z",
}
MEMORY = {"id": "m-1", "text": "Sorted\x1b[2J invoices.", "kind": "outcome", "created_at": "2026-03-02T09:15:06Z"}
SOURCES = [{"name": "vectors", "rank": 1, "contribution": 0.5}, {"name": "feedback", "rank": 0, "contribution": 0.07}]
FOUND = {**MEMORY, "score": 0.97, "sources": SOURCES, "newer": "m-2"}


class Remembering(Server):
    """Knows one fact and one memory; an erasure takes so many looks."""

    def __init__(self, *, knows: bool = True, looks: int = 1) -> None:
        super().__init__()
        self.knows, self.looks, self.erasing = knows, looks, False

    @override
    def answer(self, path: str, body: Any) -> Any:
        if path.startswith("/v1/memory/erase"):
            self.erasing = True
            return {"erasure_id": "e-1"}
        if path.startswith("/v1/memory/held"):
            self.looks -= self.erasing
            return {"tables": {"memory.facts": 3} if self.looks >= 0 else {}}
        if path.startswith("/v1/memory/export"):
            return {"export": "suma"}
        if "/facts/" in path or "/memories/" in path:
            return {"forgotten": 1}
        if path.startswith("/v1/turns/"):
            gone: dict[str, Any] = {"id": "m-2", "text": None, "score": 0.5, "sources": []}
            given = [{"id": "m-1", "text": MEMORY["text"], "score": 0.97, "sources": SOURCES}, gone]
            return {"turn_id": "t-1", "memories": given if self.knows else []}
        known = [FACT] if "/facts" in path else [FOUND if "/search" in path else MEMORY]
        lag = {"waiting": 31, "lagging": False}
        return {"facts": known if self.knows else [], "memories": known if self.knows else [], **lag}


def asked(monkeypatch: pytest.MonkeyPatch, server: Server, *words: str) -> Result:
    with running(server, monkeypatch) as runner:
        return runner.invoke(memory.app, [*words])


def test_list_shows_facts_and_memories_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, Remembering(), "list")
    assert result.exit_code == 0
    for part in ("employer", "Acme", "person, untrusted", "100%", "2026-03-02", "m-1", "outcome"):
        assert part in result.output
    assert "\x1b[2J" not in result.output


def test_empty_memory_says_how_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "remember that" in asked(monkeypatch, Remembering(knows=False), "list").output


def test_search_shows_score_reason_and_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, Remembering(), "search", "invoices", "march")
    for part in ("0.97", "vectors #1, feedback +0.07", "something newer", "Not consolidated yet: 31 memories"):
        assert part in result.output


def test_memories_of_a_turn_are_shown_with_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Remembering()
    result = asked(monkeypatch, server, "recalled", "t-1")
    assert (result.exit_code, server.asked) == (0, ["/v1/turns/t-1/memories"])
    for part in ("Sorted", "0.97", "vectors #1, feedback +0.07", "(forgotten)"):
        assert part in result.output
    assert asked(monkeypatch, Remembering(knows=False), "recalled", "t-1").exit_code == 1


def test_search_without_match_exits_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, Remembering(knows=False), "search", "x").exit_code == 1


def test_forgetting_facts_needs_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Remembering()
    assert isinstance(asked(monkeypatch, server, "forget", "my", "employer").exception, AnswerRequired)
    assert not any("/facts/" in path for path in server.asked)
    server = Remembering()
    assert asked(monkeypatch, server, "forget", "my", "employer", "--yes").exit_code == 0
    assert "/v1/memory/facts/f-1" in server.asked


def test_forget_takes_the_id_of_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Remembering(knows=False)
    assert asked(monkeypatch, server, "forget", "m-1").exit_code == 0
    assert "/v1/memory/memories/m-1" in server.asked


def test_export_writes_a_new_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    assert asked(monkeypatch, Remembering(), "export", "-o", str(out)).exit_code == 0
    assert json.loads(out.read_text()) == {"export": "suma"}


def test_erasure_needs_consent_and_reports_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "POLL_SECONDS", 0)
    assert isinstance(asked(monkeypatch, Remembering(), "erase").exception, AnswerRequired)
    result = asked(monkeypatch, Remembering(), "erase", "--yes", "--json")
    assert json.loads(result.output) == {"erasure_id": "e-1", "erased": {"memory.facts": 3}, "left": {}}


def test_unfinished_erasure_exits_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ERASE_SECONDS", 0)
    assert asked(monkeypatch, Remembering(looks=9), "erase", "--yes").exit_code == 1


@pytest.mark.parametrize(
    "command",
    [
        "list",
        "search",
        "recalled",
        "forget",
        "export",
        "erase",
        "rate",
        "ratings",
        "mood",
        "persona",
        "sleep",
        "sleeps",
        "wake",
    ],
)
def test_each_command_explains_itself(command: str) -> None:
    assert CliRunner().invoke(memory.app, [command, "--help"]).exit_code == 0
