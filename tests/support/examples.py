"""How many examples a property test tries: a quarter of its full number, so that the whole suite stays short.

SUMA_TEST_EXAMPLES scales the full number: 1 tries all of them, 10 searches for a night.
"""

from __future__ import annotations

import os

SHARE = float(os.environ.get("SUMA_TEST_EXAMPLES", "0.25"))
LEAST = 10


def examples(full: int) -> int:
    """Return the number of examples for a test whose full number is this."""
    return max(LEAST, round(full * SHARE))
