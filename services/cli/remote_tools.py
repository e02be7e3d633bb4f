"""`suma tools`: all tools, those of other servers, and approvals of their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli import completion, words
from services.cli.errors import NOT_DONE, AnswerRequired, Usage
from services.cli.terminal import Json, connected, console, interactive, print_done, print_json

app = typer.Typer(help="Tools, and those of other servers.", no_args_is_help=True)

Which = Annotated[
    str,
    typer.Argument(metavar="TOOL", help="Its name, such as tickets.create.", autocompletion=completion.remote_tools),
]
WAITING = ("new", "changed")
LABELS = ("name", "source", "risks", "state", "reason", "effect_class", "digest", "approved_by", "approved_at")


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List the servers in the settings with their tools; exit code 1 if a server does not answer."""
    servers = _servers()
    if as_json:
        print_json(servers)
    elif not servers:
        console.print("No server is configured; SUMA_TOOL_EXECUTOR__MCP_SERVERS and …__A2A_AGENTS name them.")
    else:
        for server in servers:
            _print_server(server)
    if any(server["problem"] for server in servers):
        raise typer.Exit(NOT_DONE)


@app.command(name="all")
def all_(as_json: Json = False) -> None:
    """List every tool that plans may use, with its origin, risks and effect class."""
    with connected() as client:
        found = client.get("/v1/tools")["tools"]
    if as_json:
        print_json(found)
        return
    table = Table("tool", "from", "risks", "effect", "what it does", box=None, pad_edge=False)
    for tool in sorted(found, key=lambda tool: str(tool["name"])):
        cells = (tool["name"], tool["source"], ", ".join(tool["risks"]), tool["effect_class"], tool["description"])
        table.add_row(*(Text(words.line(cell, 90)) for cell in cells))
    console.print(table)


@app.command()
def pending(as_json: Json = False) -> None:
    """List the tools that wait for an approval: new ones, and those whose description changed."""
    found = [tool for tool in _tools(_servers()) if tool["state"] in WAITING]
    if as_json:
        print_json(found)
    elif not found:
        console.print(Text("No tool waits for an approval.", style="dim"))
    else:
        console.print(_table(found))


@app.command()
def show(tool: Which, as_json: Json = False) -> None:
    """Show a tool, and how it may act; of a server's tool, what the server says of it."""
    with connected() as client:
        known = {each["name"]: each for each in client.get("/v1/tools")["tools"] if each["source"] != "server"}
    found = known[tool] if tool in known else _tool(tool)
    if as_json:
        print_json(found)
    else:
        _print_tool(found)


@app.command()
def approve(
    tool: Which,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve without showing it first.")] = False,
    as_json: Json = False,
) -> None:
    """Offer a tool with exactly its present description; any change of it needs a new approval."""
    found = _tool(tool)
    if found["state"] not in (*WAITING, "offered"):
        raise Usage(f"{tool} cannot be approved: {found['reason']}")
    if not yes:
        if not interactive():
            raise AnswerRequired(f"look at it with `suma tools show {tool}`, then approve it with --yes")
        _print_tool(found)
        typer.confirm("\nModels of every tenant then read this and may plan with it. Approve exactly this?", abort=True)
    with connected() as client:
        done = client.post(f"/v1/admin/tools/{tool}/approve", {"digest": found["digest"]})
    print_done(done, f"{tool} is offered", as_json=as_json)


@app.command()
def revoke(tool: Which, as_json: Json = False) -> None:
    """Stop offering a tool."""
    with connected() as client:
        done = client.post(f"/v1/admin/tools/{tool}/revoke", {})
    print_done(done, f"{tool} is not offered any more", as_json=as_json)


def _servers() -> list[dict[str, Any]]:
    with connected() as client:
        found: list[dict[str, Any]] = client.get("/v1/admin/tools")["servers"]
    return found


def _tools(servers: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [tool for server in servers for tool in server["tools"]]


def _tool(name: str) -> dict[str, Any]:
    found = next((tool for tool in _tools(_servers()) if tool["name"] == name), None)
    if found is None:
        raise Usage(f"no server lists {name}; `suma tools list` shows all")
    return found


def _print_server(server: Mapping[str, Any]) -> None:
    console.print(Text(server["name"], style="bold"), Text(f"{server['protocol']} at {words.line(server['address'])}"))
    if server["problem"]:
        console.print(Text(f"  ✘ {words.line(server['problem'], 200)}", style="red"))
    if server["tools"]:
        console.print(_table(server["tools"]))


def _table(tools: Iterable[Mapping[str, Any]]) -> Table:
    table = Table("tool", "state", "effect", "what the server says", box=None, pad_edge=False)
    for tool in tools:
        state = f"{tool['state']}: {tool['reason']}" if tool["reason"] else tool["state"]
        cells = (tool["name"], state, tool["effect_class"], tool["description"])
        style = "" if tool["state"] == "offered" else "dim"
        table.add_row(*(Text(words.line(cell, 90)) for cell in cells), style=style)
    return table


def _print_tool(tool: Mapping[str, Any]) -> None:
    for label in LABELS:
        if value := tool.get(label):
            shown = ", ".join(value) if isinstance(value, list) else str(value)
            console.print(Text(f"{label:14}", style="dim"), Text(words.line(shown, 200)))
    for label in ("description", "approved_description"):
        if tool.get(label) and not (label == "approved_description" and tool[label] == tool["description"]):
            console.print(Text(f"\n{label}:", style="dim"))
            console.print(Text(words.plain(tool[label])))
    console.print(Text("\narguments:", style="dim"))
    for name, schema in tool["params"].get("properties", {}).items():
        about = words.line(str(schema.get("description", "")), 500) if isinstance(schema, dict) else ""
        console.print(Text(f"  {words.line(name)}"), Text(about))
