"""What a forked process has from its birth: all that the first work in it would import or compile, done once in the
process that it is forked from. Importing this does it; nobody but `tests.support.processes` names it."""

from __future__ import annotations

import asyncio
import gc

import networkx  # noqa: F401 - imported with the first folder that is read

import libs.models.vendors  # noqa: F401 - takes a second
from tests.chaos import (  # noqa: F401
    echo_scenario,
    kafka_scenario,
    outside_scenario,
    replay_scenario,
    slot_scenario,
    stream_scenario,
    turn_scenario,
)
from tests.support.platform import law

asyncio.run(law())
gc.collect()
# Otherwise each child's first collection would touch, and so copy, every shared page.
gc.freeze()
