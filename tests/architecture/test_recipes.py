"""Links, the functions that pages name, citations of sections and requirements, and the files of each recipe."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.proofs import ROOT, rows

PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<path>[^)#\s]*)(?:#(?P<anchor>[^)]*))?\)")
SYMBOL = re.compile(r"`(?:\w+\.)*(\w+)`")
CITATION = re.compile(r"\b(bus|architecture)\.md\s+#?\s*(\d+)(?:(?:,| to| and|,? …)\s+(\d+))*")
NUMBERS = {"architecture": r"^## (\d+)\. ", "bus": r"^(\d+)\. "}
SOURCE = ("libs", "services", "skills", "deploy", "docs/*.md", "docs/connect", "docs/operations")
TEXTS = (".py", ".sql", ".rego", ".yaml", ".json", ".toml")
MEANING = 8
"""Characters of the shortest text that says something."""
USERS = {f"services/gateway/{name}" for name in ("surfaces/a2a/webhooks.py", "memory/store.py", "memory/apply.sql")}
"""What reads an example's table, and is not part of the recipe."""
TOUCHED_MOST = {"A bundled tool": 5, "An event and its handler": 8, "A protocol surface": 8}
"""How many source files an addition may touch."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe of CONTRIBUTING.md: the word of its example, and its files."""

    title: str
    example: str
    files: tuple[str, ...]


def recipes() -> Iterator[Recipe]:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for part in text.split("\n### ")[1:]:
        example = re.search(r"^Example: `([^`]+)`", part, re.M)
        links = [LINK.search(line) for line in part.splitlines() if line.startswith("| [")]
        assert example is not None, part.splitlines()[0]
        yield Recipe(part.splitlines()[0], example[1], tuple(link["path"] for link in links if link))


@cache
def tracked() -> frozenset[str]:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return frozenset(names.splitlines())


def unwrapped(file: Path) -> str:
    """Return a file's text with its comments and docstrings in one line each."""
    return re.sub(r"\n(?:\s*(?:#|--|//))?\s*", " ", file.read_text("utf-8"))


@cache
def headings(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_named_functions_of_a_page_exist(page: Path) -> None:
    assert [link[0] for link in LINK.finditer(page.read_text("utf-8")) if not resolves(page, link)] == []


def resolves(page: Path, link: re.Match[str]) -> bool:
    """Return whether a link inside the repository leads somewhere, and the function that it names is there."""
    if re.match(r"\w+:", link["path"]):
        return True
    target = (page.parent / link["path"]).resolve() if link["path"] else page
    if not target.exists():
        return False
    symbol = SYMBOL.fullmatch(link["text"])
    if symbol and target.name not in link["text"] and target.suffix in (".py", ".sql", ".rego"):
        return re.search(rf"\b{symbol[1]}\b", target.read_text("utf-8")) is not None
    return not link["anchor"] or target.suffix != ".md" or link["anchor"] in headings(target)


def test_every_citation_of_a_numbered_section_resolves() -> None:
    known = {
        name: set(re.findall(pattern, (ROOT / "docs" / f"{name}.md").read_text("utf-8"), re.M))
        for name, pattern in NUMBERS.items()
    }
    cited = [
        (name, citation[1], number)
        for name in sorted(tracked())
        if name.startswith(("libs/", "services/", "tests/", "deploy/", "proto/")) and name.endswith(TEXTS)
        for citation in CITATION.finditer(unwrapped(ROOT / name))
        for number in re.findall(r"\d+", citation[0])
    ]
    assert len(cited) > 100
    assert [(name, page, number) for name, page, number in cited if number not in known[page]] == []


def test_nothing_cites_a_document_outside_the_repository() -> None:
    outside = re.compile(r"\bDESIGN\b(?: §|\.md)|\bfindings-\w+\.md|\bhouse-style\b|\bacceptance\.md")
    found = [
        name
        for name in sorted(tracked())
        if name.endswith((*TEXTS, ".md")) and name != "tests/architecture/test_recipes.py"
        if outside.search((ROOT / name).read_text("utf-8"))
    ]
    assert found == []


def test_every_requirement_that_the_source_names_has_a_text() -> None:
    texts = {row.id: f"{row.title} {row.text}" for row in rows()}
    named = re.compile(r"\b(S[0-4]-\d{2}[a-z]?)\b")
    unknown = {
        (name, row)
        for name in sorted(tracked())
        if name.startswith(("libs/", "services/", "deploy/", "skills/")) and name.endswith((*TEXTS, ".md"))
        for row in named.findall((ROOT / name).read_text("utf-8"))
        if len(texts.get(row, "")) < MEANING
    }
    assert unknown == set()


@pytest.mark.parametrize("recipe", list(recipes()), ids=lambda recipe: recipe.title)
def test_recipe_names_every_source_file_of_its_example(recipe: Recipe) -> None:
    found = subprocess.run(
        ["git", "grep", "-lwF", "--untracked", recipe.example, "--", *SOURCE, ":!docs/requirements.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert set(recipe.files) >= set(found) - USERS
    missing = [name for name in recipe.files if name not in found and recipe.example.lstrip("./") not in name]
    assert missing == []
    assert len(recipe.files) <= TOUCHED_MOST.get(recipe.title, len(recipe.files))


def test_picture_of_rooms_shows_the_layers_that_are_checked() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = text.split("\n## 5. ")[1].split("\n## ")[0]
    picture = section.split("```")[1]
    shown = [re.findall(r"[a-z]\w+", re.split(r" {3,}", line[11:])[0]) for line in picture.splitlines()[1:]]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = [
        re.findall(r"[a-z]\w+", re.sub(r"\([^)]*\)", "", layer))
        for container in ("services", "services.gateway", "libs")
        for contract in contracts
        if contract.get("containers") == [container]
        for layer in contract["layers"]
    ]
    assert [room.strip("_") for line in shown for room in line] == [room.strip("_") for line in layers for room in line]
