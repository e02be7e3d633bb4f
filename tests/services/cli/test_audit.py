"""`suma audit verify`: against this machine's keys and checkpoints, or those that are named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from libs.audit import CheckpointFile
from libs.audit.chain import record_of
from libs.audit.checkpoint import PURPOSE
from libs.keys.file import FileKeys
from services.cli.commands import app
from tests.libs.audit.exports import Log, event

pytestmark = pytest.mark.requirement("P6", "A36")


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The data directory of a machine."""
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUMA_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "data"


@pytest.fixture
def log(data: Path) -> Log:
    """What that machine has recorded."""
    return Log(FileKeys(data / "keys"), "acme", tuple(dict(record_of(event(n))) for n in range(1, 11)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


async def write(log: Log, file: Path) -> None:
    file.write_bytes(b"".join(await log.exported()))


def suma(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["audit", "verify", *map(str, arguments)])


def forged(log: Log, tmp_path: Path) -> Log:
    """Another record 4, chained anew and signed by the forger's key."""
    records = [*log.records]
    records[3] = {**records[3], "data": {**records[3]["data"], "principal": "mallory"}}
    return replace(log, keys=FileKeys(tmp_path / "forger"), records=tuple(records))


def seal(log: Log, data: Path, position: int) -> None:
    """A checkpoint outside, as of a moment before the exports."""
    path = data / "audit" / "checkpoints.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    CheckpointFile(path).append(log.seal(log.entries()[position - 1]))


async def test_an_own_export_is_checked_against_own_keys(log: Log, file: Path, data: Path) -> None:
    await write(log, file)
    seal(log, data, 9)
    result = suma(file)
    assert result.exit_code == 0
    assert "a known key; checked against 1 outside checkpoint" in result.output


async def test_forged_export_with_new_signatures_is_an_error(log: Log, file: Path, tmp_path: Path) -> None:
    log.keys.public(PURPOSE)
    await write(forged(log, tmp_path), file)
    result = suma(file)
    assert result.exit_code == 1
    assert "is forged or signed by an unknown key" in result.output


async def test_a_cut_tail_contradicts_the_checkpoint_outside(log: Log, file: Path, data: Path) -> None:
    seal(log, data, 9)
    await write(replace(log, records=log.records[:5]), file)
    result = suma(file, "--json")
    report = json.loads(result.output)
    assert (result.exit_code, report["first_bad"]) == (1, 6)
    assert report["problem"] == "the chain had 9 records before the export, not 5"


async def test_checkpoints_of_another_place_may_be_named(log: Log, file: Path, data: Path, tmp_path: Path) -> None:
    seal(log, data, 9)
    kept = (data / "audit" / "checkpoints.jsonl").rename(tmp_path / "kept.jsonl")
    await write(replace(log, records=log.records[:5]), file)
    assert (suma(file).exit_code, suma(file, "--checkpoints", kept).exit_code) == (0, 1)


async def test_without_a_pinned_key_it_says_unverified(
    log: Log, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(log, file)
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "elsewhere"))
    result = suma(file)
    assert (result.exit_code, "the key is unverified" in result.output) == (0, True)
    assert json.loads(suma(file, "--json").output)["key_verified"] is False


async def test_a_named_key_is_the_only_one_believed(
    log: Log, file: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(log, file)
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "elsewhere"))
    ((fingerprint, raw),) = log.keys.public(PURPOSE).items()
    (hexed := tmp_path / "hex.pub").write_text(raw.hex() + "\n")
    for key in (fingerprint, fingerprint.upper(), data / "keys" / "audit" / f"{fingerprint}.pub", hexed):
        assert (suma(file, "--key", key).exit_code, "a known key" in suma(file, "--key", key).output) == (0, True)
    assert suma(file, "--key", "0" * 16).exit_code == 1
    ((_, foreign),) = FileKeys(tmp_path / "forger").public(PURPOSE).items()
    (other := tmp_path / "other.pub").write_bytes(foreign)
    assert suma(file, "--key", other).exit_code == 1


async def test_invalid_public_key_is_a_usage_error(log: Log, file: Path, tmp_path: Path) -> None:
    await write(log, file)
    (broken := tmp_path / "broken.pub").write_text("no key")
    for key in ("abc", broken):
        result = suma(file, "--key", key)
        assert result.exit_code != 0
        assert "verified" not in result.output


async def test_a_rotated_key_is_still_known(log: Log, file: Path, data: Path) -> None:
    seal(log, data, 3)
    await write(log, file)
    log.keys.rotate(PURPOSE)
    assert suma(file).exit_code == 0
