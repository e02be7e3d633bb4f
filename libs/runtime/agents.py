"""Agents: named allowlists of tools, each with a role, of which a message may choose one (S1-22)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from libs.errors import Rejected


class UnknownAgent(Rejected):
    """No agent of the settings has this name; choose another, or none for the default one."""

    code = "UNKNOWN_AGENT"


class Agent(BaseModel):
    """One agent of the settings. It is no permission: everybody who may send messages may choose it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: tuple[str, ...] = ()
    """Its tool allowlist: names, `family.*` or `*`; by default none."""
    role: str = Field(default="", max_length=200)
    """Its purpose in one line, for people."""
    prompt: str = Field(default="", max_length=4_000)
    """Instructions that models get in addition to those of Suma."""
