"""How a request is heard: word by word, and where that does not come to all that was said, by what it shows, asks for
or tells (docs/decisions/0048).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain

from libs.events.committee import Task
from libs.models.offline import gist, severally
from libs.models.offline.gist import asking, examples, homes, inside, placing, renaming, seeking, widening
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.planning import Means, Planning, calls_in
from libs.models.offline.replies import Wish
from libs.models.ports import Call, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition

SEVERAL, CREATE = 2, "manage-files.create"


async def heard(means: Means, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> PlannerOutcome:
    """The request as a whole; where each of several goals by itself comes to more, that."""
    planning = Planning(means, task, wish, tools)
    outcome = await planning.outcome()
    if (shown := _shown(planning)) is not None:
        return shown
    goals = planning.goals(outcome)
    whole = await _singly(means, task, planning, outcome, tools=tools)
    if not goals or isinstance(whole, Drafted):
        return whole
    several = await _severally(means, task, planning, goals, tools=tools)
    asks = isinstance(outcome, Unclear) and bool(outcome.missing)
    if several is None or (asks and several.about) or not severally.more(several, whole, planning.story.ground):
        return whole
    return several


async def _singly(
    means: Means, task: Task, planning: Planning, outcome: PlannerOutcome, *, tools: Sequence[ToolDefinition]
) -> PlannerOutcome:
    """Word by word first. Where that does not come to all that was said, in this order: a look that the story asks
    for, what was nearly understood, the gist of the story, and the files that its words come nearest to (0048).
    Of two that come to the same, the one that says besides what it leaves out.
    """
    if (looked := _look(planning, outcome)) is not None:
        return looked
    if (wider := _widened(planning)) is not None:
        return wider
    if (borne := await _borne(means, task, planning, outcome, tools=tools)) is not None:
        return borne
    if (homed := await _homed(means, task, planning, outcome, tools=tools)) is not None:
        return homed
    proposed = planning.proposal(outcome)
    whole = proposed is not None and not planning.leaves_out
    if proposed is not None and not (planning.changes if whole else planning.tells):
        return proposed
    offered = _gist(planning, outcome)
    if offered is None and proposed is not None and whole:
        return proposed
    guessed = await _guessed(means, task, planning, outcome, tools=tools)
    nearest = guessed if guessed is not None and (not planning.tells or _offers_in(offered, guessed)) else None
    return nearest or _told_with(offered, proposed, outcome) or offered or guessed or proposed or outcome


def _shown(planning: Planning) -> Unclear | None:
    """What an example of a new name shows comes before all that words tell."""
    if planning.wish.agreed or planning.wish.calls:
        return None
    deed = next(examples.surely(planning.story), None)
    return planning.in_short(deed) if deed is not None and [*deed.calls] != planning.seen() else None


async def _severally(
    means: Means, task: Task, planning: Planning, goals: Sequence[str], *, tools: Sequence[ToolDefinition]
) -> Unclear | None:
    """What several goals come to by themselves, one after the other, and those that nobody understands."""
    told = {goal: await _alone(means, task, Wish(goal), tools) for goal in goals}
    deeds = [Deed(calls) for calls in told.values() if calls]
    left = [goal for goal, calls in told.items() if not calls]
    if len(deeds) < SEVERAL or not severally.apart(deeds, planning.story.ground):
        return None
    return planning.in_parts(reduce(Deed.then, deeds), left)


async def _alone(means: Means, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> tuple[Call, ...]:
    """The changes that one goal comes to, if any."""
    planning = Planning(means, task, wish, tools)
    outcome = await planning.outcome()
    if not isinstance(outcome, Drafted):
        outcome = _shown(planning) or await _singly(means, task, planning, outcome, tools=tools)
    if isinstance(outcome, Unclear) and len(outcome.offers) == 1 and not outcome.missing:
        outcome = await Planning(means, task, wish.takes(outcome.offers[0]), tools).outcome()
    if not isinstance(outcome, Drafted) or not any(step.mutates for step in outcome.plan.steps):
        return ()
    return calls_in(outcome.plan)


def _look(planning: Planning, outcome: PlannerOutcome) -> Drafted | None:
    """The look that a story asks for, where none was understood or the one that was leaves out what it is about."""
    story = planning.story
    if (not isinstance(outcome, Drafted) and planning.changes) or planning.leads_past_names(outcome):
        return None
    if (borne := _borne_look(planning, outcome)) is not None:
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


def _widened(planning: Planning) -> Unclear | None:
    """What goes in a folder besides, where words alone would take the whole of it."""
    if planning.wish.agreed or planning.wish.answered:
        return None
    return next(
        (told for deed in widening.heard(planning.story) if (told := planning.in_short(deed)) is not None), None
    )


def _borne_look(planning: Planning, outcome: PlannerOutcome) -> Drafted | None:
    """A list of those that lack a word, or are marked with one, where nobody wants anything changed."""
    changes = isinstance(outcome, Drafted) and any(step.mutates for step in outcome.plan.steps)
    if changes or planning.changes or planning.wish.agreed or planning.wish.answered or not planning.names_none():
        return None
    deed = inside.looked(planning.story)
    return planning.carried_out(deed.calls) if deed is not None else None


async def _borne(
    means: Means, task: Task, planning: Planning, outcome: PlannerOutcome, *, tools: Sequence[ToolDefinition]
) -> Unclear | None:
    """The change of those papers that are marked so, where the words alone leave that out."""
    story = planning.story
    if isinstance(outcome, Drafted) or planning.wish.agreed or planning.wish.answered or not inside.marked(story):
        return None
    deeds = filter(inside.bounded, gist.deeds(story))
    if (told := next((told for deed in deeds if (told := planning.in_short(deed)) is not None), None)) is not None:
        return told
    says = inside.said(story)
    plain = await Planning(means, task, Wish(inside.without(story, says).text), tools).outcome()
    bound = inside.only(Deed(calls_in(plain.plan)), says) if isinstance(plain, Drafted) else None
    return planning.in_short(bound) if bound is not None else None


async def _homed(
    means: Means, task: Task, planning: Planning, outcome: PlannerOutcome, *, tools: Sequence[ToolDefinition]
) -> Unclear | None:
    """What goes into a folder that nobody has named, with the name that it would have: more than that it is made."""
    steps = outcome.plan.steps if isinstance(outcome, Drafted) else ()
    asks_which = isinstance(outcome, Unclear) and bool(outcome.named)
    if asks_which or any(step.tool != CREATE for step in steps) or planning.wish.agreed or planning.wish.answered:
        return None
    named = homes.named(planning.story)
    calls = await _alone(means, task, Wish(named), tools) if named is not None else ()
    return planning.in_short(Deed(calls)) if calls else None


def _gist(planning: Planning, outcome: PlannerOutcome) -> Unclear | None:
    """The change that a request which was not understood may come to, as a proposal."""
    story = planning.story
    past = planning.leads_past_names(outcome)
    if not past and isinstance(outcome, Drafted) and (understood := planning.understood(outcome)) is not None:
        fuller = placing.fuller(story, *understood)
        return planning.in_short(fuller) if fuller is not None else None
    if placing.the_same(story, planning.seen()):
        return None
    if not (past or planning.at_a_guess(outcome)):
        return _placed(planning) if isinstance(outcome, Unclear) and not outcome.partly else None
    told = next((told for deed in gist.deeds(story) if (told := planning.in_short(deed)) is not None), None)
    told = planning.conditioned(told) if told is not None else None
    return planning.leaving_out(told, outcome)


def _placed(planning: Planning) -> Unclear | None:
    """Where files go or what they are called, told with all that there is to tell: nothing is asked that it says."""
    if planning.wish.agreed or planning.wish.answered:
        return None
    deeds = chain(placing.outright(planning.story), renaming.outright(planning.story))
    told = next((told for deed in deeds if (told := planning.in_short(deed)) is not None), None)
    return planning.conditioned(told) if told is not None else None


async def _guessed(
    means: Means, task: Task, planning: Planning, outcome: PlannerOutcome, *, tools: Sequence[ToolDefinition]
) -> Unclear | None:
    """The request with the files in it that its words come nearest to, as a proposal; nothing is done by it."""
    request = planning.named_outright(outcome)
    if request is None:
        return None
    guess = Planning(means, task, Wish(request), tools)
    plan = await guess.outcome()
    return guess.proposes(plan, planning) if isinstance(plan, Drafted) else None


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
