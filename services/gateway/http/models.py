"""The parts of every room's models. A request with an unknown field is rejected."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema
from typing_extensions import override

from services.gateway.http.values import failing_fast

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
VISIBLE = r"[^\s\x85\uFEFF]"
r"""A visible character. `\s` of Rust, which decides here, and of ECMA-262, which clients read, differ in these two."""
MAX_POSITION = 2**63 - 1
"""The greatest number of an event, a record or a change."""


class RequestModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    @override
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return cast("CoreSchema", failing_fast(handler(source)))


class ResponseModel(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


def short(event_type: str) -> str:
    """Return the public name of an event type: `turn.started` for `suma.turn.started.v1`."""
    return event_type.removeprefix("suma.").rsplit(".v", 1)[0]
