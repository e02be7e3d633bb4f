"""`suma skills`: what is listed and shown, what a check finds, and what an approval carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner
from typing_extensions import override

from libs.skills import Kind, read_skill
from services.cli import skills
from services.cli.errors import AnswerRequired, Usage
from tests.libs.skills.folders import TOOL, skill
from tests.services.cli.answering import Server, running

LETTERS = {
    "name": "letters",
    "kind": "code",
    "source": "workspace",
    "state": "off",
    "reason": "not approved",
    "id": "skill-letters",
    "version": "1.2",
    "description": "Writes letters.",
    "tags": [],
    "tools": [],
    "digest": "d1",
    "folder": "/home/ada/.suma/skills/letters",
    "problems": [],
    "instructions": "Be brief.",
    "files": {"SKILL.md": 80, "scripts/hi.py": 20},
    "programs": {"scripts/hi.py": "print('hi')\x1b[2J"},
    "declared": [],
}
FILES = {
    **LETTERS,
    "name": "manage-files",
    "kind": "primitive",
    "source": "bundled",
    "state": "on",
    "reason": "the last good one is used",
    "tools": ["manage-files.list"],
    "problems": ["tools.yaml: half a line\x1b[2J"],
    "declared": [
        {
            "name": "manage-files.list",
            "description": "List.",
            "mutates": False,
            "effect": "read",
            "params": {"required": ["path"], "properties": {"path": {"type": "string"}, "most": {"type": "integer"}}},
            "examples": ["what is in Downloads"],
        }
    ],
}


class Skilled(Server):
    """Knows two skills."""

    @override
    def answer(self, path: str, body: Any) -> Any:
        if body is not None:
            return {**LETTERS, "state": "on"}
        where, query = urlsplit(path)[2:4]
        if "query=" in query:
            found = [{**FILES, "score": 0.81}] if "files" in query else []
            return {"skills": found, "choices": ["manage-files", "batch-rename"] if found else []}
        return {"skills": [LETTERS, FILES]} if where == "/v1/skills" else FILES if "files" in where else LETTERS


def test_list_shows_kind_source_version_state_and_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Skilled(), monkeypatch) as runner:
        shown = runner.invoke(skills.app, ["list"]).output.splitlines()
        assert shown[0].split() == ["skill", "kind", "from", "version", "state", "tools"]
        assert shown[1].split() == ["letters", "code", "workspace", "1.2", "off:", "not", "approved"]
        assert shown[2].split()[-1] == "list"
        assert json.loads(runner.invoke(skills.app, ["list", "--json"]).output) == [LETTERS, FILES]


def test_without_a_command_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Skilled(), monkeypatch) as runner:
        assert "letters" in runner.invoke(skills.app, []).output
        assert json.loads(runner.invoke(skills.app, ["--json"]).output) == [LETTERS, FILES]


def test_info_shows_tools_parameters_examples_and_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Skilled(), monkeypatch) as runner:
        shown = runner.invoke(skills.app, ["info", "manage-files"]).output
    for told in ("primitive", "bundled", "d1", "path: string", "most?: integer", "what is in Downloads", "half a line"):
        assert told in shown
    assert "\x1b[2J" not in shown


@pytest.mark.requirement("S2-23")
def test_info_of_a_skill_shows_the_text_of_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Skilled(), monkeypatch) as runner:
        shown = runner.invoke(skills.app, ["info", "letters"]).output
    assert "scripts/hi.py\nprint('hi')" in shown
    assert "\x1b[2J" not in shown


def test_a_folder_is_looked_at_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(server := Skilled(), monkeypatch) as runner:
        monkeypatch.chdir(tmp_path)
        assert runner.invoke(skills.app, ["list", "--in", "."]).exit_code == 0
    assert server.asked == [f"/v1/skills?root={str(tmp_path).replace('/', '%2F')}"]


def test_approval_carries_the_shown_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(server := Skilled(), monkeypatch) as runner:
        done = runner.invoke(skills.app, ["approve", "letters", "--in", str(tmp_path), "--yes"])
    assert done.exit_code == 0, done.output
    assert server.posts == [("/v1/skills/letters/approve", {"root": str(tmp_path), "digest": "d1"})]


def test_approval_without_a_terminal_needs_yes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(server := Skilled(), monkeypatch) as runner:
        done = runner.invoke(skills.app, ["approve", "letters", "--in", str(tmp_path)])
    assert (isinstance(done.exception, AnswerRequired), server.posts) == (True, [])


def test_approving_a_bundled_skill_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(server := Skilled(), monkeypatch) as runner:
        done = runner.invoke(skills.app, ["approve", "manage-files", "--in", str(tmp_path), "--yes"])
    assert (isinstance(done.exception, Usage), server.posts) == (True, [])


def test_a_revocation_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(server := Skilled(), monkeypatch) as runner:
        assert runner.invoke(skills.app, ["revoke", "letters", "--in", str(tmp_path)]).exit_code == 0
    assert server.posts == [("/v1/skills/letters/revoke", {"root": str(tmp_path)})]


def test_check_needs_no_platform_and_names_its_files(tmp_path: Path) -> None:
    folder = skill(tmp_path, tools_dot_yaml=TOOL)
    done = CliRunner().invoke(skills.app, ["check", str(folder)])
    assert (done.exit_code, done.output) == (0, "✔ demo primitive, version 0.1.0, 1 tool\n")


def test_check_lists_every_problem_of_a_skills_folder(tmp_path: Path) -> None:
    skill(tmp_path, "good")
    tools = TOOL.replace("effect: read", "effect: delete").replace("path]", "x]")
    bad = skill(tmp_path, "bad", about="a" * 1025, tools_dot_yaml=tools)
    done = CliRunner().invoke(skills.app, ["check", str(tmp_path), "--json"])
    told = {one["name"]: one["problems"] for one in json.loads(done.output)}
    assert (done.exit_code, told["good"]) == (1, [])
    assert len(told["bad"]) == 3
    assert str(bad) in done.output


def test_check_of_a_folder_without_a_skill_reports_it(tmp_path: Path) -> None:
    done = CliRunner().invoke(skills.app, ["check", str(tmp_path)])
    assert isinstance(done.exception, Usage)


@pytest.mark.requirement("S4-59")
def test_search_shows_the_nearest_skills_with_their_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(server := Skilled(), monkeypatch) as runner:
        done = runner.invoke(skills.app, ["search", "move", "files"])
        assert (done.exit_code, done.output.splitlines()[1].split()[:2]) == (0, ["0.81", "manage-files"])
        assert done.output.splitlines()[-1] == "These words mean manage-files or batch-rename; say which."
        assert json.loads(runner.invoke(skills.app, ["search", "files", "--json"]).output)[0]["score"] == 0.81
    assert server.asked[0] == "/v1/skills?query=move+files"


@pytest.mark.requirement("S4-59")
def test_search_without_a_match_reports_it_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Skilled(), monkeypatch) as runner:
        done = runner.invoke(skills.app, ["search", "pizza"])
    assert (done.exit_code, "No skill matches" in done.output) == (1, True)


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("more", "tools"),
    [([], []), (["--tools"], ["letter-writer.list"]), (["--code"], ["letter-writer.count"])],
    ids=["words", "tools", "code"],
)
def test_new_skill_from_template_is_valid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: list[str], tools: list[str]
) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path))
    about = "Writes letters: use it for letters."
    done = CliRunner().invoke(skills.app, ["new", "letter-writer", "-d", about, *more])
    assert done.exit_code == 0, done.output
    made = read_skill(tmp_path / "skills" / "letter-writer")
    assert (made.name, made.description, made.id) == ("letter-writer", about, "skill-letter-writer-v1")
    assert [tool.name for tool in made.tools] == tools
    assert "# Letter writer" in made.instructions


@pytest.mark.requirement("S4-59", "S2-24")
def test_new_folder_skill_is_reported_as_off(tmp_path: Path) -> None:
    done = CliRunner().invoke(skills.app, ["new", "letters", "--in", str(tmp_path)])
    assert read_skill(tmp_path / ".suma" / "skills" / "letters").kind is Kind.PROMPT
    assert "off until you approve it" in done.output


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    "args",
    [
        ["Letter Writer"],
        ["../letters"],
        ["a" * 65],
        ["letters", "-d", "two\nlines"],
        ["letters", "-d", "a" * 1025],
        ["letters", "--in", "not-there"],
        ["letters", "--in", ".", "--tools"],
        ["letters", "--in", ".", "--code"],
        ["letters", "--tools", "--code"],
    ],
)
def test_invalid_new_skill_is_refused_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, args: list[str]
) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(skills.app, ["new", *args])
    assert isinstance(done.exception, Usage)
    assert not list(tmp_path.iterdir())


@pytest.mark.requirement("S4-59")
def test_a_skill_that_is_there_is_never_written_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path))
    first = CliRunner().invoke(skills.app, ["new", "letters", "-d", "Mine."])
    again = CliRunner().invoke(skills.app, ["new", "letters", "-d", "Other."])
    assert (first.exit_code, isinstance(again.exception, Usage)) == (0, True)
    assert read_skill(tmp_path / "skills" / "letters").description == "Mine."
