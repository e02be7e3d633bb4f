"""Register codecs for PostgreSQL's built-in array types on each new connection.

asyncpg knows few of them and looks up the others with a query that costs more than everything else a short connection
does. Their OIDs are the same in every PostgreSQL (pg_type.dat).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import asyncpg


def _array(number: int, name: str, element: int) -> Mapping[str, Any]:
    """Describe a type as asyncpg's own query would."""
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
"""The array types that our queries take or return."""


async def tell(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Register the codecs: a pool's `init` function, also for connections without a pool."""
    connection.get_settings().register_data_types(ARRAYS)
