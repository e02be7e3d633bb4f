"""One request on its way to an outcome: what its words come to, and what is known of it while more is sought.

A planning knows nothing of replies: each makes the request another one, which is planned anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.offline import gist, mentioned, replies
from libs.models.offline import phrasebook as say
from libs.models.offline.clauses import Clause, Mood, Name, Reading
from libs.models.offline.drafting import Draft, Draughtsman, NewId, ordered, paths, plan_of, spread
from libs.models.offline.earlier import TAKEN_BACK, Lost, in_full, nearest_instead
from libs.models.offline.explaining import WHY, because
from libs.models.offline.filling import fill
from libs.models.offline.gist import bearing, cues, periods, renaming, seeking, versions
from libs.models.offline.gist.amending import Amended
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.story import Story
from libs.models.offline.goals import Goal, Intent, all_of, best_of, intent, wanted
from libs.models.offline.ground import Ground, NoSuchPlace, Outside
from libs.models.offline.grouping import unsortable
from libs.models.offline.leftovers import Leftovers, swallowed
from libs.models.offline.looking import Looking, only_looks
from libs.models.offline.matching import Matcher
from libs.models.offline.paths import below, file_like
from libs.models.offline.proposals import Proposing
from libs.models.offline.reading import read
from libs.models.offline.refusals import Refusals
from libs.models.offline.replies import Wish
from libs.models.offline.reservations import Reservations, junk_alone
from libs.models.offline.scenes import Scene, inherited, scene_of
from libs.models.offline.severally import goals_of
from libs.models.offline.unplaced import Unplaced
from libs.models.offline.voice import Voice
from libs.models.ports import Answered, Call, Drafted, Offer, PlannerOutcome, Unclear, Why
from libs.retrieval.formality import formal
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold, language_of, words
from libs.skills import Categories, Effect, ToolDefinition
from libs.skills.categories import split_suffix

REST = regex(r"\b(rm\s+-\w*[rf]|mkfs|dd\s+if=|:\(\)\s*\{)")
STORY = 8
"""So many words at least tell a story: of fewer, what was not understood is no mere talk."""
KINDLY = regex(
    r"\W*(?:if|wenn|falls|si)\s+(?:you|u|du|sie|ihr|it'?s|that'?s|possible|m[oö]glich|es (?:geht|m[oö]glich)|puedes?"
    r"|pudieras?|me (?:hace|hiciera)s?|(?:es|eres|fuera)s? tan|no (?:te|le) importa|quieres?|hiciera)\b",
    re.IGNORECASE,
)
"""Nothing depends on such an if: "if you'd be so kind"."""
LOOKED_AFTER = (Why.GREETING, Why.DECLINED, Why.ANSWER)
"""Words alone that a look does better than."""


@dataclass(frozen=True, slots=True)
class Means:
    """What every planning needs: one embedder's matcher, one set of categories."""

    matcher: Matcher
    categories: Categories
    new_id: NewId
    now: Callable[[], datetime]


class Planning:
    """One request on its way to an outcome."""

    def __init__(self, means: Means, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> None:
        self._means, self.wish = means, wish
        self._task = wish.of(task)
        # What a tool from outside is good for takes a model to tell; words alone would call it by accident.
        self._tools = {tool.name: tool for tool in tools if tool.in_workspace}
        self._ground = Ground.of(task.root, task.workspace)
        now = means.now()
        self._full = in_full(self._task, self._ground, now)
        text = self._full if isinstance(self._full, str) else self._task.text
        self._reading = _spoken(read(text, self._ground.spoken, now=now), task)
        self._voice = Voice(self._reading, self._tools, formal(_said_before(task)))
        self._proposing = Proposing(self._tools, self._ground, means.categories, self._reading.language)
        self._found = Intent()
        self._drawn: list[Draft] = []
        self._left: list[str] = []
        """What was said of changes and no step uses."""
        self.story = Story(wish.text, self._ground, means.categories, now)
        self.leaves_out = False
        """Is a part of the request not in what was proposed? Then a guess at the files may be nearer."""

    async def outcome(self) -> PlannerOutcome:
        if self.wish.calls:
            return self.carried_out(self.wish.calls) or self._voice.declines()
        if (told := self._beforehand()) is not None:
            return told
        matcher, tools = self._means.matcher, list(self._tools.values())
        found = await intent(self._reading, matcher, self._ground, self._task.skill, tools=tools)
        found = all_of(found) if self.wish.all_of_it else best_of(found) if self.wish.proposed else found
        self._found = found
        try:
            return self._planned(found) if found.goals else Unplaced(self._voice, self._ground).outcome(found)
        except Outside as place:
            return self._outside(str(place))
        except NoSuchPlace as place:
            return self._voice.no_such(str(place), self._ground)

    def undone(self) -> PlannerOutcome:
        return self._voice.answers(say.UNDONE)

    def what_else(self) -> Unclear:
        """Something of what was offered is wrong: what?"""
        return self._voice.asks(say.WHAT_ELSE)

    def more_than_yes(self, asked: Unclear) -> Unclear:
        """A yes is no answer to it: it is asked once more."""
        told = self._voice.say(say.MORE_THAN_YES)
        return asked if asked.question.startswith(told) else replace(asked, question=f"{told} {asked.question}")

    def because(self, asked: Unclear) -> Unclear:
        """Why it was asked, and the question once more."""
        told = self._voice.say(say.NOT_UNDERSTOOD, said=asked.about or self._reading.text)
        return replace(asked, question=f"{told} {asked.question}")

    def at_a_loss(self, again: Unclear, asked: Sequence[str]) -> PlannerOutcome:
        """The same question twice helps nobody: files to choose from are offered, or what can be said here; and where
        that was of no use either, it is left.
        """
        examples = self._voice.examples_of(self._ground)
        words = replace(self._voice.asks(say.AT_A_LOSS, examples=examples), missing=again.missing, about=again.about)
        helps = (one for one in (self._voice.offers(again.about, self._ground), words) if one is not None)
        fresh = next((one for one in helps if one.question not in asked), None)
        return fresh or self._voice.answers(say.GIVEN_UP, Why.DECLINED, examples=examples)

    def without_the_left(self, drafted: Drafted) -> PlannerOutcome:
        """A new wish in place of one whose exception nobody understood: it is said before anything changes."""
        if not self.wish.left or self.wish.agreed:
            return drafted
        return self._voice.asks(say.ONLY_PART, said=self.wish.left)

    def look(self, outcome: PlannerOutcome) -> Drafted | None:
        """A look at what nobody understood, where it surely wants no change."""
        left_out = any(clause.names for clause in self._reading.wishes(Mood.SPARE))
        lost = isinstance(self._full, Lost) or self.wish.answered or left_out
        if isinstance(outcome, Drafted) or lost or not only_looks(self._reading):
            return None
        looking = Looking(self._reading, Scene(self._reading.text, self._ground, self._means.categories), self._tools)
        if isinstance(outcome, Answered) and outcome.why not in LOOKED_AFTER:
            return None
        best = looking.best() if looking.of_ours() else None
        if best is None:
            return None
        return self._told([best], self._voice.say(say.ONLY_LOOKS))

    @cached_property
    def changes(self) -> bool:
        """Does the story behind the words want something done?"""
        return gist.changes(self.story)

    @property
    def stands_alone(self) -> bool:
        """Does the request answer nothing of ours, and lean on none before it?"""
        return not (self.wish.answered or self.wish.calls or self.wish.skill) and self._full == self._task.text

    def understood(self, drafted: Drafted) -> tuple[list[Call], tuple[str, ...]] | None:
        """The calls that a request comes to by the word, and the files that they change; None where it answers us."""
        return (self.seen(), self._proposing.files(drafted.plan)) if self.stands_alone else None

    def looks_past(self, outcome: PlannerOutcome) -> bool:
        """Is it a look that was understood, of a request that stands alone?"""
        looks = isinstance(outcome, Drafted) and not any(step.mutates for step in outcome.plan.steps)
        return self.stands_alone and looks and self.names_none()

    def sees_nothing(self, outcome: PlannerOutcome) -> bool:
        """Is there nothing that a look would not do better than?"""
        answered = isinstance(outcome, Answered) and outcome.why in LOOKED_AFTER
        asks_which = isinstance(outcome, Unclear) and bool(outcome.missing) and not self.wish.replies
        of_theirs = asks_which and seeking.PERSONAL.search(self.story.text) is not None
        return (
            (answered or of_theirs or self.at_a_guess(outcome))
            and not isinstance(outcome, Drafted)
            and self.names_none()
        )

    def names_none(self) -> bool:
        """Is no file named outright, nor anything left out?"""
        spared = any(clause.names for clause in self._reading.wishes(Mood.SPARE))
        return not spared and not any(file_like(name) for clause in self._reading.clauses for name in clause.names)

    def seen(self) -> list[Call]:
        """The calls that were drawn."""
        return [(draft.tool.name, draft.args) for draft in self._drawn]

    @property
    def wishes(self) -> bool:
        """Does any part of it wish for something, and not only tell?"""
        return bool(self._reading.wishes(Mood.DO))

    def does(self, calls: Sequence[Call], outcome: PlannerOutcome) -> bool:
        """Was all of these changes understood already, and would it find what to do?"""
        if not isinstance(outcome, Drafted) or not self._proposing.finds(outcome.plan):
            return False
        return {tool for tool, _ in calls if self._tools[tool].mutates} <= {step.tool for step in outcome.plan.steps}

    def proposal(self, outcome: PlannerOutcome) -> Unclear | None:
        """What the nearest skills would do, in plain words; nothing where none of them comes to a plan."""
        if not isinstance(outcome, Unclear) or not outcome.candidates or outcome.missing:
            return None
        drawn = [(one, self._would(one.skill), self._left) for one in outcome.candidates]
        offers = [(one, Offer(would[0], "", one.skill), left) for one, would, left in drawn if would is not None]
        offers = list({offer.label: (one, offer, left) for one, offer, left in reversed(offers)}.values())[::-1]
        if not offers:
            return None
        files = next((would[1] for _, would, _ in drawn if would is not None and would[1]), ())
        said = self._voice.said(*(doubt.clause for doubt in self._found.doubts if doubt.near))
        told = [one.model_copy(update={"description": offer.label}) for one, offer, _ in offers]
        proposed = self._voice.proposes([offer for _, offer, _ in offers], told, said=said)
        out = [one for one in offers[0][2] if all(one in left for *_, left in offers)]
        self.leaves_out = bool(out)
        return self._voice.leaving_out(out, replace(proposed, named=files))

    def named_outright(self, outcome: PlannerOutcome) -> str | None:
        """The words with the files that they come nearest to, where a change was not understood."""
        declined = isinstance(outcome, Answered) and outcome.why is Why.DECLINED
        open_still = isinstance(outcome, Unclear) and not outcome.offers
        if (
            not (declined or open_still)
            or self._ground.paths is None
            or self.wish.agreed
            or replies.spares(self._reading)
            or renaming.surely(self.story)
        ):
            return None
        return nearest_instead(self._reading, self._ground)

    @property
    def tells(self) -> bool:
        """Is it long enough to be a story?"""
        return len(self._task.text.split()) >= STORY

    def at_a_guess(self, outcome: PlannerOutcome) -> bool:
        """Is nothing understood that could be done or offered?"""
        declined = isinstance(outcome, Answered) and outcome.why in (Why.DECLINED, Why.GREETING, Why.CAPABILITY)
        asked = isinstance(outcome, Unclear) and bool(outcome.missing or outcome.partly)
        named = outcome.named if isinstance(outcome, Unclear) else ()
        timed = any(periods.told_by_names(one, named) for one in self.story.times)
        short = asked and len(self._task.text.split()) < STORY and not timed
        if short or any(not KINDLY.match(one) for one in self._reading.whether):
            return False
        lost = isinstance(outcome, Unclear) and (outcome.partly or not outcome.offers)
        vain = isinstance(outcome, Drafted) and self._in_vain(outcome.plan)
        undone = isinstance(outcome, Answered) and outcome.why is Why.ANSWER and self.changes
        return (declined or lost or vain or undone) and not self.wish.agreed

    def _in_vain(self, plan: Plan) -> bool:
        """Would it change nothing, as far as anybody knows?"""
        return any(step.mutates for step in plan.steps) and self._proposing.described(plan) is None

    def in_short(self, deed: Deed) -> Unclear | None:
        """What a gist comes to. None where its tools are not to be had, or it would find nothing to do."""
        drafted = self.carried_out(deed.calls)
        label = self._proposing.described(drafted.plan) if drafted is not None else None
        if drafted is None or label is None or label in self.wish.refused:
            return None
        proposed = self._voice.proposes([Offer(label, "", calls=deed.calls)], (), said=self._task.text)
        return replace(proposed, named=self._proposing.files(drafted.plan))

    def first_of(self, deeds: Iterable[Deed]) -> Unclear | None:
        """What the first of these that comes to something does."""
        return next((told for deed in deeds if (told := self.in_short(deed)) is not None), None)

    def either(self, named: Deed, changed: Deed) -> Unclear | None:
        """Files of a time by what their names say of it, or by their last change."""
        told = [one.offers[0] for deed in (named, changed) if (one := self.in_short(deed)) is not None]
        if len(told) < 2:
            return None
        if not any("by" in args for _, args in named.calls):  # a label of sorting says so by itself
            ways = zip(told, (say.BY_NAME, say.BY_CHANGE), strict=True)
            told = [replace(one, label=self._voice.say(how, label=one.label)) for one, how in ways]
        return self._voice.proposes(told, (), said=self._task.text)

    def goals(self, outcome: PlannerOutcome) -> tuple[str, ...]:
        """The goals of a request that was not understood whole."""
        return goals_of(self._reading) if self.stands_alone and not isinstance(outcome, Drafted) else ()

    def in_parts(self, deed: Deed, left: Sequence[str]) -> Unclear | None:
        """What several goals come to together, and those that were not understood."""
        told = None if self.deletes(deed.calls) and _keeps(left, self._reading.text) else self.in_short(deed)
        return replace(self._voice.leaving_out(left, told), about=" … ".join(left)) if told is not None else None

    def put_right(self, found: Amended) -> Unclear | None:
        """What was offered, as it is wanted now, and what of the reply is not in it."""
        if found.unknown is not None:
            return replace(self._voice.asks(say.SPARE_WHAT, said=" … ".join(found.left)), about="")
        told = self.in_short(Deed(found.calls))
        if told is not None and found.same:
            return replace(told, question=f"{self._voice.say(say.IN_IT)} {told.question}")
        return self._voice.leaving_out(found.left, told) if told is not None else None

    def leaving_out(self, told: Unclear | None, outcome: PlannerOutcome) -> Unclear | None:
        """A proposal that says what it leaves out, where a part was understood and that was not."""
        if told is None or not isinstance(outcome, Unclear) or not outcome.partly:
            return told
        left = [outcome.about]
        if bearing.borne_out(self.story, outcome.about, told.named):
            return told
        lost = OF_NAMES.search(outcome.about) is not None or _keeps(left, self._reading.text)
        if lost and outcome.about != self._reading.text and any(self.deletes(offer.calls) for offer in told.offers):
            return None
        return replace(self._voice.leaving_out([outcome.about], told), about=outcome.about)

    def conditioned(self, told: Unclear) -> Unclear | None:
        """A proposal that says which condition it leaves out. None where it deletes what nobody understood is meant."""
        unused = self._conditions()
        return None if unused and self.deletes(self.seen()) else self._voice.leaving_out(unused, told)

    def leads_past_names(self, outcome: PlannerOutcome) -> bool:
        """Does a plan look, delete or create what is there already, where the story surely speaks of names?"""
        if not isinstance(outcome, Drafted) or self.wish.agreed or self._ground.paths is None:
            return False
        changes = [step for step in outcome.plan.steps if step.mutates]
        deletes = all(self._tools[step.tool].effect is Effect.DELETE for step in changes)
        there = [_created(step) in self._ground.paths for step in changes]
        return (bool(there) and all(there)) or (deletes and renaming.surely(self.story))

    def carried_out(self, calls: Sequence[Call]) -> Drafted | None:
        """The plan that these are; None where one of the tools may not be used."""
        if any(tool not in self._tools for tool, _ in calls):
            return None
        self._drawn = [Draft(self._tools[tool], args) for tool, args in calls]
        return self._told(self._drawn, self._voice.say(say.THE_GIST))

    def proposes(self, drafted: Drafted, heard: Planning) -> Unclear | None:
        """This plan for the request as it was `heard`, and what of that it leaves out."""
        label = self._proposing.described(drafted.plan)
        changes = any(step.mutates for step in drafted.plan.steps)
        used = Leftovers.of(self._drawn)
        left = [one for clause in wanted(heard._reading) for one in used.spans(clause, heard._reading.text)]
        if label is None or label in heard.wish.refused or not changes or heard.leads_astray(drafted.plan, left):
            return None
        files = self._proposing.files(drafted.plan)
        proposed = self._voice.proposes([Offer(label, self._reading.text)], (), said=self._reading.text)
        proposed = replace(proposed, named=files)
        return self._voice.leaving_out(left, proposed)

    def leads_astray(self, plan: Plan, left: Sequence[str]) -> bool:
        """Would a yes delete a folder, or what was to go after something else, though nobody has understood all?"""
        deletes = all(self._tools[step.tool].effect is Effect.DELETE for step in plan.steps if step.mutates)
        later = any(_comes_later(clause, at) for at, clause in enumerate(self._reading.wishes(Mood.DO)))
        drawn = [Draft(self._tools[step.tool], step.args) for step in plan.steps]
        unused = Leftovers.of(drawn).conditions(self._reading.text)
        lost = later or bool(unused) or _keeps(left, self._reading.text)
        return bool(left and self._deletes_a_folder(plan)) or (deletes and (lost or _chooses(left)))

    def nearest_look(self, outcome: PlannerOutcome) -> Drafted | None:
        """What would be proposed to who only asks, where that is a look: it is taken at once."""
        if not isinstance(outcome, Unclear) or outcome.missing or not self.names_none():
            return None
        drawn = (self._drawn_with(one.skill) for one in outcome.candidates)
        nearest = next((one for one in drawn if one is not None), None)
        if nearest is None or any(step.mutates for step in nearest.plan.steps) or self._left:
            return None
        return nearest

    def _would(self, skill: str) -> tuple[str, tuple[str, ...]] | None:
        """What a plan with this skill's nearest tool comes to, and the files that it is about."""
        drafted = self._drawn_with(skill)
        label = self._proposing.described(drafted.plan) if drafted is not None else None
        if drafted is None or label is None or label in self.wish.refused:
            return None
        return label, self._proposing.files(drafted.plan)

    def _drawn_with(self, skill: str) -> Drafted | None:
        """The plan with this skill's nearest tool."""
        doubts = [
            replace(
                doubt, near=tuple(one for one in doubt.near if one.tool.skill == skill and self._spoken_of(one.tool))
            )
            for doubt in self._found.doubts
        ]
        try:
            scene = scene_of(self._reading, self._ground, self._means.categories)
            outcome = self._drafted(best_of(replace(self._found, doubts=tuple(doubts))), scene)
        except (Outside, NoSuchPlace):
            return None
        if not isinstance(outcome, Drafted):
            return None
        looks = not any(step.mutates for step in outcome.plan.steps)
        if (looks and (self.changes or replies.wants_change(self._reading))) or self.leads_astray(
            outcome.plan, self._left
        ):
            return None
        return outcome

    def _spoken_of(self, tool: ToolDefinition) -> bool:
        """Nothing that deletes is offered to who spoke of nothing of the kind, or of names."""
        gone = any(one.says("remove", "clean", "duplicate", "junk") for one in self._reading.clauses)
        return not tool.deletes({}) or (gone and not renaming.surely(self.story))

    def _beforehand(self) -> PlannerOutcome | None:
        """What needs no look at the tools."""
        if REST.search(fold(self._task.text)):
            return self._voice.answers(say.DANGEROUS, Why.DANGEROUS)
        if self._reading.says("undo"):
            return self._taken_back()
        if replies.refused(self._task.text):
            return self._voice.answers(say.LEFT_AT_THAT)
        if WHY.match(self._task.text):
            return because(self._voice, self._task.history)
        if rest := mentioned.continued(self._task.text, self._task.history):
            return self._voice.answers(say.IN_FULL, n=str(len(rest)), names=", ".join(map(self._voice.quoted, rest)))
        if odd := [word for clause in wanted(self._reading) for word in unsortable(clause, self._ground.folders)]:
            return self._voice.by_which(say.NOT_SORTED_BY, odd, units=tuple(say.UNITS))
        if junk := next((said for clause in wanted(self._reading) if (said := junk_alone(clause))), None):
            return self._voice.which_junk(junk)
        if isinstance(self._full, Lost) and not self.wish.answered:
            return self._voice.asks(say.EARLIER, "paths", said=self._full.said)
        if self._reading.torn and not self.wish.answered:
            return self._voice.asks(say.WHAT_WITH, said=self._task.text)
        return self._outside(beyond) if (beyond := self._beyond()) is not None else None

    def _taken_back(self) -> PlannerOutcome:
        """What is wished for beside an undo has to be said again after it."""
        rest = [clause for clause in wanted(self._reading) if replies.begins(clause) and not clause.says("undo")]
        led = TAKEN_BACK.match(self._task.text)
        said = self._voice.said(*rest) if rest else self._task.text[led.end() :].strip(" .!") if led else ""
        told = self._voice.answers(say.UNDO, Why.UNDO)
        after = f" {self._voice.say(say.AFTER_THAT, said=said)}" if said else ""
        return replace(told, text=f"{told.text}{after}")

    def _beyond(self) -> str | None:
        """A path beyond the workspace, whatever shall be done with it."""
        for name in (name for clause in self._reading.wishes(Mood.DO) for name in clause.names):
            try:
                if name.kind is Name.PATH:
                    self._ground.path(name.text, new=True)
            except Outside as place:
                return str(place)
        return None

    def _outside(self, place: str) -> PlannerOutcome:
        return self._voice.answers(say.OUTSIDE, Why.DANGEROUS, name=self._voice.quoted(place))

    def _planned(self, found: Intent) -> PlannerOutcome:
        scene = scene_of(self._reading, self._ground, self._means.categories)
        open_still = Reservations(
            self._voice,
            scene,
            self._tools,
            self._task.text,
            answered=self.wish.answered,
            agreed=self.wish.agreed,
        )
        open_part = open_still.outcome(found)
        if open_part is not None and not (isinstance(open_part, Unclear) and open_part.partly):
            return open_part
        outcome = self._drafted(found, scene)
        if isinstance(outcome, Drafted) and self.deletes(calls_in(outcome.plan)) and (names := self._of_names()):
            return self._voice.asks(say.SPARE_WHAT, "paths", said=names)
        if isinstance(outcome, Drafted) and not self.wish.agreed and (unused := self._conditions()):
            if self.deletes(calls_in(outcome.plan)):
                return self._voice.asks(say.SPARE_WHAT, "paths", said=" … ".join(unused))
            self._left += [one for one in unused if not any(left in one for left in self._left)]
        self._left += swallowed(self._reading)
        if open_part is None and isinstance(outcome, Drafted) and self._left and not self.wish.agreed:
            open_part = self._voice.asks(say.ONLY_PART, said=" … ".join(self._left))
        return outcome if open_part is None else self._with_the_rest(open_part, outcome)

    def _with_the_rest(self, asked: Unclear, outcome: PlannerOutcome) -> Unclear:
        """ "Shall I do the rest?", and what that is."""
        calls = calls_in(outcome.plan) if isinstance(outcome, Drafted) else ()
        kept = self.deletes(calls) and (_keeps([asked.about], self._reading.text) or _chooses(self._left))
        if isinstance(outcome, Drafted) and (kept or self._deletes_a_folder(outcome.plan)):
            # What was not understood may have said which of its files: nobody is led to delete all of them.
            return self._voice.asks(say.SPARE_WHAT, "paths", said=asked.about)
        label = self._proposing.described(outcome.plan) if isinstance(outcome, Drafted) else None
        if label is None or label in self.wish.refused:
            return asked
        return replace(asked, question=f"{asked.question.rstrip('?')}: {label}? {self._voice.say(say.OR_ELSE)}")

    def _of_names(self) -> str | None:
        """ "…, just the song name": whoever speaks of a name alone has no files to delete in mind."""
        only = (clause for clause in self._reading.clauses if clause.mood is Mood.ONLY and clause.says("name"))
        bare = (clause for clause in only if not clause.names and not any(word.unknown for word in clause.words))
        return next((self._voice.said(clause) for clause in bare), None)

    def _conditions(self) -> list[str]:
        """What says which files are meant, of which the steps drawn know nothing."""
        return Leftovers.of(self._drawn).conditions(self._reading.text) if self.stands_alone else []

    def deletes(self, calls: Sequence[Call]) -> bool:
        return any(self._tools[tool].effect is Effect.DELETE for tool, _ in calls if tool in self._tools)

    def _deletes_a_folder(self, plan: Plan) -> bool:
        deletes = (step for step in plan.steps if step.mutates and self._tools[step.tool].effect is Effect.DELETE)
        return any(self._ground.below(path) for step in deletes for path in paths(step.args.get("paths")))

    def _drafted(self, found: Intent, scene: Scene) -> PlannerOutcome:
        follows = self.wish.answered or bool(self._task.history)
        drawn, refusals = Draughtsman(self._tools), Refusals(self._voice, self._tools, follows=follows)
        goals = [allowed for goal in ordered(found) for allowed in self._permitted(goal, found)]
        self._left = []
        for goal in goals:
            own: list[Draft] = []
            here = inherited(scene, goal.clause, self._reading)
            for where in spread(goal, _unspared(here, goal, goals)):
                if (refusal := refusals.outcome(goal, where)) is not None:
                    return refusal
                own += drawn.add(goal, where)
            if goal.tool.mutates:
                self._left += Leftovers.of(own).spans(goal.clause, self._reading.text)
            scene = _after(goal, scene)
        self._drawn = drawn.steps
        if not drawn.steps:
            return self._voice.answers(say.UNDONE)
        return self._told(drawn.steps, self._reasoning(goals))

    def _told(self, steps: Sequence[Draft], reasoning: str) -> Drafted:
        """The plan, with its steps in the words of the request's language."""
        plan = plan_of(steps, reasoning=reasoning, new_id=self._means.new_id)
        return Drafted(self._proposing.spoken(plan))

    def _permitted(self, goal: Goal, found: Intent) -> list[Goal]:
        """The goal, or only its reads where the person ruled the change out."""
        if goal.tool.effect not in found.forbidden and goal.tool.name not in found.unwanted:
            return [goal]
        reads = [self._tools[need.tool] for need in goal.tool.needs if need.tool in self._tools]
        return [replace(goal, tool=tool) for tool in reads]

    def _reasoning(self, goals: Sequence[Goal]) -> str:
        return " ".join(
            f"“{self._voice.said(goal.clause)}” means {goal.tool.name} ({goal.score:.2f})." for goal in goals
        )


def _keeps(left: Sequence[str], text: str) -> bool:
    """Does what nobody understood say what stays, where the others are to go? Then nobody knows which these are."""
    stays = (*cues.STAYS, *cues.EXCEPT, *cues.ONLY, *cues.NEVER)
    others = cues.spans((*cues.REST, *cues.OTHERS), cues.plain(text))
    return bool(others) and any(cues.spans(stays, cues.plain(one)) for one in left)


def _chooses(left: Sequence[str]) -> bool:
    """ "The repeated ones", "the numbers", which nobody understood: they say which of the files, or no files at all."""
    chosen = any(not CHOOSES.isdisjoint(word.concepts) for one in left for word in words(one))
    return chosen or any(OF_NAMES.search(one) or versions.spoken_of(one) for one in left)


OF_NAMES = regex(
    r"(?<!\w)(?:num(?:m?er|bers?|mern|eros?)|n[uú]meros?|zahl(?:en)?|ziffern?|digits?|letters|buchstaben?|letras?|words?|w[oö]rt(?:er)?"
    r"|palabras?|endings?|endungen?)(?!\w)",
    re.IGNORECASE,
)
CHOOSES = listed("duplicate empty age size newest oldest largest smallest number name date prefix suffix content")


def calls_in(plan: Plan) -> tuple[Call, ...]:
    return tuple((step.tool, step.args) for step in plan.steps)


def _created(step: Step) -> str | None:
    """The path of what a step creates."""
    if step.tool != "manage-files.create":
        return None
    where, name = str(step.args.get("path", ".")), str(step.args.get("name", ""))
    return below(where, name)


def _comes_later(clause: Clause, at: int) -> bool:
    """ "…, then it can go", after a wish, or after words of which nobody knows what they wish for."""
    then = next((n for n, item in enumerate(clause.items) if isinstance(item, Word) and "then" in item.concepts), None)
    unknown = any(isinstance(item, Word) and item.unknown for item in clause.items[: then or 0])
    return then is not None and clause.says("remove") and (at > 0 or unknown)


def _said_before(task: Task) -> list[str]:
    """All that the person has said, the newest first."""
    replies = [*task.replies, *((task.clarification,) if task.clarification else ())]
    return [*reversed(replies), task.text, *(each.text for each in reversed(task.history))]


def _spoken(reading: Reading, task: Task) -> Reading:
    """Of words that tell no language, such as a bare "no", that of what was said before."""
    before = [task.text, *(each.text for each in reversed(task.history))]
    return replace(reading, language=language_of(reading.text, *before)) if reading.language == "en" else reading


def _unspared(scene: Scene, goal: Goal, goals: Sequence[Goal]) -> Scene:
    """What is to be left alone still counts in a report beside the changes."""
    if goal.tool.mutates or not any(other.tool.mutates for other in goals):
        return scene
    return replace(scene, exclude=(), only=())


def _after(goal: Goal, scene: Scene) -> Scene:
    """A folder that was just made is what "it" means next."""
    if goal.tool.effect is not Effect.CREATE:
        return scene
    args = fill(goal.tool, goal.clause, scene).args
    if goal.clause.says("unpack"):  # of several archives, none is "it"
        made = args.get("target") or split_suffix(str(args.get("path", "")))[0]
        return replace(scene, created=str(made)) if made else scene
    if goal.clause.says("copy"):
        return replace(scene, created=str(args["target"])) if "target" in args else scene
    where, name = str(args.get("path", ".")), str(args.get("name", ""))
    return replace(scene, created=below(where, name))
