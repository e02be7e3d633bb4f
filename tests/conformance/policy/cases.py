"""The authorization matrix: every action with questions that must be allowed and questions that must be denied."""

from __future__ import annotations

from dataclasses import dataclass, field

Fields = dict[str, object]


@dataclass(frozen=True)
class Case:
    """One question of a principal with `scopes`, and its expected answer."""

    says: str
    action: str
    scopes: tuple[str, ...]
    allowed: bool
    fields: Fields = field(default_factory=dict)
    owes: tuple[str, ...] = ()
    settings: Fields = field(default_factory=dict)
    """Settings of data.json that differ for this case."""

    @property
    def input(self) -> Fields:
        asker = {"id": "ada", "scopes": list(self.scopes)}
        return {"tenant": "acme", "principal": asker, "session": "s1", "turn": "t1", **self.fields}


CLEAN: Fields = {"private": False, "untrusted": False, "secret": False}
TAINTED: Fields = {**CLEAN, "untrusted": True}

READ: Fields = {
    "tool": "list_directory",
    "effect_class": "pure",
    "mutates": False,
    "leaves_machine": False,
    "args_digest": "0" * 64,
    "skill": None,
    "epoch": 0,
    "allowed_tools": ["*"],
    "touched": CLEAN,
    "destination": None,
    "paths_in_scope": True,
    "approved": False,
    "hitl": "key",
}
STAGE: Fields = {**READ, "tool": "move_file", "effect_class": "staged", "mutates": True}
SEND: Fields = {**READ, "tool": "web_fetch", "leaves_machine": True, "destination": "example.org"}
LEAK: Fields = {**SEND, "touched": TAINTED}
SAVE: Fields = {**STAGE, "tool": "memory.remember", "effect_class": "idempotent"}
DRAWING: Fields = {
    "tool": "drawing",
    "provider": "local",
    "step_type": "generate_diagram",
    "destination": None,
    "leaves_machine": False,
    "touched": TAINTED,
    "cost_tier": "free",
    "cost_micros": 0,
    "paid": False,
    "paid_today": 100,
    "fallback": False,
    "approved": False,
    "payload_seen": False,
    "hitl": "key",
}
BUYING: Fields = {
    **DRAWING,
    "provider": "acme",
    "destination": "example.org",
    "leaves_machine": True,
    "touched": CLEAN,
    "cost_tier": "high",
    "cost_micros": 40_000,
    "paid": True,
    "paid_today": 100,
}
HARMLESS: Fields = {"mutates": False, "leaves_machine": False, "costs_money": False}

ASKED = ("approval",)
SHOWN = ("human_sees_payload",)
BOTH = ("approval", "human_sees_payload")

SPEAK = "conversation.send"
OPEN = "session.create"
TOOL = "tool.execute"
KEEP = "memory.write"
MAKE = "multimodal.tool.execute"
PROMPT = "provenance.store_full_prompt"
SPARE = "committee.exempt"
DECIDE = "approval.decide"

MATRIX = [
    Case("a chatter speaks", SPEAK, ("chat",), True, {"length": 5}),
    Case("the owner speaks", SPEAK, ("*",), True, {"length": 0}),
    Case("a reader does not speak", SPEAK, ("files:read",), False, {"length": 5}),
    Case("nobody speaks too long", SPEAK, ("*",), False, {"length": 200_001}),
    Case("a length of null is none", SPEAK, ("*",), False, {"length": None}),
    Case("a length in words is none", SPEAK, ("*",), False, {"length": "5"}),
    Case("a chatter opens a session", OPEN, ("chat",), True, {"root": None}),
    Case("a reader opens a folder", OPEN, ("chat", "files:read"), True, {"root": "/srv/shared"}),
    Case("a chatter opens no folder", OPEN, ("chat",), False, {"root": "/srv/shared"}),
    Case("a reader reads", TOOL, ("files:read",), True, READ),
    Case("a chatter does not read", TOOL, ("chat",), False, READ),
    Case("mode all asks", TOOL, ("*",), True, {**READ, "hitl": "all"}, ASKED),
    Case("an unknown mode asks", TOOL, ("*",), True, {**READ, "hitl": "never"}, ASKED),
    Case("a writer stages when approved", TOOL, ("files:write",), True, {**STAGE, "approved": True}),
    Case("a change is asked for", TOOL, ("files:write",), True, STAGE, ASKED),
    Case("a text is not an approval", TOOL, ("*",), True, {**STAGE, "approved": "true"}, ASKED),
    Case("a reader does not stage", TOOL, ("files:read",), False, STAGE),
    Case("bypass stages", TOOL, ("*",), True, {**STAGE, "hitl": "bypass"}),
    Case(
        "bypass asks where staging cannot",
        TOOL,
        ("*",),
        True,
        {**STAGE, "effect_class": "at_most_once", "hitl": "bypass"},
        ASKED,
    ),
    Case(
        "the settings spare a tool",
        TOOL,
        ("*",),
        True,
        {**STAGE, "effect_class": "at_most_once", "hitl": "bypass"},
        settings={"unattended_tools": ["move_file"]},
    ),
    Case("a writer fetches", TOOL, ("files:write",), True, SEND),
    Case("a reader does not reach out", TOOL, ("files:read",), False, SEND),
    Case("untrusted content is shown", TOOL, ("*",), True, LEAK, SHOWN),
    Case("an approval alone shows nothing", TOOL, ("*",), True, {**LEAK, "approved": True}, SHOWN),
    Case("a payload seen is settled", TOOL, ("*",), True, {**LEAK, "approved": True, "payload_seen": True}),
    Case("a payload seen is no approval", TOOL, ("*",), True, {**LEAK, "payload_seen": True}, SHOWN),
    Case("a secret is shown", TOOL, ("*",), True, {**SEND, "touched": {**CLEAN, "secret": True}}, SHOWN),
    Case("bypass shows too", TOOL, ("*",), True, {**LEAK, "mutates": True, "hitl": "bypass"}, BOTH),
    Case("unknown hands are tainted", TOOL, ("*",), True, {**SEND, "touched": {}}, SHOWN),
    Case("a tool off the list", TOOL, ("*",), False, {**READ, "allowed_tools": ["move_file"]}),
    Case("an empty list", TOOL, ("*",), False, {**READ, "allowed_tools": []}),
    Case("a tool on the list", TOOL, ("*",), True, {**READ, "allowed_tools": ["list_directory"]}),
    Case("a path out of scope", TOOL, ("*",), False, {**READ, "paths_in_scope": False}),
    Case("a scope in words", TOOL, ("*",), False, {**READ, "paths_in_scope": "yes"}),
    Case("an unknown effect", TOOL, ("*",), False, {**READ, "effect_class": "magic"}),
    Case("a blocked tool", TOOL, ("*",), False, READ, settings={"blocked_tools": ["x", "list_directory"]}),
    Case("a lost block list", TOOL, ("*",), False, READ, settings={"blocked_tools": None}),
    Case("the metadata server", TOOL, ("*",), False, {**SEND, "destination": "169.254.169.254"}),
    Case("remembering has a scope", TOOL, ("memory",), True, {**SAVE, "approved": True}),
    Case("remembering owes nothing before texts of others", TOOL, ("memory",), True, SAVE),
    Case("remembering after texts of others asks", TOOL, ("memory",), True, {**SAVE, "touched": TAINTED}, ASKED),
    Case("remembering in mode all asks", TOOL, ("memory",), True, {**SAVE, "hitl": "all"}, ASKED),
    Case("lost memory tools ask", TOOL, ("memory",), True, SAVE, ASKED, settings={"memory_tools": None}),
    Case("writing is not remembering", TOOL, ("files:write",), False, SAVE),
    Case("memory is read with its scope", "memory.read", ("memory",), True, {"user": "ada"}),
    Case("memory is not read without it", "memory.read", ("chat",), False, {"user": "ada"}),
    Case("one's own memory", KEEP, ("memory",), True, {"kind": "fact", "user": "ada"}),
    Case("the owner keeps for others", KEEP, ("*",), True, {"kind": "fact", "user": "bob"}),
    Case("another's memory", KEEP, ("memory",), False, {"kind": "fact", "user": "bob"}),
    Case("memory without its scope", KEEP, ("chat",), False, {"kind": "fact", "user": "ada"}),
    Case("an unknown kind", KEEP, ("*",), False, {"kind": "gossip", "user": "ada"}),
    Case("a harmless plan is exempt", SPARE, (), True, HARMLESS),
    Case("a change is not exempt", SPARE, ("*",), False, {**HARMLESS, "mutates": True}),
    Case("cost is not exempt", SPARE, ("*",), False, {**HARMLESS, "costs_money": True}),
    Case("what leaves is not exempt", SPARE, ("*",), False, {**HARMLESS, "leaves_machine": True}),
    Case("silence is not exempt", SPARE, ("*",), False),
    Case("a writer approves", DECIDE, ("files:write",), True, {"verdict": "approve"}),
    Case("a writer overrides", DECIDE, ("files:write",), True, {"verdict": "override"}),
    Case("a chatter denies", DECIDE, ("chat",), True, {"verdict": "deny"}),
    Case("a chatter does not approve", DECIDE, ("chat",), False, {"verdict": "approve"}),
    Case("a commit is asked for", "workspace.commit", ("files:write",), True, {"approved": False}, ASKED),
    Case("an approved commit", "workspace.commit", ("files:write",), True, {"approved": True}),
    Case("a reader commits nothing", "workspace.commit", ("files:read",), False, {"approved": True}),
    Case("a writer rolls back", "workspace.rollback", ("files:write",), True),
    Case("a reader rolls nothing back", "workspace.rollback", ("files:read",), False),
    Case("a writer purges history", "workspace.purge", ("files:write",), True),
    Case("a reader purges nothing", "workspace.purge", ("chat", "files:read"), False),
    Case("a reader reads changed files", "workspace.read", ("files:read",), True),
    Case("a chatter reads none", "workspace.read", ("chat",), False),
    Case("a writer makes an example folder", "workspace.example", ("files:write",), True),
    Case("a reader makes none", "workspace.example", ("chat", "files:read"), False),
    Case("a writer says that an effect happened", "effect.resolve", ("files:write",), True, {"verdict": "happened"}),
    Case("or that it did not", "effect.resolve", ("files:write",), True, {"verdict": "did_not_happen"}),
    Case("a reader does not say so", "effect.resolve", ("chat", "files:read"), False, {"verdict": "happened"}),
    Case("nobody says perhaps", "effect.resolve", ("*",), False, {"verdict": "perhaps"}),
    Case("a reader fetches what was made of files", "asset.read", ("files:read",), True),
    Case("a chatter does not fetch it", "asset.read", ("chat",), False),
    Case("an admin alone does not either", "asset.read", ("admin",), False),
    Case("a writer uploads a file", "asset.write", ("files:write",), True),
    Case("a reader does not upload", "asset.write", ("chat", "files:read"), False),
    Case("a writer deletes an upload", "asset.delete", ("files:write",), True),
    Case("a reader does not delete it", "asset.delete", ("chat", "files:read"), False),
    Case("an admin replays", "admin.dlq.write", ("admin",), True),
    Case("a writer does not administer", "admin.dlq.write", ("chat", "files:write"), False),
    Case("who may replay replays", "admin.dlq.write", ("admin.dlq.write",), True),
    Case("who may look does not replay", "admin.dlq.write", ("admin.dlq.read",), False),
    Case("who may look at dead letters looks", "admin.dlq.read", ("admin.dlq.read",), True),
    Case("who may replay alone does not look", "admin.dlq.read", ("admin.dlq.write",), False),
    Case("who may look at what waits looks", "admin.requeue.read", ("admin.requeue.read",), True),
    Case("a chatter does not look at what waits", "admin.requeue.read", ("chat",), False),
    Case("who may hurry what waits does", "admin.requeue.write", ("admin.requeue.write",), True),
    Case("who may look hurries nothing", "admin.requeue.write", ("admin.requeue.read",), False),
    Case("who may look at the bus looks", "admin.bus.read", ("admin.bus.read",), True),
    Case("a reader of files is none of the bus", "admin.bus.read", ("files:read",), False),
    Case("who may approve skills does", "admin.skills", ("admin.skills",), True),
    Case("a writer approves no skill", "admin.skills", ("chat", "files:write"), False),
    Case("an auditor exports", "admin.audit", ("admin.audit",), True),
    Case("a chatter does not export", "admin.audit", ("chat",), False),
    Case("a name that only looks like admin", "administer.dlq", ("admin",), False),
    Case("a holder of admin.roots adds a root", "admin.roots", ("admin.roots",), True),
    Case("an admin adds no root", "admin.roots", ("admin",), False),
    Case("nor below it", "admin.roots.add", ("admin",), False),
    Case("a chatter adds a webhook", "webhook.add", ("chat",), True, {"destination": "hooks.example.org"}),
    Case("a writer without chat adds none", "webhook.add", ("files:write",), False, {"destination": "example.org"}),
    Case("nor to a metadata server", "webhook.add", ("*",), False, {"destination": "169.254.169.254"}),
    Case("a chatter cancels a turn", "turn.cancel", ("chat",), True),
    Case("a reader cancels none", "turn.cancel", ("files:read",), False),
    Case("a chatter reads its sessions", "session.read", ("chat",), True),
    Case("an auditor reads sessions", "session.read", ("sessions:read",), True),
    Case("the owner reads sessions", "session.read", ("*",), True),
    Case("a reader of files alone reads none", "session.read", ("files:read",), False),
    Case("a chatter sees the tools", "catalogue.read", ("chat",), True),
    Case("the owner sees the tools", "catalogue.read", ("*",), True),
    Case("no scope shows no tools", "catalogue.read", (), False),
    Case("a chatter shares a session", "session.share", ("chat",), True),
    Case("a writer without chat does not", "session.share", ("files:write",), False),
    Case("an admin manages keys", "admin.keys.write", ("admin",), True),
    Case("who may see keys makes none", "admin.keys.write", ("admin.keys.read",), False),
    Case("a reader of keys sees them", "admin.keys.read", ("admin.keys.read",), True),
    Case("a chatter sees no keys", "admin.keys.read", ("chat",), False),
    Case("the platform's tenant manages tenants", "admin.tenants.write", ("admin.tenants",), True, {"tenant": "local"}),
    Case("its admin does not", "admin.tenants.write", ("admin",), False, {"tenant": "local"}),
    Case("another tenant never does", "admin.tenants.write", ("*",), False),
    Case(
        "the platform's operator sees figures", "admin.metrics.read", ("admin.metrics.read",), True, {"tenant": "local"}
    ),
    Case("another tenant sees none", "admin.metrics.read", ("*",), False),
    Case("the platform's admin sees settings", "admin.settings.read", ("admin",), True, {"tenant": "local"}),
    Case("another tenant's admin does not", "admin.settings.read", ("admin",), False),
    Case("the platform's admin approves tools", "admin.tools", ("admin.tools",), True, {"tenant": "local"}),
    Case("another tenant's admin approves none", "admin.tools", ("admin",), False),
    Case("a reader of the bus does not", "admin.settings.read", ("admin.bus.read",), False, {"tenant": "local"}),
    Case("a writer draws on this machine", MAKE, ("files:write",), True, DRAWING),
    Case("no full prompt is kept by default", PROMPT, ("*",), False),
    Case("a full prompt is kept", PROMPT, ("files:write",), True, settings={"full_prompts": True}),
    Case("a reader's prompt is not", PROMPT, ("files:read",), False, settings={"full_prompts": True}),
    Case("a reader draws nothing", MAKE, ("files:read",), False, DRAWING),
    Case("a writer buys a picture", MAKE, ("files:write",), True, BUYING),
    Case("beyond the day's quota nobody buys", MAKE, ("*",), False, {**BUYING, "paid_today": 101}),
    Case("an unknown number is no quota", MAKE, ("*",), False, {**BUYING, "paid_today": None}),
    Case("no picture goes to a metadata server", MAKE, ("*",), False, {**BUYING, "destination": "169.254.169.254"}),
    Case("a tier that is not allowed", MAKE, ("*",), False, {**BUYING, "cost_tier": "luxury"}),
    Case("a blocked provider", MAKE, ("*",), False, BUYING, settings={"blocked_providers": ["acme"]}),
    Case("another one stands in", MAKE, ("*",), True, {**BUYING, "fallback": True}),
    Case(
        "none may stand in", MAKE, ("*",), False, {**BUYING, "fallback": True}, settings={"multimodal_fallback": False}
    ),
    Case(
        "words of strangers leave only before a person's eyes",
        MAKE,
        ("*",),
        True,
        {**BUYING, "touched": TAINTED},
        owes=SHOWN,
    ),
    Case("nobody makes coffee", "make.coffee", ("*",), False),
]
