"""Which files a request chooses: whatever is said of them holds, all of it, or it is asked."""

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
    *("Gas Bill March.pdf", "gas_bill_june.pdf", "GasBill.pdf", "passport.pdf", "gas notes.txt", "IMG_2043.jpg"),
    *("invoice 2023.pdf", "invoice 2024.pdf", "etl.log", ".DS_Store", "tunes.zip", "empty.txt", "~WRL0003.tmp"),
    *("logs/etl.log", "logs/etl.log.1", "logs/etl-error.log", "data/raw/a.csv", "data/staging/a.csv", "uni/script.md"),
)
NAMES = tuple(dict.fromkeys(f"{top}/" if slash else top for top, slash, _ in (path.partition("/") for path in PATHS)))


@pytest.fixture
def plan(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str) -> Any:
        facts = {"names": list(NAMES), "paths": list(PATHS)}
        return await model.plan(Task(text=text, intent="request", root="/home/u/Stuff", workspace=facts), catalogue)

    return planned


async def listed(plan: Any, text: str) -> dict[str, Any]:
    """The args of the first step: what the change gets."""
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    return outcome.plan.steps[0].args


@pytest.mark.parametrize(
    ("text", "include"),
    [
        ("move the PDFs with gas bill in the name to Gas", ["*gas[ _.-]bill*.pdf", "*gasbill*.pdf"]),
        ('delete the PDFs with "bill" in the name', ["*bill*.pdf"]),
        ("delete the PDFs and txt files with gas in the name", ["*gas*.pdf", "*gas*.txt"]),
        ("lösche die PDFs mit gas im Namen", ["*gas*.pdf"]),
        ("borra los PDF que tengan gas en el nombre", ["*gas*.pdf"]),
        ("delete the files starting with ~", ["~*"]),
        ("lösche alle Dateien, die auf .tmp enden", ["*.tmp"]),
        ("borra los archivos que empiezan por ~ y los que terminan en .tmp", ["~*", "*.tmp"]),
        ("delete *.tmp and .DS_Store and *.log files in all subfolders", ["*.tmp", ".DS_Store", "*.log"]),
        ("delete logs/etl.log.*", ["etl.log.*"]),
        ("move the invoices of 2023 to Docs", ["invoice 2023.pdf"]),
        ("move the 2024 invoices to Docs", ["invoice 2024.pdf"]),
        ("put the gas bills into a folder called Gas", ["Gas Bill March.pdf", "gas_bill_june.pdf", "GasBill.pdf"]),
    ],
)
async def test_all_that_is_said_of_names_holds(plan: Any, text: str, include: list[str]) -> None:
    assert (await listed(plan, text)).get("include", []) == include


async def test_kind_name_folder_size_age_and_exception_hold_together(plan: Any) -> None:
    args = await listed(
        plan,
        "delete every *.log and *.log.* under logs/ that is older than 90 days and bigger than 100 KB, but keep"
        ' anything with "error" in the name',
    )
    assert {**args, "modified_before": ""} == {
        "path": "logs",
        "include": ["*.log", "*.log.*"],
        "exclude": ["*error*"],
        "larger_than": 100_000,
        "modified_before": "",
    }


@pytest.mark.parametrize(
    "text",
    [
        "rename the reciept pictures to Trip 1, Trip 2 and so on",
        "delete logs/etl*.1 and data/raw/*.csv",
        "delete the pdfs from 2019 and 2024",
        "move the photos from before lockdown to Old",
        "remove the accents from the names of the pdfs",
        "delete the invoice 1999 pdfs",
        "delete the pdfs with gas in the name and with bill in the name",
    ],
)
async def test_what_cannot_be_applied_is_asked_about(plan: Any, text: str) -> None:
    assert isinstance(await plan(text), Unclear)


@pytest.mark.parametrize(
    "text",
    [
        "delete the empty files everywhere",
        "delete the files with nothing in them in all folders",
        "lösche die leeren Dateien in allen Ordnern",
        "elimina los archivos vacíos de todas las carpetas",
        "borra los archivos que no tienen nada, en todas las carpetas",
    ],
)
async def test_everywhere_goes_below_and_nothing_in_them_is_empty(plan: Any, text: str) -> None:
    args = await listed(plan, text)
    assert (args["empty"], args["recursive"]) == (True, True)


async def test_a_change_stays_in_its_folder_and_a_look_goes_through_all(plan: Any) -> None:
    assert "recursive" not in await listed(plan, "delete the csv files")
    assert (await listed(plan, "delete the empty files"))["recursive"] is True, "worth nothing wherever it lies"
    assert (await listed(plan, "how many csv files do I have?"))["recursive"] is True


@pytest.mark.parametrize(
    "text",
    [
        "delete the temporary files, but don't touch the duplicates yet",
        "lösch die temporären Dateien, aber die doppelten noch nicht",
        "borra los archivos temporales, pero no toques los duplicados todavía",
    ],
)
async def test_another_job_that_is_not_to_be_done_spares_none_of_what_is_worth_nothing(plan: Any, text: str) -> None:
    assert [step.tool for step in (await plan(text)).plan.steps] == ["manage-files.list", "manage-files.delete"]


async def test_some_of_them_are_not_all_of_them(plan: Any) -> None:
    outcome = await plan("delete some PDFs")
    assert isinstance(outcome, Unclear)
    assert "some" in outcome.question
    assert isinstance(await plan("there are some empty files, delete them"), Drafted)


@pytest.mark.parametrize(
    "text",
    [
        "delete the uni, the ones that are older than five years, everywhere",
        "borra uni, los que son mas viejos de cinco años en todas las carpetas",
    ],
)
async def test_nobody_is_led_to_delete_a_folder_by_leaving_out_which_of_its_files(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Unclear)
    assert not outcome.partly


async def test_which_are_alike_is_not_known_before_they_are_read(plan: Any) -> None:
    outcome = await plan("move all pdfs to Old but leave the duplicates alone")
    assert isinstance(outcome, Unclear)
    assert "duplicates" in outcome.question


async def test_the_files_of_a_pattern_are_named_where_one_of_another_folder_stands_beside_it(plan: Any) -> None:
    told = await listed(plan, "zip logs/*.log and passport.pdf as p.zip")
    assert told["paths"] == ["logs/etl.log", "logs/etl-error.log", "passport.pdf"]


@pytest.mark.parametrize("text", ["put them into a zip file", "pack sie in eine Zip-Datei", "zip all of them"])
async def test_what_was_never_named_is_asked_for_and_is_not_everything(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Unclear)
    assert outcome.missing


@pytest.mark.parametrize(
    "text", ["find all PDFs and put them into a zip file called x.zip", "such alle PDFs und pack sie in ein Zip"]
)
async def test_what_is_found_goes_into_the_archive_and_nothing_else(plan: Any, text: str) -> None:
    looked, chosen, packed = (await plan(text)).plan.steps
    assert (looked.args["include"], chosen.args["include"]) == (["*.pdf"], ["*.pdf"])
    assert packed.args["paths"] == "$step(2).nodes"


async def test_several_folders_are_one_list(plan: Any) -> None:
    args = await listed(plan, "list the csv files in data/raw and data/staging, sorted by size descending")
    assert (args["folders"], args["order"]) == (["data/raw", "data/staging"], "largest")


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("remove the duplicates, keep the ones with the proper names", {"keep": "named"}),
        ("lösch die doppelten Dateien, behalt die mit dem normalen Namen ohne (1) oder Kopie", {"keep": "named"}),
        ("borra los duplicados y conserva los que tienen el nombre normal", {"keep": "named"}),
        ("remove the duplicates but keep the originals, not the copies", {"keep": "oldest"}),
        ("remove duplicates, keep the ones in logs", {"spare": ["logs"]}),
        ("borra los duplicados, pero conserva los de la carpeta logs", {"spare": ["logs"]}),
        ("remove duplicates but leave the folder logs alone", {"exclude": ["logs"]}),
        (
            "find duplicates by content across data/ and logs/, keep the copy in data/raw and remove the others",
            {"folders": ["data", "logs"], "spare": ["data/raw"]},
        ),
    ],
)
async def test_which_of_the_duplicates_stays(plan: Any, text: str, args: dict[str, Any]) -> None:
    given = await listed(plan, text)
    told = {name: given[name] for name in ("keep", "spare", "exclude", "folders") if name in given}
    assert told == args


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("rename the jpgs to receipt_001, receipt_002 and so on", {"base": "receipt_", "digits": 3}),
        ("rename the jpgs to Cornwall 1, Cornwall 2 etc", {"base": "Cornwall", "digits": 1}),
        ("rename the jpgs starting with IMG_ to Trip 01, Trip 02 and so on", {"base": "Trip", "digits": 2}),
    ],
)
async def test_a_name_given_by_example_is_kept_as_it_is(plan: Any, text: str, rule: dict[str, Any]) -> None:
    outcome = await plan(text)
    assert {**rule, "paths": "$step(1).nodes"} == outcome.plan.steps[-1].args


async def test_a_new_name_without_an_ending_gets_that_of_the_file(plan: Any) -> None:
    assert (await listed(plan, "rename passport.pdf to My passport"))["new_name"] == "My passport.pdf"


async def test_a_bare_name_that_is_in_one_subfolder_is_that_file(plan: Any) -> None:
    assert (await listed(plan, "rename script.md to plan.md"))["path"] == "uni/script.md"


async def test_what_was_just_unpacked_is_what_it_means_next(plan: Any) -> None:
    outcome = await plan("unzip tunes.zip into data/new, then move the mp3s from it into logs")
    listing = outcome.plan.steps[1]
    assert (listing.args["path"], listing.args["recursive"]) == ("data/new", True)


@pytest.mark.parametrize(
    "text",
    [
        "clean up temporary files",
        "clean up the tmp files",
        "Bitte räumen Sie die temporären Dateien auf",
        "limpia los archivos temporales",
        "clean up the empty files",
        "räum die leeren Ordner auf",
    ],
)
async def test_what_is_worth_nothing_is_cleaned_up_by_deleting_it(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    assert [step.tool for step in outcome.plan.steps] == ["manage-files.list", "manage-files.delete"]


@pytest.mark.parametrize(
    ("text", "include"),
    [
        ("delete the pdfs, only invoice 2023.pdf", ["invoice 2023.pdf"]),
        ("delete the documents, but only the pdfs", ["*.pdf"]),
        ("lösche die PDFs, nur passport.pdf", ["passport.pdf"]),
    ],
)
async def test_only_narrows_what_is_chosen(plan: Any, text: str, include: list[str]) -> None:
    assert (await listed(plan, text))["include"] == include


@pytest.mark.parametrize(
    "text",
    [
        "delete the pdfs, only etl.log",
        "zip the folder logs, only etl-error.log",
        "move the folder logs to uni, only etl-error.log",
    ],
)
async def test_a_limit_that_does_not_fit_what_goes_is_asked_about(plan: Any, text: str) -> None:
    assert isinstance(await plan(text), Unclear)
