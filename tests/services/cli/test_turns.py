"""Following a turn: each question is put once, with what its answer will count for."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest
from rich.console import Console
from typing_extensions import override

from services.cli.commands import SessionView, say
from services.cli.errors import NotDone, Refused
from services.cli.prompts import AutoApprove, Correction, Reply
from services.cli.show import Screen, Watcher
from services.cli.streams import SessionEvent
from services.cli.turns import TurnResult, follow
from tests.services.cli.gateway import SESSION, TURN, Event, Gateway, asked, delta, event

END = event(9, "turn.ended", state="completed", reason=None)


class Quiet(Watcher):
    """Sees, and says nothing."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.words: list[str] = []

    @override
    def on_event(self, event: SessionEvent) -> None:
        self.seen.append(event.type)

    @override
    def on_text(self, text: str) -> None:
        self.words.append(text)

    @override
    def mute(self) -> None:
        self.seen.append("hushed")


class Replying:
    """Approves, and answers a clarification."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        return AutoApprove("s1").decide(question)

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"verdict": "happened"} if question["title"] != "later" else None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        return Reply("the second", "organize-by-type")


class Agreeing(Replying):
    """Agrees through a whole turn."""

    def __init__(self) -> None:
        self._yes = AutoApprove(SESSION)

    @override
    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._yes.decide(question)


class Correcting(Replying):
    """Wants something else than is proposed, and says it once."""

    @override
    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Correction("only the PDFs")


def step(seq: int, ordinal: int, state: str) -> Event:
    return event(seq, "step.changed", plan_id="p1", ordinal=ordinal, state=state)


def planned(*mutates: bool) -> Event:
    steps = [{"ordinal": n, "mutates": one} for n, one in enumerate(mutates, 1)]
    return event(1, "plan.proposed", plan={"plan_id": "p1", "steps": steps})


def followed(gateway: Gateway, watcher: Quiet | None = None, *, person: Replying | None = None) -> TurnResult:
    with gateway.client() as suma:
        return follow(suma, SESSION, TURN, after=0, watcher=watcher or Quiet(), person=person or Replying())


def test_partial_text_excludes_failed_attempts_and_other_turns() -> None:
    pieces = [delta("Moin", turn="t2"), delta("Hel"), delta("lo"), delta("Good", attempt=2), delta(" day", attempt=2)]
    watcher = Quiet()
    followed(Gateway([event(1, "turn.started"), *pieces, END]), watcher)
    assert watcher.words == ["Hel", "Hello", "Good", "Good day"]
    assert watcher.seen == ["turn.started", "turn.ended"]


def test_reconnected_stream_repeats_no_text() -> None:
    watcher = Quiet()
    followed(Gateway([delta("Hello"), END], cuts=[90]), watcher)
    assert set(watcher.words) == {"Hello"}


@pytest.mark.requirement("A22a")
def test_answer_carries_the_shown_digest() -> None:
    gateway = Gateway([asked(1, "a1"), END])
    assert followed(gateway).done
    assert gateway.posts == [("/v1/approvals/a1", {"verdict": "approve", "digest": "of a1"})]


def test_a_question_that_was_answered_elsewhere_is_not_asked_again() -> None:
    gateway = Gateway([asked(1, "a1"), END], closed=frozenset({"a1"}))
    followed(gateway)
    assert gateway.posts == []


@pytest.mark.requirement("S4-34")
def test_correction_denies_the_proposal_and_mutes_the_turn() -> None:
    gateway, watcher = Gateway([asked(1, "a1"), asked(2, "a2"), END]), Quiet()
    ended = followed(gateway, watcher, person=Correcting())
    refused = {"verdict": "deny", "reason": "only the PDFs"}
    assert [body for _, body in gateway.posts] == [{**refused, "digest": "of a1"}, {**refused, "digest": "of a2"}]
    assert ended.instead == "only the PDFs"
    assert watcher.seen[:2] == ["approval.requested", "hushed"]


def test_correction_answers_a_later_question_of_the_turn() -> None:
    question = event(2, "clarification.requested", question="what then?", candidates=[], missing=[])
    gateway = Gateway([asked(1, "a1"), question, END])
    assert followed(gateway, person=Correcting()).instead is None
    assert gateway.posts[-1] == (f"/v1/sessions/{SESSION}/messages", {"text": "only the PDFs"})


@pytest.mark.parametrize("code", ["APPROVAL_CLOSED", "APPROVAL_CHANGED"])
def test_approval_closed_elsewhere_does_not_end_the_run(code: str) -> None:
    gateway = Gateway([asked(1, "a1"), END])
    gateway.refusal = httpx.Response(409, json={"detail": "late", "code": code})
    assert followed(gateway).done


def test_other_refusals_of_an_answer_are_raised() -> None:
    gateway = Gateway([asked(1, "a1"), END])
    gateway.refusal = httpx.Response(403, json={"detail": "You may not.", "code": "POLICY_DENIED"})
    with pytest.raises(Refused, match="You may not"):
        followed(gateway)


@pytest.mark.requirement("S4-46", "S4-50")
def test_clarification_answer_is_the_next_message() -> None:
    question = event(1, "clarification.requested", question="which?", candidates=[], missing=[])
    gateway = Gateway([question, END])
    followed(gateway)
    said = {"text": "the second", "skill": "organize-by-type"}
    assert gateway.posts == [(f"/v1/sessions/{SESSION}/messages", said)]


def test_events_of_other_turns_are_not_shown() -> None:
    watcher = Quiet()
    followed(Gateway([event(1, "turn.started"), event(2, "turn.queued", turn="t2"), END]), watcher)
    assert watcher.seen == ["turn.started", "turn.ended"]


@pytest.mark.parametrize(
    ("events", "ended"),
    [
        (
            [event(9, "turn.ended", state="refused", reason="POLICY_DENIED")],
            TurnResult("refused", "POLICY_DENIED", seq=9),
        ),
        (
            [
                event(1, "workspace.changed", change="committed", operations=2, commit_id="c1"),
                event(2, "message.completed", text="Done."),
                END,
            ],
            TurnResult("completed", None, "Done.", ["c1"], operations=2, seq=9),
        ),
    ],
)
def test_turn_result_has_outcome_and_commits(events: list[Event], ended: TurnResult) -> None:
    assert followed(Gateway(events)) == ended


READ, FAILED = (event(n, "step.changed", state=state) for n, state in ((1, "succeeded"), (2, "failed")))
DROPPED = event(3, "workspace.changed", change="dropped", operations=2)


@pytest.mark.parametrize(
    ("events", "done"),
    [
        ([READ], True),
        ([READ, FAILED], True),
        ([FAILED], False),
        ([READ, DROPPED], False),
        ([DROPPED, event(4, "workspace.changed", change="committed", operations=2, commit_id="c1")], True),
    ],
)
def test_refused_or_failed_turn_is_not_done(events: list[Event], done: bool) -> None:
    assert followed(Gateway([*events, END])).done is done


def test_a_task_that_a_limit_cut_short_is_not_done() -> None:
    assert not followed(Gateway([event(9, "turn.ended", state="completed", reason="MAX_TOOL_CALLS")])).done


def test_denied_change_after_a_look_is_not_done() -> None:
    looked = [planned(False, True), step(2, 1, "succeeded")]
    assert not followed(Gateway([*looked, step(3, 2, "denied"), END])).done
    assert followed(Gateway([*looked, step(3, 2, "skipped"), END])).done


def test_yes_agrees_to_a_failing_commit_once() -> None:
    again = asked(4, "a2", kind="commit", trouble="the disk is full")
    gateway = Gateway([asked(2, "a1", kind="commit"), again, END])
    with pytest.raises(NotDone, match="nothing was changed: the disk is full"):
        followed(gateway, person=Agreeing())
    assert len(gateway.posts) == 1


def test_yes_leaves_out_the_same_conflict_once() -> None:
    clash = [{"id": "a.txt", "conflict": True}]
    gateway = Gateway([asked(n, f"a{n}", kind="commit", items=clash) for n in (2, 3)] + [END])
    with pytest.raises(NotDone, match="changed again"):
        followed(gateway, person=Agreeing())
    assert [body["exclude"] for _, body in gateway.posts] == [["a.txt"]]


class Leaving(Replying):
    """Presses Ctrl-C just after the answer was sent."""

    @override
    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise KeyboardInterrupt


class Seated(io.StringIO):
    """A terminal."""

    @override
    def isatty(self) -> bool:
        return True


MADE = event(3, "workspace.changed", change="committed", operations=2, commit_id="c", conflicts=[])
SAID = event(4, "message.completed", text="Moved 2 files.", message_id="m")


@pytest.mark.parametrize(
    ("events", "says", "done"),
    [
        ([MADE, SAID, END], "It was done before it could be stopped.\nMoved 2 files.", True),
        ([MADE, event(9, "turn.ended", state="cancelled", reason="CANCELLED")], "Done: 2 changes.", True),
        ([event(9, "turn.ended", state="cancelled", reason="CANCELLED")], "No file was changed.", None),
    ],
)
def test_ctrl_c_after_the_answer_reports_the_outcome(
    events: list[Event], says: str, done: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, shown = Gateway([event(1, "turn.started"), asked(2, "a1"), *events]), io.StringIO()
    ended = {"detail": "this turn is already completed", "code": "TURN_ENDED"}
    gateway.refusals[f"/v1/turns/{TURN}/cancel"] = httpx.Response(409, json=ended)
    monkeypatch.setattr("sys.stdin", Seated("y\n"))
    monkeypatch.setattr("sys.stdout", Seated())
    screen = Screen(Console(file=shown, width=200))
    with gateway.client() as client:
        view = SessionView(SESSION, screen, screen, Leaving())
        result = say(client, view, "sort")
    assert says in shown.getvalue()
    assert (result.done if result is not None else None) is done
