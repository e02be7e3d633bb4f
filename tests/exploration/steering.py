"""Steering: put known ids into generated requests, since a random one finds nothing and so tests only the 404."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from schemathesis import Case

from tests.exploration.world import Party

OWN, FOREIGN = 0.55, 0.2
"""The share of fields that get an id of the caller's tenant, and of the other one; the rest stay as generated."""
VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
STREAM = "/v1/sessions/{session_id}/events"


def steer(case: Case[Any], me: Party, others: Sequence[Party], random: Random) -> set[str]:
    """Replace some values by known ones. Return the foreign ids that the request now carries."""
    sent: set[str] = set()
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            for name in [name for name, value in place.items() if name in me.known and _is_replaceable(value)]:
                place[name] = _chosen(name, place[name], me, others, random, sent)
    if case.path == STREAM:
        # An endless stream would never answer; streams have tests of their own.
        case.query = {**case.query, "stream": "false"}
    # The caller must not end its own credential: all that follows would be 401.
    if case.path_parameters.get("key_id") == me.key_id:
        case.path_parameters["key_id"] = "another"
    return sent


def _is_replaceable(value: Any) -> bool:
    """Whether the value is a valid id, root or digest: replacing an invalid one would make the request valid."""
    return isinstance(value, str) and (VALID.fullmatch(value) is not None or value.startswith("/"))


def _chosen(name: str, generated: Any, me: Party, others: Sequence[Party], random: Random, sent: set[str]) -> Any:
    draw = random.random()
    if draw < OWN:
        return random.choice(me.known[name])
    foreign = [value for other in others for value in other.known.get(name, ()) if name != "principal"]
    if draw < OWN + FOREIGN and foreign:
        value = random.choice(foreign)
        sent.add(value)
        return value
    return generated
