"""Where nobody understood what stays, the others are not offered to go; and who forbids a deed is not offered it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from libs.models.offline import OfflineModel
from libs.models.offline.planning import calls_in
from libs.models.ports import Unclear
from libs.skills import ToolDefinition, selected
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


BANK = ("Auszug 2023 11.pdf", "Auszug 2023 12.pdf", "Auszug 2024 01.pdf", "recibo 2023.pdf", "recibo 2024.pdf", "a.txt")


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("die Auszüge von 2023 können weg, die von 2024 brauch ich noch", BANK[:2]),
        ("die Auszüge von 2023 können weg, die vom Januar brauche ich noch", BANK[:2]),
        ("los recibos de 2023 se pueden borrar, los de 2024 los necesito", BANK[3:4]),
        ("borra los recibos, el recibo 2024 todavía me sirve", BANK[3:4]),
    ],
)
async def test_what_is_needed_still_stays(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, gone: tuple[str, ...]
) -> None:
    outcome = await model.plan(task(text, BANK), catalogue)
    calls = outcome.offers[0].calls if isinstance(outcome, Unclear) else calls_in(outcome.plan)  # type: ignore[union-attr]
    listing = next(args for tool, args in calls if tool == "manage-files.list")
    assert tuple(path for path in BANK if selected(path, **_chosen(listing))) == gone


def _chosen(listing: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    return {name: listing.get(name, ()) for name in ("include", "exclude")}


async def test_who_speaks_of_a_name_alone_deletes_no_file(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    text = "put lyrics in front of the song names... i mean take it away, just the song name"
    outcome = await model.plan(task(text, ("rain.mp3", "harbour.mp3")), catalogue)
    assert isinstance(outcome, Unclear), outcome
    assert not any(tool == "manage-files.delete" for offer in outcome.offers for tool, _ in offer.calls)
