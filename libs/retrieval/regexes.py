"""Patterns that are compiled where they are first used: six hundred of them are known at the start, and a request needs
few.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, later. Raises `re.error` at the first use."""
    return cast("re.Pattern[str]", _Later(text, flags))


class _Later:
    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._compiled, name)
        setattr(self, name, value)  # from here on as quick as a pattern's own
        return value
