"""Settings: where a value comes from, what is refused, and what is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.workspace.roots import Root
from services import settings


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without any setting of whoever runs the tests; the file that settings are read from."""
    for name in settings.unknown({}) or []:
        monkeypatch.delenv(name)
    for name in ("SUMA_PORT", "SUMA_MEMORY_PORT", "SUMA_DATA_DIR", "SUMA_ROOTS", "SUMA_LOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SUMA_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "config.yaml"


def sources() -> dict[str, tuple[object, str]]:
    return {told.name: (told.value, told.source) for told in settings.explain(settings.everything())}


def test_variable_precedes_the_file_and_the_file_the_default(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text("port: 8020\nlog: debug\n")
    monkeypatch.setenv("SUMA_PORT", "8030")
    told = sources()
    assert told["port"] == (8030, "SUMA_PORT")
    assert told["log"] == ("debug", str(bare))
    assert told["host"] == ("127.0.0.1", "default")


def test_each_service_has_a_section_of_its_own(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text("conversation_worker:\n  limits: {calls: 7}\n")
    monkeypatch.setenv("SUMA_CONVERSATION_WORKER__LIMITS__ROUNDS", "5")
    told = sources()
    assert told["conversation_worker.limits.rounds"] == (5, "SUMA_CONVERSATION_WORKER__LIMITS__ROUNDS")
    assert told["conversation_worker.limits.calls"] == (7, str(bare))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SUMA_PORT", "http"),
        ("SUMA_PORT", "70000"),
        ("SUMA_MODEL", "openai"),
        ("SUMA_MODEL", "gemini:pro"),
        ("SUMA_MODEL_URL", "localhost:8000"),
        ("SUMA_MODEL_OUTPUT", "xml"),
        ("SUMA_MODEL_SECONDS", "0"),
        ("SUMA_SKILL_MATCH_GAP", "0"),
        ("SUMA_BUDGETS__TURN_TOKENS", "0"),
        ("SUMA_BUDGETS__TENANT_DOLLARS", "-1"),
        ("SUMA_BUDGETS__TENANT_DOLLARS", "nan"),
        ("SUMA_BUDGETS__TENANT_WINDOW", "fortnight"),
        ("SUMA_BUDGETS__NO_SUCH_THING", "1"),
        ("SUMA_CONVERSATION_WORKER__LIMITS__TOKENS", "1"),
        ("SUMA_CONVERSATION_WORKER__LIMITS__ROUNDS", "0"),
        ("SUMA_GATEWAY__NO_SUCH_THING", "1"),
    ],
)
def test_wrong_value_is_refused_by_its_variables_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(settings.BadSettings) as refused:
        settings.everything()
    assert str(refused.value).startswith(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["port: [", "- a list", "port:\n  deep: 1"])
def test_unreadable_file_is_refused_in_one_line(bare: Path, text: str) -> None:
    bare.write_text(text)
    with pytest.raises(settings.BadSettings) as refused:
        settings.everything()
    assert "\n" not in str(refused.value)


def test_secrets_are_hidden_where_settings_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_REDIS_URL", "redis://:hunter2@cache")
    told = sources()
    assert told["redis_url"][1] == "SUMA_REDIS_URL"
    assert "hunter2" not in str(told)


def test_every_setting_is_described() -> None:
    undescribed = [told.name for told in settings.explain(settings.everything()) if not told.description]
    assert undescribed == []


def test_unknown_variable_is_reported_with_the_closest_setting() -> None:
    environment = {"SUMA_PROT": "1", "SUMA_PORT": "1", "SUMA_URL": "x", "SUMA_GATEWAY__PAGE": "1", "HOME": "/"}
    assert settings.unknown(environment) == ["SUMA_PROT (did you mean SUMA_PORT?)"]


def test_roots_are_several_folders_in_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_ROOTS", "/srv/a:~/b")
    assert settings.process().roots == (Root(Path("/srv/a")), Root(Path("~/b").expanduser()))


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SUMA_POLICY_ENGINE", "opa", "set SUMA_OPA_URL to its address"),
        ("SUMA_OPA_URL", "localhost:8181", "SUMA_OPA_URL: must be an address that begins with http://"),
        ("SUMA_OPA_URL", "http://localhost:port", "SUMA_OPA_URL: Port could not be cast"),
        ("SUMA_OBJECTS", "s3", "set SUMA_S3__BUCKET to"),
        ("SUMA_S3__ACCESS_KEY", "key", "must be set together"),
        ("SUMA_S3__BUCKETS", "suma", "SUMA_S3__BUCKETS"),
        ("SUMA_S3__PUBLIC_ENDPOINT", "files.example.org", "SUMA_S3__PUBLIC_ENDPOINT"),
        ("SUMA_S3__PUBLIC_ENDPOINT", "ftp://files.example.org", "SUMA_S3__PUBLIC_ENDPOINT"),
        ("SUMA_S3__PUBLIC_ENDPOINT", "https://me@files.example.org", "SUMA_S3__PUBLIC_ENDPOINT"),
        ("SUMA_S3__PUBLIC_ENDPOINT", "https://example.org/files", "SUMA_S3__PUBLIC_ENDPOINT"),
        ("SUMA_S3__PUBLIC_ENDPOINT", "https://example.org:x", "SUMA_S3__PUBLIC_ENDPOINT"),
        ("SUMA_S3__LINK_SECONDS", "0", "SUMA_S3__LINK_SECONDS"),
        ("SUMA_S3__LINK_SECONDS", "3601", "SUMA_S3__LINK_SECONDS"),
        ("SUMA_MODEL", "openai-compatible:x", "set SUMA_MODEL_URL"),
        ("SUMA_MODEL_INPUT_PRICE", "1", "must be set together"),
        ("SUMA_BUS", "kafka", "set SUMA_KAFKA__BOOTSTRAP to"),
        ("SUMA_BUS", "rabbit", "SUMA_BUS"),
        ("SUMA_KAFKA__SECURITY_PROTOCOL", "SASL_SSL", "needs sasl_username and sasl_password"),
        ("SUMA_KAFKA__SASL_USERNAME", "suma", "is not sent over PLAINTEXT: set security_protocol"),
        ("SUMA_DATABASE_BUS_URL", "postgresql://suma_bus@db/suma", "database_bus_url needs database_url"),
        ("SUMA_KAFKA__CERT_FILE", "c.pem", "cert_file and key_file must be set together"),
        ("SUMA_KAFKA__PREFIX", "with space", "SUMA_KAFKA__PREFIX"),
    ],
)
def test_a_server_that_is_chosen_must_be_somewhere(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(settings.BadSettings, match=says):
        settings.everything()


def test_the_secrets_of_servers_are_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (
        "SUMA_MODEL_KEY",
        "SUMA_OPA_TOKEN",
        "SUMA_S3__ACCESS_KEY",
        "SUMA_S3__SECRET_KEY",
        "SUMA_KAFKA__SASL_PASSWORD",
    ):
        monkeypatch.setenv(variable, "hush")
    assert "hush" not in str(sources())


def test_kafkas_password_may_be_in_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hush\n")
    for name, value in {"SECURITY_PROTOCOL": "SASL_SSL", "SASL_USERNAME": "suma"}.items():
        monkeypatch.setenv(f"SUMA_KAFKA__{name}", value)
    monkeypatch.setenv("SUMA_KAFKA__SASL_PASSWORD_FILE", str(tmp_path / "password"))
    assert settings.process().kafka.password() == "hush"
    assert "hush" not in str(sources())
    (tmp_path / "password").unlink()
    with pytest.raises(settings.BadSettings, match="SUMA_KAFKA__SASL_PASSWORD_FILE cannot be read"):
        settings.process().kafka.password()


@pytest.mark.parametrize("name", ["model_key", "embedder_key"])
def test_file_of_settings_with_a_key_is_refused(bare: Path, name: str) -> None:
    bare.write_text(f"{name}: sk-hush\n")
    with pytest.raises(settings.BadSettings, match=f"use {name}_file") as refused:
        settings.process()
    assert "hush" not in str(refused.value)


def test_budgets_are_set_in_tokens_and_dollars_in_one_place(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text("budgets: {turn_dollars: 0.25, tenant_window: month}\n")
    monkeypatch.setenv("SUMA_BUDGETS__SESSION_TOKENS", "1234567")
    limits = settings.process().budgets.limits
    assert (limits.turn.tokens, limits.turn.cost_micros) == (200_000, 250_000)
    assert (limits.session.tokens, limits.window) == (1_234_567, "month")


SERVERS = "SUMA_TOOL_EXECUTOR__MCP_SERVERS"


def test_a_tool_servers_token_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        SERVERS,
        '{"tickets": {"url": "https://mcp.example.org/mcp?key=abc", "token": "s3cret", "headers": {"X": "y3"}}}',
    )
    shown = str(sources()["tool_executor.mcp_servers"])
    assert "mcp.example.org" in shown
    assert [hidden for hidden in ("s3cret", "y3", "abc") if hidden in shown] == []


@pytest.mark.parametrize(
    "server",
    [
        '{"tickets": {"url": "http://mcp.example.org/mcp"}}',
        '{"tickets": {"url": "https://10.0.0.7/mcp"}}',
        '{"tickets": {"url": "https://localhost/mcp"}}',
        '{"workspace": {"url": "https://mcp.example.org/mcp"}}',
        '{"Tickets!": {"url": "https://mcp.example.org/mcp"}}',
    ],
)
def test_an_unsafe_tool_server_is_refused(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    monkeypatch.setenv(SERVERS, server)
    with pytest.raises(settings.BadSettings):
        settings.everything()
