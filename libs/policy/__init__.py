"""The policy port: is this action allowed? Each decision is recorded, and no answer is never a yes (architecture.md 9).

`ports` holds the contract and the form of a question; `bundle` reads the rules from a folder. `rego` evaluates them in
process, `opa` asks a server, for which `publish` packs the same files. The rules themselves are Rego in deploy/opa.
"""

from libs.policy.bundle import Bundle, BundleBroken
from libs.policy.ports import Decision, Policy, PolicyUnanswered, QuestionRefused, committee_required
from libs.policy.retry_deadline import POLICY_SECONDS, RetryDeadline

__all__ = [
    "POLICY_SECONDS",
    "Bundle",
    "BundleBroken",
    "Decision",
    "Policy",
    "PolicyUnanswered",
    "QuestionRefused",
    "RetryDeadline",
    "bundle",
    "bundle_server",
    "committee_required",
    "guarded",
    "opa",
    "rego",
    "scopes",
]
