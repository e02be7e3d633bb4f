"""The catalogue of the six services: their modules, HTTP ports and database schemas."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from libs.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

    from libs.database import Schema
    from libs.runtime import Platform, Service


class UnknownService(NotFound):
    """This service does not exist."""

    code = "UNKNOWN_SERVICE"


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """One of the six services. Its code is imported when it is built, so that a process loads only what it runs."""

    name: str
    port: int
    """The port of its HTTP API when it runs alone. In one process only the gateway and the memory service have a port.
    """
    schema: str | None
    says: str
    """A summary for `python -m services --help`."""

    @property
    def module(self) -> str:
        return f"services.{self.name}.service"

    def build(self, platform: Platform) -> Service:
        build = cast("Callable[[Platform], Service]", import_module(self.module).build)
        return build(platform)

    def settings(self) -> type[BaseModel]:
        return cast("type[BaseModel]", import_module(f"services.{self.name}.settings").Settings)


SERVICES = (
    ServiceEntry("gateway", 8010, "gateway", "REST, event streams, identity, read models"),
    ServiceEntry("conversation_worker", 8011, "conversation", "turns, step-by-step execution of plans, approvals"),
    ServiceEntry("committee_worker", 8012, None, "planner, critic, resolver"),
    ServiceEntry("tool_executor", 8020, "executor", "guards, policy, workspace, tools"),
    ServiceEntry("audit_worker", 9697, "audit", "hash chain, checkpoints, export"),
    ServiceEntry("memory_service", 9696, "memory", "remember, recall, facts"),
)
NAMES = tuple(entry.name for entry in SERVICES)


def schemas() -> list[Schema]:
    """Return the schemas of all services."""
    return [cast("Schema", import_module(each.module).SCHEMA) for each in SERVICES if each.schema is not None]


def entry(name: str) -> ServiceEntry:
    """Return the entry of this name. Raises `UnknownService`."""
    found = next((entry for entry in SERVICES if entry.name == name), None)
    if found is None:
        raise UnknownService(f"there is no service {name!r}: choose one of {', '.join(NAMES)}, or none for all of them")
    return found
