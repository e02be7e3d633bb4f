"""Of the files that Suma has just named, some are meant: told by their place, or by words of their names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import DENIED, Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.offline.among import left
from libs.models.ports import Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
BILLS = ("bill 01.pdf", "bill 02.pdf", "bill 03.pdf", "bill 2023-05.pdf", "bill of the roof.pdf")
FACTS = {"names": [*BILLS, "speech.txt", "Docs/"], "paths": [*BILLS, "speech.txt", "Docs/c.txt"]}


async def then(
    model: OfflineModel, catalogue: Catalogue, text: str, *, before: str, reason: str | None
) -> PlannerOutcome:
    told = Exchange(text=before, answer="…", reason=reason, shown=BILLS)
    return await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS, history=(told,)), catalogue)


async def answered(model: OfflineModel, catalogue: Catalogue, text: str, reply: str) -> PlannerOutcome:
    task = Task(text=text, intent="", root="/home/u/x", workspace=FACTS, clarification=reply)
    return await model.plan(task, catalogue)


def touched(outcome: PlannerOutcome) -> list[str]:
    assert isinstance(outcome, Drafted), outcome
    last = outcome.plan.steps[-1].args
    told = last.get("paths") or last.get("source")
    assert isinstance(told, list)
    return [str(path) for path in told]


@pytest.mark.requirement("S4-44")
@pytest.mark.parametrize(
    ("text", "those"),
    [
        ("without the last one", BILLS[:4]),
        ("ohne die letzten zwei", BILLS[:3]),
        ("menos la última", BILLS[:4]),
        ("all but the first", BILLS[1:]),
        ("the first three only", BILLS[:3]),
        ("nur die ersten drei", BILLS[:3]),
        ("solo las dos primeras", BILLS[:2]),
        ("the second one", BILLS[1:2]),
        ("not 01 and 02", BILLS[2:]),
        ("leave number 3", (*BILLS[:2], *BILLS[3:])),
        ("yes but leave the 2023 ones", (*BILLS[:3], BILLS[4])),
        ("not all of them, just the 2023 one", BILLS[3:4]),
        ("nicht alle, nur die von 2023", BILLS[3:4]),
        ("no todas, solo las de 2023", BILLS[3:4]),
        ("oh, not the roof", BILLS[:4]),
        ("don't delete the roof and 01", BILLS[1:4]),
    ],
)
async def test_of_what_was_refused_some_are_left(
    model: OfflineModel, catalogue: Catalogue, text: str, those: Sequence[str]
) -> None:
    done = await then(model, catalogue, text, before="delete the bills", reason=DENIED)
    assert touched(done) == list(those)


@pytest.mark.parametrize("text", ["not the big ones", "two of them", "the first ones", "not yet", "the bills"])
def test_what_tells_none_of_them_from_the_others_is_left_to_others(text: str) -> None:
    assert left(text, BILLS) is None


@pytest.mark.parametrize(
    ("text", "those"),
    [
        ("delete the first three", BILLS[:3]),
        ("delete all but the last", BILLS[:4]),
        ("zip them without the last one", BILLS[:4]),
        ("move the first two to Docs", BILLS[:2]),
        ("die letzten zwei bitte löschen", BILLS[3:]),
        ("delete them but keep 03", (*BILLS[:2], *BILLS[3:])),
        ("delete 01 and 02", BILLS[:2]),
    ],
)
async def test_of_what_was_listed_those_are_taken(
    model: OfflineModel, catalogue: Catalogue, text: str, those: Sequence[str]
) -> None:
    assert touched(await then(model, catalogue, text, before="list the bills", reason=None)) == list(those)


async def test_two_of_them_may_be_any(model: OfflineModel, catalogue: Catalogue) -> None:
    assert isinstance(await then(model, catalogue, "delete 2 of them", before="list the bills", reason=None), Unclear)


@pytest.mark.parametrize(
    ("reply", "those"),
    [("all five of them", BILLS), ("the first two", BILLS[:2]), ("the roof", BILLS[4:]), ("02 and 03", BILLS[1:3])],
)
async def test_where_several_are_called_so_the_reply_says_which(
    model: OfflineModel, catalogue: Catalogue, reply: str, those: Sequence[str]
) -> None:
    assert touched(await answered(model, catalogue, "move the bill to Docs", reply)) == list(those)


async def test_a_word_of_one_name_takes_that_file_and_no_offer_of_all(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    facts = {
        "names": ["draft a.txt", "draft speech.txt", "b.txt"],
        "paths": ["draft a.txt", "draft speech.txt", "b.txt"],
    }
    task = Task(text="delete the draft", intent="", root="/x", workspace=facts, clarification="the speech one")
    assert touched(await model.plan(task, catalogue)) == ["draft speech.txt"]
