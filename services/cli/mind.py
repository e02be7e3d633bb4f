"""The mind's commands of `suma memory`: ratings, mood, persona and sleep."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from services.cli import completion, words
from services.cli.errors import NOT_DONE, Usage
from services.cli.terminal import Json, connected, console, print_done, print_json, print_table

if TYPE_CHECKING:
    from services.cli.client import Client

Agent = Annotated[str, typer.Option("--agent", help="Of this agent's answers.", autocompletion=completion.agents)]
Level = typer.Option(min=0, max=1, metavar="0..1")
LOOK_SECONDS, SLEEP_SECONDS = 0.5, 600.0
SCORES = {"up": 1, "down": -1, "none": 0}
MOODS = ("dopamine", "serotonin", "noradrenaline", "acetylcholine")
TEXT_MOST = 100


def rate(
    verdict: Annotated[Literal["up", "down", "none"], typer.Argument(help="Good, bad, or taken back.")],
    why: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]", help="Why.")] = None,
    turn: Annotated[
        str | None, typer.Option(help="This turn's answer (default: the last of the newest session).")
    ] = None,
    memory: Annotated[str | None, typer.Option(help="This memory instead of an answer.")] = None,
    as_json: Json = False,
) -> None:
    """Rate an answer, or a memory: what was good is recalled sooner, what was bad later."""
    if turn and memory:
        raise Usage("name a turn or a memory, not both")
    with connected() as client:
        path = f"/v1/memory/memories/{memory}" if memory else f"/v1/turns/{turn or last_answer(client)}"
        rated = client.put(f"{path}/rating", {"score": SCORES[verdict], "comment": " ".join(why or ())})
    print_done(rated, "taken back" if verdict == "none" else f"rated {verdict}", as_json=as_json)


def ratings(
    reset: Annotated[bool, typer.Option("--reset", help="Let ratings up to now no longer count.")] = False,
    as_json: Json = False,
) -> None:
    """List your ratings, and the weights that they and your decisions give to memories and kinds."""
    with connected() as client:
        if reset:
            client.delete("/v1/memory/adaptation")
        given = client.get("/v1/memory/ratings")["ratings"]
        weights = client.get("/v1/memory/adaptation")["weights"]
    if as_json:
        print_json({"ratings": given, "weights": weights})
        return
    if not given and not weights:
        console.print(Text("Nothing is rated yet; `suma memory rate up` rates the last answer.", style="dim"))
    if given:
        print_table(("rated", "score", "when", "why"), map(_rating, given))
    if weights:
        print_table(("memory or kind", "points", "factor"), map(_weight, weights))


def mood(
    dopamine: Annotated[float | None, Level] = None,
    serotonin: Annotated[float | None, Level] = None,
    noradrenaline: Annotated[float | None, Level] = None,
    acetylcholine: Annotated[float | None, Level] = None,
    as_json: Json = False,
) -> None:
    """Show the levels that shape recall and answers, after setting those that are named."""
    named = dict(zip(MOODS, (dopamine, serotonin, noradrenaline, acetylcholine), strict=True))
    levels = {name: level for name, level in named.items() if level is not None}
    with connected() as client:
        path = "/v1/memory/modulators"
        shown = client.put(path, levels) if levels else client.get(path)
    if as_json:
        print_json(shown)
    else:
        print_table(("level", "", "effect"), ((name, f"{shown[name]:.2f}", _effect(name, shown)) for name in MOODS))


def persona(
    text: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]", help="How answers are to be written.")] = None,
    agent: Agent = "default",
    clear: Annotated[bool, typer.Option("--clear", help="Ask for no manner any more.")] = False,
    as_json: Json = False,
) -> None:
    """Show or set how an agent's answers are written. It changes their manner, and permits nothing."""
    path = f"/v1/memory/personas/{agent}"
    with connected() as client:
        if clear:
            client.delete(path)
        shown = client.put(path, {"text": " ".join(text)}) if text else client.get(path)
    if as_json:
        print_json(shown)
    elif not shown["text"]:
        console.print(Text("No manner is asked for; `suma memory persona Answer in one line.` does.", style="dim"))
    else:
        console.print(Text(words.plain(shown["text"])))


def sleep(
    no_nrem: Annotated[bool, typer.Option("--no-nrem", help="Merge no repeated memories, and let none fade.")] = False,
    no_rem: Annotated[bool, typer.Option("--no-rem", help="Link no memories.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return at once; the sleep goes on.")] = False,
    as_json: Json = False,
) -> None:
    """Consolidate your memories and report it; exit code 1 if that fails, or takes over ten minutes."""
    with connected() as client:
        id = client.post("/v1/memory/sleeps", {"nrem": not no_nrem, "rem": not no_rem})["id"]
        report = _report(client, id) if no_wait else _waited(client, id)
    if as_json:
        print_json(report)
    else:
        print_table(HEADINGS, [_sleep(report)])
    if report["state"] != "done" and not no_wait:
        raise typer.Exit(NOT_DONE)


def sleeps(as_json: Json = False) -> None:
    """List sleeps, latest first, and how many memories wait for one."""
    with connected() as client:
        state = client.get("/v1/memory/sleeps")
    if as_json:
        print_json(state)
        return
    if state["sleeps"]:
        print_table(HEADINGS, map(_sleep, state["sleeps"]))
    console.print(Text(f"Memories that wait for sleep: {state['waiting']} (load {state['cognitive_load']:.0%})."))


def wake(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Of a sleep (default: the last one).")] = None,
    as_json: Json = False,
) -> None:
    """Undo a sleep: all that it merged, linked and let fade."""
    with connected() as client:
        done = [one["id"] for one in client.get("/v1/memory/sleeps")["sleeps"] if one["state"] in ("done", "failed")]
        if not (id or done):
            raise Usage("no sleep can be undone; `suma memory sleeps` lists them")
        undone = id or done[0]
        client.post(f"/v1/memory/sleeps/{undone}/undo", {})
    print_done({"id": undone, "state": "undone"}, f"undid the sleep {undone}", as_json=as_json)


HEADINGS = ("sleep", "state", "began", "looked at", "merged", "linked")


def last_answer(client: Client) -> str:
    """Return the last turn of the newest session that has an answer."""
    if (session := client.newest_session()) is None:
        raise Usage("no session yet: start one with `suma run`")
    completed = [event.turn_id for event in client.past_events(session) if event.type == "message.completed"]
    if not completed or completed[-1] is None:
        raise Usage("the newest session has no answer yet; name a turn")
    return completed[-1]


def _report(client: Client, id: str) -> Any:
    return next(one for one in client.get("/v1/memory/sleeps")["sleeps"] if one["id"] == id)


def _waited(client: Client, id: str) -> Any:
    until = time.monotonic() + SLEEP_SECONDS
    while (report := _report(client, id))["state"] == "running" and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    return report


def _effect(name: str, shown: dict[str, Any]) -> str:
    match name:
        case "dopamine":
            linked = "; linked memories are recalled too" if shown["creativity_boost"] else ""
            return f"exploration {shown['exploration_factor']:.2f}{linked}"
        case "serotonin":
            kind = "; answers begin with a kind word" if shown["empathy_boost"] else ""
            return f"patience {shown['patience']:.2f}{kind}"
        case "noradrenaline":
            recent = "; recent memories come first" if shown["alertness_boost"] else ""
            return f"focus {shown['focus']:.2f}{recent}"
        case _:
            return f"ratings count {1 + shown[name]:.2f} times"


def _rating(rating: dict[str, Any]) -> tuple[str, ...]:
    return rating["subject"], f"{rating['score']:+g}", rating["at"][:16], words.line(rating["comment"], TEXT_MOST)


def _weight(weight: dict[str, Any]) -> tuple[str, ...]:
    return words.line(weight["subject"]), f"{weight['points']:+.2f}", f"{weight['weight']:.2f}"


def _sleep(report: dict[str, Any]) -> tuple[str, ...]:
    counts = (str(report[name]) for name in ("scanned", "merged", "linked"))
    return report["id"], report["state"], report["started_at"][:16], *counts
