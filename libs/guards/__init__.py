"""Guards: the deterministic links of the chain that decide whether a call may be attempted at all (architecture.md 9).

Pure checks without files, network or models. Each raises a `Blocked` that names its rule, and runs twice: on the plan
as written, and on the resolved args just before an attempt. `paths`, `commands` (programs and blocked patterns, with
`words` to read text as a shell would), `urls`.
"""

from libs.guards.allowlist import allows, as_policy_reads
from libs.guards.blocked import Blocked, UrlRefused
from libs.guards.urls import Target, check_redirect, check_url

__all__ = [
    "Blocked",
    "Target",
    "UrlRefused",
    "allows",
    "as_policy_reads",
    "check_redirect",
    "check_url",
    "commands",
    "hosts",
    "paths",
    "programs",
    "urls",
]
