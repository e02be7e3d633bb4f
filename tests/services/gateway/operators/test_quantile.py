"""Quantiles of a histogram, as Prometheus computes them."""

from __future__ import annotations

import math

import pytest

from services.gateway.operators.quantile import quantile

INFINITE = math.inf


@pytest.mark.parametrize(
    ("buckets", "value"),
    [
        ({}, None),
        ({1.0: 0, INFINITE: 0}, None),
        ({1.0: 100, INFINITE: 100}, 0.95),
        ({1.0: 90, 2.0: 100, INFINITE: 100}, 1.5),
        ({1.0: 50, 2.0: 50, 4.0: 100, INFINITE: 100}, 3.8),
        ({1.0: 10, INFINITE: 100}, 1.0),
    ],
)
def test_quantile_interpolates_within_its_bucket(buckets: dict[float, float], value: float | None) -> None:
    assert quantile(0.95, buckets) == (None if value is None else pytest.approx(value))
