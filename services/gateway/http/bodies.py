"""Strict request bodies: only JSON in valid UTF-8, shallow, without NaN, unpaired surrogates or NUL characters."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from typing_extensions import override

from services.gateway.http.values import flaw


class NotAccepted(HTTPException):
    """The body nests too deep, or a text holds U+0000. FastAPI turns any other error of a parser into a bare 400."""

    code = "BODY_NOT_ACCEPTED"

    def __init__(self, wrong: str) -> None:
        super().__init__(422, f"The body is not accepted: {wrong}.")


class StrictRequest(Request):
    @override
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route whose body is JSON or absent."""

    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in ("", "application/json") and request.method in ("POST", "PUT", "PATCH"):
                raise HTTPException(415, "The body is not JSON; send application/json.")
            return await handle(StrictRequest(request.scope, request.receive))

        return strictly


def parsed(raw: bytes) -> Any:
    """Return a body. Raises HTTPException if it is not JSON, nests too deep or holds U+0000."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise HTTPException(400, f"The body is not JSON: {error.msg} at {error.pos}.") from None
    if (wrong := flaw(body)) is not None:
        raise NotAccepted(wrong)
    return body
