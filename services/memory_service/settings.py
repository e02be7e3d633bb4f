"""The memory service's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    block_tokens: int = Field(default=2_000, ge=50)
    """Tokens of the `<memory>` block of a prompt, about four letters each."""
    extract_after: float = Field(default=1_800.0, ge=0)
    """Seconds of silence after which a session has ended, and facts are extracted from it."""
    load_memories: int = Field(default=500, ge=1)
    """Memories that may wait for consolidation: more than 0.8 of them start a sleep."""
    mind_seconds: float = Field(default=5.0, ge=0)
    """Seconds for which recalls use a person's feedback and neuromodulators as they were read."""
    index_from: int = Field(default=3_000, ge=2)
    """Memories of one scope from which an index proposes what is compared; below, all are."""
