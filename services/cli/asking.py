"""Questions of a turn and who answers them: a person at the terminal, in any language's letters, or `--yes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import typer

from services.cli import phrases, words
from services.cli.errors import NobodyToAsk
from services.cli.hearing import Heard, heard, refuses
from services.cli.phrases import Phrases
from services.cli.show import Screen


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person says to a clarification: words, or one of the candidate skills."""

    text: str
    skill: str | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """Whether something may be done, and what a person has said there that is no answer to that."""

    yes: bool
    wish: str = ""


class Otherwise(Exception):
    """Nothing of what is proposed, but this."""


class Gone(Exception):
    """The person has left at a question (Ctrl-D), which stays open."""


NAME_MOST = 30
"""Letters of a name within a prompt."""


class Person(Protocol):
    """Whoever is asked."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body of the answer to an approval: verdict, and reason, exclude or args. Raises `Otherwise` with what
        they want in its place.
        """
        ...

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The body of the answer to whether something happened; None for whoever cannot tell now."""
        ...

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        """None for whoever would rather drop it."""
        ...


def conflicting(question: Mapping[str, Any]) -> list[str]:
    """The items that someone else changed meanwhile: only without them the rest can be committed."""
    return [item["id"] for item in question["items"] if item.get("conflict")]


class Terminal:
    """Asks at the terminal, below what the screen has shown."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        items = question["items"]
        while True:
            said = _typed(self._choices(items))
            if items and (some := phrases.SOME.fullmatch(said)):
                if left_out := self._leave_out(items, some["which"]):
                    return {"verdict": "override", "exclude": left_out}
                continue
            if items and phrases.SHOW_ALL.fullmatch(said):
                self._screen.items(items, len(items))
                continue
            match heard(said):
                case Heard.YES:
                    return {"verdict": "approve"}
                case Heard.NO:
                    return {"verdict": "deny", "reason": self._why() if len(said.split()) == 1 else said}
                case Heard.INSTEAD:
                    raise Otherwise(said)
                case _:
                    self._screen.tell(phrases.UNCLEAR, "dim")

    def _choices(self, items: Sequence[Mapping[str, Any]]) -> str:
        """What can be said, with one of the names that stand above."""
        told = [phrases.CHOICES, *([phrases.EXCLUDE] if items else [])]
        there = [item.get("source") or item["id"] for item in items if item.get("change") in ("deleted", "moved")]
        name = words.line(str(there[0]).rpartition("/")[2], NAME_MOST) if len(there) > 1 else ""
        other = self._screen.words(phrases.SUCH_AS, name=name) if name else self._screen.words(phrases.OTHERWISE)
        return ", ".join((*map(self._screen.words, told), other))

    def _why(self) -> str:
        """A no may say what is wanted instead; a word or two of it are only a reason."""
        said = self._ask(phrases.WHAT_INSTEAD)
        if heard(said) is Heard.INSTEAD:
            raise Otherwise(said)
        return said

    def wider(self, answer: str) -> str | None:
        """An answer has found nothing but in subfolders: what the person says to that; None where they leave it."""
        asked = () if answer.rstrip().endswith("?") else (phrases.TAKE_BELOW,)
        match heard(said := self._ask(*asked, phrases.CHOICES, phrases.OTHERWISE)):
            case Heard.YES:
                return self._screen.words(phrases.BELOW)
            case Heard.INSTEAD:
                return said
            case _:
                return None

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        happened, not_happened, later = (*phrases.HAPPENED_LETTERS[self._screen.language],)
        while True:
            match self._ask(phrases.HAPPENED).lower()[:1]:
                case said if said == happened:
                    return {"verdict": "happened", "reason": self._ask(phrases.HOW_KNOWN)}
                case said if said == not_happened:
                    return {"verdict": "did_not_happen", "reason": self._ask(phrases.HOW_KNOWN)}
                case said if said == later:
                    self._screen.say(f"  suma effects resolve {question['approval_id']}", "dim")
                    return None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        text = self._ask(phrases.NUMBER_OR_WORDS if len(candidates) > 1 else phrases.ANSWER)
        if text.isdecimal() and 1 <= int(text) <= len(candidates):
            skill = str(candidates[int(text) - 1]["skill"])
            return Reply(skill, skill)
        return Reply(text) if text else None

    def allows(self, to: str) -> Allowed:
        """A plain yes or no; what else is typed there is wanted next, and kept."""
        prompt, wish = f"{to} {self._screen.words(phrases.CHOICES)}", ""
        while (meant := heard(said := _typed(prompt))) not in (Heard.YES, Heard.NO) and said and not refuses(said):
            if meant is Heard.INSTEAD:
                wish = said
                self._screen.tell(phrases.FIRST_THIS, "dim", said=words.line(said))
        return Allowed(meant is Heard.YES, wish)

    def agrees(self, to: str, *, enter: bool) -> bool:
        """A plain yes or no. `enter` is what Enter alone means."""
        prompt = f"{to} {self._screen.words(phrases.CHOICES)}"
        while (meant := heard(said := _typed(prompt))) is not Heard.NO:
            if meant is Heard.YES or (enter and not said):
                return True
            if not said:
                return False
        return False

    def _ask(self, *what: Phrases) -> str:
        return _typed(", ".join(self._screen.words(one) for one in what))

    def _leave_out(self, items: Sequence[Mapping[str, Any]], which: str | None) -> list[str]:
        if which is None:
            self._screen.items(items, len(items))
        try:
            numbers = chosen(which or self._ask(phrases.LEAVE_OUT), len(items))
        except NoChoice as error:
            self._screen.tell(error.said, "dim", **error.values)
            return []
        return [str(items[n - 1]["id"]) for n in numbers]


def _typed(prompt: str) -> str:
    """Raises `Gone` at the end of what is typed; Ctrl-C is an `Abort` as ever."""
    try:
        return str(typer.prompt(prompt, default="", show_default=False)).strip()
    except typer.Abort as abort:
        if isinstance(abort.__context__, EOFError):
            raise Gone from None
        raise


class Yes:
    """`--yes`: approves what is asked, leaves out what someone else changed, and cannot answer a real question."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        exclude = conflicting(question)
        return {"verdict": "override", "exclude": exclude} if exclude else {"verdict": "approve"}

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        raise NobodyToAsk(_unknown(question))

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        raise NobodyToAsk(f"the request is not clear, and --yes is no answer: {words.plain(question)}")


class Nobody:
    """No terminal and no --yes: the question stays open in the inbox."""

    def __init__(self, session: str) -> None:
        self._session = session

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise NobodyToAsk(self._open(question["title"]))

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        raise NobodyToAsk(_unknown(question))

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply | None:
        raise NobodyToAsk(self._open(question))

    def _open(self, question: str) -> str:
        again = f"suma chat --session {self._session}"
        return f"this waits for an answer: {words.plain(question)} (`{again}` asks it again)"


def _unknown(question: Mapping[str, Any]) -> str:
    return f"{words.plain(question['title'])} Find out, and say it: suma effects resolve {question['approval_id']}"


class NoChoice(ValueError):
    """These are not numbers of what is listed; why, in every language."""

    def __init__(self, said: Phrases, /, **values: object) -> None:
        super().__init__(said["en"].format(**values))
        self.said, self.values = said, values


def chosen(text: str, most: int) -> list[int]:
    """`1,3-5` as numbers from 1 to `most`. Raises `NoChoice`."""
    numbers: list[int] = []
    for part in text.replace(" ", ",").split(","):
        first, _, last = part.partition("-")
        if not part:
            continue
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise NoChoice(phrases.NO_NUMBER, said=repr(part))
        if int(last or first) > most:
            raise NoChoice(phrases.NO_SUCH, n=last or first, most=most)
        numbers += range(int(first), int(last or first) + 1)
    if wrong := [n for n in numbers if n < 1]:
        raise NoChoice(phrases.NO_SUCH, n=wrong[0], most=most)
    return sorted(set(numbers))
