"""Reading of this process's own metrics, for views that need no Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from prometheus_client import PROCESS_COLLECTOR
from prometheus_client.metrics import MetricWrapperBase


def total(metric: MetricWrapperBase, **labels: Collection[str]) -> float:
    """Return the sum of a counter or gauge over its series whose labels have one of the given values."""
    samples = [sample for family in metric.collect() for sample in family.samples]
    return sum(
        sample.value
        for sample in samples
        if not sample.name.endswith("_created") and all(sample.labels[name] in some for name, some in labels.items())
    )


def buckets(histogram: MetricWrapperBase) -> Mapping[float, float]:
    """Return the observations up to each upper bound; the last bound is infinite."""
    counts: Counter[float] = Counter()
    for family in histogram.collect():
        for sample in family.samples:
            if sample.name.endswith("_bucket"):
                counts[float(sample.labels["le"])] += sample.value  # type: ignore[assignment]
    return dict(sorted(counts.items()))


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 if the system does not report it."""
    samples = [sample for family in PROCESS_COLLECTOR.collect() for sample in family.samples]
    return int(next((s.value for s in samples if s.name == "process_resident_memory_bytes"), 0))
