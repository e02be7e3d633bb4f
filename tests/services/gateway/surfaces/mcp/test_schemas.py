"""Schemas of tools: hosts refuse every request of a session for one that their model's API does not take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from tests.support.stack import Stack
from tests.support.surfaces import ACCEPT

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def test_schemas_of_tools_are_those_that_every_host_takes(stack: Stack) -> None:
    async with stack.api() as http:
        headers = {"Accept": ACCEPT, "MCP-Protocol-Version": "2025-06-18"}
        answer = await http.post("/mcp", json=LIST, headers=headers)
    tools = orjson.loads(answer.text.rpartition("data: ")[2])["result"]["tools"]
    schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
    assert not [name for name, schema in schemas.items() if {"anyOf", "oneOf", "allOf"} & schema.keys()]
    parts = [part for schema in schemas.values() for part in below(schema)]
    assert not [part for part in parts if {"not", "if", "dependentRequired"} & part.keys()]
    enums = [(part.get("type"), {type(value) for value in part["enum"]}) for part in parts if "enum" in part]
    assert len(enums) > 10
    assert all(found == ("string", {str}) for found in enums)
    dated = schemas["batch-rename__rename"]["properties"]["dated"]
    assert dated["anyOf"] == [{"type": "string", "enum": ["month", "year"]}, {"type": "boolean"}]


def below(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema in a schema."""
    if isinstance(part, dict):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from below(each)
