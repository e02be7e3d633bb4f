"""Reasoning before a reply: servers without a parser for it send it as text, in tags or before a closing tag alone."""

from __future__ import annotations

import re

KINDS = ("think", "thinking", "thought", "reasoning")
OPENERS = tuple(f"<{kind}>" for kind in KINDS)
CLOSER = re.compile(rf"</(?:{'|'.join(KINDS)})>\s*")
TAG_MOST = max(len(f"</{kind}>") for kind in KINDS)
JSON_STARTS = ("{", "```")


class Spoken:
    """A reply's text without the reasoning before it, however both are split into pieces.

    With `bare` text is held back until a closing tag or the end, as reasoning may begin without a tag; with `form` the
    reply is JSON, and everything before it is reasoning.
    """

    def __init__(self, *, bare: bool, form: bool = False) -> None:
        self._bare, self._form = bare or form, form
        self._held, self._speaks = "", False
        self.was_bare = False
        """Whether reasoning began without a tag."""

    def piece(self, text: str) -> str:
        """Return what is certainly no reasoning."""
        if self._speaks:
            return text
        # A closing tag may have begun in the piece before; what is older was searched already.
        known = max(0, len(self._held) - TAG_MOST)
        self._held = (self._held + text).lstrip()
        while (tagged := self._held.startswith(OPENERS)) or (self._bare and not self._held.startswith(JSON_STARTS)):
            if (closed := CLOSER.search(self._held, known)) is None:
                return ""
            known = 0
            self.was_bare = self.was_bare or not tagged
            self._bare, self._held = self._form, self._held[closed.end() :]
        if any(opener.startswith(self._held) for opener in OPENERS):
            return ""
        self._speaks = True
        return self._held

    def rest(self) -> str:
        """Return what was held back to the end and is no reasoning."""
        return "" if self._speaks or self._held.startswith(OPENERS) else self._held
