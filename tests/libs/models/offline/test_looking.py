"""What wants nothing changed is looked at; what might want a change never is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.offline import OfflineModel
from libs.models.offline.looking import only_looks
from libs.models.offline.reading import read
from libs.models.ports import Drafted
from libs.skills import ToolDefinition

PATHS = ("Letter to Dr Patel.docx", "Holiday budget.csv", "boiler manual.txt", "Recipes/chutney.txt", "Fotos/DSC1.jpg")
FACTS = {"names": ["Letter to Dr Patel.docx", "Holiday budget.csv", "boiler manual.txt", "Recipes/", "Fotos/"]}


def asked(text: str, **more: Any) -> Task:
    return Task(text=text, intent="question", root="/home/u/cottage", workspace={**FACTS, "paths": list(PATHS)}, **more)


async def plan(model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str) -> Plan:
    outcome = await model.plan(asked(text), catalogue)
    assert isinstance(outcome, Drafted), outcome
    return outcome.plan


@pytest.mark.parametrize(
    "text",
    [
        "do you know where the letter to Dr Patel is?",
        "the letter to Dr Patel, where is it",
        "just look for anything with Patel in the name",
        "Hallo, sag mal, wo hab ich denn den Brief an Dr Patel hingetan?",
        "hola, ¿sabes dónde tengo la carta de Patel?",
    ],
)
async def test_who_asks_where_something_is_gets_a_search(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert not step.mutates
    assert "patel" in f"{step.args.get('query', '')}{step.args.get('include', '')}".casefold()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Which of my letters or recipes mention a second opinion? Could be anywhere in here", "second opinion"),
        ('only the ones where it really says "second opinion" please', '"second opinion"'),
        ('which files contain "second opinion"?', '"second opinion"'),
        ("where does it say second opinion", "second opinion"),
        ("where is it written that the deposit is paid", "deposit is paid"),
        ("which file says delete everything", "delete everything"),
        ("in welcher Datei steht Rechnung bezahlt", "Rechnung bezahlt"),
        ("wo steht es, dass die Kaution bezahlt ist", "Kaution bezahlt"),
        ("dónde dice borrar", "borrar"),
        ("en q archivo sale lo de la arqueta", "arqueta"),
        ("Wo habe ich etwas über Frösche geschrieben?", "Frösche"),
        ("what did I charge for the second boiler", "charge second boiler"),
    ],
)
async def test_who_asks_where_something_stands_gets_a_search_and_no_one_file_read_out(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, query: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert (step.tool, step.args["query"]) == ("search-files.search", query)


@pytest.mark.parametrize(
    "text",
    ["search for chutney, but not in Fotos", "suche nach chutney, aber nicht in Fotos", "busca chutney menos en Fotos"],
)
async def test_a_search_leaves_out_what_is_said(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert (step.args["query"], step.args["path"], step.args["exclude"]) == ("chutney", ".", ["Fotos"])


async def test_an_overview_is_given_where_the_whole_folder_is_meant(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    text = "Hello dear, can you have a look and tell me what on earth is in this folder? It's got out of hand"
    assert [step.tool for step in (await plan(model, catalogue, text)).steps] == ["analyze-directory.report"]


async def test_the_one_file_that_the_words_name_is_read(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    (step,) = (await plan(model, catalogue, "what did I put in the holiday budget?")).steps
    assert (step.tool, step.args["path"]) == ("parse-content.parse", "Holiday budget.csv")


@pytest.mark.parametrize(
    "text",
    [
        "delete the letter to Dr Patel",
        "can the letter to Dr Patel go in Recipes?",
        "where should the letter go?",
        "can you shrink the letter?",
        "defragment the letters",
        "print the letter, where is it?",
        "what about putting the letters into Recipes?",
        "wo der Brief hin soll? nach Recipes",
        "la carta, fuera",
        "blur the face in DSC1.jpg",
        "which letters shall I keep?",
    ],
)
def test_a_word_of_change_or_a_verb_that_nobody_knows_is_no_look(text: str) -> None:
    assert not only_looks(read(text, PATHS))


@pytest.mark.parametrize("text", ["what's the capital of Peru?", "who won the world cup?"])
async def test_what_has_nothing_to_do_with_the_files_is_not_looked_for(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    assert not isinstance(await model.plan(asked(text), catalogue), Drafted)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("en que recetas pone tomate", "tomate"),
        ("en qué recetas pone tomate?", "tomate"),
        ("is there anything about the wedding", "wedding"),
        ("do we have anything on taxes", "taxes"),
        ("ist da was von Paul dabei", "paul"),
        ("gibt es was über Steuern", "steuern"),
        ("hay algo de la boda", "boda"),
    ],
)
async def test_who_asks_for_anything_about_something_gets_a_search_though_no_name_has_it(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, query: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert (step.tool, step.args["query"].casefold()) == ("search-files.search", query)


@pytest.mark.parametrize(
    "text",
    [
        "what can I delete",
        "which files can go?",
        "what should I delete to free space?",
        "how many files could I delete",
        "welche Dateien kann ich löschen?",
        "was kann weg",
        "qué puedo borrar",
        "cuáles puedo eliminar sin problema",
    ],
)
async def test_who_asks_what_could_go_is_told_what_there_is(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert step.tool == "analyze-directory.report"


@pytest.mark.parametrize(
    "text",
    [
        "have the letters been deleted",
        "has boiler manual.txt been moved already?",
        "did you delete boiler manual.txt?",
        "is boiler manual.txt gone",
        "wurden die Fotos schon verschoben?",
        "ist boiler manual.txt weg",
        "se borró boiler manual.txt?",
        "has borrado boiler manual.txt?",
        "how many files would you delete",
    ],
)
async def test_whether_something_was_done_is_no_wish_to_have_it_done(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    outcome = await model.plan(asked(text), catalogue)
    assert not isinstance(outcome, Drafted) or not any(step.mutates for step in outcome.plan.steps), outcome


@pytest.mark.parametrize(
    "text",
    [
        "the letters have been read, delete boiler manual.txt",
        "is it possible to delete boiler manual.txt",
        "se acabó el espacio, borra boiler manual.txt",
    ],
)
async def test_a_wish_beside_such_a_sentence_is_a_wish(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    assert any(step.mutates for step in (await plan(model, catalogue, text)).steps)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("what's the newest", "newest"),
        ("which one is the oldest", "oldest"),
        ("what is the biggest file", "largest"),
        ("was ist die größte Datei", "largest"),
        ("was ist das Neueste", "newest"),
        ("cuál es el archivo más grande", "largest"),
        ("cual es el mas nuevo", "newest"),
    ],
)
async def test_the_one_at_the_top_is_the_only_one_that_is_shown(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, order: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert (step.args["order"], step.args["most"], step.args["recursive"]) == (order, 1, True)


@pytest.mark.parametrize(
    "text",
    [
        "how big are the photos",
        "how much do the photos weigh",
        "wie groß sind die Bilder zusammen",
        "cuánto pesan las fotos",
    ],
)
async def test_how_large_some_are_is_told_of_each(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    (step,) = (await plan(model, catalogue, text)).steps
    assert step.args["order"] == "largest"
    assert "*.jpg" in step.args["include"]


@pytest.mark.parametrize("text", ["wie viel Platz nehmen die Fotos weg", "wieviel Speicher nehmen die Bilder ein"])
async def test_what_takes_room_is_not_taken_away(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    assert not any(step.mutates for step in (await plan(model, catalogue, text)).steps)
