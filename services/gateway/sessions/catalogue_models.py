"""Models of the tool executor's answers: tools, skills, snapshots, the tree, and the history of a folder."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from libs.events import Diff
from services.gateway.http.models import ResponseModel

EffectClass = Literal["pure", "idempotent", "reconcilable", "compensable", "at_most_once", "staged"]


class ToolShown(ResponseModel):
    """A tool. `params` is the JSON Schema of its arguments."""

    name: str
    skill: str
    description: str
    mutates: bool
    effect_class: EffectClass
    risks: list[Literal["reads", "changes", "network", "cost", "secret"]]
    source: Literal["skill", "package", "server"]
    """Where it comes from: a skill, a package of the settings, or a server of tools."""
    params: dict[str, Any]


class ToolList(ResponseModel):
    tools: list[ToolShown]


class AgentShown(ResponseModel):
    """An agent that a message may choose. `tools` is its allowlist: names, `family.*` or `*`."""

    name: str
    role: str
    tools: list[str]


class AgentList(ResponseModel):
    agents: list[AgentShown]


class RemoteTool(ResponseModel):
    """A tool of another server. Only an `offered` one can be planned and called. `hints` are the server's own words."""

    name: str
    state: Literal["offered", "new", "changed", "gone", "unusable"]
    reason: str
    digest: str
    description: str
    params: dict[str, Any]
    hints: dict[str, Any]
    effect_class: EffectClass
    approved_by: str | None
    approved_at: datetime | None
    approved_description: str | None
    """The description that was approved, to compare a changed one with."""


class RemoteServer(ResponseModel):
    """A server of tools. `problem` says why its tools could not be listed; an empty `tenants` means all."""

    name: str
    protocol: str
    address: str
    tenants: list[str]
    listed_at: datetime | None
    problem: str
    tools: list[RemoteTool]


class RemoteServerList(ResponseModel):
    servers: list[RemoteServer]


class RemoteToolRevoked(ResponseModel):
    name: str
    state: Literal["revoked"]


class SkillShown(ResponseModel):
    """A skill. `reason` says why it is off, or what is wrong with a newer version; a broken one has no `digest`."""

    name: str
    kind: str | None
    source: str | None
    state: Literal["on", "off"]
    reason: str
    id: str | None
    version: str | None
    description: str
    tags: list[str]
    tools: list[str]
    digest: str | None
    folder: str
    problems: list[str]


class SkillFound(SkillShown):
    """A skill; with `query`, also its similarity from 0 to 1."""

    score: float | None = None


class SkillList(ResponseModel):
    skills: list[SkillFound]
    problems: dict[str, list[str]]
    """Problems by skill name."""
    choices: tuple[str, ...] = ()
    """With `query`: the skills in use that it may mean. One is sure; among several a person must choose."""


class DeclaredTool(ResponseModel):
    """A tool as its skill declares it."""

    name: str
    description: str
    mutates: bool
    effect: str
    params: dict[str, Any]
    examples: list[Any]


class SkillRead(SkillShown):
    """A skill in full; a broken one has only the fields above."""

    instructions: str | None = None
    files: dict[str, int] | None = None
    """Sizes in bytes by path."""
    programs: dict[str, str] | None = None
    """The texts of its programs by path: what an approval lets run in the sandbox."""
    declared: list[DeclaredTool] | None = None


class SkillRevoked(ResponseModel):
    name: str
    state: Literal["off"]


class GraphNode(ResponseModel):
    """A file, folder or other entry of the staged tree."""

    id: int
    name: str
    kind: str
    ino: int
    size: int
    mtime_ns: int | None
    """Null for an entry that is staged and not written yet."""
    mode: int
    ctime_ns: int


class GraphEdge(ResponseModel):
    """A folder (`source`) and what it contains (`target`)."""

    source: int
    target: int


class Graph(ResponseModel):
    """The staged tree in networkx's node-link form (S4-26)."""

    directed: bool
    multigraph: bool
    graph: dict[str, Any]
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class Snapshot(ResponseModel):
    snapshot_id: str
    version: int
    step_id: str | None
    at: datetime


class SnapshotList(ResponseModel):
    snapshots: list[Snapshot]


class FileContent(ResponseModel):
    """The beginning of a file. `text` is null if it is not UTF-8 text; then `base64` holds the bytes."""

    path: str
    side: Literal["before", "after"]
    size: int
    truncated: bool
    text: str | None
    base64: str | None


class ChangeCounts(ResponseModel):
    created: int
    changed: int
    moved: int
    deleted: int


class CommitShown(ResponseModel):
    """A commit of a folder. A folder that was copied here has commits without a session: their state is `unknown`."""

    commit_id: str
    session_id: str | None
    turn_id: str | None
    at: datetime
    state: str
    operations: int | None
    changes: ChangeCounts | None
    bytes: int
    """The size of its history."""
    undoable: bool
    redoable: bool
    """Whether it was rolled back, and its history is still there to make its changes again."""
    undo_until: datetime | None


class DiffPage(Diff):
    """The net change of a stage, with a page of its entries."""

    next: int | None = None
    """The `after` of the next page; None after the last."""


class FolderShown(ResponseModel):
    """A typed folder: `needs_permission` until its machine's owner allows it with `suma roots add`."""

    path: str
    state: Literal["allowed", "needs_permission", "missing", "refused"]
    detail: str
    suggestions: list[str]
    """Folders inside allowed ones whose path begins with the typed text."""


class CommitLog(ResponseModel):
    root: str
    bytes: int
    commits: list[CommitShown]


class Purged(ResponseModel):
    """The commits whose history is gone. A long removal continues after the answer: `running`."""

    root: str
    state: Literal["done", "running"]
    commits: list[str]
    bytes: int
