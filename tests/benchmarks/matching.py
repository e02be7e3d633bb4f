"""A skill match among a thousand skills, beside one numpy product of as many rows (architecture.md 18)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.text import Text

from libs.models.offline.deadline import Deadline
from libs.models.offline.intents import Intents
from libs.models.offline.lexicon import lexicon
from libs.models.offline.selection import Ground
from libs.models.offline.slots import Slots
from libs.models.offline.tokens import tokens
from libs.models.offline.workspace_index import WorkspaceIndex
from libs.skills import Categories, Intent, Skills, ToolDefinition
from tests.benchmarks.rows import Row, most

BUNDLED = Path(__file__).resolve().parents[2] / "skills"
SKILLS, TEMPLATES, DIMS = 1_000, 15, 384
REQUESTS = ("remove the duplicates in this folder", "move all pdfs to Archive", "enumerate7 the tmp files")


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rounds = 20 if quick else 200
    bundled = Skills.load([BUNDLED]).tools
    categories = Categories.load(BUNDLED / "organize-by-type/references/categories.yaml")
    ground = Ground(WorkspaceIndex({}, categories), lexicon(), datetime.now(UTC))
    tell("compiling")
    began = time.perf_counter()
    intents = Intents((*bundled, *_thousand(bundled)))
    built = time.perf_counter() - began
    rows, vector = np.ones((SKILLS * (TEMPLATES + 1), DIMS), np.float32), np.ones(DIMS, np.float32)
    ours: list[float] = []
    theirs: list[float] = []
    for n in range(rounds):
        tell(f"matches, round {n + 1} of {rounds}")
        clause = tokens(REQUESTS[n % len(REQUESTS)], ground.index, ground.lexicon)
        theirs.append(_timed(lambda: rows @ vector))
        ours.append(_timed(lambda clause=clause: intents.readings(clause, Slots(ground), Deadline(10))))  # type: ignore[misc]
    micros = [statistics.median(times) * 1e6 for times in (ours, theirs)]
    note = Text(f"{len(rows)} templates; all compiled in {built:.1f} s")
    return [Row("a skill match, 1,000 skills", micros[0], "µs", "numpy matmul", micros[1], most(2.0))], note


def _thousand(bundled: tuple[ToolDefinition, ...]) -> Iterator[ToolDefinition]:
    """A tool with a verb of its own in each of a thousand skills."""
    listing = next(tool for tool in bundled if tool.name == "manage-files.list")
    for n in range(SKILLS):
        said = {"say": ("<verb> {files}",), "verbs": (f"enumerate{n}", f"recite{n}")}
        intent = Intent.model_validate(listing.intents[0].model_dump() | said)
        yield replace(listing, name=f"own{n}.list", skill=f"own{n}", intents=(intent,), digest=str(n))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
