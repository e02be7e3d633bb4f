"""Access to a folder's skills, and the required fields of an approval."""

from __future__ import annotations

import httpx
import pytest

from tests.services.gateway.running import RunningGateway

DIGEST = "0" * 64


@pytest.mark.parametrize("path", ["/v1/skills", "/v1/skills/letters"])
async def test_caller_without_files_read_sees_no_folder_skills(home: RunningGateway, path: str) -> None:
    async with home.client(await home.key("chat")) as chatter:
        answer = await chatter.get(path, params={"root": "/home/ada"})
    assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")


@pytest.mark.parametrize(
    "body", [{}, {"root": "/home/ada"}, {"root": "here", "digest": DIGEST}, {"root": "/home/ada", "digest": "all"}]
)
async def test_an_approval_names_the_folder_and_the_version(http: httpx.AsyncClient, body: dict[str, str]) -> None:
    assert (await http.post("/v1/skills/letters/approve", json=body)).status_code == 422


@pytest.mark.parametrize("name", ["..%2Fkeys", "a%20b", "a" * 65, "a%00b"])
async def test_invalid_skill_name_is_refused(http: httpx.AsyncClient, name: str) -> None:
    assert (await http.get(f"/v1/skills/{name}")).status_code in (400, 404, 422)
