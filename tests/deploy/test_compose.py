"""docker-compose.yaml, read by Compose's own parser: it says what our settings, catalogue and image say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from services import catalog, settings
from tests.infrastructure import kafka, opa, s3
from tests.infrastructure.cache import Unprovided
from tests.infrastructure.parsers import Unparsable, parsed

HOUSE = Path(__file__).parents[2]
FILE = HOUSE / "docker-compose.yaml"
OURS = [entry.name for entry in catalog.SERVICES]
EXAMPLE = HOUSE / "deploy" / "env.example"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What deploy/secrets.sh writes."""
    file = tmp_path_factory.mktemp("env") / ".env"
    file.write_bytes(subprocess.run([HOUSE / "deploy" / "secrets.sh"], check=True, capture_output=True).stdout)
    return file


@pytest.fixture(scope="module")
def compose(secrets: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = parsed("compose", FILE, secrets)
    except Unprovided as reason:
        pytest.skip(str(reason))
    return read


def test_what_it_asks_of_the_environment_is_what_the_example_and_the_script_name(secrets: Path) -> None:
    asked = set(re.findall(r"\$\{([A-Z0-9_]+)", FILE.read_text()))
    needed = set(re.findall(r"\$\{([A-Z0-9_]+):\?", FILE.read_text()))
    named = set(re.findall(r"^(?:# )?([A-Z0-9_]+)=", EXAMPLE.read_text(), re.MULTILINE))
    written = dict(line.split("=") for line in secrets.read_text().splitlines())
    assert asked == named
    assert needed == set(written)
    assert len(set(written.values())) == len(written)


def test_without_its_secrets_it_is_refused(compose: dict[str, Any], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(Unparsable, match=r"see deploy/env\.example"):
        parsed("compose", FILE, empty)


@pytest.mark.parametrize(("name", "version"), [("kafka", kafka.VERSION), ("opa", opa.VERSION), ("s3", s3.VERSION)])
def test_its_servers_have_the_versions_that_tests_stand_on(compose: dict[str, Any], name: str, version: str) -> None:
    tag = compose["services"][name]["image"].rpartition(":")[2]
    assert tag.lstrip("v").split("-")[0] == version.lstrip("v")


def test_each_service_of_the_catalogue_has_one_of_its_name_and_port(compose: dict[str, Any]) -> None:
    for entry in catalog.SERVICES:
        made = compose["services"][entry.name]
        assert made["command"] == ["python", "-m", "services", entry.name]
        assert made["environment"]["SUMA_PORT"] == str(entry.port)
        address = f"SUMA_URLS__{entry.name.upper()}"
        assert made["environment"][address] == f"http://{entry.name}:{entry.port}"


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting_of_ours_and_the_settings_are_whole(compose: dict[str, Any], name: str) -> None:
    given: Mapping[str, str] = compose["services"][name]["environment"]
    assert settings.unknown(given) == []
    program = "from services import settings; s = settings.everything(); print(s.bus, s.policy_engine, s.objects)"
    environment = {"PATH": os.defpath, "HOME": "/", "PYTHONPATH": str(HOUSE), "SUMA_CONFIG": os.devnull, **given}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == ("kafka opa s3\n", "")


@pytest.mark.parametrize("name", OURS)
def test_our_processes_have_no_power_over_the_machine(compose: dict[str, Any], name: str) -> None:
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


def test_only_this_machine_reaches_it(compose: dict[str, Any]) -> None:
    published = {name: made.get("ports", []) for name, made in compose["services"].items()}
    assert {name for name, ports in published.items() if ports} == {"gateway", "grafana", "prometheus"}
    assert {port["host_ip"] for ports in published.values() for port in ports} == {"127.0.0.1"}


def test_what_others_wait_for_says_when_it_is_healthy(compose: dict[str, Any]) -> None:
    for made in compose["services"].values():
        for name, how in made.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert compose["services"][name]["healthcheck"]["test"]


def test_every_file_that_is_mounted_is_there(compose: dict[str, Any]) -> None:
    mounts = [mount for made in compose["services"].values() for mount in made.get("volumes", [])]
    for mount in mounts:
        if mount["type"] == "bind":
            assert (HOUSE / mount["source"]).exists(), mount
        else:
            assert mount["source"] in compose["volumes"]


def test_prometheus_asks_every_service_at_its_port(compose: dict[str, Any]) -> None:
    scrape = yaml.safe_load((HOUSE / "deploy" / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]
    asked = {tuple(target.split(":")) for each in scrape["static_configs"] for target in each["targets"]}
    asked |= {(name, str(each["port"])) for each in scrape["dns_sd_configs"] for name in each["names"]}
    assert asked == {(entry.name, str(entry.port)) for entry in catalog.SERVICES}
    labelled = {(each["replacement"], each["regex"].split(":")[1]) for each in scrape["relabel_configs"]}
    assert labelled == asked


def test_grafana_finds_its_dashboards_and_prometheus(compose: dict[str, Any]) -> None:
    provisioning = HOUSE / "deploy" / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())["datasources"]
    assert (source["uid"], source["url"]) == ("suma", "http://prometheus:9090")
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "suma.yaml").read_text())["providers"]
    mounted = {mount["target"]: mount["source"] for mount in compose["services"]["grafana"]["volumes"]}
    assert mounted[provider["options"]["path"]] == "./deploy/grafana/dashboards"


def test_the_collector_takes_what_our_processes_send_and_only_names_parts_that_it_has(compose: dict[str, Any]) -> None:
    collector = yaml.safe_load((HOUSE / "deploy" / "otel" / "collector.yaml").read_text())
    port = collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"].split(":")[1]
    assert compose["services"]["gateway"]["environment"]["SUMA_OTLP_URL"] == f"http://otel:{port}"
    for pipeline in collector["service"]["pipelines"].values():
        for part, names in pipeline.items():
            assert set(names) <= set(collector[part])


def test_opa_looks_where_the_law_is_put(compose: dict[str, Any]) -> None:
    bundle = yaml.safe_load((HOUSE / "deploy" / "opa.yaml").read_text())["bundles"]["suma"]
    assert bundle["resource"] == f"file://{compose['services']['law']['command'][-1]}"
