"""An operator's view of the remote tools, and approvals of exactly the description that was looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import NotFound, Rejected
from libs.remote_tools import Listed, Server, definitions
from libs.remote_tools.definitions import Unusable
from libs.runtime import Platform, permitted
from services.tool_executor.remote.registry import ApprovedDescription, RemoteTools, described, digest_of
from services.tool_executor.rows import ToolApproved, ToolRevoked
from services.tool_executor.workspaces import GROUP

ACTION = "admin.tools"
"""About every tenant, so policy allows it only in the platform's own."""
State = Literal["offered", "new", "changed", "gone", "unusable"]


class NoSuchTool(NotFound):
    """No server lists this tool."""


class DescriptionChanged(Rejected):
    """The tool's description is not the one that was looked at; look at it again."""

    code = "TOOL_DESCRIPTION_CHANGED"


class CannotOffer(Rejected):
    """The tool cannot be offered, even with an approval."""

    code = "TOOL_CANNOT_BE_OFFERED"


class Operator(BaseModel):
    """The author of a request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    principal: str
    scopes: tuple[str, ...]


class Approving(Operator):
    digest: str
    """The digest of exactly the description that was shown."""


class RemoteAdmin:
    def __init__(self, platform: Platform, remote: RemoteTools) -> None:
        self._platform, self._remote = platform, remote

    async def overview(self, tenant: str, who: Operator) -> dict[str, Any]:
        """Return every server with its tools. Servers that were not asked lately are asked now. Raises Denied."""
        # On record before any server outside is asked.
        await self._platform.writer.apply(await self._permitted(tenant, who, "list", "servers"))
        await self._remote.look()
        approvals = await self._remote.approvals()
        await self._platform.catalogue.refresh()
        mine: dict[str, dict[str, ApprovedDescription]] = {name: {} for name in self._remote.servers}
        for tool, approval in approvals.items():
            server, _, name = tool.partition(".")
            if server in mine:
                mine[server][name] = approval
        # Checking the schemas of hundreds of tools takes a while.
        servers = self._remote.servers.values()
        return {"servers": [await asyncio.to_thread(self._server, server, mine[server.name]) for server in servers]}

    async def approve(self, tenant: str, name: str, word: Approving) -> dict[str, Any]:
        """Offer the tool with exactly this description.

        Raises:
            Denied, NoSuchTool, DescriptionChanged, CannotOffer.
        """
        changes = await self._permitted(tenant, word, "approve", name)
        server, listed = await self._listed(name)
        try:
            digest = definitions.pin(listed, server.settings)
            definitions.define(server.name, listed, server.settings)
        except Unusable as error:
            raise CannotOffer(f"{name} cannot be offered: {error}") from None
        if digest != word.digest:
            raise DescriptionChanged
        row = ToolApproved(tool=name, digest=digest, definition=described(listed), principal=word.principal)
        await self._platform.writer.apply(changes.put(row))
        await self._platform.catalogue.refresh()
        return await self._tool(name)

    async def revoke(self, tenant: str, name: str, word: Operator) -> None:
        """Stop offering a tool, whatever description was approved. Raises Denied."""
        changes = await self._permitted(tenant, word, "revoke", name)
        await self._platform.writer.apply(changes.put(ToolRevoked(tool=name)))
        await self._platform.catalogue.refresh()

    async def _listed(self, name: str) -> tuple[Server, Listed]:
        family, _, tool = name.partition(".")
        server = self._remote.servers.get(family)
        if server is None:
            raise NoSuchTool
        await self._remote.look()
        listing = self._remote.listing(family)
        if listing is None or tool not in listing.tools or tool in listing.twice:
            raise NoSuchTool
        return server, listing.tools[tool]

    async def _tool(self, name: str) -> dict[str, Any]:
        server, listed = await self._listed(name)
        approval = (await self._remote.approvals()).get(name)
        return self._shown(server, listed.name, listed, approval)

    def _server(self, server: Server, approvals: dict[str, ApprovedDescription]) -> dict[str, Any]:
        listing = self._remote.listing(server.name)
        tools = listing.tools if listing is not None else {}
        names = sorted({*tools, *approvals})
        return {
            "name": server.name,
            "protocol": server.protocol,
            "address": server.settings.address,
            "tenants": list(server.settings.tenants),
            "listed_at": listing.at.isoformat() if listing is not None else None,
            "problem": listing.problem if listing is not None else "",
            "tools": [self._shown(server, name, tools.get(name), approvals.get(name)) for name in names],
        }

    def _shown(
        self, server: Server, name: str, listed: Listed | None, approval: ApprovedDescription | None
    ) -> dict[str, Any]:
        state, reason = self._state(server, name, listed, approval)
        shown = listed or (approval.listed if approval is not None else None)
        assert shown is not None
        return {
            "name": f"{server.name}.{name}",
            "state": state,
            "reason": reason,
            "digest": digest_of(shown, server),
            "description": shown.description[: definitions.DESCRIPTION_MOST],
            "params": dict(shown.parameters),
            "hints": dict(shown.hints),
            "effect_class": definitions.effect_of(shown, server.settings).value,
            "approved_by": approval.principal if approval is not None else None,
            "approved_at": approval.at.isoformat() if approval is not None else None,
            "approved_description": approval.listed.description if approval is not None else None,
        }

    def _state(
        self, server: Server, name: str, listed: Listed | None, approval: ApprovedDescription | None
    ) -> tuple[State, str]:
        full = f"{server.name}.{name}"
        if listed is None:
            listing = self._remote.listing(server.name)
            if listing is not None and listing.known:
                return "gone", "the server does not list it any more"
            in_use = any(tool.name == full for tool in self._platform.skills.remote)
            return ("offered", "") if in_use else ("gone", "the server has not answered yet")
        if reason := next(self._obstacles(server, listed), ""):
            return "unusable", reason
        if approval is None:
            return "new", "nobody has approved it"
        if approval.digest != digest_of(listed, server):
            return "changed", "its description changed since it was approved"
        return "offered", ""

    def _obstacles(self, server: Server, listed: Listed) -> Iterator[str]:
        listing = self._remote.listing(server.name)
        if listing is not None and listed.name in listing.twice:
            yield "the server lists this name more than once"
        if not definitions.chosen(listed, server.settings):
            yield "the settings do not offer it"
        try:
            definitions.define(server.name, listed, server.settings)
        except Unusable as error:
            yield str(error)
        if not self._platform.skills.admits(server.name):
            yield "a skill or another tool has the server's name"

    async def _permitted(self, tenant: str, who: Operator, verb: str, about: str) -> Changeset:
        """Return the record of policy's yes, for the changes that it permits."""
        cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{who.principal}")
        resource, facts = f"{verb}:{about}", {"verb": verb, "tool": about}
        return Changeset(cause).emit(
            await permitted(self._platform, cause, ACTION, who.principal, who.scopes, resource=resource, **facts)
        )
