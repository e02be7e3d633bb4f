"""Judge what a server says of its tools: the hash that pins a description, and whether the tool is usable at all.

Descriptions and schemas are shown to models and checked by us, so they are bounded: no invisible characters, no
references out of the schema, no patterns (a pattern can block the process that evaluates it).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from libs.keys.canonical import Uncanonical, canonical
from libs.remote_tools.ports import Listed
from libs.remote_tools.settings import RemoteServer
from libs.skills import Effect as OnFiles
from libs.skills import ToolDefinition
from libs.tools import Effect

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
DESCRIPTION_MOST = 4_000
DEFINITION_BYTES_MOST = 32 * 1024
DEPTH_MOST = 32
PARTS_MOST = 5_000
"""Parts of a schema with all its references followed."""
PARAMETERS_MOST = 100
ALL = "*"
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value maps names to schemas."""
VALUES = ("const", "enum", "default", "examples")
"""Keywords whose value is data."""
DROPPED = ("pattern", "patternProperties", "format", "$id", "$schema", "$anchor", "$dynamicAnchor")
"""Keywords that evaluate regular expressions or move the base of references."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Unusable(ValueError):
    """The tool cannot be offered, even with an approval."""


def pin(listed: Listed, server: RemoteServer) -> str:
    """Return the SHA-256 of everything that the server says of the tool, and of the server's address, or of its
    command and files.

    Raises:
        Unusable: the description is too large, or is not JSON.
    """
    said = [listed.name, listed.title, listed.description, listed.parameters, listed.returns, listed.hints]
    try:
        whole = canonical([[*server.command, listed.source] if server.command else server.url, *said])
    except (Uncanonical, RecursionError) as error:
        raise Unusable("its description is not JSON") from error
    if len(whole) > DEFINITION_BYTES_MOST:
        raise Unusable(f"its description is larger than {DEFINITION_BYTES_MOST // 1024} KiB")
    return hashlib.sha256(whole).hexdigest()


def define(name: str, listed: Listed, server: RemoteServer) -> ToolDefinition:
    """Return the definition of a server's tool.

    Raises:
        Unusable: it may not be offered; the text is the reason.
    """
    digest = pin(listed, server)
    if not NAME.fullmatch(listed.name):
        raise Unusable("its name is not made of letters, digits, `_`, `-` and `.`")
    _check_text(f"{listed.title} {listed.description}", "its description")
    _check_texts(listed.returns)
    parameters, effect = _parameters(listed.parameters), effect_of(listed, server)
    tool, pure = f"{name}.{listed.name}", effect is Effect.PURE
    return ToolDefinition(
        name=tool,
        skill=name,
        description=" ".join((listed.description or listed.title or listed.name).split()),
        primitive=None,
        method="",
        mutates=not pure,
        effect=OnFiles.READ if pure else OnFiles.ACT,
        params=parameters,
        returns=_returns(listed.returns),
        declared=effect,
        # A program has no network.
        leaves_machine=not server.command,
        destination=server.host or None,
        costs_money=_names(server.costs_money, listed.name),
        tenants=server.tenants,
        remote=True,
        # Settings that change the tool's class make it another tool: a plan from before does not run.
        digest=hashlib.sha256(canonical([tool, digest, effect.value, server.tenants])).hexdigest(),
    )


def effect_of(listed: Listed, server: RemoteServer) -> Effect:
    """Return the effect class: at most once, unless the settings and the server both say otherwise."""
    reads = listed.hints.get("readOnlyHint") is True
    if reads and _names(server.read_only, listed.name):
        return Effect.PURE
    if (reads or listed.hints.get("idempotentHint") is True) and _names(server.idempotent, listed.name):
        return Effect.IDEMPOTENT
    return Effect.AT_MOST_ONCE


def chosen(listed: Listed, server: RemoteServer) -> bool:
    """Return whether the settings offer this tool."""
    return _names(server.tools, listed.name)


def _names(names: tuple[str, ...], tool: str) -> bool:
    return tool in names or ALL in names


def _check_text(text: str, what: str) -> None:
    if len(text) > DESCRIPTION_MOST:
        raise Unusable(f"{what} is longer than {DESCRIPTION_MOST} characters")
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs", "Cn") for sign in text if sign not in "\n\r\t"):
        raise Unusable(f"{what} holds characters that cannot be seen")


def _parameters(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if schema.get("type") != "object":
        raise Unusable("its arguments are not an object")
    kept: dict[str, Any] = _without_patterns(_checked(schema), depth=0)
    kept.setdefault("properties", {})
    if len(kept["properties"]) > PARAMETERS_MOST:
        raise Unusable(f"it has more than {PARAMETERS_MOST} arguments")
    return kept


def _returns(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the fields that later steps may refer to."""
    fields = (schema or {}).get("properties", {})
    return {**(fields if isinstance(fields, dict) else {}), "text": {"type": "string"}}


def _checked(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as wrong:
        raise Unusable("its arguments have no valid JSON Schema") from wrong
    _check_texts(schema)
    _References(schema).check(schema)
    return schema


def _check_texts(schema: Mapping[str, Any] | None) -> None:
    for text in _texts(schema, depth=0):
        _check_text(text, "its schema")


def _texts(value: Any, *, depth: int) -> Iterator[str]:
    if depth > DEPTH_MOST:
        raise Unusable("its schema is nested too deeply")
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, depth=depth + 1)


@dataclass
class _References:
    """Refuses references to other documents, which would be fetched, and recursive ones, which would not end."""

    whole: Mapping[str, Any]
    left: int = PARTS_MOST

    def check(self, part: Any, within: tuple[str, ...] = ()) -> None:
        self.left -= 1
        if self.left < 0:
            raise Unusable("its schema is too complex")
        if isinstance(part, list | tuple):
            for item in part:
                self.check(item, within)
        elif isinstance(part, Mapping):
            for key, item in part.items():
                self._check_keyword(key, item, within)

    def _check_keyword(self, key: str, item: Any, within: tuple[str, ...]) -> None:
        if key in REFERENCES:
            self.check(self._referred(str(item), within), (*within, str(item)))
        elif key in NAMED and isinstance(item, Mapping):
            for schema in item.values():
                self.check(schema, within)
        elif key not in VALUES:
            self.check(item, within)

    def _referred(self, reference: str, within: tuple[str, ...]) -> Any:
        if not reference.startswith(("#/$defs/", "#/definitions/")):
            raise Unusable("its schema refers to something outside its definitions")
        if reference in within:
            raise Unusable("its schema is recursive")
        found: Any = self.whole
        for name in reference.split("/")[1:]:
            found = found.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
        if found is None:
            raise Unusable("its schema refers to something that is not there")
        return found


def _without_patterns(schema: Any, *, depth: int) -> Any:
    """Return the schema without regular expressions; the server checks these itself."""
    if isinstance(schema, list | tuple):
        return [_without_patterns(item, depth=depth + 1) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in DROPPED:
            continue
        if key in NAMED and isinstance(value, Mapping):
            kept[key] = {name: _without_patterns(item, depth=depth + 1) for name, item in value.items()}
        else:
            kept[key] = value if key in VALUES else _without_patterns(value, depth=depth + 1)
    return kept
