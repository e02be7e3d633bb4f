"""Two tenants on a real platform, each with sessions, a staged change, a commit, keys and a folder of its own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.journeys.installation import Installation

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{64}\b")
TENANTS = ("acme", "umbrella")
SETTINGS: Mapping[str, str] = {
    "SUMA_GATEWAY__REQUESTS_PER_MINUTE": "10000000",
    "SUMA_GATEWAY__REQUESTS_PER_MINUTE_EACH": "10000000",
    "SUMA_GATEWAY__TURNS_OPEN_EACH_SESSION": "100000",
    "SUMA_GATEWAY__COMMAND_WAIT": "0.05",
    "SUMA_GATEWAY__WAIT_MOST": "0.2",
    "SUMA_GATEWAY__A2A_WAIT_SECONDS": "0.5",
    "SUMA_GATEWAY__PUSH_HOSTS": '["127.0.0.1:*"]',
}
"""Limits are tested elsewhere; here they would only hide what is behind them."""
PATIENCE_SECONDS = 60.0
Json = Any


@dataclass
class Party:
    """A tenant's administrator: its key, and what there is for each name of a parameter or field."""

    tenant: str
    key: str
    key_id: str
    known: dict[str, list[str]] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    """Ids and words that only this tenant may see."""
    echoed: set[str] = field(default_factory=set)
    """Words of the other tenant that this one has sent in a body: they may come back."""

    def learn(self, name: str, value: str) -> None:
        self.known.setdefault(name, []).append(value)
        self.own.add(value)

    def client(self, url: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False)


def folder_of(place: Path, tenant: str) -> Path:
    """Return the only folder that a tenant may work in."""
    return place / f"folder-of-{tenant}"


async def furnish(installation: Installation) -> tuple[list[Party], Party]:
    """Return both tenants, and the administrator of the platform."""
    async with installation.api() as api:
        parties = [await _founded(api, installation, tenant) for tenant in TENANTS]
        owner = Party("local", installation.directory.key(), "")
        for scratch in ("scratch-1", "scratch-2"):
            (await api.post("/v1/admin/tenants", json={"tenant": scratch})).raise_for_status()
            owner.known.setdefault("tenant", []).append(scratch)
        return parties, owner


async def _founded(api: httpx.AsyncClient, installation: Installation, tenant: str) -> Party:
    (await api.post("/v1/admin/tenants", json={"tenant": tenant})).raise_for_status()
    admin = f"admin-of-{tenant}"
    wish = {"tenant": tenant, "principal": admin, "scopes": ["*"], "roles": ["admin"]}
    made = (await api.post("/v1/admin/keys", json=wish)).raise_for_status().json()
    party = Party(tenant, made["key"], made["key_id"])
    party.own |= {made["key"], made["key_id"]}
    folder = folder_of(installation.folder, tenant)
    folder.mkdir()
    party.learn("root", str(folder))
    async with party.client(installation.url) as http:
        await _live(http, party, folder)
    return party


async def _live(http: httpx.AsyncClient, party: Party, folder: Path) -> None:
    """Fill the tenant: a finished turn, a commit that can be undone, a question that waits, and a spare key."""
    (folder / f"secret-of-{party.tenant}.txt").write_text("a")
    (folder / "copy.txt").write_text("a")
    listed = await _asked(http, party, folder, "list the files")
    await _until(http, listed, "turn.ended")
    done = await _asked(http, party, folder, "remove duplicates")
    await _until(http, done, "approval.requested")
    (await http.post(f"/v1/sessions/{done}/commit", json={})).raise_for_status()
    await _until(http, done, "turn.ended")
    (folder / "photo.jpg").write_text("b")
    (folder / "song.mp3").write_text("c")
    waiting = await _asked(http, party, folder, "sort by type")
    asked = await _until(http, waiting, "approval.requested")
    party.known["digest"] = [asked["data"]["digest"]]
    for approval in (await http.get("/v1/approvals")).json()["approvals"]:
        party.learn("approval_id", approval["approval_id"])
        party.learn("effect_id", approval["approval_id"])
    log = (await http.get("/v1/workspace/log", params={"root": str(folder)})).json()
    for commit in log["commits"]:
        party.learn("commit_id", commit["commit_id"])
    for snapshot in (await http.get(f"/v1/sessions/{waiting}/snapshots")).json()["snapshots"]:
        party.learn("snapshot", snapshot["snapshot_id"])
    hook = f"hook-of-{party.tenant}"
    config, path = {"id": hook, "url": f"http://127.0.0.1:9/{hook}"}, f"/a2a/v1/tasks/{party.known['turn_id'][-1]}"
    added = await http.post(f"{path}/pushNotificationConfigs", json=config, headers={"A2A-Version": "1.0"})
    added.raise_for_status()
    party.learn("push_id", hook)
    guest = f"guest-of-{party.tenant}"
    spare = {"principal": guest, "roles": ["user"]}
    for _ in range(3):
        party.learn("key_id", (await http.post("/v1/admin/keys", json=spare)).raise_for_status().json()["key_id"])
    # Each tenant names its principals itself, so that a name is no secret.
    party.known["principal"] = [guest]
    party.own |= {f"secret-of-{party.tenant}", f"word-of-{party.tenant}"}


async def _asked(http: httpx.AsyncClient, party: Party, folder: Path, text: str) -> str:
    """Open a session in the folder and send a message; return the session."""
    body = {"text": text, "root": str(folder), "title": f"word-of-{party.tenant}", "hitl": "bypass"}
    sent: Json = (await http.post("/v1/sessions/message", json=body)).raise_for_status().json()
    party.learn("session_id", sent["session_id"])
    party.learn("session", sent["session_id"])
    party.learn("turn_id", sent["turn_id"])
    party.learn("turn", sent["turn_id"])
    party.learn("until", sent["turn_id"])
    party.own.add(sent["message_id"])
    return str(sent["session_id"])


async def _until(http: httpx.AsyncClient, session: str, kind: str) -> Json:
    """Wait for an event of the session."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            page = (await http.get(f"/v1/sessions/{session}/events", params={"stream": "false", "limit": 1000})).json()
            found = {event["type"]: event for event in page["events"]}
            if kind in found:
                return found[kind]
            assert "turn.ended" not in found, f"the turn ended without {kind}: {page}"
            await asyncio.sleep(0.02)
