"""The gist of a request that nobody has understood word by word: what people tell with a story around it.

The strict reading comes first, and it alone may act. Where it would only ask what was meant, the gist looks for what
the folder bears out and a deed that is spoken of anywhere, and puts down the steps of that. Whoever said it sees what
they come to and says yes or no: nothing is changed on the strength of a gist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from libs.models.offline.gist import clearing, examples, inside, placing, renaming
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.story import Story
from libs.models.offline.marks import Says

Heard = Callable[[Story], Iterator[Deed]]
DEEDS: Sequence[Heard] = (
    examples.heard,
    renaming.outright,
    placing.outright,
    clearing.heard,
    placing.heard,
    renaming.heard,
    placing.home,
)
"""The more a request has to say for a deed, the earlier it stands: new names of files and folders say most; that
something is to go is said plainly or not at all. For what a story only asks, see `seeking`.
"""
CHANGES: Sequence[Heard] = (examples.heard, renaming.outright, clearing.heard, placing.heard)
"""Those that no look is taken instead of."""


def deeds(story: Story) -> Iterator[Deed]:
    """What the story may come to, the likeliest first; nothing where the folder bears out nothing."""
    if story.ground.paths is None:
        return
    says = inside.said(story)
    told: list[Deed] = []
    for deed in _bounded(inside.without(story, says), says):
        if deed not in told:
            told.append(deed)
            yield deed


def _bounded(story: Story, says: Sequence[Says]) -> Iterator[Deed]:
    """What the story comes to without what files say, and of that what these choose."""
    alone = next(inside.alone(story, says), None) if says else None
    if alone is not None and not inside.in_a_folder(alone):
        yield alone
    for deed in (deed for heard in DEEDS for deed in heard(story)):
        bound = inside.only(deed, says) if says else deed
        if bound is not None:
            yield bound
    if alone is not None:
        yield alone


def changes(story: Story) -> bool:
    """Does it want something done to files, whatever it may ask besides?"""
    if story.ground.paths is None:
        return False
    says = inside.said(story)
    plain = inside.without(story, says)
    done = any(next(heard(plain), None) is not None for heard in CHANGES)
    return done or (bool(says) and next(inside.alone(plain, says), None) is not None)
