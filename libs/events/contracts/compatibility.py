"""The compatibility check: whether a schema may replace another under the same version. The new schema must accept
everything that the old one did and keep every field that consumers read. Otherwise a new version is needed beside the
old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]
"""A schema and the root in which its references are resolved."""

UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
EXACT = ("pattern", "format", "multipleOf", "uniqueItems")


def breaks(old: Schema, new: Schema) -> list[str]:
    """Return the reasons why `new` may not replace `old`, one sentence each; empty if it may."""
    found = list(_Comparison(old, new).part(old, new, "", frozenset()))
    if old.get("x-topic") != new.get("x-topic"):
        found.append(f"it moved from topic {old.get('x-topic')} to {new.get('x-topic')}")
    return list(dict.fromkeys(found))


class _Comparison:
    def __init__(self, old: Schema, new: Schema) -> None:
        self._old, self._new = old, new

    def part(self, old: Schema, new: Schema, at: str, seen: frozenset[tuple[str, str]]) -> Iterator[str]:
        """Compare two parts in the same place. `seen` holds the references above, so that recursive schemas end."""
        pair = (old.get("$ref", ""), new.get("$ref", ""))
        if all(pair):
            if pair in seen:
                return
            seen |= {pair}
        takes, offers = list(_choices(old, self._old)), list(_choices(new, self._new))
        if len(takes) == len(offers) == 1:
            yield from self._alike(takes[0], offers[0], at, seen)
            return
        for choice in takes:
            alike = [offer for offer in offers if _types(offer) == _types(choice)]
            if len(alike) == 1:
                yield from self._alike(choice, alike[0], at, seen)
            elif all(any(self._alike(choice, offer, at, seen)) for offer in offers):
                yield f"{_named(at)} no longer takes {_kind(choice)}"

    def _alike(self, old: Schema, new: Schema, at: str, seen: frozenset[tuple[str, str]]) -> Iterator[str]:
        """Compare two parts without alternatives."""
        had, has = _types(old), _types(new)
        if has and not (had and had <= has):
            yield f"{_named(at)} narrowed from {_kind(old)} to {_kind(new)}"
            return
        yield from _values(old, new, at)
        yield from _bounds(old, new, at)
        yield from self._fields(old, new, at, seen)
        for word, below in (("items", "[]"), ("additionalProperties", "{}")):
            inner, outer = old.get(word), new.get(word)
            if isinstance(outer, Mapping):
                yield from self.part(inner if isinstance(inner, Mapping) else {}, outer, at + below, seen)
            elif outer is False and inner is not False:
                yield f"{_named(at)} no longer takes other fields"

    def _fields(self, old: Schema, new: Schema, at: str, seen: frozenset[tuple[str, str]]) -> Iterator[str]:
        had, has = old.get("properties", {}), new.get("properties", {})
        came = [name for name in has if name not in had]
        for name, field in had.items():
            if name in has:
                yield from self.part(field, has[name], _below(at, name), seen)
            else:
                perhaps = f" (renamed to {' or '.join(came)}?)" if came else ""
                yield f"{_named(_below(at, name))} was removed{perhaps}"
        for name in new.get("required", ()):
            if name not in old.get("required", ()):
                how = "became required" if name in had else "is new and required; give it a default"
                yield f"{_named(_below(at, name))} {how}"


def _choices(schema: Schema, root: Schema) -> Iterator[Schema]:
    """Return the alternatives of a part, with references resolved."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" not in schema:
        yield schema
    for choice in schema.get("anyOf", ()):
        yield from _choices(choice, root)


def _types(schema: Schema) -> set[str]:
    """Return the JSON types that the schema accepts; empty means any."""
    declared = schema.get("type", [])
    types = {declared} if isinstance(declared, str) else set(declared)
    return types | {"integer"} if "number" in types else types


def _kind(schema: Schema) -> str:
    """Return the accepted types in words."""
    return " or ".join(sorted(_types(schema))) or "anything"


def _values(old: Schema, new: Schema, at: str) -> Iterator[str]:
    had, has = _listed(old), _listed(new)
    if has is None:
        return
    if had is None:
        yield f"{_named(at)} narrowed to {', '.join(map(str, has))}"
    elif gone := [str(value) for value in had if value not in has]:
        yield f"{_named(at)} no longer takes {', '.join(gone)}"


def _listed(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _bounds(old: Schema, new: Schema, at: str) -> Iterator[str]:
    for word in UPPER:
        if word in new and (word not in old or old[word] > new[word]):
            yield f"{_named(at)} narrowed: {word} {old.get(word, 'none')} → {new[word]}"
    for word in LOWER:
        if word in new and (word not in old or old[word] < new[word]):
            yield f"{_named(at)} narrowed: {word} {old.get(word, 'none')} → {new[word]}"
    for word in EXACT:
        if word in new and new[word] != old.get(word):
            yield f"{_named(at)} narrowed: {word} {old.get(word, 'none')} → {new[word]}"


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _named(at: str) -> str:
    return f"field `{at}`" if at else "the event"
