"""Shell completion: commands and IDs, by the protocol of each shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from typing_extensions import override

from services.cli.commands import app
from tests.services.cli.answering import Server, running

ROOT = Path(__file__).parents[3]


class Listing(Server):
    @override
    def answer(self, path: str, body: Any) -> Any:
        return {
            "/v1/sessions": {
                "sessions": [
                    {"session_id": "0199-a", "title": "sort the photos"},
                    {"session_id": "0200-b", "title": None},
                ]
            },
            "/v1/skills": {"skills": [{"name": "find-duplicates", "description": "Find equal files."}]},
            "/v1/effects": {"effects": [{"approval_id": "e1", "kind": "effect"}]},
            "/v1/admin/dlq": {"letters": [{"letter_id": "d1", "error": "malformed"}]},
        }[path.partition("?")[0]]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[CliRunner]:
    with running(Listing(), monkeypatch) as runner:
        yield runner


def bash(runner: CliRunner, line: str) -> list[str]:
    words = line.split(" ")
    asked = {"_SUMA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return runner.invoke(app, [], prog_name="suma", env=asked).stdout.split()


OFFERED = {
    "suma roll": ["rollback"],
    "suma chat --ses": ["--session"],
    "suma run x --ask ": ["once", "changes", "steps"],
    "suma diff ": ["0199-a", "0200-b"],
    "suma chat --session 02": ["0200-b"],
    "suma skills info fi": ["find-duplicates"],
    "suma effects resolve ": ["e1"],
    "suma dlq replay ": ["d1"],
}


def test_bash_completes_commands_options_and_ids(shell: CliRunner) -> None:
    assert {line: bash(shell, line) for line in OFFERED} == OFFERED


def test_zsh_and_fish_show_titles_beside_ids(shell: CliRunner) -> None:
    zsh = {"_SUMA_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "suma diff 01"}
    assert '"0199-a":"sort the photos"' in shell.invoke(app, [], prog_name="suma", env=zsh).stdout
    fish = {"_SUMA_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    fish["_TYPER_COMPLETE_ARGS"] = "suma diff 01"
    assert shell.invoke(app, [], prog_name="suma", env=fish).stdout.strip() == "0199-a\tsort the photos"


def test_completion_without_a_platform_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SUMA_API_KEY", "suma_key")
    assert bash(CliRunner(), "suma diff ") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_printed_script_completes_in_a_real_bash(tmp_path: Path) -> None:
    suma = tmp_path / "suma"
    suma.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m services.cli "$@"\n')
    suma.chmod(0o755)
    tab = "source <(suma --show-completion bash); COMP_WORDS=(suma skills inf); COMP_CWORD=2; _suma_completion suma"
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", f'{tab}; echo "${{COMPREPLY[@]}}"'], env=path, capture_output=True, text=True)
    assert done.stdout.strip() == "info", done.stderr
