"""Names for what is new, wherever a sentence hides them."""

from __future__ import annotations

import pytest

from libs.models.offline.gist import called

pytestmark = pytest.mark.requirement("S4-44")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("stick the lot in a folder called PODs the one with the (1) as well", "PODs"),
        ("call it pugh tacho ill email it from the ferry", "pugh tacho"),
        ("make a folder, Screen pictures I should like to call it, and tuck them in", "Screen pictures"),
        ("a folder of their own? Just Margaret would do for a name.", "Margaret"),
        ("a folder I could call From the internet?", "From the internet"),
        ("they want to go in a folder called load shift", "load shift"),
        ("mach nen ordner Reisen und tu die da rein", "Reisen"),
        ("Protokolle Döring soll der Ordner heißen, oder so", "Protokolle Döring"),
        ("in einen eigenen Ordner, Aushänge reicht als Name", "Aushänge"),
        ("una carpeta Varroa, ahí dentro de Cuaderno", "Varroa"),
        ("haceles una carpeta, ponele fotos para la abuela", "fotos para la abuela"),
        ("a folder for them, with name designs for window, please", "designs for window"),
    ],
)
def test_a_folders_name_ends_where_the_sentence_goes_on(text: str, name: str) -> None:
    assert name in [one.name for one in called.folders(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("three folders Tesco Wickes and Aldi and move each into the right one", ["Tesco", "Wickes", "Aldi"]),
        ("I want for each one a folder: OPI and NailSupply", ["OPI", "NailSupply"]),
        ("zwei Ordner, Vorher und Nachher", []),
        ("one folder per load. 8841 8856 8902", ["8841", "8856", "8902"]),
    ],
)
def test_a_list_of_folders_has_a_name_for_each(text: str, names: list[str]) -> None:
    assert [one.name for one in called.together(text)] == (names or ["Vorher", "Nachher"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zip the donations files as Donations for Donna.", "Donations for Donna"),
        ("pack all of it into Donations for Donna.zip?", "Donations for Donna"),
        ("make a zip file designs for window.zip with everything", "designs for window"),
        ("braucht die rechnungen als zip nenns Steuer 2026 und lass sie liegen", "Steuer 2026"),
        ("un zip flyers viejos con la carpeta viejos", "flyers viejos"),
    ],
)
def test_an_archives_name_has_its_little_words(text: str, name: str) -> None:
    assert [one.name for one in called.archives(text)][:1] == [name]


@pytest.mark.parametrize(
    "text", ["in the folder where the others are", "which folder is it in", "ein Ordner für die da"]
)
def test_what_only_tells_of_a_folder_names_none(text: str) -> None:
    assert called.folders(text) == ()
