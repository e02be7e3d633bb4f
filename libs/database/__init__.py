"""Postgres: roles, transactions limited to their tenants, and migrations.

Three roles (architecture.md 15): `suma_owner` migrates, `suma_bus` owns the bus's schema, `suma_app` serves. None
is a superuser and none bypasses row-level security.
"""

from libs.database.migrations import Schema, migrate
from libs.database.pools import (
    BUS,
    HINTS,
    SILENCE,
    BadDatabase,
    Connection,
    Database,
    DatabaseCrowded,
    DatabaseDown,
    Dsns,
    Sizes,
    answering,
    reach,
    tenant_set,
)

__all__ = [
    "BUS",
    "HINTS",
    "SILENCE",
    "BadDatabase",
    "Connection",
    "Database",
    "DatabaseCrowded",
    "DatabaseDown",
    "Dsns",
    "Schema",
    "Sizes",
    "answering",
    "migrate",
    "reach",
    "tenant_set",
]
