"""A request as the operations see it: its caller, what its message began, and our errors in the protocol's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from a2a.server.context import ServerCallContext
from a2a.utils.constants import VERSION_HEADER
from a2a.utils.errors import InternalError, InvalidParamsError, UnsupportedOperationError
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.message import Message as ProtoMessage
from pydantic import ValidationError
from starlette.requests import Request

from libs.errors import Denied, SumaError
from libs.identity import Principal
from services.gateway.http.urls import base
from services.gateway.sessions.models import Accepted
from services.gateway.surfaces.a2a.errors import counterpart
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.turns import TurnClient

REFUSED = "a2a_refused"
"""The key of a request's state that holds the error that HTTP itself expresses."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The task of a message, or of a subscription."""

    turn_id: str
    accepted: Accepted | None = None
    """The accepted message that begins a new task; None: the task existed before."""
    text: str = ""
    context: str = ""
    """The context that a new task's client knows it by."""
    asked_at: datetime | None = None
    """The time of the question that the message answers. The task shows it until a worker has read the answer."""

    @property
    def continues(self) -> bool:
        """Whether the task existed before."""
        return self.accepted is None


class Call:
    """One request: its caller, and what it addresses."""

    def __init__(self, here: Gateway, context: ServerCallContext, params: ProtoMessage) -> None:
        self.request: Request = context.state["request"]
        self.who: Principal = self.request.state.caller
        self.turns = TurnClient(here, self.who, self.request)
        self.base = base(self.request.url.scheme, self.request.headers["host"], here.settings.public_url)
        self.extensions = context.requested_extensions
        self.version: str = context.state["headers"][VERSION_HEADER]
        if getattr(params, "tenant", "") not in ("", self.who.tenant):
            raise InvalidParamsError("the tenant is that of your credentials; leave it out")
        validate_proto_required_fields(params)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Raise our errors as the protocol's; leave those that HTTP itself expresses to the server."""
        try:
            yield
        except (SumaError, ValidationError) as error:
            found = counterpart(error)
            if found is not None:
                raise found from None
            setattr(self.request.state, REFUSED, error)
            # The SDK logs an internal error as a failure of the server, which a denial is not.
            hidden = UnsupportedOperationError if isinstance(error, Denied) else InternalError
            raise hidden(str(error)) from None
