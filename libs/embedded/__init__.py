"""The embedded servers: PostgreSQL and Redis from Python packages, run by this process for one data directory."""

__all__ = [
    "datadir",
    "postgres",
    "redis",
]
