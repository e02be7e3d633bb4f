"""The screen: what a person reads of a turn."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from services.cli.show import Screen, diff_of, taken_back
from services.cli.streams import SessionEvent
from tests.services.cli.gateway import Event, asked, event


def shown(*events: Event, verbose: bool = False) -> str:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    screen = Screen(console, verbose=verbose)
    for one in events:
        screen.on_event(SessionEvent.of(one))
    return said(console)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def terminal(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, height=9, force_terminal=True, color_system=None)


def begun(text: str) -> Event:
    return event(1, "turn.started", text=text)


def test_an_answer_is_written_once_and_stays_as_it_came() -> None:
    console = terminal(20)
    screen = Screen(console)
    screen.on_text("The answer")
    screen.on_text("The answer is that")
    under_way = said(console)
    screen.on_event(SessionEvent.of(event(1, "message.completed", text="The answer is that nothing was lost.\a")))
    assert under_way.strip() == "The answer is", "a word that may still go on is kept back"
    assert said(console).split() == [r"The", r"answer", r"is", r"that", r"nothing", r"was", r"lost.\x07"]
    assert all(len(line) <= 20 for line in said(console).splitlines())


def test_interrupted_text_is_followed_by_the_complete_answer() -> None:
    console = terminal(40)
    screen = Screen(console)
    screen.on_text("I think that ")
    screen.on_event(SessionEvent.of(event(1, "message.completed", text="There are 3 files.")))
    assert said(console).splitlines()[-1] == "There are 3 files."


MARKED = (
    "# Sizes\n**Big** is `a*b`, see [the page](https://a.example) and snake_case.\n- *one*\n```\n**kept**\n```\nend"
)
UNMARKED = "Sizes\nBig is a*b, see the page (https://a.example) and snake_case.\n- one\n**kept**\nend"


def test_terminal_shows_an_answer_without_marks_as_it_grows() -> None:
    console = terminal(200)
    screen = Screen(console)
    for end in range(len(MARKED)):
        screen.on_text(MARKED[:end])
    screen.on_event(SessionEvent.of(event(1, "message.completed", text=MARKED)))
    assert said(console).strip() == UNMARKED


def test_file_keeps_the_marks_of_an_answer() -> None:
    assert shown(event(1, "message.completed", text=MARKED)).strip() == MARKED


def test_file_output_has_only_the_complete_unwrapped_answer() -> None:
    console = Console(file=io.StringIO(), width=20)
    screen = Screen(console)
    screen.on_text("one two ")
    assert said(console) == ""
    screen.on_event(
        SessionEvent.of(event(1, "message.completed", text="a long line that is longer than twenty columns"))
    )
    assert said(console) == "a long line that is longer than twenty columns\n"


def step(ordinal: int, **more: Any) -> dict[str, Any]:
    return {"ordinal": ordinal, "step_id": f"s{ordinal}", "description": f"Do {ordinal}.", "mutates": False, **more}


def command(state: str, **result: Any) -> Event:
    done: dict[str, Any] = {
        "exit_code": 0,
        "limit": None,
        "sandbox": "bubblewrap",
        "output": "",
        "changed": [],
        "refused": [],
    }
    more = {"summary": "`make` ended.", "error": None, "data": {**done, **result} if result else None}
    return event(1, "step.changed", **step(1, state=state, **more))


def test_output_of_a_command_grows_and_is_not_repeated() -> None:
    console = terminal(80)
    screen = Screen(console)
    screen.on_event(SessionEvent.of(command("running")))
    for output in ("one\ntw", "one\ntwo\x1b[2J\nth"):
        screen.on_output("s1", output)
    under_way = said(console)
    screen.on_event(SessionEvent.of(command("succeeded", output="one\ntwo\x1b[2J\nthree\n")))
    assert under_way.splitlines()[-2:] == ["  one", r"  two\x1b[2J"]
    rest = said(console).removeprefix(under_way).splitlines()
    assert rest[:2] == ["  three", "✔ `make` ended. It ran in bubblewrap."]


def test_output_of_an_earlier_command_is_not_shown_live() -> None:
    console = terminal(80)
    Screen(console).on_output("s1", "one\n")
    assert said(console) == ""


def test_result_of_a_command_shows_both_ends_and_paths() -> None:
    output = "".join(f"line {n}\n" for n in range(100))
    refused = [{"path": "dev", "reason": "a device"}]
    result = {"exit_code": 2, "changed": ["a.txt", "b\x07.txt"], "refused": refused, "left_out": ["big.bin"]}
    lines = shown(command("running"), command("succeeded", output=output, **result)).splitlines()
    assert (lines[0], lines[19:22], lines[40]) == (
        "  line 0",
        ["  line 19", "  … 60 lines are left out", "  line 80"],
        "  line 99",
    )
    assert lines[41:] == [
        "✘ `make` ended. It ran in bubblewrap.",
        r"  changed a.txt, b\x07.txt",
        "  refused what it did to dev (a device)",
        "  the sandbox had no big.bin",
    ]


def group(count: int, change: str = "deleted", folder: str = "") -> dict[str, Any]:
    return {"change": change, "folder": folder, "count": count, "things": count, "size": 1}


def diff(count: int) -> dict[str, Any]:
    entries = [{"change": "deleted", "path": f"{n}.txt", "source": None, "kind": "file"} for n in range(count)]
    counts = {"created": 0, "changed": 0, "moved": 0, "deleted": count, "groups": [group(count)]}
    return {"version": 1, "count": count, "bytes_freed": 2_000_000, "kept_days": 30.0, "entries": entries, **counts}


REVIEWS = [
    {"approved": False, "by": "scope", "reason": "outside", "step": 2},
    {"approved": True, "by": "model", "reason": "", "step": None},
]


def planned(*steps: dict[str, Any]) -> Event:
    plan = {"reasoning": "It means x.y (0.74).", "steps": list(steps)}
    return event(2, "plan.proposed", plan=plan, reviews=REVIEWS, committee=False)


def test_plan_with_several_changes_lists_them() -> None:
    text = shown(planned(step(1), step(2, mutates=True), step(3), step(4, mutates=True)))
    assert text.split("\n")[1:] == ["What I will do:", "  1. Do 2", "  2. Do 4", ""]


def test_plan_with_one_change_prints_nothing() -> None:
    assert shown(planned(step(1), step(2, mutates=True))) == ""


def test_turn_without_changes_shows_only_its_answer() -> None:
    done = event(3, "step.changed", **step(1, state="succeeded", summary="3 groups", error=None))
    analysed = event(1, "turn.analysed", intent="statement", tags=["files"])
    answer = event(4, "message.completed", text="There are 3.")
    assert shown(analysed, planned(step(1)), done, answer) == "There are 3.\n"


def test_verbose_shows_how_the_plan_was_made() -> None:
    tool = {"tool": "search-files.search", "args": {"query": "knee"}}
    analysed = event(1, "turn.analysed", intent="action_request", tags=["files"])
    text = shown(analysed, planned(step(1, **tool), step(2, mutates=True)), verbose=True)
    assert "understood as action request about files" in text
    assert "It means x.y (0.74)." in text
    assert '1. Do 1\n     search-files.search {"query": "knee"}' in text
    assert "✘ review by scope: step 2: outside" in text
    assert "✔ review by model: approved" in text
    assert "It only reads, so the committee was not needed." in text


def test_verbose_shows_step_times_and_results() -> None:
    running = event(1, "step.changed", **step(1, state="running", summary="", error=None))
    done = event(2, "step.changed", **step(1, state="succeeded", summary="3 groups", error=None))
    text = shown(running, {**done, "time": "2026-01-01T00:00:01.5Z"}, verbose=True)
    assert text == "✔ 1. Do 1: 3 groups (1.5 s)\n"


def test_undone_step_is_shown_with_its_reason() -> None:
    failed = event(1, "step.changed", **step(2, state="failed", summary="", error="no such file"))
    assert shown(failed) == "✘ Do 2 – not done: no such file\n"


def test_result_of_an_approved_step_is_shown_unless_staged() -> None:
    asked = event(1, "step.changed", **step(1, state="awaiting_approval", summary="", error=None))
    read = step(1, state="succeeded", summary="Read https://example.org/ (HTTP status 200).", error=None)
    assert shown(asked, event(2, "step.changed", **read)) == "✔ Read https://example.org/ (HTTP status 200).\n"
    assert shown(asked, event(2, "step.changed", **read, proposed="Would read it.")) == ""


def test_policy_denial_is_shown_and_own_refusal_is_not() -> None:
    refused = step(2, state="denied", summary="", error="a person said no")
    assert shown(event(1, "step.changed", **refused)) == ""
    denied = event(1, "step.changed", **{**refused, "error": "policy: too far"})
    assert "the policy does not allow it: too far" in shown(denied)


def test_result_of_a_commit_is_reported_once() -> None:
    committed = event(1, "workspace.changed", change="committed", operations=1, conflicts=[])
    ended = event(3, "turn.ended", state="completed", reason=None, detail="")
    assert shown(committed, ended) == "Done: 1 change.\n"
    assert shown(committed, event(2, "message.completed", text="1 file deleted."), ended) == "1 file deleted.\n"


@pytest.mark.parametrize("command", ["rollback", "redo"])
def test_conflicting_undo_offers_to_leave_files_out(command: str) -> None:
    undoing = event(1, "turn.started", message_id=None, text=command, queued=False)
    conflicted = event(2, "workspace.changed", change="conflicted", conflicts=["a.txt"], operations=0)
    assert f"suma {command} --exclude" in shown(undoing, conflicted)
    assert "--exclude" not in shown(conflicted)


def test_large_result_is_named_with_its_fetch_command() -> None:
    result = {"asset_id": "a1", "filename": "step-1.json", "media_type": "application/json", "size": 204_831}
    done = event(1, "step.changed", **step(1, state="succeeded", summary="2,000 files", error=None, result=result))
    ended = event(3, "turn.ended", state="completed", reason=None, detail="")
    text = shown(done, event(2, "message.completed", text="There are 2,000."), ended)
    assert text.splitlines() == ["There are 2,000.", "Full output (205 kB): suma fetch a1"]


def test_skill_candidates_are_listed_by_description() -> None:
    candidates = [
        {"skill": "search-files", "score": 0.66, "description": "Find files."},
        {"skill": "manage-files", "score": 0.5, "description": "Move files."},
    ]
    asked = event(1, "clarification.requested", question="What do you mean?", candidates=candidates, missing=[])
    assert shown(asked).strip().splitlines() == ["? What do you mean?", "    1. Find files.", "    2. Move files."]
    assert "(search-files, 0.66)" in shown(asked, verbose=True)


def test_choice_named_in_the_question_is_not_listed() -> None:
    candidates = [{"skill": "manage-files", "score": 0.5, "description": "move the files"}]
    asked = event(1, "clarification.requested", question="You mean: move the files?", candidates=candidates, missing=[])
    assert shown(asked).strip() == "? You mean: move the files?"


def test_choices_numbered_in_the_question_are_not_listed() -> None:
    candidates = [{"skill": skill, "score": 0.5, "description": "x"} for skill in ("manage-files", "search-files")]
    asked = event(1, "clarification.requested", question="(1) move or (2) find?", candidates=candidates, missing=[])
    assert shown(asked).strip() == "? (1) move or (2) find?"


def test_offered_answers_are_numbered() -> None:
    offers = ["find duplicates", "sort by type"]
    question = "I know “find duplicates”, “sort by type”."
    asked = event(1, "clarification.requested", question=question, candidates=[], missing=[], offers=offers)
    assert shown(asked).strip().splitlines()[1:] == ["    1. find duplicates", "    2. sort by type"]
    agreeing = event(1, "clarification.requested", question="Shall I?", candidates=[], missing=[], offers=["Yes", "No"])
    assert shown(agreeing).strip() == "? Shall I?"


def test_missing_word_question_has_no_choices() -> None:
    candidates = [{"skill": "explain", "score": 1.0, "description": "Explain a file."}]
    asked = event(1, "clarification.requested", question="Which file?", candidates=candidates, missing=["path"])
    assert shown(asked).strip() == "? Which file?"


def test_question_shows_excludable_items_and_undo() -> None:
    groups = [{"id": "g1", "keep": "a", "remove": ["b"]}]
    text = shown(asked(1, "a1", title="Remove?", items=groups, args={"groups": groups, "keep": "newest"}, undo="All."))
    assert "? Remove?" in text
    assert "1. keep a, remove b" in text
    assert "keep: newest" in text
    assert "All." in text


def test_a_question_about_a_commit_shows_the_diff() -> None:
    text = shown(asked(1, "a1", kind="commit", diff=diff(2), items=[{"id": "0.txt", "change": "deleted"}]))
    assert "- 0.txt" in text
    assert "2 changes: 2 deleted, 2 MB kept in history, freed in 30 days or by `suma purge`" in text


def test_question_names_the_content_that_it_rests_on() -> None:
    page = {"kind": "untrusted", "turn_id": "t1", "step_id": "s1", "source": "http://page.example/\x1b[31m"}
    text = shown(asked(1, "a1", title="Send it?", because=[page, {**page, "kind": "secret"}]))
    assert "Asked because this session has read http://page.example/" in text
    assert text.count("page.example") == 1
    assert "\x1b[31m" not in text


def test_commit_question_names_excluded_files() -> None:
    more = "9 more in subfolders; to take them too, say: in all subfolders"
    text = shown(asked(1, "a1", kind="commit", diff=diff(2), detail=more, undo="This can be undone."))
    assert text.strip().splitlines()[-2:] == [f"  {more}", "  This can be undone."]


def test_corrected_turn_shows_only_its_failure() -> None:
    console = Console(file=io.StringIO(), width=200)
    screen = Screen(console)
    screen.mute()
    screen.on_event(SessionEvent.of(event(1, "message.completed", text="Nothing was changed.")))
    screen.on_event(SessionEvent.of(event(2, "turn.ended", state="failed", reason="LOST", detail="")))
    assert said(console) == "✘ not done (LOST)\n"


def test_diff_names_the_duplicate_that_stays() -> None:
    items = [{"id": "0.txt", "change": "deleted", "same_as": "letters/0.txt"}]
    text = shown(begun("delete the duplicates"), asked(2, "a1", kind="commit", diff=diff(2), items=items))
    assert "- 0.txt (same as letters/0.txt)" in text
    assert "- 1.txt\n" in text


def test_diff_shows_the_line_that_matched() -> None:
    items = [{"id": "0.txt", "change": "deleted", "says": "PAID 3 May"}]
    text = shown(begun("delete the bills that say PAID"), asked(2, "a1", kind="commit", diff=diff(2), items=items))
    assert "- 0.txt (says “PAID 3 May”)" in text
    assert "- 1.txt\n" in text


def test_diff_describes_a_new_archive() -> None:
    entry = {"change": "created", "path": "accounts 2021.zip", "source": None, "kind": "file", "size": 900}
    packed = {**diff(0), "count": 1, "created": 1, "deleted": 0, "entries": [entry]}
    items = [{"id": entry["path"], "change": "created", "packs": {"files": 6, "of": ["Accounts/2021"], "more": 0}}]
    text = shown(begun("zip it"), asked(2, "a1", kind="commit", diff=packed, items=items))
    assert "+ accounts 2021.zip (contains 6 files: Accounts/2021)" in text


def test_undo_shows_the_reverse_changes() -> None:
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
        "  - copy.pdf (will be removed)",
        "  ~ b.txt (will be restored)",
        "  > Bills/a.pdf → a.pdf (restored)",
        "  + old/ (will be restored)",
        "  6 changes: 1 deleted, 1 changed, 1 moved, 3 created",
    ]


def test_a_deleted_folder_counts_as_all_that_it_holds() -> None:
    folder = {**diff(1), "deleted": 4, "created": 2}
    assert "6 changes: 4 deleted, 2 created" in shown(asked(1, "a1", kind="commit", diff=folder))


def test_long_diff_shows_the_riskiest_first_and_true_counts() -> None:
    console, many = Console(file=io.StringIO(), width=200), diff(59)
    moved = [group(400, "moved", "Images"), group(1560, "moved", "Documents")]
    large = {**many, "count": 2019, "moved": 1960, "groups": [*many["groups"], *moved]}
    diff_of(Screen(console), large, most=40)
    lines = said(console).splitlines()
    assert lines[:2] == ["  delete 59 in this folder", "    - 0.txt"]
    assert lines[21:] == [
        "  move 400 in Images/",
        "  move 1,560 in Documents/",
        "  … 1,999 of these are not listed here: type “show all”, or run `suma diff`",
        "  2,019 changes: 59 deleted, 1,960 moved, 2 MB kept in history, freed in 30 days or by `suma purge`",
    ]


def test_changed_text_is_shown_with_its_change() -> None:
    entry = {"change": "overwritten", "path": "a.md", "source": None, "kind": "file", "size": 3}
    text = {**entry, "preview": "@@ -1 +1 @@\n-old\n+new", "preview_cut": True}
    one = {"version": 1, "count": 1, "overwritten": 1, "deleted": 0, "created": 0, "changed": 0, "moved": 0}
    console = Console(file=io.StringIO(), width=200)
    diff_of(Screen(console), {**one, "bytes_freed": 0, "entries": [text]})
    assert said(console).splitlines()[:5] == ["  ! a.md", "    @@ -1 +1 @@", "    -old", "    +new", "    …"]


def test_conflicting_files_are_listed() -> None:
    changed = event(1, "workspace.changed", change="conflicted", conflicts=["a.txt"], operations=0)
    assert "Nothing was changed" in shown(changed)
    assert "a.txt" in shown(changed)


def test_a_refusal_is_shown_with_its_reason() -> None:
    ended = event(1, "turn.ended", state="refused", reason="POLICY_DENIED", detail="not allowed")
    assert shown(ended).strip() == "✘ refused (the policy does not allow it: not allowed)"


@pytest.mark.parametrize(("micros", "price"), [(12_300, ", $0.0123"), (0, "")])
def test_turn_ends_with_its_model_cost(micros: int, price: str) -> None:
    usage = {"model": "openai:toy", "input_tokens": 1200, "output_tokens": 34, "cost_micros": micros}
    for state in ("completed", "failed"):
        ended = event(1, "turn.ended", state=state, reason=None, detail="", usage=usage)
        assert shown(ended).endswith(f"openai:toy: 1,234 tokens{price}\n")


def test_stopped_turn_shows_no_reason() -> None:
    ended = event(1, "turn.ended", state="cancelled", reason="CANCELLED", detail="")
    assert shown(ended) == "– stopped\n"


def test_markup_in_a_name_is_text() -> None:
    done = step(1, state="failed", summary="", error="[red]x[/red] [link=http://evil]y")
    assert "[red]x[/red] [link=http://evil]y" in shown(event(1, "step.changed", **done))


def test_unknown_event_is_ignored() -> None:
    assert shown(event(1, "something.new", surprise=True)) == ""
