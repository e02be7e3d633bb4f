"""Values that several events carry: plans and their steps, bodies, diffs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from libs.events.base import Value

Json = Any
"""Any JSON value. It is parsed against a tool's schema before use."""

Args = dict[str, Any]


class Hitl(StrEnum):
    """When a tool needs a person's approval (S4-34)."""

    ALL = "all"
    KEY = "key"
    BYPASS = "bypass"


class EffectClass(StrEnum):
    """How to recover a tool's call after a crash between its effect and its record (architecture.md 11)."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    RECONCILABLE = "reconcilable"
    COMPENSABLE = "compensable"
    AT_MOST_ONCE = "at_most_once"
    STAGED = "staged"


class StepState(StrEnum):
    """The states of a step (architecture.md 8)."""

    PENDING = "pending"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    DENIED = "denied"
    ROLLED_BACK = "rolled_back"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


POLICY = "policy:"
"""Prefix of a step's error if policy, not a person, denied it."""


def refused(state: StepState, error: str | None) -> bool:
    """Return whether a person, not policy, denied the step."""
    return state is StepState.DENIED and not (error or "").startswith(POLICY)


class Body(Value):
    """JSON of any size: inline up to 64 KiB, otherwise a blob in the tenant's object store, named by its SHA-256."""

    json_: Json = Field(default=None, alias="json")
    sha256: str | None = None
    size: int = 0
    left_alone: dict[str, Json] | None = None
    """The member `left_alone` of a blob, repeated here because an answer needs it without the rest."""
    excerpt: dict[str, Json] | None = None
    """The member `excerpt` of a blob, its shorter form for language models."""


PICTURES, PDF = ("image/png", "image/jpeg", "image/gif", "image/webp"), "application/pdf"
"""The media types of attached files that a model that sees may be shown."""


class Asset(Value):
    """A file of a session that a person may download: GET /v1/assets/{asset_id}."""

    asset_id: str
    filename: str
    media_type: str
    sha256: str
    size: int
    """Bytes."""


class Attached(Value):
    """A file that a message of the session named, as a planner sees it. Its content is data, never instructions."""

    name: str
    media_type: str
    size: int
    """Bytes."""
    sha256: str = ""
    """Its upload, for a model that sees, if it is a picture or a PDF; else empty."""

    @classmethod
    def of(cls, file: Asset) -> Attached:
        """Return a file of a message as a planner sees it."""
        seen = file.media_type in PICTURES or file.media_type == PDF
        sha256 = file.sha256 if seen else ""
        return cls(name=file.filename, media_type=file.media_type, size=file.size, sha256=sha256)


class Budget(Value):
    """Upper bounds of one step or turn; None means the default of the settings."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class Step(Value):
    """One tool call of a plan. `args` may hold references `$step(n).field`, n from 1 (S4-35)."""

    step_id: str
    ordinal: int = Field(ge=1)
    description: str
    skill: str | None = None
    tool: str
    args: Args = Field(default_factory=dict)
    depends_on: tuple[int, ...] = ()
    constraints: dict[str, Json] = Field(default_factory=dict)
    quality_gate: dict[str, Json] | None = None
    budget: Budget | None = None
    mutates: bool = False
    tool_digest: str | None = None
    """Digest of the tool definition that this was planned with; the step never runs with another one."""


class ToolCall(Value):
    """One call of a tool that a program asks for itself, in place of a plan."""

    tool: str
    args: Args = Field(default_factory=dict)


class Plan(Value):
    """An ordered DAG of steps (S0-11, S4-40)."""

    plan_id: str
    reasoning: str = ""
    steps: tuple[Step, ...] = ()
    complete: bool = True
    """True if the planner expects nothing more after these steps; otherwise it plans again with their results."""


class Review(Value):
    """One verdict of the critic (S0-17). `by` is the check that decided, such as `scope` or `model`."""

    approved: bool
    reason: str = ""
    by: str = ""
    step: int | None = None


class Candidate(Value):
    """A skill that may match, with its calibrated score from 0 to 1 (S4-46)."""

    skill: str
    score: float
    description: str = ""


class Observation(Value):
    """The result of a finished step, as the planner and the answer see it."""

    ordinal: int
    tool: str
    description: str
    state: StepState
    summary: str = ""
    data: Json = None
    excerpt: Json = None
    """A shorter form of data that is too large to be here, for language models alone."""
    left_alone: dict[str, Json] | None = None
    """The nodes that the step skipped by default: repositories, system files, names with unusual characters
    (docs/files.md).
    """
    error: str | None = None
    staged: bool = False
    """Whether the step staged changes, which a commit makes, or leaves out."""


class DiffEntry(Value):
    """One file that the stage changes. Paths are relative to the workspace's root."""

    change: str
    """deleted | overwritten | changed | moved | created. An overwritten file is another file at the same path."""
    path: str
    source: str | None = None
    """The previous path of a moved file, or the original of a copy."""
    kind: str = "file"
    size: int = 0
    reason: str = ""
    files: int = 0
    """The number of files in a deleted or moved folder."""
    same_as: str | None = None
    """For a deleted duplicate, the path of the file with the same bytes that stays."""
    preview: str | None = None
    """For a created, changed or overwritten text, the beginning of the unified diff of its contents, without a head."""
    preview_cut: bool = False
    """Whether the diff of the contents goes on after `preview`; GET …/content returns both sides."""


class DiffGroup(Value):
    """The changes of one kind in one folder: the folder they end in, for deletions the one they were in."""

    change: str
    folder: str = ""
    """Empty for the workspace itself."""
    count: int
    things: int
    """`count`, with everything in deleted folders."""
    size: int = 0


class Diff(Value):
    """The net change of a stage. All counts and `groups` are of the whole change, the riskiest kind first: deleted,
    overwritten, changed, moved, created. `entries`, in the same order, begins with at most 200 of `count`;
    GET …/diff pages through all.
    """

    version: int
    count: int
    created: int = 0
    changed: int = 0
    overwritten: int = 0
    deleted: int = 0
    moved: int = 0
    bytes_freed: int = 0
    kept_days: float | None = None
    """For how many days the deleted bytes stay in history; None if nothing is deleted."""
    digest: str = ""
    """SHA-256 over all entries, so that a question is bound to those that an event has no room for."""
    groups: tuple[DiffGroup, ...] = ()
    more_groups: int = 0
    """The number of groups that `groups` has no room for."""
    entries: tuple[DiffEntry, ...] = ()

    @property
    def things(self) -> int:
        """Number of files and folders that change: the entry of a deleted folder counts with all of its contents."""
        return self.created + self.changed + self.overwritten + self.deleted + self.moved


class Touched(Value):
    """The kinds of content that something rests on. A missing field, as in an older event, counts as touched."""

    private: bool = True
    """Names or contents of a person's files, memories, or what another system knows of them."""
    untrusted: bool = True
    """Text that others may have written: contents of files, pages, answers of external tools."""
    secret: bool = True
    """Contents of a file whose name says that it holds keys or passwords."""

    def plus(self, later: Touched) -> Touched:
        """Return the union: what was touched once stays touched. Most calls of a session add nothing."""
        union = {name: had or later.facts[name] for name, had in self.facts.items()}
        return self if union == self.facts else Touched(**union)

    @property
    def facts(self) -> dict[str, bool]:
        """The kinds, as facts for policy."""
        return {"private": self.private, "untrusted": self.untrusted, "secret": self.secret}


class Mark(Value):
    """The first content of a kind that a session has read. Later content of the kind adds no mark."""

    kind: Literal["private", "untrusted", "secret"]
    turn_id: str
    step_id: str = ""
    """Empty where it was read before the plan: the folder's facts and the session's memories."""
    source: str = ""
    """The address, command or path that was read; else the tool."""


NOTHING = Touched(private=False, untrusted=False, secret=False)
NAMES = Touched(private=True, untrusted=False, secret=False)
"""Names, sizes, times and hashes of a person's files."""


class Usage(Value):
    """Token usage of a model call. `cost_micros` is in millionths of a US dollar."""

    model: str = "offline"
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0

    def plus(self, later: Usage) -> Usage:
        """Return the sum, under the later model's name."""
        return Usage(
            model=later.model,
            input_tokens=self.input_tokens + later.input_tokens,
            output_tokens=self.output_tokens + later.output_tokens,
            cost_micros=self.cost_micros + later.cost_micros,
        )
