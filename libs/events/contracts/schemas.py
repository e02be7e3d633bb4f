"""JSON Schemas of the events, generated from their classes, docstrings included."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from typing_extensions import override

from libs.events.base import Event
from libs.events.contracts.documents import MEDIA_TYPE, SPECVERSION

DIALECT = "https://json-schema.org/draft/2020-12/schema"

ATTRIBUTES: dict[str, JsonSchemaValue] = {
    "specversion": {"const": SPECVERSION},
    "id": {"type": "string", "format": "uuid", "description": "UUIDv7. The same event has it at every delivery."},
    "source": {"type": "string", "description": "Who said it: `suma/` and the service."},
    "time": {"type": "string", "format": "date-time", "description": "When it was said, in UTC."},
    "datacontenttype": {"const": MEDIA_TYPE},
    "tenantid": {"type": "string", "description": "Whose it is. Nothing of one tenant reaches another."},
    "partitionkey": {
        "type": "string",
        "description": "`tenant:session`, or `tenant:subject` without a session. Events of one key keep their order.",
    },
    "subject": {"type": "string", "description": "What it is about, where that is not a session."},
    "sessionid": {"type": "string"},
    "turnid": {"type": "string"},
    "correlationid": {"type": "string", "description": "The request that began it all."},
    "causationid": {"type": "string", "description": "The one input that led to this."},
    "idempotencykey": {"type": "string"},
    "traceparent": {"type": "string", "description": "W3C Trace Context."},
}
REQUIRED = ("specversion", "id", "source", "type", "time", "tenantid", "partitionkey", "data")


def schema(event: type[Event]) -> dict[str, Any]:
    """Return the schema of the whole event in structured mode: its attributes, and its data by reference to `$defs`."""
    data = event.model_json_schema(by_alias=True, schema_generator=_Documented, ref_template="#/$defs/{model}")
    parts = data.pop("$defs", {})
    kind = {"const": event.type}
    return {
        "$schema": DIALECT,
        "$id": f"urn:suma:event:{event.type}",
        "title": event.type,
        "description": sentence(event),
        "x-topic": event.topic.name,
        "type": "object",
        "properties": {"type": kind, **ATTRIBUTES, "data": {"$ref": f"#/$defs/{event.__name__}"}},
        "required": list(REQUIRED),
        "$defs": {event.__name__: data, **parts},
    }


def components(
    events: Collection[type[Event]], ref_template: str
) -> tuple[dict[type[Event], JsonSchemaValue], dict[str, JsonSchemaValue]]:
    """Return, for each event, the reference to its data, and the referenced schemas, each once by name."""
    asked: list[tuple[type[Event], JsonSchemaMode]] = [(event, "validation") for event in events]
    references, written = models_json_schema(asked, schema_generator=_Documented, ref_template=ref_template)
    return {event: references[event, "validation"] for event in events}, written["$defs"]


def sentence(cls: type) -> str:
    """Return a class's docstring on one line."""
    return " ".join((cls.__doc__ or "").split())


class _Documented(GenerateJsonSchema):
    """Add a field's attribute docstring. Pydantic's own option would read the sources at every start."""

    @override
    def model_schema(self, schema: Any) -> JsonSchemaValue:
        written = super().model_schema(schema)
        if "description" in written:
            written["description"] = " ".join(written["description"].split())
        cls = schema["cls"]
        for name, text in _sentences(cls):
            alias = cls.model_fields[name].alias or name
            written["properties"][alias]["description"] = text
        return written

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _sentences(cls: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Return the fields that have an attribute docstring."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, below in pairwise(body.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
