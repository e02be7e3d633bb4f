"""`suma make`: pictures and documents, in words or as a plan in the Task DSL, and the jobs that make them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text
from typer.core import TyperGroup
from typing_extensions import override

from services.cli import words
from services.cli.errors import NOT_DONE, Usage
from services.cli.saving import save
from services.cli.terminal import Json, connected, console, errors_console, print_done, print_json, print_table

if TYPE_CHECKING:
    from services.cli.client import Client

FIRST = "new"
"""The command that is meant where none is named."""
JOBS, CAPABILITIES = "/v1/multimodal/jobs", "/v1/multimodal/capabilities"
NAME_MOST, TEXT_MOST, PLAN_MOST = 60, 80, 100_000
MICROS = 1_000_000


class Making(TyperGroup):
    """A group whose first command may go unnamed: `suma make "a chart of file types"`."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [FIRST, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=Making,
    help='Make pictures and documents: `suma make "a chart of the file types"`, or `suma make plan.json`.',
    no_args_is_help=True,
)

JobArg = Annotated[str, typer.Argument(metavar="JOB", help="Its ID, as `suma make list` shows it.")]
State = Literal["open", "completed", "refused", "failed", "cancelled"]


@app.command(name="list")
def list_(
    state: Annotated[State | None, typer.Option(help="Only jobs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many jobs.")] = 20,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    with connected() as client:
        jobs = client.get(JOBS, limit=limit, **({"state": state} if state else {}))["jobs"]
    if as_json:
        print_json(jobs)
    elif not jobs:
        console.print(Text("No jobs yet. `suma make` begins one.", style="dim"))
    else:
        print_table(("job", "state", "steps", "begun", "request"), map(_row, jobs))


@app.command()
def show(job: JobArg, as_json: Json = False) -> None:
    """Show a job: its steps with each attempt, what they made, and the cost."""
    with connected() as client:
        found = client.get(f"{JOBS}/{job}")
    if as_json:
        print_json(found)
        return
    console.print(Text(f"{words.line(found['request'], 200)}\n{found['state']}, {_cost(found['cost_micros'])}"))
    steps = [row for step in found["plan"] for row in _step(step)]
    if steps:
        print_table(("step", "after", "state", "by", "quality", "what"), steps)
    report(found, [])


@app.command()
def cancel(job: JobArg, as_json: Json = False) -> None:
    """Cancel a job; nothing that it staged is kept."""
    with connected() as client:
        done = client.post(f"{JOBS}/{job}/cancel", {})
    print_done(done, f"cancelled {words.line(job)}", as_json=as_json)


@app.command()
def capabilities(as_json: Json = False) -> None:
    """List what makes pictures and documents here, with cost, time and health; exit code 1 if that is not enabled."""
    with connected() as client:
        found = client.get(CAPABILITIES)
    if as_json:
        print_json(found)
    elif found["enabled"]:
        print_table(
            ("tool", "by", "makes", "cost", "time", "health", "problem"), map(_capability, found["capabilities"])
        )
    else:
        console.print(Text(words.line(found["problem"], 200), style="yellow"))
    if not found["enabled"]:
        raise typer.Exit(NOT_DONE)


@app.command(name="save")
def save_(
    asset: Annotated[str, typer.Argument(metavar="ASSET", help="Its ID, as `suma make show` shows it.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file (default: standard output).")] = None,
) -> None:
    """Save one asset of a job."""
    with connected() as client:
        save(client.download(f"/v1/multimodal/assets/{asset}"), out)


@app.command()
def link(
    asset: Annotated[str, typer.Argument(metavar="ASSET", help="Its ID, as `suma make show` shows it.")],
    seconds: Annotated[int | None, typer.Option(min=1, help="Its lifetime (default: the longest).")] = None,
    as_json: Json = False,
) -> None:
    """Print a link to an asset that works without a key until it expires. It lets every holder read the asset."""
    with connected() as client:
        made = client.post(f"/v1/multimodal/assets/{asset}/link", {"seconds": seconds} if seconds else {})
    if as_json:
        print_json(made)
    else:
        console.print(Text(made["url"]), soft_wrap=True)


def request_of(what: str) -> dict[str, Any]:
    """Return the words, or the plan of a file. Raises Usage for a file that is no JSON object."""
    if not what.strip():
        raise Usage("say what to make")
    path = Path(what)
    if not what.endswith(".json"):
        return {"request": what}
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(PLAN_MOST + 1)
        plan = json.loads(text) if len(text) <= PLAN_MOST else None
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Usage(f"{path} is not JSON: {error}; correct it there") from None
    if not isinstance(plan, dict):
        raise Usage(f"{path} is no plan; write a JSON object with version and tasks, of at most {PLAN_MOST} characters")
    return {"plan": plan}


def save_result(client: Client, job: dict[str, Any], out: Path | None) -> list[Path]:
    """Save the result, which is the last asset; without a name, only if the folder does not have it already."""
    if not job["assets"] or job["state"] != "completed":
        return []
    last = job["assets"][-1]
    if out is None and last["path"]:
        return []
    path = out or _free(Path(_name(last)))
    save(client.download(last["content"]), path)
    return [path]


def _name(asset: dict[str, Any]) -> str:
    """Return a safe file name for an asset: its title comes from outside."""
    stem = re.sub(r"[^\w-]+", "-", asset["title"]).strip("-")[:NAME_MOST] or "result"
    ending = {"markdown": "md"}.get(asset["format"], re.sub(r"\W", "", asset["format"])) or "bin"
    return f"{stem}.{ending}"


def _free(path: Path) -> Path:
    numbered = (path.with_stem(f"{path.stem}-{n}") for n in range(2, 1_000))
    return next((one for one in (path, *numbered) if not one.exists()), path)


def report(job: dict[str, Any], saved: list[Path]) -> None:
    """Print the assets of a job, its warnings, and where they were saved."""
    for asset in job["assets"]:
        size = f"{asset['width']} × {asset['height']}, " if asset["width"] else ""
        kept = f", {words.line(asset['path'], 200)}" if asset["path"] else ""
        about = f"{asset['format']}, {size}{asset['size']:,} bytes{kept}, asset {asset['asset_id']}"
        console.print(Text(f"✔ {words.line(asset['title'], 200)}: {about}", style="green"))
    for warning in job["warnings"]:
        errors_console.print(Text(f"! {words.line(warning, 300)}", style="yellow"))
    for path in saved:
        console.print(Text(f"saved {path} ({_cost(job['cost_micros'])})"))


def _row(job: dict[str, Any]) -> tuple[str, ...]:
    begun = job["created_at"][:16].replace("T", " ")
    return job["job_id"], job["state"], str(job["steps"]), begun, words.line(job["request"], TEXT_MOST)


def _step(step: dict[str, Any]) -> list[tuple[str, ...]]:
    after = ", ".join(map(str, step["depends_on"]))
    what = words.line(step["error"] or step["summary"] or step["description"], TEXT_MOST)
    rows: list[tuple[str, ...]] = [(str(step["ordinal"]), after, step["state"], step["tool"], "", what)]
    for one in step["executions"]:
        said = words.line(one["error"] or "; ".join(one["critique"]), TEXT_MOST)
        quality = f"{one['quality']:.2f}" if one["quality"] is not None else ""
        rows.append(("", "", f"attempt {one['attempt']}", f"{one['provider']}/{one['tool_id']}", quality, said))
    return rows


def _capability(one: dict[str, Any]) -> tuple[str, ...]:
    made = words.line(", ".join(one["formats"]), TEXT_MOST)
    problem = words.line(one["problem"], TEXT_MOST)
    took = f"{one['latency_ms'] / 1000:.2f} s" if one["latency_ms"] is not None else ""
    return one["tool_id"], one["provider"], made, one["cost_tier"], took, one["health_status"], problem


def _cost(micros: int) -> str:
    return f"${micros / MICROS:.2f}" if micros else "free"
