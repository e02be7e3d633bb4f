"""The schema of the accounts, with row-level security between tenants."""

from __future__ import annotations

from pathlib import Path

from libs.database import Schema

HERE = Path(__file__).parent
SCHEMA = Schema("budgets", HERE / "migrations", HERE / "apply.sql")
