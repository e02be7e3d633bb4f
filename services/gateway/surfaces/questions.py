"""Questions to a person as text, and their answers: for clients whose protocol has no word for either.

An answer counts only if it is clear. Any other text decides nothing, and the question is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from pydantic import ValidationError

from libs.events import ApprovalRequested, ClarificationRequested, Diff, DiffEntry, Json
from libs.texts import literal, name, one_line
from services.gateway.sessions.models import Answer
from services.gateway.sessions.store import Numbered

SHOWN_MOST, GROUPS_MOST, TEXTS_MOST, PREVIEW_MOST = 50, 40, 10, 12
"""Parts of a question that are listed, groups that count the rest, and texts that are shown with so many lines; the
REST API returns all.
"""
IMPERATIVES = {
    "deleted": "delete",
    "overwritten": "overwrite",
    "changed": "change",
    "moved": "move",
    "created": "create",
}
"""The kinds of change as what would be done, the riskiest first."""
APPROVE = re.compile(r"(?:approved?|yes|y|ok|okay|confirm(?:ed)?|go ahead|do it)[.! ]*", re.IGNORECASE)
DENY = re.compile(r"(?:den(?:y|ied)|no|n|reject(?:ed)?|don't|do not)[.! ]*+(?:[:,](?P<reason>.{1,2000}))?", re.I | re.S)
EXCEPT = re.compile(
    r"(?:approved?|yes|ok|okay)[ ,]++(?:all,? )?(?:except|without|excluding|but not) ?:?\s(?P<parts>.+)", re.I | re.S
)
LISTED = re.compile(r"[,;\n]|(?<= )and(?= )")
WORDS_MOST = 4_000
"""Characters of an answer in words; a longer text decides nothing."""
QUOTES = "\"'`“”"
Asked: TypeAlias = ApprovalRequested | ClarificationRequested
REFERENCE = re.compile(r"\[suma:(?P<name>[A-Za-z0-9._-]{1,90})\]\s*$")


def name_of(question: Numbered) -> str:
    """Return the name of a question: its turn and event number."""
    return f"{question.turn_id}_{question.seq}"


def text_of(asked: Asked) -> str:
    """Return a question as text."""
    if isinstance(asked, ApprovalRequested):
        return "\n".join((*described(asked), "", how(asked)))
    choices = (": ".join(filter(None, (each.skill, each.description))) for each in asked.candidates)
    return "\n".join((asked.question, *(f"- {choice}" for choice in choices)))


def mark(name: str) -> str:
    """Return the last line of a text that names a question, or only a turn."""
    return f"[suma:{name}]"


def reference(text: str) -> str | None:
    """Return the name of the question, or the turn, that an earlier text ends with."""
    found = REFERENCE.search(text)
    return found["name"] if found else None


def answer_to(asked: ApprovalRequested, given: str) -> Answer | None:
    """Return the answer to an approval, from words or a JSON object; None if it is not clear."""
    if given.lstrip()[:1] == "{":
        try:
            found = orjson.loads(given)
        except orjson.JSONDecodeError:
            return None
        return answer_from(asked, found) if isinstance(found, dict) else None
    if len(given) > WORDS_MOST:
        return None
    # One blank between words: the patterns then cost no more than the text is long.
    said = "\n".join(line for each in given.splitlines() if (line := " ".join(each.split())))
    if APPROVE.fullmatch(said):
        return _answer(asked, verdict="approve")
    if (no := DENY.fullmatch(said)) is not None:
        return _answer(asked, verdict="deny", reason=(no["reason"] or "").strip())
    if (but := EXCEPT.fullmatch(said)) is not None:
        left_out = _parts(asked.items, but["parts"])
        return _answer(asked, verdict="override", exclude=left_out) if left_out else None
    return None


def answer_from(asked: ApprovalRequested, given: Mapping[str, Any]) -> Answer | None:
    """Return the answer to an approval from an object with `verdict` or `approve`, `exclude`, `args`, `reason`; None if
    it is not one.
    """
    verdict = given.get("verdict")
    if verdict is None and isinstance(given.get("approve"), bool):
        verdict = "approve" if given["approve"] else "deny"
    exclude, args = given.get("exclude") or (), given.get("args")
    if verdict == "approve" and (exclude or args is not None):
        verdict = "override"
    return _answer(asked, verdict=verdict, reason=given.get("reason") or "", exclude=exclude, args=args)


def _answer(asked: ApprovalRequested, **given: Any) -> Answer | None:
    try:
        return Answer.model_validate({"digest": asked.digest, **given})
    except ValidationError:
        return None


def _parts(items: Sequence[Json], text: str) -> list[str]:
    """Return the ids of the parts that a text names, by number or by id; none if it names anything else."""
    ids = [str(item["id"]) for item in items]
    words = [word.strip().strip(QUOTES) for word in LISTED.split(text.strip().rstrip("."))]
    numbered = {str(n): id for n, id in enumerate(ids, 1)}
    known = {**numbered, **{id: id for id in ids if numbered.get(id, id) == id}}
    unclear = [word for word in words if word not in known or (word in ids and known[word] != word)]
    return [] if unclear else list(dict.fromkeys(known[word] for word in words))


def described(asked: ApprovalRequested) -> Iterator[str]:
    """Yield the lines that tell what an approval is about: the riskiest changes first, with counts of all of them.

    The numbered parts are those that an answer may leave out.
    """
    yield literal(one_line(asked.title))
    items, diff = asked.items, (asked.diff if asked.kind == "commit" else None) or Diff(version=0, count=0)
    yield from _totals(diff)
    texts = {entry.path: entry for entry in diff.entries if entry.preview is not None}
    compared = {path: texts[path] for path in [*texts][:TEXTS_MOST]}
    for n, item in enumerate(items[:SHOWN_MOST], 1):
        yield f"{n}. {literal(_part(item))}"
        yield from _preview(compared.get(str(item["id"])))
    more = max(len(items), diff.count) - len(items[:SHOWN_MOST]) if items else 0
    if more > 0:
        yield f"… and {more:,} more: GET /v1/approvals/{asked.approval_id}"
        yield from _groups(diff)
    yield from (literal(one_line(text)) for text in (asked.trouble, asked.detail, asked.undo) if text)


def _totals(diff: Diff) -> Iterator[str]:
    counts = [f"{verb} {number:,}" for kind, verb in IMPERATIVES.items() if (number := getattr(diff, kind))]
    if counts:
        yield f"It would {', '.join(counts)}."


def _groups(diff: Diff) -> Iterator[str]:
    """Yield the counts of all changes by kind and folder."""
    for group in diff.groups[:GROUPS_MOST]:
        yield f"- {group.change} in {literal(name(group.folder or 'this folder'))}: {group.things:,}"
    if (more := len(diff.groups[GROUPS_MOST:]) + diff.more_groups) > 0:
        yield f"- and in {more:,} more folders"


def _preview(entry: DiffEntry | None) -> Iterator[str]:
    """Yield the first lines of a text, fenced: they are the file's own."""
    if entry is None or entry.preview is None:
        return
    lines = entry.preview.splitlines()
    cut = ["…"] if len(lines) > PREVIEW_MOST or entry.preview_cut else []
    fence = max(("``", *re.findall("`+", entry.preview)), key=len)
    yield from (f"    {line}" for line in (f"{fence}`", *lines[:PREVIEW_MOST], *cut, f"{fence}`"))


def how(asked: ApprovalRequested, *, digest: str = "") -> str:
    """Return how an approval is answered in words. `digest` begins with a blank, and binds them to what was shown."""
    if asked.kind == "effect":
        return f"Report whether it happened: POST /v1/effects/{asked.approval_id}"
    parts = f", or “approve{digest} except 1, 3”" if asked.items else ""
    return f"Reply “approve{digest}”, “deny{digest}”{parts}."


def _part(item: Json) -> str:
    """Describe a part that may be left out."""
    match item:
        case {"keep": keep, "remove": [*removed]}:
            return f"keep {name(keep)}, remove {', '.join(map(name, removed))}"
        case {"conflict": True}:
            return f"{name(item['id'])} (changed by someone else meanwhile)"
        case {"change": "moved", "source": source}:
            return f"move: {name(source)} → {name(item['id'])}"
        case {"change": "deleted", "same_as": keep}:
            return f"delete: {name(item['id'])} (same as {name(keep)}, which stays)"
        case {"change": change}:
            return f"{IMPERATIVES.get(str(change), change)}: {name(item['id'])}"
        case _:
            return name(item["id"])
