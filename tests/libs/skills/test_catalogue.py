"""Finding skills in folders: bundled ones are valid, a bad one is reported and skipped, precedence decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from skills_ref import validate

from libs.skills import Primitive, Skills
from libs.skills.catalogue import UnknownTool

BUNDLED = Path(__file__).parents[3] / "skills"
PAGE = "---\nname: {name}\ndescription: {about}\nmetadata:\n  id: skill-{name}-v1\n  version: '1.0'\n---\n\nDo it.\n"
TOOL = """
tools:
  - name: look
    description: Look.
    primitive: graph
    method: get_children
    mutates: false
    effect: read
    params: {type: object, additionalProperties: false, required: [path], properties: {path: {type: string}}}
    returns: {nodes: array}
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(
        name: str = "demo", *, about: str = "Looks.", tools: str = TOOL, top: str = "workspace", page: str = PAGE
    ) -> Path:
        folder = tmp_path / top / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(page.format(name=name, about=about))
        (folder / "tools.yaml").write_text(tools)
        return folder

    return written


@pytest.mark.requirement("S4-12", "S4-59")
@pytest.mark.parametrize(
    "folder", sorted(page.parent for page in BUNDLED.rglob("SKILL.md")), ids=lambda folder: folder.name
)
def test_every_bundled_skill_is_valid_by_the_formats_own_validator(folder: Path) -> None:
    assert validate(folder) == []


@pytest.mark.requirement("S4-10", "S4-13", "S4-14", "S4-15", "S4-38", "S4-39")
def test_bundled_tools_call_one_primitive_each_and_retrieval_never_mutates() -> None:
    skills = Skills.load([BUNDLED])
    assert skills.problems == {}
    declared = {tool.name: (tool.primitive, tool.method, tool.mutates) for tool in skills.tools}
    graph = Primitive.GRAPH
    assert {
        "manage-files.list": (graph, "get_children", False),
        "manage-files.create": (graph, "create_node", True),
        "manage-files.move": (graph, "move_node", True),
        "manage-files.copy": (graph, "copy_nodes", True),
        "manage-files.rename": (graph, "rename_node", True),
        "manage-files.delete": (graph, "delete_node", True),
        "manage-files.get_metadata": (graph, "get_metadata", False),
        "search-files.search": (Primitive.RETRIEVAL, "content_search", False),
    }.items() <= declared.items()
    assert not any(tool.mutates for tool in skills.tools if tool.primitive is Primitive.RETRIEVAL)


def test_every_prerequisite_of_a_tool_exists() -> None:
    skills = Skills.load([BUNDLED])
    for need in (need for tool in skills.tools for need in tool.needs):
        assert need.field in skills.tool(need.tool).returns
        assert not skills.tool(need.tool).mutates


@pytest.mark.requirement("S4-41", "S4-42")
def test_skill_has_the_declarations_of_its_folder(write: Write, tmp_path: Path) -> None:
    write()
    skill = Skills.load([tmp_path / "workspace"]).skills["demo"]
    assert (skill.id, skill.version, skill.description) == ("skill-demo-v1", "1.0", "Looks.")
    assert skill.instructions == "Do it."
    assert [tool.name for tool in skill.tools] == ["demo.look"]


@pytest.mark.requirement("S2-22", "S2-24")
def test_workspace_skill_precedes_user_and_bundled_ones(write: Write, tmp_path: Path) -> None:
    for top in ("bundled", "user", "workspace"):
        write(top=top, about=f"From {top}.")
    write("other", top="bundled", about="Only here.")
    skills = Skills.load([tmp_path / top for top in ("workspace", "user", "bundled")]).skills
    assert {name: skill.description for name, skill in skills.items()} == {
        "demo": "From workspace.",
        "other": "Only here.",
    }


@pytest.mark.requirement("S2-22")
def test_bad_skill_is_reported_and_skipped_while_others_load(write: Write, tmp_path: Path) -> None:
    write("good")
    bad = write("bad", tools="tools: [")
    skills = Skills.load([tmp_path / "workspace", tmp_path / "missing"])
    assert list(skills.skills) == ["good"]
    assert list(skills.problems) == [bad]


@pytest.mark.requirement("S4-13", "S4-38")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("mutates: false", "mutates: true"), "disagrees with mutates"),
        (("effect: read", "effect: delete"), "disagrees with mutates"),
        (("primitive: graph", "primitive: web"), "must require the parameter url"),
        (("primitive: graph", "primitive: shell"), "primitive"),
        (("method: get_children", "method: rm -rf"), "method"),
        (("additionalProperties: false", "additionalProperties: true"), "additionalProperties"),
        (("type: string", "type: text"), "not a JSON Schema"),
        (("type: string", "$ref: 'http://localhost/x'"), "may not refer"),
        (("type: string", "pattern: '('"), "not a regular expression"),
        (("type: string", "pattern: '(a)\\1'"), "not a regular expression"),
        (("required: [path]", "required: [where]"), "unknown parameter where"),
        (("name: look", "name: look\n    composite: [a, b]"), "composite"),
        (("description: Look.", "description: ''"), "description"),
    ],
)
def test_wrong_declaration_is_reported(write: Write, tmp_path: Path, change: tuple[str, str], problem: str) -> None:
    folder = write(tools=TOOL.replace(*change))
    problems = Skills.load([tmp_path / "workspace"]).problems[folder]
    assert any(problem in told for told in problems), problems


@pytest.mark.requirement("S4-38")
def test_a_retrieval_tool_that_mutates_is_refused(write: Write, tmp_path: Path) -> None:
    tools = (
        TOOL.replace("graph", "retrieval")
        .replace("mutates: false", "mutates: true")
        .replace("effect: read", "effect: delete")
    )
    folder = write(tools=tools)
    assert "look: a retrieval tool never mutates" in Skills.load([tmp_path / "workspace"]).problems[folder]


@pytest.mark.requirement("S4-12")
def test_a_key_that_the_format_does_not_allow_is_refused(write: Write, tmp_path: Path) -> None:
    folder = write(page=PAGE.replace("metadata:", "uses_retrieval: true\nmetadata:"))
    assert "Unexpected fields" in Skills.load([tmp_path / "workspace"]).problems[folder][0]


def test_a_tool_declared_twice_is_refused(write: Write, tmp_path: Path) -> None:
    folder = write(tools=TOOL + TOOL.split("tools:")[1])
    assert Skills.load([tmp_path / "workspace"]).problems[folder] == ("look is declared twice",)


def test_a_link_in_a_skill_is_refused(write: Write, tmp_path: Path) -> None:
    folder = write()
    (folder / "references").symlink_to(tmp_path)
    assert Skills.load([tmp_path / "workspace"]).problems[folder] == ("references is a link",)


def test_the_digest_changes_with_any_byte_of_the_folder(write: Write, tmp_path: Path) -> None:
    folder = write()
    before = Skills.load([tmp_path / "workspace"]).skills["demo"].digest
    assert Skills.load([tmp_path / "workspace"]).skills["demo"].digest == before
    (folder / "scripts").mkdir()
    (folder / "scripts" / "run.py").write_text("print(1)")
    assert Skills.load([tmp_path / "workspace"]).skills["demo"].digest != before


def test_a_tool_that_no_skill_declares_is_not_found() -> None:
    with pytest.raises(UnknownTool):
        Skills.load([]).tool("demo.look")
