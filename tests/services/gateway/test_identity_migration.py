"""A data directory of the release before tenants, principals and keys were rows of their own keeps working."""

from __future__ import annotations

from pathlib import Path

import asyncpg
import pytest

from libs.database import Schema, migrate
from libs.embedded.postgres import Postgres
from libs.identity.keys import mint
from services.gateway.schema import SCHEMA
from tests import infrastructure
from tests.services.gateway.running import running_gateway

BEFORE = ("0001_gateway.sql", "0002_dead_letters.sql", "0003_waiting.sql", "0004_attachments.sql")


@pytest.mark.requirement("S3-50")
async def test_earlier_data_directory_keeps_its_key_and_sessions(server: Postgres, tmp_path: Path) -> None:
    for name in BEFORE:
        (tmp_path / name).write_text((SCHEMA.migrations / name).read_text())
    text, key = mint("local", "owner", scopes=["*"])
    async with infrastructure.fresh_database(server) as where:
        await migrate(where.owner, Schema("gateway", tmp_path))
        connection = await asyncpg.connect(where.owner)
        await connection.execute("select set_config('suma.tenants', '{local}', false)")
        await connection.execute(
            "insert into gateway.api_keys (tenant_id, key_id, hash, principal, scopes, created_at)"
            " values ('local', $1, $2, 'owner', '{*}', now())",
            key.id,
            key.hash,
        )
        await connection.execute(
            "insert into gateway.session_envelopes (tenant_id, session_id, principal, hitl, created_at, last_at)"
            " values ('local', 's-1', 'owner', 'key', now(), now())"
        )
        await connection.close()
        async with running_gateway(where, text) as home, home.client() as http:
            me = (await http.get("/v1/me")).json()
            (session,) = (await http.get("/v1/sessions")).json()["sessions"]
    assert (me["principal"], me["roles"], me["key_id"]) == ("owner", ["admin"], key.id)
    assert (session["session_id"], session["principal"], session["shared"]) == ("s-1", "owner", None)
