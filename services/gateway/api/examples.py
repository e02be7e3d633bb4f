"""Examples of the contract, by model, media type and parameter: one session in which Ada tidies her downloads.

A test checks each one against its schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SESSION, TURN, MESSAGE = (
    "0199c2f0-4a10-7c3e-8a51-6d1f0b6a2c01",
    "0199c2f0-4a11-7d02-9b3c-0f5e2d9c7a11",
    "0199c2f0-4a11-7e44-8c0d-5b2a1f3e6d22",
)
REQUEST, APPROVAL, EFFECT = (
    "0199c2f0-9b02-7a5c-b1de-3c4f5a6b7c33",
    "0199c2f0-7f31-7b1a-a6c2-8e9d0c1b2a44",
    "0199c2f1-0c58-7f6e-9d7a-1b2c3d4e5f55",
)
COMMIT, SNAPSHOT, LETTER = (
    "0199c2f0-9c77-7d8b-8e5f-6a7b8c9d0e66",
    "0199c2f0-6e21-7c9d-b4a3-2f1e0d9c8b77",
    "0199c2f1-5d90-7a2b-9c4d-7e8f9a0b1c88",
)
EVENT, KEY, ASSET = "0199c2f1-6e01-7b3c-a5d6-8f9a0b1c2d99", "k7Qw2mXe9Rt4", "0199c2f0-8a44-7e5d-b6c7-9a0b1c2d3eaa"
AT, LATER, MUCH_LATER = "2026-03-02T09:15:04Z", "2026-03-02T09:15:09Z", "2026-03-03T09:15:04Z"
ROOT, WISH = "/home/ada/Downloads", "remove duplicates and sort by type"
DIGEST = "9f2c4b1e8a7d6053c2e1f0a9b8d7c6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9"

SESSION_SHOWN: dict[str, Any] = {
    "session_id": SESSION,
    "principal": "ada",
    "shared": None,
    "title": WISH,
    "root": ROOT,
    "hitl": "key",
    "created_at": AT,
    "last_at": LATER,
    "last_seq": 12,
    "turn_id": TURN,
    "turn_state": "awaiting_approval",
    "approvals": 1,
}
TURN_SHOWN = {
    "turn_id": TURN,
    "session_id": SESSION,
    "message_id": MESSAGE,
    "text": WISH,
    "state": "completed",
    "reason": None,
    "detail": "",
    "answer": "Removed 2 duplicates and sorted 14 files into 4 folders.",
    "created_at": AT,
    "started_at": AT,
    "ended_at": LATER,
}
ACCEPTED = {"session_id": SESSION, "message_id": MESSAGE, "turn_id": TURN, "after": 0}
EVENT_SHOWN = {
    "seq": 12,
    "type": "turn.ended",
    "turn_id": TURN,
    "time": LATER,
    "data": {"turn_id": TURN, "state": "completed", "reason": None, "detail": ""},
}
ENTRY = {
    "change": "deleted",
    "path": "invoice (1).pdf",
    "source": None,
    "kind": "file",
    "size": 48213,
    "reason": "same as invoice.pdf",
    "files": 0,
    "same_as": "invoice.pdf",
    "preview": None,
    "preview_cut": False,
}
DIFF = {
    "version": 3,
    "count": 1,
    "created": 0,
    "changed": 0,
    "overwritten": 0,
    "deleted": 1,
    "moved": 0,
    "bytes_freed": 48213,
    "kept_days": 30.0,
    "digest": "7b1d9c0a5f",
    "groups": [{"change": "deleted", "folder": "", "count": 1, "things": 1, "size": 48213}],
    "more_groups": 0,
    "entries": [ENTRY],
}
DRAFT = {
    "digest": DIGEST,
    "exclude": ["invoice (1).pdf"],
    "reason": "",
    "makes": 0,
    "leaves_out": 1,
    "problem": "",
    "updated_at": LATER,
}
ASKED = {"turn_id": TURN, "digest": DIGEST, "expires_in": 86_400.0, "items": [], "args": {}}
APPROVAL_SHOWN = {
    "approval_id": APPROVAL,
    "session_id": SESSION,
    "turn_id": TURN,
    "kind": "commit",
    "digest": DIGEST,
    "data": {
        **ASKED,
        "kind": "commit",
        "approval_id": APPROVAL,
        "title": "Commit 1 change",
        "diff": DIFF,
        "undo": "it can be rolled back",
    },
    "opened_at": AT,
    "expires_at": MUCH_LATER,
    "outcome": None,
    "principal": None,
    "reason": None,
    "closed_at": None,
    "draft": None,
}
EFFECT_SHOWN = {
    **APPROVAL_SHOWN,
    "approval_id": EFFECT,
    "kind": "effect",
    "data": {
        **ASKED,
        "kind": "effect",
        "approval_id": EFFECT,
        "tool": "messages.send",
        "title": "Was the message sent?",
    },
}
BALANCE = {"limit": 50_000_000, "spent": 18_240, "reserved": 16_000}
BUDGET = {"tokens": BALANCE, "cost_micros": {**BALANCE, "limit": 100_000_000}, "until": "2026-03-03T00:00:00Z"}
LETTER_SHOWN = {
    "letter_id": LETTER,
    "group": "tool_executor",
    "topic": "tool.requests",
    "event_type": "suma.tool.requested.v1",
    "event_id": EVENT,
    "event_key": f"acme:{SESSION}",
    "session_id": SESSION,
    "turn_id": TURN,
    "turn_state": "failed",
    "turn_reason": "TOOL_FAILED",
    "code": "MALFORMED_EVENT",
    "error": "args: Field required",
    "attempts": 1,
    "died_at": LATER,
    "stale": True,
    "state": "open",
    "closed_by": None,
    "closed_at": None,
    "reason": "",
}
LETTER_CLOSED = {
    "letter_id": LETTER,
    "outcome": "replayed",
    "state": "replayed",
    "closed_by": "ada",
    "closed_at": LATER,
}
RECORD = {
    "position": 41,
    "link": DIGEST,
    "event_id": EVENT,
    "time": LATER,
    "source": "gateway",
    "session_id": SESSION,
    "turn_id": TURN,
    "action": "approval.decide",
    "phase": "decision",
    "verdict": "allow",
    "principal": "ada",
    "resource": f"session:{SESSION}",
    "rule": "chat",
    "revision": "5e0b7c9a1d3f",
    "step_id": None,
    "call_id": None,
    "digests": {},
}
KEY_SHOWN: dict[str, Any] = {
    "key_id": KEY,
    "tenant": "acme",
    "principal": "ada",
    "name": "ada's laptop",
    "roles": ["user"],
    "scopes": [],
    "state": "valid",
    "origin": "admin",
    "created_at": AT,
    "created_by": "owner",
    "expires_at": None,
    "revoked_at": None,
    "used_at": LATER,
    "signs": False,
    "browsers": 1,
}
TENANT_SHOWN = {"tenant": "acme", "name": "ACME Ltd", "created_at": AT, "disabled_at": None}
PARAMS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SKILL_SHOWN = {
    "name": "find-duplicates",
    "kind": "primitive",
    "source": "bundled",
    "state": "on",
    "reason": "",
    "id": "suma.find-duplicates",
    "version": "1.0.0",
    "description": "Find files with equal contents, and remove the copies.",
    "tags": ["files"],
    "tools": ["find-duplicates.find"],
    "digest": DIGEST,
    "folder": "/opt/suma/skills/find-duplicates",
    "problems": [],
}
SKILL_READ = {
    **SKILL_SHOWN,
    "instructions": "# Find duplicates\n\nFind files with equal contents …",
    "files": {"SKILL.md": 1311, "tools.yaml": 902},
    "declared": [
        {
            "name": "find-duplicates.find",
            "description": "Find files with equal contents.",
            "mutates": False,
            "effect": "pure",
            "params": PARAMS,
            "examples": [{"path": "."}],
        }
    ],
}
COMMIT_SHOWN = {
    "commit_id": COMMIT,
    "session_id": SESSION,
    "turn_id": TURN,
    "at": LATER,
    "state": "committed",
    "operations": 1,
    "changes": {"created": 0, "changed": 0, "moved": 0, "deleted": 1},
    "bytes": 48213,
    "undoable": True,
    "redoable": False,
    "undo_until": "2026-04-01T09:15:09Z",
}
NODE = {"id": 0, "name": "", "kind": "directory"}
FIRST = {"text": WISH, "root": ROOT}
CLOSED_MANY = {"replayed": 3, "discarded": 0, "stale": 1, "next": None}
CHECK = {"ok": True, "detail": "", "level": "none", "circuit": "closed"}

REMOTE_TOOL = {
    "name": "tickets.create",
    "state": "new",
    "reason": "nobody has approved it",
    "digest": DIGEST,
    "description": "Create a ticket.",
    "params": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    "hints": {"readOnlyHint": False},
    "effect_class": "at_most_once",
    "approved_by": None,
    "approved_at": None,
    "approved_description": None,
}
REMOTE_SERVER = {
    "name": "tickets",
    "protocol": "mcp",
    "address": "https://mcp.example.org",
    "tenants": [],
    "listed_at": AT,
    "problem": "",
    "tools": [REMOTE_TOOL],
}
SCHEMAS: Mapping[str, Any] = {
    "Accepted": ACCEPTED,
    "Answer": {"verdict": "override", "digest": DIGEST, "exclude": ["taxes/2024.pdf"]},
    "ApprovalList": {"approvals": [APPROVAL_SHOWN], "next": None, "as_of": LATER},
    "ApprovalShown": APPROVAL_SHOWN,
    "AuditPage": {"records": [RECORD], "next": None, "behind": 0, "as_of": LATER},
    "AuditState": {"count": 41, "sealed": 40, "sealed_at": AT, "head": DIGEST, "behind": 0, "as_of": LATER},
    "Budgets": {"tenant": BUDGET, "session": {**BUDGET, "until": None}, "as_of": LATER},
    "BusState": {
        "groups": [
            {"group": "tool_executor", "topic": "tool.requests", "lag": 0, "parked": 1, "dead": 0, "parked_since": AT}
        ],
        "leases": [{"group": "tool_executor", "kind": "tool", "leases": 2, "held": 1, "due": 1, "since": AT}],
        "topics": [
            {"topic": "tool.requests", "records": 1204, "oldest_seconds": 86_112.4, "retention_seconds": 604_800.0}
        ],
        "as_of": LATER,
    },
    "Cancel": {"reason": "I chose the wrong folder"},
    "Commanded": {
        "session_id": SESSION,
        "turn_id": TURN,
        "request_id": REQUEST,
        "after": 9,
        "outcome": EVENT_SHOWN,
    },
    "Commit": {"exclude": ["taxes/2024.pdf"], "digest": DIGEST},
    "CommitLog": {"root": ROOT, "bytes": 48213, "commits": [COMMIT_SHOWN]},
    "DiffPage": {**DIFF, "next": None},
    "Draft": DRAFT,
    "DraftGiven": {"digest": DIGEST, "exclude": ["invoice (1).pdf"], "reason": ""},
    "Disabled": {"id": "acme", "disabled": True},
    "Discard": {"reason": "the caller was fixed and sent it again"},
    "DiscardMany": {"group": "tool_executor", "code": "MALFORMED_EVENT", "reason": "sent again", "limit": 100},
    "EffectList": {"effects": [EFFECT_SHOWN], "as_of": LATER},
    "EventList": {"session_id": SESSION, "events": [EVENT_SHOWN], "next": 12, "more": False, "as_of": 12},
    "FileContent": {
        "path": "notes.txt",
        "side": "after",
        "size": 6,
        "truncated": False,
        "text": "better",
        "base64": None,
    },
    "Example": {"root": "/home/ada/Suma example", "files": 24, "bytes": 310_442},
    "Finding": {"verdict": "happened", "digest": DIGEST, "reason": "it is in my sent folder"},
    "FirstMessage": FIRST,
    "Folder": {"root": ROOT},
    "FolderShown": {"path": ROOT, "state": "allowed", "detail": "", "suggestions": []},
    "Graph": {
        "directed": True,
        "multigraph": False,
        "graph": {},
        "nodes": [
            {**NODE, "ino": 11, "size": 4096, "mtime_ns": 1_772_442_904_000_000_000, "mode": 16877, "ctime_ns": 0},
            {
                **NODE,
                "id": 1,
                "name": "invoice.pdf",
                "kind": "file",
                "ino": 12,
                "size": 48213,
                "mtime_ns": 1_772_442_904_000_000_000,
                "mode": 33188,
                "ctime_ns": 0,
            },
        ],
        "edges": [{"source": 0, "target": 1}],
    },
    "History": {"session_id": SESSION, "turns": [TURN_SHOWN], "next": None, "as_of": 12},
    "KeyCreated": {**KEY_SHOWN, "used_at": None, "browsers": 0, "key": "suma_…"},
    "KeyList": {"keys": [KEY_SHOWN], "next": None, "as_of": LATER},
    "KeyShown": {**KEY_SHOWN, "state": "revoked", "revoked_at": LATER, "browsers": 0},
    "LetterClosed": LETTER_CLOSED,
    "LetterList": {"letters": [LETTER_SHOWN], "codes": {"MALFORMED_EVENT": 1}, "next": None, "as_of": LATER},
    "LetterRead": {
        **LETTER_SHOWN,
        "principal": "ada",
        "size": 512,
        "original": {"headers": {"id": EVENT}, "data": {"tool": "find-duplicates.find"}},
        "problem": None,
    },
    "Liveness": {"status": "alive"},
    "ManyClosed": CLOSED_MANY,
    "Me": {
        "tenant": "acme",
        "principal": "ada",
        "roles": ["user"],
        "scopes": ["chat", "files:read", "files:write"],
        "grantable": ["chat", "files:read", "files:write"],
        "signed_in_with": "key",
        "key_id": KEY,
        "expires_at": None,
    },
    "SignsIn": {"tenant": "acme", "principal": "ada", "instead_of": None},
    "NewKey": {"principal": "ada", "name": "ada's laptop", "roles": ["user"]},
    "NewMessage": {"text": WISH, "on_busy": "queue"},
    "NewSession": {"root": ROOT, "hitl": "key"},
    "NewTenant": {"tenant": "acme", "name": "ACME Ltd"},
    "MetricHistory": {
        "services": ["gateway"],
        "every_seconds": 15.0,
        "samples": [
            {
                "at": AT,
                "turns": 3,
                "tool_calls": 12,
                "allowed": 41,
                "denied": 1,
                "unanswered": 0,
                "dead_letters": 0,
                "requests": 96,
                "p95_seconds": 0.021,
                "lag": 2,
                "memory_bytes": 201_326_592,
            }
        ],
        "grafana_url": "https://grafana.example",
        "as_of": LATER,
    },
    "PrincipalList": {
        "principals": [{"tenant": "acme", "principal": "ada", "created_at": AT, "disabled_at": None, "keys": 1}],
        "next": None,
        "as_of": LATER,
    },
    "ProtectedResource": {
        "resource": "https://suma.example",
        "authorization_servers": ["https://login.example"],
        "scopes_supported": ["chat", "files:read", "files:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Suma",
        "resource_documentation": "https://suma.example/docs",
    },
    "Purge": {"root": ROOT, "before": AT},
    "Purged": {"root": ROOT, "state": "done", "commits": [COMMIT], "bytes": 48213},
    "Readiness": {
        "ready": True,
        "pid": 4711,
        "version": "0.1.0",
        "services": ["gateway"],
        "level": "none",
        "checks": {"postgres": CHECK, "redis": CHECK},
        "problems": [],
    },
    "Replay": {"reason": "the tool is installed now"},
    "ReplayMany": {"group": "tool_executor", "since": AT, "reason": "the tool is installed now", "limit": 100},
    "RequeueList": {
        "waiting": [
            {
                "id": EVENT,
                "group": "tool_executor",
                "topic": "tool.requests",
                "event_type": "suma.tool.requested.v1",
                "session_id": SESSION,
                "turn_id": TURN,
                "error": "The policy engine does not answer.",
                "attempts": 3,
                "since": AT,
                "next_try": LATER,
            }
        ],
        "as_of": LATER,
    },
    "Retried": {"id": EVENT, "groups": ["tool_executor"]},
    "Rollback": {"commit_id": COMMIT, "exclude": ["notes.txt"]},
    "Rotation": {"overlap_seconds": 86_400},
    "RunRequest": FIRST,
    "RunResponse": ACCEPTED,
    "SessionList": {"sessions": [SESSION_SHOWN], "next": None, "as_of": LATER},
    "SessionRead": {**SESSION_SHOWN, "as_of": 12},
    "SettingList": {
        "settings": [
            {
                "name": "gateway.web_hours",
                "service": "gateway",
                "variable": "SUMA_GATEWAY__WEB_HOURS",
                "value": "12.0",
                "secret": False,
                "set": True,
                "origin": "environment",
                "source": "SUMA_GATEWAY__WEB_HOURS",
                "description": "Hours until a signed-in browser must sign in again.",
            },
            {
                "name": "model_key",
                "service": "platform",
                "variable": "SUMA_MODEL_KEY",
                "value": None,
                "secret": True,
                "set": True,
                "origin": "secret_file",
                "source": "/run/secrets/model_key",
                "description": "The vendor's key; not allowed in the settings file",
            },
        ],
        "as_of": LATER,
    },
    "Share": {"access": "read"},
    "SignInCode": {"code": "suma_code_…", "url": "http://127.0.0.1:8010/?code=suma_code_…", "expires_at": LATER},
    "SkillList": {"skills": [SKILL_SHOWN], "problems": {}},
    "SkillRead": SKILL_READ,
    "RemoteServer": REMOTE_SERVER,
    "RemoteServerList": {"servers": [REMOTE_SERVER]},
    "RemoteTool": REMOTE_TOOL,
    "RemoteToolRevoked": {"name": "tickets.create", "state": "revoked"},
    "ServiceHealthList": {
        "services": [
            {"service": "gateway", "state": "ready", "pid": 4711, "version": "0.1.0", "level": "none", "problems": []},
            {
                "service": "memory_service",
                "state": "down",
                "pid": None,
                "version": None,
                "level": "none",
                "problems": ["memory_service: ConnectError"],
            },
        ],
        "as_of": LATER,
    },
    "SkillRevoked": {"name": "our-invoices", "state": "off"},
    "SnapshotList": {"snapshots": [{"snapshot_id": SNAPSHOT, "version": 2, "step_id": "p1.s2", "at": AT}]},
    "Status": {"tenant": "acme", "sessions": 3, "turns": 1, "approvals": 1, "session": SESSION_SHOWN, "as_of": LATER},
    "TenantList": {"tenants": [TENANT_SHOWN], "next": None, "as_of": LATER},
    "TenantShown": TENANT_SHOWN,
    "ToolDescription": {"digest": DIGEST},
    "ToolList": {
        "tools": [
            {
                "name": "find-duplicates.find",
                "skill": "find-duplicates",
                "description": "Find files with equal contents.",
                "mutates": False,
                "effect_class": "pure",
                "params": PARAMS,
            }
        ]
    },
    "TurnShown": TURN_SHOWN,
    "UploadShown": {
        "upload_id": ASSET,
        "filename": "invoice.pdf",
        "media_type": "application/pdf",
        "size": 48_213,
        "received": 48_213,
        "sha256": DIGEST,
        "complete": True,
        "expires_at": MUCH_LATER,
    },
    "Version": {"root": ROOT, "digest": DIGEST},
}
"""The example of each model that a request or an answer consists of."""

MEDIA: Mapping[str, str] = {
    "text/event-stream": 'id: 12\nevent: turn.ended\ndata: {"seq": 12, "type": "turn.ended", …}\n\n',
    "application/octet-stream": "(the bytes of the file)",
    "application/offset+octet-stream": "(bytes of the file)",
    "application/jsonl": '{"kind":"header", …}\n{"kind":"record", …}\n{"kind":"checkpoint", …}\n',
}

PARAMETERS: Mapping[str, tuple[Any, ...]] = {
    "Idempotency-Key": ("0199c2f0-4a0f-7b00-8000-000000000001",),
    "If-None-Match": ('W/"6f1d0c2b3a4958677a8b9c0d1e2f3a4b"',),
    "If-Range": (f'"{DIGEST}"',),
    "Last-Event-ID": (11,),
    "Range": ("bytes=0-1023",),
    "Tus-Resumable": ("1.0.0",),
    "Upload-Length": (48_213,),
    "Upload-Metadata": ("filename aW52b2ljZS5wZGY=,filetype YXBwbGljYXRpb24vcGRm",),
    "Upload-Offset": (0,),
    "action": ("tool.execute",),
    "after": (11, TURN),
    "approval_id": (APPROVAL,),
    "asset_id": (ASSET,),
    "before": (41, SESSION),
    "code": ("MALFORMED_EVENT",),
    "effect_id": (EFFECT,),
    "ended": (True,),
    "event_id": (EVENT,),
    "group": ("tool_executor",),
    "key_id": (KEY,),
    "letter_id": (LETTER,),
    "limit": (50,),
    "most": (20,),
    "name": ("find-duplicates",),
    "tool": ("tickets.create",),
    "open": (True,),
    "path": ("notes.txt",),
    "side": ("after",),
    "words": ("downloads",),
    "principal": ("ada",),
    "query": ("find equal files",),
    "root": (ROOT,),
    "session": (SESSION,),
    "session_id": (SESSION,),
    "since": (AT,),
    "state": ("open",),
    "stream": (False,),
    "tenant": ("acme",),
    "topic": ("tool.requests",),
    "turn": (TURN,),
    "turn_id": (TURN,),
    "type": ("tool.requested",),
    "upload_id": (ASSET,),
    "until": (LATER, TURN),
    "looks": (False,),
    "change": ("deleted",),
    "folder": ("taxes",),
    "verdict": ("deny",),
    "wait": (20,),
}
"""Examples of each parameter; where routes differ in its type, the first that fits."""
