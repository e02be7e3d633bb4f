"""Files from one to another are all that have a number between, where both are there."""

from __future__ import annotations

import pytest

from libs.models.offline.ground import Ground
from libs.models.offline.ranges import spelled

PATHS = (
    "DSC_1.jpg",
    "Trip/DSC_4101.JPG",
    "Trip/DSC_4102 - Copy.JPG",
    "Trip/DSC_4102.JPG",
    "Trip/DSC_4103.JPG",
    "Bad/Foto 1.jpg",
    "Bad/Foto 2.jpg",
    "Bad/Foto 10.jpg",
    "Year/Report 2019.md",
    "Year/Report 2020.md",
    "Year/Report 2022.md",
)
GROUND = Ground.of("/home/u/D", {"names": ("DSC_1.jpg", "Trip/", "Bad/"), "paths": PATHS})
THREE = '"Trip/DSC_4101.JPG" "Trip/DSC_4102.JPG" "Trip/DSC_4103.JPG"'


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("rename the photos DSC_4101 to DSC_4103 in Trip", f"rename the photos {THREE} in Trip"),
        ("zip the photos from DSC_4101 to DSC_4103", f"zip the photos {THREE}"),
        ("delete dsc_4101.jpg through dsc_4103.jpg", f"delete {THREE}"),
        ("lösch Foto 1 bis Foto 10", 'lösch "Bad/Foto 1.jpg" "Bad/Foto 2.jpg" "Bad/Foto 10.jpg"'),
        ("borra las fotos DSC_4101 a DSC_4103", f"borra las fotos {THREE}"),
        ("zip the reports 2019 and 2022", 'zip the "Year/Report 2019.md" "Year/Report 2022.md"'),
        (
            "packe die Reports von 2019 bis 2022",
            'packe die "Year/Report 2019.md" "Year/Report 2020.md" "Year/Report 2022.md"',
        ),
    ],
)
def test_all_from_the_one_to_the_other_are_named(text: str, meant: str) -> None:
    assert spelled(text, GROUND) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("zip everything in Trip before DSC_4103", 'zip "Trip/DSC_4101.JPG" "Trip/DSC_4102.JPG"'),
        ("zip everything up to Foto 2", 'zip "Bad/Foto 1.jpg" "Bad/Foto 2.jpg"'),
        ("pack alles in Bad vor Foto 10", 'pack "Bad/Foto 1.jpg" "Bad/Foto 2.jpg"'),
        ("borra todas las fotos antes de Foto 10", 'borra "Bad/Foto 1.jpg" "Bad/Foto 2.jpg"'),
        ("move all the reports after Report 2019 to Bad", 'move "Year/Report 2020.md" "Year/Report 2022.md" to Bad'),
        ("delete the songs before Foto 10", "delete the songs before Foto 10"),
        ("delete everything before 2020", "delete everything before 2020"),
        ("delete everything before Foto 3", "delete everything before Foto 3"),
    ],
)
def test_one_end_alone_takes_all_on_its_side(text: str, meant: str) -> None:
    assert spelled(text, GROUND) == meant


@pytest.mark.parametrize(
    "said",
    [
        "Foto 1, Foto 2 ...",
        "Foto 1, Foto 2 and so on",
        "Foto 1.jpg, Foto 2.jpg usw.",
        "Foto 1, Foto 2 y así sucesivamente",
    ],
)
def test_all_that_go_on_by_number_are_named(said: str) -> None:
    assert spelled(f"zip {said}", GROUND) == 'zip "Bad/Foto 1.jpg" "Bad/Foto 2.jpg" "Bad/Foto 10.jpg"'


@pytest.mark.parametrize(
    "text",
    [
        "rename the photos in Trip to Foto 1, Foto 2 and so on",
        "the photos in Trip should be Foto 1, Foto 2 and so on",
        "zip Foto 3, Foto 4 and so on",
        "rename DSC_4101 to DSC_4103",
        "rename Report 2019 to 2020",
        "zip the reports 2019 and 2021",
        "rename DSC_4101.JPG to DSC_4103.JPG",
        "rename the photos DSC_4101 to DSC_4199",
        "rename the photos to Trip 01 bis Trip 20",
        'delete the file "DSC_4101 through DSC_4103"',
    ],
)
def test_a_new_name_or_one_that_is_not_there_ends_no_range(text: str) -> None:
    assert spelled(text, GROUND) == text
