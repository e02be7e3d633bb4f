"""The content of a skill decides how it can be used: tools, instructions, or programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.skills import RUN, USE, BadSkill, Kind, NoSuchReference, Skills, read_skill, use
from tests.libs.skills.folders import TOOL, skill

LAUGHS = "a: &a0 [x]\n" + "".join(f"b{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
DEEP = "".join(f"{' ' * depth}a:\n" for depth in range(1, 430))


@pytest.mark.requirement("S2-23")
@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({}, Kind.PROMPT),
        ({"references__notes_dot_md": "more"}, Kind.PROMPT),
        ({"tools_dot_yaml": TOOL}, Kind.PRIMITIVE),
        ({"skill_dot_py": "print(1)"}, Kind.CODE),
        ({"scripts__run_dot_sh": "ls"}, Kind.CODE),
        ({"tools_dot_yaml": TOOL, "scripts__run_dot_sh": "ls"}, Kind.CODE),
    ],
)
def test_kind_follows_from_the_files_of_the_folder(tmp_path: Path, files: dict[str, str], kind: Kind) -> None:
    assert read_skill(skill(tmp_path, **files)).kind is kind


@pytest.mark.requirement("S2-23")
def test_skill_with_programs_has_tools_and_instructions_alike(tmp_path: Path) -> None:
    folder = skill(tmp_path, tools_dot_yaml=TOOL, skill_dot_py="print(1)")
    assert [tool.name for tool in Skills.load([tmp_path]).tools] == ["demo.look", USE, RUN]
    assert use(read_skill(folder))["text"] == "Look first."


@pytest.mark.requirement("S2-23", "S4-11")
def test_a_look_shows_the_instructions_with_where_they_are_from(tmp_path: Path) -> None:
    read = read_skill(skill(tmp_path, text="Be brief.", references__style_dot_md="Short words."))
    page = use(read)
    assert (page["text"], page["references"]) == ("Be brief.", ["references/style.md"])
    assert (page["skill"], page["source"], page["digest"]) == ("demo", "bundled", read.digest)
    assert use(read, "references/style.md")["text"] == "Short words."


@pytest.mark.requirement("S4-11")
@pytest.mark.parametrize(
    "path", ["../other/SKILL.md", "/etc/passwd", "references", "references/../SKILL.md", ".hidden"]
)
def test_reference_outside_the_skill_is_refused(tmp_path: Path, path: str) -> None:
    skill(tmp_path, "other")
    read = read_skill(skill(tmp_path, references__style_dot_md="Short words.", _dot_hidden="secret"))
    with pytest.raises(NoSuchReference):
        use(read, path)


def test_use_returns_the_files_as_first_read(tmp_path: Path) -> None:
    folder = skill(tmp_path, references__style_dot_md="Short words.")
    read = read_skill(folder)
    (folder / "references" / "style.md").unlink()
    (folder / "references" / "style.md").symlink_to("/etc/passwd")
    assert use(read, "references/style.md")["text"] == "Short words."


def test_long_reference_is_returned_in_pages(tmp_path: Path) -> None:
    read = read_skill(skill(tmp_path, references__long_dot_md="a" * 40_000 + "b"))
    first, rest = use(read, "references/long.md"), use(read, "references/long.md", 40_000)
    assert (len(first["text"]), first["more"], rest["text"], rest["more"]) == (40_000, True, "b", False)


def test_binary_file_is_not_returned(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    (folder / "picture.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(NoSuchReference, match="not text"):
        use(read_skill(folder), "picture.png")


def test_the_tool_names_the_skills_that_are_instructions(tmp_path: Path) -> None:
    skill(tmp_path, "letters", about="Write letters.")
    skill(tmp_path, "looking", tools_dot_yaml=TOOL)
    told = Skills.load([tmp_path]).tool(USE).description
    assert "letters: Write letters." in told
    assert "looking" not in told


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda folder: (folder / "SKILL.md").unlink(), "Missing required file: SKILL.md"),
        (lambda folder: (folder / "SKILL.md").write_bytes(b"---\n\xff"), "utf-8"),
        (lambda folder: (folder / "SKILL.md").write_text("no header"), "frontmatter"),
        (lambda folder: skill(folder.parent, about="Looks.\x07"), "control character"),
        (lambda folder: (folder / "SKILL.md").write_text(f"---\nmetadata:\n{DEEP}---\n"), "SKILL.md"),
        (lambda folder: (folder / "tools.yaml").write_text("[" * 900_000), "nested deeper"),
        (
            lambda folder: (folder / "tools.yaml").write_text("tools: [&a {name: b, params: {x: *a}}]"),
            "refers to itself",
        ),
        (lambda folder: (folder / "tools.yaml").write_text(LAUGHS), "more than 20000 values"),
        (lambda folder: Path(os.fsdecode(bytes(folder) + b"/\xff")).touch(), "not a valid file name"),
        (lambda folder: skill(folder.parent, text=""), "no instructions"),
        (lambda folder: skill(folder.parent, text="a" * 100_001), "longer than 100000"),
        (lambda folder: (folder / "big.md").write_bytes(bytes(1_000_001)), "big.md is larger than 1000000 bytes"),
        (lambda folder: [(folder / f"{n}.md").touch() for n in range(200)], "more than 200 files"),
        (lambda folder: [(folder / f"{n}").mkdir() for n in range(201)], "more than 200 folders"),
        (lambda folder: [(folder / f"{n}").write_bytes(bytes(900_000)) for n in range(5)], "4000000 bytes in total"),
        (lambda folder: (folder / "link.md").symlink_to("/etc/passwd"), "link.md is a link"),
        (lambda folder: os.mkfifo(folder / "pipe"), "pipe is not a regular file"),
    ],
)
def test_folder_that_is_no_skill_is_refused_with_the_reason(tmp_path: Path, change: object, problem: str) -> None:
    folder = skill(tmp_path)
    assert callable(change)
    change(folder)
    with pytest.raises(BadSkill, match=problem):
        read_skill(folder)


def test_a_folder_that_is_a_link_is_no_skill(tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(skill(tmp_path / "elsewhere", "linked"))
    with pytest.raises(BadSkill, match="is a link"):
        read_skill(tmp_path / "linked")


def test_reserved_tool_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSkill, match="reserved for the platform"):
        read_skill(skill(tmp_path, "workspace"))


def test_an_editors_hidden_files_are_no_part_of_a_skill(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    before = read_skill(folder).digest
    (folder / ".SKILL.md.swp").write_text("half a page")
    assert read_skill(folder).digest == before
