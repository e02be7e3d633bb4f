"""A reply to an offer, or to a preview that was refused, changes what was offered: its files, its name, its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from libs.events.committee import DENIED, Exchange
from libs.models.offline import OfflineModel
from libs.models.ports import Call, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition, selected
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Heard = Callable[..., Awaitable[PlannerOutcome]]
SHORE = ("IMG_1.jpg", "IMG_2.jpg", "IMG_3.jpg", "Fotos/IMG_4.jpg", "Fotos/IMG_5.png", "notes.txt", "Fotos/Urlaub.jpg")
PICS = "those pics all came off the beach trip with auntie, can they have Beach 1, Beach 2 for a name"
DESK = (
    "Rechnung Huber.pdf",
    "Rechnung Mayr.pdf",
    "Rechnung Huber 2024.pdf",
    "Angebot Huber.pdf",
    "Briefe/Brief Amt.txt",
    "Alt/Kasse.csv",
    "Alt/Miete.txt",
    "neu.tmp",
)
BILLS = "die rechnungen fliegen hier rum, tu die mal in nen ordner Steuer"
CAJA = ("factura 1.pdf", "factura 2.pdf", "factura 3.pdf", "cosas/factura 4.pdf", "nota.txt", "x.tmp")
COBROS = "las facturas estan desparramadas, metelas en una carpeta Cobros porfa"


@pytest.fixture
def heard(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> Heard:
    """What comes of a request and the replies to it."""

    async def come_to(paths: Sequence[str], text: str, *replies: str, history: Any = ()) -> PlannerOutcome:
        said = {"replies": replies[:-1], "clarification": replies[-1] if replies else None, "history": history}
        return await model.plan(task(text, paths).model_copy(update=said), catalogue)

    return come_to


def told(outcome: PlannerOutcome, paths: Sequence[str]) -> list[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Each change of what is offered: its tool, its files, and the rest of what it is told."""
    assert isinstance(outcome, Unclear), outcome
    assert outcome.offers, outcome.question
    calls = outcome.offers[0].calls
    return [(tool, _files(args, calls, paths), _plain(args)) for tool, args in calls if tool != "manage-files.list"]


def _plain(args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if name not in ("paths", "source", "path")}


def _files(args: Mapping[str, Any], calls: Sequence[Call], paths: Sequence[str]) -> tuple[str, ...]:
    given = args.get("paths") or args.get("source") or args.get("path")
    if not isinstance(given, str):
        return tuple(given or ())
    look = calls[int(given.removeprefix("$step(").partition(")")[0]) - 1][1]
    held = [path for path in paths if look.get("recursive") or "/" not in path]
    return tuple(path for path in held if selected(path, include=look["include"]))


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("not the one in Fotos", SHORE[:3]),
        ("no!! not the folder Fotos", SHORE[:3]),
        ("only the ones lying here", SHORE[:3]),
        ("yes but leave the png alone", SHORE[:4]),
        ("the jpgs only", SHORE[:4]),
        ("no, IMG_1 and IMG_2", SHORE[:2]),
        ("all of them, also Urlaub", (*SHORE[:5], SHORE[6])),
    ],
)
async def test_fewer_files_and_more_are_offered_under_the_same_name(
    heard: Heard, reply: str, left: tuple[str, ...]
) -> None:
    (change,) = told(await heard(SHORE, PICS, reply), SHORE)
    assert change == ("batch-rename.rename", left, {"base": "Beach", "digits": 1})


@pytest.mark.parametrize(
    ("reply", "name", "digits"),
    [
        ("no, Strand 1, Strand 2 and so on", "Strand", 1),
        ("wrong, I said Beach trip 1, 2, 3", "Beach trip", 1),
        ("call them Seaside", "Seaside", 1),
        ("with 3 digits please", "Beach", 3),
        ("with a small b", "beach", 1),
    ],
)
async def test_another_name_is_for_the_same_files(heard: Heard, reply: str, name: str, digits: int) -> None:
    (change,) = told(await heard(SHORE, PICS, reply), SHORE)
    assert change == ("batch-rename.rename", SHORE[:5], {"base": name, "digits": digits})


@pytest.mark.parametrize(
    ("paths", "text", "reply", "tool", "files", "target"),
    [
        (DESK, BILLS, "nur die von Huber", "move", (DESK[0], DESK[2]), "Steuer"),
        (DESK, BILLS, "die vom Huber nicht", "move", (DESK[1],), "Steuer"),
        (DESK, BILLS, "ja, aber ohne die von 2024", "move", DESK[:2], "Steuer"),
        (DESK, BILLS, "ja aber nimm die 2024er raus", "move", DESK[:2], "Steuer"),
        (DESK, BILLS, "ja und das Angebot auch", "move", DESK[:4], "Steuer"),
        (DESK, BILLS, "nicht die vom Mayr sondern die Angebote", "move", (DESK[3],), "Steuer"),
        (DESK, BILLS, "nein, der Ordner soll Belege heißen", "move", DESK[:3], "Belege"),
        (DESK, BILLS, "lieber nach Briefe", "move", DESK[:3], "Briefe"),
        (DESK, BILLS, "nein, kopier sie nur", "copy", DESK[:3], "Steuer"),
        (CAJA, COBROS, "solo las de aqui fuera, no la de cosas", "move", CAJA[:3], "Cobros"),
        (CAJA, COBROS, "si, y tambien la nota", "move", CAJA[:5], "Cobros"),
        (CAJA, COBROS, "menos la factura 2", "move", (CAJA[0], *CAJA[2:4]), "Cobros"),
        (CAJA, COBROS, "si pero quita la factura 3", "move", (*CAJA[:2], CAJA[3]), "Cobros"),
        (CAJA, COBROS, "no, que se llame Facturas 2026", "move", CAJA[:4], "Facturas 2026"),
        (CAJA, COBROS, "pero deja los originales", "copy", CAJA[:4], "Cobros"),
    ],
)
async def test_what_goes_somewhere_goes_as_the_reply_wants_it(
    heard: Heard, paths: Sequence[str], text: str, reply: str, tool: str, files: tuple[str, ...], target: str
) -> None:
    (change,) = told(await heard(paths, text, reply), paths)
    assert change == (f"manage-files.{tool}", files, {"target": target})


async def test_a_yes_to_it_does_just_that(heard: Heard) -> None:
    outcome = await heard(DESK, BILLS, "nur die von Huber", "ja")
    assert isinstance(outcome, Drafted)
    listing, change = outcome.plan.steps
    assert listing.args["include"] == [DESK[0], DESK[2]]
    assert (change.tool, change.args["target"]) == ("manage-files.move", "Steuer")


async def test_replies_add_up(heard: Heard) -> None:
    outcome = await heard(DESK, BILLS, "ja und das Angebot auch", "nein, nach Briefe", "aber nicht das von 2024")
    assert told(outcome, DESK) == [("manage-files.move", (*DESK[:2], DESK[3]), {"target": "Briefe"})]


async def test_a_yes_with_another_deed_is_both(heard: Heard) -> None:
    outcome = await heard(DESK, BILLS, "ja und lösch danach die tmp datei")
    assert isinstance(outcome, Unclear)
    assert [tool for tool, _ in outcome.offers[0].calls if tool != "manage-files.list"] == [
        "manage-files.move",
        "manage-files.delete",
    ]


@pytest.mark.parametrize("reply", ["leave everything else as it is please", "no, the IMG ones and nothing more"])
async def test_what_is_in_it_already_is_said_to_be(heard: Heard, reply: str) -> None:
    outcome = await heard(SHORE, PICS, reply)
    assert isinstance(outcome, Unclear)
    assert outcome.question.startswith("That is in it already.")


async def test_what_nobody_knows_is_asked_and_the_answer_changes_the_offer(heard: Heard) -> None:
    asked = await heard(SHORE, PICS, "without the blurry ones")
    assert isinstance(asked, Unclear)
    assert "blurry" in asked.question
    assert not asked.offers
    (change,) = told(await heard(SHORE, PICS, "without the blurry ones", "the png i mean"), SHORE)
    assert change[1] == SHORE[:4]


async def test_a_part_that_is_not_in_it_is_told(heard: Heard) -> None:
    outcome = await heard(SHORE, PICS, "call them Sea. Without the blurry ones")
    assert told(outcome, SHORE)[0][2]["base"] == "Sea"
    assert isinstance(outcome, Unclear)
    assert "blurry" in outcome.question


@pytest.mark.parametrize(("text", "paths", "reply"), [(PICS, SHORE, "that's wrong"), (BILLS, DESK, "stimmt nicht")])
async def test_a_bare_denial_is_asked_what_should_be_different(
    heard: Heard, text: str, paths: Sequence[str], reply: str
) -> None:
    outcome = await heard(paths, text, reply)
    assert isinstance(outcome, Unclear)
    assert not outcome.offers


@pytest.mark.parametrize("reply", ["nein. Zeig mir lieber was in Alt ist", "nein, was liegt in Alt?"])
async def test_a_look_is_no_correction(heard: Heard, reply: str) -> None:
    outcome = await heard(DESK, BILLS, reply)
    assert isinstance(outcome, Drafted)
    assert not any(step.mutates for step in outcome.plan.steps)


ZIPPED = "my accountant is on at me again, the letters in Alt want to be in one zip called bills"


@pytest.mark.parametrize(
    ("reply", "archive", "files"),
    [
        ("call it letters 2024.zip", "letters 2024.zip", None),
        ("it should be called letters 2024", "letters 2024.zip", None),
        ("not Miete", "bills.zip", ("Alt/Kasse.csv",)),
    ],
)
async def test_what_was_refused_in_its_preview_is_changed_in_the_next_turn(
    heard: Heard, reply: str, archive: str, files: tuple[str, ...] | None
) -> None:
    history = (Exchange(text=ZIPPED, answer="…", reason=DENIED),)
    outcome = await heard(DESK, reply, history=history)
    (change,) = told(outcome, DESK)
    assert change[0] == "archive-files.pack"
    assert change[2]["archive"].rpartition("/")[2] == archive
    assert files is None or change[1] == files


async def test_corrections_of_several_turns_add_up(heard: Heard) -> None:
    history = (
        Exchange(text=BILLS, answer="…", reason=DENIED),
        Exchange(text="nein, nach Briefe", answer="…", reason=DENIED),
        Exchange(text="nein", answer="…"),
    )
    outcome = await heard(DESK, "nur die von Huber", history=history)
    assert told(outcome, DESK) == [("manage-files.move", (DESK[0], DESK[2]), {"target": "Briefe"})]


async def test_a_turn_tells_the_next_one_what_its_replies_have_changed(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], heard: Heard
) -> None:
    outcome = await heard(DESK, BILLS, "nur die von Huber", "ja")
    assert isinstance(outcome, Drafted)
    history = (Exchange(text=BILLS, answer="…", reason=DENIED, wish=outcome.wish),)
    (change,) = told(await heard(DESK, "nach Briefe stattdessen", history=history), DESK)
    assert change == ("manage-files.move", (DESK[0], DESK[2]), {"target": "Briefe"})


async def test_a_refused_offer_is_not_made_again(heard: Heard) -> None:
    first = await heard(DESK, BILLS)
    again = await heard(DESK, BILLS, "nein, den ganzen Kram vom Onkel")
    assert isinstance(first, Unclear)
    assert isinstance(again, Unclear)
    assert not {one.label for one in first.offers} & {one.label for one in again.offers}


FOLDERS = ("Fotos/a.jpg", "Belege/b.pdf", "c.jpg", "d.jpg", "Beleg 3.pdf", "todo.txt")


async def test_each_part_goes_to_the_folder_that_is_said_behind_it(heard: Heard) -> None:
    text = "hier liegt viel lose rum, die jpgs und der Beleg gehören halt mal in den Ordner Fotos"
    outcome = await heard(FOLDERS, text, "nein, die jpgs nach Fotos und der Beleg nach Belege")
    assert told(outcome, FOLDERS) == [
        ("manage-files.move", ("c.jpg", "d.jpg"), {"target": "Fotos"}),
        ("manage-files.move", ("Beleg 3.pdf",), {"target": "Belege"}),
    ]


MESS = ("leer.txt", "x.tmp", "Alt/y.tmp", "nota.txt")
NOTHING_IN_IT = {
    "en": "it is such a mess in here my dear, things with nothing in them are no use",
    "de": "bitte räum mal auf, die leeren sachen können weg glaub ich",
    "es": "tengo un lío aquí, lo que está vacío ya no me sirve",
}
TMPS = ("Alt/y.tmp", "x.tmp")


@pytest.mark.parametrize(
    ("language", "reply", "kinds", "files"),
    [
        ("en", "only the empty folders, and the tmp files", ("directory",), TMPS),
        ("en", "empty folders and the tmp files too", ("directory", "file"), TMPS),
        ("en", "yes but also the tmp files", ("file",), TMPS),
        ("en", "empty files and folders", ("directory", "file"), ()),
        ("en", "the empty files in all folders", ("file",), ()),
        ("de", "nur die leeren ordner, und die tmp dateien", ("directory",), TMPS),
        ("de", "die leeren ordner und die tmp dateien", ("directory",), TMPS),
        ("de", "ja, und auch die tmp dateien", ("file",), TMPS),
        ("de", "leere dateien und ordner", ("directory", "file"), ()),
        ("de", "nein, nur die leeren ordner", ("directory",), ()),
        ("es", "solo las carpetas vacías, y los archivos tmp", ("directory",), TMPS),
        ("es", "no, las carpetas vacías y los tmp", ("directory",), TMPS),
        ("es", "sí, pero también los tmp", ("file",), TMPS),
        ("es", "archivos y carpetas vacías", ("directory", "file"), ()),
    ],
)
async def test_what_is_listed_beside_empty_ones_need_not_be_empty(
    heard: Heard, language: str, reply: str, kinds: tuple[str, ...], files: tuple[str, ...]
) -> None:
    outcome = await heard(MESS, NOTHING_IN_IT[language], reply)
    assert isinstance(outcome, Unclear)
    looks = [args for tool, args in outcome.offers[0].calls if tool == "manage-files.list"]
    empty = [str(args["node_kind"]) for args in looks if args.get("empty")]
    named = [path for args in looks if not args.get("empty") for path in args["include"]]
    assert (tuple(sorted(empty)), tuple(sorted(named))) == (kinds, files)


@pytest.mark.parametrize(
    ("language", "reply", "told"),
    [
        ("en", "yes, but not nix.tmp", "the empty files, without “nix.tmp”"),
        ("de", "ja, aber ohne nix.tmp", "die leeren Dateien, ohne „nix.tmp“"),
        ("es", "sí, pero sin nix.tmp", "archivos vacíos, sin «nix.tmp»"),
    ],
)
async def test_a_file_is_left_out_of_what_is_known_by_no_name_and_that_is_said(
    heard: Heard, language: str, reply: str, told: str
) -> None:
    outcome = await heard((*MESS, "nix.tmp"), NOTHING_IN_IT[language], reply)
    assert isinstance(outcome, Unclear)
    assert told in outcome.question
    assert outcome.offers[0].calls[0][1]["exclude"] == ["nix.tmp"]


@pytest.mark.parametrize("reply", ["no, the other way round, please", "nein, umgekehrt!", "no, not those at all"])
async def test_what_is_denied_is_not_said_to_be_what_they_want(heard: Heard, reply: str) -> None:
    outcome = await heard(SHORE, PICS, reply)
    assert not (isinstance(outcome, Unclear) and outcome.question.startswith("That is in it already."))
