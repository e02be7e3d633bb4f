"""The dashboards as files; that each panel has data after a turn is shown in test_processes (acceptance 37)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.deploy.dashboards import DASHBOARDS
from tests.deploy.metric_names import unknown_names


@pytest.mark.parametrize("file", DASHBOARDS, ids=lambda file: str(file.stem))
def test_dashboard_is_valid_and_queries_existing_metrics(file: Path) -> None:
    made = json.loads(file.read_text())
    assert made["uid"] == f"suma-{file.stem}"
    assert len({panel["id"] for panel in made["panels"]}) == len(made["panels"])
    assert {panel["datasource"]["uid"] for panel in made["panels"]} == {"suma"}
    expressions = [target["expr"] for panel in made["panels"] for target in panel["targets"]]
    assert unknown_names(expressions) == set()
