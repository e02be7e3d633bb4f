"""What a story wants gone is offered, less what is to stay; nothing is where nobody spoke of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
Planned = Callable[..., Awaitable[PlannerOutcome]]
SKETCHES = ("Plans/sketch porch v1.pdf", "Plans/sketch porch v2.pdf")
FINAL = "Plans/sketch porch final.pdf"
ROTAS = ("Rotas/rota wk 31.xlsx", "Rotas/rota wk 32.xlsx", "Rotas/rota wk 33.xlsx", "Rotas/rota wk 34.xlsx")
RATES = ("rates 2024.pdf", "rates 2025.pdf", "rates 2026.pdf")
LITTER = ("Thumbs.db", "Plans/Thumbs.db", "~$tter.docx", "dl881.tmp", "big.iso.crdownload")
SETUPS = ("printer_setup.exe", "camera installer.dmg")
CLIPS = ("Clips/YARD_0412.mp4", "Clips/YARD_0413.mp4", "Clips/GATE_0412.mp4")
BILLS = ("factura luz.pdf", "factura agua.pdf", "luz del patio.jpg")
LISTS = ("lista socios.csv", "lista socios (1).csv", "lista socios - copia.csv")
PATHS = (*SKETCHES, FINAL, *ROTAS, *RATES, *LITTER, *SETUPS, *CLIPS, *BILLS, *LISTS, "diary.txt")
FOLDERS = ("Plans/", "Rotas/", "Clips/")
FACTS: dict[str, Any] = {"names": [*(p for p in PATHS if "/" not in p), *FOLDERS], "paths": list(PATHS)}


@pytest.fixture
def planned(model: OfflineModel, catalogue: Catalogue) -> Planned:
    async def planned(text: str, *replies: str) -> PlannerOutcome:
        said = {"clarification": replies[-1]} if replies else {}
        task = Task(text=text, intent="", root="/home/u/Yard", workspace=FACTS, replies=replies[:-1], **said)
        return await model.plan(task, catalogue)

    return planned


def offered(outcome: PlannerOutcome) -> list[str]:
    """The files that a yes deletes."""
    assert isinstance(outcome, Unclear), outcome
    (offer,) = outcome.offers
    (listing, args), (deed, _) = offer.calls
    assert (listing, deed) == ("manage-files.list", "manage-files.delete")
    return sorted(name.replace("[[]", "[") for name in args["include"])


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("them YARD clips are nowt but gravel so bin em, keep the GATE one its for the insurance", CLIPS[:2]),
        ("YARD kannste vergessen, hau die weg, aber GATE muss bleiben", CLIPS[:2]),
        ("los de YARD ya no me sirven para nada, volalos, el de GATE dejalo", CLIPS[:2]),
        ("The porch is built, dear. The final one is the only one that matters, so v1 and v2 can go", SKETCHES),
        ("die veranda steht ja nun, da brauch ich die v1 und die v2 nimmer, nur die final", SKETCHES),
        ("ya está hecho el porche. la v1 y la v2 sobran, solo necesito la final", SKETCHES),
        ("I gave somebody the wrong prices again :( I don't want these rates any more, only this from 2026", RATES[:2]),
        ("in Rotas brauch ich alles vor wk 33 nicht mehr, weg damit", ROTAS[:2]),
        ("las rota de antes de wk 33 ya no las necesito, a la basura", ROTAS[:2]),
        ("wk 31 and 32 are long gone by, chuck em", ROTAS[:2]),
        ("two setup programs lying about, been installed ages, get shot of them", SETUPS),
        ("da liegen noch installer rum, printer und camera, hab ich längst drauf, die können weg", SETUPS),
        ("hay dos factura que no son mias, la de luz y la de agua, tiralas a la basura", BILLS[:2]),
        ("me quedo con la que se llama lista socios a secas; la que lleva el 1 y la que pone copia fuera", LISTS[1:]),
        ("windows keeps making those Thumbs.db things, nobody needs them, away with them all", LITTER[:2]),
        ("some rubbish with tmp on the end and one download that never finished. can you clean that away", LITTER[3:]),
        ("hier liegt so viel müll rum, räum den mal weg", LITTER),
    ],
)
async def test_what_is_to_go_is_offered_without_what_stays(planned: Planned, text: str, gone: Sequence[str]) -> None:
    assert offered(await planned(text)) == sorted(gone)


async def test_a_yes_deletes_what_was_offered(planned: Planned) -> None:
    told = await planned("them YARD clips are nowt but gravel so bin em, keep the GATE one", "yes")
    assert isinstance(told, Drafted), told
    assert [step.tool for step in told.plan.steps] == ["manage-files.list", "manage-files.delete"]
    assert told.plan.steps[0].args["include"] == list(CLIPS[:2])


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("die clips müllen alles voll, was älter is als n halbes jahr interessiert keinen mehr, weg damit", "before"),
        ("the clips, well. whatever of them is over two years old nobody needs", "before"),
    ],
)
async def test_how_old_it_is_goes_into_the_listing(planned: Planned, text: str, bounds: str) -> None:
    outcome = await planned(text)
    assert isinstance(outcome, Unclear), outcome
    (_, args), _ = outcome.offers[0].calls
    assert sorted(args["include"]) == sorted(CLIPS)
    assert [name for name in args if name.startswith("modified")] == [f"modified_{bounds}"]


@pytest.mark.parametrize(
    "text",
    [
        "the phone rings and that is that, so some have nothing at all written in them. kindly throw those out",
        "mein finger rutscht ständig ab, da sind lauter so dinger wo nichts drin steht, wirf die raus",
        "hay unos que no tienen nada escrito, esos me los quitas porfa",
    ],
)
async def test_what_has_nothing_in_it_is_told_by_its_size(planned: Planned, text: str) -> None:
    outcome = await planned(text)
    assert isinstance(outcome, Unclear), outcome
    (_, args), (deed, _) = outcome.offers[0].calls
    assert (args["empty"], deed, "include" in args) == (True, "manage-files.delete", False)


@pytest.mark.parametrize(
    "text",
    [
        "which of the clips can I throw away",
        "the YARD clips were quite a laugh, we watched them all with Ann",
        "don't throw away the YARD clips, Ann still has to see them",
        "die YARD filme bloß nicht löschen, die will Anna noch sehen",
        "no borres los de YARD, que Ana no los ha visto",
        "the word YARD has to come out of the names, get rid of it",
        "quita la palabra YARD de los nombres",
        "put the YARD ones in a zip called yard and get rid of them then",
        "I'm sick of it all, my boss can go to hell",
        "keep getting these calls, I don't need that",
    ],
)
async def test_no_deletion_is_offered_where_nobody_wants_that_of_these(planned: Planned, text: str) -> None:
    outcome = await planned(text)
    calls = [call for offer in getattr(outcome, "offers", ()) for call in offer.calls]
    assert "manage-files.delete" not in [tool for tool, _ in calls]
    plan = outcome.plan.steps if isinstance(outcome, Drafted) else ()
    assert "manage-files.delete" not in [step.tool for step in plan]


async def test_where_all_of_it_is_to_stay_nothing_is_offered(planned: Planned) -> None:
    outcome = await planned("my brother says the GATE clip can go but I say keep the GATE clip")
    assert not getattr(outcome, "offers", ())


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("borra la copia de socios", LISTS[1:]),
    ],
)
async def test_the_copy_of_a_file_is_the_second_of_it(planned: Planned, text: str, gone: tuple[str, ...]) -> None:
    outcome = await planned(text)
    assert isinstance(outcome, Unclear), outcome
    assert sorted(outcome.named) == sorted(gone)


async def test_what_is_in_the_offer_is_not_said_to_be_left_out(planned: Planned) -> None:
    outcome = await planned("delete the rates and my lista socios.csv and her sketch porch v1")
    asked = outcome.question if isinstance(outcome, Unclear) else ""
    assert "sketch porch v1" not in asked.partition("Do you mean")[0]


DRAFTS = ("Proposal v1.docx", "Proposal v2.docx", "Proposal FINAL.docx", "essay 1.docx", "essay 2.docx", "plan.txt")


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("get rid of the older versions of the proposal", DRAFTS[:2]),
        ("keep the last proposal and bin the other ones", DRAFTS[:2]),
        ("ich brauch nur die letzte Version vom Proposal, die anderen weg", DRAFTS[:2]),
        ("die alten Entwürfe vom essay können weg", DRAFTS[3:4]),
        ("borra las versiones anteriores del proposal", DRAFTS[:2]),
    ],
)
async def test_of_older_versions_the_last_one_stays(
    model: OfflineModel, catalogue: Catalogue, text: str, gone: tuple[str, ...]
) -> None:
    outcome = await model.plan(task(text, DRAFTS), catalogue)
    assert isinstance(outcome, Unclear), outcome
    assert sorted(outcome.named) == sorted(gone)


@pytest.mark.parametrize(
    "text",
    ["get rid of the older versions of the plan", "delete the numbers in the proposals", "borra el plan repetido"],
)
async def test_where_no_name_tells_which_is_the_last_nothing_goes(
    model: OfflineModel, catalogue: Catalogue, text: str
) -> None:
    outcome = await model.plan(task(text, DRAFTS), catalogue)
    offers = outcome.offers if isinstance(outcome, Unclear) else ()
    assert not any(tool == "manage-files.delete" for offer in offers for tool, _ in offer.calls)


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("das alte Logo und die alte Preisliste können weg", ("Logo alt.png", "Preisliste 2023.pdf")),
        ("the old Logo and the old Preisliste can go", ("Logo alt.png", "Preisliste 2023.pdf")),
    ],
)
async def test_the_old_one_of_two_is_that_of_the_earlier_year(
    model: OfflineModel, catalogue: Catalogue, text: str, gone: tuple[str, ...]
) -> None:
    paths = ("Logo alt.png", "Logo.png", "Preisliste 2023.pdf", "Preisliste 2024.pdf")
    outcome = await model.plan(task(text, paths), catalogue)
    assert isinstance(outcome, Unclear), outcome
    assert sorted(outcome.named) == sorted(gone)


@pytest.mark.parametrize(
    "text",
    [
        "get rid of the old phone contract, keep the new one",
        "bin the setup, the recording and the old phone contract",
        "der alte phone contract kann weg, den neuen brauch ich noch",
    ],
)
async def test_the_old_one_is_that_which_is_called_so(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    paths = ("phone contract.pdf", "old phone contract 2019.pdf", "setup.exe", "recording.mp4")
    outcome = await model.plan(task(text, paths), catalogue)
    assert isinstance(outcome, Unclear), outcome
    assert "old phone contract 2019.pdf" in outcome.named
    assert "phone contract.pdf" not in outcome.named


@pytest.mark.parametrize(
    ("text", "going"),
    [
        ("delete last year's van insurance", {"van insurance 2025.pdf"}),
        ("den Dienstplan vom Januar brauch ich nicht mehr", {"Dienstplan Januar 2026.pdf"}),
        ("die Abrechnung vom November kann weg", {"Abrechnung 2025-11.pdf"}),
        ("lösch den alten Dienstplan vom Mai, es gibt einen neuen", {"Dienstplan Mai 2026.pdf"}),
    ],
)
async def test_what_names_tell_of_a_year_or_a_month_chooses_by_it(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, going: set[str]
) -> None:
    paths = (
        *("van insurance 2025.pdf", "van insurance 2026.pdf"),
        *("Dienstplan Januar 2026.pdf", "Dienstplan Februar 2026.pdf", "Dienstplan März 2026.pdf"),
        *("Dienstplan Mai 2026.pdf", "Dienstplan Mai 2026 (neu).pdf"),
        *("Abrechnung 2025-11.pdf", "Abrechnung 2025-12.pdf", "Abrechnung 2026-01.pdf"),
    )
    asked = await model.plan(task(text, paths), catalogue)
    assert isinstance(asked, Unclear), asked
    assert {*asked.named} == going
