"""Observability: structured logs, one trace across the bus, and metrics that are declared once each."""

from libs.telemetry.logs import logger
from libs.telemetry.traces import span

__all__ = [
    "logger",
    "logs",
    "metrics",
    "otlp",
    "readings",
    "span",
    "traces",
]
