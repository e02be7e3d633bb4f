"""Every reader of text from outside, against expensive texts: its cost grows with the length, not with the square."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from fastapi import HTTPException

from libs.errors import SumaError
from libs.events import ApprovalRequested
from libs.guards import commands
from libs.identity import jwt
from libs.keys.canonical import canonical
from libs.models.offline.tokens import clean
from libs.models.offline.workspace_index import pieces
from libs.models.vendors import replies
from libs.search import extract, words
from libs.skills import categories
from libs.skills.globs import selected
from libs.skills.name_patterns import reshaped
from libs.texts import literal
from services.cli import prompts
from services.committee_worker.domain import verdict
from services.gateway.http import bodies
from services.gateway.sessions.messages import title_of
from services.gateway.surfaces import questions
from services.memory_service.domain import facts
from services.tool_executor.tools import containing, parsing

LETTERS, TIMES = 2_000, 8
SECONDS = 0.15
"""So little is never too much."""
GROWTH = 30.0
"""For eight times the text: linear work costs eight times as much, with the square 64 times."""
UNITS = (
    *(
        " ",
        "a",
        "a ",
        "\n",
        "(",
        ")",
        "[",
        "{",
        "{}",
        "[],",
        '"',
        "'",
        "\\",
        ",",
        ", and ",
        " and ",
        "-",
        "- ",
        "1",
        "1.",
    ),
    *(
        ".",
        "..",
        "*",
        "**/",
        "*a",
        "?",
        "/",
        "../",
        "<",
        "<a>",
        "<b a='",
        "&",
        "&amp;",
        "|",
        "`",
        "#",
        "# ",
        ":",
        "a:\n",
        "\t",
    ),
    *(
        "=",
        "==",
        "%",
        "$(",
        "${",
        "~",
        "@",
        ";",
        "!",
        "_",
        "e\u0301",
        "ü",
        "\u200b",
        "日",
        "\x00",
        "not ",
        "> ",
        "a,b\n",
        "\r",
    ),
    *(
        "key: value\n",
        "[a]\n",
        "From: x\n",
        "--b\n",
        "no ",
        "don't ",
        "true",
        "1e9,",
        '{"a":',
        "'''",
        "<!--",
        "]]>",
        "\\u0000",
    ),
)
QUESTION = ApprovalRequested(turn_id="t", approval_id="a", kind="step", digest="d", title="Move?", expires_in=60)
KEY = jwt.public_key(
    {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "alg": "EdDSA", "kid": "k"}
)


def file(ending: str) -> Callable[[str], Any]:
    return lambda text: parsing.parsed(f"x{ending}", text.encode())


READERS: dict[str, Callable[[str], Any]] = {
    "an answer in words": lambda text: questions.answer_to(QUESTION, text),
    "an answer with exceptions": lambda text: questions.answer_to(QUESTION, f"approve except a{text}b"),
    "a refusal": lambda text: questions.answer_to(QUESTION, f"no:{text}b"),
    "a name of a question": questions.reference,
    "a title": title_of,
    "a body": lambda text: bodies.parsed(text.encode()),
    "an argument": commands.check_argument,
    "a key id": jwt.key_id_of,
    "a token": lambda text: jwt.verified(f"{text}.{text}.{text}", KEY, ["EdDSA"]) if KEY else None,
    "canonical JSON": lambda text: canonical({text: [text]}),
    "words": words.words,
    "sentences": extract.sentences,
    "a suffix": categories.split_suffix,
    "pieces of a name": pieces,
    "a request": clean,
    "a reply of a model": lambda text: replies.outcome(text, (), cut=False),
    "a reply in a fence": lambda text: replies.outcome(f"```json\n{text}\n```", (), cut=False),
    "a review": verdict.read,
    "a fact": facts.read,
    "numbers in a terminal": lambda text: prompts.parse_selection(text, 10),
    "a mention": lambda text: containing.mention_of("a", text),
    "a mention in one line": lambda text: containing.mention_of("paid", f"paid : [{text}" + "paid " * (len(text) // 5)),
    "a shape of a name": lambda text: reshaped("a" * 200, text[:1_000], "{text}"),
    "a name by a shape": lambda text: reshaped(text[:4_000], "{word} {text}-{number}", "{text}"),
    "a pattern of names": lambda text: selected("a" * 200, include=[text[:255]]),
    "a name in an answer": literal,
    "a name by a pattern": lambda text: selected(text[:4_000], include=["*a*a*a*a*b"]),
} | {f"a file{ending}": file(ending) for ending in (*sorted(parsing.PARSERS), *sorted(parsing.MAILS), ".txt")}


def cost(reads: Callable[[str], Any], text: str) -> float:
    """Processor seconds. A reader may refuse a text as it likes."""
    began = time.process_time()
    with suppress(SumaError, ValueError, HTTPException):
        reads(text)
    return time.process_time() - began


def growth(reads: Callable[[str], Any], unit: str) -> float:
    """How many times as long eight times the text takes; 0 where even that is quick."""
    short = unit * (LETTERS // len(unit))
    long = cost(reads, f"{short * TIMES}!")
    return long / max(cost(reads, f"{short}!"), SECONDS / 64) if long > SECONDS else 0.0


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("name", READERS)
def test_cost_of_a_text_grows_with_its_length(name: str) -> None:
    assert {unit: times for unit in UNITS if (times := growth(READERS[name], unit)) > GROWTH} == {}


def test_cost_that_grows_with_the_square_is_found() -> None:
    assert growth(lambda text: [text.count("b") for _ in range(len(text) * 4)], "a") > GROWTH
