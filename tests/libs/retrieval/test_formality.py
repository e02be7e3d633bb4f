"""Du or Sie, as the person says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import ModuleType

import pytest

from libs.events import reasons
from libs.models.offline import answers, phrasebook
from libs.retrieval.formality import formal, formally
from services.cli import phrases
from services.conversation_worker.domain import wording

INFORMAL = re.compile(
    r"\b(?:du|dir|dich|dein\w*|sag|nenne|wähle|frag|gib|kannst|hast|willst|meinst)\b(?! Sie)", re.IGNORECASE
)


def german(told: object) -> Iterator[str]:
    if isinstance(told, Mapping):
        for language, said in told.items():
            yield from [said] if language == "de" and isinstance(said, str) else german(said)


@pytest.mark.parametrize("module", [answers, phrasebook, phrases, reasons, wording])
def test_all_that_is_said_with_du_can_be_said_with_sie(module: ModuleType) -> None:
    said = [one for name, value in vars(module).items() if name.isupper() for one in german(value)]
    assert said
    assert not [plain for one in said if INFORMAL.search(plain := formally(one))]


@pytest.mark.parametrize(
    ("texts", "sie"),
    [
        (["Könnten Sie die PDFs löschen?"], True),
        (["Löschen Sie bitte die PDFs"], True),
        (["bitte verschieben Sie sie nach Docs"], True),
        (["Ich möchte Sie bitten, die PDFs zu löschen"], True),
        (["würden sie bitte die pdfs löschen"], True),
        (["ja", "Löschen Sie bitte die PDFs"], True),
        (["kannst du sie löschen", "Löschen Sie bitte die PDFs"], False),
        (["lösch sie"], False),
        (["Sie sind alt, lösch sie"], False),
        (["kannst du die PDFs löschen"], False),
        (["delete them"], False),
        ([], False),
    ],
)
def test_who_says_sie_is_answered_so(texts: list[str], sie: bool) -> None:
    assert formal(texts) is sie
