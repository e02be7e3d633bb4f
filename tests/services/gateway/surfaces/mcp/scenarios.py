"""The scenarios of MCP's conformance suites: those of each run by name, and those that are left out with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

CALLS = frozenset(
    f"tools-call-{name}"
    for name in ("simple-text", "image", "audio", "embedded-resource", "mixed-content", "error", "with-progress")
)
READS = frozenset(("resources-read-text", "resources-read-binary", "resources-templates-read"))
PROMPTS = frozenset(f"prompts-get-{name}" for name in ("simple", "with-args", "embedded-resource", "with-image"))
ALWAYS = frozenset(
    (
        *("tools-list", "resources-list", "prompts-list", "completion-complete"),
        *("server-sse-multiple-streams", "dns-rebinding-protection"),
    )
)
COMMON = CALLS | READS | PROMPTS | ALWAYS
ASKING = frozenset(
    (
        *("tools-call-sampling", "tools-call-elicitation"),
        *("elicitation-sep1034-defaults", "elicitation-sep1330-enums"),
    )
)
OPTIONAL = frozenset(("logging-set-level", "tools-call-with-logging", "resources-subscribe", "resources-unsubscribe"))
HANDSHAKE = COMMON | ASKING | OPTIONAL | {"server-initialize", "ping"}
INPUT_REQUIRED = frozenset(
    f"input-required-result-{name}"
    for name in (
        *("basic-elicitation", "basic-sampling", "basic-list-roots", "request-state", "multiple-input-requests"),
        *("multi-round", "non-tool-request", "result-type", "tampered-state", "capability-check"),
    )
)
INPUT_REFUSED = frozenset(
    f"input-required-result-{name}"
    for name in ("missing-input-response", "unsupported-methods", "ignore-extra-params", "validate-input")
)
TASKS = frozenset(
    f"tasks-{name}"
    for name in (
        *("lifecycle", "capability-negotiation", "wire-fields", "request-state-removal", "mrtr-input"),
        *("request-headers", "dispatch-and-envelope", "status-notifications", "required-task-error"),
        "mrtr-composition",
    )
)
STATELESS, SCHEMA, HEADERS = "server-stateless", "json-schema-2020-12", "http-custom-header-server-validation"
RUNS: Mapping[str, frozenset[str]] = {
    "release": HANDSHAKE,
    "preview 2025-11-25": HANDSHAKE | {"server-session-lifecycle", "server-sse-polling", SCHEMA},
    "preview 2026-07-28": COMMON
    | INPUT_REQUIRED
    | INPUT_REFUSED
    | TASKS
    | {STATELESS, SCHEMA, HEADERS, "sep-2164-resource-not-found", "caching", "http-header-validation"},
}
"""The scenarios that each run has, no more and no fewer."""
SKILLS = frozenset(("sep-2640-skills-enumeration", "sep-2640-skills-manifest"))
DIRECTORY = "sep-2640-skills-directory"
"""Skipped: `resources/directory/read` is optional (SEP-2640), and the server does not declare `directoryRead`."""


def _because(reason: str, names: Iterable[str]) -> Mapping[str, str]:
    return dict.fromkeys(names, reason)


NO_TASKS = _because("the tasks extension is optional (SEP-2663), and the server does not declare it", TASKS)
"""Scenarios that no server of ours passes."""
LEFT_OUT: Mapping[str, str] = {
    **NO_TASKS,
    **_because("a server's tools are its own (server/tools): these call one of a fixed name", CALLS | ASKING),
    **_because(
        "a server's tools are its own (server/tools): these call one of a fixed name", INPUT_REQUIRED | {SCHEMA}
    ),
    **_because("a server's resources are its own (server/resources): these read a fixed address", READS),
    **_because("a server's prompts are its own (server/prompts): these get one of a fixed name", PROMPTS),
    **_because("an optional capability (basic/lifecycle) that the server does not declare", OPTIONAL),
    "completion-complete": "completions are optional (server/utilities/completion), and not declared",
    HEADERS: "parameters in headers are optional (SEP-2243), and no tool declares one with x-mcp-header",
    STATELESS: "four of its checks call diagnostic tools of fixed names; the others pass",
}
"""Scenarios that the real endpoint cannot pass, each with the specification's reason; it passes every other."""
DIAGNOSTIC = frozenset(
    (
        *("sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"),
        *("sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel"),
    )
)
"""The checks of `server-stateless` that call diagnostic tools."""
