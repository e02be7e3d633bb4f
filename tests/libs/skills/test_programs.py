"""Programs of skills: what starts each, and which declarations are refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.skills import RUN, BadSkill, NoSuchProgram, Skills, interpreter, read_skill, started
from tests.libs.skills.folders import skill

TOOL = """
tools:
  - name: count
    description: Count.
    primitive: program
    method: scripts/count.py
    mutates: true
    effect: run
    params: {type: object, additionalProperties: false, properties: {}}
    returns: {count: integer}
"""


@pytest.mark.requirement("S2-22", "A3")
@pytest.mark.parametrize(
    ("path", "first", "words"),
    [
        ("scripts/a.py", "import json", ("python3", "-B")),
        ("skill.py", "#!/usr/bin/env python3", ("python3", "-B")),
        ("scripts/a", "#!/usr/bin/python", ("python3", "-B")),
        ("scripts/a.sh", "ls", ("sh",)),
        ("scripts/a.sh", "#!/bin/bash", ("bash",)),
        ("scripts/a", "ls", None),
        ("scripts/a.json", "{}", None),
        ("scripts/a.py", "#!/home/me/python3", None),
        ("scripts/a.py", "#!/usr/bin/python3 -c print(1)", None),
        ("scripts/a.sh", "#!/usr/bin/env -S node", None),
        ("references/a.py", "import json", None),
    ],
)
def test_program_is_started_by_the_fixed_table(path: str, first: str, words: tuple[str, ...] | None) -> None:
    assert interpreter(path, f"{first}\n".encode()) == words


@pytest.mark.parametrize("path", ["../demo/scripts/count.py", "/bin/ls", "scripts", "scripts/notes.txt", "SKILL.md"])
def test_only_programs_of_the_skill_can_be_started(tmp_path: Path, path: str) -> None:
    read = read_skill(skill(tmp_path, scripts__count_dot_py="", scripts__notes_dot_txt=""))
    with pytest.raises(NoSuchProgram, match=r"its programs are: scripts/count\.py"):
        started(read, path)


@pytest.mark.requirement("S2-22", "A3")
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("scripts/count.py", "../count.py", r"\.\./count\.py is not skill\.py or a file of scripts/"),
        ("scripts/count.py", "scripts/link.py", "link.py is a link"),
        ("scripts/count.py", "/bin/ls", "is not skill"),
        ("scripts/count.py", "SKILL.md", "is not skill"),
        ("effect: run", "effect: write", "its effect is run"),
        ("count: integer", "exit_code: integer", "may not name exit_code"),
        ("count: integer", "count: number of lines", "not JSON Schemas"),
        ("count: integer", "count: {$ref: 'http://example.org'}", "may not refer to other schemas"),
    ],
)
def test_declaration_of_no_program_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    folder = skill(tmp_path, tools_dot_yaml=TOOL.replace(old, new), scripts__count_dot_py="")
    if "link" in new:
        (folder / new).symlink_to("/bin/ls")
    with pytest.raises(BadSkill, match=problem):
        read_skill(folder)


@pytest.mark.requirement("S4-17")
def test_change_of_any_program_changes_the_tool_that_runs_it(tmp_path: Path) -> None:
    skill(tmp_path, scripts__count_dot_py="print(1)")
    before = Skills.load([tmp_path]).tool(RUN).digest
    skill(tmp_path, scripts__count_dot_py="print(2)")
    assert Skills.load([tmp_path]).tool(RUN).digest != before
