"""The skills' templates matched against a clause: which tool, with which slots, and how sure.

A reading owns words in two ways: a template has them, or a slot's reader does. The other words are left over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from libs.models.offline.deadline import Deadline
from libs.models.offline.lexicon import singular
from libs.models.offline.selection import Doubt
from libs.models.offline.slots import FREE, Slots, Value
from libs.models.offline.tokens import Token
from libs.skills import Form, Hole, Intent, ToolDefinition

NEAR_MOST = 3
"""Examples in a question."""
SLOT_WORD, FREE_WORD, LEFT_WORD = 0.97, 0.75, 0.0
BARE = 0.1
"""Taken from a template without a word of its own."""
NAMED = 0.1
"""Taken from a listing of what is named outright: another tool can say more of it."""
"""The weight of a word in a score, where a template's own word counts 1."""


@dataclass(frozen=True)
class Reading:
    """One meaning of a clause."""

    tool: ToolDefinition
    intent: Intent
    values: Mapping[str, Value] = field(default_factory=dict)
    score: float = 0.0
    free: int = 0
    """The number of words that are taken as text, whatever they say."""
    bound: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Where each slot begins and ends in the clause."""
    verb: tuple[str, ...] = ()
    """The words of the template's beginning, for a clause that leaves them out."""

    @property
    def unowned(self) -> tuple[Token, ...]:
        return tuple(token for value in self.values.values() for token in value.unowned)

    @property
    def doubt(self) -> Doubt | None:
        doubts = (value.doubt for value in self.values.values() if value.doubt)
        return next((doubt for doubt in doubts if self.tool.mutates or not doubt.of_changes), None)

    @property
    def _chosen(self) -> list[Any]:
        return [one for value in self.values.values() if isinstance(value.meant, tuple) for one in value.meant]

    @property
    def chooses(self) -> bool:
        """Return whether it selects some files, and not everything."""
        chosen = self._chosen
        return bool(chosen) and all(getattr(one, "bounded", False) and not one.refers for one in chosen)

    @property
    def takes_all(self) -> bool:
        """Return whether it has no condition at all."""
        return not self.values or any(not getattr(one, "narrowed", True) for one in self._chosen)

    @property
    def refers(self) -> bool:
        """Return whether it depends on files that were named before."""
        single = [value.meant for value in self.values.values()]
        return any(getattr(one, "refers", None) for one in (*self._chosen, *single))

    @property
    def chosen_at(self) -> list[tuple[int, int]]:
        """The places of slots that say which files are meant, and not where they go or what they are called."""
        other = (*FREE, "target", "archive_name", "count")
        return [at for name, at in self.bound.items() if self.intent.slots[name].type not in other]

    def without_unowned(self) -> Reading:
        """Return the reading as if its other words were absent."""
        values = {name: replace(value, unowned=()) for name, value in self.values.items()}
        return replace(self, values=values, score=1.0)

    @property
    def complete(self) -> bool:
        return not self.unowned

    @property
    def meaning(self) -> tuple[Any, ...]:
        """A key that is equal for readings with the same effect."""
        filled = tuple(
            (slot.param, self.values[name].meant) for name, slot in self.intent.slots.items() if name in self.values
        )
        return self.tool.name, tuple(sorted(map(repr, self.intent.set.items()))), filled


class Intents:
    """The templates of a set of tools, by the word that they begin with."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._starting: defaultdict[str, list[_Way]] = defaultdict(list)
        self._open: list[_Way] = []
        self._examples = [(tool.name, text) for tool in tools for text in tool.examples]
        self.shown = frozenset(word.strip("?,") for _, text in self._examples for word in text.lower().split())
        """The words of the examples that questions offer."""
        verbs: set[str] = set()
        words: set[str] = set()
        for tool in tools:
            for intent in tool.intents:
                verbs.update(verb.split()[0] for verb in intent.verbs)
                for form in intent.forms:
                    self._put(_Way(tool, intent, form))
                    words.update(word for part in form if not isinstance(part, Hole) for said in part for word in said)
        self.verbs, self.words = frozenset(verbs), frozenset(words)

    def near(self, words: Sequence[str], grammar: frozenset[str]) -> list[str]:
        """Return a few examples of skills, those with the words of a request first."""
        said = {singular(word) for word in words} - grammar
        begun = {way.tool.name for way in self._starting.get(words[0] if words else "", ())}
        ranked = sorted(
            (-len(said & {*map(singular, text.lower().split())}), tool not in begun, n, text)
            for n, (tool, text) in enumerate(self._examples)
        )
        return [text for *_, text in ranked][:NEAR_MOST]

    def _put(self, way: _Way) -> None:
        """File a form under every word that it may begin with. A form that may begin with a slot is always tried."""
        for part in way.form:
            if isinstance(part, Hole):
                self._open.append(way)
                return
            for word in {said[0] for said in part if said}:
                self._starting[word].append(way)
            if () not in part:
                return

    def readings(
        self, clause: Sequence[Token], slots: Slots, deadline: Deadline, *, whole: bool = False
    ) -> list[Reading]:
        """Every reading, the surest first. One with words left over comes behind all that have none. A template that is
        a slot alone reads a `whole` request only.
        """
        if not clause:
            return []
        # A folder's name, with its capital, says nothing of what is done.
        named = {token for token in clause if token.raw in token.paths and token.raw[:1].isupper()}
        words = {token.low for token in clause if token.kind == "word" and token not in named}
        found: dict[tuple[Any, ...], Reading] = {}
        begun = self._starting.get(clause[0].low, ()) if clause[0].kind != "quote" else ()
        for way in (*begun, *self._open):
            deadline.check()
            if way.open and clause[0].kind == "word" and clause[0].low in self.verbs:
                continue  # A clause that begins with a verb is what the verb says.
            if words.intersection(way.intent.unless) or (
                len(way.form) == 1 and isinstance(way.form[0], Hole) and not whole
            ):
                continue
            for reading in _matches(way, clause, slots, deadline):
                held = found.get(reading.meaning)
                if held is None or (len(reading.unowned), -reading.score) < (len(held.unowned), -held.score):
                    found[reading.meaning] = reading
        # Of those that leave words over, one that the clause's verb begins is nearest to what was meant.
        return sorted(
            found.values(),
            key=lambda each: (not each.complete, not each.verb, len(each.unowned), -each.score, each.tool.name),
        )


@dataclass(frozen=True)
class _Way:
    tool: ToolDefinition
    intent: Intent
    form: Form

    @property
    def open(self) -> bool:
        """Return whether no word is required before its first slot."""
        return isinstance(next((part for part in self.form if isinstance(part, Hole) or () not in part), None), Hole)

    @property
    def bare(self) -> bool:
        """Return whether no word is required at all."""
        return all(isinstance(part, Hole) or () in part for part in self.form)


Bound = Mapping[str, tuple[int, int]]


def _matches(way: _Way, clause: Sequence[Token], slots: Slots, deadline: Deadline) -> Iterator[Reading]:
    for bound in _bindings(way.form, clause, 0, 0, deadline):
        values: dict[str, Value] = {}
        for name, (start, end) in bound.items():
            value = slots.read(way.intent.slots[name].type, clause[start:end])
            if value is None:
                break
            values[name] = value
        else:
            if any(value.unowned for value in values.values()):  # Then it has not understood its free text either.
                asked = (name for name in values if way.intent.slots[name].type == "query")
                values |= {name: replace(values[name], unowned=tuple(clause[slice(*bound[name])])) for name in asked}
            free = sum(end - at for name, (at, end) in bound.items() if way.intent.slots[name].type in FREE)
            score = _score(way, clause, bound, values)
            yield Reading(way.tool, way.intent, values, score, free, bound, _verb(way.form, clause))


def _bindings(form: Form, clause: Sequence[Token], part: int, at: int, deadline: Deadline) -> Iterator[Bound]:
    """Every way to lay a form over a clause, whole."""
    if part == len(form):
        if at == len(clause):
            yield {}
        return
    deadline.check()
    wanted = form[part]
    if isinstance(wanted, Hole):
        ends = [len(clause)] if part + 1 == len(form) else range(at + 1, len(clause) + 1)
        for end in ends:
            if end > at:
                for rest in _bindings(form, clause, part + 1, end, deadline):
                    yield {wanted.slot: (at, end), **rest}
        return
    for said in wanted:
        if _stands(said, clause, at):
            yield from _bindings(form, clause, part + 1, at + len(said), deadline)


def _stands(said: Sequence[str], clause: Sequence[Token], at: int) -> bool:
    return len(said) <= len(clause) - at and all(
        clause[at + n].low == word and clause[at + n].kind != "quote" for n, word in enumerate(said)
    )


def _score(way: _Way, clause: Sequence[Token], bound: Bound, values: Mapping[str, Value]) -> float:
    worth = float(len(clause))
    for name, (start, end) in bound.items():
        each = FREE_WORD if way.intent.slots[name].type in FREE else SLOT_WORD
        left = len(values[name].unowned)
        worth -= (end - start - left) * (1 - each) + left * (1 - LEFT_WORD)
        if (
            not way.intent.slots[name].param
            and isinstance(values[name].meant, tuple)
            and all(getattr(one, "names", ()) for one in values[name].meant)
        ):
            worth -= NAMED * len(clause)
    if way.bare:
        worth -= BARE * len(clause)
    return max(0.0, worth) / len(clause)


def _verb(form: Form, clause: Sequence[Token]) -> tuple[str, ...]:
    first = next((part for part in form if isinstance(part, Hole) or () not in part), None)
    if first is None or isinstance(first, Hole):
        return ()
    return max((said for said in first if _stands(said, clause, 0)), key=len, default=(clause[0].low,))
