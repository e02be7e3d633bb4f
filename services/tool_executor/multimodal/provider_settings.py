"""Settings of the services that make pictures, and of the model that judges them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, model_validator

from libs.budgets import Amount
from libs.errors import Rejected
from libs.guards import Target, check_url
from libs.multimodal.ports import CostTier

KEY_BYTES_MOST = 16 * 1024
Size = Annotated[str, StringConstraints(pattern=r"^[1-9]\d{1,3}x[1-9]\d{1,3}$")]
"""Width and height in pixels, such as `1024x1024`."""


class Endpoint(BaseModel):
    """An HTTP API with a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    """Its base address. It must be public and https, unless `private` is true."""
    private: bool = False
    """It is on this machine or network: http and private addresses are allowed."""
    key: SecretStr | None = None
    key_file: Path | None = None
    """A file that contains the key; it is read for each call."""
    model: str = Field(min_length=1, max_length=200, pattern=r"^[\w./:-]+$")
    seconds: float = Field(default=60.0, gt=0, le=900)
    """The most that one call takes, with its downloads."""

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.key is not None and self.key_file is not None:
            raise ValueError("set key or key_file, not both")
        if not self.private and urlsplit(self.url).scheme != "https":
            raise ValueError("url must begin with https://; set private to true if it is on this machine or network")
        try:
            self.target()
        except Rejected as refused:
            raise ValueError(f"url: {refused}") from None
        return self

    @property
    def place(self) -> str:
        """Its host, with the port if the address names one."""
        return urlsplit(self.url).netloc.lower()

    def target(self, path: str = "") -> Target:
        """Return the target of a path below its address. Raises UrlRefused."""
        port = urlsplit(self.url).port
        allowed = (self.place,) if self.private else ()
        return check_url(self.url.rstrip("/") + path, ports=(port or 443,), allowed=allowed)

    def secret(self) -> str:
        """Return the key; empty if there is none. Raises OSError if its file cannot be read."""
        if self.key_file is None:
            return self.key.get_secret_value() if self.key is not None else ""
        with self.key_file.open("rb") as file:
            return file.read(KEY_BYTES_MOST).decode(errors="replace").strip()


class ImageProvider(Endpoint):
    """A service that makes pictures from words (S3-28)."""

    kind: Literal["openai", "stability", "replicate"]
    """Its API: that of OpenAI's images, which many servers speak, of Stability, or of Replicate."""
    tool_id: str = Field(default="image_gen", pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    formats: tuple[Literal["png", "jpeg", "webp"], ...] = Field(default=("png",), min_length=1)
    sizes: tuple[Size, ...] = Field(default=("1024x1024",), min_length=1)
    """The sizes that it makes; the largest that fits a request is used."""
    cost_micros: int = Field(ge=0)
    """The price of a picture, in millionths of a US dollar."""
    cost_tier: CostTier = CostTier.HIGH
    priority: int = 100
    """Its place among the providers; the lowest is first."""
    honours_keys: bool = False
    """It does a request with a known `Idempotency-Key` once; then an interrupted one is repeated."""
    download_hosts: tuple[str, ...] = ()
    """Hosts from which its pictures may be downloaded, beside its own; each as `host` or `host:port`."""
    bytes_most: int = Field(default=16 << 20, ge=1, le=64 << 20)
    """Maximum of one picture."""
    polls_most: int = Field(default=120, ge=1, le=1000)
    """How often a picture is asked for until it is made."""
    poll_seconds: float = Field(default=1.0, gt=0, le=60)

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that its pictures may come from."""
        return frozenset((self.place, *(host.lower() for host in self.download_hosts)))


class VisionModel(Endpoint):
    """The model that judges pictures (S3-25): it speaks OpenAI's chat completions, and sees."""

    seconds: float = Field(default=10.0, gt=0, le=300)
    input_price: float = Field(default=0.0, ge=0, le=10_000)
    """Its price in US dollars per million tokens of input; without prices, its calls count as free, in tokens alone."""
    output_price: float = Field(default=0.0, ge=0, le=10_000)
    """Its price in US dollars per million tokens of output."""

    def amount(self, input_tokens: int, output_tokens: int) -> Amount:
        """Return what so many tokens cost. Dollars per million tokens, times tokens, are millionths of a dollar."""
        cost = math.ceil(round(self.input_price * input_tokens + self.output_price * output_tokens, 6))
        return Amount(input_tokens + output_tokens, cost)
