"""TODO"""

from __future__ import annotations

from collections.abc import Iterator

from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.story import Story


def heard(story: Story) -> Iterator[Deed]:
    yield from ()
