"""A new skill from the template (S4-59, skill-create). Only a person runs this: no agent writes skills."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import yaml

from libs.skills import LOADER
from services import settings
from services.cli.errors import Usage

TEMPLATE, CODE = (settings.BUNDLED / "skills" / "_template" / name for name in ("my-skill", "my-code-skill"))
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
NAME_MOST, ABOUT_MOST = 64, 1024
OWN = Path(".suma", "skills")
WORDS = "Say in a sentence or two what it does, and then when to use it."


def scaffold(name: str, about: str, folder: Path | None, *, tools: bool, code: bool) -> Path:
    """Create the skill's folder, for the whole data directory or for one workspace, and return its path.

    Raises `Usage` for an invalid name, or if the folder exists.
    """
    if NAME.fullmatch(name) is None or len(name) > NAME_MOST:
        raise Usage(f"{name!r} is not a valid skill name: use lower case, digits, single hyphens; at most {NAME_MOST}")
    if len(about) > ABOUT_MOST or not about.isprintable():
        raise Usage(f"the description must be one line of at most {ABOUT_MOST} characters")
    if tools and code:
        raise Usage("--code has tools of its own: leave out --tools")
    if (tools or code) and folder is not None:
        raise Usage("a folder-local skill has no tools: leave out --in, or --tools and --code")
    place = settings.process().data_dir / "skills" if folder is None else folder.expanduser().resolve() / OWN
    if folder is not None and not folder.expanduser().is_dir():
        raise Usage(f"{folder} is not a folder")
    made = place / name
    try:
        made.mkdir(parents=True)
    except FileExistsError:
        raise Usage(f"{made} already exists") from None
    (made / "SKILL.md").write_text(_written(CODE if code else TEMPLATE, name, about or WORDS), encoding="utf-8")
    if tools:
        shutil.copyfile(TEMPLATE / "tools.yaml", made / "tools.yaml")
    if code:
        shutil.copytree(CODE / "scripts", made / "scripts")
        shutil.copyfile(CODE / "tools.yaml", made / "tools.yaml")
    return made


def _written(template: Path, name: str, about: str) -> str:
    """Return the template's instructions with the new skill's front matter."""
    _, front, body = (template / "SKILL.md").read_text("utf-8").split("---\n", 2)
    head = yaml.load(front, LOADER)  # noqa: S506 - both loaders are safe ones
    head |= {"name": name, "description": about}
    head["metadata"] |= {"id": f"skill-{name}-v1", "tags": name.replace("-", ", ")}
    written = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=ABOUT_MOST)
    title = name.replace("-", " ").capitalize()
    return "---\n".join(("", written, re.sub("^# .*", f"# {title}", body, count=1, flags=re.MULTILINE)))
