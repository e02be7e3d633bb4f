"""`proto/openapi.yaml` matches the gateway's routes."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from starlette.routing import Route, WebSocketRoute

from libs.skills import LOADER
from services.contracts import PROTO, application, main
from services.gateway import contract
from services.gateway.app import Documented
from services.gateway.http.middleware.concurrency import OPEN
from tests.exploration.undocumented import UNDOCUMENTED

TESTS = Path(__file__).parents[1]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def written() -> dict[str, Any]:
    document: dict[str, Any] = yaml.load((PROTO / "openapi.yaml").read_text("utf-8"), LOADER)
    return document


def routes(app: FastAPI) -> Iterator[str]:
    """Yield the method and path of each route; a HEAD is part of its GET."""
    for route in app.routes:
        match route:
            case Route():
                yield from (f"{method} {route.path}" for method in (route.methods or ()) if method != "HEAD")
            case WebSocketRoute():
                yield f"WS {route.path}"
            case _:
                raise AssertionError(f"{route} is of a kind that this test does not know")


def illustrated(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Every JSON example with its place and schema."""
    for path, method, operation in contract.operations(document):
        at = f"{method.upper()} {path}"
        yield from ((f"{at} {p['name']}", p["schema"], p["example"]) for p in operation.get("parameters", ()))
        answers = [*operation["responses"].values(), *document["components"]["responses"].values()]
        for place in (operation.get("requestBody", {}), *answers):
            for media, content in place.get("content", {}).items():
                examples = [one["value"] for one in content.get("examples", {}).values()]
                if media.endswith("json"):
                    yield from ((at, content["schema"], one) for one in (*examples, content.get("example")) if one)


def test_committed_documents_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_stale_openapi_document_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("openapi.yaml", "task-dsl.v1.json"):
        shutil.copy(PROTO / name, tmp_path)
    (tmp_path / "openapi.yaml").write_text("openapi: 3.1.0\n", "utf-8")
    assert main(["--check", str(tmp_path)]) == 1
    assert "openapi.yaml is stale; run `make contracts`" in capsys.readouterr().err


def test_a_written_document_is_fresh(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0


def test_the_document_is_openapi_and_its_shapes_are_schemas() -> None:
    document = written()
    assert document["openapi"].startswith("3.1")
    for shape in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(shape)


def test_generators_of_clients_lose_nothing() -> None:
    document = written()
    for name, shape in document["components"]["schemas"].items():
        # They take one or the other, so that a request would have no members.
        assert not ("properties" in shape and {"anyOf", "oneOf", "allOf"} & shape.keys()), name
    assert document["servers"] == [{"url": "/"}]
    for path, method, operation in contract.operations(document):
        assert bool(operation["security"]) is (path not in OPEN), (method, path)
        for schema in (parameter["schema"] for parameter in operation.get("parameters", ())):
            assert "default" not in schema or Draft202012Validator(schema).is_valid(schema["default"]), (method, path)


def test_every_operation_has_examples_errors_and_models() -> None:
    document = written()
    assert list(contract.gaps(document)) == []
    for path, method, operation in contract.operations(document):
        errors = {status for status in operation["responses"] if status.startswith("4")}
        assert errors >= ({"403", "421"} if path in OPEN else {"401", "403", "421", "429"}), (method, path)


def test_every_example_fits_its_schema_exactly() -> None:
    document = written()
    root = {"components": document["components"]}
    found = list(illustrated(document))
    assert len(found) > 200
    for at, schema, example in found:
        checked = Draft202012Validator({**root, **schema}, format_checker=Draft202012Validator.FORMAT_CHECKER)
        assert not (wrong := [error.message for error in checked.iter_errors(example)]), (at, wrong)
        name = schema.get("$ref", "").rpartition("/")[2]
        known = document["components"]["schemas"].get(name, {}).get("properties")
        assert known is None or example.keys() <= known.keys(), at


def test_routes_outside_the_document_are_listed() -> None:
    documented = {f"{method.upper()} {path}" for path, method, _ in contract.operations(written())}
    assert set(routes(application())) - documented == UNDOCUMENTED.keys()


def test_routes_outside_the_document_name_their_suites() -> None:
    for route, outside in UNDOCUMENTED.items():
        file, _, test = outside.suite.partition("::")
        tree = ast.parse((TESTS / file).read_text("utf-8"))
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}, (route, outside.suite)


def test_route_without_example_and_model_is_a_gap() -> None:
    app = Documented(title="one route", version="1")

    @app.post("/v1/things", tags=["things"])
    async def make(body: Sized, colour: str) -> dict[str, str]:
        """Make a thing."""
        return {}

    assert sorted(contract.gaps(app.openapi())) == [
        "POST /v1/things needs a response model",
        "POST /v1/things: application/json of Sized needs an example in examples.yaml",
        "POST /v1/things: application/json of no model needs an example in examples.yaml",
        "POST /v1/things: the parameter colour needs an example in examples.yaml",
    ]


class Sized(BaseModel):
    size: int
