"""The offline planner: from a task to a plan, a question, or an honest answer that no tool is needed or able.

It is careful in one direction only: what it does not understand it asks about, before anything could change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from libs.events.committee import Task
from libs.models.offline import corrections, mentioned, originals, replies
from libs.models.offline import phrasebook as say
from libs.models.offline.clauses import Mood, Reading
from libs.models.offline.disowning import owned
from libs.models.offline.earlier import added, before_last, chosen_instead, left_of, said_no
from libs.models.offline.explaining import WHY
from libs.models.offline.gist import amending, placing
from libs.models.offline.gist.acts import Side, effect
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.story import Story
from libs.models.offline.ground import Ground
from libs.models.offline.hearing import heard
from libs.models.offline.planning import Means, Planning, calls_in
from libs.models.offline.ranges import spelled
from libs.models.offline.reading import read
from libs.models.offline.replies import Standing, Wish
from libs.models.ports import Answered, Drafted, Offer, PlannerOutcome, Unclear, Why
from libs.retrieval.lexicon import Language
from libs.retrieval.words import fold
from libs.skills import ToolDefinition

NOTHING = (Why.GREETING, Why.CAPABILITY, Why.DECLINED)
"""Words alone that are no answer to who answers our question."""


class Planner(Means):
    """Plans a request and the replies to our questions about it."""

    __slots__ = ()

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        wish, outcome = await self._heard(task, catalogue)
        if isinstance(outcome, Unclear) or wish.told == task.text:
            return outcome
        return replace(outcome, wish=wish.told)

    async def wish(self, task: Task, catalogue: Sequence[ToolDefinition]) -> Wish:
        """What is asked for, as far as the replies to our questions have told."""
        return (await self._heard(task, catalogue))[0]

    async def _heard(self, task: Task, catalogue: Sequence[ToolDefinition]) -> tuple[Wish, PlannerOutcome]:
        """Each reply in turn, with the question that it answers: planning is deterministic, so that is asked again."""
        moment = self.now()
        return await replace(self, now=lambda: moment)._answered(task, catalogue)

    async def _answered(self, task: Task, catalogue: Sequence[ToolDefinition]) -> tuple[Wish, PlannerOutcome]:
        tools = _allowed(catalogue, task.tools)
        said = [*task.replies, *((task.clarification,) if task.clarification else ())]
        wish = Wish(owned(task.text) if task.history else task.text, skill=None if task.skill in said else task.skill)
        if said_no(task.history):
            wish, outcome = await self._after_a_no(task, wish, tools)
        else:
            outcome = await self._planned(task, wish, tools)
        asked: list[str] = []
        for reply in said:
            asked += [outcome.question] if isinstance(outcome, Unclear) else []
            wish, outcome = await self._replied(task, wish, outcome, reply=reply, tools=tools)
            if isinstance(outcome, Unclear) and outcome.question in asked:
                outcome = Planning(self, task, wish, tools).at_a_loss(outcome, asked)
        return wish, outcome

    async def _after_a_no(self, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> tuple[Wish, PlannerOutcome]:
        """What was refused in the turn before is changed by what is said now: it is planned once more, as it was."""
        earlier = before_last(task)
        was, refused = await self._answered(earlier, tools)
        offer = await self._offered(earlier, was, refused, tools)
        wish = replace(wish, refused=was.refused + replies.proposed(refused))
        right = self._amended(task, wish, offer, reply=task.text, tools=tools)
        return self._nearer(task, offer, right, (wish, await self._planned(task, wish, tools)))

    async def _replied(
        self, task: Task, wish: Wish, before: PlannerOutcome, *, reply: str, tools: Sequence[ToolDefinition]
    ) -> tuple[Wish, PlannerOutcome]:
        """A no, a why, what was offered, what was offered put right, or a wish of its own."""
        if replies.refused(reply):
            return wish, Planning(self, task, wish, tools).undone()
        if isinstance(before, Unclear) and WHY.match(reply):
            return wish, Planning(self, task, wish, tools).because(before)
        if isinstance(before, Unclear) and replies.unanswered(reply, before):
            return wish, Planning(self, task, wish, tools).more_than_yes(before)
        if not isinstance(before, Unclear) or _taken(wish, before, reply, self._read(task, wish.text).language):
            return await self._understood(task, wish, before, reply=reply, tools=tools)
        offer = await self._offered(task, wish, before, tools)
        wish = replace(wish, refused=wish.refused + replies.proposed(before), standing=offer)
        if offer.calls and replies.WRONG.fullmatch(fold(reply)):
            return wish, Planning(self, task, wish, tools).what_else()
        right = self._amended(task, wish, offer, reply=reply, tools=tools)
        if right is not None and right.in_it and replies.MORE.match(reply):
            taken = replace(wish, calls=offer.calls, agreed=True, answered=True)
            return taken, await self._planned(task, taken, tools)
        if right is not None and right.whole and offer.heard:
            return right.wish, right.asked
        if right is None and (seen := await self._looked(task, reply, tools)) is not None:
            return seen
        if right is None and (both := await self._and_then(task, wish, offer, reply=reply, tools=tools)) is not None:
            return both
        return self._nearer(task, offer, right, await self._understood(task, wish, before, reply=reply, tools=tools))

    async def _looked(
        self, task: Task, reply: str, tools: Sequence[ToolDefinition]
    ) -> tuple[Wish, PlannerOutcome] | None:
        """A question in reply to ours: nobody wants anything changed by it."""
        if placing.ASKED.match(corrections.bare(reply)) is None or not reply.rstrip().endswith("?"):
            return None
        fresh = Wish(corrections.bare(reply))
        outcome = await self._planned(task, fresh, tools)
        looks = isinstance(outcome, Drafted) and not any(step.mutates for step in outcome.plan.steps)
        return (fresh, outcome) if looks else None

    async def _and_then(
        self, task: Task, wish: Wish, offer: Standing, *, reply: str, tools: Sequence[ToolDefinition]
    ) -> tuple[Wish, PlannerOutcome] | None:
        """ "Yes, and then delete the drafts": what was offered, and that after it."""
        more = replies.MORE.match(reply)
        if more is None or not more["and"] or not offer.heard:
            return None
        then = await self._planned(task, Wish(more["rest"], agreed=True), tools)
        if not isinstance(then, Drafted) or not any(step.mutates for step in then.plan.steps):
            return None
        meant = replace(wish, said=(*wish.said, reply))
        both = Deed(offer.calls).then(Deed(calls_in(then.plan)))
        asked = Planning(self, task, meant, tools).in_short(both)
        return (meant, asked) if asked is not None else None

    async def _offered(
        self, task: Task, wish: Wish, before: PlannerOutcome, tools: Sequence[ToolDefinition]
    ) -> Standing:
        """What stands before the person: the calls of what was offered last, or of the plan that was refused."""
        if isinstance(before, Drafted):
            return Standing(calls_in(before.plan), heard=bool(wish.calls))
        if isinstance(before, Answered) or before.missing or not (len(before.offers) == 1 or before.partly):
            return wish.standing
        taken = wish.takes(before.offers[0]) if before.offers else replace(wish, agreed=True, answered=True)
        if taken.calls:
            return Standing(taken.calls, heard=True)
        plan = await self._planned(task, taken, tools)
        return Standing(calls_in(plan.plan)) if isinstance(plan, Drafted) else wish.standing

    def _amended(
        self, task: Task, wish: Wish, offer: Standing, *, reply: str, tools: Sequence[ToolDefinition]
    ) -> _Right | None:
        """What was offered, as the reply wants it: offered anew."""
        ground = Ground.of(task.root, task.workspace)
        story = Story(spelled(owned(reply), ground), ground, self.categories, self.now())
        more = replies.MORE.match(reply)
        plainly = Side.ALSO if more is not None and more["and"] else offer.plainly
        found = amending.amended(offer.calls, story, plainly=plainly)
        if found is None:
            return None
        if found.same and replies.contradicts(reply):
            return _Right(wish, Planning(self, task, wish, tools).what_else(), whole=False, in_it=False)
        said = wish.said if reply == wish.text else (*wish.said, reply)
        meant = replace(wish, said=said, refused=() if found.same else wish.refused)
        if found.unknown is not None:
            meant = replace(meant, standing=replace(offer, plainly=found.unknown))
        asked = Planning(self, task, meant, tools).put_right(found)
        return _Right(meant, asked, whole=not found.left, in_it=found.same) if asked is not None else None

    def _nearer(
        self, task: Task, offer: Standing, right: _Right | None, heard: tuple[Wish, PlannerOutcome]
    ) -> tuple[Wish, PlannerOutcome]:
        """What was offered, put right, where the reply as a wish comes to nothing, or leaves out what it says."""
        outcome, ground = heard[1], Ground.of(task.root, task.workspace)
        if right is None:
            return heard
        if isinstance(outcome, Drafted):
            done = effect(calls_in(outcome.plan), ground)
            lost = done == effect(offer.calls, ground) and not right.in_it
            return (right.wish, right.asked) if lost or (right.whole and offer.heard) else heard
        tells = bool(outcome.offers) if isinstance(outcome, Unclear) else outcome.why not in NOTHING
        return (right.wish, right.asked) if right.whole or not tells else heard

    async def _understood(
        self, task: Task, wish: Wish, before: PlannerOutcome, *, reply: str, tools: Sequence[ToolDefinition]
    ) -> tuple[Wish, PlannerOutcome]:
        """The first of the reply's meanings that comes to a plan, else the one that is most its own."""
        tried = []
        for meant in self._meanings(task, wish, before, reply):
            outcome = await self._planned(task, meant, tools)
            if isinstance(outcome, Unclear) and outcome.partly and meant.leaves_aside(outcome.about):
                meant = replace(meant, agreed=True)
                outcome = await self._planned(task, meant, tools)
            if isinstance(outcome, Drafted):
                return meant, Planning(self, task, meant, tools).without_the_left(outcome)
            tried.append((meant, outcome))
        if (own := await self._of_its_own(task, reply, tools)) is not None:
            return own
        meant, outcome = next((one for one in tried if not _talks(one[1])), tried[0])
        if isinstance(outcome, Unclear) and replies.refuses(reply, before, outcome.offers):
            return meant, Planning(self, task, meant, tools).at_a_loss(outcome, [outcome.question])
        return meant, outcome

    async def _of_its_own(
        self, task: Task, reply: str, tools: Sequence[ToolDefinition]
    ) -> tuple[Wish, PlannerOutcome] | None:
        """The reply without all that was said before, where it says a deed and something comes of that alone."""
        fresh = Wish(replies.anew(reply))
        if not replies.says_it_all(self._read(task, fresh.text)):
            return None
        outcome = await self._planned(task, fresh, tools)
        offers = isinstance(outcome, Unclear) and bool(outcome.offers)
        return (fresh, outcome) if offers or isinstance(outcome, Drafted) else None

    def _meanings(self, task: Task, wish: Wish, before: PlannerOutcome, reply: str) -> Iterator[Wish]:
        """What was offered, a wish of its own, what was asked for in its place, or more words of the wish."""
        ground = Ground.of(task.root, task.workspace)
        said, reply = reply, spelled(owned(reply), ground)
        whole = self._read(task, wish.text)
        reply = replies.how(before, reply, whole.language)
        reply = replies.where(before, reply, ground, whole=whole, alone=self._read(task, reply))
        fresh = Wish(replies.anew(reply))
        alone = self._read(task, fresh.text)
        reply = "yes" if replies.repeats(reply, alone, whole) else reply
        if isinstance(before, Unclear):
            if (taken := _taken(wish, before, reply, whole.language)) is not None:
                yield taken
                return
            yield from self._of_what_was_asked(task, wish, before, said=said, reply=reply, whole=whole)
        denied = replies.DENIES.match(said) is not None
        refused = denied and isinstance(before, Unclear) and any(one.skill for one in before.offers)
        if denied and (again := corrections.deed_again(whole, fresh.text, ground)):
            yield wish.with_words(again)
        if (each := replies.each_of(wish, before, reply)) is not None:
            yield each
            return
        if (pointed := _pointed(before, alone, reply)) is not None:
            fresh, alone = Wish(pointed), self._read(task, pointed)
        names = isinstance(before, Unclear) and "new_name" in before.missing
        if names and (new := corrections.new_name(reply, whole.language)) is not None:
            yield replies.completed(wish, before, new) or Wish(new)
            return
        if (called := corrections.called(whole, reply, ground)) is not None:
            yield wish.with_words(called)
            return
        if not refused and any(clause.names and clause.mood is Mood.ONLY for clause in alone.clauses):
            yield from self._chosen(task, wish, before, fresh.text)
        if (narrowed := replies.narrowed(wish, before, alone, denied=denied)) is not None:
            yield narrowed
        if stands := replies.stands(alone, whole):
            yield from self._instead(task, fresh, alone, whole=whole)
        if (placed := replies.in_place(wish, before, reply, whole=whole, alone=alone)) is not None:
            yield placed
        if not refused and replies.chooses(alone) and not replies.spares(whole):
            yield from self._chosen(task, wish, before, fresh.text)
        together = replies.completed(wish, before, reply) or replies.combined(wish, reply)
        yield wish if replies.both_ways(reply, before) else together
        if not stands and fresh.text != reply:
            yield fresh
        if (numbered := replies.of_many(wish, before, said)) is not None:
            yield numbered

    def _of_what_was_asked(
        self, task: Task, wish: Wish, before: Unclear, *, said: str, reply: str, whole: Reading
    ) -> Iterator[Wish]:
        """What only a question can be told: a place to make, a yes that goes on, a number, some of what it named."""
        if (place := replies.place_to_make(reply, before)) is not None:
            yield Wish(say.CREATES[whole.language].format(name=place))
        if (more := replies.MORE.match(reply)) is not None and not before.missing:
            yield from self._and_more(task, wish, before, said=more["rest"], adds=bool(more["and"]))
        if (picked := replies.counted_in(reply, before)) is not None:
            yield from self._picked(task, wish, *picked)
        ground = Ground.of(task.root, task.workspace)
        if (rest := left_of(whole, said, before.named, ground, asked=True)) is not None:
            yield wish.with_words(rest)

    def _instead(self, task: Task, fresh: Wish, alone: Reading, *, whole: Reading) -> Iterator[Wish]:
        """The reply in place of the wish; without its first sentence, where that only explains something."""
        yield from replies.instead(fresh, alone, whole)
        told = replies.SENTENCE.match(fresh.text)
        if told is not None and replies.only_explains(self._read(task, told["first"])):
            yield from replies.instead(Wish(told["rest"]), self._read(task, told["rest"]), whole)

    def _and_more(self, task: Task, wish: Wish, before: Unclear, *, said: str, adds: bool) -> Iterator[Wish]:
        """A yes that goes on: what was offered, put right by the rest of it, or with that beside it."""
        offered = wish.takes(before.offers[0]) if len(before.offers) == 1 and not before.offers[0].calls else wish
        whole, ground, now = self._read(task, offered.text), Ground.of(task.root, task.workspace), self.now()
        heard = before.question
        if not adds and (right := corrections.each_instead(whole, said, ground, now)) is not None:
            yield replace(offered, text=right, answered=True, heard=heard)
        rest = self._read(task, originals.without_after(said, whole.language))
        if adds and (gone := originals.go_too(whole, rest, before.named)) is not None:
            yield replace(offered, text=gone, agreed=False, answered=True, heard=heard)
        if (more := added(whole, f"also {said}" if adds else said, ground, now)) is not None:
            yield replace(offered, text=more, agreed=False, answered=True, heard=heard)

    def _picked(self, task: Task, wish: Wish, offer: Offer, rest: str) -> Iterator[Wish]:
        """ "Number 1, zip the three letters": what is said of it is a wish of its own, for that skill."""
        if not any(clause.words and not clause.says("greeting") for clause in self._read(task, rest).clauses):
            yield wish.takes(offer)
        elif replies.stands(self._read(task, rest), self._read(task, wish.text)):
            yield Wish(rest, skill=offer.skill, answered=True)
        yield replace(wish.takes(offer), agreed=False)

    def _chosen(self, task: Task, wish: Wish, before: PlannerOutcome, said: str) -> Iterator[Wish]:
        """The wish for other files."""
        ground = Ground.of(task.root, task.workspace)
        if (instead := chosen_instead(wish.text, said, ground, self.now())) is not None:
            partly = isinstance(before, Unclear) and before.partly  # they have heard what is left out
            yield replace(wish.with_words(instead), agreed=wish.agreed or partly)

    def _read(self, task: Task, text: str) -> Reading:
        return read(text, Ground.of(task.root, task.workspace).spoken, now=self.now())

    async def _planned(self, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> PlannerOutcome:
        return await heard(self, task, wish, tools)


@dataclass(frozen=True, slots=True)
class _Right:
    """What was offered, put right by a reply: is all of the reply in it?"""

    wish: Wish
    asked: Unclear
    whole: bool
    in_it: bool
    """Was it offered just so?"""


def _taken(wish: Wish, before: Unclear, reply: str, language: Language) -> Wish | None:
    """The wish with one or several of what was offered."""
    if (some := replies.several(reply, before, language)) is not None:
        return wish.with_words(some)
    offer = replies.taken(reply, before)
    return wish.takes(offer) if offer is not None else None


def _pointed(before: PlannerOutcome, alone: Reading, reply: str) -> str | None:
    """The reply with the names of what the question has named in the place of "those" or "both"."""
    named = before.named if isinstance(before, Unclear) else ()
    if (pointed := mentioned.by_name(alone, named)) is not None:
        return pointed
    return mentioned.quoted(named) if named and replies.of_all(reply, len(named)) else None


def _talks(outcome: PlannerOutcome) -> bool:
    """A greeting is no answer to who answers our question."""
    return isinstance(outcome, Answered) and outcome.why in (Why.GREETING, Why.CAPABILITY)


def _allowed(catalogue: Sequence[ToolDefinition], allowlist: Sequence[str]) -> list[ToolDefinition]:
    """The tools that the agent may use; an empty list is no list."""
    if not allowlist:
        return list(catalogue)
    return [tool for tool in catalogue if any(fnmatchcase(tool.name, pattern) for pattern in allowlist)]
