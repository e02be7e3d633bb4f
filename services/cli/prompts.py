"""A turn's questions and their answers: from a person at the terminal, or automatic (`--yes`, `--dry-run`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import typer

from libs import texts
from services.cli import phrases, words
from services.cli.answers import Answer, classify, starts_with_no
from services.cli.errors import AnswerRequired, NotDone
from services.cli.show import Screen


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a clarification: words, or one of the candidate skills."""

    text: str
    skill: str | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """The answer to a permission question, and any other request typed there."""

    granted: bool
    next_request: str = ""


class Correction(Exception):
    """The person rejects the proposal and requests something else."""


class InputClosed(Exception):
    """The input ended at a question (Ctrl-D); the question stays open."""


class PreviewComplete(Exception):
    """A dry run reached its first question; everything to preview has been shown."""

    def __init__(self, question: str = "") -> None:
        super().__init__(question)
        self.question = question
        """A question that must be answered before there is anything to preview."""


class Drafts(Protocol):
    """Prepared answers, kept with their questions."""

    def prepared(self, approval: str) -> Any: ...
    def prepare(self, approval: str, digest: str, exclude: Sequence[str]) -> Any: ...


NAME_CHARACTERS = 30
"""The longest file name shown in a prompt, in characters."""


class Person(Protocol):
    """A source of answers to a turn's questions."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the body of the answer to an approval: verdict, and reason, exclude or args.

        Raises `Correction` if the person requests something else.
        """
        ...

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the body of the answer about an unknown effect; None if it is not known yet."""
        ...

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        """Return the answer to a clarification; None to cancel the turn."""
        ...


def conflicting(question: Mapping[str, Any]) -> list[str]:
    """List items that were modified since: the rest can only be committed without them."""
    return [item["id"] for item in question["items"] if item.get("conflict")]


class Terminal:
    """Answers typed at the terminal."""

    def __init__(self, screen: Screen, drafts: Drafts | None = None) -> None:
        self._screen, self._drafts = screen, drafts

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        items, prepared = question["items"], self._prepared(question)
        while True:
            typed = _typed(self._choices(items))
            if items and (some := phrases.SOME.fullmatch(typed)):
                left_out = self._leave_out(items, some["which"])
                if left_out and self._agrees_to_rest(question, left_out):
                    return {"verdict": "override", "exclude": left_out}
                continue
            if items and phrases.SHOW_ALL.fullmatch(" ".join(phrases.WORDS.findall(typed.lower()))):
                self._list(question)
                continue
            match classify(typed):
                case Answer.YES if prepared:
                    return {"verdict": "override", "exclude": prepared}
                case Answer.YES:
                    return {"verdict": "approve"}
                case Answer.NO:
                    return {"verdict": "deny", "reason": "" if len(typed.split()) == 1 else typed}
                case Answer.INSTEAD:
                    raise Correction(typed)
                case _:
                    self._screen.tell(phrases.UNCLEAR, "dim")

    def _prepared(self, question: Mapping[str, Any]) -> list[str]:
        """Return what was prepared elsewhere to be left out, after saying so."""
        draft = self._drafts.prepared(question["approval_id"]) if self._drafts else None
        if not draft or not draft["exclude"] or draft["makes"] is None:
            return []
        left, rest = self._screen.changes(draft["leaves_out"]), texts.number(draft["makes"])
        self._screen.tell(phrases.PREPARED, "yellow", n=left, rest=rest)
        return list(draft["exclude"])

    def _agrees_to_rest(self, question: Mapping[str, Any], left_out: Sequence[str]) -> bool:
        """Ask again if leaving these out takes more with it than was named, or refuse what cannot be left out."""
        if self._drafts is None:
            return True
        draft = self._drafts.prepare(question["approval_id"], question["digest"], left_out)
        if draft["problem"]:
            self._screen.say(words.line(draft["problem"], 300), "yellow")
            return False
        if draft["leaves_out"] <= len(left_out):
            return True
        left, rest = self._screen.changes(draft["leaves_out"]), texts.number(draft["makes"])
        return self.agrees(self._screen.words(phrases.TAKES_MORE, n=left, rest=rest), enter=False)

    def _list(self, question: Mapping[str, Any]) -> None:
        items, diff = question["items"], question["diff"] or {}
        self._screen.items(items, len(items))
        if question["kind"] == "commit" and diff.get("count", 0) > len(items):
            numbers = {"n": texts.number(len(items)), "all": texts.number(diff["count"])}
            self._screen.tell(phrases.FIRST_ONES, "dim", **numbers)

    def _choices(self, items: Sequence[Mapping[str, Any]]) -> str:
        """Return the prompt's choices, with a listed file name as an example."""
        options = [phrases.CHOICES, *([phrases.EXCLUDE] if items else [])]
        there = [item.get("source") or item["id"] for item in items if item.get("change") in ("deleted", "moved")]
        name = words.line(str(there[0]).rpartition("/")[2], NAME_CHARACTERS) if len(there) > 1 else ""
        other = self._screen.words(phrases.SUCH_AS, name=name) if name else phrases.OTHERWISE
        return ", ".join((*options, other))

    def wider(self, answer: str) -> str | None:
        """Ask whether to include subfolders. Return the next request, or None to leave it."""
        asked = () if answer.rstrip().endswith("?") else (phrases.TAKE_BELOW,)
        match classify(typed := self._ask(*asked, phrases.CHOICES, phrases.OTHERWISE)):
            case Answer.YES:
                return phrases.BELOW
            case Answer.INSTEAD:
                return typed
            case _:
                return None

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        while True:
            match self._ask(phrases.HAPPENED).lower()[:1]:
                case "h":
                    return {"verdict": "happened", "reason": self._ask(phrases.HOW_KNOWN)}
                case "n":
                    return {"verdict": "did_not_happen", "reason": self._ask(phrases.HOW_KNOWN)}
                case "l":
                    self._screen.say(f"  suma effects resolve {question['approval_id']}", "dim")
                    return None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        prompt = phrases.NUMBER_OR_WORDS if len(candidates) > 1 else phrases.ANSWER
        text = self._ask(prompt)
        if not question.rstrip().endswith("?"):
            # It asks for words, such as other ones: a yes answers nothing, and a no leaves it.
            while classify(text) is Answer.YES:
                text = self._ask(prompt)
            text = "" if classify(text) is Answer.NO else text
        if text.isdecimal() and 1 <= int(text) <= len(candidates):
            chosen = candidates[int(text) - 1]
            skill = chosen.get("skill")
            return Reply(skill or chosen["description"], skill)
        return Reply(text) if text else None

    def allows(self, to: str) -> Permission:
        """Ask for a plain yes or no; keep any other text as the next request."""
        prompt, next_request = f"{to} {phrases.CHOICES}", ""
        while (
            (answer := classify(typed := _typed(prompt))) not in (Answer.YES, Answer.NO)
            and typed
            and not starts_with_no(typed)
        ):
            if answer is Answer.INSTEAD:
                next_request = typed
                self._screen.tell(phrases.FIRST_THIS, "dim", text=words.line(typed))
        return Permission(answer is Answer.YES, next_request)

    def agrees(self, to: str, *, enter: bool) -> bool:
        """Ask for a plain yes or no. `enter` is the meaning of Enter alone."""
        prompt = f"{to} {phrases.CHOICES}"
        while (answer := classify(typed := _typed(prompt))) is not Answer.NO:
            if answer is Answer.YES or (enter and not typed):
                return True
            if not typed:
                return False
        return False

    def _ask(self, *what: str) -> str:
        return _typed(", ".join(what))

    def _leave_out(self, items: Sequence[Mapping[str, Any]], which: str | None) -> list[str]:
        if which is None:
            self._screen.items(items, len(items))
        try:
            numbers = parse_selection(which or self._ask(phrases.LEAVE_OUT), len(items))
        except InvalidSelection as error:
            self._screen.say(str(error), "dim")
            return []
        return [str(items[n - 1]["id"]) for n in numbers]


def _typed(prompt: str) -> str:
    """Prompt for a line. Raises `InputClosed` at the end of input, KeyboardInterrupt at Ctrl-C."""
    try:
        return str(typer.prompt(prompt, default="", show_default=False)).strip()
    except typer.Abort as abort:
        if isinstance(abort.__context__, EOFError):
            raise InputClosed from None
        raise KeyboardInterrupt from None


class Unattended:
    """Automatic answers, which never resolve an unknown effect."""

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        raise AnswerRequired(
            f"{words.plain(question['title'])} Find out, then run suma effects resolve {question['approval_id']}"
        )


class AutoApprove(Unattended):
    """Answers of `--yes`: approve each question, exclude items modified since, and fail at a clarification.

    A commit is approved once. A failed commit is asked about again, and would fail again.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._left_out: set[str] = set()

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        exclude = conflicting(question)
        if (trouble := question.get("trouble")) or (exclude and self._left_out.issuperset(exclude)):
            why = trouble or "files that were left out have changed again"
            again = f"retry with `suma chat --session {self._session}`"
            raise NotDone(f"nothing was changed: {words.plain(why)} ({again})")
        self._left_out.update(exclude)
        return {"verdict": "override", "exclude": exclude} if exclude else {"verdict": "approve"}

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        raise AnswerRequired(f"--yes cannot answer this: {words.plain(question)}")


class DryRun(Unattended):
    """Answers of `--dry-run`: approve nothing. The first question ends the turn after it is shown."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise PreviewComplete

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        raise PreviewComplete(question)


class NonInteractive(Unattended):
    """Answers without a terminal and without `--yes`: the question stays open in the inbox."""

    def __init__(self, session: str) -> None:
        self._session = session

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise AnswerRequired(self._open(question["title"]))

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        raise AnswerRequired(self._open(question))

    def _open(self, question: str) -> str:
        again = f"suma chat --session {self._session}"
        return f"waiting for your answer: {words.plain(question)} (resume with `{again}`)"


class InvalidSelection(ValueError):
    """The numbers do not select listed items."""

    def __init__(self, template: str, /, **values: object) -> None:
        super().__init__(template.format(**values))


def parse_selection(text: str, most: int) -> list[int]:
    """Parse `1,3-5` into numbers from 1 to `most`. Raises `InvalidSelection`."""
    numbers: list[int] = []
    for part in text.replace(" ", ",").split(","):
        first, _, last = part.partition("-")
        if not part:
            continue
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise InvalidSelection(phrases.NO_NUMBER, text=repr(part))
        if int(last or first) > most:
            raise InvalidSelection(phrases.NO_SUCH, n=last or first, most=most)
        numbers += range(int(first), int(last or first) + 1)
    if wrong := [n for n in numbers if n < 1]:
        raise InvalidSelection(phrases.NO_SUCH, n=wrong[0], most=most)
    return sorted(set(numbers))
