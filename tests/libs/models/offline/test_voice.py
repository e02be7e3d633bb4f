"""What may be chosen is told in plain words of the person's language."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.offline.phrasebook import USES
from libs.models.offline.voice import candidate
from libs.models.ports import Unclear
from libs.retrieval.lexicon import Language
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]


def test_every_bundled_tool_of_the_workspace_has_words_for_a_choice(catalogue: Catalogue) -> None:
    assert {tool.name for tool in catalogue if tool.in_workspace} - {"skills.use"} <= USES.keys()


@pytest.mark.requirement("S4-46")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("clean up", {"sort the files into folders by type", "remove identical files, keeping one of each"}),
        ("räum auf", {"die Dateien nach Art in Ordner sortieren", "gleiche Dateien löschen, von jeder bleibt eine"}),
        (
            "haz limpieza",
            {"ordenar archivos por tipo en carpetas", "borrar los archivos idénticos y dejar uno de cada"},
        ),
    ],
)
async def test_skills_to_choose_from_are_told_in_the_language_of_the_request(
    model: OfflineModel, catalogue: Catalogue, text: str, told: set[str]
) -> None:
    vague = await model.plan(Task(text=text, intent="", workspace={}), catalogue)
    assert isinstance(vague, Unclear)
    assert {candidate.description for candidate in vague.candidates} == told


@pytest.mark.parametrize("language", ["de", "es"])
def test_a_candidate_of_ours_is_never_told_in_the_catalogues_english(catalogue: Catalogue, language: Language) -> None:
    told = {tool.name: candidate(tool, 0.5, language=language).description for tool in catalogue if tool.name in USES}
    assert all(USES[name][language][1:] in said for name, said in told.items())
