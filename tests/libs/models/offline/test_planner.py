"""What the offline planner makes of requests: plans, questions, replies, and requests that lean on the last turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from libs.events.committee import DENIED, MORE_BELOW, Exchange, Task
from libs.models.offline.planner import Planner
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, PlanDraft
from libs.skills import Categories, Intent, Slot, ToolDefinition, read_skill
from tests.libs.models.conftest import NOW
from tests.libs.models.offline.conftest import FOLDER, NAMES, PATHS, Read, calls, changes

LISTED = "$step(1).nodes"
Planning = Callable[..., Planner]


@pytest.fixture
def planning(categories: Categories) -> Planning:
    return lambda **given: Planner(categories, new_id=lambda: "id", now=lambda: NOW, **given)


def asked(text: str, **more: object) -> Task:
    return Task.model_validate({"text": text, "intent": "", "tools": ("*",), "workspace": FOLDER, **more})


@pytest.mark.requirement("S4-46")
def test_reading_below_the_threshold_is_asked_about(planning: Planning, catalogue: Sequence[ToolDefinition]) -> None:
    task = asked("rename a.pdf to letter.pdf")
    assert isinstance(planning().plan(task, catalogue), PlanDraft)
    assert isinstance(planning(threshold=0.999).plan(task, catalogue), ClarificationNeeded)


@pytest.mark.requirement("S4-46", "A27")
def test_reading_within_the_gap_of_another_is_asked_about(
    planning: Planning, catalogue: Sequence[ToolDefinition]
) -> None:
    delete = next(tool for tool in catalogue if tool.name == "manage-files.delete")
    slots = {"files": Slot(type="selection", param="paths")}
    rival = replace(
        delete,
        name="shred.shred",
        skill="shred",
        description="Shred.",
        intents=(Intent(say=("<verb> {files}",), verbs=("delete",), slots=slots),),
    )
    tied = planning().plan(asked("delete x.tmp"), [*catalogue, rival])
    assert isinstance(tied, ClarificationNeeded)
    assert "Shred" in tied.question
    assert {candidate.skill for candidate in tied.candidates} == {"manage-files", "shred"}
    assert planning(gap=0.0).plan(asked("delete x.tmp"), [*catalogue, rival]) == tied, (
        "a lead of the gap itself is none"
    )
    chosen = [each.skill for each in tied.candidates].index("shred")
    assert tied.question.index(f"({chosen + 1}) Shred") > 0
    one = planning().plan(asked("delete x.tmp", skill="shred"), [*catalogue, rival])
    assert calls(one)[-1][0] == "shred.shred"


@pytest.mark.requirement("S4-46")
def test_lead_of_exactly_the_gap_is_asked_about(planning: Planning, catalogue: Sequence[ToolDefinition]) -> None:
    delete = next(tool for tool in catalogue if tool.name == "manage-files.delete")
    whole = Intent(say=("delete x.tmp",))
    rival = replace(delete, name="shred.shred", skill="shred", description="Shred.", needs=(), intents=(whole,))
    lead = 0.015
    """A whole template scores 1; one with a slot for the second of two words 1 - (1 - 0.97) / 2."""
    asks = planning(gap=lead).plan(asked("delete x.tmp"), [*catalogue, rival])
    assert isinstance(asks, ClarificationNeeded)
    assert isinstance(planning(gap=lead * 0.99).plan(asked("delete x.tmp"), [*catalogue, rival]), PlanDraft)


def test_skill_of_a_person_is_planned_without_python(
    tmp_path: Path, planning: Planning, catalogue: Sequence[ToolDefinition]
) -> None:
    folder = tmp_path / "my-skill"
    template = Path(__file__).parents[4] / "skills" / "_template" / "my-skill"
    folder.mkdir()
    for file in ("SKILL.md", "tools.yaml"):
        (folder / file).write_text((template / file).read_text())
    own = read_skill(folder).tools
    assert calls(planning().plan(asked(own[0].examples[0]), [*catalogue, *own]))[-1][0] == own[0].name


def test_several_goals_are_done_in_order(read: Read) -> None:
    said = "remove duplicates, sort by type, and tell me what is there"
    assert [tool for tool, _ in calls(read(said))] == [
        *("remove-duplicates.scan", "remove-duplicates.remove"),
        *("manage-files.list", "organize-by-type.sort", "analyze-directory.report"),
    ]


def test_clause_without_a_verb_reuses_the_previous_verb(read: Read) -> None:
    moves = [
        args["target"]
        for tool, args in calls(read("move the PDFs to Docs and the photos to Best"))
        if tool.endswith("move")
    ]
    assert moves == ["Docs", "Best"]


def test_pronoun_refers_to_the_previous_files(read: Read) -> None:
    *_, (tool, args) = calls(read("zip the invoices and delete them"))
    assert (tool, args) == ("manage-files.delete", {"paths": LISTED})
    made, moved = calls(read("create a folder Letters and move a.pdf into it"))
    assert (made[0], moved[1]) == ("manage-files.create", {"source": ["a.pdf"], "target": "Letters"})
    assert calls(read("unzip fonts.zip and delete it"))[-1][0] == "manage-files.delete"


def test_pronoun_that_could_be_several_is_asked_about(read: Read) -> None:
    assert isinstance(read("a.pdf goes to Docs, b.pdf goes to Best, and then delete it"), ClarificationNeeded)
    assert isinstance(read("move it to Docs"), ClarificationNeeded)


def test_word_those_means_the_files_of_the_last_turn(read: Read) -> None:
    last = Exchange(text="find the tmp files", answer="2 files", shown=("x.tmp", "y.tmp"))
    done = calls(read("delete those 2 files", history=(last,)))
    assert done[0][1]["include"] == ["x.tmp", "y.tmp"]
    assert isinstance(read("delete those 4 files", history=(last,)), ClarificationNeeded)


def test_yes_includes_the_files_found_in_subfolders(read: Read) -> None:
    last = Exchange(text="delete the jpgs", answer="…", reason=MORE_BELOW)
    assert calls(read("yes", history=(last,)))[0][1]["recursive"] is True


def test_words_after_a_refusal_correct_the_request(read: Read) -> None:
    last = Exchange(text="delete the tmp files", answer="…", reason=DENIED)
    done = read("no, but not x.tmp", history=(last,))
    assert calls(done)[0][1] == {"path": ".", "include": ["*.tmp", "*.temp"], "exclude": ["x.tmp"], "node_kind": "file"}
    assert isinstance(done, PlanDraft)
    assert done.wish == "delete the tmp files, but not x.tmp"


def test_the_same_is_done_for_other_files(read: Read) -> None:
    last = Exchange(text="move the zip files to Docs", answer="…")
    assert calls(read("do the same for the csv files", history=(last,)))[1][1]["target"] == "Docs"


@pytest.mark.parametrize("about", ["how much do the photos weigh?", "what's the total size of the photos?"])
def test_question_about_other_files_repeats_the_last_one(read: Read, about: str) -> None:
    last = Exchange(text=about, answer="…")
    assert calls(read("and the pdfs?", history=(last,))) == calls(read(about.replace("photos", "pdfs")))


def test_question_about_a_folder_repeats_the_last_one(read: Read) -> None:
    last = Exchange(text="how big is Docs?", answer="…")
    assert calls(read("and Italy?", history=(last,))) == calls(read("how big is Italy?"))


def test_follow_up_that_does_not_fit_is_quoted(read: Read) -> None:
    last = Exchange(text="how big is a.pdf?", answer="…")
    asked = read("what about the weather?", history=(last,))
    assert isinstance(asked, ClarificationNeeded)
    assert "“what about the weather”" in asked.question


@pytest.mark.parametrize("reply", ["2", "the second one", "screenshot two.png"])
def test_reply_chooses_one_of_the_candidates(read: Read, reply: str) -> None:
    done = calls(read("delete the screenshot", clarification=reply))
    assert done[0][1]["include"] == ["screenshot two.png"]


def test_no_withdraws_the_request(read: Read) -> None:
    outcome = read("delete the screenshot", clarification="no")
    assert isinstance(outcome, Answered)
    assert "Nothing was changed" in outcome.text


def test_reply_replaces_the_unknown_word(read: Read) -> None:
    done = read("delete the zorp files", clarification="tmp")
    assert isinstance(done, PlanDraft)
    assert (done.wish, changes(done)) == ("delete the tmp files", True)


def test_look_that_ignores_words_reports_them(read: Read) -> None:
    outcome = read("how many PDFs came off the scanner")
    assert isinstance(outcome, PlanDraft)
    assert "left out “came off the scanner”" in outcome.plan.steps[-1].description


def test_request_without_a_skill_is_declined(read: Read) -> None:
    outcome = read("translate notes.txt into French")
    assert isinstance(outcome, Answered)
    assert outcome.kind is AnswerKind.DECLINED


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("list the files larger than 10 MB", {"larger_than": 10_000_000}),
        ("list the files older than two weeks", {"modified_before": "2026-05-01"}),
        ("list the files from last year", {"modified_after": "2025-01-01", "modified_before": "2026-01-01"}),
        ("list the files changed since March", {"modified_after": "2026-03-01"}),
        ("list the empty files", {"empty": True}),
        (
            "list the files larger than 1 MB and older than a year",
            {"larger_than": 1_000_000, "modified_before": "2025-05-15"},
        ),
        ("show the 3 largest files", {"order": "largest", "most": 3, "recursive": True}),
    ],
)
def test_sizes_ages_and_orders_become_filters(read: Read, said: str, limits: dict[str, object]) -> None:
    ((_, args),) = calls(read(said))
    assert {name: value for name, value in args.items() if name not in ("path", "node_kind")} == limits


def test_same_task_gives_the_same_plan(read: Read) -> None:
    assert read("sort my files by type") == read("sort my files by type")


def test_plan_that_takes_too_long_is_a_question(planning: Planning, catalogue: Sequence[ToolDefinition]) -> None:
    outcome = planning(seconds=0).plan(asked("sort my files by type"), catalogue)
    assert isinstance(outcome, ClarificationNeeded)
    assert "too long" in outcome.question


@pytest.mark.parametrize(
    ("request_", "offers"),
    [
        ("frobnicate the whatsits", None),
        ("delete the invoice", ("invoice-1.pdf", "invoice-2.pdf")),
        ("delte the tmp files", ("Yes", "No")),
        ("delete the files from 2024", ('with "2024" in the name', "changed in 2024")),
    ],
)
def test_each_offer_of_a_question_answers_it(read: Read, request_: str, offers: tuple[str, ...] | None) -> None:
    years = {**FOLDER, "names": [*NAMES, "tax 2024.xls"], "paths": [*PATHS, "tax 2024.xls"], "files": len(PATHS) + 1}
    asked = read(request_, workspace=years)
    assert isinstance(asked, ClarificationNeeded), asked
    assert asked.offers == (offers or asked.offers) != ()
    replies = [read(request_, workspace=years, clarification=offer) for offer in asked.offers]
    assert not any(isinstance(reply, ClarificationNeeded) for reply in replies), replies
