"""The remote tools of this deployment: what servers list, what an operator approved, and what is offered.

An approval pins the hash of a description, for all processes and tenants, in Postgres. A tool is offered if its server
is configured and its description, as last listed, has the approved hash. A listing is kept in memory only: a server
that does not answer keeps its approved tools, because each call compares the description again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from libs.clock import Clock
from libs.database import Database
from libs.errors import Rejected, Unavailable
from libs.remote_tools import Listed, Server, ServerDown, ToolChanged, definitions
from libs.remote_tools.definitions import Unusable
from libs.skills import ToolDefinition
from libs.telemetry import logger
from libs.tools import Effect, Intent, Outcome, Tool
from services.tool_executor.workspaces import GROUP, queries

LIST_SECONDS = 300.0
"""Seconds between two listings of each server."""
RETRY_SECONDS = 15.0
"""Seconds until a server that did not answer is asked again."""
RECENT_SECONDS = 10.0
"""A listing that is newer than this is not repeated for a person."""

log = logger("remote")


@dataclass(frozen=True, slots=True)
class ApprovedDescription:
    """An approved description."""

    tool: str
    digest: str
    listed: Listed
    principal: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """The last listing of a server, and the problem of the last attempt; empty: none."""

    at: datetime
    tools: Mapping[str, Listed]
    known: bool
    """False if the server has never answered this process."""
    digests: Mapping[str, str]
    """The hash of each description; empty for one that has none."""
    problem: str = ""
    twice: frozenset[str] = frozenset()
    """Names that the server lists more than once."""


@dataclass
class RemoteTool:
    """A tool of another server, as the executor runs it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect
    definition: ToolDefinition
    approval: ApprovedDescription
    server: Server
    registry: RemoteTools

    async def run(self, intent: Intent) -> Outcome:
        if not intent.valid():
            raise ServerDown("another process has taken this call")
        return await self.server.call(self.approval.listed.name, intent, unchanged=self._unchanged)

    def _unchanged(self, listed: Sequence[Listed]) -> None:
        # Compared in the connection of the call: a listing from a minute ago proves nothing (decision 0080).
        self.registry.note(self.server, listed)
        found = [tool for tool in listed if tool.name == self.approval.listed.name]
        if len(found) != 1 or digest_of(found[0], self.server) != self.approval.digest:
            raise ToolChanged(f"{self.name} has changed on its server since it was approved; look at it again")


class RemoteTools:
    def __init__(self, database: Database, clock: Clock, servers: Sequence[Server]) -> None:
        self.servers = {server.name: server for server in servers}
        self._database, self._clock = database, clock
        self._listings: dict[str, Listing] = {}
        self._offered: dict[str, RemoteTool] = {}
        self._built: dict[tuple[str, str], RemoteTool | None] = {}
        self._asking = {name: asyncio.Lock() for name in self.servers}

    def get(self, name: str) -> Tool | None:
        """Return an offered tool."""
        return self._offered.get(name)

    async def offered(self) -> Sequence[ToolDefinition]:
        """Return the approved and unchanged tools, by name. Raises Unavailable."""
        found = sorted(self._current(await self.approvals()), key=lambda tool: tool.name)
        self._offered = {tool.name: tool for tool in found}
        return [tool.definition for tool in found]

    async def approvals(self) -> Mapping[str, ApprovedDescription]:
        """Return all approvals, by tool. Raises Unavailable."""
        if not self.servers:
            return {}
        async with self._database.read(GROUP) as connection:
            rows = [row async for row in queries.tool_approvals(connection)]
        return {row["tool"]: _approval(row) for row in rows}

    def listing(self, server: str) -> Listing | None:
        return self._listings.get(server)

    async def watch(self) -> None:
        """List the tools of every server again and again, until cancelled."""
        if self.servers:
            await asyncio.gather(*map(self._watch, self.servers.values()))

    async def look(self, *, older: float = RECENT_SECONDS) -> None:
        """List the tools of each server whose listing is older than so many seconds."""
        await asyncio.gather(*(self._look(server, older) for server in self.servers.values()))

    def note(self, server: Server, listed: Sequence[Listed], *, asked: datetime | None = None) -> None:
        """Remember what a server lists, and log what changed. `asked` is the time of the question."""
        names = [tool.name for tool in listed]
        twice = frozenset(name for name in names if names.count(name) > 1)
        before = self._listings.get(server.name)
        tools = {tool.name: tool for tool in listed}
        if before is not None and before.known and before.tools != tools:
            log.warning("remote tools changed", server=server.name, tools=len(tools))
        digests = {name: digest_of(tool, server) for name, tool in tools.items()}
        self._listings[server.name] = Listing(
            asked or self._clock.now(), tools, known=True, digests=digests, twice=twice
        )

    async def _watch(self, server: Server) -> None:
        while True:
            await self._look(server, 0)
            listing = self._listings[server.name]
            await asyncio.sleep(RETRY_SECONDS if listing.problem else LIST_SECONDS)

    async def _look(self, server: Server, older: float) -> None:
        # One listing at a time: callers that waited here find it recent.
        async with self._asking[server.name]:
            last, now = self._listings.get(server.name), self._clock.now()
            if last is not None and (now - last.at).total_seconds() < older:
                return
            try:
                self.note(server, await server.tools(), asked=now)
            except (Rejected, Unavailable) as error:
                log.warning("could not list remote tools", server=server.name, error=str(error))
                last = last or Listing(now, {}, known=False, digests={})
                self._listings[server.name] = replace(last, at=now, problem=str(error))

    def _current(self, approvals: Mapping[str, ApprovedDescription]) -> Iterator[RemoteTool]:
        for approval in approvals.values():
            key = approval.tool, approval.digest
            if key not in self._built:
                self._built[key] = self._build(approval)
            tool = self._built[key]
            if tool is not None and self._listed_so(tool):
                yield tool

    def _build(self, approval: ApprovedDescription) -> RemoteTool | None:
        """Return the tool of an approval; None if it is not of a configured server, or may not be offered."""
        server = self.servers.get(approval.tool.partition(".")[0])
        if server is None or not definitions.chosen(approval.listed, server.settings):
            return None
        # The hash covers the address: an approval for one server does not count for another of its name.
        if digest_of(approval.listed, server) != approval.digest:
            return None
        try:
            definition = definitions.define(server.name, approval.listed, server.settings)
        except Unusable:
            return None
        tool, effect = definition, definition.effect_class
        return RemoteTool(tool.name, tool.description, tool.params, effect, tool, approval, server, self)

    def _listed_so(self, tool: RemoteTool) -> bool:
        """Return whether the server's last listing has the approved description, or there was none yet."""
        listing, name = self._listings.get(tool.server.name), tool.approval.listed.name
        # Offered although its server was never reached: the call itself compares the description.
        if listing is None or not listing.known:
            return True
        return name not in listing.twice and listing.digests.get(name) == tool.approval.digest


def digest_of(listed: Listed, server: Server) -> str:
    """Return the hash of a description; empty if it has none."""
    try:
        return definitions.pin(listed, server.settings)
    except Unusable:
        return ""


def described(listed: Listed) -> dict[str, Any]:
    """Return a description as JSON."""
    return asdict(listed)


def _approval(row: Mapping[str, Any]) -> ApprovedDescription:
    listed = Listed(**orjson.loads(row["definition"]))
    return ApprovedDescription(row["tool"], row["digest"], listed, row["principal"], row["approved_at"])
