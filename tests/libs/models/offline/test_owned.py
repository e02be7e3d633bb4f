"""Whose the files are stands in their names, or in their folder's; where it stands in neither, nothing is guessed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from libs.models.offline.clauses import Clause, Named
from libs.models.offline.goals import wanted
from libs.models.offline.ground import Ground
from libs.models.offline.owned import told_by_names, told_of
from libs.models.offline.reading import read

PATHS = (
    *("Boda Marta/exportadas/IMG_1.jpg", "Boda Ana y Luis/DSC_1.jpg", "notas Marta.txt"),
    *("Rechnungen/Rechnung Hansen.pdf", "Rechnungen/Rechnung Frau Müller.pdf", "Rechnungen/Rechnung 2022.pdf"),
    *("Bookings 2023/all.csv", "Bookings 2024/all.csv"),
    *("Berichte/Bericht 2019.md", "Berichte/Bericht 2020.md", "Berichte/Bericht 2021.md"),
)
NAMES = (
    "Boda Marta/",
    "Boda Ana y Luis/",
    "notas Marta.txt",
    "Rechnungen/",
    "Bookings 2023/",
    "Bookings 2024/",
    "Berichte/",
)
NOW = datetime(2025, 6, 1, tzinfo=UTC)
GROUND = Ground.of("/home/u/D", {"names": NAMES, "paths": PATHS})


def plainly(text: str) -> Clause:
    (clause,) = wanted(read(text, GROUND.spoken, now=NOW))
    return told_of(clause, GROUND)


@pytest.mark.requirement("S4-44")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("borra las fotos de Marta", ["Boda Marta"]),
        ("kopiere die Fotos von Ana nach Bilder", ["Boda Ana y Luis"]),
        ("zip the bookings for 2024", ["Bookings 2024"]),
        ("move the Rechnungen from Hansen to Paid", ["Rechnungen", "*Hansen*"]),
        ("lösche die Rechnungen von Frau Müller", ["Rechnungen", "*Frau*M?ller*"]),
    ],
)
def test_who_owns_them_is_told_by_a_folder_or_by_the_names_in_the_one_that_is_called_so(
    text: str, names: list[str]
) -> None:
    assert [item.text for item in plainly(text).items if isinstance(item, Named)] == names


@pytest.mark.requirement("S4-46")
@pytest.mark.parametrize(
    "text",
    [
        "delete the Rechnungen that are pdf",
        "lösch die pdf-Rechnungen",
        "move the first three Rechnungen to Alt",
        "borra las Rechnungen vacías",
        "lösch die unwichtigen Rechnungen",
        "delete some Rechnungen",
    ],
)
def test_a_word_that_picks_some_of_them_never_takes_the_folder_that_is_called_so(text: str) -> None:
    (clause,) = wanted(read(text, GROUND.spoken, now=NOW))
    told = [item.text for item in told_by_names(clause, GROUND).items]
    assert told[told.index("Rechnungen") - 2 :][:2] == ["files", "of"]


@pytest.mark.parametrize("text", ["delete Rechnungen", "zip the folder Rechnungen", "rename Rechnungen to Bills"])
def test_the_folder_itself_is_meant_where_nothing_picks_some_of_it(text: str) -> None:
    (clause,) = wanted(read(text, GROUND.spoken, now=NOW))
    assert told_by_names(clause, GROUND) == clause


@pytest.mark.parametrize("said", ["mit Hansen im Namen", "with Hansen in the name", "que tengan Hansen en el nombre"])
def test_what_is_said_of_names_picks_files_of_the_folder_and_not_the_folder(said: str) -> None:
    told = [item.text for item in plainly(f"delete Rechnungen {said}").items]
    assert told[-4:] == ["files", "of", "Rechnungen", "*Hansen*"]


@pytest.mark.requirement("S4-46")
@pytest.mark.parametrize(
    ("said", "years"),
    [("bis 2020", ["*2019*", "*2020*"]), ("vor 2020", ["*2019*"]), ("von 2020 bis 2023", ["*2020*", "*2021*"])],
)
def test_years_of_a_folder_s_files_are_those_in_their_names_where_most_have_one(said: str, years: list[str]) -> None:
    told = plainly(f"lösch die Berichte {said}").items
    assert [item.text for item in told if isinstance(item, Named)] == ["Berichte", *years]


def test_a_year_of_change_is_no_year_of_a_name() -> None:
    told = plainly("lösch die Berichte geändert vor 2020").items
    assert [item.text for item in told if isinstance(item, Named)] == ["Berichte"]


@pytest.mark.parametrize("text", ["borra las fotos de Pepe", "zip the Rechnungen of Meier", "lösch die Fotos von 2022"])
def test_who_stands_in_no_name_is_left_as_it_was_said(text: str) -> None:
    (clause,) = wanted(read(text, GROUND.spoken))
    assert told_of(clause, GROUND) is clause
