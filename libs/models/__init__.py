"""Language models: the port, the offline planner, and vendors' models."""

__all__ = [
    "choice",
    "memory_block",
    "offline",
    "ports",
    "vendors",
]
