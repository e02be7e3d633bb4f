"""The mind's commands of `suma memory`: rate, mood, persona and sleep, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import Result
from typing_extensions import override

from services.cli import memory, mind
from services.cli.errors import Usage
from tests.services.cli.answering import Server, running

LEVELS = {"dopamine": 0.4, "serotonin": 0.5, "noradrenaline": 0.0, "acetylcholine": 0.0}
FACTORS = {"exploration_factor": 0.7, "patience": 0.75, "focus": 0.5}
BOOSTS = {"creativity_boost": False, "empathy_boost": False, "alertness_boost": False}
RATING = {"subject": "m-1", "score": 1.0, "comment": "Right\x1b[2J.", "at": "2026-03-02T09:16:00Z"}
SLEPT = {"id": "s-1", "state": "done", "started_at": "2026-03-02T03:00:00Z", "scanned": 42, "merged": 9, "linked": 3}


class Minded(Server):
    """A mind: each sleep takes so many looks, and writes are answered with what they set."""

    def __init__(self, *, looks: int = 1, sleeps: bool = True) -> None:
        super().__init__()
        self.looks, self.sleeps = looks, sleeps

    @override
    def answer(self, path: str, body: Any) -> Any:
        if path.endswith("/rating"):
            return body
        if path.endswith("/modulators"):
            return LEVELS | FACTORS | BOOSTS | (body or {})
        if "/personas/" in path:
            return {"id": "default", "text": body["text"] if body else "Be brief."}
        if path == "/v1/memory/sleeps" and body is None:
            self.looks -= 1
            slept = {**SLEPT, "state": "done" if self.looks < 0 else "running"}
            return {"sleeps": [slept] if self.sleeps else [], "waiting": 31, "cognitive_load": 0.06}
        if path.startswith("/v1/sessions?"):
            return {"sessions": [{"session_id": "c-1"}]}
        if "/events" in path:
            said = {"seq": 1, "type": "message.completed", "turn_id": "t-1", "time": "2026-03-02T09:15:04Z", "data": {}}
            return {"events": [said] if "after=0" in path else []}
        weight = {"subject": "kind:outcome", "points": 0.95, "weight": 1.04}
        return {"id": "s-1", "ratings": [RATING], "weights": [weight]}


def asked(monkeypatch: pytest.MonkeyPatch, server: Server, *words: str) -> Result:
    monkeypatch.setattr(mind, "LOOK_SECONDS", 0)
    with running(server, monkeypatch) as runner:
        return runner.invoke(memory.app, [*words])


@pytest.mark.requirement("S3-12")
def test_rating_names_the_last_answer_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Minded()
    assert asked(monkeypatch, server, "rate", "up", "that", "was", "right").exit_code == 0
    assert server.posts == [("/v1/turns/t-1/rating", {"score": 1, "comment": "that was right"})]


@pytest.mark.requirement("S3-12")
def test_memory_is_rated_down_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for verdict, score in (("down", -1), ("none", 0)):
        server = Minded()
        assert asked(monkeypatch, server, "rate", verdict, "--memory", "m-1").exit_code == 0
        assert server.posts == [("/v1/memory/memories/m-1/rating", {"score": score, "comment": ""})]


def test_ratings_show_words_and_weights_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, Minded(), "ratings", "--reset")
    for part in ("m-1", "+1", "Right", "kind:outcome", "1.04"):
        assert part in result.output
    assert "\x1b[2J" not in result.output


@pytest.mark.requirement("S3-06")
def test_mood_sets_named_levels_and_shows_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Minded()
    result = asked(monkeypatch, server, "mood", "--noradrenaline", "0.2")
    assert server.posts == [("/v1/memory/modulators", {"noradrenaline": 0.2})]
    assert "exploration 0.70" in result.output
    assert json.loads(asked(monkeypatch, Minded(), "mood", "--json").output)["dopamine"] == 0.4


@pytest.mark.requirement("S3-06")
def test_persona_is_set_shown_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Minded()
    assert "Answer in verse." in asked(monkeypatch, server, "persona", "Answer", "in", "verse.").output
    assert server.posts == [("/v1/memory/personas/default", {"text": "Answer in verse."})]
    assert "Be brief." in asked(monkeypatch, Minded(), "persona", "--clear").output


@pytest.mark.requirement("S3-06")
def test_sleep_waits_for_its_report(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Minded(looks=2)
    result = asked(monkeypatch, server, "sleep", "--no-rem")
    assert server.posts == [("/v1/memory/sleeps", {"nrem": True, "rem": False})]
    assert result.output.splitlines()[-1].split() == ["s-1", "done", "2026-03-02T03:00", "42", "9", "3"]
    assert "wait for sleep: 31 (load 6%)" in asked(monkeypatch, Minded(), "sleeps").output


@pytest.mark.requirement("S3-06")
def test_wake_undoes_the_last_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Minded(looks=0)
    assert asked(monkeypatch, server, "wake").exit_code == 0
    assert server.posts == [("/v1/memory/sleeps/s-1/undo", {})]
    assert isinstance(asked(monkeypatch, Minded(sleeps=False), "wake").exception, Usage)
