"""The offline planner: a request in plain English to a plan, an answer or a question.

It owns every word of a request that changes something, or it asks and quotes what it does not own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from libs.events.committee import MORE_BELOW, Task
from libs.events.values import Candidate, Plan, Step
from libs.guards.allowlist import allows
from libs.models.offline import followups, making, refusals, remembering, texts
from libs.models.offline.clauses import KEEP, WORDS_MOST, Clause, Clauses, without_asides
from libs.models.offline.deadline import Deadline, TooSlow
from libs.models.offline.intents import Intents, Reading
from libs.models.offline.lexicon import Lexicon, lexicon, singular
from libs.models.offline.normalize import mended
from libs.models.offline.selection import Doubt, Ground, Selection
from libs.models.offline.slots import Slots
from libs.models.offline.steps import Ask, ClauseResult, Steps, looks_at_all
from libs.models.offline.tokens import Token, clean, tokens
from libs.models.offline.workspace_index import WorkspaceIndex
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, PlanDraft, PlannerOutcome
from libs.skills import Categories, ToolDefinition, sources

TEXT_MOST = 2000
"""Characters of a request; more is a story."""
SECONDS_MOST = 2.0
SPARED = 0.34
"""The share of a request that only looks that may be left out of it."""
BEFORE = ("one", "many", "these", "thing")
"""How a request refers to files that were named before."""
BEFORE_A_NAME = frozenset(("to", "into", "as", "called", "named"))
YES_OR_NO = re.compile(r"(?:Do you mean|Should I)\b[^?]*\?$")
"""How a question ends to which a yes takes its only offer."""
SETS_MOST = 4
"""Agents differ in the tools that they may use."""
THRESHOLD, GAP = 0.70, 0.05
"""The minimum of a reading's score, and of its lead on the next; a lead of exactly the minimum asks (S4-46)."""


@dataclass(frozen=True)
class Asking:
    """A question, with what is needed to understand the reply."""

    doubt: Doubt

    @property
    def outcome(self) -> ClarificationNeeded:
        doubt, offers = self.doubt, self.doubt.offers or self.doubt.near
        if len(doubt.offers) == 1 and YES_OR_NO.search(doubt.question):
            offers = ("Yes", "No")
        return ClarificationNeeded(doubt.question, doubt.skills, offers=offers)


class Planner:
    """Pure but for its clock and its ids: the same task gives the same plan."""

    def __init__(
        self,
        categories: Categories,
        *,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
        threshold: float = THRESHOLD,
        gap: float = GAP,
        seconds: float = SECONDS_MOST,
    ) -> None:
        self._categories, self._new_id, self._now = categories, new_id, now
        self._threshold, self._gap, self._seconds = threshold, gap, seconds
        self._lexicon = lexicon()
        self._known: dict[tuple[tuple[str, str], ...], Intents] = {}

    def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """Return the plan, the answer or the question. Takes at most about `seconds`."""
        said = [task.text, *task.replies, *([task.clarification] if task.clarification is not None else [])]
        if (length := sum(map(len, said))) > TEXT_MOST:
            return ClarificationNeeded(texts.TOO_LONG.format(length=length, most=TEXT_MOST))
        tools = [tool for tool in catalogue if allows(task.tools, tool.name)]
        self.intents(tools)  # Compiled once, so that no plan pays for it.
        try:
            return self._plan(task, tools, said, Deadline(self._seconds))
        except TooSlow:
            return ClarificationNeeded(texts.TOO_SLOW)

    def _plan(
        self, task: Task, tools: Sequence[ToolDefinition], said: Sequence[str], deadline: Deadline
    ) -> PlannerOutcome:
        work = Work(self, task, tools, deadline)
        if (noted := self._by_facts(work, task, tools)) is not None:
            return noted
        if len(said) == 1 and (made := making.made(task, tools)) is not None:
            return made
        wish = followups.begin(said[0], task.history, work.files)
        wish = wish if work.understands(wish) else said[0]
        outcome = work.read(wish)
        for reply in said[1:]:
            doubt = outcome.doubt if isinstance(outcome, Asking) else None
            after = followups.reply(wish, doubt, reply, work.understands, self._lexicon)
            if after is None:
                return Answered(texts.NO, AnswerKind.ANSWER)
            wish, replaced = after
            if replaced and doubt is not None:
                work.forget()
            outcome = work.read(wish)
        if isinstance(outcome, Asking):
            return outcome.outcome
        return (
            outcome if wish == task.text or not isinstance(outcome, PlanDraft) else PlanDraft(outcome.plan, wish=wish)
        )

    def _by_facts(self, work: Work, task: Task, tools: Sequence[ToolDefinition]) -> PlannerOutcome | None:
        """Return the outcome of a request about facts of the person, or one that such a fact completes."""
        if task.clarification is not None:
            return None
        call = remembering.remembered(task.text)
        tool = next((tool for tool in tools if call is not None and tool.name == call[0]), None)
        if call is not None and tool is not None:
            step = Step(
                step_id=self._new_id(),
                ordinal=1,
                description=task.text[:300],
                skill=tool.skill,
                tool=tool.name,
                args=call[1],
                mutates=tool.mutates,
            )
            return PlanDraft(Plan(plan_id=self._new_id(), reasoning="", steps=(step,)))
        if (answer := remembering.recalled(task)) is not None:
            return Answered(answer)
        for wish, fact in remembering.by_facts(task.text, task.facts):
            outcome = work.read(wish) if work.understands(wish) else None
            if isinstance(outcome, PlanDraft):
                told = texts.BY_FACT.format(fact=remembering.sentence(fact))
                return PlanDraft(outcome.plan.model_copy(update={"reasoning": told}), wish=wish)
        return None

    def wish(self, task: Task, catalogue: Sequence[ToolDefinition]) -> str:
        """Return the request as replies have changed it."""
        outcome = self.plan(task, catalogue)
        return (outcome.wish if isinstance(outcome, PlanDraft) else "") or task.text

    def intents(self, tools: Sequence[ToolDefinition]) -> Intents:
        """Return the compiled templates of these tools; a few sets of tools are cached."""
        key = tuple((tool.name, tool.digest) for tool in tools)
        if key not in self._known:
            kept = dict([*self._known.items()][1 - SETS_MOST :])
            # Replaced, never changed: other threads plan with the old mapping.
            self._known = {**kept, key: Intents((*tools, KEEP))}
        return self._known[key]


class Work:
    """One plan under way: what every reading of it shares."""

    def __init__(self, planner: Planner, task: Task, tools: Sequence[ToolDefinition], deadline: Deadline) -> None:
        self._planner, self._task, self._deadline = planner, task, deadline
        self._tools: Mapping[str, ToolDefinition] = {tool.name: tool for tool in tools}
        self._intents = planner.intents(tools)
        self._lexicon: Lexicon = planner._lexicon
        self._again = self._forgot = False
        self._index = WorkspaceIndex(task.workspace, planner._categories)
        self._ground = Ground(self._index, self._lexicon, planner._now())

    def read(self, text: str) -> PlanDraft | Answered | ClarificationNeeded | Asking:
        """One text to its end."""
        text = clean(text)
        if (talk := refusals.talk(text, self._lexicon)) is not None:
            return talk
        found = without_asides(tokens(text, self._index, self._lexicon))
        # Before any reading: a command or a path outside must not be taken for a request with some words left over.
        if (refused := refusals.refuse(text, found, self._lexicon)) is not None:
            return refused
        clauses = self._clauses(found)
        if not clauses:
            return self._strange("", text)
        try:
            return self._drafted(text, found, clauses)
        except Ask as asked:
            several = len(clauses) > 1 or any(self._lexicon["and"].at([token.low], 0) for token in found)
            if asked.doubt.question == texts.STEPS and not several:
                return self._strange(_run(text, clauses[0].span), text)
            return Asking(asked.doubt)

    def understands(self, text: str) -> bool:
        """Return whether this is a complete request: its first words say what to do, and no word is left over."""
        text = clean(text)
        if refusals.talk(text, self._lexicon) is not None:
            return False
        clauses = self._clauses(without_asides(tokens(text, self._index, self._lexicon)))
        best = [clause.best for clause in (self._looks(text, clauses) if clauses else ())]
        return bool(best and best[0] and best[0].verb and best[0].tool is not KEEP) and all(
            each is not None and each.complete for each in best
        )

    def files(self, text: str) -> str:
        """Return the words that select files, if they are one part of the request."""
        clauses = self._clauses(without_asides(tokens(text, self._index, self._lexicon)))
        parts = [clause.span[slice(*at)] for clause in clauses if clause.best for at in clause.best.chosen_at]
        return _run(text, parts[0]) if len(parts) == 1 else ""

    def forget(self) -> None:
        """Forget the files of the last turn: words that were not understood might have narrowed them."""
        self._forgot = True

    def _clauses(self, found: Sequence[Token]) -> list[Clause]:
        return Clauses(self._intents, Slots(self._ground), self._lexicon, self._deadline).of(found)

    def _drafted(self, text: str, found: Sequence[Token], clauses: Sequence[Clause]) -> PlanDraft | Answered | Asking:
        clauses = self._looks(text, clauses)
        bad = next((one for one in clauses if one.best is None or not one.best.complete or self._orders(one)), None)
        if bad is not None:
            return self._puzzled(text, bad)
        readings = [self._sure(text, clause) for clause in clauses if clause.keeps is None]
        if not readings and any(token.low in ("only", "just") for token in found):
            return self._strange(text, text)  # It may mean that the others should go.
        if not readings:
            return Answered(texts.KEPT)
        if any(reading.tool.mutates for reading in readings) and refusals.asks_about_doing(found, self._lexicon):
            return Answered(texts.ASKING, AnswerKind.DECLINED)
        return PlanDraft(self._steps(text, clauses, readings))

    def _orders(self, clause: Clause) -> bool:
        """Return whether it begins with a verb of what no tool can do: "email the letter to Ann" moves no emails."""
        words = [token.low for token in clause.span]
        found = self._lexicon["beyond"].at(words, 0) if not (clause.best and clause.best.verb) else None
        return bool(found and self._lexicon["determiners"].at(words, found[0]))

    def _puzzled(self, text: str, clause: Clause) -> Asking | Answered:
        """Quote what was not understood: a file that is not there, a word that may be misspelt, or the words."""
        if self._lexicon["beyond"].at([token.low for token in clause.span], 0):
            return Answered(texts.BEYOND, AnswerKind.DECLINED)
        left = clause.left or clause.span
        words, strange = self._intents.words | self._lexicon.words, self._strangers(clause.span)
        first = [token for token in clause.span[:1] if token.low not in words]
        for misspelt, known in ((first, self._intents.verbs), (left, words)):
            better = mended(text, misspelt, known)
            if better is not None and better != text and self.understands(better):
                return Asking(Doubt(texts.MEANT.format(said=better), text, (better,)))
        old = (token for token in left if token not in _new_names(clause.span))
        named = (token for token in old if token.looks_like_a_file and not self._index.is_extension(token.raw))
        missing = None if strange or clause.best is None else next(named, None)
        if missing is not None and self._index.knows_top and "*" not in missing.raw:
            near = self._index.like(missing.raw)
            told = texts.NEAR.format(names=texts.names(near)) if near else ""
            return Asking(Doubt(texts.NOT_HERE.format(said=missing.raw, near=told), missing.raw, tuple(near)))
        said = _run(text, self._unread(clause, strange))
        if clause.best is not None and not self._index.knows_top and len(left) == 1:
            wider = f'files with "{singular(left[0].raw)}" in the name'
            return Asking(Doubt(texts.UNSEEN.format(count=self._index.count, said=left[0].raw), left[0].raw, (wider,)))
        return self._strange(said, text)

    def _strange(self, said: str, text: str) -> Asking:
        """Quote words that were not understood, and name what the request comes near to."""
        near = self._intents.near(clean(text).lower().split(), self._lexicon.grammar)
        told = texts.NOT_UNDERSTOOD if said else texts.NOTHING_UNDERSTOOD
        return Asking(Doubt(told.format(said=said, near=texts.names(near)), said or text, near=tuple(near)))

    def _looks(self, text: str, clauses: Sequence[Clause]) -> Sequence[Clause]:
        """Drop words from a request that only looks; the answer names them."""
        first = clauses[0]
        if (
            len(clauses) != 1
            or not first.left
            or not self._lexicon["looking"].all([first.span[0].low])
            or len(first.span) > WORDS_MOST
        ):
            return clauses
        whole, slots, best = clauses[0].span, Slots(self._ground), clauses[0].best
        if best and best.verb and best.chooses and len(best.unowned) <= len(whole) * SPARED:
            return self._left_out(text, clauses, whole, best.without_unowned(), best.unowned)
        for end in range(len(whole) - 1, len(whole) * 2 // 5, -1):
            found = self._intents.readings(whole[:end], slots, self._deadline)
            if found and found[0].complete and found[0].verb:
                return self._left_out(text, clauses, whole[:end], found[0], whole[end:])
        return clauses

    def _left_out(
        self, text: str, clauses: Sequence[Clause], span: Sequence[Token], reading: Reading, left: Sequence[Token]
    ) -> Sequence[Clause]:
        """Leave words out, unless one of them names a file, counts or negates, or was the only condition."""
        decides = any(
            token.looks_like_a_file
            or self._lexicon.decides(token.low)
            or token.kind == "name"
            or token.low.endswith("est")  # "The longest" of them are not all of them.
            for token in left
        )
        whole, grammar = clauses[0].span, self._lexicon.grammar
        # "Which is missing" is about that word alone.
        decides = decides or any(one.low in ("is", "are") and each in left for one, each in pairwise(whole))
        places = [n for n, token in enumerate(whole) if token in left]
        used = {token.low for n, token in enumerate(whole) if places[0] < n < places[-1] and n not in places}
        decides = decides or bool(used - grammar)
        if reading.tool.mutates or reading.tool is KEEP or reading.takes_all or reading.refers or decides:
            return clauses
        said = [token.low for token in left if token.low not in grammar]
        note = texts.LEFT_OUT.format(said=_run(text, left)) if said else ""
        return [Clause(tuple(span), (reading,), note=note)]

    def _unread(self, clause: Clause, strange: Sequence[Token]) -> Sequence[Token]:
        """Return words that no reading uses. Of words that nothing here knows, one is among them, if there are any."""
        grammar, whole, left = self._lexicon.grammar, clause.span, self._behind(clause)
        starts = [token.low in grammar for token in left]  # "In Docs" says where; "photos" alone may be a part of more.
        if not left or all(starts) or (not starts[0] and self._is_plain(left)):
            left = [*clause.left]
            while left and left[-1].low in grammar:
                left.pop()
            if self._is_plain(left):
                left = strange or whole  # Each word is known, but not what they say together.
            elif left[0] in whole[:2] and left[-1] == whole[-1]:
                left = whole
        return strange if strange and not {*strange} & {*left} else left

    def _is_plain(self, span: Sequence[Token]) -> bool:
        """Return whether these words mean something in other requests, and leave nothing open, as "old" does."""
        words = [token.low for token in span if token.kind != "name" and token.low not in self._lexicon.grammar]
        known = self._intents.shown | self._lexicon.nouns.keys()
        sure = (
            (word in known or self._lexicon.kinds.all([word]))
            and not self._lexicon.decides(word)
            and not self._lexicon["vague"].all([word])
            for word in words
        )
        return all(sure) or _chooses(Slots(self._ground), span)

    def _strangers(self, span: Sequence[Token]) -> Sequence[Token]:
        """Return the words that are neither in a template, nor in the lexicon, nor in a name, and begin no new name."""
        known, new = self._intents.words | self._lexicon.words, _new_names(span)
        new |= {token for token in span[1:] if token.raw[:1].isupper()}
        words = (token for token in span if token.kind == "word" and token.low.isalpha() and token not in new)
        strange = (token for token in words if not {token.low, singular(token.low)} & known)
        return [
            token
            for token in strange
            if not (token.paths or self._index.having(token.low) or self._index.is_extension(singular(token.low)))
        ]

    def _behind(self, clause: Clause) -> Sequence[Token]:
        """Return the words after the longest beginning that is understood: a request, or a verb with its files."""
        slots, span = Slots(self._ground), clause.span
        ends = range(min(len(span), WORDS_MOST) - 1, 1, -1)
        for end in ends:
            found = self._intents.readings(span[:end], slots, self._deadline)
            if found and found[0].complete and found[0].verb:
                return span[end:]
        verb = not clause.best and span[0].low in self._intents.verbs
        return next((span[end:] for end in ends if verb and _chooses(slots, span[1:end])), ())

    def _sure(self, text: str, clause: Clause) -> Reading:
        """Return the one reading that is sure enough and far enough ahead (S4-46). Raises `Ask`."""
        complete = [each for each in clause.readings if each.complete and each.tool is not KEEP]
        best = complete[0]
        if best.score <= self._planner._threshold:
            raise Ask(self._strange(_run(text, clause.span), text).doubt)
        near = [each for each in complete if round(best.score - each.score, 9) <= self._planner._gap]
        if self._task.skill:
            near = [each for each in near if each.tool.skill == self._task.skill] or near
        # A question that only one reading of a look raises is not worth asking, nor one about words taken as text.
        near = [each for each in near if each.doubt is None or each.tool.mutates] or near
        near = near if best.tool.mutates else [each for each in near if each.free == min(one.free for one in near)]
        if not self._shown():  # "This folder" is no folder of an earlier turn.
            near = [each for each in near if not each.refers] or near
        if near[0].doubt is not None:
            raise Ask(near[0].doubt)
        ways = list(dict.fromkeys(each.tool.description.rstrip(".") for each in near))
        if len(ways) > 1:
            skills = {each.tool.skill: (each.score, each.tool.description.rstrip(".")) for each in reversed(near)}
            found = [Candidate(skill=name, score=score, description=way) for name, (score, way) in skills.items()]
            found.sort(key=lambda each: ways.index(each.description))
            one_each = tuple(found) if len(found) == len(ways) else ()
            raise Ask(Doubt(texts.WHICH_TOOL.format(ways=texts.choices(ways)), skills=one_each))
        if best.tool.mutates and best.values and len(different := self._different(near, clause)) > 1:
            raise Ask(Doubt(texts.WHICH_WAY.format(tool=ways[0], ways=texts.choices(different))))
        return near[0]

    def _different(self, near: Sequence[Reading], clause: Clause) -> list[str]:
        """Return what sets the plans of one tool's readings apart. Free text gives way to words that are understood,
        and "the file" of an earlier turn to a file of this one.
        """
        least = min((each.refers, each.free) for each in near)
        alike = [each for each in near if (each.refers, each.free) == least]
        plans = [plan for each in alike if (plan := self._alone(each, clause))]
        held = [{texts.setting(*one) for _, args, _ in plan for one in args.items()} for plan in plans]
        apart = [", ".join(sorted(each - frozenset.intersection(*map(frozenset, held)))) for each in held]
        return sorted({each or texts.WITHOUT for each in apart}, key=texts.WITHOUT.__eq__)

    def _alone(self, reading: Reading, clause: Clause) -> Sequence[tuple[ToolDefinition, dict[str, Any], str]]:
        """Return the steps of one reading whatever came before it; none if it needs a question."""
        steps = Steps(self._tools, self._index, self._shown() or ("it",))
        try:
            steps.add(reading, "", (), clause.around.meant if clause.around else ())
        except Ask:
            return ()
        return steps.made

    def _shown(self) -> tuple[str, ...]:
        """Return the files that the last turn named, else the one that its request names."""
        last = self._task.history[-1] if self._task.history and not self._forgot else None
        if last is None or last.shown:
            return last.shown if last else ()
        named = [token.paths for token in tokens(clean(last.about), self._index, self._lexicon) if token.kind == "name"]
        return named[0] if len(named) == 1 and len(named[0]) == 1 else ()

    def _last(self) -> ClauseResult | None:
        """Plan the last turn's request again, against the present files."""
        if not self._task.history or self._again or self._forgot:
            return None
        self._again = True
        try:
            clauses = self._clauses(tokens(clean(self._task.history[-1].about), self._index, self._lexicon))
            readings = [
                self._sure("", clause)
                for clause in clauses
                if clause.keeps is None and clause.best and clause.best.complete
            ]
            return self._made("", clauses, readings).results[-1] if readings and len(readings) == len(clauses) else None
        except Ask:
            return None

    def _steps(self, text: str, clauses: Sequence[Clause], readings: Sequence[Reading]) -> Plan:
        steps = self._made(text, clauses, readings)
        new_id = self._planner._new_id
        made = tuple(
            Step(
                step_id=new_id(),
                ordinal=n,
                description=said[:300],
                skill=tool.skill,
                tool=tool.name,
                args=args,
                depends_on=sources(args),
                mutates=tool.mutates,
            )
            for n, (tool, args, said) in enumerate(steps.made, 1)
        )
        return Plan(plan_id=new_id(), reasoning="", steps=made)

    def _made(self, text: str, clauses: Sequence[Clause], readings: Sequence[Reading]) -> Steps:
        steps = Steps(self._tools, self._index, self._shown(), last=self._last())
        rest, spared = list(readings), _spared(clauses)
        if not any(each.tool.deletes({}) and not looks_at_all(each.tool) for each in readings):
            # Of duplicates the original stays anyway.
            spared = tuple(each for each in spared if not each.said.startswith("the original"))
        contrary = next((each for each in spared if each.refers), None)
        if contrary is not None and any(each.tool.deletes({}) and each.chooses for each in readings):
            raise Ask(Doubt(texts.WHAT_BEFORE.format(said=contrary.said), contrary.said))
        spared = tuple(each for each in spared if not each.refers)
        for clause in clauses:
            if clause.keeps is not None:
                continue
            reading = rest.pop(0)
            said = f"{_run(text, clause.span) or text}{clause.note}"
            steps.add(reading, said, spared, clause.around.meant if clause.around else ())
        return steps


def _new_names(span: Sequence[Token]) -> set[Token]:
    """Return the words that may be a new name."""
    return {after for before, after in pairwise(span) if before.low in BEFORE_A_NAME}


def _chooses(slots: Slots, span: Sequence[Token]) -> bool:
    """Return whether these words alone select some files."""
    files = slots.read("selection", span)
    return files is not None and not files.unowned and all(one.bounded and not one.refers for one in files.meant)


def _spared(clauses: Sequence[Clause]) -> tuple[Selection, ...]:
    """Return the selections to leave alone. "Leave the rest" adds nothing, and "those in Docs" are what is in Docs."""
    kept = [each for clause in clauses for each in (clause.keeps or ()) if each.refers in (None, *BEFORE)]
    plain = [replace(each, refers=None) for each in kept]
    return tuple(one if one.bounded else each for each, one in zip(kept, plain, strict=True))


def _run(text: str, left: Sequence[Token]) -> str:
    """Return the words as written, from the first to the last one."""
    real = [token for token in left if token.end > token.start]
    start, end = min((token.start for token in real), default=0), max((token.end for token in real), default=0)
    return text[text.rfind(" ", 0, start) + 1 : end].strip(" ,.;:!?") if real else ""


__all__ = ["MORE_BELOW", "Planner"]
