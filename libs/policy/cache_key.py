"""Cache keys of questions: only the fields that the rules read, so questions that differ elsewhere share a key.

The engine's plan of the compiled rules says which fields they read (`libs.policy.trial`). Rules that use the whole
input, or that call a builtin that is not deterministic, have no keys: their answers are not cached.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson


def cache_key(fields: frozenset[str] | None, document: Mapping[str, object]) -> bytes | None:
    """Return the fields that the rules read, as bytes; None if the answer must not be cached."""
    if fields is None:
        return None
    try:
        read = {name: value for name, value in document.items() if name in fields}
        return orjson.dumps(read, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        return None
