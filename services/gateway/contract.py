"""The rest of the contract: what FastAPI cannot read from a route's signature.

Each operation gets an example of its request and its answer, the errors that all routes of its kind share, and the
headers of conditional reads. `gaps` lists what a new route still lacks; `make check` fails on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from libs.database import DatabaseCrowded
from libs.errors import NotFound, Unavailable
from libs.events import ApprovalRequested, Event
from libs.identity import BadKey, BadToken
from libs.runtime import PolicyDenied
from libs.runtime.problem_details import MEDIA_TYPE
from services.gateway.http.bodies import NotAccepted
from services.gateway.http.commands import Contended, Reused
from services.gateway.http.errors import Problem, Refusal, problem, refusal_of
from services.gateway.http.middleware.concurrency import OPEN
from services.gateway.identity.credentials import CrossSite
from services.gateway.sessions.models import Delta, MessageAccepted

Json = dict[str, Any]
JSON = "application/json"
EXAMPLES: Mapping[str, Any] = yaml.safe_load((Path(__file__).parent / "examples.yaml").read_text("utf-8"))
"""By model (`schemas`), media type (`media`) and parameter (`parameters`); each is checked against its schema."""
SCHEMA = "#/components/schemas/{model}"
STREAMED = (MessageAccepted, Delta)
"""Models that a stream sends besides the events of proto/events."""
STORED: Mapping[tuple[str, str], type[Event]] = {("ApprovalShown", "data"): ApprovalRequested}
"""Fields that hold an event as it was stored: it was checked then, so an answer passes it on unread."""
WRITES = ("post", "put", "patch", "delete")

FOREIGN_ORIGIN = Refusal(403, "FOREIGN_ORIGIN", "Pages of another origin may not send requests here.")
SCOPE_MISSING = Refusal(403, "SCOPE_MISSING", "the API key lacks the scope chat; use a key that has it")
INVALID = Refusal(422, "INVALID_REQUEST", "text: Field required")
NOT_ACCEPTED = Refusal(422, NotAccepted.code, "The body is not accepted: text may not hold the character U+0000.")
DRAINING = Refusal(503, "DRAINING", "This server is stopping; retry in a few seconds.")
RATES = (
    Refusal(429, "RATE_LIMITED", "you have made 12000 requests in a minute; retry later"),
    Refusal(429, "ROUTE_RATE_LIMITED", "your key has, on this route, made 6000 requests in a minute; retry later"),
    Refusal(429, "TENANT_RATE_LIMITED", "your tenant has made 24000 requests in a minute; retry later"),
    Refusal(429, "TENANT_BUSY", "your tenant is at its request limit here; retry shortly"),
    Refusal(429, "PROCESS_BUSY", "this server is at its request limit; retry shortly"),
    refusal_of(DatabaseCrowded),
)
SHARED: Mapping[str, Json] = {
    "MalformedBody": problem(Refusal(400, "MALFORMED_BODY", "The body is not JSON: unexpected character at 1.")),
    "Unauthenticated": problem(refusal_of(BadKey), refusal_of(BadToken)),
    "ForeignOrigin": problem(FOREIGN_ORIGIN),
    "Forbidden": problem(FOREIGN_ORIGIN, SCOPE_MISSING, refusal_of(PolicyDenied)),
    "ForbiddenWrite": problem(FOREIGN_ORIGIN, SCOPE_MISSING, refusal_of(PolicyDenied), refusal_of(CrossSite)),
    "NotFound": problem(refusal_of(NotFound)),
    "TooLarge": problem(Refusal(413, "TOO_LARGE", "The body is over 1000000 bytes; send less.")),
    "NotJson": problem(Refusal(415, "NOT_JSON", "The body is not JSON; send application/json.")),
    "Misdirected": problem(Refusal(421, "MISDIRECTED", "This server does not answer to that Host.")),
    "Invalid": problem(INVALID),
    "InvalidBody": problem(INVALID, NOT_ACCEPTED),
    "InvalidWrite": problem(INVALID, NOT_ACCEPTED, refusal_of(Reused)),
    "Limited": problem(*RATES),
    "Unavailable": problem(DRAINING, refusal_of(Unavailable)),
    "UnavailableWrite": problem(DRAINING, refusal_of(Unavailable), refusal_of(Contended)),
}
"""The errors that routes share, by component."""
RATE_HEADERS: Json = {
    "RateLimit": {
        "schema": {"type": "string"},
        "description": "For each limit, the requests that are left and the seconds until its window ends",
        "example": '"tenant";r=23999;t=60, "principal";r=11999;t=60, "route";r=5999;t=60',
    },
    "RateLimit-Policy": {
        "schema": {"type": "string"},
        "description": "The limits that apply: requests in a window of seconds (draft-ietf-httpapi-ratelimit-headers)",
        "example": '"tenant";q=24000;w=60, "principal";q=12000;w=60, "route";q=6000;w=60',
    },
}
"""On every answer to a request with a valid credential."""
RATES_SHOWN = {name: {"$ref": f"#/components/headers/{name}"} for name in RATE_HEADERS}
HEADERS: Mapping[int, Json] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}, "description": "How to authenticate"}},
    429: {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait"}, **RATES_SHOWN},
    503: {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait"}},
}
ETAG = {"ETag": {"schema": {"type": "string"}, "description": "The tag to send as If-None-Match"}}
IF_NONE_MATCH: Json = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The tag of an earlier answer; 304 while nothing has changed",
    "schema": {"type": "string"},
}
NOT_MODIFIED: Json = {"description": "Nothing has changed since the answer with this tag", "headers": ETAG}


def complete(document: Json) -> Json:
    """Return the document with examples, shared errors and conditional reads. It changes `document`."""
    components, document["servers"] = document["components"], [{"url": "/"}]
    components["schemas"] = _schemas(components["schemas"])
    components["headers"] = RATE_HEADERS
    components["responses"] = {name: _with_headers(response) for name, response in SHARED.items()}
    for path, method, operation in operations(document):
        operation["responses"] = _sorted(_own(operation) | _shared(path, method, operation))
        for parameter in operation.get("parameters", ()):
            parameter["schema"] = _without_null(parameter["schema"])
            _illustrate(parameter, _fitting(parameter))
        for media, content in _contents(operation):
            _illustrate(content, EXAMPLES["schemas"].get(_model(content), EXAMPLES["media"].get(media)))
        operation.setdefault("security", [])
        if path not in OPEN:
            _show_rates(operation)
        if method == "get" and JSON in operation["responses"].get("200", {}).get("content", {}):
            _make_conditional(operation)
    return document


def gaps(document: Json) -> Iterator[str]:
    """Yield what is missing in the contract of each operation."""
    for path, method, operation in operations(document):
        at = f"{method.upper()} {path}"
        if not operation.get("summary") or not operation.get("tags"):
            yield f"{at} needs a docstring and a tag"
        for media, content in _contents(operation):
            if not {"example", "examples"} & content.keys():
                yield f"{at}: {media} of {_model(content) or 'no model'} needs an example in examples.yaml"
            elif media == JSON:
                yield from _misfits(document, at, content)
            if media == JSON and not _model(content):
                yield f"{at} needs a response model"
        for parameter in operation.get("parameters", ()):
            if "example" not in parameter:
                yield f"{at}: the parameter {parameter['name']} needs an example in examples.yaml"


def _misfits(document: Json, at: str, content: Json) -> Iterator[str]:
    """Yield why an example does not fit its model exactly."""
    name, example = _model(content), content["example"]
    schema = {"components": document["components"], **content["schema"]}
    for error in Draft202012Validator(schema).iter_errors(example):
        yield f"{at}: the example of {name} in examples.yaml is wrong: {error.message}"
    known = document["components"]["schemas"].get(name, {}).get("properties")
    if known is not None and (unknown := example.keys() - known.keys()):
        yield f"{at}: the example of {name} in examples.yaml has unknown fields: {', '.join(sorted(unknown))}"


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield the path, the method and the definition of each operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _schemas(schemas: Json) -> Json:
    """Return the schemas, with our own of errors instead of the framework's, and those of streams and stored events."""
    ours: Json = {}
    models: tuple[type[BaseModel], ...] = (Problem, *STREAMED, *STORED.values())
    for model in models:
        schema = model.model_json_schema(ref_template=SCHEMA, mode="serialization")
        ours |= {**schema.pop("$defs", {}), model.__name__: schema}
    kept = {name: schema for name, schema in schemas.items() if name not in ("HTTPValidationError", "ValidationError")}
    for (name, field), event in STORED.items():
        if name in kept:
            kept[name]["properties"][field] = {"$ref": SCHEMA.format(model=event.__name__)}
    return dict(sorted({**ours, **kept, "Problem": ours["Problem"]}.items()))


def _own(operation: Json) -> Json:
    """Return the responses that the route itself declares; the framework adds a 422 of its own."""
    declared = operation["responses"].items()
    return {status: answer for status, answer in declared if "HTTPValidationError" not in str(answer)}


def _shared(path: str, method: str, operation: Json) -> Json:
    found: Json = {}
    for status, name in _components(path, method, operation):
        own, shared = operation["responses"].get(status, {}), SHARED[name]
        examples = own.get("content", {}).get(MEDIA_TYPE, {}).get("examples")
        if examples:
            found[status] = _with_headers(_merged(shared, own))
        elif own and path not in OPEN and "HTTPValidationError" not in str(own):
            # The route's own answer, such as a readiness report, besides the shared one.
            found[status] = {**own, "content": {**own["content"], **shared["content"]}}
        elif not own or path not in OPEN:
            found[status] = {"$ref": f"#/components/responses/{name}"}
    return found


def _components(path: str, method: str, operation: Json) -> Iterator[tuple[str, str]]:
    """Yield the status and the component of each error that this kind of route shares."""
    writes, names = method in WRITES, {parameter["name"] for parameter in operation.get("parameters", ())}
    yield "421", "Misdirected"
    if path in OPEN:
        yield "403", "ForeignOrigin"
        return
    yield "401", "Unauthenticated"
    yield "403", "ForbiddenWrite" if writes else "Forbidden"
    yield "429", "Limited"
    yield "503", "UnavailableWrite" if "Idempotency-Key" in names else "Unavailable"
    if "{" in path or "session" in names:
        yield "404", "NotFound"
    if names or "requestBody" in operation:
        invalid = "InvalidBody" if "requestBody" in operation else "Invalid"
        yield "422", "InvalidWrite" if "Idempotency-Key" in names else invalid
    if method in ("post", "put", "patch") and JSON in operation.get("requestBody", {}).get("content", {JSON: {}}):
        yield from (("400", "MalformedBody"), ("413", "TooLarge"), ("415", "NotJson"))


def _merged(shared: Json, own: Json) -> Json:
    examples = {**shared["content"][MEDIA_TYPE]["examples"], **own["content"][MEDIA_TYPE]["examples"]}
    content = {MEDIA_TYPE: {**shared["content"][MEDIA_TYPE], "examples": examples}}
    return {**own, "description": " · ".join(examples), "content": content}


def _with_headers(response: Json) -> Json:
    (example, *_) = response["content"][MEDIA_TYPE]["examples"].values()
    headers = HEADERS.get(example["value"]["status"])
    return {**response, "headers": headers} if headers else response


def _show_rates(operation: Json) -> None:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            response["headers"] = {**response.get("headers", {}), **RATES_SHOWN}


def _sorted(responses: Json) -> Json:
    return dict(sorted(responses.items()))


def _contents(operation: Json) -> Iterator[tuple[str, Json]]:
    """Yield the media types of the request and of each successful answer, with their definitions."""
    yield from operation.get("requestBody", {}).get("content", {}).items()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield from response.get("content", {}).items()


def _model(content: Json) -> str:
    """Return the name of the model; FastAPI wraps an optional body in `anyOf`."""
    schema = content.get("schema") or {}
    options = schema.get("anyOf", [schema])
    return next((option["$ref"].rpartition("/")[2] for option in options if "$ref" in option), "")


def _without_null(schema: Json) -> Json:
    """Return the schema of a parameter: an absent one is left out, and "null" is only a text."""
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if not options:
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**options[0], **rest} if len(options) == 1 else {**rest, "anyOf": options}


def _fitting(parameter: Json) -> Any:
    """Return the first example of a parameter's name that its schema allows."""
    fits = Draft202012Validator(parameter["schema"]).is_valid
    return next((example for example in _named(parameter["name"]) if fits(example)), None)


def _named(name: str) -> tuple[Any, ...]:
    """Return the examples of a parameter; names of headers have no case."""
    found: tuple[Any, ...] = next(
        (given for known, given in EXAMPLES["parameters"].items() if known.lower() == name.lower()), ()
    )
    return found


def _illustrate(place: Json, example: Any) -> None:
    if example is not None:
        place["example"] = example


def _make_conditional(operation: Json) -> None:
    operation.setdefault("parameters", []).append({**IF_NONE_MATCH, "example": _fitting(IF_NONE_MATCH)})
    operation["responses"]["200"]["headers"] = ETAG
    operation["responses"] = _sorted({**operation["responses"], "304": NOT_MODIFIED})
