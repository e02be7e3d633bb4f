"""Read text as a shell would: simple commands, each a list of words, however they are spelled.

This reader serves suspicion and is not a shell. It undoes quotes, escapes, continuations, braces, `$IFS` and variables
that the same text sets, and it never fails. Where it is unsure it finds one command too many rather than one too few:
each place at which a shell may start a program (after `;`, `|`, `&`, a newline, inside `$( )` and backticks) begins
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
      (?P<escape>\\.)
    | (?P<ansi>\$'(?:[^'\\]|\\.)*')
    | (?P<single>'[^']*')
    | (?P<double>\$?"(?:[^"\\]|\\.)*")
    | (?P<gap>\$IFS\b|\$\{IFS[^}]{0,32}\}|[ \t\v\f]+)
    | (?P<inner>\$\(|[<>]\(|`|[()])
    | (?P<variable>\$(?:\w+|\{[^}]{0,256}\}|[@*\#?!$-]))
    | (?P<redirect>&>>?|\d{0,2}(?:>>|>\||>&|>|<<<|<<-?|<>|<&|<))
    | (?P<separator>\|\|?&?|&&?|;+|[\r\n\0])
    | (?P<plain>[^\s'"\\$`;&|<>()\0]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

LONGEST_VALUE = 256
"""Most characters kept of a variable, so that `a=$a$a` cannot double forever."""

ASSIGNMENT = re.compile(r"(\w+)\+?=(.*)", re.DOTALL)
BRACES = re.compile(r"\{([^{}]*)\}")
COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Command:
    """One simple command. `starts` is what preceded it: an operator, `(`, `)`, a backtick, or nothing."""

    words: tuple[str, ...]
    starts: str = ""
    redirects: tuple[tuple[str, str], ...] = ()
    nested: tuple[str, ...] = ()
    """Double-quoted texts that hold substitutions of their own."""

    @property
    def piped(self) -> bool:
        return self.starts in ("|", "|&")


def views(text: str) -> Iterator[str]:
    """Return the readings of a text that differ in where quotes begin: whole, without comments, and line by line.

    A quote in a comment or here-document opens nothing, but hides what follows from a reader that assumes it does.
    """
    text = re.sub(r"\\\r?\n", "", text)
    yield text
    if "#" in text:
        yield COMMENT.sub("", text)
    lines = re.split(r"[\r\n]+", text)
    if len(lines) > 1:
        yield from lines


def commands(text: str) -> list[Command]:
    """Return the simple commands of one reading, in order."""
    reader = _Reader()
    for token in TOKEN.finditer(text):
        reader.take(token.lastgroup or "other", token.group())
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self._word: str | None = None
        self._commands: list[Command] = []
        self._variables: dict[str, str] = {}
        self._begin("")

    def take(self, kind: str, token: str) -> None:
        match kind:
            case "separator" | "inner":
                self._end()
                self._begin(token)
            case "gap":
                self._end_word()
            case "redirect":
                self._end_word()
                self._redirect = token
            case _:
                self._word = (self._word or "") + self._meaning(kind, token)

    def finish(self) -> list[Command]:
        self._end()
        return self._commands

    def _begin(self, starts: str) -> None:
        self._starts = starts
        self._words: list[str] = []
        self._redirects: list[tuple[str, str]] = []
        self._nested: list[str] = []
        self._redirect = ""
        self._word = None

    def _end(self) -> None:
        self._end_word()
        if self._words or self._redirects:
            taken = (tuple(self._words), self._starts, tuple(self._redirects), tuple(self._nested))
            self._commands.append(Command(*taken))

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        if self._redirect:
            self._redirects.append((self._redirect.lstrip("0123456789"), word))
            self._redirect = ""
        # `{rm,-rf,/}` is a whole command in one word.
        elif "," in word and (braces := BRACES.fullmatch(word)):
            self._words.extend(braces[1].split(","))
        elif (assigned := ASSIGNMENT.fullmatch(word)) and not self._words:
            self._variables[assigned[1]] = assigned[2][:LONGEST_VALUE]
        elif word:
            self._words.append(word)

    def _meaning(self, kind: str, token: str) -> str:
        match kind:
            case "escape":
                return token[1:]
            case "single":
                return token[1:-1]
            case "double":
                return self._quoted(token.lstrip("$")[1:-1])
            case "ansi":
                return _unescaped(token[2:-1])
            case "variable":
                return _value(token, self._variables)
            case _:
                return token

    def _quoted(self, inner: str) -> str:
        if "$(" in inner or "`" in inner:
            self._nested.append(inner)
        return re.sub(r"\\([$`\"\\])", r"\1", inner)


def _value(token: str, variables: Mapping[str, str]) -> str:
    """Return a variable's value: as the text set it, its default, or empty, as in a fresh shell."""
    name, _, default = token.strip("${}").partition(":")
    return variables.get(name, default[1:] if default[:1] in ("-", "=") else "")


def _unescaped(inner: str) -> str:
    def character(found: re.Match[str]) -> str:
        wide, octal, letter = found[1] or found[2], found[3], found[4]
        if letter is not None:
            return LETTERS.get(letter, letter)
        return chr(int(wide, 16) if wide else int(octal, 8))

    return ESCAPED.sub(character, inner)
