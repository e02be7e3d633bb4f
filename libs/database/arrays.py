"""Arrays of PostgreSQL's own types, told to each new connection.

asyncpg knows few of them, and asks the server what the others are by a query that costs more than all else which a
short connection does. Their numbers are the same in every PostgreSQL (pg_type.dat).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import asyncpg


def _array(number: int, name: str, element: int) -> Mapping[str, Any]:
    """A type as asyncpg's own query would describe it."""
    other = dict.fromkeys(("basetype", "range_subtype", "attrtypoids", "attrnames"))
    return {
        "oid": number,
        "ns": "pg_catalog",
        "name": name,
        "kind": b"b",
        "elemtype": element,
        "elemdelim": ",",
        **other,
    }


ARRAYS = (
    _array(1001, "_bytea", 17),
    _array(1007, "_int4", 23),
    _array(1016, "_int8", 20),
    _array(1022, "_float8", 701),
)
"""Those that our queries take or return."""


async def tell(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """For a pool's `init`, and for whoever connects without a pool."""
    connection.get_settings().register_data_types(ARRAYS)
