"""How a request is heard: word by word, and where that does not come to all that was said, by what it shows, asks for
or tells (docs/decisions/0048).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from libs.events.committee import Task
from libs.models.offline import gist
from libs.models.offline.gist import asking, examples, placing, seeking
from libs.models.offline.planning import Means, Planning
from libs.models.offline.replies import Wish
from libs.models.ports import Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition


async def heard(means: Means, task: Task, wish: Wish, tools: Sequence[ToolDefinition]) -> PlannerOutcome:
    """Word by word first. Where that does not come to all that was said, in this order: a look that the story asks
    for, what was nearly understood, the gist of the story, and the files that its words come nearest to (0048).
    Of two that come to the same, the one that says besides what it leaves out.
    """
    planning = Planning(means, task, wish, tools)
    outcome = await planning.outcome()
    if (shown := _shown(planning)) is not None:
        return shown
    if (looked := _look(planning, outcome)) is not None:
        return looked
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


def _look(planning: Planning, outcome: PlannerOutcome) -> Drafted | None:
    """The look that a story asks for, where none was understood or the one that was leaves out what it is about."""
    story = planning.story
    if (not isinstance(outcome, Drafted) and planning.changes) or planning.leads_past_names(outcome):
        return None
    if planning.looks_past(outcome) and (nearer := seeking.nearer(story, planning.seen())) is not None:
        return planning.carried_out(nearer.calls)
    deed = next(seeking.heard(story), None) if planning.sees_nothing(outcome) else None
    if deed is not None and (told := planning.carried_out(deed.calls)) is not None:
        return told
    asks = asking.question(story) is not None
    return planning.look(outcome) or (planning.nearest_look(outcome) if asks else None)


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
    return planning.leaving_out(told, outcome)


def _placed(planning: Planning) -> Unclear | None:
    """Where files go, told with all that there is to tell: nothing is asked that the story says."""
    deed = None if planning.wish.agreed or planning.wish.answered else next(placing.outright(planning.story), None)
    return planning.in_short(deed) if deed is not None else None


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
