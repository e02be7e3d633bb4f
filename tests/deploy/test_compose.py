"""docker-compose.yaml, read by Compose's own parser, matches the settings, the catalogue and the image."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.local import kafka, opa, s3
from deploy.local.cache import Unprovided
from libs.events.topics import TOPICS
from libs.policy import bundle_server
from services import catalog, model_factory, settings
from services.wiring import PLANNING, THINKING
from tests.infrastructure.parsers import Unparsable, parsed

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yaml"
OURS = [entry.name for entry in catalog.SERVICES]
FOLDERS = {"SUMA_ROOTS": "/work", "SUMA_AUDIT_WORKER__CHECKPOINTS": "/checkpoints"}
EXAMPLE = ROOT / "deploy" / "env.example"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the variables that deploy/secrets.sh writes."""
    file = tmp_path_factory.mktemp("env") / ".env"
    subprocess.run([ROOT / "deploy" / "secrets.sh", file], check=True)
    return file


@pytest.fixture(scope="module")
def compose(secrets: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = parsed("compose", FILE, secrets)
    except Unprovided as reason:
        pytest.skip(str(reason))
    return read


def test_secrets_are_for_their_owner_alone_and_never_replaced(secrets: Path) -> None:
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    before = secrets.read_text()
    subprocess.run([ROOT / "deploy" / "secrets.sh", secrets], check=True)
    assert secrets.read_text() == before


def test_upgrade_adds_new_secrets_to_an_open_file(secrets: Path, tmp_path: Path) -> None:
    old = tmp_path / ".env"
    old.write_text("REDIS_PASSWORD=mine\nSUMA_MODEL=offline")
    old.chmod(0o644)
    subprocess.run([ROOT / "deploy" / "secrets.sh", old], check=True)
    written = dict(line.split("=") for line in old.read_text().splitlines())
    assert (written["REDIS_PASSWORD"], written["SUMA_MODEL"]) == ("mine", "offline")
    assert written.keys() > {line.split("=")[0] for line in secrets.read_text().splitlines()}
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


def test_environment_matches_the_example_and_the_script(secrets: Path) -> None:
    asked = set(re.findall(r"\$\{([A-Z0-9_]+)", FILE.read_text()))
    needed = set(re.findall(r"\$\{([A-Z0-9_]+):\?", FILE.read_text()))
    named = set(re.findall(r"^(?:# )?([A-Z0-9_]+)=", EXAMPLE.read_text(), re.MULTILINE))
    written = dict(line.split("=") for line in secrets.read_text().splitlines())
    assert asked == named
    assert needed == set(written)
    assert len(set(written.values())) == len(written)


def test_compose_without_secrets_is_refused(compose: dict[str, Any], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(Unparsable, match=r"see deploy/env\.example"):
        parsed("compose", FILE, empty)


@pytest.mark.parametrize(("name", "version"), [("kafka", kafka.VERSION), ("opa", opa.VERSION), ("s3", s3.VERSION)])
def test_compose_servers_have_the_tested_versions(compose: dict[str, Any], name: str, version: str) -> None:
    tag = compose["services"][name]["image"].rpartition(":")[2]
    assert tag.lstrip("v").split("-")[0] == version.lstrip("v")


def test_each_catalogue_service_has_its_name_and_port(compose: dict[str, Any]) -> None:
    for entry in catalog.SERVICES:
        made = compose["services"][entry.name]
        assert made["command"] == ["python", "-m", "services", entry.name]
        assert made["environment"]["SUMA_PORT"] == str(entry.port)
        address = f"SUMA_URLS__{entry.name.upper()}"
        assert made["environment"][address] == f"http://{entry.name}:{entry.port}"


@contextmanager
def only(given: Mapping[str, str]) -> Iterator[None]:
    """Use these variables alone, as a container does."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update({"PATH": os.defpath, "HOME": "/", "SUMA_CONFIG": os.devnull, **given})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting_and_the_settings_are_valid(compose: dict[str, Any], name: str) -> None:
    given: Mapping[str, str] = compose["services"][name]["environment"]
    assert settings.unknown(given) == []
    with only(given):
        read = settings.everything()
    assert (read.bus, read.policy_engine, read.objects) == ("kafka", "opa", "s3")


MODEL = {
    "SUMA_MODEL": "openai-compatible:mine",
    "SUMA_MODEL_URL": "http://models:8000/v1",
    "SUMA_MODEL_OUTPUT_TOKENS": "4000",
    "SUMA_MODEL_SECONDS": "60",
    "SUMA_MODEL_INPUT_PRICE": "1.5",
    "SUMA_MODEL_OUTPUT_PRICE": "6",
}


@pytest.fixture(scope="module")
def with_model(secrets: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the configuration of a deployment with its own model, whose key is in a file."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.key").write_text("sk-mine\n")
    given = {**MODEL, "SUMA_MODEL_KEY_FILE": str(folder / "model.key")}
    env = folder / ".env"
    env.write_text(secrets.read_text() + "".join(f"{name}={value}\n" for name, value in given.items()))
    try:
        read: dict[str, Any] = parsed("compose", FILE, env)
    except Unprovided as reason:
        pytest.skip(str(reason))
    return read


@pytest.mark.parametrize("name", sorted(THINKING))
def test_services_that_call_a_model_get_its_settings(with_model: dict[str, Any], name: str) -> None:
    made = with_model["services"][name]
    secret = with_model["secrets"][made["secrets"][0]["source"]]["file"]
    environment = {**made["environment"], "SUMA_MODEL_KEY_FILE": secret}
    assert made["environment"]["SUMA_MODEL_KEY_FILE"] == "/run/secrets/model_key"
    assert {key: environment[key] for key in MODEL} == MODEL
    with only(environment):
        chosen = model_factory.chosen(settings.everything())
    assert chosen is not None
    assert chosen.key is not None
    assert (chosen.name, chosen.url) == ("openai-compatible:mine", "http://models:8000/v1")
    assert chosen.key.get_secret_value() == "sk-mine"


def test_only_the_services_that_call_a_model_see_its_key(compose: dict[str, Any]) -> None:
    assert {name for name in OURS if compose["services"][name].get("secrets")} == set(THINKING)
    assert not any("SUMA_MODEL_KEY" in compose["services"][name]["environment"] for name in OURS)


def test_each_secret_is_known_to_its_server_and_its_user(compose: dict[str, Any], secrets: Path) -> None:
    written = dict(line.split("=") for line in secrets.read_text().splitlines())
    given = {name: str(made.get("environment", {})) for name, made in compose["services"].items()}
    knows = {secret: {name for name, text in given.items() if value in text} for secret, value in written.items()}
    own = {f"SUMA_{name.upper()}_PASSWORD": {name, "postgres"} for name in OURS}
    own |= {f"KAFKA_{name.upper()}_PASSWORD": {name, "kafka"} for name in OURS}
    assert knows == own | {
        "POSTGRES_PASSWORD": {"postgres"},
        "SUMA_OWNER_PASSWORD": {"postgres", "migrate"},
        "KAFKA_BROKER_PASSWORD": {"kafka", "rights", "migrate"},
        "GRAFANA_PASSWORD": {"grafana"},
        "REDIS_PASSWORD": {"redis", *OURS},
        "S3_ACCESS_KEY": {"s3", *OURS},
        "S3_SECRET_KEY": {"s3", *OURS},
    }


@pytest.mark.parametrize("name", OURS)
def test_service_mounts_only_folders_that_it_uses(compose: dict[str, Any], name: str) -> None:
    made = compose["services"][name]
    mounted = {m["target"]: m.get("read_only", False) for m in made["volumes"] if "/public/" not in m["target"]}
    used = {"/var/lib/suma": False}
    if name in PLANNING | {"gateway"}:
        used["/var/lib/suma/skills"] = True
    used |= {folder: False for variable, folder in FOLDERS.items() if variable in made["environment"]}
    assert mounted == used


def test_image_prepares_each_folder_that_is_mounted(compose: dict[str, Any]) -> None:
    (made,) = re.findall(
        r"install --directory [^/]*(.*?)\n    #", (ROOT / "deploy" / "Dockerfile").read_text(), re.DOTALL
    )
    mounts = [mount for name in OURS for mount in compose["services"][name]["volumes"]]
    assert {mount["target"] for mount in mounts} <= set(made.split())


def test_data_directories_are_not_shared(compose: dict[str, Any]) -> None:
    mounts = [mount for name in OURS for mount in compose["services"][name]["volumes"]]
    homes = [mount["source"] for mount in mounts if mount["target"] == "/var/lib/suma"]
    assert len(set(homes)) == len(OURS)


def test_services_wait_for_the_migration_and_for_rights(compose: dict[str, Any]) -> None:
    for name in OURS:
        for step in ("migrate", "rights"):
            assert compose["services"][name]["depends_on"][step]["condition"] == "service_completed_successfully"


def test_no_listener_of_kafka_accepts_anonymous_clients(compose: dict[str, Any]) -> None:
    made = compose["services"]["kafka"]["environment"]
    names = {listener.partition(":")[0] for listener in made["KAFKA_LISTENERS"].split(",")}
    secured = dict(each.split(":") for each in made["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    assert secured == dict.fromkeys(names, "SASL_PLAINTEXT")
    assert made["KAFKA_SUPER_USERS"] == "User:suma_broker"


def test_readers_of_kafka_are_those_of_the_topics() -> None:
    script = (ROOT / "deploy" / "kafka" / "provision.sh").read_text()
    (lines,) = re.findall(r'^readers="\n(.*?)^"', script, re.MULTILINE | re.DOTALL)
    rows = [line.split() for line in lines.splitlines()]
    assert {name: set(topics) for name, *topics in rows} == {
        name: {topic.name for topic in TOPICS.values() if name in topic.consumers} for name in OURS
    }


def test_model_key_is_optional(compose: dict[str, Any]) -> None:
    assert compose["secrets"]["model_key"]["file"] == os.devnull


@pytest.mark.parametrize("name", OURS)
def test_service_containers_run_unprivileged_with_resource_limits(compose: dict[str, Any], name: str) -> None:
    made = compose["services"][name]
    assert (made["user"], made["read_only"], made["cap_drop"]) == ("10001:10001", True, ["ALL"])
    assert made["security_opt"] == ["no-new-privileges:true"]
    assert set(made["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert int(made["stop_grace_period"].rstrip("s")) > 15, "stopping in order takes up to 10 s, and 5 to give back"


def test_every_image_is_named_by_a_version(compose: dict[str, Any]) -> None:
    for name, made in compose["services"].items():
        tag = made["image"].partition(":")[2]
        assert tag, name
        assert "latest" not in tag


def test_published_ports_bind_to_loopback(compose: dict[str, Any]) -> None:
    published = {name: made.get("ports", []) for name, made in compose["services"].items()}
    assert {name for name, ports in published.items() if ports} == {"gateway", "grafana", "prometheus"}
    assert {port["host_ip"] for ports in published.values() for port in ports} == {"127.0.0.1"}


def test_awaited_containers_have_a_health_check(compose: dict[str, Any]) -> None:
    for made in compose["services"].values():
        for name, how in made.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert compose["services"][name]["healthcheck"]["test"]


def test_every_file_that_is_mounted_is_there(compose: dict[str, Any]) -> None:
    mounts = [mount for made in compose["services"].values() for mount in made.get("volumes", [])]
    for mount in mounts:
        if mount["type"] == "bind":
            assert (ROOT / mount["source"]).exists(), mount
        else:
            assert mount["source"] in compose["volumes"]


def test_prometheus_asks_every_service_at_its_port(compose: dict[str, Any]) -> None:
    scrape = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]
    asked = {tuple(target.split(":")) for each in scrape["static_configs"] for target in each["targets"]}
    asked |= {(name, str(each["port"])) for each in scrape["dns_sd_configs"] for name in each["names"]}
    assert asked == {(entry.name, str(entry.port)) for entry in catalog.SERVICES}
    labelled = {(each["replacement"], each["regex"].split(":")[1]) for each in scrape["relabel_configs"]}
    assert labelled == asked


def test_grafana_finds_its_dashboards_and_prometheus(compose: dict[str, Any]) -> None:
    provisioning = ROOT / "deploy" / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())["datasources"]
    assert (source["uid"], source["url"]) == ("suma", "http://prometheus:9090")
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "suma.yaml").read_text())["providers"]
    mounted = {mount["target"]: mount["source"] for mount in compose["services"]["grafana"]["volumes"]}
    assert mounted[provider["options"]["path"]] == "./deploy/grafana/dashboards"


def test_collector_accepts_our_spans_and_names_existing_components(compose: dict[str, Any]) -> None:
    collector = yaml.safe_load((ROOT / "deploy" / "otel" / "collector.yaml").read_text())
    port = collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"].split(":")[1]
    assert compose["services"]["gateway"]["environment"]["SUMA_OTLP_URL"] == f"http://otel:{port}"
    for pipeline in collector["service"]["pipelines"].values():
        for part, names in pipeline.items():
            assert set(names) <= set(collector[part])


def test_opa_fetches_the_bundle_from_its_server(compose: dict[str, Any]) -> None:
    law, given = compose["services"]["law"], yaml.safe_load((ROOT / "deploy" / "opa.yaml").read_text())
    bundle = given["bundles"]["suma"]
    assert law["command"][2] == bundle_server.__name__
    assert given["services"][bundle["service"]]["url"] == f"http://law:{law['environment']['SUMA_PORT']}"
    assert bundle["resource"] == bundle_server.NAME
    assert "file:" not in str(given), "OPA reads a file once"
