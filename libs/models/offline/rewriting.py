"""A rule that says a roundabout thing plainly: what it looks for, and what it puts there."""

from __future__ import annotations

import re
from collections.abc import Callable

Rule = tuple[str, Callable[[re.Match[str]], str]]


def put(template: str) -> Callable[[re.Match[str]], str]:
    r"""What is found, put as the template says; `\g<name>` stands for a group of it."""
    return lambda found: found.expand(template)
