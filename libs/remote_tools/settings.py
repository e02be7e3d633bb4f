"""Settings of the servers whose tools the executor offers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from libs.errors import Rejected
from libs.guards.urls import check_url

RESERVED = ("skills", "suma", "workspace")
"""Prefixes of Suma's own tools."""
NAME = r"^[a-z][a-z0-9_-]{0,31}$"
TOKEN_BYTES_MOST = 16 * 1024


class RemoteServer(BaseModel):
    """A server that offers tools over HTTP or is a program, and how far it is trusted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = ""
    """The server's endpoint. It must be public and https, unless `private` is true."""
    command: tuple[str, ...] = ()
    """Instead of a URL: a program with its arguments, which speaks over its standard input and output. It runs in the
    sandbox, without network, with `folder` at `/server`.
    """
    folder: Path | None = None
    """The program's files: at most 5,000 with 64 MiB, without links."""
    private: bool = False
    """The server is on this machine or network: http and private addresses are allowed."""
    token: SecretStr | None = None
    """A bearer token for the server."""
    token_file: Path | None = None
    """A file that contains the token; it is read at each connection."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """More headers of each request."""
    tools: tuple[str, ...] = ("*",)
    """The tools to offer: names, or `*` for all."""
    read_only: tuple[str, ...] = ()
    """Tools that change nothing, if the server says so too; `*` for all. Their calls are repeated after a failure."""
    idempotent: tuple[str, ...] = ()
    """Tools that may be repeated, if the server says so too; `*` for all."""
    costs_money: tuple[str, ...] = ()
    """Tools that are charged for; `*` for all. A committee reviews each plan with one."""
    tenants: tuple[str, ...] = ()
    """The tenants that may use the server; empty: all."""
    connect_seconds: float = Field(default=10.0, gt=0, le=60)
    """Most seconds to connect and to list the tools."""
    call_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Most seconds of one call."""

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.token is not None and self.token_file is not None:
            raise ValueError("set token or token_file, not both")
        if bool(self.url) == bool(self.command):
            raise ValueError("set url or command, one of both")
        if self.command:
            if self.token or self.token_file or self.headers or self.private or not all(self.command):
                raise ValueError("a program has no token, no headers and no network, and its words are not empty")
            return self
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.port == 0:
            raise ValueError("url must be an address such as https://example.org/mcp, without a user")
        if not self.private:
            self._check_public(parts.scheme)
        return self

    @field_validator("headers")
    @classmethod
    def _no_token_there(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if any(name.lower() in ("host", "content-length", "authorization") for name in headers):
            raise ValueError("set token or token_file instead of Authorization; Host and Content-Length are ours")
        return headers

    @property
    def address(self) -> str:
        """The server's origin, without path and query, or its command; for people and for policy."""
        if self.command:
            return f"sandbox: {shlex.join(self.command)}{f' in {self.folder}' if self.folder else ''}"
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def secret_headers(self) -> dict[str, str]:
        """Return the headers that authorize us. Raises OSError if the token's file cannot be read."""
        token = self.token.get_secret_value() if self.token is not None else None
        if self.token_file is not None:
            with self.token_file.open("rb") as file:
                token = file.read(TOKEN_BYTES_MOST).decode().strip()
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        return {**{name: value.get_secret_value() for name, value in self.headers.items()}, **bearer}

    def _check_public(self, scheme: str) -> None:
        hint = "set private to true if the server is on this machine or network"
        if scheme != "https":
            raise ValueError(f"url must begin with https://; {hint}")
        try:
            check_url(self.url, ports=(urlsplit(self.url).port or 443,))
        except Rejected as refused:
            raise ValueError(f"{refused} {hint}") from None
