"""The OpenAPI document is true: a real platform answers as it says, to whatever it allows and forbids."""

from __future__ import annotations

from pathlib import Path

import pytest
from schemathesis.errors import SchemathesisError

from tests.exploration.explorer import Explorer
from tests.exploration.run import explored
from tests.exploration.world import Party


@pytest.mark.requirement("P8")
async def test_every_operation_keeps_the_contract_for_two_tenants(tmp_path: Path) -> None:
    found = await explored(tmp_path, cases=1, sequences=4, steps=5)
    assert found.cases > 200
    assert {200, 201, 403, 404, 422} <= found.statuses.keys()
    assert found.wrong == {}


def test_unreadable_operation_is_not_dropped() -> None:
    broken = {"get": {"parameters": [{"$ref": "#/nowhere"}], "responses": {"200": {"description": "-"}}}}
    document = {"openapi": "3.1.0", "info": {"title": "-", "version": "1"}, "paths": {"/broken": broken}}
    with pytest.raises(SchemathesisError):
        Explorer("http://localhost", document, [], Party("acme", "", "")).operations()
