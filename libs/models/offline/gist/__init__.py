"""The gist of a request that nobody has understood word by word: what people tell with a story around it.

The strict reading comes first, and it alone may act. Where it would only ask what was meant, the gist looks for what
the folder bears out and a deed that is spoken of anywhere, and puts down the steps of that. Whoever said it sees what
they come to and says yes or no: nothing is changed on the strength of a gist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from libs.models.offline.gist import clearing, inside, placing, renaming
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.story import Story

Heard = Callable[[Story], Iterator[Deed]]
DEEDS: Sequence[Heard] = (
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
RENAMINGS: Sequence[Heard] = (renaming.outright, renaming.heard)
"""Where it takes what files say to choose them, no other deed is borne out by names."""
CHANGES: Sequence[Heard] = (renaming.outright, clearing.heard, placing.heard)
"""Those that no look is taken instead of."""


def deeds(story: Story) -> Iterator[Deed]:
    """What the story may come to, the likeliest first; nothing where the folder bears out nothing."""
    if story.ground.paths is None:
        return
    told: list[Deed] = []
    for heard in RENAMINGS if inside.chosen_by(story) else DEEDS:
        for deed in heard(story):
            if deed not in told:
                told.append(deed)
                yield deed


def changes(story: Story) -> bool:
    """Does it want something done to files, whatever it may ask besides?"""
    return story.ground.paths is not None and any(next(heard(story), None) is not None for heard in CHANGES)
