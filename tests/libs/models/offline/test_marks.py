"""Papers are chosen by what they are marked with: paid or not yet, signed, answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from libs.models.offline import OfflineModel
from libs.models.offline.marks import marks
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
DESK = ("Invoice roof.txt", "Invoice boiler.txt", "Angebot Dach.txt", "factura luz.txt", "factura agua.txt", "b.jpg")


def bound(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """By which word the first list chooses."""
    listing = next(args for tool, args in calls if tool == "manage-files.list")
    return {name: listing[name] for name in ("containing", "lacking") if name in listing}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("which invoices are not paid yet?", {"lacking": "paid"}),
        ("which of the invoices have I paid?", {"containing": "paid"}),
        ("welche angebote sind noch nicht bezahlt?", {"lacking": "bezahlt"}),
        ("zeig mir die unbezahlten angebote", {"lacking": "bezahlt"}),
        ("qué facturas no he pagado todavía", {"lacking": "pagado"}),
        ("which are without word PAID", {"lacking": "PAID"}),
    ],
)
async def test_who_asks_sees_those_that_bear_the_word_or_lack_it(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, expected: dict[str, str]
) -> None:
    outcome = await model.plan(task(text, DESK), catalogue)
    assert isinstance(outcome, Drafted), outcome
    assert not any(step.mutates for step in outcome.plan.steps)
    assert bound([(step.tool, step.args) for step in outcome.plan.steps]) == expected


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("move the unpaid invoices to Open", "manage-files.move", {"lacking": "paid"}),
        ("delete the invoices that are already paid", "manage-files.delete", {"containing": "paid"}),
        ("verschieb die bezahlten angebote nach Erledigt", "manage-files.move", {"containing": "bezahlt"}),
        ("borra las facturas que ya están pagadas", "manage-files.delete", {"containing": "pagado"}),
        ("borra las facturas que no estén pagadas", "manage-files.delete", {"lacking": "pagado"}),
        ("las facturas sin pagar a una carpeta Pendientes", "manage-files.move", {"lacking": "pagado"}),
    ],
)
async def test_what_is_done_to_them_is_offered_for_those_alone(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, tool: str, expected: dict[str, str]
) -> None:
    outcome = await model.plan(task(text, DESK), catalogue)
    assert isinstance(outcome, Unclear), outcome
    (offer,) = outcome.offers
    assert offer.calls[-1][0] == tool
    assert bound(offer.calls) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I paid the plumber, move his invoice to Done",
        "die Rechnungen sind bezahlt, weg damit",
        "las actas ya están aprobadas, quita los borradores",
        "lo tengo pagado todo, comprime las facturas",
        "Me temo que algún vecino no ha pagado. ¿Me lees cuotas.csv?",
        "put paid in front of the names",
        "rename it to paid.pdf",
        "ya pagué la luz, borra la factura",
    ],
)
def test_a_reason_or_a_new_name_is_no_mark(text: str) -> None:
    assert [*marks(text)] == []
