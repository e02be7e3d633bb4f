"""Folders of skills, written for a test."""

from __future__ import annotations

from pathlib import Path

PAGE = "---\nname: {name}\ndescription: {about}\n---\n\n{text}\n"
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


def skill(top: Path, name: str = "demo", *, about: str = "Looks.", text: str = "Look first.", **files: str) -> Path:
    """Write a skill of instructions alone; `files` are further files, with `__` for `/` and `_dot_` for `.`."""
    folder = top / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(PAGE.format(name=name, about=about, text=text))
    for spelled, content in files.items():
        path = folder / spelled.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder
