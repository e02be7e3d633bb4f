"""`python -m tests.proofs [--check]`: write docs/requirements.md, each row with the files of the tests that name it."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS, PAGE = ROOT / "tests" / "requirements.txt", ROOT / "docs" / "requirements.md"
LINE = re.compile(r"([A-Z]\d*-?\d+[a-z]?) (~ )?(.+?)(?: \| (.+))?")
HEAD = """# Requirements and their tests

Written from `tests/requirements.txt` and the tests' marks by `make requirements`: change those, not this file. A row is
proved where a test names it; *in part* where its tests so far prove only a part of it.

Rows P are Suma's promises, rows A behaviours that systems of this kind have failed at; rows S0 to S4 come from the five
designs that Suma unites ([which part is where](architecture.md#19-five-designs)).

| row | what | proved | by the tests of |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement, an acceptance number or a promise. `partial`: its tests prove only a part."""

    id: str
    title: str
    partial: bool
    text: str = ""

    def proved(self, files: Sequence[str]) -> str:
        return "no" if not files else "in part" if self.partial else "yes"


def rows() -> list[Row]:
    """Return every row that a test may name, in the order of the list."""
    lines = [line for line in ROWS.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    found = [LINE.fullmatch(line) for line in lines]
    return [Row(match[1], match[3], bool(match[2]), match[4] or "") for match in found if match]


def marks(file: Path) -> Iterator[str]:
    """Return the rows that a test file names, wherever the marker is."""
    return named(ast.parse(file.read_text("utf-8")))


def named(tree: ast.AST) -> Iterator[str]:
    """Return the rows that a module or a test names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def proofs() -> Mapping[str, list[str]]:
    """Return row → the files whose tests name it."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for row in sorted(set(marks(file))):
            found[row].append(file.relative_to(ROOT).as_posix())
    return found


def page() -> str:
    by = proofs()
    return HEAD + "".join(_line(row, by.get(row.id, ())) for row in rows())


def _line(row: Row, files: Sequence[str]) -> str:
    told = ", ".join(f"[{file.removeprefix('tests/')}](../{file})" for file in files)
    what = f"**{row.title}**: {row.text}" if row.text else row.title
    return f"| {row.id} | {what.replace('|', '&#124;')} | {row.proved(files)} | {told} |\n"


def main(arguments: Sequence[str]) -> int:
    text = page()
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    if "--check" in arguments:
        sys.stderr.write(f"docs/{PAGE.name} is stale; run `make requirements` and commit what it writes\n")
        return 1
    PAGE.write_text(text, "utf-8")
    by, every = proofs(), rows()
    told = Counter(row.proved(by.get(row.id, ())) for row in every)
    sys.stdout.write(
        f"{len(every)} rows: {told['yes']} proved, {told['in part']} in part, {told['no']} without a test\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
