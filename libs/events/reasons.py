"""Reasons why something was not done, in plain words. Events carry codes and sentences for programs and logs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from libs.errors import Rejected

POLICY = "the policy does not allow it"
OUTSIDE = "it is outside this folder"
LATE = "there was no answer in time; ask again"
STEPS = "it would take too many steps; ask for a smaller part"
LONG = "it took too long; ask again, or for a smaller part"
AWAY = "a part of Suma is not available; try again in a moment"
MODIFIED = "these files have been modified since; ask again to use their present state"
KNOWN: Mapping[str, str] = {
    "POLICY": POLICY,
    "POLICY_DENIED": POLICY,
    "OUTSIDE_WORKSPACE": OUTSIDE,
    "COMMITTEE_REJECTED": "the plan did not pass its review: {detail}",
    "HOOK_REFUSED": "{detail}",
    "REPEATED_CALL": "the same step would run twice",
    "MAX_TOOL_CALLS": STEPS,
    "MAX_ROUNDS": STEPS,
    "MAX_WALL_TIME": LONG,
    "TIMED_OUT": LONG,
    "CALL_TIMED_OUT": LONG,
    "CONSECUTIVE_ERRORS": "too many steps failed",
    "APPROVAL_EXPIRED": LATE,
    "CLARIFICATION_EXPIRED": LATE,
    "POLICY_UNAVAILABLE": AWAY,
    "UNAVAILABLE": AWAY,
    "SERVICE_UNAVAILABLE": AWAY,
    "MODEL_UNAVAILABLE": AWAY,
    "DEPENDENCY_UNAVAILABLE": "an earlier step was not done",
    "COMMIT_CONFLICT": MODIFIED,
    "CONFLICT": MODIFIED,
    "NO_SUCH_PATH": "{path} does not exist",
    "SEALED": "{detail}",
    "UNREADABLE": "{detail}",
    "ALREADY_EXISTS": "{path} already exists, and nothing is replaced",
    "WRONG_KIND": "{path} is not of the kind that this needs",
    "NAME_TAKEN": "two files would have the same name",
    "NOT_PERMITTED": "the system does not permit changes to this file",
    "NO_SPACE": "the disk is full",
    "BAD_ARCHIVE": "the archive is damaged or of an unknown kind",
    "UNSAFE_ARCHIVE": "the archive is not safe to unpack",
    "LOCKED": "it is protected by a password",
    "DAMAGED": "it is damaged",
    "TOO_MUCH": "it is too large for one step; ask for a smaller part",
    "MAILBOX_FULL": "too many messages are waiting; try again later",
}
"""Sentences by code. `{path}` is the path that the error names."""
BY_PHRASE: Mapping[str, str] = {
    "path is outside the workspace": OUTSIDE,
    "nobody approved it in time": LATE,
    "wants left alone": "the plan would change files that you want left alone; name the files",
    "which the request does not ask for": "the plan would do more than you asked for; say what to do with which files",
    "which the request rules out": "the plan would do what you ruled out; say it again without the exception",
    "the request limits": "the plan ignored a size, time or number that you gave; ask for one thing at a time",
    "a person said no": "you said no",
}
"""Replacements for sentences without a code, by a part of the sentence."""
LIMITS = ("MAX_TOOL_CALLS", "MAX_ROUNDS", "MAX_WALL_TIME", "CONSECUTIVE_ERRORS")
DETAILED = frozenset(("BAD_ARCHIVE", "UNSAFE_ARCHIVE", "TOO_MUCH", *LIMITS))
"""Codes whose own message says more than the sentence here."""
ANY_RULE, LACKING = "no rule allows this", "; missing scope: "
CODE = re.compile(r"^(?P<code>policy|[A-Z]{2,}(?:_[A-Z]+)*)(?::\s*(?P<detail>.*))?$", re.DOTALL)
PATH = re.compile(
    r"^(?P<path>.+?) (?:does not exist|exists already|already exists|is (?:not? |a folder)|is there already)"
)


def plain(error: str) -> str:
    """Return the plain words for `CODE: sentence`, or for either of the two alone."""
    found = CODE.match(error.strip())
    begins, detail = (found["code"].upper(), found["detail"] or "") if found else ("", error.strip())
    known = next((text for phrase, text in BY_PHRASE.items() if phrase in detail), None) or KNOWN.get(begins)
    if known is None:
        return detail if detail and ("_" in begins or begins == Rejected.code) else error.strip()
    if known is POLICY:
        why, _, scope = detail.partition(LACKING)
        told = f"{known}: {why}" if why and why != ANY_RULE else known
        return f"{told}; your key lacks the scope {scope}" if scope else told
    if begins in DETAILED and detail:
        return detail
    if "{detail}" in known:
        return known.format(detail=detail.removesuffix(" Rejected.") or "say it in other words")
    if "{path}" not in known:
        return known
    named = PATH.match(detail)
    return known.format(path=f"“{named['path']}”") if named else detail or begins


def code(error: str) -> str | None:
    """Return the known code at the start of an error."""
    found = CODE.match(error.strip())
    known = "POLICY_DENIED" if found and found["code"] == "policy" else found["code"] if found else None
    return known if known in KNOWN else None
