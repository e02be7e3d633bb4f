"""What a search reads of documents: within its bounds, each content once, and nothing for who no longer waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from libs.errors import Rejected
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.texts import Remembered, Texts
from tests.libs.documents import samples

AMPLE = Limits(
    index_bytes_most=1000,
    document_bytes_most=100_000,
    search_documents_most=10,
    search_documents_bytes_most=1_000_000,
    search_documents_seconds=100.0,
)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Three letters, `c` the longest; the second is the first once more."""
    for name, text in {"a.docx": "one", "b.docx": "one", "c.docx": " ".join(map(str, range(2000)))}.items():
        (tmp_path / name).write_bytes(samples.word(text))
    return Stage(Tree.scan(tmp_path))


def texts(stage: Stage, limits: Limits, *, memory: Remembered | None = None, tenant: str = "t") -> Texts:
    seconds: Iterator[int] = count()
    return Texts(stage, limits, lambda: float(next(seconds)), tenant, memory or Remembered())


NAMES = ("a.docx", "b.docx", "c.docx")


def test_content_is_read_once_for_each_tenant(stage: Stage) -> None:
    memory = Remembered()
    one = AMPLE.model_copy(update={"search_documents_most": 1})
    assert dict(texts(stage, one, memory=memory).of(NAMES[:2])) == {"a.docx": "one", "b.docx": "one"}
    none = AMPLE.model_copy(update={"search_documents_most": 0})
    other = texts(stage, none, memory=memory, tenant="u")
    assert dict(other.of(NAMES[:2])) == {"a.docx": "", "b.docx": ""}
    assert other.unread == dict.fromkeys(NAMES[:2], SkipReason.LATER)


@pytest.mark.parametrize(
    ("bound", "why"),
    [
        ({"search_documents_most": 1}, SkipReason.LATER),
        ({"search_documents_bytes_most": 2000}, SkipReason.LATER),
        ({"search_documents_seconds": 1.5}, SkipReason.LATER),
        ({"document_bytes_most": 1500}, SkipReason.TOO_LARGE),
    ],
)
def test_smaller_documents_come_first_and_the_rest_is_reported(
    stage: Stage, bound: dict[str, Any], why: SkipReason
) -> None:
    reading = texts(stage, AMPLE.model_copy(update=bound))
    assert dict(reading.of(("c.docx", "a.docx")))["a.docx"] == "one"
    assert reading.unread == {"c.docx": why}


def test_long_document_is_read_to_the_bound_of_texts(stage: Stage) -> None:
    assert len(dict(texts(stage, AMPLE).of(NAMES))["c.docx"]) == AMPLE.index_bytes_most


def test_the_longest_unused_is_forgotten_first(stage: Stage) -> None:
    memory = Remembered(most=600)
    for digest in "abc":
        memory.keep("t", digest, "x" * 100)
    assert [memory.find("t", digest) is None for digest in "abc"] == [True, False, False]


def test_reading_stops_once_its_call_is_over(stage: Stage) -> None:
    def over() -> None:
        raise Rejected("nobody waits")

    reading = replace(texts(stage, AMPLE), check=over)
    with pytest.raises(Rejected):
        list(reading.of(NAMES))


def test_text_named_like_a_document_is_read_as_text(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.docx").write_text("only words")
    (tmp_path / "Scan").write_bytes(samples.pdf("no ending"))
    again = Stage(Tree.scan(tmp_path))
    assert dict(texts(again, AMPLE).of(("notes.docx", "Scan"))) == {"notes.docx": "only words", "Scan": "no ending"}
