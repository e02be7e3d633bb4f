"""A part of names goes, with the signs that it would leave behind, and the files stay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import Offered, alike, task

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
PATHS = ("Bills/bill water.pdf", "Bills/bill light.pdf", "Posters/pub FINAL.png", "Posters/FINAL park.png", "b.txt")


@pytest.mark.parametrize(
    "text",
    [
        "in Bills I know they are bills, thank you very much! take that word off, just water and light",
        "in the folder Bills i can see they are bills. lose the word bill off the front of the names",
        "im Ordner Bills weiß ich ja dass es bills sind, nimm das Wort bill da aus den Namen raus",
        "en la carpeta Bills ya sé que son bills, no hace falta ponerlo. quítales esa palabra, que quede water",
    ],
)
async def test_a_word_that_the_folder_tells_already_goes_from_the_names(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(PATHS[:2], {"find": "bill ", "replace": ""})


@pytest.mark.parametrize(
    "text",
    [
        "it was never final of course. the Posters have FINAL in the name, take it out please",
        "me da vergüenza mandar los Posters con ese FINAL en el nombre. sácaselo a todos",
    ],
)
async def test_no_blank_stays_at_either_edge(renamed: Offered, text: str) -> None:
    told = await renamed(text, PATHS)
    assert {path: rule["find"] for path, rule in told.items()} == {PATHS[2]: " FINAL", PATHS[3]: "FINAL "}


@pytest.mark.parametrize(
    "text",
    [
        "oh dear, the ones with FINAL in the name can be removed now",
        "weg mit denen die FINAL im Namen haben, brauch ich nimmer",
        "los que llevan FINAL en el nombre ya no sirven, quita todo eso",
    ],
)
async def test_files_that_are_chosen_by_it_are_not_renamed(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == {}


BILLS = ("water_FINAL.pdf", "light_FINAL.pdf", "Contract FINAL.pdf", "plan.txt")


@pytest.mark.parametrize(
    "text",
    [
        "take that silly FINAL off the pdfs",
        "i want that stupid FINAL gone from my pdfs",
        "can you lose the FINAL bit in the pdfs?",
        "nimm das blöde FINAL bei den PDFs weg",
        "quita ese dichoso FINAL de los pdf",
    ],
)
async def test_what_all_that_are_spoken_of_have_in_their_names_goes_from_the_names(renamed: Offered, text: str) -> None:
    told = await renamed(text, BILLS)
    assert {path: rule["find"] for path, rule in told.items()} == dict(
        zip(BILLS[:3], ("_FINAL", "_FINAL", " FINAL"), strict=True)
    )


@pytest.mark.parametrize(
    "text",
    ["delete the final contract from the pdfs", "delete the water bill from the pdfs", "remove the finals in Posters"],
)
async def test_what_may_be_a_file_is_no_part_of_names(renamed: Offered, text: str) -> None:
    assert await renamed(text, (*BILLS, *PATHS)) == {}


RECIPES = ("quiche_lorraine_recipe.txt", "carrot_cake_recipe.txt", "garden_plan.pdf")


@pytest.mark.parametrize(
    "text",
    [
        "the ones that say _recipe at the end, drop that and put spaces in instead of the underscores",
        "lose the recipe bit at the end and swap the underscores for spaces",
        "nimm das _recipe hinten weg und überall Leerzeichen statt Unterstriche",
        "quita _recipe del final y pon espacios en vez de guiones bajos",
    ],
)
async def test_a_part_goes_and_the_signs_change_at_once(renamed: Offered, text: str) -> None:
    rule = {"find": "_", "replace": " ", "shape": "{text} recipe", "becomes": "{text}"}
    assert await renamed(text, RECIPES) == alike(RECIPES[:2], rule)


@pytest.mark.parametrize("text", ["replace the underscores with spaces", "Leerzeichen statt Unterstriche bei recipe"])
async def test_where_nothing_is_to_go_only_the_signs_change(renamed: Offered, text: str) -> None:
    assert all("shape" not in rule for rule in (await renamed(text, RECIPES)).values())


CHAT = ("WhatsApp Image 2024-02-01 at 10.jpeg", "WhatsApp Image 2024-02-02 at 11.jpeg", "bill 2024-03-01.pdf")


@pytest.mark.parametrize(
    "text",
    [
        "las fotos de whatsapp que se queden solo con la fecha",
        "the whatsapp photos should keep only the date",
        "bei den whatsapp fotos nur noch das datum bitte",
    ],
)
async def test_only_the_date_stays(model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str) -> None:
    outcome = await model.plan(task(text, CHAT), catalogue)
    assert isinstance(outcome, Unclear), outcome
    (offer,) = outcome.offers
    assert [args["new_name"] for _, args in offer.calls] == ["2024-02-01.jpeg", "2024-02-02.jpeg"]


async def test_two_of_one_day_keep_more_than_the_date(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    twins = ("WhatsApp 2024-02-01 at 10.jpeg", "WhatsApp 2024-02-01 at 11.jpeg")
    outcome = await model.plan(task("the whatsapp photos should keep only the date", twins), catalogue)
    assert not (isinstance(outcome, Unclear) and outcome.offers)
