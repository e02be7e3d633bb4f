"""Requests about attached files, which are outside the folder until they are imported."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.conftest import Read, calls


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("save the attached file to Docs", "Docs"),
        ("import the attachments", "."),
        ("put the uploaded files into Docs", "Docs"),
        ("save the attachments here", "."),
    ],
)
def test_a_request_about_attachments_imports_them(read: Read, text: str, target: str) -> None:
    assert calls(read(text)) == [("manage-files.import", {"target": target})]
