"""Who asks "why not?" is told why the last turn came to nothing, in plain words of their language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import DENIED, Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.ports import Answered, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
FACTS: dict[str, Any] = {"names": ["a.tmp", "b.tmp"], "paths": ["a.tmp", "b.tmp"]}
REFUSED = Exchange(text="delete the tmp files", answer="…", reason="POLICY_DENIED", shown=("a.tmp", "b.tmp"))


async def asked(
    model: OfflineModel, catalogue: Catalogue, text: str, *history: Exchange, **told: Any
) -> PlannerOutcome:
    task = Task(text=text, intent="", root="/home/u/x", workspace=FACTS, history=history, **told)
    return await model.plan(task, catalogue)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("why not?", "the rules here do not allow it"),
        ("but why?", "the rules here do not allow it"),
        ("why can't you do that?", "the rules here do not allow it"),
        ("aber warum denn nicht?", "die Regeln hier erlauben es nicht"),
        ("warum geht das nicht", "die Regeln hier erlauben es nicht"),
        ("¿pero por qué no?", "las reglas de aquí no lo permiten"),
        ("pero por q no", "las reglas de aquí no lo permiten"),
    ],
)
async def test_what_was_refused_is_told_with_its_reason(
    model: OfflineModel, catalogue: Catalogue, text: str, why: str
) -> None:
    told = await asked(model, catalogue, text, REFUSED)
    assert isinstance(told, Answered)
    assert why in told.text


async def test_a_person_who_said_no_is_told_so(model: OfflineModel, catalogue: Catalogue) -> None:
    no = Exchange(text="delete the tmp files", answer="Nothing was changed.", reason=DENIED)
    told = await asked(model, catalogue, "why not?", no)
    assert isinstance(told, Answered)
    assert "you said no" in told.text


async def test_where_nothing_was_refused_nothing_is_made_up(model: OfflineModel, catalogue: Catalogue) -> None:
    told = await asked(model, catalogue, "why not?", Exchange(text="list all", answer="2 items: a.tmp, b.tmp."))
    assert isinstance(told, Answered)
    assert "refused nothing" in told.text


async def test_a_refusal_that_says_why_is_said_again(model: OfflineModel, catalogue: Catalogue) -> None:
    text = "lösche ../draussen/a.txt"
    refused = await asked(model, catalogue, text)
    assert isinstance(refused, Answered)
    told = await asked(model, catalogue, "warum nicht?", Exchange(text=text, answer=refused.text))
    assert isinstance(told, Answered)
    assert told.text == refused.text


async def test_a_path_of_an_error_is_named(model: OfflineModel, catalogue: Catalogue) -> None:
    lost = Exchange(text="kopiere x nach y", answer="x/y does not exist", reason="NO_SUCH_PATH")
    told = await asked(model, catalogue, "warum?", lost)
    assert isinstance(told, Answered)
    assert "“x/y” gibt es nicht" in told.text


@pytest.mark.parametrize(
    "text", ["why not? delete them", "pero por q no? borralos", "warum nicht? Lösche diese 2 Dateien"]
)
async def test_a_wish_beside_the_question_is_what_counts(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    done = await asked(model, catalogue, text, REFUSED)
    assert isinstance(done, Drafted), done
    assert [step.args for step in done.plan.steps if step.mutates] == [{"paths": ["a.tmp", "b.tmp"]}]


async def test_a_question_of_ours_is_explained_and_asked_again(model: OfflineModel, catalogue: Catalogue) -> None:
    told = await asked(model, catalogue, "delete the frobnicated ones", clarification="why?")
    assert isinstance(told, Unclear)
    assert "change nothing that I don't understand" in told.question


@pytest.mark.parametrize("text", ["why is this folder so big?", "why does a.tmp exist", "warum ist a.tmp so groß?"])
async def test_a_question_about_files_is_none_about_a_refusal(
    model: OfflineModel, catalogue: Catalogue, text: str
) -> None:
    told = await asked(model, catalogue, text, REFUSED)
    assert "rules here" not in str(told)
    assert "Regeln hier" not in str(told)


@pytest.mark.parametrize(
    ("before", "said"), [("delete the pdfs", "Fine"), ("lösche die PDFs", "Gut"), ("borra los pdf", "De acuerdo")]
)
async def test_a_bare_no_asks_for_nothing_in_the_language_of_before(
    model: OfflineModel, catalogue: Catalogue, before: str, said: str
) -> None:
    told = await asked(model, catalogue, "n", Exchange(text=before, answer="…", reason="POLICY_DENIED"))
    assert isinstance(told, Answered)
    assert told.text.startswith(said)
