"""What the tool executor is."""

from __future__ import annotations

from libs.events import ToolCancelRequested, ToolRequested
from libs.leases.ports import Kind
from libs.runtime.platform import Platform
from libs.runtime.service import Api, Service, Subscription
from libs.skills import Categories
from services.tool_executor import api
from services.tool_executor.content import Contents
from services.tool_executor.effects import EFFECT, SETTLE, Effects
from services.tool_executor.handlers import TOOL, Handlers
from services.tool_executor.settings import Settings
from services.tool_executor.work import Work
from services.tool_executor.workspaces import GROUP, SCHEMA, Workspaces

PORT = 8020
CATEGORIES = ("organize-by-type", "references", "categories.yaml")


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    workspaces = Workspaces(platform.database, settings, platform.data_dir)
    work = Work(platform, workspaces, _categories(platform), Contents(platform.embedder, settings))
    effects = Effects(platform, settings)
    on = Handlers(platform, workspaces, work, effects, settings)
    room, each, tries = settings.effects_at_once, settings.effects_at_once_per_tenant, settings.effect_attempts
    return Service(
        GROUP,
        [
            Subscription(ToolRequested, on.requested, on.unheard),
            Subscription(ToolCancelRequested, on.cancelled, urgent=True),
        ],
        [
            Kind(TOOL, on.run, on.ended, on.failed, settings.calls_at_once, settings.calls_at_once_per_tenant),
            Kind(EFFECT, effects.run, effects.ended, effects.failed, room, each, tries),
            Kind(SETTLE, effects.settle, effects.settled, effects.unsettled, room, each, tries),
        ],
        schema=SCHEMA,
        api=Api(api.build(platform, workspaces), PORT),
    )


def _categories(platform: Platform) -> Categories:
    """The categories are data of a skill; without that skill everything is Other."""
    skill = platform.skills.skills.get(CATEGORIES[0])
    path = skill.folder.joinpath(*CATEGORIES[1:]) if skill else None
    return Categories.load(path) if path is not None and path.is_file() else Categories({})
