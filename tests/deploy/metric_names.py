"""The metrics in a PromQL expression, and whether the project declares them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prometheus_client import Counter, Gauge, Histogram

from libs.telemetry import metrics

NOT_OURS = {"up", "process_resident_memory_bytes", "process_cpu_seconds_total"}
"""Prometheus's own metrics, and those that its client adds."""
ENDINGS = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
_PREFIXES = "suma|gateway|conversation|sa01|fsm|somabrain|process|multimodal|portfolio|capability|up"
_NAME = re.compile(rf"\b((?:{_PREFIXES})(?:_\w+)?)(?=[\s{{\[)]|$)")


def unknown_names(expressions: Iterable[str]) -> set[str]:
    """Return the metrics that the project does not declare."""
    declared = [each for each in vars(metrics).values() if isinstance(each, Counter | Gauge | Histogram)]
    families = [family for each in declared for family in each.describe()]
    ours = {family.name + ending for family in families for ending in ENDINGS[family.type]}
    asked = {name for expression in expressions for name in _NAME.findall(re.sub(r'"[^"]*"', '""', expression))}
    return asked - ours - NOT_OURS
