"""Files go into a folder that a story speaks of: offered, and done by a yes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import Placed, task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
TRIPS = ("trip 31 fuel.jpg", "trip 31 bill.pdf", "trip 44 bill.pdf", "notes.txt")
CHOIR = (
    "Alto part one.pdf",
    "alto_part_two.pdf",
    "Tenor part one.pdf",
    "roster.xlsx",
    "Concerts/Easter 2025-04.jpg",
    "Concerts/Summer 2026-07.jpg",
    "Concerts/choir.mp4",
    "Bills/Bill hall.pdf",
    "Bills/Bill organist.pdf",
    "Bills/2025/Bill piano.pdf",
    "bill flowers.pdf",
)
VEREIN = (
    "Aushang Sommerfest.txt",
    "Aushang Wasser.txt",
    "Brief Amt.txt",
    "Protokolle/Protokoll 2024-03-01.docx",
    "Protokolle/Protokoll 2025-03-07.docx",
    "Liste.xlsx",
)
ATELIER = ("Facturas/Factura 3 Pili.pdf", "Facturas/factura_4 Casa Gil.pdf", "Facturas/Factura 9 pili.pdf", "nota.txt")


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("all that trip 31 paper goes in its own folder, name it 31", "31"),
        ("trip 31 wants a folder of its own, Trip 31 would do for a name", "Trip 31"),
        ("need everything on trip 31 in one folder, Leeds run, boss is asking", "Leeds run"),
    ],
)
async def test_what_a_story_tells_of_goes_into_the_folder_that_it_names(placed: Placed, text: str, folder: str) -> None:
    assert await placed(text, TRIPS) == [(folder, TRIPS[:2])]


@pytest.mark.parametrize(
    ("text", "paths", "folder", "files"),
    [
        (
            "Die Aushänge und der Brief fliegen hier lose rum, furchtbar. Tu die mal zusammen in einen Ordner Post.",
            VEREIN,
            "Post",
            VEREIN[:3],
        ),
        (
            "im protokollordner ist alles durcheinander, können die protokolle da in nen unterordner? nenn ihn Fertig",
            VEREIN,
            "Protokolle/Fertig",
            VEREIN[3:5],
        ),
        (
            "Con la Pili ando a vueltas, sus papeles aparte: una carpeta Pili dentro de Facturas y ahí meterlas.",
            ATELIER,
            "Facturas/Pili",
            (ATELIER[0], ATELIER[2]),
        ),
        (
            "Could the alto parts have a folder for themselves, please? Altos is what I should like to call it.",
            CHOIR,
            "Altos",
            CHOIR[:2],
        ),
    ],
)
async def test_the_folder_is_made_where_it_is_said(
    placed: Placed, text: str, paths: tuple[str, ...], folder: str, files: tuple[str, ...]
) -> None:
    assert await placed(text, paths) == [(folder, files)]


async def test_those_that_lie_outside_of_their_folder_join_the_rest(placed: Placed) -> None:
    text = (
        "Bills has his own folder, the dear, and still I leave a number of his papers lying outside of it. Would"
        " you kindly gather up everything with his name on it and put it into his folder with the rest?"
    )
    assert await placed(text, CHOIR) == [("Bills", ("bill flowers.pdf",))]


async def test_each_of_several_folders_takes_what_is_called_like_it(placed: Placed) -> None:
    text = "singers keep asking me. do us a folder for Alto one for Tenor and put the right ones in each"
    assert await placed(text, CHOIR) == [("Alto", CHOIR[:2]), ("Tenor", CHOIR[2:3])]


@pytest.mark.parametrize(
    ("text", "goal", "files"),
    [
        (
            "Concerts is one big heap. want em by month, in there, 2026-07 like that",
            "Concerts by month",
            CHOIR[4:7],
        ),
        (
            "I'd love my pictures in Concerts arranged by the year, so a folder for 2025 and one for 2026 and so forth"
            " inside Concerts, it is only sensible. My sister would never forgive me",
            "Concerts by name_year",
            CHOIR[4:6],
        ),
    ],
)
async def test_a_folder_for_each_year_or_month(placed: Placed, text: str, goal: str, files: tuple[str, ...]) -> None:
    assert await placed(text, CHOIR) == [(goal, files)]


async def test_a_year_goes_where_its_like_is(placed: Placed) -> None:
    text = (
        "For the bills I have a folder 2025 already and the rest just lie next to it. Can they get a folder 2026 too?"
    )
    assert await placed(text, CHOIR) == [("Bills/2026", CHOIR[7:9])]


@pytest.mark.parametrize(
    "text",
    [
        "which folder did I name 31? the trip one",
        "I have no folder for any of it and my wife says I should.",
        "wann war denn das Sommerfest, das in dem Ordner vom Verein stand?",
    ],
)
async def test_who_asks_or_only_tells_is_offered_no_folder(placed: Placed, text: str) -> None:
    assert await placed(text, (*TRIPS, *VEREIN)) == []


async def test_a_folder_that_is_only_made_stays_empty_where_nothing_more_is_said(placed: Placed) -> None:
    assert await placed("make a folder called 31", TRIPS) == []


@pytest.mark.parametrize(
    ("text", "folder", "files"),
    [
        ("trip 31 stuff wants to go in a folder called load shift", "load shift", TRIPS[:2]),
        ("die protokolle sollen in nen ordner Alt, da drin in Protokolle", "Protokolle/Alt", VEREIN[3:5]),
    ],
)
async def test_a_part_that_was_not_understood_is_not_lost_silently(
    placed: Placed, text: str, folder: str, files: tuple[str, ...]
) -> None:
    assert await placed(text, (*TRIPS, *VEREIN)) == [(folder, files)]


async def test_the_images_in_images_and_the_videos_in_videos(placed: Placed) -> None:
    text = "Concerts is all mixed, it is a shame. Could you separate it, the images in Images and the videos in Videos?"
    assert await placed(text, CHOIR) == [("Concerts/Images", CHOIR[4:6]), ("Concerts/Videos", CHOIR[6:7])]


PLANS = ("plan.docx", "plan v2.docx", "plan v3.docx", "plan FINAL.docx", "list.txt")


@pytest.mark.parametrize(
    "text",
    [
        "keep the newest plan where it is and move all the older ones into a folder called old drafts",
        "so many plans here. keep the newest one where it is and put the older ones in a folder called old drafts",
    ],
)
async def test_of_several_versions_the_newest_stays_where_it_is(placed: Placed, text: str) -> None:
    ((goal, told),) = await placed(text, PLANS)
    assert (goal, sorted(told)) == ("old drafts", sorted(PLANS[:3]))


async def test_a_time_of_what_stays_bounds_nothing_that_goes(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    text = "drei Pläne sind hier drin. Bitte nur den vom Juni 2025 da lassen, die älteren in einen Ordner alt legen"
    outcome = await model.plan(task(text, PLANS), catalogue)
    assert isinstance(outcome, Unclear), outcome
    (_, listing), (tool, args) = outcome.offers[0].calls
    assert (tool, args["target"], listing["modified_before"]) == ("manage-files.move", "alt", "2025-06-01")
    assert "modified_after" not in listing


@pytest.mark.parametrize(
    "text",
    [
        "my accountant wants the plans. please make a copy of them in a folder accountant",
        "the plans are for my accountant, copy them to a folder called accountant please",
    ],
)
async def test_a_copy_of_them_is_copied(model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str) -> None:
    outcome = await model.plan(task(text, PLANS), catalogue)
    calls = outcome.offers[0].calls if isinstance(outcome, Unclear) else ()
    assert [tool for tool, _ in calls] == ["manage-files.list", "manage-files.copy"]


@pytest.mark.parametrize(
    "text",
    [
        "Hola mijo, quiero juntar las fotos de mis nietos Sofía y Mateo en una carpeta que se llame Nietos",
        "put the photos of Sofia and Mateo in a folder Nietos",
    ],
)
async def test_of_two_that_are_named_each_has_its_files(placed: Placed, text: str) -> None:
    paths = (
        "Sofia beach.jpg",
        "Sofia school.jpg",
        "Mateo.jpg",
        "Mateo and Sofia.jpg",
        "wedding.jpg",
        "recipe Mateo.txt",
    )
    assert await placed(text, paths) == [("Nietos", paths[:4])]


@pytest.mark.parametrize(
    "text",
    [
        "stick the pics in Photos, but leave before and after where they are",
        "put all the jpgs into Photos except before and after",
        "move the photos to a folder called Photos, not before and after",
        "mete las fotos en Photos menos before y after",
    ],
)
async def test_what_is_left_where_it_is_may_be_called_by_little_words(placed: Placed, text: str) -> None:
    paths = ("IMG_1.JPG", "IMG_2.JPG", "before patio.jpg", "after patio.jpg", "plan.txt")
    assert await placed(text, paths) == [("Photos", paths[:2])]
