"""Observability: structured logs, one trace across the bus, and metrics that are declared once each."""
