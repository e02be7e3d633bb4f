"""Questions of a turn and who answers them: a person at the terminal, or `--yes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import typer

from services.cli import words
from services.cli.errors import NobodyToAsk
from services.cli.show import Screen


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person says to a clarification: words, or one of the candidate skills."""

    text: str
    skill: str | None = None


class Person(Protocol):
    """Whoever is asked."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body of the answer to an approval: verdict, and reason, exclude or args."""
        ...

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The body of the answer to whether something happened; None for whoever cannot tell now."""
        ...

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply: ...


def conflicting(question: Mapping[str, Any]) -> list[str]:
    """The items that someone else changed meanwhile: only without them the rest can be committed."""
    return [item["id"] for item in question["items"] if item.get("conflict")]


class Terminal:
    """Asks at the terminal, below what the screen has shown."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        items = question["items"]
        choices = ", ".join(["[a]pprove", "[d]eny", *(["e[x]clude some"] if items else [])])
        while True:
            match typer.prompt(choices, default="", show_default=False).strip().lower():
                case "a" | "y" | "yes" | "approve":
                    return {"verdict": "approve"}
                case "d" | "n" | "no" | "deny":
                    return {"verdict": "deny", "reason": typer.prompt("Why (optional)", default="", show_default=False)}
                case "x" | "exclude" if items:
                    if left_out := self._leave_out(items):
                        return {"verdict": "override", "exclude": left_out}

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        while True:
            match typer.prompt("[h]appened, did [n]ot happen, [l]ater", default="", show_default=False).strip().lower():
                case "h" | "happened":
                    return {"verdict": "happened", "reason": self._how()}
                case "n" | "not":
                    return {"verdict": "did_not_happen", "reason": self._how()}
                case "l" | "later":
                    self._screen.say(f"  suma effects resolve {question['approval_id']}", "dim")
                    return None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        text = typer.prompt("Your answer")
        if text.isdecimal() and 1 <= int(text) <= len(candidates):
            skill = str(candidates[int(text) - 1]["skill"])
            return Reply(skill, skill)
        return Reply(text)

    def _how(self) -> str:
        return str(typer.prompt("How do you know (optional)", default="", show_default=False))

    def _leave_out(self, items: Sequence[Mapping[str, Any]]) -> list[str]:
        self._screen.items(items, len(items))
        text = typer.prompt("Numbers to leave out, such as 1,3-5", default="", show_default=False)
        try:
            return [str(items[n - 1]["id"]) for n in chosen(text, len(items))]
        except ValueError as error:
            self._screen.say(str(error), "dim")
            return []


class Yes:
    """`--yes`: approves what is asked, leaves out what someone else changed, and cannot answer a real question."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        exclude = conflicting(question)
        return {"verdict": "override", "exclude": exclude} if exclude else {"verdict": "approve"}

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        raise NobodyToAsk(_unknown(question))

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        raise NobodyToAsk(f"the request is not clear, and --yes is no answer: {words.plain(question)}")


class Nobody:
    """No terminal and no --yes: the question stays open in the inbox."""

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise NobodyToAsk(f"this waits for an answer: {words.plain(question['title'])} (`suma chat` asks it again)")

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        raise NobodyToAsk(_unknown(question))

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        raise NobodyToAsk(f"this waits for an answer: {words.plain(question)} (`suma chat` asks it again)")


def _unknown(question: Mapping[str, Any]) -> str:
    return f"{words.plain(question['title'])} Find out, and say it: suma effects resolve {question['approval_id']}"


def chosen(text: str, most: int) -> list[int]:
    """`1,3-5` as numbers from 1 to `most`. Raises ValueError in words for a person."""
    numbers: list[int] = []
    for part in text.replace(" ", ",").split(","):
        first, _, last = part.partition("-")
        if not part:
            continue
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise ValueError(f"{part!r} is no number")
        numbers += range(int(first), int(last or first) + 1)
    if wrong := [n for n in numbers if not 1 <= n <= most]:
        raise ValueError(f"there is no {wrong[0]}: choose from 1 to {most}")
    return sorted(set(numbers))
