"""The ports: a capability, the producer behind it, and what goes in and out of it (docs/decisions/0130)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol
from unicodedata import category

from libs.errors import Rejected
from libs.multimodal.renderer.labels import is_wide

Json = Any
MEDIA_TYPES: Mapping[str, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "html": "text/html",
    "markdown": "text/markdown",
}
"""The media type of each format that a producer may return."""
NAMED_MOST = 20
"""Letters that a warning names."""
MAX_REWORK = 2
"""How often a producer tries again with the critique of its last result (S3-24)."""


class Modality(StrEnum):
    """The kind of an asset."""

    IMAGE = "image"
    DOCUMENT = "document"


class StepType(StrEnum):
    """A kind of task; each is one tool of the skill `make-documents`."""

    DIAGRAM = "generate_diagram"
    CHART = "generate_chart"
    IMAGE = "generate_image"
    ARRANGE = "compose_image"
    CAPTURE = "capture_page"
    COMPOSE = "compose_srs"

    @property
    def modality(self) -> Modality:
        """The kind of asset that it makes."""
        return Modality.DOCUMENT if self is StepType.COMPOSE else Modality.IMAGE


class CostTier(StrEnum):
    """The cost of a capability, cheapest first (S3-28)."""

    FREE = "free"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return list(CostTier).index(self)


@dataclass(frozen=True, slots=True)
class Capability:
    """An entry of the registry (S3-28). Identified by tool and provider; `priority` orders equals, lowest first."""

    tool_id: str
    provider: str
    step_types: frozenset[StepType]
    modalities: frozenset[Modality]
    formats: tuple[str, ...]
    """The formats that it can return, its preferred one first; keys of `MEDIA_TYPES`."""
    languages: frozenset[str] = frozenset()
    """The diagram languages that it reads; empty where it reads none."""
    constraints: Mapping[str, Json] = field(default_factory=dict)
    """Limits such as `{"max_resolution": 1792}`, in pixels of the longer side."""
    cost_tier: CostTier = CostTier.FREE
    cost_micros: int = 0
    """The most that one attempt costs, in millionths of a US dollar."""
    priority: int = 100
    destination: str | None = None
    """The host that receives the prompt; None for work on this machine."""
    revises: bool = False
    """Whether the critiques of earlier attempts (`Brief.feedback`) change what it makes."""

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.tool_id}"


@dataclass(frozen=True, slots=True)
class Input:
    """An asset that a task builds on, with what a document says about it."""

    asset_id: str
    data: bytes
    media_type: str
    title: str = ""
    text: str = ""
    """A description in words: its caption, and the text for people who cannot see it."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Facts for the appendix: what made it, from which source, when; texts only."""


@dataclass(frozen=True, slots=True)
class Brief:
    """A request to a producer. Everything in it may come from strangers."""

    step_type: StepType
    format: str
    title: str = ""
    prompt: str = ""
    """A request in words; for pictures."""
    source: str = ""
    """The text of a diagram, or a chart's Vega-Lite specification as JSON."""
    language: str = ""
    """The language of `source`: `mermaid`, `dot`, `plantuml`, `d2` or `vega-lite`."""
    content: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of the step type: sections of a document, the layout of pictures."""
    inputs: Sequence[Input] = ()
    max_resolution: int = 1920
    """The most pixels of the longer side of a picture."""
    feedback: Sequence[str] = ()
    """The critiques of the earlier attempts, oldest first."""
    key: str = ""
    """The same in every repetition of one attempt: an idempotency key for a provider that takes one."""


@dataclass(frozen=True, slots=True)
class Made:
    """A producer's result. `labels` are the words that must be legible in it, where it knows them."""

    data: bytes
    format: str
    width: int = 0
    height: int = 0
    labels: tuple[str, ...] = ()
    cost_micros: int = 0
    model: str = ""
    """The model or program and its version, for the provenance."""
    parameters: Mapping[str, Json] = field(default_factory=dict)

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[self.format]

    @property
    def undrawn(self) -> float:
        """The share of its letters, from 0 to 1, that no font of this machine has."""
        return float(self.parameters.get("measured", {}).get("undrawn_share", 0.0))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lacks that people must know of: the letters that no font has, and the packages of fonts that have them."""
        if not (letters := str(self.parameters.get("measured", {}).get("undrawn", ""))):
            return ()
        packages = " ".join(sorted({_fonts(letter) for letter in letters}))
        some = "and others " if len(letters) > NAMED_MOST else ""
        return (f"no font here has {' '.join(letters[:NAMED_MOST])} {some}(they show as boxes); install {packages}",)


def _fonts(letter: str) -> str:
    """Return the Debian package of fonts for a letter."""
    if category(letter) == "So":
        return "fonts-noto-color-emoji"
    return "fonts-noto-cjk" if is_wide(letter) else "fonts-noto-core"


class CannotProduce(Rejected):
    """The request cannot be produced as it is; the message names the line or the field, and the mend."""

    code = "CANNOT_PRODUCE"

    def __init__(self, message: str = "", *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """The line of the source with the error, from 1."""


class Producer(Protocol):
    """Makes assets of one capability. Stateless, and used for all tenants concurrently."""

    @property
    def capability(self) -> Capability: ...

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Make it. `check` is called repeatedly, and raises on a cancel; all processes of the call are gone then.

        Raises:
            CannotProduce: the brief is at fault; the same brief fails again.
            Rejected: it will not be done, such as for a limit or a provider's refusal.
            Unavailable: the producer does not answer; another try may succeed.
        """
        ...

    async def problem(self) -> str:
        """Return why it cannot work at the moment, in a sentence; empty if it can. For the health check (S3-29)."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """A critic's judgement. `scores` are from 0 to 1 by criterion: clarity, relevance, aesthetic."""

    passed: bool
    scores: Mapping[str, float]
    critique: tuple[str, ...] = ()
    """Changes to make, one sentence each; given to the next attempt."""
    judge: str = "heuristics"

    @property
    def quality(self) -> float:
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0


class Critic(Protocol):
    """Judges an asset by a rubric (S3-24)."""

    async def judge(
        self, brief: Brief, made: Made, rubric: Mapping[str, float], *, check: Callable[[], None]
    ) -> Verdict:
        """Judge it. `rubric` has the least score of each criterion. Never raises for a bad asset: that is a verdict.

        Raises:
            Unavailable: the judge does not answer.
        """
        ...
