"""As many names as there are files: each gets the one that has a word of its own, else they go by their order."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
PATHS = (
    "lab report osmosis.docx",
    "lab report enzymes.docx",
    "scan 9.pdf",
    "scan 10.pdf",
    "party 1.mp4",
    "party 2.mp4",
    "motor roto.jpg",
    "frenos rotos.jpg",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "rename lab reports to just enzymes and osmosis",
            {
                "lab report osmosis.docx": {"new_name": "osmosis.docx"},
                "lab report enzymes.docx": {"new_name": "enzymes.docx"},
            },
        ),
        (
            "benenn die Scans in Impfpass und Zeugnis um",
            {"scan 9.pdf": {"new_name": "Impfpass.pdf"}, "scan 10.pdf": {"new_name": "Zeugnis.pdf"}},
        ),
        (
            "change the party vids to freshers and halloween please",
            {"party 1.mp4": {"new_name": "freshers.mp4"}, "party 2.mp4": {"new_name": "halloween.mp4"}},
        ),
        (
            "cambia las fotos a foto de los frenos y foto del motor",
            {
                "motor roto.jpg": {"new_name": "foto del motor.jpg"},
                "frenos rotos.jpg": {"new_name": "foto de los frenos.jpg"},
            },
        ),
    ],
)
async def test_each_gets_its_own(renamed: Offered, text: str, expected: dict[str, dict[str, str]]) -> None:
    assert await renamed(text, PATHS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("report osmosis should be called Osmosis report", {PATHS[0]: {"new_name": "Osmosis report.docx"}}),
        (
            "Guest list FINAL final should just be Guest list",
            {"Guest list FINAL final.xlsx": {"new_name": "Guest list.xlsx"}},
        ),
    ],
)
async def test_one_that_should_be_called_otherwise_is(
    renamed: Offered, text: str, expected: dict[str, dict[str, str]]
) -> None:
    assert await renamed(text, (*PATHS, "Guest list FINAL final.xlsx", "Guest list FINAL.xlsx")) == expected
