"""Suma's errors as the protocol's own. An error without a counterpart, such as a limit, keeps its HTTP status."""

from __future__ import annotations

from a2a.utils.errors import A2AError, InvalidParamsError, TaskNotFoundError, UnsupportedOperationError
from pydantic import ValidationError

from libs.errors import Denied, NotFound, Rejected, SumaError
from services.gateway.surfaces.turns import NothingAsked


def counterpart(error: SumaError | ValidationError) -> A2AError | None:
    """Return the protocol's error; None for one that HTTP itself expresses: 401, 403, 429 and 503."""
    match error:
        case ValidationError():
            places = [{"field": ".".join(map(str, e["loc"])), "message": e["msg"]} for e in error.errors()[:20]]
            reason = ": ".join(filter(None, places[0].values()))
            return InvalidParamsError(f"the message is not accepted: {reason}", {"errors": places})
        case NotFound():
            return TaskNotFoundError(data={"code": error.code})
        case NothingAsked():
            return UnsupportedOperationError(str(error), {"code": error.code})
        case Denied():
            return None
        case Rejected():
            return InvalidParamsError(str(error), {"code": error.code})
        case _:
            return None
