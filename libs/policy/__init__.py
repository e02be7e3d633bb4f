"""The policy port: may this happen? One question, one recorded answer, and no answer is never a yes (DESIGN §8).

`ports` holds the law and the question's form, `bundle` reads the rules from a folder. `rego` answers in process, `opa`
by a server, for which `publish` packs the same files. The rules themselves are Rego in deploy/opa.
"""

from libs.policy.bundle import Bundle, BundleBroken
from libs.policy.ports import Decision, Policy, PolicyUnanswered, QuestionRefused, committee_required

__all__ = [
    "Bundle",
    "BundleBroken",
    "Decision",
    "Policy",
    "PolicyUnanswered",
    "QuestionRefused",
    "committee_required",
]
