"""The agent card: what this agent is, where and how to call it, signed (specification 4.4, 8)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import orjson
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.types.a2a_pb2 import AgentCard
from google.protobuf.json_format import MessageToDict, ParseDict

from libs import __version__
from libs.keys import Keys, canonical
from libs.skills import Skills, Source
from services.gateway.settings import Oidc
from services.gateway.surfaces.a2a.paths import JSONRPC, KEYS, REST
from services.gateway.surfaces.a2a.signing import signed
from services.gateway.surfaces.a2a.tasks import EXTENSION, PARTIAL_TEXT

VERSION, BEFORE = "1.0", "0.3"
REMEMBERED = 32
DESCRIPTION = "Plans what you ask for, has the plan reviewed, acts under policy, and can show and undo what it did."


@dataclass(frozen=True, slots=True)
class Served:
    """A card as its clients cache it."""

    body: bytes
    etag: str
    modified: str
    """The HTTP date since which this process serves it."""


class Cards:
    """The card at each of our addresses, made when it is first asked for."""

    def __init__(self, keys: Keys, *, since: datetime, oidc: Oidc) -> None:
        self._keys, self._oidc = keys, oidc
        self._modified = format_datetime(since.replace(microsecond=0), usegmt=True)
        self._made: OrderedDict[tuple[str, int], Served] = OrderedDict()

    def at(self, base: str, skills: Skills) -> Served:
        """Return the card of this address."""
        place = base, id(skills)
        if place not in self._made:
            self._made[place] = self.served(self._signed(card(base, skills, self._oidc), base))
            if len(self._made) > REMEMBERED:
                self._made.popitem(last=False)
        return self._made[place]

    def served(self, content: Mapping[str, Any]) -> Served:
        """Return a document as its clients cache it."""
        body = orjson.dumps(content)
        return Served(body, f'"{sha256(body).hexdigest()[:32]}"', self._modified)

    def _signed(self, plain: dict[str, Any], base: str) -> dict[str, Any]:
        """Add the members that clients of 0.3 read, and a JWS (8.4) over each canonical form: of the protobuf, without
        its empty values, and of the served card, for clients that take it as it is.
        """
        served = agent_card_to_dict(ParseDict(plain, AgentCard()))
        signatures = [signed(self._keys, {"jku": f"{base}{KEYS}"}, canonical(form)) for form in (plain, served)]
        return {**served, "signatures": [{"protected": head, "signature": tail} for head, tail in signatures]}


def card(base: str, skills: Skills, oidc: Oidc) -> dict[str, Any]:
    """Return the unsigned card. Its skills are the bundled ones, which every caller has."""
    schemes: dict[str, Any] = {
        "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "description": "An API key, or a token (JWT)"}},
        "apiKey": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
    }
    if oidc.issuer is not None:
        found = f"{oidc.issuer.rstrip('/')}/.well-known/openid-configuration"
        schemes["oidc"] = {"openIdConnectSecurityScheme": {"openIdConnectUrl": found}}
    written = {
        "name": "Suma",
        "description": DESCRIPTION,
        "version": __version__,
        "supportedInterfaces": [
            {"url": f"{base}{JSONRPC}", "protocolBinding": "JSONRPC", "protocolVersion": VERSION},
            {"url": f"{base}{REST}", "protocolBinding": "HTTP+JSON", "protocolVersion": VERSION},
            {"url": f"{base}{JSONRPC}", "protocolBinding": "JSONRPC", "protocolVersion": BEFORE},
        ],
        "capabilities": {
            "streaming": True,
            "pushNotifications": True,
            "extendedAgentCard": False,
            "extensions": [
                {"uri": EXTENSION, "description": "Options of a message's turn, and the event behind an update"},
                {"uri": PARTIAL_TEXT, "description": "The answer piece by piece, where a client activates it"},
            ],
        },
        "securitySchemes": schemes,
        # A scheme without scopes would be empty, and the SDK leaves empty values out of what it verifies.
        "securityRequirements": [{"schemes": {name: {"list": ["chat"]}}} for name in schemes],
        "defaultInputModes": ["text/plain", "text/markdown", "application/json", "*/*"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "suma", "name": "Suma", "description": DESCRIPTION, "tags": ["agent"]}, *_skills(skills)],
        "documentationUrl": f"{base}/docs",
    }
    # Through the protocol's own message, so that a wrong name fails here, and empty values are left out.
    return MessageToDict(ParseDict(written, AgentCard()))


def _skills(skills: Skills) -> Iterator[dict[str, Any]]:
    for skill in skills.skills.values():
        if skill.source is Source.BUNDLED:
            tags = list(skill.tags) or ["skill"]
            yield {"id": skill.name, "name": skill.name, "description": skill.description, "tags": tags}
