"""The alert rules: each fires when it should, is silent otherwise, and names an existing runbook."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.local.cache import Unprovided
from tests.deploy.metric_names import unknown_names
from tests.infrastructure.prometheus import program

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
NAMES = [alert["alert"] for alert in ALERTS]

STORY = "## What it means", "## What to look at", "## What to do"
"""The sections of a runbook, in order."""

WHEN: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    # Series and their values per minute (promtool's notation): those that fire, and those that do not. Counters are
    # absent at first, as before a process starts; it creates them at 0 (test_metrics_at_start).
    "SumaProcessDown": ({'up{job="suma",service="gateway"}': "0x60"}, {'up{job="suma"}': "1x60"}),
    "SumaNotReady": ({'suma_problems{service="gateway"}': "1x60"}, {'suma_problems{service="gateway"}': "0x60"}),
    "SumaAuditStopped": (
        {'suma_problems{service="audit_worker"}': "1x60"},
        {'suma_problems{service="memory_service"}': "1x60"},
    ),
    "SumaLag": (
        {'suma_bus_lag_records{group="gateway",topic="t"}': "2000x60"},
        {'suma_bus_lag_records{group="gateway",topic="t"}': "0 2000 0 2000x2 0x55"},
    ),
    "SumaRelayBehind": (
        {'suma_bus_lag_records{group="relay",topic="t"}': "2000x60"},
        {'suma_bus_lag_records{group="gateway",topic="t"}': "2000x60"},
    ),
    "SumaParked": (
        {'suma_bus_parked_oldest_seconds{group="g",topic="t"}': "0+60x60"},
        {'suma_bus_parked_oldest_seconds{group="g",topic="t"}': "200x60"},
    ),
    "SumaDeadLetters": (
        {'suma_bus_dead_letters_total{group="g"}': "_x20 0x29 1x10"},
        {'suma_bus_dead_letters_total{group="g"}': "0x20 1x40"},
    ),
    "SumaForeignMessages": (
        {'suma_bus_foreign_messages_total{topic="t"}': "_x20 0x29 1x10"},
        {'suma_bus_foreign_messages_total{topic="t"}': "3x60"},
    ),
    "SumaLeasesLost": (
        {'suma_leases_lost_total{group="g",kind="k"}': "_x20 0x29 9x10"},
        {'suma_leases_lost_total{group="g",kind="k"}': "_x20 0x29 1x10"},
    ),
    "SumaBreakerOpen": (
        {'suma_breaker_state{dependency="d",service="s"}': "2x60"},
        {'suma_breaker_state{dependency="d",service="s"}': "1x60"},
    ),
    "SumaDependencyDown": (
        {'suma_dependency_up{dependency="redis",service="s"}': "0x60"},
        {'suma_dependency_up{dependency="redis",service="s"}': "1x60"},
    ),
    "SumaPolicyUnavailable": (
        {'suma_dependency_up{dependency="policy",service="s"}': "0x60"},
        {'suma_dependency_up{dependency="redis",service="s"}': "0x60"},
    ),
    "SumaDegraded": (
        {'suma_degradation_level{dependency="d",service="s"}': "3x60"},
        {'suma_degradation_level{dependency="d",service="s"}': "1x60"},
    ),
    "SumaTurnsFailing": (
        {'suma_turns_total{state="failed"}': "0+5x60", 'suma_turns_total{state="completed"}': "0+20x60"},
        {'suma_turns_total{state="failed"}': "0+1x60", 'suma_turns_total{state="completed"}': "0+20x60"},
    ),
    "SumaBudgetSpent": (
        {'suma_budget_reservations_total{result="TENANT_MAX_COST"}': "_x20 0x29 1x10"},
        {'suma_budget_reservations_total{result="MAX_COST"}': "_x20 0x29 1x10"},
    ),
    "SumaHttpErrors": (
        {
            'gateway_http_responses_total{status="503"}': "0+9x60",
            'gateway_http_responses_total{status="200"}': "0+9x60",
        },
        {
            'gateway_http_responses_total{status="404"}': "0+9x60",
            'gateway_http_responses_total{status="200"}': "0+9x60",
        },
    ),
    "SumaRefusing": (
        {'suma_gateway_refused_total{limit="crowd"}': "_x10 0+600x50"},
        {'suma_gateway_refused_total{limit="crowd"}': "0+1x60"},
    ),
    "SumaCommitsSlow": (
        {
            'suma_writer_commit_seconds_bucket{le="0.5"}': "0x60",
            'suma_writer_commit_seconds_bucket{le="5"}': "0+60x60",
            'suma_writer_commit_seconds_bucket{le="+Inf"}': "0+60x60",
        },
        {
            'suma_writer_commit_seconds_bucket{le="0.01"}': "0+60x60",
            'suma_writer_commit_seconds_bucket{le="+Inf"}': "0+60x60",
        },
    ),
    "SumaMakingSlow": (
        {
            'multimodal_execution_latency_seconds_bucket{provider="local",le="5"}': "0+9x60",
            'multimodal_execution_latency_seconds_bucket{provider="local",le="10"}': "0+10x60",
            'multimodal_execution_latency_seconds_bucket{provider="local",le="+Inf"}': "0+10x60",
        },
        {
            'multimodal_execution_latency_seconds_bucket{provider="shop",le="10"}': "0x60",
            'multimodal_execution_latency_seconds_bucket{provider="shop",le="+Inf"}': "0+10x60",
            'multimodal_execution_latency_seconds_bucket{provider="local",le="2.5"}': "0+10x60",
            'multimodal_execution_latency_seconds_bucket{provider="local",le="+Inf"}': "0+10x60",
        },
    ),
    "SumaLoopLag": ({'suma_loop_lag_seconds{service="s"}': "1x60"}, {'suma_loop_lag_seconds{service="s"}': "0.01x60"}),
    "SumaLogGrows": (
        {'suma_bus_oldest_record_seconds{topic="t"}': "5000000x90"},
        {'suma_bus_oldest_record_seconds{topic="t"}': "2000000x90"},
    ),
    "SumaDiskFilling": (
        {'suma_disk_free_ratio{place="data",service="s"}': "0.05x60"},
        {'suma_disk_free_ratio{place="data",service="s"}': "0.5x60"},
    ),
    "SumaSpansDropped": (
        {'suma_spans_dropped_total{service="s"}': "_x20 0+9x70"},
        {'suma_spans_dropped_total{service="s"}': "9x90"},
    ),
}
AT = {"SumaLogGrows": "80m"}


def promtool(*arguments: str | Path) -> str:
    try:
        tool = program("promtool")
    except Unprovided as reason:
        pytest.skip(str(reason))
    said = subprocess.run([tool, *arguments], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout


def scenario(alert: str, series: dict[str, str], *, fires: bool) -> dict[str, Any]:
    firing = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})'
    expected = [{"value": 1, "labels": "{}"}] if fires else []
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [{"expr": firing, "eval_time": AT.get(alert, "58m"), "exp_samples": expected}],
    }


def test_alert_rules_are_valid() -> None:
    assert f"{len(ALERTS)} rules found" in promtool("check", "rules", RULES)
    promtool("check", "config", RULES.with_name("prometheus.yml"))


def test_each_alert_fires_when_it_should_and_only_then(tmp_path: Path) -> None:
    # One run of promtool for all, and each scenario evaluates its own rule alone.
    for alert in ALERTS:
        fire, rest = WHEN[name := alert["alert"]]
        rules = tmp_path / f"{name}.rules.yml"
        rules.write_text(yaml.safe_dump({"groups": [{"name": name, "rules": [alert]}]}))
        scenarios = [scenario(name, fire, fires=True), scenario(name, rest, fires=False)]
        file = {"rule_files": [rules.name], "evaluation_interval": "1m", "tests": scenarios}
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(file))
    promtool("test", "rules", *(tmp_path / f"{name}.yml" for name in NAMES))


@pytest.mark.parametrize("alert", ALERTS, ids=NAMES)
def test_each_alert_has_a_severity_and_a_runbook(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("critical", "warning")
    runbook = (ROOT / alert["annotations"]["runbook_url"]).read_text()
    assert alert["alert"] in runbook.splitlines()[0]
    assert [line for line in runbook.splitlines() if line.startswith("## ")] == list(STORY)


def test_every_runbook_has_an_alert() -> None:
    named = {alert["annotations"]["runbook_url"] for alert in ALERTS}
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "deploy" / "runbooks").glob("suma-*.md")} == named


def test_alerts_query_only_existing_metrics() -> None:
    assert unknown_names(alert["expr"] for alert in ALERTS) == set()


def test_operations_lists_every_alert() -> None:
    listed = re.findall(r"^\| `(Suma\w+)`", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(NAMES)
