"""Hooks are found by name, compared with their pin before they run, and must be coroutine functions."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from libs.hooks import BadHook, Point, load

MODULE = """
from pathlib import Path

Path(__file__).with_suffix(".ran").touch()


async def gate(action):
    return None


class Gate:
    async def __call__(self, action):
        return None


instance = Gate()


def plain(action):
    return None
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / f"hooks_{tmp_path.name}.py"
    file.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return file


def pin(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["gate", "instance"])
@pytest.mark.requirement("S0-35", "S3-56")
def test_pinned_hook_is_loaded_with_its_digest(module: Path, name: str) -> None:
    (hook,) = load({Point.TOOL_CALL: [f"{module.stem}:{name}@sha256:{pin(module)}"]})
    assert (hook.point, hook.name, hook.digest) == (Point.TOOL_CALL, f"{module.stem}:{name}", pin(module))


def test_hook_with_another_pin_does_not_run(module: Path) -> None:
    with pytest.raises(BadHook, match="not the one that was pinned"):
        load({Point.TOOL_CALL: [f"{module.stem}:gate@sha256:{'0' * 64}"]})
    assert not module.with_suffix(".ran").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("{}:plain", "a hook is a coroutine function"),
        ("{}:Gate", "a hook is a coroutine function"),
        ("{}:gone", "has no attribute 'gone'"),
        ("gone_{}:gate", "No module named"),
        ("{}", "no installed package offers"),
    ],
)
def test_unfit_hook_is_refused_with_its_reason(module: Path, name: str, reason: str) -> None:
    with pytest.raises(BadHook, match=reason):
        load({Point.TOOL_CALL: [name.format(module.stem)]})
