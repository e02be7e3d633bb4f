"""The screen: what a person reads of a turn."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from services.cli.show import Screen, diff_of, taken_back
from services.cli.streams import Seen
from tests.services.cli.gateway import Event, asked, event


def shown(*events: Event, verbose: bool = False) -> str:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    screen = Screen(console, verbose=verbose)
    for one in events:
        screen.saw(Seen.of(one))
    return said(console)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def terminal(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, height=9, force_terminal=True, color_system=None)


def begun(text: str) -> Event:
    return event(1, "turn.started", text=text)


@pytest.fixture(autouse=True)
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that says nothing of its language."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def test_an_answer_is_written_once_and_stays_as_it_came() -> None:
    console = terminal(20)
    screen = Screen(console)
    screen.heard("The answer")
    screen.heard("The answer is that")
    under_way = said(console)
    screen.saw(Seen.of(event(1, "message.completed", text="The answer is that nothing was lost.\a")))
    assert under_way.strip() == "The answer is", "a word that may still go on is kept back"
    assert said(console).split() == [r"The", r"answer", r"is", r"that", r"nothing", r"was", r"lost.\x07"]
    assert all(len(line) <= 20 for line in said(console).splitlines())


def test_what_a_broken_attempt_said_is_followed_by_the_whole_answer() -> None:
    console = terminal(40)
    screen = Screen(console)
    screen.heard("I think that ")
    screen.saw(Seen.of(event(1, "message.completed", text="There are 3 files.")))
    assert said(console).splitlines()[-1] == "There are 3 files."


def test_half_an_answer_is_not_written_to_a_file_and_the_whole_is_not_broken_into_lines() -> None:
    console = Console(file=io.StringIO(), width=20)
    screen = Screen(console)
    screen.heard("one two ")
    assert said(console) == ""
    screen.saw(Seen.of(event(1, "message.completed", text="a long line that is longer than twenty columns")))
    assert said(console) == "a long line that is longer than twenty columns\n"


def step(ordinal: int, **more: Any) -> dict[str, Any]:
    return {"ordinal": ordinal, "step_id": f"s{ordinal}", "description": f"Do {ordinal}.", "mutates": False, **more}


def diff(count: int) -> dict[str, Any]:
    entries = [{"change": "deleted", "path": f"{n}.txt", "source": None, "kind": "file"} for n in range(count)]
    counts = {"created": 0, "changed": 0, "moved": 0, "deleted": count}
    return {"version": 1, "count": count, "bytes_freed": 2_000_000, "entries": entries, **counts}


REVIEWS = [
    {"approved": False, "by": "scope", "reason": "outside", "step": 2},
    {"approved": True, "by": "model", "reason": "", "step": None},
]


def planned(*steps: dict[str, Any]) -> Event:
    plan = {"reasoning": "It means x.y (0.74).", "steps": list(steps)}
    return event(2, "plan.proposed", plan=plan, reviews=REVIEWS, committee=False)


def test_a_plan_is_told_by_its_changes() -> None:
    text = shown(planned(step(1), step(2, mutates=True), step(3), step(4, mutates=True)))
    assert text.split("\n")[1:] == ["What I will do:", "  1. Do 2", "  2. Do 4", ""]


def test_a_single_change_is_told_by_its_question_alone() -> None:
    assert shown(planned(step(1), step(2, mutates=True))) == ""


def test_of_a_look_only_the_answer_is_shown() -> None:
    done = event(3, "step.changed", **step(1, state="succeeded", summary="3 groups", error=None))
    analysed = event(1, "turn.analysed", intent="statement", tags=["files"])
    answer = event(4, "message.completed", text="There are 3.")
    assert shown(analysed, planned(step(1)), done, answer) == "There are 3.\n"


def test_how_a_plan_came_about_is_shown_to_who_asks() -> None:
    tool = {"tool": "search-files.search", "args": {"query": "knee"}}
    analysed = event(1, "turn.analysed", intent="action_request", tags=["files"])
    text = shown(analysed, planned(step(1, **tool), step(2, mutates=True)), verbose=True)
    assert "understood as action request about files" in text
    assert "It means x.y (0.74)." in text
    assert '1. Do 1\n     search-files.search {"query": "knee"}' in text
    assert "✘ review by scope: step 2: outside" in text
    assert "✔ review by model: approved" in text
    assert "It only reads, so the committee was not needed." in text


def test_how_long_a_step_took_and_what_it_found_is_shown_to_who_asks() -> None:
    running = event(1, "step.changed", **step(1, state="running", summary="", error=None))
    done = event(2, "step.changed", **step(1, state="succeeded", summary="3 groups", error=None))
    text = shown(running, {**done, "time": "2026-01-01T00:00:01.5Z"}, verbose=True)
    assert text == "✔ 1. Do 1: 3 groups (1.5 s)\n"


def test_a_step_that_was_not_done_says_so_and_why() -> None:
    failed = event(1, "step.changed", **step(2, state="failed", summary="", error="no such file"))
    assert shown(failed) == "✘ Do 2 – not done: no such file\n"


def test_a_step_that_a_person_refused_is_no_news_to_them_and_one_that_policy_denied_is() -> None:
    refused = step(2, state="denied", summary="", error="a person said no")
    assert shown(event(1, "step.changed", **refused)) == ""
    denied = event(1, "step.changed", **{**refused, "error": "policy: too far"})
    assert "the rules here do not allow it: too far" in shown(denied)


def test_what_is_said_around_a_turn_follows_the_language_of_the_request() -> None:
    changes = planned(step(1, mutates=True), step(2, mutates=True))
    assert "Das habe ich vor:" in shown(begun("lösche die leeren Dateien"), changes)
    assert "Lo que voy a hacer:" in shown(begun("borra los archivos vacíos"), changes)
    assert "What I will do:" in shown(begun("delete the empty files"), changes)


def test_a_turn_without_words_speaks_as_the_terminal_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "de_AT.UTF-8")
    undone = event(2, "workspace.changed", change="rolled_back", operations=2, conflicts=[])
    assert shown(begun(""), undone, event(3, "turn.ended", state="completed", reason=None, detail="")) == (
        "Rückgängig gemacht: 2 Änderungen.\n"
    )


def test_what_became_of_the_files_is_told_once() -> None:
    committed = event(1, "workspace.changed", change="committed", operations=1, conflicts=[])
    ended = event(3, "turn.ended", state="completed", reason=None, detail="")
    assert shown(committed, ended) == "Done: 1 change.\n"
    assert shown(committed, event(2, "message.completed", text="1 file deleted."), ended) == "1 file deleted.\n"


def test_a_result_too_large_to_show_is_told_behind_the_answer_with_how_to_get_it() -> None:
    result = {"asset_id": "a1", "filename": "step-1.json", "media_type": "application/json", "size": 204_831}
    done = event(1, "step.changed", **step(1, state="succeeded", summary="2,000 files", error=None, result=result))
    ended = event(3, "turn.ended", state="completed", reason=None, detail="")
    text = shown(done, event(2, "message.completed", text="There are 2,000."), ended)
    assert text.splitlines() == ["There are 2,000.", "All of it (205 kB): suma fetch a1"]


def test_skills_to_choose_from_are_told_by_what_they_do() -> None:
    candidates = [
        {"skill": "search-files", "score": 0.66, "description": "Find files."},
        {"skill": "manage-files", "score": 0.5, "description": "Move files."},
    ]
    asked = event(1, "clarification.requested", question="What do you mean?", candidates=candidates, missing=[])
    assert shown(asked).strip().splitlines() == ["? What do you mean?", "    1. Find files.", "    2. Move files."]
    assert "(search-files, 0.66)" in shown(asked, verbose=True)


def test_choices_that_the_question_tells_are_not_told_twice() -> None:
    candidates = [{"skill": "manage-files", "score": 0.5, "description": "move the files"}]
    asked = event(1, "clarification.requested", question="You mean: move the files?", candidates=candidates, missing=[])
    assert shown(asked).strip() == "? You mean: move the files?"


def test_choices_that_the_question_counts_are_not_counted_again() -> None:
    candidates = [{"skill": skill, "score": 0.5, "description": "x"} for skill in ("manage-files", "search-files")]
    asked = event(1, "clarification.requested", question="(1) move or (2) find?", candidates=candidates, missing=[])
    assert shown(asked).strip() == "? (1) move or (2) find?"


def test_where_only_a_word_is_missing_there_is_nothing_to_choose() -> None:
    candidates = [{"skill": "explain", "score": 1.0, "description": "Explain a file."}]
    asked = event(1, "clarification.requested", question="Which file?", candidates=candidates, missing=["path"])
    assert shown(asked).strip() == "? Which file?"


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


def test_a_question_about_a_commit_says_what_it_leaves_out_before_anyone_agrees() -> None:
    more = "9 more in subfolders; to take them too, say: in all subfolders"
    text = shown(asked(1, "a1", kind="commit", diff=diff(2), detail=more, undo="This can be undone."))
    assert text.strip().splitlines()[-2:] == [f"  {more}", "  This can be undone."]


def test_of_a_turn_that_was_corrected_nothing_more_is_shown_but_that_it_failed() -> None:
    console = Console(file=io.StringIO(), width=200)
    screen = Screen(console)
    screen.hush()
    screen.saw(Seen.of(event(1, "message.completed", text="Nothing was changed.")))
    screen.saw(Seen.of(event(2, "turn.ended", state="failed", reason="LOST", detail="")))
    assert said(console) == "✘ not done (LOST)\n"


def test_a_bare_yes_is_in_the_language_of_what_was_said_before() -> None:
    undone = event(3, "workspace.changed", change="rolled_back", operations=2, conflicts=[])
    ended = event(4, "turn.ended", state="completed", reason=None, detail="")
    assert "Deshecho" in shown(begun("borra los archivos vacíos"), begun("ok"), undone, ended)


def test_of_a_duplicate_that_goes_the_diff_names_the_one_that_stays() -> None:
    items = [{"id": "0.txt", "change": "deleted", "same_as": "letters/0.txt"}]
    text = shown(begun("borra los duplicados"), asked(2, "a1", kind="commit", diff=diff(2), items=items))
    assert "- 0.txt (igual que letters/0.txt)" in text
    assert "- 1.txt\n" in text


def test_of_what_was_chosen_by_its_text_the_diff_shows_the_line() -> None:
    items = [{"id": "0.txt", "change": "deleted", "says": "PAID 3 May"}]
    text = shown(begun("delete the bills that say PAID"), asked(2, "a1", kind="commit", diff=diff(2), items=items))
    assert "- 0.txt (says “PAID 3 May”)" in text
    assert "- 1.txt\n" in text


def test_of_a_new_archive_the_diff_says_how_many_files_it_holds_and_of_what() -> None:
    entry = {"change": "created", "path": "accounts 2021.zip", "source": None, "kind": "file", "size": 900}
    packed = {**diff(0), "count": 1, "created": 1, "deleted": 0, "entries": [entry]}
    items = [{"id": entry["path"], "change": "created", "packs": {"files": 6, "of": ["Accounts/2021"], "more": 0}}]
    text = shown(begun("zip it"), asked(2, "a1", kind="commit", diff=packed, items=items))
    assert "+ accounts 2021.zip (holds 6 files: Accounts/2021)" in text


def test_what_an_undo_does_is_shown_and_not_what_was_done() -> None:
    entries = [
        {"change": "moved", "path": "Bills/a.pdf", "source": "a.pdf", "kind": "file", "size": 1},
        {"change": "created", "path": "copy.pdf", "source": "a.pdf", "kind": "file", "size": 1},
        {"change": "deleted", "path": "old", "source": None, "kind": "directory", "size": 1},
        {"change": "changed", "path": "b.txt", "source": None, "kind": "file", "size": 1},
    ]
    done = {"version": 1, "count": 4, "created": 1, "changed": 1, "deleted": 3, "moved": 1, "bytes_freed": 9}
    console = Console(file=io.StringIO(), width=200)
    diff_of(Screen(console), taken_back({**done, "entries": entries}))
    assert said(console).splitlines() == [
        "  > Bills/a.pdf → back to a.pdf",
        "  - copy.pdf (goes again)",
        "  + old/ (comes back)",
        "  ~ b.txt (back as it was)",
        "  6 changes: 3 created, 1 changed, 1 moved, 1 deleted",
    ]


def test_a_deleted_folder_counts_as_all_that_it_holds() -> None:
    folder = {**diff(1), "deleted": 4, "created": 2}
    assert "6 changes: 2 created, 4 deleted" in shown(asked(1, "a1", kind="commit", diff=folder))


def test_a_long_diff_is_cut_and_says_so() -> None:
    console = Console(file=io.StringIO(), width=200)
    diff_of(Screen(console), diff(50), most=40)
    assert "… and 10 more" in said(console)


def test_a_long_diff_of_several_folders_shows_some_of_each() -> None:
    console, many = Console(file=io.StringIO(), width=200), diff(50)
    entries = [{**entry, "path": f"{'ab'[n % 2]}/{entry['path']}"} for n, entry in enumerate(many["entries"])]
    diff_of(Screen(console), {**many, "entries": entries}, most=40)
    lines = said(console).splitlines()
    assert [lines[0], lines[1], lines[7]] == ["  a/ (25 changes)", "    - a/0.txt", "  b/ (25 changes)"]
    assert "… and 38 more" in lines[14]


def test_files_that_someone_else_changed_are_listed() -> None:
    changed = event(1, "workspace.changed", change="conflicted", conflicts=["a.txt"], operations=0)
    assert "Nothing was changed" in shown(changed)
    assert "a.txt" in shown(changed)


def test_a_refusal_is_shown_with_its_reason() -> None:
    ended = event(1, "turn.ended", state="refused", reason="POLICY_DENIED", detail="not allowed")
    assert shown(ended).strip() == "✘ refused (the rules here do not allow it: not allowed)"


def test_a_person_who_stopped_a_turn_is_not_told_why() -> None:
    ended = event(1, "turn.ended", state="cancelled", reason="CANCELLED", detail="")
    assert shown(ended) == "– stopped\n"


def test_markup_in_a_name_is_text() -> None:
    done = step(1, state="failed", summary="", error="[red]x[/red] [link=http://evil]y")
    assert "[red]x[/red] [link=http://evil]y" in shown(event(1, "step.changed", **done))


def test_an_event_of_a_newer_server_is_passed_over() -> None:
    assert shown(event(1, "something.new", surprise=True)) == ""
