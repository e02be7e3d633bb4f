"""The embedded parts: real PostgreSQL and Redis from Python packages, run beside us for one data directory."""
