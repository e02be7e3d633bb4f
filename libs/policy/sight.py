"""Sight: which parts of the input a bundle's rules can see, so that two questions that look alike to them are one.

Read from the rules' own text: `input.name` is a part that is seen. A rule that uses `input` in any other way may see
all of it, and one that calls a builtin which is not a function of its arguments may answer the same question
otherwise: then nothing is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

INPUT = re.compile(r"\binput\b(?:\.(\w+))?")
RESTLESS = re.compile(r"\b(?:time|http|rand|uuid|opa|io|net\.lookup_ip_addr|rego|trace|print)\b\s*[.(]")


@dataclass(frozen=True, slots=True)
class Sight:
    """The top-level fields that are seen; None where nothing may be remembered."""

    fields: frozenset[str] | None

    @classmethod
    def of(cls, sources: Iterable[str]) -> Sight:
        # Only whole lines of comment are left out: a # further on may stand in a text, before a use of the input.
        lines = (line for source in sources for line in source.splitlines())
        text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
        uses = INPUT.findall(text)
        if "" in uses or RESTLESS.search(text):
            return cls(None)
        return cls(frozenset(uses))

    def key(self, document: Mapping[str, object]) -> bytes | None:
        """What of a question the rules see, as bytes; None where it must be asked each time."""
        if self.fields is None:
            return None
        try:
            seen = {name: value for name, value in document.items() if name in self.fields}
            return orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)
        except (TypeError, ValueError):
            return None
