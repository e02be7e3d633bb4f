"""`suma skills`: list, find, show, create and check skills, and approve those of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli import completion, words
from services.cli.errors import NOT_DONE, AnswerRequired, Usage
from services.cli.terminal import Json, connected, console, interactive, print_done, print_json

if TYPE_CHECKING:
    from libs.skills import SkillDefinition

app = typer.Typer(help="Skills: what Suma can do.")

Which = Annotated[str, typer.Argument(metavar="NAME", help="The skill's name.", autocompletion=completion.skills)]
In = Annotated[
    Path | None, typer.Option("--in", metavar="DIR", help="Include this folder's local skills.", file_okay=False)
]
Of = Annotated[Path, typer.Option("--in", metavar="DIR", help="The folder of the local skill.", file_okay=False)]
HERE = Path()


@app.callback(invoke_without_command=True)
def skills(context: typer.Context, as_json: Json = False) -> None:
    """List the skills if no subcommand is given."""
    if context.invoked_subcommand is None:
        list_(as_json=as_json)


@app.command(name="list")
def list_(folder: In = None, as_json: Json = False) -> None:
    """List the skills: kind, source, tools and state."""
    with connected() as client:
        found = client.get("/v1/skills", **_root(folder))
    if as_json:
        print_json(found["skills"])
        return
    table = Table("skill", "kind", "from", "version", "state", "tools", box=None, pad_edge=False)
    for one in found["skills"]:
        state = f"{one['state']}: {one['reason']}" if one["reason"] else one["state"]
        tools = ", ".join(tool.partition(".")[2] for tool in one["tools"])
        cells = (one["name"], one["kind"] or "?", one["source"] or "?", one["version"] or "?", state, tools)
        table.add_row(*(Text(words.line(cell, 90)) for cell in cells), style="" if one["state"] == "on" else "dim")
    console.print(table)
    for one in found["skills"]:
        _tell(one["name"], one["problems"])


@app.command()
def search(
    query: Annotated[list[str], typer.Argument(metavar="WORDS", help="What you need, in your words.")],
    folder: In = None,
    as_json: Json = False,
) -> None:
    """Find skills by what they do, best first; exit code 1 if nothing matches."""
    with connected() as client:
        answer = client.get("/v1/skills", **_root(folder), query=" ".join(query))
    found, choices = answer["skills"], [words.line(name) for name in answer["choices"]]
    if as_json:
        print_json(found)
    elif not found:
        console.print("No skill matches. `suma skills list` shows all.")
    else:
        console.print(_ranked(found))
        if choices:
            console.print(Text(f"These words mean {' or '.join(choices)}{'; say which' if choices[1:] else ''}."))
    if not found:
        raise typer.Exit(NOT_DONE)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new skill's name.")],
    about: Annotated[str, typer.Option("--description", "-d", help="What it does and when to use it, in a line.")] = "",
    folder: Annotated[
        Path | None, typer.Option("--in", metavar="DIR", help="For this folder only.", file_okay=False)
    ] = None,
    tools: Annotated[bool, typer.Option("--tools", help="Include a tools.yaml to start from.")] = False,
    code: Annotated[bool, typer.Option("--code", help="Include a program to start from, for the sandbox.")] = False,
) -> None:
    """Create a skill from the template."""
    # Imported here, because other commands start faster without it.
    from services.cli.scaffolding import scaffold

    made = scaffold(name, about, folder, tools=tools, code=code)
    console.print(Text(f"✔ {words.line(str(made))}", style="green"))
    console.print(Text(f"Write its SKILL.md, then: suma skills check {words.line(str(made))}"))
    if folder is not None:
        console.print(
            Text(f"It is off until you approve it: suma skills approve {name} --in {words.line(str(folder))}")
        )


@app.command()
def info(name: Which, folder: In = None, as_json: Json = False) -> None:
    """Show one in full: tools, parameters, examples, digest, source and problems."""
    with connected() as client:
        found = client.get(f"/v1/skills/{name}", **_root(folder))
    if as_json:
        print_json(found)
    else:
        _show(found)


@app.command()
def check(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="A skill, or a folder of skills.", exists=True, file_okay=False)
    ] = HERE,
    as_json: Json = False,
) -> None:
    """Check a skill, or all in a folder, offline; exit code 1 if there is a problem."""
    results = [_checked(one) for one in _meant(folder.resolve())]
    if as_json:
        print_json(results)
    for one in results if not as_json else ():
        mark, style = ("✘", "red") if one["problems"] else ("✔", "green")
        console.print(Text(f"{mark} {words.line(one['name'])}", style=style), Text(one["about"], style="dim"))
        for problem in one["problems"]:
            console.print(Text(f"  {words.line(problem, 500)}"))
    if any(one["problems"] for one in results):
        raise typer.Exit(NOT_DONE)


@app.command()
def approve(
    name: Which,
    folder: Of = HERE,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve without showing it first.")] = False,
    as_json: Json = False,
) -> None:
    """Turn on a folder-local skill in exactly this version; any change turns it off again."""
    root = folder.expanduser().resolve()
    with connected() as client:
        found = client.get(f"/v1/skills/{name}", root=str(root))
        if found["source"] != "workspace" or found["digest"] is None:
            raise Usage(f"{root} has no local skill {name} that can be approved: {found['reason']}")
        if not yes:
            _look(found)
        done = client.post(f"/v1/skills/{name}/approve", {"root": str(root), "digest": found["digest"]})
    print_done(done, f"{name} is on in {words.line(str(root))}", as_json=as_json)


@app.command()
def revoke(name: Which, folder: Of = HERE, as_json: Json = False) -> None:
    """Turn off a folder-local skill."""
    root = folder.expanduser().resolve()
    with connected() as client:
        done = client.post(f"/v1/skills/{name}/revoke", {"root": str(root)})
    print_done(done, f"{name} is off in {words.line(str(root))}", as_json=as_json)


def _ranked(found: Iterable[Mapping[str, Any]]) -> Table:
    table = Table("score", "skill", "what it is good for", box=None, pad_edge=False)
    for one in found:
        cells = (f"{one['score']:.2f}", one["name"], one["description"])
        table.add_row(*(Text(words.line(cell, 200)) for cell in cells), style="" if one["state"] == "on" else "dim")
    return table


def _root(folder: Path | None) -> dict[str, str]:
    return {"root": str(folder.expanduser().resolve())} if folder is not None else {}


def _look(found: Mapping[str, Any]) -> None:
    """Show the skill to approve, and ask for confirmation."""
    if not interactive():
        raise AnswerRequired(f"look at it with `suma skills info {found['name']} --in DIR`, then approve it with --yes")
    _show(found)
    more = " and run these programs in the sandbox" if found.get("programs") else ""
    typer.confirm(
        f"\nA model may then work by these instructions in this folder{more}. Approve exactly this?", abort=True
    )


def _show(found: Mapping[str, Any]) -> None:
    for label in ("name", "kind", "source", "state", "reason", "version", "description", "folder", "digest"):
        if found[label]:
            console.print(Text(f"{label:12}", style="dim"), Text(words.plain(str(found[label]))))
    for path, size in found.get("files", {}).items():
        console.print(Text(f"{'file':12}", style="dim"), Text(f"{words.line(path)} ({size} bytes)"))
    for tool in found.get("declared", ()):
        _show_tool(tool)
    if found["kind"] in ("prompt", "code"):
        console.print(Text(f"\n{words.plain(found['instructions'])}"))
    for path, text in (found.get("programs") or {}).items():
        console.print(Text(f"\n{words.line(path)}", style="bold"), Text(words.plain(text)), sep="\n")
    _tell(found["name"], found["problems"])


def _show_tool(tool: Mapping[str, Any]) -> None:
    changes = "changes files" if tool["mutates"] else "reads"
    console.print(Text(f"\n{tool['name']}", style="bold"), Text(f"{changes} · {words.line(tool['description'], 300)}"))
    required = tool["params"].get("required", ())
    for name, schema in tool["params"].get("properties", {}).items():
        kind = words.line(str(schema.get("type", "any")), 60)
        console.print(Text(f"  {name}{'' if name in required else '?'}: {kind}"))
    for example in tool["examples"]:
        console.print(Text(f"  “{words.line(example, 200)}”", style="dim"))


def _tell(name: str, problems: Iterable[str]) -> None:
    for problem in problems:
        console.print(Text(f"✘ {words.line(name)}: {words.line(problem, 500)}", style="red"))


def _meant(folder: Path) -> list[Path]:
    """Return the folder itself if it is a skill, else each skill in it."""
    if (folder / "SKILL.md").exists():
        return [folder]
    from libs.skills.catalogue import folders

    found = folders(folder)
    if not found:
        raise Usage(f"{folder} is not a skill (it has no SKILL.md) and contains none")
    return found


def _checked(folder: Path) -> dict[str, Any]:
    # Imported here, because other commands start faster without it.
    from libs.skills import BadSkill, read_skill

    try:
        skill = read_skill(folder)
    except BadSkill as bad:
        return {"name": folder.name, "folder": str(folder), "problems": list(bad.problems), "about": ""}
    return {"name": skill.name, "folder": str(folder), "digest": skill.digest, "problems": [], "about": _about(skill)}


def _about(skill: SkillDefinition) -> str:
    tools = words.count(len(skill.tools), "tool")
    return f"{skill.kind.value}, version {skill.version}" + (f", {tools}" if skill.tools else "")
