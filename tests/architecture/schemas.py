"""All schemas of the project, and those of the test services, in one database."""

from __future__ import annotations

from pathlib import Path

from libs.budgets.schema import SCHEMA as BUDGETS
from libs.bus.log import SCHEMA as BUS
from libs.database import Dsns, Schema, migrate
from services.catalog import SERVICES
from tests.support.echo_service import FOLDER

ROOT = Path(__file__).parents[2]


def schemas() -> list[Schema]:
    """Return everything with migrations."""
    homes = {entry.schema: ROOT / "services" / entry.name for entry in SERVICES if entry.schema is not None}
    declared = [
        Schema(name, home / "migrations", [*sorted(home.rglob("projection.sql")), *sorted(home.rglob("apply.sql"))])
        for name, home in homes.items()
    ]
    return [BUDGETS, Schema("echo", FOLDER / "migrations", [FOLDER / "apply.sql"]), *declared]


NAMES = [schema.name for schema in schemas()]


async def build(where: Dsns) -> None:
    for schema in (BUS, *schemas()):
        await migrate(where.owner, schema)
