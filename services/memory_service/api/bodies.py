"""The JSON bodies of the API's requests and responses. An unknown field is rejected."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from libs.events import KnownFact
from services.memory_service.domain import facts
from services.memory_service.domain.ranking import Recalled
from services.memory_service.store import SESSION

TEXT_MOST = 100_000

Name = Annotated[str, Field(min_length=1, max_length=200)]


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Write(Body):
    scopes: tuple[Name, ...] = ()
    """The person's scopes, for policy."""


class Remember(Write):
    text: str = Field(min_length=1, max_length=TEXT_MOST)
    kind: Name = "message"
    universe: Name = SESSION
    memory_id: Name | None = None
    """An id set by a caller that may repeat the request: the same id is the same memory."""
    source: str = Field(default="", max_length=2_000)
    confidence: float = Field(default=1, ge=0, le=1)
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class Recall(Body):
    query: str = Field(max_length=TEXT_MOST)
    top_k: int = Field(default=5, ge=1, le=100)
    universe: Name = SESSION
    session: Name | None = None
    fitting: bool = False
    """Whether to leave out memories that fit too little to be used."""


class Fact(Write):
    subject: str = Field(default=facts.ME, max_length=facts.SUBJECT_MOST)
    key: str = Field(min_length=1, max_length=facts.KEY_MOST)
    value: str = Field(min_length=1, max_length=facts.VALUE_MOST)
    many: bool = False
    """Whether it is true beside other values of the setting; otherwise it replaces them."""


class Feedback(Write):
    subject: Name
    score: float = Field(ge=-1, le=1)
    comment: str = Field(default="", max_length=10_000)
    feedback_id: Name | None = None
    """An id set by a caller that may change its mind: the same id is the same feedback."""


class Memories(Body):
    memories: tuple[Recalled, ...]
    fits: bool = True
    """Whether any of them fits; if not, nothing is known that answers the query."""
    waiting: int = 0
    """The person's memories that are not consolidated yet, counted up to 1,000."""
    lagging: bool = False
    """Some vectors are of an earlier embedder; a lease replaces them."""


class Facts(Body):
    facts: tuple[facts.Fact, ...]


class Known(Body):
    facts: tuple[KnownFact, ...]


class Id(Body):
    id: str


class Block(Body):
    block: str


class Forgotten(Body):
    forgotten: int
