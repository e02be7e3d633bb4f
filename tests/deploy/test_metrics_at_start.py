"""Every series in an alert exists before anything happens, so that the first event is an increase (A37)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families as families

from tests.journeys.installation import installation

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "alerts.yml"
ALERTS = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
SERIES = re.compile(r"((?:suma|gateway)_\w+)(?:\{(\w+)(=~?)\"([^\"]*)\"\})?")
# Prometheus adds the label `service` when it scrapes a process.
KAFKA = {"suma_bus_foreign_messages_total"}
"""Only with Kafka as the bus, like the relay's lag; tests/conformance/bus/test_foreign.py checks it at the start."""
WITHIN = 60.0


def asked() -> set[tuple[str, str, str, str]]:
    """Return each series in a rule: name, label, operator, value."""
    found = {match for alert in ALERTS for match in SERIES.findall(alert["expr"])}
    return {series for series in found if series[0] not in KAFKA and series[3] != "relay"}


def missing(text: str) -> set[tuple[str, str, str, str]]:
    samples = [sample for family in families(text) for sample in family.samples]

    def there(name: str, label: str, how: str, value: str) -> bool:
        pattern = value if "~" in how else re.escape(value)
        found = (sample.labels.get(label, "") for sample in samples if sample.name == name)
        return any(label in ("", "service") or re.fullmatch(pattern, each) for each in found)

    return {series for series in asked() if not there(*series)}


@pytest.mark.requirement("A37")
async def test_every_series_of_an_alert_is_there_at_the_start(tmp_path: Path) -> None:
    async with installation(tmp_path) as at:
        await at.start()
        async with httpx.AsyncClient(base_url=at.url) as web, asyncio.timeout(WITHIN):
            while missing((await web.get("/metrics")).text):
                await asyncio.sleep(0.2)
