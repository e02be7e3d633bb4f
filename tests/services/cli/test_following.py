"""Following a turn: each question is put once, with what its answer will count for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest
from typing_extensions import override

from services.cli.asking import Otherwise, Reply, Yes
from services.cli.errors import Refused
from services.cli.following import Ended, follow
from services.cli.streams import Seen
from tests.services.cli.gateway import SESSION, TURN, Event, Gateway, asked, delta, event

END = event(9, "turn.ended", state="completed", reason=None)


class Quiet:
    """Sees, and says nothing."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.words: list[str] = []

    def saw(self, event: Seen) -> None:
        self.seen.append(event.type)

    def heard(self, said: str) -> None:
        self.words.append(said)

    def pause(self) -> None:
        """Nothing moves."""

    def hush(self) -> None:
        self.seen.append("hushed")


class Replying:
    """Approves, and answers a clarification."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        return Yes().decide(question)

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"verdict": "happened"} if question["title"] != "later" else None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        return Reply("the second", "organize-by-type")


class Correcting(Replying):
    """Wants something else than is proposed, and says it once."""

    @override
    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Otherwise("only the PDFs")


def followed(gateway: Gateway, watcher: Quiet | None = None, *, person: Replying | None = None) -> Ended:
    with gateway.client() as suma:
        return follow(suma, SESSION, TURN, after=0, watcher=watcher or Quiet(), person=person or Replying())


def test_words_are_heard_as_they_come_and_those_of_a_broken_attempt_or_of_another_turn_are_not() -> None:
    pieces = [delta("Moin", turn="t2"), delta("Hel"), delta("lo"), delta("Good", attempt=2), delta(" day", attempt=2)]
    watcher = Quiet()
    followed(Gateway([event(1, "turn.started"), *pieces, END]), watcher)
    assert watcher.words == ["Hel", "Hello", "Good", "Good day"]
    assert watcher.seen == ["turn.started", "turn.ended"]


def test_a_stream_that_comes_back_says_the_words_again_and_nobody_hears_them_twice() -> None:
    watcher = Quiet()
    followed(Gateway([delta("Hello"), END], cuts=[90]), watcher)
    assert set(watcher.words) == {"Hello"}


@pytest.mark.requirement("A22a")
def test_an_answer_carries_the_digest_of_what_was_shown() -> None:
    gateway = Gateway([asked(1, "a1"), END])
    assert followed(gateway).done
    assert gateway.posts == [("/v1/approvals/a1", {"verdict": "approve", "digest": "of a1"})]


def test_a_question_that_was_answered_elsewhere_is_not_asked_again() -> None:
    gateway = Gateway([asked(1, "a1"), END], closed=frozenset({"a1"}))
    followed(gateway)
    assert gateway.posts == []


@pytest.mark.requirement("S4-34")
def test_who_wants_something_else_refuses_all_of_it_and_is_told_no_more_of_it() -> None:
    gateway, watcher = Gateway([asked(1, "a1"), asked(2, "a2"), END]), Quiet()
    ended = followed(gateway, watcher, person=Correcting())
    refused = {"verdict": "deny", "reason": "only the PDFs"}
    assert [body for _, body in gateway.posts] == [{**refused, "digest": "of a1"}, {**refused, "digest": "of a2"}]
    assert ended.instead == "only the PDFs"
    assert watcher.seen[:2] == ["approval.requested", "hushed"]


def test_what_is_wanted_instead_answers_a_question_that_comes_before_the_turn_ends() -> None:
    question = event(2, "clarification.requested", question="what then?", candidates=[], missing=[])
    gateway = Gateway([asked(1, "a1"), question, END])
    assert followed(gateway, person=Correcting()).instead is None
    assert gateway.posts[-1] == (f"/v1/sessions/{SESSION}/messages", {"text": "only the PDFs"})


@pytest.mark.parametrize("code", ["APPROVAL_CLOSED", "APPROVAL_CHANGED"])
def test_whoever_was_quicker_is_no_reason_to_stop(code: str) -> None:
    gateway = Gateway([asked(1, "a1"), END])
    gateway.refusal = httpx.Response(409, json={"detail": "late", "code": code})
    assert followed(gateway).done


def test_any_other_refusal_is_told() -> None:
    gateway = Gateway([asked(1, "a1"), END])
    gateway.refusal = httpx.Response(403, json={"detail": "You may not.", "code": "POLICY_DENIED"})
    with pytest.raises(Refused, match="You may not"):
        followed(gateway)


@pytest.mark.requirement("S4-46", "S4-50")
def test_the_answer_to_a_clarification_is_the_session_s_next_message() -> None:
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
        ([event(9, "turn.ended", state="refused", reason="POLICY_DENIED")], Ended("refused", "POLICY_DENIED", seq=9)),
        (
            [
                event(1, "workspace.changed", change="committed", operations=2, commit_id="c1"),
                event(2, "message.completed", text="Done."),
                END,
            ],
            Ended("completed", None, "Done.", ["c1"], seq=9),
        ),
    ],
)
def test_the_end_says_what_came_of_it_and_what_can_be_undone(events: list[Event], ended: Ended) -> None:
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
def test_what_was_refused_or_failed_altogether_is_not_done(events: list[Event], done: bool) -> None:
    assert followed(Gateway([*events, END])).done is done
