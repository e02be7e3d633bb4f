"""Metrics are declared once, in one place, with a description, under the names that dashboards use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase

from libs.telemetry import metrics

ROOT = Path(__file__).resolve().parents[3]
DECLARED = {name: made for name, made in vars(metrics).items() if isinstance(made, MetricWrapperBase)}
S3_60 = [
    "somabrain_http_requests_total",
    "somabrain_request_seconds",
    "conversation_worker_messages_total",
    "conversation_worker_processing_seconds",
    "sa01_core_tasks_total",
    "sa01_core_task_latency_seconds",
    "gateway_sse_connections",
    "fsm_transition_total",
]


def names(made: MetricWrapperBase) -> set[str]:
    """Return its exported name: a counter's family lacks `_total`, its samples have it."""
    return {family.name + ("_total" if family.type == "counter" else "") for family in made.collect()}


@pytest.mark.requirement("S3-60")
def test_metrics_of_the_requirements_have_their_names() -> None:
    assert set(S3_60) <= set().union(*map(names, DECLARED.values()))


def test_each_metric_has_a_description() -> None:
    told = {variable: family.documentation for variable, made in DECLARED.items() for family in made.collect()}
    assert {variable: text for variable, text in told.items() if not (text[0].isupper() and text.endswith("."))} == {}


def test_no_name_is_used_twice() -> None:
    used = [name for made in DECLARED.values() for name in names(made)]
    assert len(used) == len(set(used))


def test_each_is_registered_and_so_shown() -> None:
    shown = {family.name for family in REGISTRY.collect()}
    assert {family.name for made in DECLARED.values() for family in made.collect()} <= shown


def test_metrics_are_declared_in_one_module() -> None:
    folders = (ROOT / "libs", ROOT / "services")
    found = {path for folder in folders for path in folder.rglob("*.py") if list(declarations(path))}
    assert found == {ROOT / "libs/telemetry/metrics.py"}


def declarations(path: Path) -> Iterator[ast.ImportFrom]:
    """Find imports of metric classes."""
    kinds = {"Counter", "Gauge", "Histogram", "Summary", "Info", "Enum"}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "prometheus_client"
            and kinds & {a.name for a in node.names}
        ):
            yield node
