"""What of a wish no step uses is said back before anything changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
PATHS = (
    *("invoice 1.pdf", "invoice 2.pdf", "plan.txt", "sea.jpg", "sky.jpg", "a.zip", "b.zip", "Thumbs.db"),
    *("shots/one.jpg", "shots/film.mov", "shots/thumbs.db"),
)
NAMES = ("invoice 1.pdf", "invoice 2.pdf", "plan.txt", "sea.jpg", "sky.jpg", "a.zip", "b.zip", "Thumbs.db", "shots/")


@pytest.fixture
def plan(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str, *replies: str) -> Any:
        facts = {"names": list(NAMES), "paths": list(PATHS)}
        task = Task(text=text, intent="request", root="/home/u/Stuff", workspace=facts)
        *before, last = replies or (None,)
        return await model.plan(task.model_copy(update={"clarification": last, "replies": tuple(before)}), catalogue)

    return planned


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("move the invoices to shots by date", "“by date”"),
        ("zip the invoices by month please", "“by month”"),
        ("lösche die Fotos nach Datum", "„nach Datum“"),
        ("borra las fotos por fecha", "«por fecha»"),
        ("delete plan.txt from two years ago", "“from two years ago”"),
        ("copy the invoices to shots, without the (1)", "“without the (1)”"),
        ("delete the invoices that are wrong", "“that are wrong”"),
        ("borra las fotos borrosas", "«borrosas»"),
        ("zip the pdfs with maximum compression", "compression”"),
    ],
)
async def test_what_no_step_uses_is_said_back(plan: Any, text: str, left: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Unclear), outcome
    assert left in outcome.question


@pytest.mark.parametrize(
    "text",
    [
        "move the invoices to shots",
        "put all pictures into a folder called Pics, please",
        "zip the invoices as bills.zip, the originals stay",
        "rename the photos to trip_01, trip_02 and so on, by date",
        "delete the thumbs.db files in all subfolders",
    ],
)
async def test_where_every_word_is_used_nothing_is_asked(plan: Any, text: str) -> None:
    assert isinstance(await plan(text), Drafted)


async def test_a_yes_does_the_rest(plan: Any) -> None:
    outcome = await plan("move the invoices to shots by date", "yes")
    assert isinstance(outcome, Drafted)
    assert outcome.plan.steps[-1].tool == "manage-files.move"


async def test_numbers_by_date_follow_the_dates(plan: Any) -> None:
    outcome = await plan("benenn die Fotos um in reise_01, reise_02 usw., nach Datum")
    listing, rename = outcome.plan.steps
    assert (listing.args["order"], rename.args["base"], rename.args["digits"]) == ("oldest", "reise_", 2)


async def test_each_of_several_archives_gets_a_folder_of_its_own(plan: Any) -> None:
    outcome = await plan("unzip both zips, each into its own folder")
    assert [step.args for step in outcome.plan.steps] == [{"path": "a.zip"}, {"path": "b.zip"}]


async def test_a_folder_is_not_packed_whole_where_something_in_it_shall_stay_out(plan: Any) -> None:
    listing, pack = (await plan("zip the folder shots without the movie")).plan.steps
    assert listing.args["path"] == "shots"
    assert "*.mov" in listing.args["exclude"]
    assert pack.args == {"paths": "$step(1).nodes", "archive": "shots.zip", "remove": False}


async def test_of_what_was_moved_nobody_knows_which_is_the_oldest(plan: Any) -> None:
    assert isinstance(await plan("move the pdfs to shots and delete the oldest one"), Unclear)


@pytest.mark.parametrize(
    "text",
    [
        "Since the laptop was handed over to me there are quite a few empty files, please delete those",
        "bitte die leeren Dateien löschen, die haben sich so über die Jahre angesammelt",
    ],
)
async def test_what_is_told_beside_a_wish_hides_no_part_of_it(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    assert outcome.plan.steps[0].args["empty"] is True


@pytest.mark.parametrize(
    "text",
    [
        "delete the invoices where they've not coughed up the deposit",
        "get rid of the invoices they never paid for",
        "delete the invoices whose sender has moved away",
        "lösch die Fotos, bei denen keiner mehr antwortet",
        "lösche die Fotos, deren Besitzer weggezogen ist",
        "borra las fotos en las que nadie sonríe",
        "borra las fotos cuyo dueño se ha mudado",
    ],
)
async def test_nobody_is_led_to_delete_all_of_what_a_condition_chooses_from(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert not isinstance(outcome, Drafted)
    assert not (isinstance(outcome, Unclear) and outcome.offers)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("move the invoices they never paid for to a folder Unpaid", "“they never paid for”"),
        ("zip the invoices whose buyer has moved away", "“whose buyer has moved away”"),
        ("verschieb die Fotos, deren Besitzer weggezogen ist, nach shots", "„deren Besitzer weggezogen ist“"),
        ("mueve las fotos cuyo dueño vive lejos a shots", "«cuyo dueño vive lejos»"),
    ],
)
async def test_a_condition_that_chooses_nothing_is_said_back(plan: Any, text: str, left: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Unclear), outcome
    assert left in outcome.question


@pytest.mark.parametrize(
    "text",
    ["delete the invoices", "zip the invoices, nobody needs them", "lösche die Fotos", "borra las fotos"],
)
async def test_what_chooses_is_no_condition_left_over(plan: Any, text: str) -> None:
    assert isinstance(await plan(text), Drafted)


async def test_a_condition_that_names_bear_out_chooses(plan: Any) -> None:
    outcome = await plan("delete the pictures whose name starts with sky")
    assert isinstance(outcome, Unclear)
    assert outcome.named == ("sky.jpg",)
