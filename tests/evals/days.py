"""Rounds of a person's requests over folders of their own, oldest first; each was written before it was first played.

A case has its judged result. `first` says what was wrong with it in the first play: a `wrong plan`, a `false
statement` or a `nonsense` question, such as one that quotes words that are not the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from services.cli.evals.folders import FolderSpec

ROUNDS: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("day*.yaml"))
}
FOLDERS = {
    (stem, name): FolderSpec.model_validate(held)
    for stem, day in ROUNDS.items()
    for name, held in day["folders"].items()
}
JUDGED = ("wrong plan", "false statement", "nonsense")


def figures() -> Iterator[str]:
    """Yield a line for each round whose first play was judged."""
    for stem, day in ROUNDS.items():
        first = Counter(case.get("first", "right") for case in day["cases"])
        if day.get("judged"):
            told = ", ".join(f"{first[wrong]} {wrong}" for wrong in JUDGED)
            yield f"{stem}: {first.total()} requests when first played: {told}"
