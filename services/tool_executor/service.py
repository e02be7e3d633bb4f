"""The tool executor's wiring: its subscriptions, kinds of leased work, and API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from libs.events import CallsEraseRequested, ToolCancelRequested, ToolRequested
from libs.multimodal.composing import Composer
from libs.multimodal.critic import HeuristicCritic
from libs.multimodal.ports import Critic, Producer, StepType
from libs.multimodal.producers import local
from libs.remote_tools import Server
from libs.remote_tools.a2a_agent import A2aAgent
from libs.remote_tools.mcp_server import McpServer
from libs.runtime import Api, Kind, Platform, Service, Subscription
from libs.sandbox import Choice
from libs.skills import Categories
from libs.tools import Tool
from services.tool_executor import api
from services.tool_executor.blobs import CONTENTS, ContentsCleared
from services.tool_executor.chain import Chain
from services.tool_executor.command_runs import CommandRuns
from services.tool_executor.content import Contents
from services.tool_executor.effects.external_calls import EFFECT, SETTLE, Effects
from services.tool_executor.fetching import Fetcher
from services.tool_executor.handlers import TOOL, Handlers
from services.tool_executor.history import HISTORY, History
from services.tool_executor.indexes import Indexes
from services.tool_executor.knowledge import Sources
from services.tool_executor.multimodal import asset_routes, routes, vendors, vision
from services.tool_executor.multimodal.assets import ASSETS, Assets
from services.tool_executor.multimodal.executions import Executions
from services.tool_executor.multimodal.registry import Registry, loaded
from services.tool_executor.multimodal.router import Router
from services.tool_executor.multimodal.studio import Studio
from services.tool_executor.remote.admin import RemoteAdmin
from services.tool_executor.remote.registry import RemoteTools
from services.tool_executor.runner import CallRunner, fence_of
from services.tool_executor.settings import Settings
from services.tool_executor.skills.admin import SkillAdmin
from services.tool_executor.skills.local import LocalSkills
from services.tool_executor.workspaces import GROUP, SCHEMA, Workspaces

CATEGORIES = ("organize-by-type", "references/categories.yaml")


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    workspaces = Workspaces(
        platform.database,
        platform.objects,
        platform.keys,
        settings,
        data_dir=platform.data_dir,
        opened=lambda tenant, folder: history.opened(tenant, folder),
    )
    local, indexes = LocalSkills(platform, workspaces), Indexes(settings, platform.embedder, workspaces.scanned)
    contents = Contents(indexes)
    history = History(platform, workspaces, settings, fence=fence_of)
    choice = Choice(platform.sandboxes)
    commands = CommandRuns(choice, settings.commands)
    remote, cleared = _remote(platform, settings, choice), ContentsCleared(platform.objects)
    assets = Assets(platform, settings.assets)
    outside = partial(_outside, platform, remote)
    chain = Chain(platform, workspaces, outside, settings.web)
    registry = Registry(platform, _producers(platform, settings) if platform.skills.multimodal else ())
    executions = Executions(platform)
    rules = settings.multimodal
    router = Router(platform, registry, executions, most=rules.cost_tier, ranking=rules.ranking)
    seeing = vision.configured(settings, platform.guarded_calls, platform.budgets)
    studio = Studio(platform, router, executions, assets, partial(_critics, seeing))
    work = CallRunner(
        platform,
        workspaces,
        categories=_categories(platform),
        contents=contents,
        local=local,
        history=history,
        limits=settings,
        chain=chain,
        fetcher=Fetcher(settings.web, platform.clock),
        commands=commands,
        studio=studio,
    )
    effects = Effects(platform, settings, outside)
    on = Handlers(platform, workspaces, work, effects, history, settings, chain)
    room, each, tries = settings.effects_at_once, settings.effects_at_once_per_tenant, settings.effect_attempts
    state = api.ExecutorState(
        platform,
        workspaces,
        local,
        SkillAdmin(platform, local),
        history,
        RemoteAdmin(platform, remote),
        Sources(platform, workspaces, settings),
        contents,
        executions,
        registry,
        assets,
    )
    return Service(
        GROUP,
        [
            Subscription(ToolRequested, on.requested, on.on_dead_letter, fuses=True),
            Subscription(ToolCancelRequested, on.cancelled, urgent=True, fuses=True),
            Subscription(CallsEraseRequested, on.erase),
        ],
        [
            Kind(TOOL, on.run, on.ended, on.failed, settings.calls_at_once, settings.calls_at_once_per_tenant),
            Kind(HISTORY, history.run, history.ended, history.failed, settings.calls_at_once),
            Kind(CONTENTS, cleared.run, cleared.ended, cleared.failed, settings.calls_at_once),
            Kind(ASSETS, assets.run, assets.ended, assets.failed, settings.calls_at_once),
            Kind(EFFECT, effects.run, effects.ended, effects.failed, room, each, tries),
            Kind(SETTLE, effects.settle, effects.settled, effects.unsettled, room, each, tries),
        ],
        schema=SCHEMA,
        api=Api(api.build(state, routes.router, asset_routes.router)),
        queries={"facts": state.facts, "passages": state.passages},
        tasks=[
            commands.sweep,
            indexes.keep_up,
            *([remote.watch] if remote.servers else []),
            *([registry.watch] if platform.skills.multimodal else []),
        ],
    )


def _remote(platform: Platform, settings: Settings, choice: Choice) -> RemoteTools:
    """Return the registry of remote tools, and make it the catalogue's source of them."""
    calls = platform.guarded_calls
    servers: list[Server] = [
        *(
            McpServer(name, given, calls.to(f"mcp:{name}"), choice.backend)
            for name, given in settings.mcp_servers.items()
        ),
        *(A2aAgent(name, given, calls.to(f"a2a:{name}")) for name, given in settings.a2a_agents.items()),
    ]
    remote = RemoteTools(platform.database, platform.clock, servers)
    if servers:
        platform.catalogue.follow(remote.offered)
    return remote


def _producers(platform: Platform, settings: Settings) -> Sequence[Producer]:
    own = (*local(settings.multimodal.plantuml), Composer()) if settings.multimodal.local_producers else ()
    bought = vendors.configured(settings, platform.guarded_calls)
    return (*own, *bought, *loaded(settings.multimodal.producers))


def _critics(seeing: Critic | None, step_type: StepType) -> Sequence[Critic]:
    """Return the critics of an asset; the next one judges where one does not answer."""
    return (*((seeing,) if seeing is not None and step_type is StepType.IMAGE else ()), HeuristicCritic())


def _outside(platform: Platform, remote: RemoteTools, name: str) -> Tool | None:
    return platform.tools.get(name) or remote.get(name)


def _categories(platform: Platform) -> Callable[[], Categories]:
    """Return the categories of the skill as it is now; without that skill all files are Other."""
    kept: dict[str, Categories] = {}

    def now() -> Categories:
        skill = platform.skills.skills.get(CATEGORIES[0])
        if skill is None or CATEGORIES[1] not in skill.files:
            return Categories({})
        if skill.digest not in kept:
            fresh = Categories.read(skill.files[CATEGORIES[1]])
            kept.clear()
            kept[skill.digest] = fresh
        return kept[skill.digest]

    return now
