"""Roundabout constructions are put plainly, in their place and within their length."""

from __future__ import annotations

import pytest

from libs.models.offline.idioms import plainly


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("the shells deserve a folder of their own, call it Shells", "the shells into a folder called Shells"),
        ("draft.txt could do with a better name, maybe Final.txt", "draft.txt should be called Final.txt"),
        ("throw old.log into the recycle bin", "delete old.log"),
        ("schmeiß die Entwürfe bitte in den Papierkorb", "delete die Entwürfe bitte"),
        ("die Belege sollen in einen Ordner, der Steuer heißt", "die Belege sollen in einen Ordner namens Steuer"),
        ("new folder Trips for the photos", "the photos to folder Trips"),
        ("saca acta.pdf de Viejo y ponlo aquí", "mueve acta.pdf de Viejo aquí"),
        ("the maps would be better off in Travel", "the maps would go into Travel"),
        ("put the shells in their own folder", "put shells into folder Shells"),
        ("rename them to a 1, a 2 and so on, leaving the endings as they are", "rename them to a 1, a 2 and so on"),
        ("in einer Zip-Datei, am besten heißt sie Steuer 2023", "in einer Zip-Datei namens Steuer 2023"),
        ("which is the biggest and is there anything empty?", "which is the biggest and list anything empty?"),
        ("My accountant wants to know which bills are from 2022", "which bills are from 2022"),
        ("Mein Steuerberater will wissen, welche Belege von 2022 sind", "welche Belege von 2022 sind"),
        ("zip the bills for my accountant. Call it Bills 2022", "zip the bills called Bills 2022"),
        ("put the maps into Travel, they're all over the place", "put the maps into Travel in all subfolders"),
        ("comprime las fotos, están por varias carpetas", "comprime las fotos en subcarpetas"),
        ("move all the maps to Travel, from all the folders", "move all the maps to Travel, in all subfolders"),
        ("quiero las facturas separadas por años", "ordena las facturas por años"),
        ("bills put in folder for each year", "put bills folders by year"),
        (
            "verschieb die pdfs in nen ordner PDF, die Bilder auch",
            'verschieb die pdfs in ordner "PDF", die Bilder auch',
        ),
        ("los 5 archivos que más ocupan, contando las subcarpetas", "los 5 archivos más grandes en subcarpetas"),
        ("¿puedes borrar los mp3? Están en la carpeta Coro", "¿puedes borrar los mp3 en la carpeta Coro"),
        ("no, que borres los mp3 de Coro", "borres los mp3 de Coro"),
        ("Ann needs the maps from 2019, please zip them", "the maps from 2019, please zip them"),
    ],
)
def test_a_roundabout_way_is_put_plainly(said: str, plain: str) -> None:
    assert " ".join(plainly(said, ()).split()) == plain


@pytest.mark.parametrize(
    "said",
    [
        "call it Bills 2022",
        "zip the bills for Anna",
        "delete all the folders",
        "welche Ordner sind PDF Ordner",
        "no quiero que borres los mp3",
        'rename "throw a.txt into the bin"',
        "the shells deserve a rest",
        "put a.txt into a bin bag folder",
    ],
)
def test_what_is_quoted_or_means_something_else_stays(said: str) -> None:
    assert plainly(said, ()) == said


def test_a_folder_that_is_called_bin_is_meant() -> None:
    assert plainly("move a.txt to the bin", ("bin/", "a.txt")) == "move a.txt to the bin"


def test_every_other_word_keeps_its_place() -> None:
    said = "send old.log to the trash, then list the pdfs"
    assert plainly(said, ()).index("list") == said.index("list")
