"""Answers without a person: what --yes covers, and what it cannot."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence

import pytest
import typer
from rich.console import Console

from services.cli.errors import AnswerRequired
from services.cli.prompts import AutoApprove, InputClosed, NonInteractive, Permission, Reply, Terminal, parse_selection
from services.cli.show import Screen

QUESTION = {"title": "Commit 2 changes", "items": [{"id": "a", "change": "moved"}]}


def test_yes_approves() -> None:
    assert AutoApprove("s1").decide(QUESTION) == {"verdict": "approve"}


@pytest.mark.requirement("A26")
def test_yes_excludes_foreign_changes() -> None:
    question = {**QUESTION, "items": [{"id": "theirs", "conflict": True}, *QUESTION["items"]]}
    assert AutoApprove("s1").decide(question) == {"verdict": "override", "exclude": ["theirs"]}


def test_yes_is_no_answer_to_a_real_question() -> None:
    with pytest.raises(AnswerRequired, match="which folder"):
        AutoApprove("s1").clarify("which folder?", [])


def test_without_a_terminal_a_question_stays_open() -> None:
    with pytest.raises(AnswerRequired, match="waiting for your answer: Commit 2 changes"):
        NonInteractive("s1").decide(QUESTION)


@pytest.mark.parametrize(
    ("text", "numbers"), [("1,3-5", [1, 3, 4, 5]), ("2 2", [2]), ("", []), (" 5 ", [5]), ("1-", [1])]
)
def test_choices_accept_numbers_and_ranges(text: str, numbers: list[int]) -> None:
    assert parse_selection(text, 5) == numbers


@pytest.mark.parametrize("text", ["6", "0", "x", "2-9", "-1"])
def test_a_number_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"there is no|is not a number"):
        parse_selection(text, 5)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Terminal]:
    """A terminal at which these lines are typed, one after the other, and then Ctrl-D."""

    def terminal(*lines: str) -> Terminal:
        left: Iterator[str] = iter(lines)

        def line(prompt: str, **_: object) -> str:
            try:
                if (said := next(left, None)) is None:
                    raise EOFError
            except EOFError:
                raise typer.Abort from None
            return said

        monkeypatch.setattr(typer, "prompt", line)
        return Terminal(Screen(Console(file=io.StringIO())))

    return terminal


@pytest.mark.parametrize(
    ("lines", "allowed"),
    [
        (["y"], Permission(True)),
        (["show me the newest photo", "yes"], Permission(True, "show me the newest photo")),
        (["show me the newest photo", "n"], Permission(False, "show me the newest photo")),
        (["no, use Docs"], Permission(False)),
        ([""], Permission(False)),
    ],
)
def test_request_at_permission_question_is_kept(
    typed: Callable[..., Terminal], lines: list[str], allowed: Permission
) -> None:
    assert typed(*lines).allows("May I?") == allowed


def test_closed_input_at_a_question_is_no_answer(typed: Callable[..., Terminal]) -> None:
    with pytest.raises(InputClosed):
        typed().decide(QUESTION)


def test_a_question_about_several_says_how_to_leave_one_out(typed: Callable[..., Terminal]) -> None:
    items = [{"id": "b/trip 1.jpg", "change": "moved", "source": "b/IMG 1.jpg"}, {"id": "c", "change": "deleted"}]
    assert "but not IMG 1.jpg" in typed()._choices(items)
    assert "but not" not in typed()._choices(items[:1])


class Kept:
    """Drafts that a platform would keep: each path takes what is below it with it."""

    def __init__(self, paths: list[str], prepared: list[str] | None = None) -> None:
        self._paths = paths
        self._draft = self._of(prepared) if prepared else None

    def prepared(self, approval: str) -> object:
        return self._draft

    def prepare(self, approval: str, digest: str, exclude: Sequence[str]) -> object:
        return self._of(exclude)

    def _of(self, exclude: Sequence[str]) -> dict[str, object]:
        out = [path for path in self._paths if any(path.startswith(left) for left in exclude)]
        makes = len(self._paths) - len(out)
        return {"exclude": list(exclude), "makes": makes, "leaves_out": len(out), "problem": ""}


PATHS = ["Archives", "Archives/a.zip", "Archives/b.zip", "Code"]
FOLDER = {
    **QUESTION,
    "kind": "commit",
    "approval_id": "a",
    "digest": "d",
    "items": [{"id": path, "change": "created"} for path in PATHS],
    "diff": {"count": 4},
}


def test_folder_that_takes_more_with_it_is_asked_about_again(typed: Callable[..., Terminal]) -> None:
    typed("x 1", "n", "x 1", "y")
    answered = Terminal(Screen(Console(file=io.StringIO())), Kept(PATHS)).decide(FOLDER)
    assert answered == {"verdict": "override", "exclude": ["Archives"]}


def test_yes_applies_the_draft_prepared_elsewhere(typed: Callable[..., Terminal]) -> None:
    typed("y")
    terminal = Terminal(Screen(Console(file=(printed := io.StringIO()))), Kept(PATHS, ["Archives"]))
    assert terminal.decide(FOLDER) == {"verdict": "override", "exclude": ["Archives"]}
    assert "3 changes left out" in printed.getvalue()


def test_showing_all_says_how_many_are_not_shown(typed: Callable[..., Terminal]) -> None:
    typed("show all", "n")
    terminal = Terminal(Screen(Console(file=(printed := io.StringIO()))), Kept(PATHS))
    terminal.decide({**FOLDER, "diff": {"count": 1982}})
    assert "4 of 1,982" in printed.getvalue()


def test_plain_yes_does_not_answer_an_open_question(typed: Callable[..., Terminal]) -> None:
    unclear = "I did not understand “frobnicate”. Say it in other words."
    assert typed("y", "sort by type").clarify(unclear, []) == Reply("sort by type")
    assert typed("no wait").clarify(unclear, []) is None
    assert typed("y").clarify("Do you mean “sort by type”?", []) == Reply("y")


def test_number_takes_an_offered_answer(typed: Callable[..., Terminal]) -> None:
    offers = [{"description": "find duplicates"}, {"description": "sort by type"}]
    assert typed("2").clarify("I did not understand that.", offers) == Reply("sort by type")
