"""The shipped dashboards, and the queries of their panels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

DASHBOARDS = sorted((Path(__file__).parents[2] / "deploy" / "grafana" / "dashboards").glob("*.json"))


def panels() -> Iterator[tuple[str, str]]:
    """Return each panel's name and query."""
    for file in DASHBOARDS:
        for panel in json.loads(file.read_text())["panels"]:
            yield f"{file.stem}: {panel['title']}", panel["targets"][0]["expr"]
