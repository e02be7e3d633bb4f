"""Postgres: roles, transactions limited to their tenants, and migrations.

Three roles (architecture.md 15): `suma_owner` migrates, `suma_bus` owns the bus's schema, `suma_app` serves. Services
that run alone have roles of their own instead of the last two, with the rights that each needs (docs/decisions/0102).
None is a superuser and none bypasses row-level security.
"""

from libs.database.migrations import NotMigrated, Schema, check, migrate
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
    hang_up,
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
    "NotMigrated",
    "Schema",
    "Sizes",
    "answering",
    "check",
    "hang_up",
    "migrate",
    "reach",
    "tenant_set",
]
