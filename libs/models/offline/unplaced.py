"""When no clause has found its tool: whether it is asked what was meant, told what can be done, or declined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from libs.events.values import Candidate
from libs.models.offline import phrasebook as say
from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Mood
from libs.models.offline.goals import Doubt, Intent
from libs.models.offline.ground import Ground
from libs.models.offline.pronouns import points_back
from libs.models.offline.voice import Voice
from libs.models.ports import PlannerOutcome, Unclear, Why
from libs.retrieval.words import extension_of, fold


@dataclass(frozen=True, slots=True)
class Unplaced:
    """What becomes of clauses without a tool."""

    voice: Voice
    ground: Ground

    def outcome(self, found: Intent) -> PlannerOutcome:
        asked = [doubt for doubt in found.doubts if not doubt.clause.says("greeting", "capability")]
        near = [doubt for doubt in asked if doubt.near]
        if self.voice.reading.says("capability") and not near:
            return self.voice.answers(say.CAPABILITY, Why.CAPABILITY, can=self.voice.abilities())
        if not asked:
            return self._nothing_asked()
        if near:
            return which(self.voice, near, self.ground)
        ours = [doubt.clause for doubt in asked if self.of_ours(doubt.clause) or doubt.clause.says(*OURS)]
        if ours and not any(doubt.clause.says("foreign") for doubt in asked):
            return what_with(self.voice, ours, self.ground)
        return self.voice.declines()

    def _nothing_asked(self) -> PlannerOutcome:
        reading = self.voice.reading
        forbidden = [clause for clause in reading.clauses if clause.mood not in (Mood.DO, Mood.TOLD)]
        if unread := [clause for clause in forbidden if _narrows(clause)]:
            return self.voice.asks(say.WHAT_WITH, said=self.voice.said(*unread))
        if any(clause.mood is Mood.NEVER for clause in forbidden):
            return self.voice.answers(say.UNDONE)
        if forbidden:  # "that's only the folder" puts something right
            return self.voice.asks(say.WHAT_WITH, said=self.voice.said(*forbidden))
        if reading.says("greeting"):
            return self.voice.answers(say.GREETING, Why.GREETING, examples=self.voice.examples())
        return self.voice.asks(say.WHAT)

    def of_ours(self, clause: Clause) -> bool:
        """Does it speak of files here, outright, in a pronoun, or by words of their names?"""
        said = of_its_own(clause) or points_back(clause.words)
        return said or any(self.ground.called(word.text) for word in clause.words if word.unknown)


OURS = ("clean", "organize", "remove", "move", "copy", "rename", "pack", "unpack", "duplicate")
"""What a skill surely is for, whatever it shall be done to."""


def _narrows(clause: Clause) -> bool:
    """Is its "no" about the files rather than the deed: "borra los papeles que no valgan"?"""
    deed = next((n for n, word in enumerate(clause.words) if ACTIONS & {*word.concepts}), None)
    no = next((n for n, word in enumerate(clause.words) if word.folded == "no"), None)
    return deed is not None and no is not None and deed < no


def what_with(voice: Voice, clauses: Sequence[Clause], ground: Ground) -> Unclear:
    """Asks about the word that is the trouble, where it is one alone; else about all of it."""
    strange = [word for clause in clauses for word in clause.words if word.unknown and not _known(word.text, ground)]
    if len(strange) == 1:
        return voice.asks(say.UNKNOWN, said=strange[0].text)
    if not strange and len(clauses) == 1 and (several := _several(clauses[0], ground)):
        return voice.which_of(clauses[0], several)
    return voice.asks(say.WHAT_WITH, said=voice.said(*clauses))


def _several(clause: Clause, ground: Ground) -> Sequence[str]:
    """ "Delete the invoice", where several are called so."""
    said = [word for word in clause.words if word.unknown]
    placed = all(ground.has(name.text) in ground.folders for name in clause.names)
    single = clause.says(*OURS) and placed and len(said) == 1 and not said[0].text.isdigit()
    there = ground.anywhere(said[0].text) if single else ()
    return there if 1 < len(there) <= MOST else ()


MOST = 60
"""Files to choose from: of more, people say which by words."""


def _known(said: str, ground: Ground) -> bool:
    """Is it a number, an extension, or of the names that are here?"""
    plain = said.isdigit() or bool(extension_of(fold(said))) or ground.has(said) is not None
    return plain or bool(ground.anywhere(said) or ground.inner(said))


def which(voice: Voice, near: Sequence[Doubt], ground: Ground) -> Unclear:
    """The skills that come near, to choose from by what they are good for; one alone is no choice."""
    best: dict[str, Candidate] = {}
    for found in sorted((found for doubt in near for found in doubt.near), key=lambda found: -found.score):
        best.setdefault(found.tool.skill, voice.candidate(found.tool, found.score))
    said = voice.said(*(doubt.clause for doubt in near))
    if len(best) == 1:
        asked = what_with(voice, [doubt.clause for doubt in near], ground)
        return replace(asked, candidates=tuple(best.values()))
    choices = [f"({n}) {voice.ability(skill)}" for n, skill in enumerate(best, 1)]
    return Unclear(voice.say(say.CHOOSE, said=said, choices=voice.say(say.OR).join(choices)), tuple(best.values()))


def of_its_own(clause: Clause) -> bool:
    """Does the clause say what it is about?"""
    return bool(clause.names or clause.filters) or clause.says(*KINDS, "duplicate", "file", "folder")
