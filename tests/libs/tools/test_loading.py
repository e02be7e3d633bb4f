"""Tools are found by name, compared with their pin before each run, and checked against their class's rules."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from libs.skills import Skills
from libs.tools import BadTool, Effect, load

MODULE = """
from pathlib import Path
from libs.tools import Effect, Outcome

Path(__file__).with_suffix(".ran").touch()
OBJECT = {"type": "object", "properties": {}}


class Send:
    name, description, parameters, effect = "mail.send", "Sends a mail.", OBJECT, Effect.AT_MOST_ONCE

    async def run(self, intent):
        return Outcome({}, "sent")


class Draft(Send):
    name, effect = "mail.draft", Effect.IDEMPOTENT


class Blind(Send):
    name, effect = "mail.blind", Effect.RECONCILABLE


class Final(Send):
    name, effect = "mail.final", Effect.COMPENSABLE


class Staged(Send):
    name, effect = "mail.staged", Effect.STAGED


class Odd(Send):
    name = "odd"


class Shapeless(Send):
    name, parameters = "mail.shapeless", {"type": "object"}


class Mute:
    name = "mail.mute"

    async def run(self, intent):
        return Outcome({}, "")


send = Send()
nothing = 7


def several():
    return [Send(), Draft()]


def twice():
    return [Send(), Send()]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = tmp_path / "outside_mail.py"
    file.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield file
    sys.modules.pop("outside_mail", None)


def installed(folder: Path, name: str, value: str) -> None:
    """Install a package with this entry point."""
    about = folder / "mail-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mail\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[suma.tools]\n{name} = {value}\n")


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("outside_mail:send", ["mail.send"]),
        ("outside_mail:Draft", ["mail.draft"]),
        ("outside_mail:several", ["mail.send", "mail.draft"]),
    ],
)
def test_name_loads_a_tool_or_a_factory_of_tools(module: Path, name: str, tools: list[str]) -> None:
    assert [tool.name for tool in load([name])] == tools


def test_entry_point_is_loaded_only_if_named(module: Path) -> None:
    installed(module.parent, "mail", "outside_mail:several")
    assert load([]) == ()
    assert [tool.name for tool in load(["mail"])] == ["mail.send", "mail.draft"]


@pytest.mark.requirement("S3-56")
def test_a_file_that_is_not_the_pinned_one_never_runs(module: Path) -> None:
    with pytest.raises(BadTool, match="not the one that was pinned"):
        load([f"outside_mail:send@sha256:{'0' * 64}"])
    assert not module.with_suffix(".ran").exists()
    pin = hashlib.sha256(module.read_bytes()).hexdigest()
    assert [tool.name for tool in load([f"outside_mail:send@sha256:{pin}"])] == ["mail.send"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("outside_mail:Blind", "has the verb `probe`"),
        ("outside_mail:Final", "has the verb `undo`"),
        ("outside_mail:Staged", "no effect class"),
        ("outside_mail:Odd", "family.verb"),
        ("outside_mail:Shapeless", "an object with properties"),
        ("outside_mail:Mute", "no description and no parameters and no effect"),
        ("outside_mail:nothing", "neither a tool nor"),
        ("outside_mail:twice", "more than one tool"),
        ("outside_mail:missing", "missing"),
        ("no_such_module:send", "no_such_module"),
        ("no-such-entry-point", "no installed package"),
        (f"no_such_module:send@sha256:{'0' * 64}", "no file to compare"),
    ],
)
def test_unusable_tool_is_refused_with_its_reason(module: Path, name: str, why: str) -> None:
    with pytest.raises(BadTool, match=why):
        load([name])


def test_the_catalogue_shows_tools_from_outside_beside_those_of_skills(module: Path) -> None:
    found = Skills().plus(load(["outside_mail:several"]))
    shown: list[Any] = [(t.name, t.mutates, t.effect_class, t.in_workspace, t.leaves_machine) for t in found.tools]
    assert shown == [
        ("mail.send", True, Effect.AT_MOST_ONCE, False, True),
        ("mail.draft", True, Effect.IDEMPOTENT, False, True),
    ]
    with pytest.raises(BadTool, match="has this name"):
        found.plus(load(["outside_mail:send"]))
