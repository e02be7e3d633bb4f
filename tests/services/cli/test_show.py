"""The screen: what a person reads of a turn."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from services.cli.show import Screen, diff_of
from services.cli.streams import Seen
from tests.services.cli.gateway import Event, asked, event


def shown(*events: Event) -> str:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    screen = Screen(console)
    for one in events:
        screen.saw(Seen.of(one))
    return said(console)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_words_are_shown_as_they_come_and_then_the_whole_answer_takes_their_place() -> None:
    console = Console(file=io.StringIO(), width=20, height=5, force_terminal=True, color_system=None)
    screen = Screen(console)
    screen.heard("one two")
    screen.heard("\n".join(f"line {n}\a" for n in range(9)))
    under_way = said(console)
    screen.saw(Seen.of(event(1, "message.completed", text="The answer.")))
    assert "one two" in under_way
    assert under_way.count("line 8") == 1
    assert "line 5" not in under_way, "what the screen has no room for cannot be taken back"
    assert "\a" not in under_way
    assert said(console).removeprefix(under_way).split("\x1b[2K")[-1].strip() == "The answer."


def test_half_an_answer_is_not_written_to_a_file() -> None:
    console = Console(file=io.StringIO(), width=20)
    Screen(console).heard("one two")
    assert said(console) == ""


def step(ordinal: int, **more: Any) -> dict[str, Any]:
    return {"ordinal": ordinal, "step_id": f"s{ordinal}", "description": f"Do {ordinal}.", "mutates": False, **more}


def diff(count: int) -> dict[str, Any]:
    entries = [{"change": "deleted", "path": f"{n}.txt", "source": None, "kind": "file"} for n in range(count)]
    counts = {"created": 0, "changed": 0, "moved": 0, "deleted": count}
    return {"version": 1, "count": count, "bytes_freed": 2_000_000, "entries": entries, **counts}


def test_a_plan_is_shown_with_its_steps_and_every_review() -> None:
    plan = {"reasoning": "Because.", "steps": [step(1), step(2, mutates=True)]}
    reviews = [
        {"approved": False, "by": "scope", "reason": "outside", "step": 2},
        {"approved": True, "by": "model", "reason": "", "step": None},
    ]
    text = shown(event(1, "plan.proposed", plan=plan, reviews=reviews, committee=True))
    assert "1. Do 1" in text
    assert "2. Do 2 (changes files)" in text
    assert "✘ review by scope: step 2: outside" in text
    assert "✔ review by model: approved" in text


def test_a_step_is_shown_when_it_has_ended_with_what_it_found() -> None:
    running = step(1, state="running", summary="", error=None)
    done = step(1, state="succeeded", summary="3 groups", error=None)
    failed = step(2, state="failed", summary="", error="no such file")
    text = shown(*(event(n, "step.changed", **data) for n, data in enumerate((running, done, failed), 1)))
    assert text.splitlines() == ["✔ 1. Do 1: 3 groups", "✘ 2. Do 2: no such file"]


def test_a_result_too_large_to_show_is_told_with_how_to_get_it() -> None:
    result = {"asset_id": "a1", "filename": "step-1.json", "media_type": "application/json", "size": 204_831}
    done = step(1, state="succeeded", summary="2,000 files", error=None, result=result)
    assert "all of it (205 kB): suma fetch a1" in shown(event(1, "step.changed", **done))


def test_a_question_shows_what_may_be_left_out_and_what_can_be_undone() -> None:
    groups = [{"id": "g1", "keep": "a", "remove": ["b"]}]
    text = shown(asked(1, "a1", title="Remove?", items=groups, args={"groups": groups, "keep": "newest"}, undo="All."))
    assert "? Remove?" in text
    assert "1. keep a, remove b" in text
    assert "keep: newest" in text
    assert "All." in text


def test_a_question_about_a_commit_shows_the_diff() -> None:
    text = shown(asked(1, "a1", kind="commit", diff=diff(2), items=[{"id": "0.txt", "change": "deleted"}]))
    assert "- 0.txt" in text
    assert "2 changes: 2 deleted, 2.0 MB freed" in text


def test_a_long_diff_is_cut_and_says_so() -> None:
    console = Console(file=io.StringIO(), width=200)
    diff_of(console, diff(50), most=40)
    assert "… 10 more" in said(console)


def test_files_that_someone_else_changed_are_listed() -> None:
    changed = event(1, "workspace.changed", change="conflicted", conflicts=["a.txt"], operations=0)
    assert "Nothing was changed" in shown(changed)
    assert "a.txt" in shown(changed)


def test_a_refusal_is_shown_with_its_reason() -> None:
    ended = event(1, "turn.ended", state="refused", reason="POLICY_DENIED", detail="not allowed")
    assert shown(ended).strip() == "✘ refused (POLICY_DENIED: not allowed)"


def test_markup_in_a_name_is_text() -> None:
    done = step(1, state="succeeded", summary="[red]x[/red] [link=http://evil]y", error=None)
    assert "[red]x[/red] [link=http://evil]y" in shown(event(1, "step.changed", **done))


def test_an_event_of_a_newer_server_is_passed_over() -> None:
    assert shown(event(1, "something.new", surprise=True)) == ""
