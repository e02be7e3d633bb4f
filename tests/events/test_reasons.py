"""What a code or a sentence of ours comes to for a person."""

from __future__ import annotations

import pytest

from libs.events import reasons


@pytest.mark.parametrize(
    ("error", "language", "said"),
    [
        ("policy: no rule allows this", "de", "die Regeln hier erlauben es nicht"),
        ("policy: not on Sundays", "en", "the rules here do not allow it: not on Sundays"),
        ("REPEATED_CALL: Zip 2 files.", "es", "el mismo paso se habría hecho dos veces"),
        (
            "COMMITTEE_REJECTED: Step 1 touches x — path is outside the workspace.",
            "en",
            "it reaches outside this folder",
        ),
        (
            "COMMITTEE_REJECTED: Step 1 does not exclude what the request wants left alone.",
            "es",
            "el plan cambiaría algo que, según lo leo, quieres dejar como está; dilo con los nombres de los archivos",
        ),
        (
            "COMMITTEE_REJECTED: Step 1 takes all of Bills, of which the request names a part.",
            "en",
            "the plan would take a whole folder where you named a part of it; say which files are meant",
        ),
        ("NO_SUCH_PATH: a b/c.txt does not exist", "de", "“a b/c.txt” gibt es nicht"),
        ("APPROVAL_EXPIRED", "en", "nobody answered in time"),
        ("a person said no", "es", "dijiste que no"),
        ("WRONG_KIND: Invoices is a folder, not a file", "de", "“Invoices” ist nicht von der Art, die dafür nötig ist"),
        ("REJECTED: the moon is full", "de", "the moon is full"),
        ("STRANGE_CODE: the moon is full", "de", "the moon is full"),
        ("PDF: is no code", "en", "PDF: is no code"),
        ("something else", "de", "something else"),
    ],
)
def test_a_person_reads_no_code_and_no_other_language(error: str, language: str, said: str) -> None:
    assert reasons.plain(error, language) == said


def test_every_reason_is_there_in_each_language() -> None:
    assert all(phrases.keys() == {"en", "de", "es"} for phrases in (*reasons.KNOWN.values(), *reasons.SAID.values()))


@pytest.mark.parametrize(
    ("error", "code"),
    [("policy: no", "POLICY_DENIED"), ("NO_SPACE: x", "NO_SPACE"), ("PDF: x", None), ("no such thing", None)],
)
def test_only_codes_that_are_known_are_reasons(error: str, code: str | None) -> None:
    assert reasons.code(error) == code
