"""A request as ordered clauses: each has its own reading, or names files to leave alone.

The whole sentence is tried first, then every way to cut it at its joints; the cut with the fewest words left over
wins, then the one with the fewest clauses. A clause without a verb takes that of the clause before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from libs.models.offline.deadline import Deadline
from libs.models.offline.intents import Intents, Reading
from libs.models.offline.lexicon import Lexicon
from libs.models.offline.selection import Selection
from libs.models.offline.slots import Slots, Value
from libs.models.offline.tokens import Token
from libs.skills import Effect, Intent, Slot, ToolDefinition

JOINTS_MOST, WORDS_MOST = 12, 60
"""Bounds of one clause; the rest of a longer one is not read, so that its cost is bounded."""
ENDS = frozenset((".", "!", "?", ";"))
JOINTS = frozenset((",", ":", "and", "then", "but", "(", ")"))
AS_IT_IS = "alone|in place|as it is|as they are|untouched|where it is|where they are|out|here|safe|in peace|there"
KEEPING = Intent(
    say=(
        f"[only] (keep|leave|spare|preserve) [only] {{files}} [{AS_IT_IS}]",
        "do not (touch|delete|remove|move|rename|change|zip|copy|include|sort|pack|take|bin) {files}",
        "not {files}",
        f"{{files}} (stays|stay|should stay|must stay|can stay|shall stay|remain|remains) [{AS_IT_IS}]",
        "(skip|ignore|omit|leave out) {files}",
        "(except|except for|apart from|excluding|with the exception of|other than|but not|aside from) {files}",
        "never (touch|delete|move) {files}",
    ),
    slots={"files": Slot(type="selection", param="files")},
)
KEEP = ToolDefinition(
    "keep", "", "", None, "", mutates=False, effect=Effect.READ, params={}, returns={}, intents=(KEEPING,)
)
"""No tool: what a request asks to leave alone."""


_ABLE = r"(?:could|can|would|will|might)"
_GOOD = r"(?:glad|happy|grateful|thankful|delighted|nice|great|good|lovely|wonderful|perfect|helpful|kind|a great help)"
ASIDE = re.compile(
    rf"""(?:{_ABLE}|may)\ (?:i|we)\ (?:ask|trouble|get|have)\ you\ to
    | {_ABLE}\ you(?:\ (?:please|kindly|possibly|perhaps|just|quickly|be\ so\ kind\ (?:as\ to|and)|be\ able\ to|mind))*
    | would\ it\ be\ possible(?:\ for\ you)?\ to | (?:is\ there\ )?any\ chance(?:\ that)?\ you\ {_ABLE}
    | (?:i|it)\ would\ (?:really\ |very\ much\ )?(?:be|like|love|appreciate|help)(?:\ (?:it|very|so|really|most))*
      (?:\ {_GOOD})?\ (?:if\ you\ {_ABLE}(?:\ please)?|for\ you\ to|you\ to|to)
    | i\ (?:was\ |am\ )?(?:just\ )?(?:wonder|wondering|hoping|hope)(?:\ (?:if|whether|that))?\ you\ {_ABLE}
    | do\ you\ think\ you\ {_ABLE} | (?:i|we)\ (?:just\ |really\ )?(?:want|need)(?:\ you)?\ to
    | do\ me\ a\ (?:small\ |big\ )?favou?r\ and | be\ (?:so\ kind|a\ dear|kind\ enough)(?:\ as)?\ (?:to|and)
    | (?:if|when(?:ever)?)\ (?:possible
      |you\ (?:have|get|find)\ (?:a\ |some\ |the\ )?(?:time|moment|chance|minute|second)
      |you\ (?:can|could|would|will|please|like|do\ not\ mind|would\ not\ mind)
      |(?:it|that)\ is\ (?:ok|okay|fine|possible|no\ trouble|not\ too\ much\ (?:trouble|to\ ask)))
    | (?:please\ and\ )?(?:thank\ you|thanks)(?:\ (?:very\ much|so\ much|a\ lot|in\ advance))*
    | (?:that|it)\ would\ be\ {_GOOD} | (?:i\ would\ )?appreciate\ it | much\ appreciated | for\ me
    """,
    re.VERBOSE,
)
"""Politeness, at any place: "if you don't mind" is no condition."""
THEM = frozenset(("them", "it", "these", "those", "all"))
PARTICLES = frozenset(("up", "out", "away", "down", "off"))


@dataclass(frozen=True)
class Clause:
    """A part of a request with its best readings; none where it was not understood."""

    span: tuple[Token, ...]
    readings: tuple[Reading, ...] = ()
    around: Value | None = None
    """A place before or after it: "in the folder old, delete …", "…, subfolders included"."""
    note: str = ""
    """A remark that the answer repeats."""

    @property
    def best(self) -> Reading | None:
        return self.readings[0] if self.readings else None

    @property
    def sparing(self) -> Clause:
        """Return it as what to leave alone, if it says so: after a clause, "keep those in Docs" moves nothing there."""
        kept = tuple(each for each in self.readings if each.tool is KEEP and each.complete)
        return replace(self, readings=kept) if kept and self.span[0].low in ("keep", "leave") else self

    @property
    def left(self) -> tuple[Token, ...]:
        """The words that nothing owns."""
        return self.best.unowned if self.best else self.span

    @property
    def keeps(self) -> tuple[Selection, ...] | None:
        """The files to leave alone; None if it asks for something else."""
        return self.best.values["files"].meant if self.best and self.best.tool is KEEP else None


class Clauses:
    """Cuts the sentences of one request."""

    def __init__(self, intents: Intents, slots: Slots, lexicon: Lexicon, deadline: Deadline) -> None:
        self._intents, self._slots, self._lexicon, self._deadline = intents, slots, lexicon, deadline
        self._verb: tuple[str, ...] = ()

    def of(self, tokens: Sequence[Token]) -> list[Clause]:
        """Return the clauses of a request, in order."""
        parts = list(sentences(tokens))
        return [clause for sentence in parts for clause in self._cut(sentence, alone=len(parts) == 1)]

    def _cut(self, sentence: Sequence[Token], *, alone: bool) -> list[Clause]:
        # A colon parts a title from what it announces, where it is not just a mark.
        whole = self._read([token for token in sentence if token.low != ":" or token.kind != "mark"], alone=alone)
        if whole is None or (whole.best and not whole.left):
            return self._noted([whole] if whole else [])
        if (around := self._around(sentence) or self._topic(sentence)) is not None:
            return self._noted([around])
        if (apart := self._apart(sentence)) is not None:
            return self._noted(apart)
        joints = [at for at, token in enumerate(sentence) if token.low in JOINTS and token.kind in ("word", "mark")]
        if not joints or len(joints) > JOINTS_MOST:
            return self._noted([whole])
        return self._noted(self._best(sentence, joints, whole))

    def _around(self, sentence: Sequence[Token]) -> Clause | None:
        """Read a clause with a place before or after it, separated by a comma."""
        commas = [at for at, token in enumerate(sentence) if token.low == "," and token.kind == "mark"]
        for at in {*commas[:1], *commas[-1:]}:
            for place, rest in ((sentence[:at], sentence[at + 1 :]), (sentence[at + 1 :], sentence[:at])):
                found = self._slots.read("within", place) if place and rest else None
                if found is None or found.unowned or found.doubt or not _is_place(found.meant):
                    continue
                clause = self._read(rest)
                if clause is not None and clause.best and clause.best.complete and clause.best.tool is not KEEP:
                    return replace(clause, around=found)
        return None

    def _apart(self, sentence: Sequence[Token]) -> list[Clause] | None:
        """Read an exception behind a whole clause: "move everything to Docs except the PDFs"."""
        words = [token.low if token.kind == "word" else "" for token in sentence]
        for at in (at for at in range(2, len(words)) if self._lexicon["except"].at(words, at)):
            first, kept = self._read(sentence[:at]), self._read(sentence[at:])
            if first and first.best and first.best.complete and kept and kept.keeps and not kept.left:
                return [first, kept]
        return None

    def _best(self, sentence: Sequence[Token], joints: Sequence[int], whole: Clause) -> list[Clause]:
        """Return the best cut, from the left: the cost of each prefix is known before it is needed."""
        starts, known = [-1, *joints], len(sentence)
        found: dict[int, tuple[tuple[int, int], list[Clause]]] = {-1: ((0, 0), [])}
        for end in (*joints, known):
            options = []
            for start in starts:
                if start >= end or start not in found:
                    continue
                cost, before = found[start]
                span = sentence[start + 1 : end]
                # What follows "but" is not done: it never takes the verb before.
                verb = () if start >= 0 and sentence[start].low == "but" else _verb(before) or self._verb
                clause = self._read(span, verb) if (start, end) != (-1, known) else whole
                if clause and before:
                    clause = clause.sparing
                left = len(clause.left) if clause else 0
                options.append(((cost[0] + left, cost[1] + bool(clause)), [*before, *([clause] if clause else [])]))
            found[end] = min(options, key=lambda option: option[0])
        return found[known][1]

    def _noted(self, clauses: list[Clause]) -> list[Clause]:
        self._verb = _verb(clauses) or self._verb
        return clauses

    def _read(self, span: Sequence[Token], verb: Sequence[str] = (), *, alone: bool = False) -> Clause | None:
        """One clause; None where nothing but courtesy is in it."""
        self._deadline.check()
        bare = stripped(span, self._lexicon)
        if not bare:
            return None
        if len(bare) > 1 and bare[0].low == "only" and bare[1].low in self._intents.verbs:
            del bare[0]
        bare[0] = _plain(bare[0], self._intents.verbs)
        if len(bare) > WORDS_MOST:
            return Clause(tuple(bare))
        found = self._readings(bare, whole=alone)
        if (
            verb
            and not (found and found[0].complete and found[0].verb)
            and bare[0].low not in (*self._intents.verbs, "only", "just")
        ):
            start = bare[0].start
            said = [Token(word, word, start, start) for word in verb]
            lent = self._readings([*said, *bare])
            found = [reading for reading in lent if reading.complete] or found
        return Clause(tuple(bare), tuple(found))

    def _readings(self, bare: Sequence[Token], *, whole: bool = False) -> list[Reading]:
        """Return the readings. "Bundle the drafts up" is tried as "bundle up the drafts" if it is not understood."""
        found = self._intents.readings(bare, self._slots, self._deadline, whole=whole)
        if (found and found[0].complete) or bare[0].low not in self._intents.verbs:
            return found
        for at in (at for at, token in enumerate(bare[1:], 1) if token.low in PARTICLES):
            joined = self._intents.readings(
                [bare[0], bare[at], *bare[1:at], *bare[at + 1 :]], self._slots, self._deadline
            )
            if joined and joined[0].complete:
                return joined
        return found

    def _topic(self, sentence: Sequence[Token]) -> Clause | None:
        """Read "the duplicates, delete them" as "delete the duplicates"."""
        comma = next((at for at, token in enumerate(sentence) if token.low in (",", ":", "-")), 0)
        topic, rest = sentence[:comma], stripped(sentence[comma + 1 :], self._lexicon)
        if not topic or len(rest) < 2 or rest[0].low not in self._intents.verbs or topic[0].low in self._intents.verbs:
            return None
        at = next((at for at, token in enumerate(rest) if token.low in THEM and token.kind == "word"), None)
        clause = self._read([*rest[:at], *topic, *rest[at + 1 :]]) if at else None
        return clause if clause and clause.best and clause.best.complete and clause.best.tool is not KEEP else None


def _is_place(said: Sequence[Selection]) -> bool:
    """Return whether only a place is given."""
    return all(each.placed and not replace(each, folders=(), placed=False).bounded for each in said)


def stripped(span: Sequence[Token], lexicon: Lexicon) -> list[Token]:
    """Without courtesy around it, and without "please" anywhere."""
    kept = [token for token in span if not (token.kind == "word" and token.low in ("please", "pls", "kindly"))]
    words = [token.low if token.kind != "quote" else "" for token in kept]
    while words and (found := lexicon["courtesy"].at(words, 0)):
        del kept[: found[0]], words[: found[0]]
    while words and (size := _closing(words, lexicon)):
        del kept[-size:], words[-size:]
    return kept


def without_asides(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without polite asides."""
    words = [token.low if token.kind == "word" and token.low.isalpha() else "_" for token in tokens]
    kept: list[Token] = []
    at = 0
    while at < len(tokens):
        found = ASIDE.match(text := " ".join(words[at:]))
        size = found[0].count(" ") + 1 if found and text[found.end() : found.end() + 1] in ("", " ") else 0
        kept += tokens[at : at + 1] if not size else []
        at += size or 1
    return kept


def _plain(token: Token, verbs: frozenset[str]) -> Token:
    """`delete` for "would you mind deleting"."""
    stem = token.low.removesuffix("ing")
    if token.kind != "word" or token.low in verbs or stem == token.low:
        return token
    found = next((verb for verb in (stem, f"{stem}e", stem[:-1]) if verb in verbs), None)
    return replace(token, low=found) if found else token


def _closing(words: Sequence[str], lexicon: Lexicon) -> int:
    if words[-1] in ENDS:
        return 1
    if words[-1] == "first" and lexicon.sorted.all(words[-2:]):
        return 0
    return next((size for size in range(min(5, len(words)), 0, -1) if lexicon["courtesy"].all(words[-size:])), 0)


def sentences(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Parted at marks that end one."""
    part: list[Token] = []
    for token in tokens:
        if token.kind == "mark" and token.low in ENDS:
            if part:
                yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _verb(clauses: Sequence[Clause]) -> tuple[str, ...]:
    return next((clause.best.verb for clause in reversed(clauses) if clause.best and clause.best.tool is not KEEP), ())
