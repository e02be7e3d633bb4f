"""Quantiles of a histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping


def quantile(share: float, buckets: Mapping[float, float]) -> float | None:
    """Return the value that this share of the observations does not exceed; None without observations.

    `buckets` are the observations up to each upper bound, ascending. Within a bucket they are taken as evenly spread,
    and those above the last finite bound count as that bound, as in Prometheus's `histogram_quantile`.
    """
    rank, lower, below = share * max(buckets.values(), default=0.0), 0.0, 0.0
    if rank == 0:
        return None
    for bound, count in buckets.items():
        if count >= rank:
            return lower if math.isinf(bound) else lower + (bound - lower) * (rank - below) / (count - below)
        lower, below = bound, count
    return lower
