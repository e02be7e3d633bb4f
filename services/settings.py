"""The settings of a process: environment (`SUMA_PORT`) over file (`port:` in config.yaml) over default.

`Process` is what every process and the command line need; `everything()` adds a section for each service, such as
`SUMA_CONVERSATION_WORKER__LIMITS__ROUNDS`, whose class the service itself declares.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, get_args
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
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

from libs.budgets import Amount, Limits, Window
from libs.embedded import datadir
from libs.errors import Rejected
from libs.hooks import GATED, Point
from libs.models import choice
from libs.runtime import Agent, EffectiveSetting, Source
from libs.workspace.roots import Root
from services import catalog

T = TypeVar("T")
Dependency = Literal["bus", "objects", "policy", "postgres", "redis"]
PREFIX = "SUMA_"
MULTIMODAL = "SA01_ENABLE_multimodal_capabilities"
"""The variable, and the name in the settings file, of `multimodal`: a requirement gives it (S3-13)."""
AMOUNT_MOST, DOLLARS_MOST = 10**15, 10**9
"""Larger than any real amount, yet sums of many are still exact."""
STARS = "**********"
"""Shown for a secret that is set, as pydantic does."""
CREDENTIALS = re.compile(r"(?<=://)[^/\s]+(?=@)|(?<=\?)\S+")
"""The user and password of an address, and its query."""
CLIENT = frozenset({"SUMA_URL", "SUMA_API_KEY", "SUMA_CONFIG"})
"""Variables with our prefix that are not process settings; the first two belong to the command line."""

ROOT = Path(__file__).resolve().parents[1]
"""The folder that `libs` and `services` are imported from: the checkout, or site-packages."""


def _bundled() -> Path:
    """Return the folder of the bundled data: beside this module in a wheel, at the root in a checkout (pyproject.toml,
    force-include).
    """
    packaged = ROOT / "services" / "bundled"
    return packaged if packaged.is_dir() else ROOT


BUNDLED = _bundled()
"""The folder that contains skills/ and deploy/opa/."""
WEB = ROOT / "build" / "web" if BUNDLED == ROOT else BUNDLED / "web"
"""The folder of the built web application; `make web` makes the first one."""


class BadSettings(Rejected):
    """A setting is invalid; correct it in the environment or the settings file."""

    code = "BAD_SETTINGS"


def config_file(environment: Mapping[str, str]) -> Path:
    """Return `SUMA_CONFIG`, else `$XDG_CONFIG_HOME/suma/config.yaml`, else `~/.config/suma/config.yaml`; it may be
    absent.
    """
    if chosen := environment.get("SUMA_CONFIG"):
        return Path(chosen).expanduser().absolute()
    home = Path(environment.get("XDG_CONFIG_HOME", ""))
    return (home if home.is_absolute() else Path("~/.config").expanduser()) / "suma" / "config.yaml"


class Kafka(BaseModel):
    """The Kafka cluster, and our credentials."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bootstrap: str | None = None
    """Bootstrap brokers, as `host:port,host:port`."""
    prefix: str = Field(default="", pattern=r"^[A-Za-z0-9._-]{0,100}$")
    """Prefix of our topic and group names, so that installations may share a cluster."""
    replication: int = Field(default=1, ge=1)
    """Replication factor of topics that we create; 3 in production."""
    instance: str | None = None
    """A stable name of this replica, for static membership in its group."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """How connections to the brokers are secured."""
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-256"
    """How the SASL user signs in."""
    sasl_username: str | None = None
    """The SASL user."""
    sasl_password: SecretStr | None = None
    """The SASL user's password."""
    sasl_password_file: Path | None = None
    """A file that contains only that password."""
    ca_file: Path | None = None
    """PEM; by default the system's authorities are trusted."""
    cert_file: Path | None = None
    """PEM; our certificate, if the brokers require one."""
    key_file: Path | None = None
    """PEM; the certificate's key."""

    @model_validator(mode="after")
    def _complete(self) -> Kafka:
        passwords = bool(self.sasl_password) + bool(self.sasl_password_file)
        if self.security_protocol.startswith("SASL") and not (self.sasl_username and passwords == 1):
            raise ValueError(
                f"{self.security_protocol} needs sasl_username and sasl_password, or sasl_password_file instead of it"
            )
        if self.sasl_username and not self.security_protocol.startswith("SASL"):
            raise ValueError(f"sasl_username is not sent over {self.security_protocol}: set security_protocol")
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file must be set together")
        return self

    def password(self) -> str | None:
        """Return the SASL password, from its file if it has one. Raises `BadSettings`."""
        if self.sasl_password_file is None:
            return self.sasl_password.get_secret_value() if self.sasl_password is not None else None
        try:
            return self.sasl_password_file.read_text().strip()
        except (OSError, ValueError) as error:
            raise BadSettings(f"{variable(('kafka', 'sasl_password_file'))} cannot be read: {error}") from None


class S3(BaseModel):
    """The S3 bucket, and our credentials. Omitted values come from AWS's standard configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bucket: str | None = None
    """The bucket; created if it does not exist."""
    endpoint: str | None = None
    """A server other than AWS, such as http://localhost:9000."""
    region: str | None = None
    """The region."""
    access_key: SecretStr | None = None
    """The account's access key."""
    secret_key: SecretStr | None = None
    """The account's secret key."""
    public_endpoint: str | None = None
    """The server's address for clients, who then get links; else all downloads pass through us."""
    link_seconds: int = Field(default=60, ge=1, le=3600)
    """Lifetime of such a link in seconds."""

    @field_validator("public_endpoint")
    @classmethod
    def _an_origin(cls, url: str | None) -> str | None:
        # The signature covers the host. A path before the bucket would not be covered, and a user name would be
        # exposed.
        if url is not None and not _is_origin(urlsplit(url)):
            raise ValueError("must be an address such as https://files.example.org, without a user and a path")
        return url

    @model_validator(mode="after")
    def _both_keys_or_none(self) -> S3:
        if (self.access_key is None) != (self.secret_key is None):
            raise ValueError("access_key and secret_key must be set together")
        return self


class Budgets(BaseModel):
    """Limits on calls of a real model. Dollars are US dollars at list price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn_tokens: int = Field(default=200_000, ge=1, le=AMOUNT_MOST)
    """Most tokens of a turn."""
    turn_dollars: float = Field(default=1.0, ge=0, le=DOLLARS_MOST)
    """Most dollars of a turn."""
    session_tokens: int = Field(default=5_000_000, ge=1, le=AMOUNT_MOST)
    """Most tokens of a session."""
    session_dollars: float = Field(default=20.0, ge=0, le=DOLLARS_MOST)
    """Most dollars of a session."""
    tenant_tokens: int = Field(default=50_000_000, ge=1, le=AMOUNT_MOST)
    """Most tokens of a tenant in each window."""
    tenant_dollars: float = Field(default=100.0, ge=0, le=DOLLARS_MOST)
    """Most dollars of a tenant in each window."""
    tenant_window: Window = "day"
    """A calendar window, in UTC."""

    @property
    def limits(self) -> Limits:
        return Limits(
            turn=_amount(self.turn_tokens, self.turn_dollars),
            session=_amount(self.session_tokens, self.session_dollars),
            tenant=_amount(self.tenant_tokens, self.tenant_dollars),
            window=self.tenant_window,
        )


class Hooks(BaseModel):
    """Hooks by point, such as `on_tool_call`: each `module:attribute` or an entry point, with a pin if wanted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gates: dict[Point, tuple[str, ...]] = Field(default_factory=dict)
    """Hooks that are asked before an action, and may refuse it."""
    observers: dict[Point, tuple[str, ...]] = Field(default_factory=dict)
    """Hooks that read events after they were committed."""
    seconds: float = Field(default=5.0, gt=0, le=60)
    """Most seconds of one call of a hook; a gate that takes longer refuses."""

    @field_validator("gates")
    @classmethod
    def _before_an_action(cls, gates: dict[Point, tuple[str, ...]]) -> dict[Point, tuple[str, ...]]:
        if late := [point for point in gates if point not in GATED]:
            raise ValueError(f"{', '.join(late)} is after its action: gates are at {', '.join(GATED)}")
        return gates


def _amount(tokens: int, dollars: float) -> Amount:
    return Amount(tokens, round(dollars * 1_000_000))


class Process(BaseSettings):
    """The settings that every process needs."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        populate_by_name=True,
    )

    host: str = "127.0.0.1"
    """The address that our HTTP ports listen on."""
    port: int = Field(default=8010, ge=0, le=65535)
    """The port of the gateway, or of a service that runs alone; 0 picks a free one."""
    tls_cert_file: Path | None = None
    """PEM: the certificate chain of the port; with it the port speaks TLS 1.3 only."""
    tls_key_file: Path | None = None
    """PEM: the certificate's key."""
    memory_port: int = Field(default=9696, ge=0, le=65535)
    """The memory service's port; 0 picks a free one."""
    data_dir: Path = Field(default_factory=lambda: datadir.location(os.environ), validate_default=True)
    """The folder for all data."""
    public_keys: Path | None = None
    """A folder with a folder for each key whose public halves are shared; for services with a data directory each."""
    roots: Annotated[tuple[Annotated[Root, BeforeValidator(Root.of)], ...], NoDecode] = ()
    """Folders that may be workspaces, separated by `:`; `tenant=/path` for one tenant."""
    sandbox: Literal["auto", "docker", "bubblewrap", "none"] = "auto"
    """The mechanism that isolates commands; `auto` is the first of both that works, `none` refuses them."""
    model: str = choice.OFFLINE
    """provider:name; `offline` needs no network."""
    model_url: str | None = None
    """The model's address, if not its vendor's default."""
    model_key: SecretStr | None = None
    """The vendor's key; not allowed in the settings file."""
    model_key_file: Path | None = None
    """A file that contains the vendor's key."""
    model_output: Literal["auto", "tool", "schema", "text"] = "auto"
    """How JSON is requested from a model; `auto` is what its provider does best."""
    model_pictures: Literal["auto", "yes", "no"] = "auto"
    """Whether a model is shown the pictures that steps read; `auto` goes by its name."""
    model_output_tokens: int = Field(default=16_000, ge=256)
    """Most tokens in one answer of a model."""
    model_input_letters: int = Field(default=200_000, ge=10_000)
    """Most characters sent to a model at once."""
    model_first_seconds: float = Field(default=60.0, gt=0)
    """Most seconds until a model's first output."""
    model_pause_seconds: float = Field(default=30.0, gt=0)
    """Most seconds between two pieces of output."""
    model_seconds: float = Field(default=300.0, gt=0)
    """Most seconds for one call of a model."""
    model_input_price: float | None = Field(default=None, ge=0)
    """US dollars per million input tokens, instead of the list price."""
    model_output_price: float | None = Field(default=None, ge=0)
    """The same for output tokens."""
    embedder: str = Field(default="hashed", pattern=r"^(hashed|wordllama|endpoint:[!-~]{1,200})$")
    """`hashed`, `wordllama`, or `endpoint:MODEL`, a model of the server at embedder_url."""
    embedder_url: str = "http://localhost:11434/v1"
    """The address before /embeddings; by default Ollama's on this machine."""
    embedder_key: SecretStr | None = None
    """That server's key; not allowed in the settings file."""
    embedder_key_file: Path | None = None
    """A file that contains only that key."""
    embedder_dimensions: int | None = Field(default=None, ge=32, le=768)
    """Numbers of a vector, for a model that can shorten them; else the model's own number, at most 768."""
    embedder_query_prefix: str = Field(default="", max_length=200)
    """Begins each search that is sent to that server, for a model trained so, such as `query: `."""
    embedder_document_prefix: str = Field(default="", max_length=200)
    """Begins each text to keep that is sent there, such as `passage: `."""
    # S4-46 gives both numbers.
    skill_match_threshold: float = Field(default=0.70, ge=0, le=1)
    """The offline planner: the score that a reading must exceed."""
    skill_match_gap: float = Field(default=0.05, gt=0, le=1)
    """The offline planner: the required lead of its score over the next."""
    plan_seconds: float = Field(default=2.0, gt=0)
    """The offline planner: most processor seconds for one plan."""
    budgets: Budgets = Field(default_factory=Budgets)
    """Limits on calls of a real model."""
    hooks: Hooks = Field(default_factory=Hooks)
    """Code of the operator's own that is asked before actions, or reads events."""
    agents: dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")], Agent] = Field(
        default_factory=dict
    )
    """Agents that a message may choose: name → tools, role, prompt."""
    log: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level of logs."""
    log_format: Literal["auto", "json", "text"] = "auto"
    """`auto` is text in a terminal, else JSON."""
    multimodal: bool = Field(default=False, validation_alias=MULTIMODAL)
    """Whether the tools that make diagrams, charts, pictures and documents are offered and run."""
    traces: Path | None = None
    """A file that receives each span as a line of JSON; by default none."""
    otlp_url: str | None = None
    """An OpenTelemetry collector that receives each span (OTLP over HTTP), such as http://localhost:4318."""
    traces_ratio: float = Field(default=1.0, ge=0, le=1)
    """The fraction of traces that is kept."""
    policy: Path = BUNDLED / "deploy" / "opa"
    """The policy bundle's folder; with OPA, the bundle that it is expected to have."""
    policy_engine: Literal["rego", "opa"] = "rego"
    """The evaluator of the rules: `rego` in this process, or `opa`, a server at opa_url."""
    opa_url: str | None = None
    """The OPA server, such as http://localhost:8181."""
    opa_token: SecretStr | None = None
    """A bearer token, if OPA requires one."""
    objects: Literal["filesystem", "s3"] = "filesystem"
    """The store for blobs."""
    s3: S3 = Field(default_factory=S3)
    """The bucket for blobs, if they are in S3."""
    blob_bytes_most: int = Field(default=1 << 30, ge=1 << 20)
    """Most bytes in a blob."""
    database_url: SecretStr | None = None
    """Postgres as the service's own role; by default we run our own."""
    database_bus_url: SecretStr | None = None
    """The same as suma_bus, if the first is suma_app."""
    database_owner_url: SecretStr | None = None
    """The same as suma_owner, for a process that migrates."""
    redis_url: SecretStr | None = None
    """Redis; by default we run our own."""
    bus: Literal["postgres", "kafka"] = "postgres"
    """The transport of events to the services."""
    kafka: Kafka = Field(default_factory=Kafka)
    """Kafka, if it is the bus."""
    fusing: bool = True
    """Whether what an input causes in this process may be handled in its commit."""
    start_seconds: float = Field(default=60.0, ge=0)
    """Most seconds that a service that runs alone waits for its servers at the start."""
    essential: tuple[Dependency, ...] = ("bus", "objects", "policy", "postgres", "redis")
    """Dependencies that `/readyz` requires; without the others the process is only degraded."""
    urls: dict[str, str] = Field(default_factory=dict)
    """Addresses of the services' internal APIs by name, if each runs alone."""

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
    def _all_absolute(cls, roots: tuple[Root, ...]) -> tuple[Root, ...]:
        return tuple(Root(root.path.expanduser().absolute(), root.tenant) for root in roots)

    @field_validator("model")
    @classmethod
    def _known_model(cls, name: str) -> str:
        if name != choice.OFFLINE:
            _as_value_error(choice.named, name)
        return name

    @field_validator("model_url", "embedder_url")
    @classmethod
    def _somewhere(cls, url: str | None) -> str | None:
        return _as_value_error(choice.located, url) if url is not None else None

    @model_validator(mode="after")
    def _one_key_of_the_embedder(self) -> Process:
        if self.embedder_key is not None and self.embedder_key_file is not None:
            raise ValueError("embedder_key and embedder_key_file are both set: set only one of them")
        return self

    @field_validator("otlp_url", "opa_url")
    @classmethod
    def _a_web_address(cls, url: str | None) -> str | None:
        # Reading `port` raises ValueError for one that is not a number.
        if url is not None and (not url.startswith(("http://", "https://")) or urlsplit(url).port == 0):
            raise ValueError("must be an address that begins with http:// or https://")
        return url

    @model_validator(mode="after")
    def _certificate_and_key_or_none(self) -> Process:
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            raise ValueError("tls_cert_file and tls_key_file must be set together")
        return self

    @model_validator(mode="after")
    def _one_place_for_spans(self) -> Process:
        if self.traces is not None and self.otlp_url is not None:
            raise ValueError("spans go to a file (traces) or to a collector (otlp_url), not both: unset one")
        return self

    @model_validator(mode="after")
    def _both_prices_or_none(self) -> Process:
        if (self.model_input_price is None) != (self.model_output_price is None):
            raise ValueError("model_input_price and model_output_price must be set together")
        return self

    @model_validator(mode="after")
    def _what_is_chosen_is_somewhere(self) -> Process:
        if self.policy_engine == "opa" and not self.opa_url:
            raise ValueError(f"policy_engine is opa: set {variable(('opa_url',))} to its address")
        if self.objects == "s3" and not self.s3.bucket:
            raise ValueError(f"objects is s3: set {variable(('s3', 'bucket'))} to the bucket's name")
        if self.model.startswith("openai-compatible:") and not self.model_url:
            raise ValueError(f"an openai-compatible model needs its address: set {variable(('model_url',))}")
        if self.bus == "kafka" and not self.kafka.bootstrap:
            raise ValueError(f"bus is kafka: set {variable(('kafka', 'bootstrap'))} to its brokers")
        return self

    @model_validator(mode="after")
    def _the_bus_where_the_data_is(self) -> Process:
        if self.database_bus_url is not None and self.database_url is None:
            raise ValueError("database_bus_url needs database_url, to the same database")
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
        for key in ("model_key", "embedder_key"):
            if key in file():
                raise SettingsError(f"{config_file(os.environ)}: {key} is not allowed in a file; use {key}_file")
        return init_settings, env_settings, file

    def port_alone(self, service: str) -> int:
        """Return the port of a service that runs alone: SUMA_PORT if set, else the catalogue's port."""
        return self.port if "port" in self.model_fields_set else catalog.entry(service).port

    def url_of(self, service: str) -> str:
        """Return the URL of a service in another process."""
        return self.urls.get(service, f"http://localhost:{catalog.entry(service).port}")

    def of(self, service: str) -> BaseModel:
        """Return a service's own section. Only settings from `everything()` have them."""
        return cast("BaseModel", getattr(self, service))


def _is_origin(url: SplitResult) -> bool:
    # Reading `port` raises ValueError for one that is not a number.
    whole = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    return whole and url.username is None and url.path in ("", "/") and not url.query and not url.fragment


def process() -> Process:
    """Return the settings without the services' sections. Raises `BadSettings`."""
    return _read(Process)


def everything() -> Process:
    """Return the settings with a section for each service. Raises `BadSettings`."""
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
    """Return the environment variable of a setting."""
    if tuple(path) == ("multimodal",):
        return MULTIMODAL
    return PREFIX + "__".join(str(part) for part in path).upper()


def explain(settings: Process) -> Sequence[EffectiveSetting]:
    """Return every setting in force, in order; secrets are hidden."""
    return explaining(settings)()


def explaining(settings: Process) -> Callable[[], Sequence[EffectiveSetting]]:
    """Return a function that explains the settings. The file is read now, because it may change while they are in
    force; their descriptions are read when they are first needed.
    """
    file = config_file(os.environ)
    written = YamlConfigSettingsSource(type(settings), file)()
    return cache(lambda: [_explained(settings, leaf, written, file) for leaf in _leaves(settings, ())])


def unknown(environment: Mapping[str, str]) -> list[str]:
    """Return variables with our prefix that name no setting, each with the most similar setting."""
    known = {variable((name,)): "" for name in _whole().model_fields} | dict.fromkeys(CLIENT, "")
    ours = [name for name in environment if name.startswith(PREFIX) and name.split("__")[0] not in known]
    return [name + _meant(name, known) for name in sorted(ours)]


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A setting that has no sections below it, and the class that declares it."""

    path: tuple[str, ...]
    section: type[BaseModel]
    value: object
    """As JSON; stars for a secret that is set."""

    @property
    def field(self) -> FieldInfo:
        return self.section.model_fields[self.path[-1]]


def _leaves(section: BaseModel, above: tuple[str, ...]) -> Iterator[_Leaf]:
    for name, value in section.model_dump(mode="json").items():
        inner = getattr(section, name)
        if isinstance(inner, BaseModel):
            yield from _leaves(inner, (*above, name))
        else:
            yield _Leaf((*above, name), type(section), _without_credentials(value))


def _explained(settings: Process, leaf: _Leaf, written: Mapping[str, Any], file: Path) -> EffectiveSetting:
    value, (origin, source) = leaf.value, _source(leaf.path, written, file)
    if value is None and (elsewhere := _elsewhere(settings, leaf.path)):
        value, (origin, source) = STARS, elsewhere
    return EffectiveSetting(
        name=".".join(leaf.path),
        service=leaf.path[0] if len(leaf.path) > 1 and leaf.path[0] in catalog.NAMES else "platform",
        variable=variable(leaf.path),
        value=value,
        secret=SecretStr in (leaf.field.annotation, *get_args(leaf.field.annotation)),
        origin=origin,
        source=source,
        description=_description(leaf),
    )


def _elsewhere(settings: Process, path: tuple[str, ...]) -> tuple[Source, str] | None:
    """Return where a secret comes from that its own setting does not hold; None if it is not set there either."""
    if path == ("gateway", "local_key"):
        # The file's key is registered at the start (services.start).
        key = settings.data_dir / "key"
        return ("secret_file", str(key)) if key.exists() else None
    if path != ("model_key",) or settings.model == choice.OFFLINE:
        return None
    if settings.model_key_file is not None:
        return "secret_file", str(settings.model_key_file)
    vendors = choice.named(settings.model)[0].variable
    return ("environment", vendors) if vendors and os.environ.get(vendors) else None


def _without_credentials(value: Any) -> Any:
    """Return the value without the users, passwords and queries of addresses in it."""
    match value:
        case str() if "://" in value:
            return CREDENTIALS.sub("…", value)
        case list():
            return [_without_credentials(part) for part in value]
        case dict():
            return {name: _without_credentials(part) for name, part in value.items()}
        case _:
            return value


def _source(path: tuple[str, ...], written: Mapping[str, Any], file: Path) -> tuple[Source, str]:
    # A section may also be given as a whole, as JSON, in the variable of one of its parents, and a mapping by entries.
    for depth in range(len(path), 0, -1):
        if os.environ.get(variable(path[:depth])):
            return "environment", variable(path[:depth])
    entries = [name for name in os.environ if name.startswith(f"{variable(path)}__") and os.environ[name]]
    if entries:
        return "environment", ", ".join(sorted(entries))
    found: Any = written
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return "default", "default"
        found = found[name]
    return "file", str(file)


def _description(leaf: _Leaf) -> str:
    """Return the docstring of a setting, from the class that declares it."""
    name = leaf.path[-1]
    declared = next(base for base in leaf.section.__mro__ if name in inspect.get_annotations(base))
    return " ".join(_docstrings(declared)[name].split()).removesuffix(".")


@cache
def _docstrings(section: type) -> Mapping[str, str]:
    """Return the docstrings below a section's fields. pydantic would read them at every start, for 50 ms."""
    (declared,) = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    assert isinstance(declared, ast.ClassDef)
    return {
        field.target.id: below.value.value
        for field, below in pairwise(declared.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
