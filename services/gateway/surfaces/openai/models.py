"""The list of models. Suma is one: it chooses those that it plans and answers with itself."""

from __future__ import annotations

from services.gateway.surfaces.openai.requests import MODEL, NoSuchModel
from services.gateway.surfaces.segments import Json

SUMA: Json = {"id": MODEL, "object": "model", "created": 0, "owned_by": "suma"}


def listed() -> Json:
    return {"object": "list", "data": [SUMA]}


def found(name: str) -> Json:
    """Return a model. Raises NoSuchModel."""
    if name != MODEL:
        raise NoSuchModel
    return SUMA
