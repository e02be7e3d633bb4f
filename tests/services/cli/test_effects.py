"""`suma effects`, and what following a turn does where nobody knows whether something happened."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typing_extensions import override

from services.cli import effects
from services.cli.errors import AnswerRequired
from services.cli.prompts import AutoApprove, NonInteractive
from services.cli.turns import follow
from tests.services.cli.answering import Server, running
from tests.services.cli.gateway import SESSION, TURN, Gateway, asked, event
from tests.services.cli.test_turns import Quiet, Replying

EFFECT = {
    "approval_id": "e1",
    "session_id": "s1",
    "turn_id": "t1",
    "digest": "d1",
    "opened_at": "2026-01-01T00:00:00Z",
    "outcome": None,
    "principal": None,
    "reason": None,
    "data": {"tool": "mail.send", "title": "Did this happen? Send it", "args": {"to": "ada"}, "intent": "abc"},
}
END = event(9, "turn.ended", state="completed", reason=None)


class Doubting(Server):
    """Knows one effect, and answers with an outcome."""

    def __init__(self, outcome: str = "happened") -> None:
        super().__init__()
        self.outcome = outcome

    @override
    def answer(self, path: str, body: Any) -> Any:
        if body is not None:
            return {"outcome": {"data": {"outcome": self.outcome, "reason": "it is no longer being asked"}}}
        return {"effects": [EFFECT]} if path == "/v1/effects" else EFFECT


def test_unknown_effects_are_listed_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Doubting(), monkeypatch) as runner:
        assert "mail.send" in runner.invoke(effects.app, ["list"]).output
        assert "abc" in runner.invoke(effects.app, ["show", "e1"]).output
        assert json.loads(runner.invoke(effects.app, ["list", "--json"]).output) == [EFFECT]


@pytest.mark.parametrize(("flag", "verdict"), [("--happened", "happened"), ("--did-not-happen", "did_not_happen")])
def test_effect_answer_carries_the_digest_of_its_question(
    monkeypatch: pytest.MonkeyPatch, flag: str, verdict: str
) -> None:
    with running(server := Doubting(), monkeypatch) as runner:
        done = runner.invoke(effects.app, ["resolve", "e1", flag, "--reason", "I looked"])
    assert (done.exit_code, server.posts) == (
        0,
        [("/v1/effects/e1", {"verdict": verdict, "reason": "I looked", "digest": "d1"})],
    )


def test_late_answer_is_reported_as_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Doubting("stale"), monkeypatch) as runner:
        done = runner.invoke(effects.app, ["resolve", "e1", "--happened"])
    assert (done.exit_code, "no longer being asked" in done.output) == (1, True)


@pytest.mark.parametrize("args", [[], ["--happened", "--data", "{"], ["--happened", "--data", "[1]"]])
def test_unclear_effect_answer_is_not_sent(monkeypatch: pytest.MonkeyPatch, args: list[str]) -> None:
    with running(server := Doubting(), monkeypatch) as runner:
        assert runner.invoke(effects.app, ["resolve", "e1", *args]).exit_code != 0
    assert server.posts == []


def test_follow_asks_about_an_unknown_effect() -> None:
    gateway = Gateway([asked(1, "e1", kind="effect"), asked(2, "e2", kind="effect", title="later"), END])
    with gateway.client() as suma:
        follow(suma, SESSION, TURN, after=0, watcher=Quiet(), person=Replying())
    assert gateway.posts == [("/v1/effects/e1", {"verdict": "happened", "digest": "of e1"})]


@pytest.mark.parametrize("person", [AutoApprove("s1"), NonInteractive("s1")])
def test_unattended_runs_cannot_answer_an_unknown_effect(person: AutoApprove | NonInteractive) -> None:
    with pytest.raises(AnswerRequired, match="suma effects resolve e1"):
        person.find_out({"title": "Did this happen?", "approval_id": "e1"})
