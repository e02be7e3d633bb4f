"""`proto/openapi.yaml` matches the gateway's routes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from libs.skills import LOADER
from services.contracts import PROTO, main


def test_what_is_committed_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_stale_openapi_document_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = shutil.copy(PROTO / "openapi.yaml", tmp_path)
    Path(copy).write_text("openapi: 3.1.0\n", "utf-8")
    assert main(["--check", str(tmp_path)]) == 1
    assert "openapi.yaml is stale; run `make contracts`" in capsys.readouterr().err


def test_a_written_document_is_fresh(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0


def test_the_document_is_openapi_and_its_shapes_are_schemas() -> None:
    document = yaml.load((PROTO / "openapi.yaml").read_text("utf-8"), LOADER)
    assert document["openapi"].startswith("3.1")
    for shape in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(shape)
