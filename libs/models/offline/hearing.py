"""How a request is heard: word by word, and where that does not come to all that was said, by what it shows, asks for
or tells (docs/decisions/0048).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain

from libs.events.committee import Task
from libs.models.offline import following, gist, severally
from libs.models.offline.gist import (
    asking,
    assigning,
    emptying,
    examples,
    homes,
    inside,
    placing,
    renaming,
    seeking,
    widening,
    years,
)
from libs.models.offline.gist.acts import RENAME
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.placing import CREATE, MOVE
from libs.models.offline.gist.story import Story
from libs.models.offline.planning import Means, Planning, calls_in
from libs.models.offline.replies import Wish
from libs.models.ports import Call, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition


async def heard(means: Means, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> PlannerOutcome:
    """The request as a whole; where each of several goals by itself comes to more, that."""
    hearing = await Hearing.of(means, task, wish, tools)
    planning, outcome = hearing.planning, hearing.outcome
    told = hearing.assigned() or hearing.shown() or await hearing.followed()
    if told is not None:
        return told
    goals = planning.goals(outcome)
    whole = await hearing.whole()
    if not goals or isinstance(whole, Drafted):
        return whole
    deeds, left = await hearing.severally(goals)
    several = planning.in_parts(reduce(Deed.then, deeds), left) if deeds else None
    if several is None or severally.the_same(several, whole):
        return several or whole  # the one tells besides what nobody understands
    asks = isinstance(outcome, Unclear) and bool(outcome.missing)
    alone = len(deeds) < severally.FEWEST or (asks and bool(left))
    return whole if alone or not severally.more(several, whole, planning.story.ground) else several


@dataclass(frozen=True, slots=True)
class Hearing:
    """One request that was planned word by word, and what else may come of it."""

    means: Means
    task: Task
    tools: Sequence[ToolDefinition]
    planning: Planning
    outcome: PlannerOutcome
    """What its words come to."""

    @classmethod
    async def of(cls, means: Means, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> Hearing:
        planning = Planning(means, task, wish, tools)
        return cls(means, task, tools, planning, await planning.outcome())

    async def like(self, text: str) -> Hearing:
        """The same of other words."""
        return await self.of(self.means, self.task, Wish(text), self.tools)

    @property
    def story(self) -> Story:
        return self.planning.story

    async def whole(self) -> PlannerOutcome:
        """What its words come to, unless one of these readers knows better, the surest first; where they don't come to
        all that was said, the gist of the story, or the files that its words come nearest to (0048). Of two that come
        to the same, the one that says besides what it leaves out.
        """
        for reader in (self.emptied, self.look, self.either, self.widened):
            if (told := reader()) is not None:
                return told
        for search in (self.borne, self.homed):
            if (told := await search()) is not None:
                return told
        planning, outcome = self.planning, self.outcome
        proposed = planning.proposal(outcome)
        whole = proposed is not None and not planning.leaves_out
        if proposed is not None and not (planning.changes if whole else planning.tells):
            return proposed
        offered = self.retold()
        if offered is None and proposed is not None and whole:
            return proposed
        guessed = await self.guessed()
        nearest = guessed if guessed is not None and (not planning.tells or _offers_in(offered, guessed)) else None
        return nearest or _told_with(offered, proposed, outcome) or offered or guessed or proposed or outcome

    def shown(self) -> Unclear | None:
        """What an example of a new name shows comes before all that words tell."""
        if self.planning.wish.agreed or self.planning.wish.calls:
            return None
        deed = next(examples.surely(self.story), None)
        return self.planning.in_short(deed) if deed is not None and [*deed.calls] != self.planning.seen() else None

    async def followed(self) -> Unclear | None:
        """What goes into a folder, and what is done there next, where the words alone do not come to both."""
        story = self.story
        for first, then in following.cuts(story.text, story.language) if self.planning.stands_alone else ():
            before = await self.like(first)
            calls = await before.changes() if before.planning.wishes else ()
            moved = following.Moved.by(calls, story.ground)
            full = following.in_full(then, story.language, moved) if moved is not None else None
            if moved is None or full is None:
                continue
            later = self.task.model_copy(update={"workspace": {**self.task.workspace, **moved.ground.facts()}})
            done = await (await self.of(self.means, later, Wish(full), self.tools)).changes()
            both = Deed(calls).then(Deed(done))
            if moved.follows(done) and not self.planning.does(both.calls, self.outcome):
                return self.planning.in_short(both)
            if not moved.follows(done) and self.planning.deletes(done):  # more is in that folder: it stays
                return self.planning.in_parts(Deed(calls), [then])
        return None

    async def severally(self, goals: Sequence[str]) -> tuple[Sequence[Deed], Sequence[str]]:
        """What several goals come to by themselves, one after the other, and those that nobody understands; nothing
        where one is about the files of another.
        """
        told = {goal: await (await self.like(goal)).changes() for goal in goals}
        deeds = [Deed(calls) for calls in told.values() if calls]
        left = [goal for goal, calls in told.items() if not calls]
        return (deeds, left) if severally.apart(deeds, self.story.ground) else ((), ())

    async def changes(self) -> tuple[Call, ...]:
        """The changes that it comes to, if any."""
        outcome = self.outcome
        if not _changes(outcome):
            outcome = self.assigned() or self.shown() or await self.whole()
        if isinstance(outcome, Unclear) and len(outcome.offers) == 1 and not outcome.missing:
            taken = self.planning.wish.takes(outcome.offers[0])
            outcome = await Planning(self.means, self.task, taken, self.tools).outcome()
        return calls_in(outcome.plan) if isinstance(outcome, Drafted) and _changes(outcome) else ()

    def look(self) -> Drafted | None:
        """The look that a story asks for, where none was understood or the one that was leaves out what it is about."""
        planning, outcome, story = self.planning, self.outcome, self.story
        if (not isinstance(outcome, Drafted) and planning.changes) or planning.leads_past_names(outcome):
            return None
        if (borne := self.borne_look()) is not None:
            return borne
        if planning.looks_past(outcome) and (nearer := seeking.nearer(story, planning.seen())) is not None:
            return planning.carried_out(nearer.calls)
        deed = next(seeking.heard(story), None) if planning.sees_nothing(outcome) else None
        if deed is not None and (told := planning.carried_out(deed.calls)) is not None:
            return told
        if (wanted := seeking.wanted(story)) is not None and not isinstance(outcome, Drafted):
            return planning.carried_out(wanted.calls)
        asks = asking.question(story) is not None
        return planning.look(outcome) or (planning.nearest_look(outcome) if asks else None)

    def borne_look(self) -> Drafted | None:
        """A list of those that lack a word, or are marked with one, where nobody wants anything changed."""
        planning = self.planning
        if _changes(self.outcome) or planning.changes or planning.wish.replies or not planning.names_none():
            return None
        deed = inside.looked(self.story)
        return planning.carried_out(deed.calls) if deed is not None else None

    def either(self) -> Unclear | None:
        """Of files that are chosen by years, those whose names tell them, or those that were changed then."""
        calls = self.planning.seen()
        if not _changes(self.outcome) or self.planning.wish.replies:
            return None
        named = years.of_names(calls, self.story.ground)
        return self.planning.either(named, Deed(tuple(calls))) if named is not None else None

    def widened(self) -> Unclear | None:
        """What goes in a folder besides, where words alone would take the whole of it."""
        return None if self.planning.wish.replies else self.planning.first_of(widening.heard(self.story))

    def emptied(self) -> Unclear | None:
        """What comes out of a folder, where the words alone would look at it or delete it."""
        moves = [args for tool, args in self.planning.seen() if tool == MOVE and args.get("target") == "."]
        plain = isinstance(self.outcome, Drafted) and bool(moves)
        return None if plain or self.planning.wish.replies else self.planning.first_of(emptying.heard(self.story))

    def assigned(self) -> Unclear | None:
        """A name for each of several files, where the words alone would take their list for one name."""
        named = any("base" in args or tool == RENAME for tool, args in self.planning.seen())
        if self.planning.wish.replies or (isinstance(self.outcome, Drafted) and not named):
            return None
        deed = next(assigning.heard(self.story), None)
        return self.planning.in_short(deed) if deed is not None and [*deed.calls] != self.planning.seen() else None

    async def borne(self) -> Unclear | None:
        """The change of those papers that are marked so, where the words alone leave that out."""
        planning, story = self.planning, self.story
        if isinstance(self.outcome, Drafted) or planning.wish.replies or not inside.marked(story):
            return None
        if (told := planning.first_of(filter(inside.bounded, gist.deeds(story)))) is not None:
            return told
        says = inside.said(story)
        plain = (await self.like(inside.without(story, says).text)).outcome
        bound = inside.only(Deed(calls_in(plain.plan)), says) if isinstance(plain, Drafted) else None
        return planning.in_short(bound) if bound is not None else None

    async def homed(self) -> Unclear | None:
        """What goes into a folder that nobody has named, with the name that it would have."""
        steps = self.outcome.plan.steps if isinstance(self.outcome, Drafted) else ()
        asks_which = isinstance(self.outcome, Unclear) and bool(self.outcome.named)
        if asks_which or any(step.tool != CREATE for step in steps) or self.planning.wish.replies:
            return None
        named = homes.named(self.story)
        calls = await (await self.like(named)).changes() if named is not None else ()
        return self.planning.in_short(Deed(calls)) if calls else None

    def retold(self) -> Unclear | None:
        """The change that a request which was not understood may come to, as a proposal."""
        planning, outcome = self.planning, self.outcome
        past = planning.leads_past_names(outcome)
        if not past and isinstance(outcome, Drafted) and (understood := planning.understood(outcome)) is not None:
            fuller = placing.fuller(self.story, *understood)
            return planning.in_short(fuller) if fuller is not None else None
        if placing.the_same(self.story, planning.seen()):
            return None
        if not (past or planning.at_a_guess(outcome)):
            return self.placed() if isinstance(outcome, Unclear) and not outcome.partly else None
        told = planning.first_of(gist.deeds(self.story))
        told = planning.conditioned(told) if told is not None else None
        return planning.leaving_out(told, outcome)

    def placed(self) -> Unclear | None:
        """Where files go or what they are called, told with all that there is to tell."""
        if self.planning.wish.replies:
            return None
        told = self.planning.first_of(chain(placing.outright(self.story), renaming.outright(self.story)))
        return self.planning.conditioned(told) if told is not None else None

    async def guessed(self) -> Unclear | None:
        """The request with the files in it that its words come nearest to, as a proposal; nothing is done by it."""
        request = self.planning.named_outright(self.outcome)
        guess = await self.like(request) if request is not None else None
        if guess is None or not isinstance(guess.outcome, Drafted):
            return None
        return guess.planning.proposes(guess.outcome, self.planning)


def _changes(outcome: PlannerOutcome) -> bool:
    return isinstance(outcome, Drafted) and any(step.mutates for step in outcome.plan.steps)


def _offers_in(heard: Unclear | None, other: Unclear) -> bool:
    return heard is not None and heard.offers[0].label in other.question


def _told_with(heard: Unclear | None, *asked: PlannerOutcome | None) -> Unclear | None:
    """The question that comes to the same as the gist: it says besides what was not understood. A yes to it does what
    the gist comes to, which is what the question says.
    """
    if heard is None:
        return None
    same = next((one for one in asked if isinstance(one, Unclear) and _offers_in(heard, one)), None)
    return replace(same, offers=heard.offers, named=heard.named) if same is not None else None
