"""Archives that a story asks for: what goes in, what they are called, and whether the originals stay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import Placed, task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
PATHS = (
    "Dues 2024.csv",
    "dues_2025.csv",
    "Dues 2026.csv",
    "Rezepte/Kuchen.txt",
    "Rezepte/Suppe.txt",
    "Rezepte/alt/Brot.txt",
    "Carteles/cartel mayo.png",
    "Carteles/cartel junio.png",
    "train ticket.pdf",
)


@pytest.mark.parametrize(
    ("text", "archive", "files"),
    [
        (
            "Ruth takes over as treasurer, bless her, and asked for the dues, all three years of them. Could you put"
            " them in one zip and call it Dues for Ruth? I would like to keep mine.",
            "Dues for Ruth.zip",
            PATHS[:3],
        ),
        (
            "meine schwester will sämtliche rezepte, mach da mal ne zip draus, Rezepte Elke soll die heißen",
            "Rezepte Elke.zip",
            PATHS[3:5],
        ),
        (
            "los de la imprenta me piden los dos carteles en un zip, ponele carteles imprenta, los míos que se queden",
            "carteles imprenta.zip",
            PATHS[6:8],
        ),
        ("office wants me dues again so zip em up, ill send it from the train", "Dues.zip", PATHS[:3]),
    ],
)
async def test_what_is_spoken_of_is_packed_under_the_name_that_is_told(
    placed: Placed, text: str, archive: str, files: tuple[str, ...]
) -> None:
    assert await placed(text, PATHS) == [(archive, files)]


@pytest.mark.parametrize(
    ("text", "archive"),
    [
        ("them two carteles in one zip, call it posters, and after that the originals can go away", "posters.zip"),
        ("los carteles ya pasaron, haceme un zip, carteles ponele, y despues borra los originales", "carteles.zip"),
    ],
)
async def test_the_originals_go_only_where_that_is_said(placed: Placed, text: str, archive: str) -> None:
    told = await placed(text, PATHS)
    assert [goal for goal, _ in told] == [f"{archive} and gone"]


@pytest.mark.parametrize(
    "text",
    [
        "dues in a zip please, call it Dues all, but dont delete any of mine",
        "die rezepte in ne zip, nenn sie Rezepte alle, und ja nix löschen",
        "los carteles en un zip, ponele carteles todo, y no borres nada",
    ],
)
async def test_a_word_of_deleting_that_is_denied_deletes_nothing(placed: Placed, text: str) -> None:
    assert all(" and gone" not in goal for goal, _ in await placed(text, PATHS))


async def test_who_speaks_of_unpacking_is_not_offered_to_pack(placed: Placed) -> None:
    assert await placed("that dues zip, could you unzip it somehow, I can't get it open", PATHS) == []


async def test_an_offer_says_that_the_originals_go(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    text = "them two carteles in one zip, call it posters, and after that the originals can go away"
    outcome = await model.plan(task(text, PATHS), catalogue)
    assert isinstance(outcome, Unclear)
    assert "into posters.zip and delete the originals" in outcome.question.replace("“", "").replace("”", "")


@pytest.mark.parametrize(
    ("text", "archive"),
    [
        (
            "Den Ordner Rezepte brauch ich nicht mehr offen rumliegen, packen Sie den doch in eine Zip Datei namens"
            " Rezepte bis 2021 und tun den Ordner danach weg",
            "Rezepte bis 2021.zip",
        ),
        ("pack the whole folder Rezepte in a zip please, call it Oma and get rid of the folder after", "Oma.zip"),
    ],
)
async def test_a_folder_goes_in_as_one_and_no_word_of_its_new_name_chooses(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, archive: str
) -> None:
    outcome = await model.plan(task(text, (*PATHS, "Rezepte/Torte 2021.txt"), reply="yes"), catalogue)
    assert isinstance(outcome, Drafted)
    assert outcome.plan.steps[-1].args == {"paths": ["Rezepte"], "archive": archive, "remove": True}


@pytest.mark.parametrize(
    "text",
    [
        "make a zip with this year's donation list and the raffle takings in it",
        "pack die donation list von 2026 und die raffle takings in ein zip, ich schick das dem Kassier",
    ],
)
async def test_a_time_is_of_what_it_stands_beside_in_a_list(placed: Placed, text: str) -> None:
    paths = ("donation list 2025.csv", "donation list 2026.csv", "Raffle takings.xlsx", "poster.png")
    ((_, told),) = await placed(text, paths)
    assert sorted(told) == sorted(paths[1:3])
