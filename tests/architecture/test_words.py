"""Plain English in docstrings, names of tests, error texts, log lines, metrics and SQL (house style, prose)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from tests.architecture.test_modules import MODULES, ROOT, SOURCE, parsed

WORDS_MOST = 10
"""Words of a test's name, without `test_`."""

BANNED = re.compile(
    r"\b(whoever|nobody|someone|somebody|no one|(?:is|are|was|were) (?:told|said|heard|met)|stands?|in hand|aside"
    r"|of ours|(?:comes?|came) (?:to|of)|(?:becomes?|became) of|goes behind)\b",
    re.IGNORECASE,
)
"""Words of a translation: report, receive, observe, result and remain are the field's (house style, prose 1 and 3)."""
BEGINS = re.compile(r"(?:What|Whatever|Who|Whoever|Whose|Of|Those)\b")
RIDDLE = re.compile(
    r"^(?:of|those|where|whose|it|its|so|then|else) "
    r"|\b(?:what|whatever|who|whom|however|whichever|wherever|tells?|told|said|heard|says? so|anew)\b"
    r"|\bas (?:it|they) (?:is|are|was|were)\b"
)
"""Marks of a test's name that does not state its subject."""
NAMED = re.compile(r"\b(?:said|told|kept|stood|marked|heard|hurry|standing|whose|theirs)\b")
"""No names for rows in SQL."""
LOGGED = frozenset(("debug", "info", "warning", "error"))
LOG_LINE = re.compile(r"(?!(a|an|the|nobody|someone|cannot) )[a-z][^:]*[^.:]")
"""A past verb, a noun, and fields."""
METRICS = Path("libs/telemetry/metrics.py")
APPLIED = (
    *("0001_audit", "0001_budgets", "0001_conversation", "0001_executor", "0001_memory", "0001_tables"),
    *("0002_effects", "0003_skill_approvals"),
)
"""Migrations from before this rule. They never change."""

TESTS = [module for module in MODULES if module.parts[0] == "tests"]
PLAIN = [module for module in SOURCE if module.parts[0] in ("libs", "services")]
SQL = [file.relative_to(ROOT) for folder in ("libs", "services") for file in sorted((ROOT / folder).rglob("*.sql"))]


def test_docstrings_are_plain() -> None:
    assert [found for module in PLAIN for found in _odd(module, _docstrings(module))] == []


def test_texts_of_errors_are_plain() -> None:
    assert [found for module in PLAIN for found in _odd(module, _errors(module))] == []


def test_descriptions_of_metrics_are_plain() -> None:
    assert list(_odd(METRICS, _texts(parsed(METRICS)))) == []


def test_log_lines_are_plain_phrases() -> None:
    lines = [(module, line) for module in SOURCE for line in _log_lines(module)]
    assert [line for line in lines if BANNED.search(line[1]) or not LOG_LINE.fullmatch(line[1])] == []


def test_names_of_tests_have_at_most_ten_words() -> None:
    assert [name for name in _names() if len(name.split()) > WORDS_MOST] == []


def test_names_of_tests_are_plain() -> None:
    assert [name for name in _names() if BANNED.search(name) or RIDDLE.search(name)] == []


def test_names_and_comments_in_sql_are_plain() -> None:
    files = [file for file in SQL if file.stem not in APPLIED]
    assert [found for file in files for found in _odd(file, _comments(file))] == []
    assert [found for file in files if (found := NAMED.findall(_code(file)))] == []


def _odd(file: Path, texts: Iterator[tuple[int, str]]) -> Iterator[str]:
    yield from (f"{file}:{line}: {text}" for line, text in texts if BANNED.search(text) or BEGINS.match(text))


def _docstrings(module: Path) -> Iterator[tuple[int, str]]:
    """Yield docstrings, also those below a name."""
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())


def _errors(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of raised exceptions, and of our errors wherever they are made."""
    for node in ast.walk(parsed(module)):
        match node:
            case ast.Raise(exc=ast.Call() as call):
                yield from _texts(call)
            case ast.Call(func=ast.Name(name)) if name in _our_errors():
                yield from _texts(node)


@cache
def _our_errors() -> set[str]:
    classes = [node for module in PLAIN for node in ast.walk(parsed(module)) if isinstance(node, ast.ClassDef)]
    errors, before = {"SumaError"}, 0
    while len(errors) > before:
        before = len(errors)
        errors |= {
            made.name for made in classes for base in made.bases if isinstance(base, ast.Name) and base.id in errors
        }
    return errors


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _log_lines(module: Path) -> Iterator[str]:
    for node in ast.walk(parsed(module)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("log"), attr), [ast.Constant(str() as line), *_]) if attr in LOGGED:
                yield line


def _names() -> Iterator[str]:
    """Yield the names of all tests as words. To parse all tests would take seconds."""
    for module in TESTS:
        for name in re.findall(r"^ *(?:async )?def test_(\w+)", (ROOT / module).read_text("utf-8"), re.MULTILINE):
            yield name.replace("_", " ")


def _comments(file: Path) -> Iterator[tuple[int, str]]:
    """Yield each sentence of each block of comments."""
    lines = [line.strip() for line in (ROOT / file).read_text("utf-8").splitlines()]
    numbered = [(number, "" if line.startswith("-- name:") else line) for number, line in enumerate(lines, 1)]
    for comment, block in groupby(numbered, key=lambda line: line[1].startswith("--")):
        if comment:
            first, *more = block
            text = " ".join(line.lstrip("- ") for _, line in (first, *more))
            yield from ((first[0], sentence) for sentence in re.split(r"(?<=[.:]) ", text))


def _code(file: Path) -> str:
    return re.sub(r"--.*|'[^'\n]*'", "", (ROOT / file).read_text("utf-8"))
