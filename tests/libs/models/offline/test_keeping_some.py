"""Where nobody understood what stays, the others are not offered to go; and who forbids a deed is not offered it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
CHOIR = (
    "concert poster FINAL.png",
    "concert poster FINAL v2.png",
    "concert poster draft.png",
    "letter to the church.docx",
    "download.part",
)


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("guarda solo el final v2 de los posters y tira los demás", "v2"),
        ("borra los carteles viejos menos el final v2", "v2"),
        ("keep only the final v2 poster, bin the other posters", "v2"),
        ("don't delete the letter, but the part file can go", "letter"),
    ],
)
async def test_it_is_in_no_offer(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, stays: str
) -> None:
    outcome = await model.plan(task(text, CHOIR), catalogue)
    assert isinstance(outcome, Unclear), outcome
    offered = [path for offer in outcome.offers for _, args in offer.calls for path in args.get("include", ())]
    assert not any(stays in path for path in offered)
    assert not any(stays in offer.label for offer in outcome.offers)
