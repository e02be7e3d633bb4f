"""The laws of the offline planner: what it does not own in a request that changes something, it asks about."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from libs.events.committee import Exchange
from libs.models.offline.lexicon import lexicon
from libs.models.offline.planner import Planner
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, PlanDraft, PlannerOutcome
from libs.skills import Skills
from tests.libs.models.offline.conftest import FOLDER, NAMES, Read, calls, changes
from tests.support.examples import examples

BUNDLED = Path(__file__).parents[4] / "skills"
TOOLS = Skills.load([BUNDLED]).tools
EXAMPLES = [(tool.name, example) for tool in TOOLS for example in tool.examples]
LISTED = "$step(1).nodes"


@pytest.mark.requirement("S4-46")
@pytest.mark.parametrize(("tool", "example"), EXAMPLES)
def test_each_example_of_a_skill_means_its_tool_alone(read: Read, tool: str, example: str) -> None:
    needed = {"manage-files.list", "remove-duplicates.scan"}
    told = [name for name, _ in calls(read(example))]
    assert told[-1] == tool
    assert {*told[:-1]} <= needed


UNOWNED = [
    ("sort my pictures into folders by the year they were taken", "they were taken"),
    ("put the invoices in a folder per company", "per company"),
    ("zip the photos with a password", "with a password"),
    ("compress Docs into a tarball", "into a tarball"),
    ("delete the blurry photos", "blurry"),
    ("rename the photos from the Nikon to Trip 1, Trip 2 and so on", "from the Nikon"),
    ("rename all .pdf in Italy so spaces become underscores", "become"),
    ("make the file extensions lowercase", "make the file extensions lowercase"),
    ("combine the notes into one file", "combine the notes into one file"),
    ("keep only the pictures", "keep only the pictures"),
    ("delete the tmp files frobnicated", "frobnicated"),
    ("move the PDFs to Docs by zorp", "by zorp"),
]


@pytest.mark.parametrize(("request_", "quoted"), UNOWNED)
def test_unowned_word_in_a_change_is_quoted_back(read: Read, request_: str, quoted: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded)
    assert f"“{quoted}”" in outcome.question


LIMITED = [
    ("delete notes.txt, a.pdf and the other thing", "Other than which"),
    ("trash Docs and the rest", "“the rest”"),
    ("zip each folder", "Should each"),
    ("delete all but the newest pdf", "the newest pdf"),
    ("dedupe but keep the one without 'copy' in the name", "copy"),
    ("copy the notes to my Desktop", "no folder “Desktop”"),
    ("delete the copy of a.pdf", "copy"),
    ("delete the oldest one", "Among which files"),
    ("delete all pdfs in Italy except the newest", "“the newest”"),
    ("unzip fonts.zip and delete the pdf", "“the pdf”: (1) a.pdf"),
]


@pytest.mark.parametrize(("request_", "told"), LIMITED)
def test_limiting_word_that_is_not_owned_is_asked_about(read: Read, request_: str, told: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded)
    assert told in outcome.question


def test_place_is_never_named_after_the_words_about_a_name(read: Read) -> None:
    names = [*NAMES, "report.docx", "report copy.docx"]
    outcome = read("dedupe but keep the one without 'copy' in the name", workspace={**FOLDER, "names": names})
    assert isinstance(outcome, ClarificationNeeded)
    assert "in the name" in outcome.question


@pytest.mark.parametrize("request_", ["dedupe but keep a.pdf", "remove duplicates but keep a.pdf"])
def test_file_to_keep_is_spared_in_any_wording(read: Read, request_: str) -> None:
    scan, _ = calls(read(request_))
    assert scan[1]["exclude"] == ["a.pdf"]


WHOLE = [
    ("sort everything in all subfolders by type", "recursive", True),
    ("trash the Docs folder and the zip", "include", ["*.zip"]),
    ("copy cv.docx to my fonts folder", "target", "fonts"),
]


@pytest.mark.parametrize(("request_", "name", "value"), WHOLE)
def test_no_part_of_a_request_is_dropped(read: Read, request_: str, name: str, value: Any) -> None:
    assert value in [args.get(name) for _, args in calls(read(request_))]


def test_negated_order_changes_nothing(read: Read) -> None:
    assert not changes(read("don't delete a.pdf"))
    assert not changes(read("never touch the PDFs"))


@pytest.mark.parametrize("request_", ["delete a.pdf but keep it", "delete the tmp files, but keep them"])
def test_deletion_with_an_exception_by_name_is_asked_about(read: Read, request_: str) -> None:
    assert isinstance(read(request_), ClarificationNeeded)


def test_deletion_spares_those_of_a_place(read: Read) -> None:
    listing, _ = calls(read("delete all pdfs in all subfolders but leave those in Italy"))
    assert listing[1]["exclude"] == ["Italy"]


def test_only_limits_to_the_named_files(read: Read) -> None:
    assert calls(read("delete only x.tmp"))[0][1]["include"] == ["x.tmp"]


AMBIGUOUS = [
    ("delete the screenshot", ("screenshot one.png", "screenshot two.png")),
    ("delete the photos from 2023", ("file names", "changed in 2023")),
]


@pytest.mark.parametrize(("request_", "both"), AMBIGUOUS)
def test_two_readings_with_different_files_are_both_shown(read: Read, request_: str, both: tuple[str, str]) -> None:
    folder = {"names": ["screenshot one.png", "screenshot two.png", "trip 2023.jpg"]}
    outcome = read(request_, workspace={**folder, "paths": folder["names"], "files": 3})
    assert isinstance(outcome, ClarificationNeeded)
    assert all(one in outcome.question for one in both)


@pytest.mark.parametrize(
    "request_", ["remove holiday from the names of the photos", 'remove "holiday " from the file names']
)
def test_removing_from_names_is_a_rename(read: Read, request_: str) -> None:
    assert [tool for tool, _ in calls(read(request_))] == ["manage-files.list", "batch-rename.rename"]


@pytest.mark.parametrize("request_", ["what about the PDFs", "the PDFs", "clean this up", "the PDFs are old"])
def test_deleting_needs_a_verb_of_deleting(read: Read, request_: str) -> None:
    assert not changes(read(request_))


@pytest.mark.parametrize(
    "place", ["somewhere else", "a folder for each month", "the one that is best", "zorp and Docs", "my stuff"]
)
def test_new_place_never_contains_a_grammar_word(read: Read, place: str) -> None:
    assert not changes(read(f"move the PDFs to {place}"))


CHANGING = [example for tool in TOOLS if tool.mutates for example in tool.examples]
FREE = ("called", "named", "to", "into", "as", "with", '"')
"""A new name or a quoted text follows these, and may be any word."""
OWNED = [example for tool, example in EXAMPLES if not tool.startswith("memory.")]
"""Examples whose words are all understood: those of a fact are kept as they are."""
WORDS = st.text(alphabet="bcdfghjklmnpqrtvwxz", min_size=5, max_size=9)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(example=st.sampled_from(OWNED), word=WORDS, data=st.data())
def test_unknown_word_is_quoted_and_changes_nothing(read: Read, example: str, word: str, data: Any) -> None:
    words = example.split()
    assume(word not in lexicon().words)
    place = data.draw(st.integers(0, len(words)))
    said = " ".join([*words[:place], word, *words[place:]])
    assume(not any(part in words[:place] for part in FREE) and example.count('"') == 0)
    outcome = read(said)
    assert not changes(outcome), said
    assert not isinstance(outcome, ClarificationNeeded) or word in outcome.question, (said, outcome.question)


KNOWN = [
    "delete the invoice duplicates",
    "delete the largest duplicate photos",
    "rename the invoices to Bill A",
    "get rid of the invoice duplicates",
    "unzip the largest zip",
    "explain the pdfs over 1 MB",
    "analyze the 3 largest files",
    "who wrote the best plan in test1",
    "dedupe the newest photos",
    "combine the invoices into one pdf",
]
"""Requests whose words are each known, or of which only the first is."""


@pytest.mark.parametrize("request_", KNOWN)
def test_words_that_are_known_alone_are_quoted_together(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded)
    assert f"did not understand “{request_}”" in outcome.question


@pytest.mark.parametrize(
    "request_", ["make an empty zorp file called todo.txt", "cv.docx should be zorp called resume.docx"]
)
def test_new_name_is_never_missed(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded)
    assert "did not understand “" in outcome.question
    assert "zorp" in outcome.question


def test_list_part_that_is_not_here_is_asked_about(read: Read) -> None:
    names = ["a.pdf", "Pay/"]
    folder = {"names": names, "paths": ["a.pdf", "Pay/payslip 1.pdf", "Pay/payslip 2.pdf"], "files": 3}
    outcome = read("pack the payslips and a.pdf into x.zip", workspace=folder)
    assert isinstance(outcome, ClarificationNeeded)
    assert "There is no “the payslips” in this folder. There is “Pay/payslip 1.pdf”" in outcome.question


def test_name_of_a_left_alone_file_selects_it(read: Read) -> None:
    folder = {**FOLDER, "alone": ["Docs/song.mp3.part"]}
    ((_, renamed),) = calls(read("rename song.mp3.part to song.mp3", workspace=folder))
    assert renamed["path"] == "Docs/song.mp3.part"


def test_folder_name_says_nothing_of_the_tool(read: Read) -> None:
    folder = {**FOLDER, "names": [*NAMES, "Archive/"]}
    assert calls(read("copy a.pdf to Archive", workspace=folder))[-1][1]["target"] == "Archive"


@pytest.mark.parametrize("request_", ["delete everything", "delete all files", "delete the files"])
def test_everything_is_never_deleted(read: Read, request_: str) -> None:
    assert not changes(read(request_))


@pytest.mark.parametrize("request_", ["rm -rf /", "delete /etc/passwd", "move notes.txt to ../.."])
def test_nothing_outside_the_folder_is_touched(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, Answered)
    assert outcome.kind is AnswerKind.DANGEROUS


@pytest.mark.parametrize(
    "request_", ["should I delete a.pdf?", "can x.tmp be deleted?", "what happens if I delete a.pdf"]
)
def test_question_about_doing_does_nothing(read: Read, request_: str) -> None:
    assert not changes(read(request_))


def test_duplicates_of_this_folder_alone_leave_subfolders_out(read: Read) -> None:
    scan, _ = calls(read("remove the duplicates, but not in subfolders"))
    assert scan[1]["exclude"] == ["*/*"]


def test_exception_keeps_the_named_files(read: Read) -> None:
    listing, delete = calls(read("delete everything in Italy except the jpgs"))
    assert listing == ("manage-files.list", {"path": "Italy", "exclude": ["*.jpg", "*.jpeg"], "node_kind": "file"})
    assert delete == ("manage-files.delete", {"paths": LISTED})


def test_text_that_is_too_long_is_not_read(planner: Planner, read: Read) -> None:
    outcome = read("sort my files by type " * 5_000)
    assert isinstance(outcome, ClarificationNeeded)
    assert "too long" in outcome.question


def test_undo_is_left_to_the_client(read: Read) -> None:
    outcome = read("undo that")
    assert isinstance(outcome, Answered)
    assert outcome.kind is AnswerKind.UNDO


@pytest.mark.parametrize(
    ("request_", "meant"),
    [
        ("mov a.pdf to Docs", "move a.pdf to Docs"),
        ("renam notes.txt to Letter to Mom.txt", "rename notes.txt to Letter to Mom.txt"),
    ],
)
def test_misspelt_verb_is_asked_about_before_a_name(read: Read, request_: str, meant: str) -> None:
    asked = read(request_)
    assert isinstance(asked, ClarificationNeeded)
    assert f"“{meant}”" in asked.question


@pytest.mark.parametrize("name", ["Letter to Mom.txt", "Sunset in June.txt", "Notes for the Team.txt"])
def test_new_name_holds_small_words_before_its_extension(read: Read, name: str) -> None:
    assert calls(read(f"rename notes.txt to {name}"))[-1][1]["new_name"] == name


@pytest.mark.parametrize("folder", ["the whole folder", "the entire folder", "my whole folder"])
def test_whole_folder_is_all_that_is_in_it(read: Read, folder: str) -> None:
    assert calls(read(f"how big is {folder}?")) == calls(read("how big is this folder?"))
    refused = read(f"delete {folder}")
    assert isinstance(refused, ClarificationNeeded)
    assert "won't delete everything" in refused.question


def test_misspelt_request_is_asked_about_and_yes_does_it(read: Read) -> None:
    asked = read("delte the tmp files")
    assert isinstance(asked, ClarificationNeeded)
    assert "delete the tmp files" in asked.question
    done = read("delte the tmp files", clarification="yes")
    assert isinstance(done, PlanDraft)
    assert (done.wish, changes(done)) == ("delete the tmp files", True)


NOUNS = ("invoice", "letter", "report", "photo")
MARKS = ("final", "draft", "2024", "amazon")
ENDS = ("pdf", "docx", "jpg")
MIXED = [
    f"{one} {two} {number}.{end}"
    for number, (noun, mark, end) in enumerate(product(NOUNS, MARKS, ENDS))
    for one, two in [(noun, mark) if number % 2 else (mark, noun)]
]
"""Names in which each noun stands beside each mark, in either order."""
CONDITIONS = {
    "with {} in the name": "holds",
    "named {}": "holds",
    "called {}": "holds",
    "whose name contains {}": "holds",
    "that have {} in their names": "holds",
    "starting with {}": "begins",
}
VERBS = ("delete the {}", "move the {} to Done", "zip the {}", "copy the {} to Done", "delete all {}")


@pytest.mark.requirement("S4-46")
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verb=st.sampled_from(VERBS),
    before=st.sampled_from(("", *MARKS, "pdf")),
    noun=st.sampled_from(NOUNS),
    condition=st.sampled_from(sorted(CONDITIONS)),
    mark=st.sampled_from(MARKS),
)
def test_change_keeps_to_every_word_of_its_request(
    read: Read, verb: str, before: str, noun: str, condition: str, mark: str
) -> None:
    """Either each selected name fits the noun, the word before it and the condition, or the request is asked about."""
    request = verb.format(f"{before} {noun}s {condition.format(mark)}".strip())
    names = [*MIXED, "Done/"]
    outcome = read(request, workspace={"names": names, "paths": MIXED, "files": len(MIXED), "extensions": list(ENDS)})
    if isinstance(outcome, ClarificationNeeded) or not changes(outcome):
        return
    listed = [args for tool, args in calls(outcome) if tool == "manage-files.list"]
    include = [pattern for args in listed for pattern in args.get("include", ())]
    chosen = [name for name in MIXED if any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in include)]
    assert include, request
    for name in chosen:
        assert noun in name or (noun == "photo" and name.endswith(".jpg")), (request, name)
        assert name.startswith(mark) if CONDITIONS[condition] == "begins" else mark in name, (request, name)
        assert before in name, (request, name)


DENSE = {"names": [*MIXED, "Done/", "Docs/"], "paths": MIXED, "files": len(MIXED), "extensions": list(ENDS)}
FOLLOWING: dict[str, tuple[str, Any]] = {
    "with final in the name": ("name", "final"),
    "called draft": ("name", "draft"),
    "from amazon": ("name", "amazon"),
    "larger than 2 MB": ("larger_than", 2_000_000),
    "smaller than 10 kB": ("smaller_than", 10_000),
    "older than a year": ("modified_before", None),
    "changed in 2023": ("modified_after", None),
    "in Docs": ("path", "Docs"),
    "in all subfolders": ("recursive", True),
    "everywhere": ("recursive", True),
    "except the drafts": ("exclude", "draft"),
    "but not the pdfs": ("exclude", "pdf"),
    "that mention payment": ("containing", "payment"),
    "twice": ("asks", None),
    "per company": ("asks", None),
    "after lunch": ("asks", None),
    "that are blurry": ("asks", None),
}
"""What may follow a noun: the argument of the listing that it must become, or a question."""
LEADING: dict[str, tuple[str, Any]] = {
    "the": ("", None),
    "all": ("", None),
    "only the": ("", None),
    "the 3 largest": ("most", 3),
    "the two oldest": ("most", 2),
    "3": ("count", 3),
    "the second largest": ("asks", None),
    "half of the": ("asks", None),
    "the first": ("asks", None),
    "every second": ("asks", None),
    "a few": ("asks", None),
    "the old": ("asks", None),
}
FRAMES = (
    "delete {}",
    "please delete {} now",
    "could you move {} to Done",
    "zip {}",
    "copy {} to Done",
    "{}, delete them",
)


def selects(outcome: PlannerOutcome) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a plan's listings, and the names that they select in the dense folder."""
    listings = [args for tool, args in calls(outcome) if tool == "manage-files.list"]
    patterns = [pattern for args in listings for pattern in args.get("include", ())]
    names = [name for name in MIXED if not patterns or any(fnmatchcase(name, each.lower()) for each in patterns)]
    return {name: value for args in listings for name, value in args.items()}, names


@pytest.mark.requirement("S4-46")
@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    frame=st.sampled_from(FRAMES),
    leading=st.sampled_from(sorted(LEADING)),
    before=st.sampled_from(("", "amazon ", "final ", "pdf ", "2024 ")),
    noun=st.sampled_from(NOUNS),
    following=st.lists(st.sampled_from(sorted(FOLLOWING)), max_size=2, unique_by=lambda said: FOLLOWING[said][0]),
)
def test_change_keeps_to_every_number_and_condition(
    read: Read, frame: str, leading: str, before: str, noun: str, following: Sequence[str]
) -> None:
    request = frame.format(" ".join((leading, f"{before}{noun}s", *following)))
    outcome = read(request, workspace=DENSE)
    if isinstance(outcome, ClarificationNeeded) or not changes(outcome):
        return
    args, names = selects(outcome)
    excepted = False
    for said in (leading, *following):
        what, value = {**LEADING, **FOLLOWING}[said]
        held = [str(pattern) for pattern in args.get("exclude", ())]
        if what == "exclude" or (excepted and what in ("name", "path")):
            assert any(value in pattern for pattern in held), request
        elif what == "name":
            assert all(value in name for name in names), request
        elif what == "count" and "path" in args:
            assert not any(name.startswith(f"{args['path']}/") for name in MIXED), request
        elif what == "count":
            assert len([name for name in names if not any(fnmatchcase(name, each) for each in held)]) <= value, request
        elif what:
            assert what != "asks", request
            assert what in args, request
            assert value in (None, args[what]), request
        excepted = excepted or what == "exclude"
    for name in names:
        assert noun in name or (noun == "photo" and name.endswith(".jpg")), (request, name)
        assert before.strip() in name, (request, name)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verb=st.sampled_from(VERBS),
    first=st.tuples(st.sampled_from(("", "the ")), st.sampled_from(("", *MARKS)), st.sampled_from(("", *NOUNS))),
    second=st.tuples(st.sampled_from(("", "the ")), st.sampled_from(("", *MARKS)), st.sampled_from(NOUNS)),
    condition=st.sampled_from(("", "with final in the name", "called draft", "from amazon")),
)
def test_item_of_a_list_takes_no_more_than_it_says(
    read: Read, verb: str, first: tuple[str, str, str], second: tuple[str, str, str], condition: str
) -> None:
    """Where "the amazon and final invoices" could mean all of amazon, it is asked about."""
    assume(any(first[1:]))
    shared = "" if second[0] else second[2]
    items = [(mark, noun or shared) for _, mark, noun in (first, second)]
    said = [f"{article}{mark} {noun}{'s' if noun else ''}".strip() for article, mark, noun in (first, second)]
    request = verb.replace("the {}", "{}").format(f"{' and '.join(said)} {condition}".strip())
    outcome = read(request, workspace=DENSE)
    if isinstance(outcome, ClarificationNeeded) or not changes(outcome):
        return
    meant = {"with final in the name": "final", "called draft": "draft", "from amazon": "amazon", "": ""}[condition]
    for name in selects(outcome)[1]:
        fits = [mark in name and (noun in name or noun == "photo") for mark, noun in items]
        assert any(fits), (request, name)
        assert meant in name, (request, name)


NAMED = [
    ("rename notes.txt to cabin.txt everywhere", "everywhere"),
    ("rename notes.txt to cabin.txt in all subfolders", "in all subfolders"),
    ("move the PDFs to Papers everywhere", "everywhere"),
]


@pytest.mark.parametrize(("request_", "quoted"), NAMED)
def test_new_name_ends_with_its_extension(read: Read, request_: str, quoted: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded)
    assert f"“{quoted}”" in outcome.question


LOOKS = [
    "show me the second largest file",
    "are there files that I have twice",
    "find every file that mentions api_key here",
    "find all inline comments",
    "find all pdfs by Amazon",
    "list the typescript files that are not tests",
    "find the pdf where the landlord is mentioned",
    "what is the longest pdf?",
    "which holiday jpg is missing?",
]


@pytest.mark.parametrize("request_", LOOKS)
def test_look_never_drops_a_number_or_its_only_condition(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded)
    assert "I know requests such as “" in outcome.question


def test_search_shows_all_that_its_words_may_mean(read: Read) -> None:
    outcome = read("find the invoice from amazon", workspace=DENSE)
    assert calls(outcome)[-1][0] == "search-files.find"
    assert {name for name in MIXED if "invoice" in name and "amazon" in name} == {*selected(outcome)}


def selected(outcome: PlannerOutcome) -> list[str]:
    patterns = calls(outcome)[-1][1]["include"]
    return [name for name in MIXED if any(fnmatchcase(name, pattern) for pattern in patterns)]


SHOWN = (Exchange(text="list the pdfs", answer="…", shown=("a.pdf", "b.pdf", "invoice-1.pdf")),)


def test_pronoun_means_the_folder_of_the_last_turn(read: Read) -> None:
    made = (Exchange(text="make a folder called Best", answer="Created Best.", shown=()),)
    (_, args) = calls(read("move it into Docs", history=made))[-1]
    assert (args["source"], args["target"]) == (["Best"], "Docs")


def test_narrowing_that_is_not_understood_leaves_no_them(read: Read) -> None:
    asked = read("only the ones from Zorp", history=SHOWN)
    assert isinstance(asked, ClarificationNeeded)
    after = read("only the ones from Zorp", history=SHOWN, clarification="move them to Docs")
    assert isinstance(after, ClarificationNeeded)
    assert "“them”" in after.question


def test_them_are_narrowed_by_every_limit(read: Read) -> None:
    listing, deleted = calls(read("delete those over 5 MB", history=SHOWN))
    assert (listing[1]["include"], listing[1]["larger_than"]) == (["a.pdf", "b.pdf", "invoice-1.pdf"], 5_000_000)
    assert deleted[0] == "manage-files.delete"


STATEMENTS = {"names": ["statement-2024-02.pdf", "statement-2024-03.pdf"], "files": 2}
STATEMENTS |= {"paths": STATEMENTS["names"]}


@pytest.mark.parametrize(
    ("reply", "held"),
    [
        ("changed in March 2024", {"modified_after": "2024-03-01", "modified_before": "2024-04-01"}),
        ("with 2024-03 in the name", {"include": ["*2024-03*statement*", "*statement*2024-03*"]}),
    ],
)
def test_month_of_names_and_dates_is_asked_about_whole(read: Read, reply: str, held: dict[str, Any]) -> None:
    request = "delete the statements from March 2024"
    asked = read(request, workspace=STATEMENTS)
    assert isinstance(asked, ClarificationNeeded)
    assert f"“{reply}”" in asked.question
    ((_, listed), _) = calls(read(request, workspace=STATEMENTS, clarification=reply))
    assert held.items() <= {**listed, "include": sorted(listed["include"])}.items()


def test_month_that_no_name_has_is_a_date(read: Read) -> None:
    ((_, listed), _) = calls(read("delete the statements from May 2024", workspace=STATEMENTS))
    assert (listed["modified_after"], listed["modified_before"]) == ("2024-05-01", "2024-06-01")


@pytest.mark.parametrize("reply", ["delete the tmp files", "no, delete the tmp files"])
def test_reply_that_is_a_request_replaces_the_old_one(read: Read, reply: str) -> None:
    done = read("frobnicate the whatsits with panache", clarification=reply)
    assert isinstance(done, PlanDraft)
    assert done.wish == "delete the tmp files"


@pytest.mark.parametrize("reply", ["y", "no wait", "sort of", "clean up"])
def test_reply_that_says_nothing_gets_the_same_question(read: Read, reply: str) -> None:
    assert read("frobnicate the whatsits", clarification=reply) == read("frobnicate the whatsits")


@pytest.mark.requirement("S4-46")
def test_two_meanings_of_one_tool_are_asked_about(read: Read) -> None:
    outcome = read("group the files in subfolders by type")
    assert isinstance(outcome, ClarificationNeeded)
    assert "(1) subfolders included, (2) without that" in outcome.question


REST: dict[str, dict[str, Any]] = {
    "under 1 MB": {"larger_than": 999_999},
    "over 5 MB": {"smaller_than": 5_000_001},
    "older than 2024": {"modified_after": "2024-01-01"},
    "changed since 2024": {"modified_before": "2024-01-01"},
    "that mention rent": {"lacking": "rent"},
}
"""A limit of what stays, and the limit of the rest."""
SPARING = (
    "move the pdfs to Docs, but not the ones {}",
    "move the pdfs to Docs except those {}",
    "zip the pdfs without those {}",
)


@pytest.mark.parametrize("frame", SPARING)
@pytest.mark.parametrize("limit", REST)
def test_limit_of_an_exception_limits_the_rest(read: Read, frame: str, limit: str) -> None:
    outcome = read(frame.format(limit))
    if isinstance(outcome, PlanDraft):
        listing = calls(outcome)[0][1]
        assert REST[limit].items() <= listing.items()
        assert listing["include"] == ["*.pdf"]


@pytest.mark.parametrize("limit", ["under 1 MB", "over 5 MB"])
@pytest.mark.parametrize("frame", SPARING)
def test_exception_by_size_alone_is_planned(read: Read, frame: str, limit: str) -> None:
    assert changes(read(frame.format(limit)))


@pytest.mark.parametrize(
    "request_",
    [
        "delete all pdfs in all subfolders but keep the ones in Italy",
        "remove the duplicates and keep the ones in Italy",
        "zip the pdfs and keep those in Italy",
    ],
)
def test_keep_after_a_change_moves_nothing(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, ClarificationNeeded) or "manage-files.move" not in dict(calls(outcome))


def test_folder_with_its_capital_is_no_kind(read: Read) -> None:
    folder = {"names": ["Archive/", "Templates/", "a.zip"], "paths": ["a.zip"], "files": 1}
    shown = (Exchange(text="which folders are empty?", answer="…", shown=("Archive", "Templates")),)
    listing, _ = calls(read("delete those except Archive", workspace=folder, history=shown))
    assert listing[1]["include"] == ["Templates"]


def test_name_of_folder_and_kind_is_asked_about(read: Read) -> None:
    folder = {"names": ["logs/", "old.log"], "paths": ["old.log", "logs/app.log"], "files": 2}
    asked = read("delete logs", workspace=folder)
    assert isinstance(asked, ClarificationNeeded)
    for reply, include in (("1", ["logs"]), ("2", ["*.log"])):
        assert calls(read("delete logs", workspace=folder, clarification=reply))[0][1]["include"] == include


def test_the_empty_folder_is_one_of_several(read: Read) -> None:
    folder = {"names": ["Archive/", "Best/", "Docs/"], "paths": ["Docs/a.txt"], "files": 1}
    asked = read("delete the empty folder", workspace=folder)
    assert isinstance(asked, ClarificationNeeded)
    assert "2 folders match “the empty folder”: (1) Archive, (2) Best" in asked.question
    one = {"names": ["Archive/", "Docs/"], "paths": ["Docs/a.txt"], "files": 1}
    assert changes(read("delete the empty folder", workspace=one))


def test_later_noun_means_the_named_file(read: Read) -> None:
    folder = {"names": ["a.zip", "b.zip"], "paths": ["a.zip", "b.zip"], "files": 2}
    _, listing, _ = calls(read("unzip a.zip and then delete the zip", workspace=folder))
    assert listing[1]["include"] == ["a.zip"]


@pytest.mark.parametrize("request_", ["delete .git", "move .git to Docs", "zip web/.git"])
def test_data_of_version_control_is_refused(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, Answered)
    assert outcome.kind is AnswerKind.DANGEROUS
    assert ".git" in outcome.text


@pytest.mark.parametrize("request_", ["email the invoices to Ann", "print a.pdf", "remind me to bin it tomorrow"])
def test_verb_of_no_tool_is_declined(read: Read, request_: str) -> None:
    outcome = read(request_)
    assert isinstance(outcome, Answered)
    assert outcome.kind is AnswerKind.DECLINED


LOOKED = [
    ("which folders are empty?", {"empty": True, "node_kind": "directory"}),
    ("which photos are not jpgs?", {"exclude": ["*.jpg", "*.jpeg"]}),
    ("list the pdfs, newest first", {"order": "newest"}),
    ("list this year's photos", {"modified_after": "2026-01-01", "modified_before": "2027-01-01"}),
    ("what is the total size of Docs and Italy?", {"include": ["Docs/*", "Italy/*"]}),
    ("how big are the Docs and Italy folders?", {"include": ["Docs/*", "Italy/*"]}),
    ("how big is this without Italy?", {"exclude": ["Italy"]}),
    ("list the rome photos", {"recursive": True}),
    ("find all jpgs by Italy", {"path": "Italy"}),
    ("which pdfs are not from invoice", {"exclude": ["*invoice*"]}),
]


@pytest.mark.parametrize(("request_", "held"), LOOKED)
def test_look_applies_each_of_its_words(read: Read, request_: str, held: dict[str, Any]) -> None:
    ((_, args),) = calls(read(request_))
    assert held.items() <= args.items()


def test_the_other_end_of_an_order_repeats_the_last_request(read: Read) -> None:
    before = (Exchange(text="whats the oldest pdf?", answer="…", shown=("a.pdf",)),)
    ((_, args),) = calls(read("and the newest?", history=before))
    assert (args["order"], args["include"]) == ("newest", ["*.pdf"])


def test_they_are_the_files_of_the_same_request(read: Read) -> None:
    listed, report = calls(read("how many pdfs do I have and how big are they?"))
    assert (listed[1]["include"], report[1]["include"]) == (["*.pdf"], ["*.pdf"])
    assert report[1]["exclude"] == ["*/*"]


@pytest.mark.parametrize("outside", ["Desktop", "Phone"])
def test_yes_makes_the_folder_that_was_asked_about(read: Read, outside: str) -> None:
    done = read(f"copy notes.txt to {outside}", clarification="yes")
    assert calls(done)[-1][1]["target"] == outside


HOUSED = {
    "names": ["bank/", "Podcasts/", "First Bank.pdf"],
    "paths": ["First Bank.pdf", "bank/statement-1.pdf", "Podcasts/Daily 1.mp3", "Podcasts/W-2 show.mp3"],
    "files": 4,
}
FOLDERS = [
    ("delete the bank statements", {"path": "bank", "include": ["*statement*"]}),
    ("delete podcasts older than 60 days", {"path": "Podcasts", "node_kind": "file"}),
    ("delete everything in Podcasts except the Daily ones", {"exclude": ["*daily*"]}),
    ("delete the W-2s in Podcasts", {"include": ["*w-2*"]}),
    ("delete the Podcasts mp3s", {"path": "Podcasts", "include": ["*.mp3"]}),
    ("list the Podcasts by show", {"path": "Podcasts", "include": ["*show*"]}),
    ("move everything in Podcasts to Old/1 except the mp3s", {"exclude": ["*.mp3"]}),
    ("delete everything in Podcasts older than 2024", {"modified_before": "2024-01-01"}),
]


@pytest.mark.parametrize(("request_", "held"), FOLDERS)
def test_name_of_a_folder_selects_its_files(read: Read, request_: str, held: dict[str, Any]) -> None:
    assert held.items() <= calls(read(request_, workspace=HOUSED))[0][1].items()


def test_word_of_other_files_may_name_a_folder(read: Read) -> None:
    paths = ["Hotels/hotel Lisbon.pdf", "Photos/Lisbon/tram.jpg"]
    folder = {"names": ["Hotels/", "Photos/"], "paths": paths, "files": 2}
    ((_, listed),) = calls(read("list the Lisbon photos", workspace=folder))
    assert listed["path"] == "Photos/Lisbon"


def test_copies_go_and_the_original_stays(read: Read) -> None:
    assert calls(read("remove the duplicate photos, the original stays"))[-1][0] == "remove-duplicates.remove"


def test_folder_that_is_one_item_is_measured_alone(read: Read) -> None:
    folder = {"names": ["node_modules/", "dist/"], "paths": ["dist/a.js"], "files": 1}
    assert isinstance(read("how big are node_modules and dist?", workspace=folder), ClarificationNeeded)
