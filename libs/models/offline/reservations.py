"""What of a request that has goals is still open: parts that nobody understood, sizes without a number, exceptions
that no listing can make. All that is asked before anything could change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from libs.models.offline import phrasebook as say
from libs.models.offline import quantities
from libs.models.offline.clauses import JUNK, KINDS, Clause, Mood, Name
from libs.models.offline.copying import originals_stay
from libs.models.offline.courtesy import CHOOSES
from libs.models.offline.drafting import ordered
from libs.models.offline.filling import KEEP, filters
from libs.models.offline.goals import Doubt, Goal, Intent, elliptic
from libs.models.offline.ground import Ground
from libs.models.offline.grouping import dated, grouping
from libs.models.offline.looking import CAN_GO
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.scenes import Scene, spared_in
from libs.models.offline.selection import select, the_rest
from libs.models.offline.telling import OWN
from libs.models.offline.unplaced import Unplaced, of_its_own, which
from libs.models.offline.verbs import ARTICLES
from libs.models.offline.voice import Voice, use_of
from libs.models.ports import PlannerOutcome, Unclear
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold
from libs.skills import Effect, ToolDefinition

QUESTION = regex(
    r"^\W*(how (do|can|would|could|should|to|does)|why|should (i|we)|what (if|happens|would|does)|did |have you|when "
    r"|who |(can|could|may|should) i "
    r"|is it (ok|okay|safe|fine)|do i (need|have)|darf|kann ich|puedo |podria yo"
    r"|se puede|es seguro|wie (kann|konnte|mach|losch|funktioniert)|warum|soll ich|was passiert|como "
    r"|por ?que |debo |deberia )"
)
AMOUNT = regex(r"^\W*(?:how (?:much|many|big|large)|wie ?viele?|wie gross|cuant[oa]s?)\b")
""" "How many could I delete": a deed in such a clause is only spoken of."""
_SPANISH_DEED = r"(?:borr|elimin|mov|renombr|comprim|descomprim|copi|cambi|orden)"
DONE_BEFORE = regex(
    r"^\W*(?:(?:was|were|is|are)\s+(?!it\b|there\b|you\b)[^,]*\b(?:\w+ed|gone|thrown|taken|lost)|(?:have|has|had)\s[^,]*\bbeen\b[^,]*"
    r"|(?:wurden?|ist|sind|hast|habt)\s[^,]*\b(?:\w*ge\w+(?:t|en)|\w*(?:schoben|nannt|packt)|entfernt|weg)(?:\s+worden)?"
    rf"|se\s+(?:(?:han?|habian?)\s+)?{_SPANISH_DEED}\w*(?:aron|ieron|[oai]do|o)\b[^,]*|(?:has|han?)\s+{_SPANISH_DEED}\w*[ai]do\b[^,]*)"
    r"(?:\s+(?:already|yet|before|again|schon|bereits|ya))?\W*$"
)
"""Whether something has been done already is asked, and no wish: "have the letters been deleted", "se borró …"."""
ENDS = regex(r"[.!?;](?=\s|$)|\n")
LEAST_OF_TALK = 3
"""Words that a sentence must have to be talk: shorter ones may be a deed that nobody knows ("defragment")."""


@dataclass(frozen=True, slots=True)
class Reservations:
    """What keeps a whole request from a plan. `asked` is its text, `answered` whether our own question was answered,
    and `agreed` whether the answer was yes.
    """

    voice: Voice
    scene: Scene
    tools: Mapping[str, ToolDefinition]
    asked: str
    answered: bool = False
    agreed: bool = False

    def outcome(self, found: Intent) -> PlannerOutcome | None:
        """The first that is open, or None."""
        changes = [goal for goal in found.goals if goal.tool.mutates]
        sorts = self._sorts(found, changes)
        return sorts or self._only_looks(found, changes) or self._how_to(changes) or self._unread(found, changes)

    def _sorts(self, found: Intent, changes: Sequence[Goal]) -> PlannerOutcome | None:
        """By date: is that by year, or by month?"""
        for goal in changes:
            if "grouping" in goal.tool.roles.values() and grouping(goal.clause) == "date":
                return self.voice.by_which(say.BY_YEAR_OR_MONTH, dated(goal.clause), units=("year", "month"))
        return None

    def _only_looks(self, found: Intent, changes: Sequence[Goal]) -> PlannerOutcome | None:
        """Beside a look at nothing in particular, something that no skill does."""
        foreign = any(doubt.clause.says("foreign") for doubt in self._doubts(found))
        if changes or not foreign or any(of_its_own(goal.clause) for goal in found.goals):
            return None
        return self.voice.declines()

    def _how_to(self, changes: Sequence[Goal]) -> PlannerOutcome | None:
        if self.answered or not any(self._asks_how(goal) for goal in changes):
            return None
        return self.voice.answers(say.HOW_TO, can=use_of(changes[0].tool, self.voice.reading.language))

    def _asks_how(self, goal: Goal) -> bool:
        rest, clause = fold(self.voice.reading.sentence(goal.clause)), fold(self.voice.said(goal.clause))
        sentence = ENDS.split(rest, maxsplit=1)[0]
        asked = ((QUESTION, rest), (DONE_BEFORE, sentence), (AMOUNT, clause), (CAN_GO, sentence.strip(" \xbf\xa1")))
        return any(question.match(said) for question, said in asked)

    def _unread(self, found: Intent, changes: Sequence[Goal]) -> Unclear | None:
        if any(goal.tool.effect is Effect.MOVE for goal in changes) and originals_stay(self.voice.reading):
            return self.voice.asks(say.MOVES_ORIGINALS)
        moved = next((goal for goal in changes if self._moves_beside_a_copy(goal) or _of_what(goal, found)), None)
        moved = moved or _removes_copies(found)
        if moved is not None:
            return self.voice.asks(say.WHAT_WITH, said=self.voice.said(moved.clause))
        if changes and self.voice.reading.whether and not self.agreed:
            return self.voice.asks(say.WHETHER, said=" … ".join(self.voice.reading.whether))
        doubts = [doubt for doubt in self._doubts(found) if changes or doubt.clause.acts]
        doubts = [doubt for doubt in doubts if not self._leads_up(doubt.clause, changes)]
        if doubts and any(_comes_after(goal, doubts) for goal in changes):
            return self.voice.asks(say.WHAT_WITH, "paths", said=self.voice.said(*(doubt.clause for doubt in doubts)))
        if doubts and not self.agreed:
            return self._in_part(doubts)
        outright = all(self._outright(goal) for goal in changes)
        deletes = any(
            goal.tool.deletes({}) or goal.clause.says("remove") for goal in changes
        )  # else it is shown anyway
        told = self._told_beside(found) if deletes and not outright else []
        if told and not self.agreed:
            return self.voice.asks(say.ONLY_PART, said=self.voice.said(*told))
        searched = any("query" in goal.tool.roles.values() for goal in found.goals)
        if searched and not self.agreed and (words := self._strange()):
            return self.voice.asks(say.ONLY_PART, said=" ".join(words))  # files can be left out, words can't
        vague = next((goal for goal in found.goals if self._vague(goal)), None)
        if vague is not None:
            return self._unfiltered(vague)
        left = (self._left_open(changes) or " ".join(self._strange())) if changes and not outright else ""
        return self.voice.asks(say.SPARE_WHAT, "exclude", said=left) if left else None

    def _moves_beside_a_copy(self, goal: Goal) -> bool:
        """Where something is copied, "b.txt to Docs" moves nothing unless a verb says so."""
        outright = goal.clause.says("move", "organize", "clean", "type")
        return goal.tool.effect is Effect.MOVE and not outright and self.voice.reading.says("copy")

    def _outright(self, goal: Goal) -> bool:
        """Are all its files named? Then nothing that is said around it could mean others."""
        named = any(file_like(name) and name.kind is Name.PATH for name in goal.clause.names)
        picked = select(goal.clause, self.scene.ground, self.scene.categories)
        return named and not picked.patterns and not goal.clause.says("all")

    def _told_beside(self, found: Intent) -> list[Clause]:
        """Files that something is told of, and that no goal is about: what is said may be why they shall stay."""
        used = [goal.clause for goal in found.goals]
        return [
            told
            for told in self.voice.reading.wishes(Mood.TOLD)
            if _choosy(told)
            and not any({*told.items} & {*clause.items} or self._alike(told, clause) for clause in used)
        ]

    def _alike(self, told: Clause, clause: Clause) -> bool:
        """Do both speak of the same files, or of all of their sort?"""
        if told.says("duplicate") and clause.says("duplicate") and not told.says(*KEPT):
            return True  # how they came to be there twice
        ground, categories = self.scene.ground, self.scene.categories
        patterns = select(told, ground, categories).patterns
        if patterns or told.names or told.filters:
            same = bool(patterns) and patterns == select(clause, ground, categories).patterns
            return same and not told.says(*CHOOSES)
        beside = {"file", "folder", "here"} | ({"all", "keep"} if told.says("duplicate") else set())
        return told.concepts - beside <= clause.concepts  # "I keep clicking twice on everything"

    def _doubts(self, found: Intent) -> list[Doubt]:
        doubts = [doubt for doubt in found.doubts if not doubt.vague and not doubt.clause.says("greeting")]
        return [doubt for doubt in doubts if self._matters(doubt.clause)]

    def _matters(self, clause: Clause) -> bool:
        """A whole sentence that names no file and no deed of ours is talk around the request."""
        if self._ours(clause) or clause.says(*SINGLED_OUT):  # "Helen wants the big ones"
            return True
        return clause.joined in ("and", "or") or len(clause.items) < LEAST_OF_TALK

    def _ours(self, clause: Clause) -> bool:
        """A deed of ours, or files that are here."""
        return clause.acts or Unplaced(self.voice, self.scene.ground).of_ours(clause)

    def _leads_up(self, clause: Clause, changes: Sequence[Goal]) -> bool:
        """What stands in front of all that is wished for, and has neither a deed in it nor a file, is why."""
        first = min((goal.clause.items[0].start for goal in changes), default=0)
        return clause.items[-1].end <= first and (
            not self._ours(clause) or _own_purpose(clause, self.voice.reading.text, changes)
        )

    def _in_part(self, doubts: Sequence[Doubt]) -> Unclear:
        near = [doubt for doubt in doubts if doubt.near]
        if near:
            return which(self.voice, near, self.scene.ground)
        return self.voice.asks(say.ONLY_PART, said=self.voice.said(*(doubt.clause for doubt in doubts)))

    def _vague(self, goal: Goal) -> bool:
        """Are files chosen by a size or an age that no number says, or by one that no tool of the goal can take?"""
        needed = (self.tools[need.tool] for need in goal.tool.needs if need.tool in self.tools)
        takes = {role for tool in (goal.tool, *needed) for role in tool.roles.values()}
        said = filters(goal.clause, self.scene)
        changes = goal.tool.mutates
        if changes and quantities.ranking(goal.clause) and "most" not in said:
            return True
        if not said.keys() <= takes | {"order", "most"} or (changes and "most" in said and "most" not in takes):
            return True
        chooses = changes or "larger_than" in goal.tool.roles
        return chooses and goal.tool.effect is not Effect.REPORT and _unmeasured(goal.clause, self.scene.ground)

    def _unfiltered(self, goal: Goal) -> Unclear:
        if "duplicate" in goal.clause.concepts and goal.clause.says(*KEEP, "age"):
            return self.voice.asks(say.MISSING["keep"], "keep")
        return self.voice.asks(say.BY_AGE_OR_SIZE, "paths", said=self.voice.said(goal.clause))

    def _left_open(self, changes: Sequence[Goal]) -> str:
        """What is kept "but the newest", or "the rest" of nothing in particular, no listing can leave out."""
        clauses = self.voice.reading.clauses
        for clause in clauses:
            kept = clause.mood is not Mood.DO or clause.says("keep")
            of_copies = clause.says("duplicate") or any(goal.clause.says("duplicate") for goal in changes)
            if kept and not of_copies and quantities.superlative(clause):
                return self.voice.said(clause)
        spares = any(clause.mood in (Mood.SPARE, Mood.ONLY) for clause in clauses)
        deletes = [goal.clause for goal in changes if goal.tool.deletes({}) and not goal.clause.says("duplicate")]
        rest = [clause for clause in deletes if the_rest(clause)]
        return self.voice.said(rest[0]) if rest and not spares else ""

    def _strange(self) -> list[str]:
        """Words of an exception or a "don't …" that nobody knows: what must not happen has to be understood."""
        ground, reading = self.scene.ground, self.voice.reading
        spared = spared_in(reading, ground, self.scene.categories)
        never = [word for clause in reading.wishes(Mood.NEVER) for word in clause.words if word.unknown]
        return [word for picked in spared for word in picked.strange] + [
            word.text for word in never if not ground.has(word.text) and not ground.called(word.text)
        ]


def junk_alone(clause: Clause) -> list[Word]:
    """ "The useless stuff" of "get rid of the useless stuff in Downloads": what shall go is told by its worth alone."""
    told = (*KINDS, *JUNK, "duplicate", "age", "size", "date", "newest", "oldest", "largest", "smallest")
    outright = any(file_like(name) or name.kind is not Name.PATH for name in clause.names)
    strange = any(word.unknown for word in clause.words)
    if not clause.says("junk") or not clause.says("remove", "clean") or clause.says(*told) or outright or strange:
        return []
    at = next(n for n, item in enumerate(clause.items) if isinstance(item, Word) and "junk" in item.concepts)
    before = takewhile(lambda item: isinstance(item, Word) and _determines(item), clause.items[:at][::-1])
    after = takewhile(lambda item: isinstance(item, Word) and "file" in item.concepts, clause.items[at + 1 :])
    return [item for item in (*[*before][::-1], clause.items[at], *after) if isinstance(item, Word)]


def _determines(word: Word) -> bool:
    return word.folded in ARTICLES or "all" in word.concepts


SINGLED_OUT = CHOOSES - {"age", "all"}
KEPT = ("keep", "untouched", "only", "not")
PURPOSE = {"foreign", "age", "here", "file", "folder"}


def _own_purpose(clause: Clause, text: str, changes: Sequence[Goal]) -> bool:
    """ "I should like to send them to Anne." before a wish: what they will do with it, and we can't."""
    begins = {word.folded for word in clause.words[:2]}
    apart = text[clause.items[-1].end :].lstrip()[:1] in tuple(".!;")
    about = PURPOSE | ({*KINDS} if all(goal.clause.names for goal in changes) else set())
    mine = bool(OWN & begins) and clause.says("foreign") and clause.concepts <= about
    return mine and apart and not clause.names


def _comes_after(goal: Goal, doubts: Sequence[Doubt]) -> bool:
    """ "…, then the folder can go": what is deleted once something else is done, and nobody knows what that is."""
    later = goal.clause.says("then") and goal.clause.says("remove")
    return later and any(doubt.clause.items[0].start < goal.clause.items[0].start for doubt in doubts)


def _of_what(goal: Goal, found: Intent) -> bool:
    """ "Move the PDFs to Docs and delete the oldest": of those that went, or of those that are left?"""
    return elliptic(goal.clause) and goal.clause is not found.goals[0].clause


def _removes_copies(found: Intent) -> Goal | None:
    """Duplicates that are removed after something was copied: the copies would go again."""
    changes = [goal for goal in ordered(found) if goal.tool.mutates]
    copied = next((n for n, goal in enumerate(changes) if goal.clause.says("copy")), len(changes))
    return next((goal for goal in changes[copied:] if goal.clause.says("duplicate") and goal.tool.deletes({})), None)


def _choosy(told: Clause) -> bool:
    """Does it single out some files? "A few things are in here" does not."""
    return bool(told.names or told.filters) or not all(
        word.filler or {*word.concepts} <= {"file", "folder"} for word in told.words
    )


def _unmeasured(clause: Clause, ground: Ground) -> bool:
    """Does the clause choose files by age, size or worth without saying how old, large or worthless?"""
    placed = {place.item for place in places(clause, ground)} | {*quantities.criteria(clause)}
    clause = replace(clause, items=tuple(item for item in clause.items if item not in placed))
    if clause.says("junk") and not (clause.names or clause.says(*KINDS)):  # "the a.tmp crap" is no choice by worth
        return True
    if clause.says("size") and not {"larger_than", "smaller_than"} & clause.filters.keys():
        return True
    if clause.says("empty") and not clause.says("create") and quantities.emptiness(clause) is None:
        return True
    if clause.says(*KEEP) and not clause.says("keep") and quantities.ranking(clause) is None:
        return True
    timed = {"modified_before", "modified_after"} & clause.filters.keys()
    return not timed and any("age" in word.concepts and "create" not in word.concepts for word in clause.words)
