"""The files that contain a text, and those that lack it: the choice of a listing by content.

A text is found as whole words, whatever their case and accents, and across line ends. A place that denies it ("NOT paid
yet", "paid: no", "to be paid") says the opposite: a file that has it in such places alone lacks it. Each such file is
reported with its line, for both choices; a document that could not be read is in neither choice, and reported with the
reason.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from libs.search.words import fold
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.texts import Texts, temporary
from services.tool_executor.tools.tool_context import Args, FileTexts, ToolContext, TooMuch

ASKED = ("containing", "lacking")
NEAR_MOST = 100
"""Characters before and after a mention that may deny it: a line may be as long as its file."""
LINE_MOST, LINES_MOST, NAMED_MOST = 100, 40, 10
_STILL = r"(?:\s+(?:yet|been|be|fully|completely|quite|all))"
_NOT = r"not|never|no|nor|un|non|(?:is|was|has|have|are|were)n['’]?t"
_IF = r"(?:to|must|should|shall|will|can|may)\s+be|if|unless|until|when"
DENIED_BEFORE = re.compile(rf"(?<!\w)(?:{_NOT}){_STILL}{{0,3}}[\s-]+$")
OPEN_BEFORE = re.compile(rf"(?<!\w)(?:{_IF}){_STILL}{{0,3}}\s+$")
DENIED_AFTER = re.compile(
    r"\s{0,9}(?:[:=?]|\s[-–—])\s{0,9}(?:no|not|nope|never|open|pending)(?!\w)|\s{1,9}no\s{0,9}[.!]*\s{0,9}$"
    r"|\s{0,9}[:=?]?\s{0,9}(?:_{2,}|\[\s{0,9}\])"
)
STATE = re.compile(r"\w*(?:ed|id|one|ent|\w\w\wt)")
"""Words of a condition: "if paid" does not say that it is paid, while "if Hobbs calls" names Hobbs."""


@dataclass(frozen=True, slots=True)
class Mention:
    """The mention of the wanted words in one text: the line that has them, and whether every such line denies them."""

    line: str
    denied: bool = False


@dataclass(slots=True)
class Containing:
    """Chooses for one listing; each file is looked into once."""

    wanted: str
    lacks: bool
    texts: FileTexts
    most: int
    """Files that are looked into."""
    lines: dict[str, str] = field(default_factory=dict)
    """The first matching line of each file that matches."""
    denied: dict[str, str] = field(default_factory=dict)
    _known: dict[str, bool] = field(default_factory=dict)

    def kept(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the chosen files, in their order. Raises `TooMuch`."""
        self._look([node for node in nodes if node.path not in self._known and _may_say(node)])
        return [node for node in nodes if self._known.get(node.path, False)]

    def as_data(self) -> dict[str, Any]:
        """Return what the list alone does not say."""
        unread = self.texts.unread
        by_reason = Counter(why.value for why in unread.values())
        return {
            "by": {"word": self.wanted, "lacks": self.lacks},
            **({"lines": dict([*self.lines.items()][:LINES_MOST])} if self.lines else {}),
            **({"denied": dict([*self.denied.items()][:NAMED_MOST])} if self.denied else {}),
            **(
                {"unread": {"count": len(unread), "why": dict(by_reason), "paths": sorted(unread)[:NAMED_MOST]}}
                if unread
                else {}
            ),
        }

    def _look(self, nodes: Sequence[Node]) -> None:
        if len(self._known) + len(nodes) > self.most:
            raise TooMuch(f"more than {self.most} files would be looked into; say of which folder or kind they are")
        for path, text in self.texts.of([node.path for node in nodes]):
            found = mention_of(self.wanted, text)
            if found is None and path in self.texts.cut:
                self.texts.unread[path] = SkipReason.TOO_LARGE
                text = ""
            self._known[path] = self._chosen(path, text, found)

    def _chosen(self, path: str, text: str, found: Mention | None) -> bool:
        if found is None:
            return self.lacks and bool(text.strip())
        chosen = found.denied is self.lacks
        if chosen:
            self.lines[path] = found.line
        elif found.denied:
            self.denied[path] = found.line
        return chosen


def asked(context: ToolContext, args: Args) -> Containing | None:
    """Return the choice that a listing's args ask for, or None."""
    name = next((name for name in ASKED if name in args), None)
    if name is None:
        return None
    texts = context.texts or Texts(context.stage, context.limits, time.monotonic, check=context.check)
    return Containing(args[name], name == "lacking", texts, context.looked_into)


def mention_of(wanted: str, text: str) -> Mention | None:
    """Return the place where a text has the words: the first that does not deny them, else the first."""
    lines = text.split("\n")
    plain = "\n".join(map(fold, lines))
    may_be = STATE.fullmatch(fold(wanted)) is not None
    found = [(place.start(), _denied(plain, place, may_be=may_be)) for place in _pattern(wanted).finditer(plain)]
    if not found:
        return None
    at, denied = next((one for one in found if not one[1]), found[0])
    return Mention(_short(lines[plain.count("\n", 0, at)]), denied)


def _pattern(wanted: str) -> re.Pattern[str]:
    words = fold(wanted).split()
    first, last = (r"(?<!\w)" if re.match(r"\w", words[0]) else ""), (r"(?!\w)" if re.search(r"\w$", words[-1]) else "")
    return re.compile(first + r"\s+".join(map(re.escape, words)) + last)


def _denied(plain: str, place: re.Match[str], *, may_be: bool) -> bool:
    before = plain[max(0, place.start() - NEAR_MOST) : place.start()].rpartition("\n")[2]
    after = plain[place.end() : place.end() + NEAR_MOST].partition("\n")[0]
    if DENIED_BEFORE.search(before) or DENIED_AFTER.match(after):
        return True
    return may_be and OPEN_BEFORE.search(before) is not None


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LINE_MOST else f"{line[: LINE_MOST - 1]}…"


def _may_say(node: Node) -> bool:
    return node.kind == "file" and not temporary(node.name)
