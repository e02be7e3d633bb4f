"""The analyser (S3-09): intent, sentiment and tags of a message by its words; hints for planners, no permissions."""

from __future__ import annotations

import re
from dataclasses import dataclass

QUESTIONS = (
    "how",
    "what",
    "why",
    "when",
    "where",
    "who",
    "which",
)
ACTIONS = (
    "create",
    "build",
    "implement",
    "write",
    "move",
    "remove",
    "delete",
    "clean",
    "sort",
    "organize",
    "organise",
    "rename",
    "find",
    "search",
    "list",
    "show",
    "analyze",
)
PROBLEMS = ("fix", "bug", "issue", "error", "broken", "crash")
GOOD = ("thanks", "thank", "great", "good", "nice", "love", "perfect", "please")
BAD = ("bad", "wrong", "hate", "terrible", "awful", "broken", "useless", "annoying", "stupid")
TAGS = {
    "code": ("code", "function", "class", "script", "python", "javascript"),
    "infrastructure": ("server", "docker", "deploy", "database", "kafka", "network"),
    "testing": ("test", "tests", "coverage", "assert"),
    "files": ("file", "files", "folder", "folders", "directory", "duplicates", "downloads", "documents", "photos"),
}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis: `intent` is question, action_request, problem_report or statement; `sentiment` positive, negative
    or neutral.
    """

    intent: str
    sentiment: str
    tags: tuple[str, ...]


def analyse(text: str) -> Analysis:
    words = re.findall(r"\w+", text.lower())
    found = set(words)
    return Analysis(
        _intent(text, words, found), _sentiment(found), tuple(t for t, marks in TAGS.items() if found & set(marks))
    )


def _intent(text: str, words: list[str], found: set[str]) -> str:
    if text.rstrip().endswith("?") or (words and words[0] in QUESTIONS):
        return "question"
    if found & set(ACTIONS):
        return "action_request"
    if found & set(PROBLEMS):
        return "problem_report"
    return "statement"


def _sentiment(found: set[str]) -> str:
    balance = len(found & set(GOOD)) - len(found & set(BAD))
    return "positive" if balance > 0 else "negative" if balance < 0 else "neutral"
