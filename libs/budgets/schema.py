"""Where the accounts are kept: a schema of the platform's own, with every tenant's rows shut to all others."""

from __future__ import annotations

from pathlib import Path

from libs.database import Schema

HERE = Path(__file__).parent
SCHEMA = Schema("budgets", HERE / "migrations", HERE / "apply.sql")
