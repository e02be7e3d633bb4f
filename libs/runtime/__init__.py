"""The runtime: the platform of ports, the services, and the host that runs them."""

from libs.runtime.agents import Agent, UnknownAgent
from libs.runtime.effective_settings import EffectiveSetting, Source
from libs.runtime.health import Health
from libs.runtime.host import Running
from libs.runtime.host_guard import HostGuard, refusal
from libs.runtime.permission import PolicyDenied, permitted
from libs.runtime.platform import Platform
from libs.runtime.service import Api, Kind, Projection, Service, Subscription
from libs.runtime.shutdown import Shutdown

__all__ = [
    "Agent",
    "Api",
    "EffectiveSetting",
    "Health",
    "HostGuard",
    "Kind",
    "Platform",
    "PolicyDenied",
    "Projection",
    "Running",
    "Service",
    "Shutdown",
    "Source",
    "Subscription",
    "UnknownAgent",
    "host",
    "permission",
    "permitted",
    "problem_details",
    "refusal",
]
