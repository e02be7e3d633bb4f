"""What the platform shows of itself: structured logs, one trace across the bus, and metrics declared once each."""
