"""The settings of a process: environment (`SUMA_PORT`) over file (`port:` in config.yaml) over default.

`Process` is what every process and the command line need; `everything()` adds a section for each service, such as
`SUMA_CONVERSATION_WORKER__LIMITS__ROUNDS`, whose class the service itself declares.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    YamlConfigSettingsSource,
)
from typing_extensions import override
from yaml import YAMLError

from libs.budgets.ports import Amount, Limits, Window
from libs.errors import Rejected
from libs.models import choice
from libs.runtime.embedded import datadir
from services import catalog

T = TypeVar("T")
PREFIX = "SUMA_"
AMOUNT_MOST, DOLLARS_MOST = 10**15, 10**9
"""More than any of this world, and sums of many are whole numbers still."""
CLIENT = frozenset({"SUMA_URL", "SUMA_API_KEY", "SUMA_CONFIG"})
"""Variables of ours that are no settings of a process: the first two are the command line's."""

HOUSE = Path(__file__).resolve().parents[1]
"""The checkout, which holds the bundled policy and skills."""


class BadSettings(Rejected):
    """A setting is not what it must be."""

    code = "BAD_SETTINGS"


def config_file(environment: Mapping[str, str]) -> Path:
    """`SUMA_CONFIG`, else `$XDG_CONFIG_HOME/suma/config.yaml`, else `~/.config/suma/config.yaml`; it may be absent."""
    if chosen := environment.get("SUMA_CONFIG"):
        return Path(chosen).expanduser().absolute()
    home = Path(environment.get("XDG_CONFIG_HOME", ""))
    return (home if home.is_absolute() else Path("~/.config").expanduser()) / "suma" / "config.yaml"


class Kafka(BaseModel):
    """Where Kafka is, and who we are there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bootstrap: str | None = Field(default=None, description="Brokers to begin with, as `host:port,host:port`")
    prefix: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9._-]{0,100}$",
        description="Stands before our topics' and groups' names, so that installations may share a cluster",
    )
    replication: int = Field(default=1, ge=1, description="How many copies a topic that we make has; 3 in production")
    instance: str | None = Field(
        default=None, description="A lasting name of this replica, for static membership in its group"
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-256"
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ca_file: Path | None = Field(default=None, description="PEM; without it the system's authorities are trusted")
    cert_file: Path | None = Field(default=None, description="PEM; our certificate, where the brokers ask for one")
    key_file: Path | None = Field(default=None, description="PEM; its key")

    @model_validator(mode="after")
    def _complete(self) -> Kafka:
        if self.security_protocol.startswith("SASL") and not (self.sasl_username and self.sasl_password):
            raise ValueError(f"{self.security_protocol} needs sasl_username and sasl_password")
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file go together")
        return self


class S3(BaseModel):
    """Where blobs are, and who we are there. What is left out comes from where AWS's own tools look for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bucket: str | None = Field(default=None, description="It is made where there is none")
    endpoint: str | None = Field(default=None, description="Of a server that is not AWS, such as http://localhost:9000")
    region: str | None = None
    access_key: SecretStr | None = None
    secret_key: SecretStr | None = None
    public_endpoint: str | None = Field(
        default=None,
        description="Where clients reach the same server; then they are given links to it, else all goes through us",
    )
    link_seconds: int = Field(default=60, ge=1, le=3600, description="How long such a link opens")

    @field_validator("public_endpoint")
    @classmethod
    def _an_origin(cls, url: str | None) -> str | None:
        # What is signed covers the host: a path before the bucket would be none of it, and a user would be shown.
        if url is not None and not _is_origin(urlsplit(url)):
            raise ValueError("an address such as https://files.example.org, without a user and a path")
        return url

    @model_validator(mode="after")
    def _both_keys_or_none(self) -> S3:
        if (self.access_key is None) != (self.secret_key is None):
            raise ValueError("access_key and secret_key go together")
        return self


class Budgets(BaseModel):
    """What calls of a real model may use. Dollars are US dollars at list price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn_tokens: int = Field(default=200_000, ge=1, le=AMOUNT_MOST)
    turn_dollars: float = Field(default=1.0, ge=0, le=DOLLARS_MOST)
    session_tokens: int = Field(default=5_000_000, ge=1, le=AMOUNT_MOST)
    session_dollars: float = Field(default=20.0, ge=0, le=DOLLARS_MOST)
    tenant_tokens: int = Field(default=50_000_000, ge=1, le=AMOUNT_MOST, description="In each window")
    tenant_dollars: float = Field(default=100.0, ge=0, le=DOLLARS_MOST, description="In each window")
    tenant_window: Window = Field(default="day", description="Of the calendar, in UTC")

    @property
    def limits(self) -> Limits:
        return Limits(
            turn=_amount(self.turn_tokens, self.turn_dollars),
            session=_amount(self.session_tokens, self.session_dollars),
            tenant=_amount(self.tenant_tokens, self.tenant_dollars),
            window=self.tenant_window,
        )


def _amount(tokens: int, dollars: float) -> Amount:
    return Amount(tokens, round(dollars * 1_000_000))


class Process(BaseSettings):
    """What every process needs to know."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    host: str = Field(default="127.0.0.1", description="Where our HTTP ports listen")
    port: int = Field(
        default=8010, ge=0, le=65535, description="The gateway's port, or that of a service run alone; 0 takes any"
    )
    memory_port: int = Field(default=9696, ge=0, le=65535, description="The memory service's port; 0 takes any")
    data_dir: Path = Field(
        default_factory=lambda: datadir.location(os.environ),
        description="Where everything is kept",
        validate_default=True,
    )
    roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        default=(), description=f"Folders that may be workspaces, with {os.pathsep!r} between them"
    )
    model: str = Field(default=choice.OFFLINE, description="provider:name; `offline` needs no network")
    model_url: str | None = Field(default=None, description="Where the model is, when it is not at its vendor's own")
    model_key: SecretStr | None = Field(default=None, description="The vendor's key; not in the file of settings")
    model_key_file: Path | None = Field(default=None, description="A file that holds the vendor's key")
    model_output: Literal["auto", "tool", "schema", "text"] = Field(
        default="auto", description="How a model is asked for JSON; `auto` is what its provider does best"
    )
    model_output_tokens: int = Field(default=16_000, ge=256, description="What one answer of a model may be long")
    model_input_letters: int = Field(default=200_000, ge=10_000, description="What a model is sent at most")
    model_first_seconds: float = Field(default=60.0, gt=0, description="How long a model may think before it speaks")
    model_pause_seconds: float = Field(default=30.0, gt=0, description="How long it may be silent between two words")
    model_seconds: float = Field(default=300.0, gt=0, description="How long one call of a model may take in all")
    model_input_price: float | None = Field(
        default=None,
        ge=0,
        description="US dollars for a million tokens that a model reads, instead of the list's price",
    )
    model_output_price: float | None = Field(default=None, ge=0, description="The same for tokens that it writes")
    budgets: Budgets = Field(default_factory=Budgets, description="What calls of a real model may use")
    log: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto", description="`auto` is text at a terminal, else JSON"
    )
    traces: Path | None = Field(
        default=None, description="A file that gets every span as a line of JSON; none without it"
    )
    otlp_url: str | None = Field(
        default=None,
        description="An OpenTelemetry collector that gets every span (OTLP over HTTP), such as http://localhost:4318",
    )
    traces_ratio: float = Field(default=1.0, ge=0, le=1, description="The share of traces that is kept")
    policy: Path = Field(default=HOUSE / "deploy" / "opa", description="The policy bundle's folder")
    policy_engine: Literal["rego", "opa"] = Field(
        default="rego", description="Who answers by the rules: `rego` in this process, `opa` a server at opa_url"
    )
    opa_url: str | None = Field(default=None, description="The OPA server, such as http://localhost:8181")
    opa_token: SecretStr | None = Field(default=None, description="A bearer token, where OPA asks for one")
    objects: Literal["filesystem", "s3"] = Field(default="filesystem", description="Where blobs are kept")
    s3: S3 = Field(default_factory=S3, description="The bucket, where blobs are kept in S3")
    blob_bytes_most: int = Field(default=1 << 30, ge=1 << 20, description="The largest blob")
    database_url: SecretStr | None = Field(default=None, description="Postgres as suma_app; without it we run our own")
    database_bus_url: SecretStr | None = Field(default=None, description="The same as suma_bus")
    database_owner_url: SecretStr | None = Field(default=None, description="The same as suma_owner, which migrates")
    redis_url: SecretStr | None = Field(default=None, description="Redis; without it we run our own")
    bus: Literal["postgres", "kafka"] = Field(default="postgres", description="What carries events to the services")
    kafka: Kafka = Field(default_factory=Kafka, description="Kafka, where it is the bus")
    start_seconds: float = Field(
        default=60.0, ge=0, description="How long the start of a service run alone waits for servers that do not answer"
    )
    essential: tuple[Literal["bus", "objects", "policy", "postgres", "redis"], ...] = Field(
        default=("bus", "objects", "policy", "postgres", "redis"),
        description="Dependencies without which `/readyz` says no; the others only degrade what we do",
    )
    urls: dict[str, str] = Field(
        default_factory=dict, description="Where a service's internal API is, by name, when each runs alone"
    )

    @field_validator("roots", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value

    @field_validator("data_dir", "policy")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return path.expanduser().absolute()

    @field_validator("roots")
    @classmethod
    def _all_absolute(cls, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(path.expanduser().absolute() for path in paths)

    @field_validator("model")
    @classmethod
    def _known_model(cls, name: str) -> str:
        if name != choice.OFFLINE:
            _as_value_error(choice.named, name)
        return name

    @field_validator("model_url")
    @classmethod
    def _somewhere(cls, url: str | None) -> str | None:
        return _as_value_error(choice.located, url) if url is not None else None

    @field_validator("otlp_url", "opa_url")
    @classmethod
    def _a_web_address(cls, url: str | None) -> str | None:
        # A port that is no number is a ValueError, too.
        if url is not None and (not url.startswith(("http://", "https://")) or urlsplit(url).port == 0):
            raise ValueError("an address that begins with http:// or https://")
        return url

    @model_validator(mode="after")
    def _one_place_for_spans(self) -> Process:
        if self.traces is not None and self.otlp_url is not None:
            raise ValueError("spans go to a file (traces) or to a collector (otlp_url), not to both")
        return self

    @model_validator(mode="after")
    def _both_prices_or_none(self) -> Process:
        if (self.model_input_price is None) != (self.model_output_price is None):
            raise ValueError("model_input_price and model_output_price go together")
        return self

    @model_validator(mode="after")
    def _what_is_chosen_is_somewhere(self) -> Process:
        if self.policy_engine == "opa" and not self.opa_url:
            raise ValueError(f"OPA answers by the rules: {variable(('opa_url',))} says where it is")
        if self.objects == "s3" and not self.s3.bucket:
            raise ValueError(f"blobs are kept in S3: {variable(('s3', 'bucket'))} names the bucket")
        if self.model.startswith("openai-compatible:") and not self.model_url:
            raise ValueError(f"the model is a server of one's own: {variable(('model_url',))} says where it is")
        if self.bus == "kafka" and not self.kafka.bootstrap:
            raise ValueError(f"the bus is Kafka: {variable(('kafka', 'bootstrap'))} says where it is")
        return self

    @model_validator(mode="after")
    def _all_three_or_none(self) -> Process:
        urls = (self.database_url, self.database_bus_url, self.database_owner_url)
        if any(urls) and not all(urls):
            raise ValueError("database_url, database_bus_url and database_owner_url go together: one for each role")
        return self

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = YamlConfigSettingsSource(settings_cls, config_file(os.environ))
        if "model_key" in file():
            raise SettingsError(f"{config_file(os.environ)}: model_key is no setting of a file; use model_key_file")
        return init_settings, env_settings, file

    def port_alone(self, service: str) -> int:
        """Where a service listens in a process of its own: SUMA_PORT where it is set, else the catalogue's port."""
        return self.port if "port" in self.model_fields_set else catalog.entry(service).port

    def url_of(self, service: str) -> str:
        """Where another process's service is called."""
        return self.urls.get(service, f"http://localhost:{catalog.entry(service).port}")

    def of(self, service: str) -> BaseModel:
        """A service's own section. Only what `everything()` made has them."""
        return cast("BaseModel", getattr(self, service))


def _is_origin(url: SplitResult) -> bool:
    # A port that is no number is a ValueError, too.
    whole = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    return whole and url.username is None and url.path in ("", "/") and not url.query and not url.fragment


def process() -> Process:
    """The settings without the services' sections. Raises `BadSettings`."""
    return _read(Process)


def everything() -> Process:
    """The settings with a section for each service. Raises `BadSettings`."""
    return _read(_whole())


def _whole() -> type[Process]:
    sections = {entry.name: entry.settings() for entry in catalog.SERVICES}
    fields: dict[str, Any] = {name: (section, Field(default_factory=section)) for name, section in sections.items()}
    return create_model("Everything", __base__=Process, **fields)


def _read(kind: type[Process]) -> Process:
    try:
        return kind()
    except ValidationError as wrong:
        raise BadSettings("; ".join(_complaint(error["loc"], error["msg"]) for error in wrong.errors()[:3])) from None
    except (SettingsError, YAMLError, OSError) as unreadable:
        raise BadSettings(" ".join(str(unreadable).split())) from None
    except ValueError:
        raise BadSettings(f"{config_file(os.environ)} is not a mapping of names to settings") from None


def _as_value_error(check: Callable[[str], T], text: str) -> T:
    try:
        checked = check(text)
    except Rejected as wrong:
        raise ValueError(str(wrong)) from None
    return checked


def _complaint(where: Sequence[int | str], message: str) -> str:
    return (
        f"{variable(where)}: {message.removeprefix('Value error, ')}"
        if where
        else message.removeprefix("Value error, ")
    )


def variable(path: Sequence[int | str]) -> str:
    """The environment variable of a setting."""
    return PREFIX + "__".join(str(part) for part in path).upper()


@dataclass(frozen=True, slots=True)
class Told:
    """One effective value, and who said so: a variable's name, a file's path, or `default`."""

    name: str
    value: object
    source: str


def explain(settings: Process) -> Iterator[Told]:
    """Every setting in order, its value ready for JSON; secrets are hidden."""
    file = config_file(os.environ)
    written = YamlConfigSettingsSource(type(settings), file)()
    for path, value in _leaves(settings.model_dump(mode="json"), ()):
        yield Told(".".join(path), value, _source(path, written, file))


def unknown(environment: Mapping[str, str]) -> list[str]:
    """Variables that begin like ours and name no setting, each with the one that may be meant."""
    known = {variable((name,)): "" for name in _whole().model_fields} | dict.fromkeys(CLIENT, "")
    ours = [name for name in environment if name.startswith(PREFIX) and name.split("__")[0] not in known]
    return [name + _meant(name, known) for name in sorted(ours)]


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _leaves(tree: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _source(path: tuple[str, ...], written: Mapping[str, Any], file: Path) -> str:
    # A section may also be given whole, as JSON, in the variable of one of its parents.
    for depth in range(len(path), 0, -1):
        if os.environ.get(variable(path[:depth])):
            return variable(path[:depth])
    found: Any = written
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return "default"
        found = found[name]
    return str(file)
