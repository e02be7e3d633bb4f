"""A skill match among a thousand skills, beside one numpy product of all their phrases with one vector (DESIGN §20)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.text import Text

from libs.models.offline.clauses import Clause
from libs.models.offline.ground import Ground
from libs.models.offline.matching import Matcher
from libs.models.offline.reading import read
from libs.retrieval import DIMS
from libs.retrieval.offline import HashedEmbedder
from libs.skills import Skills, ToolDefinition
from tests.benchmarks.rows import Row, most

BUNDLED = Path(__file__).resolve().parents[2] / "skills"
SKILLS = 1_000
PHRASES = 15
"""Phrases of each: about what the bundled tools declare."""
REQUESTS = (
    "remove the duplicates in this folder",
    "move all pdfs that are older than two weeks to Archive",
    "welche Dateien sind größer als 10 MB",
    "comprime las facturas en facturas.zip",
    "what is in config.json",
)


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rounds = 20 if quick else 200
    tools = list(_thousand(Skills.load([BUNDLED]).tools))
    matcher, ground = Matcher(HashedEmbedder()), Ground()
    asked = [clause for text in REQUESTS for clause in read(text).clauses[:1]]
    tell("embedding")
    began = time.perf_counter()
    await matcher.rank(asked[0], tools, ground)
    built = time.perf_counter() - began
    rows, vector = np.ones((len(tools) * (PHRASES + 1), DIMS), np.float32), np.ones(DIMS, np.float32)
    ours: list[float] = []
    theirs: list[float] = []
    for n in range(rounds):
        tell(f"matches, round {n + 1} of {rounds}")
        theirs.append(_timed(lambda: rows @ vector))
        ours.append(await _match(matcher, asked[n % len(asked)], tools, ground=ground))
    changed = [replace(tools[0], digest="changed"), *tools[1:]]
    fresh = await _match(matcher, asked[0], changed, ground=ground)
    micros = [statistics.median(times) * 1e6 for times in (ours, theirs)]
    note = Text(f"{len(rows)} phrases; all embedded in {built:.1f} s, one changed skill in {fresh * 1e3:.0f} ms")
    return [Row("a skill match, 1,000 skills", micros[0], "µs", "numpy matmul", micros[1], most(2.0))], note


def _thousand(tools: tuple[ToolDefinition, ...]) -> Iterator[ToolDefinition]:
    """The bundled tools again and again under other names, their phrases made different by a word."""
    bundled = [tool for tool in tools if tool.phrases]
    for n in range(SKILLS):
        tool = bundled[n % len(bundled)]
        phrases = tuple(f"{tool.phrases[m % len(tool.phrases)]} zz{n}q{m}" for m in range(PHRASES))
        yield replace(tool, name=f"{tool.name}{n}", skill=f"{tool.skill}{n}", phrases=phrases, digest=str(n))


async def _match(matcher: Matcher, clause: Clause, tools: list[ToolDefinition], *, ground: Ground) -> float:
    began = time.perf_counter()
    await matcher.rank(clause, tools, ground)
    return time.perf_counter() - began


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
