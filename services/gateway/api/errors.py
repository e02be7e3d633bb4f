"""Problem documents (RFC 9457) as the gateway's contract names them; `libs.runtime.problems` writes them."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Place(BaseModel):
    """What is wrong, and where in the request."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """A problem document. `code` is stable; `detail` is for people."""

    type: str = Field(examples=["urn:suma:problem:NOT_FOUND"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no such session."])
    code: str = Field(examples=["NOT_FOUND"])
    errors: list[Place] = []
