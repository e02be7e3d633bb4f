"""Case files: the bundled ones are consistent with their folders, and a bad one says where it is bad."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from libs.skills import Skills
from services.cli.evals import cases
from services.cli.evals.cases import HALVES, KINDS, BadCases, Case, Cases, Outcome
from services.cli.evals.trees import Changes
from services.settings import ROOT

GOOD = "cases:\n- {id: a, request: delete it, folder: f, kinds: [plain], deleted: [a.txt]}\n"
FOLDERS = "folders:\n  f: {files: {a.txt: {text: a, age: 1}}}\n"


@pytest.fixture(scope="module", params=HALVES)
def half(request: pytest.FixtureRequest) -> Cases:
    return cases.half(request.param)


def test_bundled_cases_fit_their_folders(half: Cases) -> None:
    cases.check(half)


def test_the_tools_that_cases_name_exist(half: Cases) -> None:
    known = {tool.name for tool in Skills.load((ROOT / "skills",)).tools}
    named = {tool for case in half.cases for way in (*case.ways, *case.before) for tool in way.tools}
    assert named <= known


@pytest.mark.requirement("S4-44")
def test_each_half_has_cases_of_every_kind(half: Cases) -> None:
    kinds = Counter(kind for case in half.cases for kind in case.kinds)
    assert len(half.cases) >= 75
    assert min(kinds[kind] for kind in KINDS) >= 3


def test_cases_are_plain_sentences_of_at_most_sixteen_words(half: Cases) -> None:
    said = [turn.request for case in half.cases for turn in (*case.before, case)]
    assert [text for text in said if len(text.split()) > 16] == []


def test_ambiguous_change_may_be_asked_about(half: Cases) -> None:
    assert [case.id for case in half.cases if len(_changes(case)) > 1 and not _may_ask(case)] == []


def _changes(case: Case) -> set[str]:
    return {way.model_dump_json(include=set(Changes.model_fields)) for way in case.ways if way.changes}


def _may_ask(case: Case) -> bool:
    return any(way.outcome is Outcome.ASKS for way in case.ways)


IMPOSSIBLE = [
    ("deleted: [gone.txt]", "case a: deleted: 'gone.txt' does not exist"),
    ("deleted: [a.txt, a.txt]", "case a: deleted: 'a.txt' is deleted twice"),
    ("moved: {'*.pdf': out/}", "case a: moved: '*.pdf' does not exist"),
    ("written: {a.txt: text}", "case a: written: 'a.txt' already exists"),
    ("shows: [b.txt]", "case a: shows: 'b.txt' does not exist"),
    ("moved: {a.txt: a.txt}", "case a: the named changes change nothing"),
    (
        "before: [{request: delete it, deleted: [a.txt]}], moved: {a.txt: b.txt}",
        "case a: moved: 'a.txt' does not exist",
    ),
]


@pytest.mark.parametrize(("fields", "said"), IMPOSSIBLE)
def test_changes_that_cannot_be_are_found_before_anything_starts(tmp_path: Path, fields: str, said: str) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.replace("deleted: [a.txt]", fields) + FOLDERS)
    with pytest.raises(BadCases) as refused:
        cases.check(cases.read(tmp_path / "mine.yaml"))
    assert said in str(refused.value)


def test_the_halves_share_neither_requests_nor_folders() -> None:
    tuned, held_out = (cases.half(name) for name in HALVES)
    assert not {case.request.lower() for case in tuned.cases} & {case.request.lower() for case in held_out.cases}
    assert not {case.folder for case in tuned.cases} & {case.folder for case in held_out.cases}


BAD = [
    ("cases: [", "is not valid YAML"),
    ("- 1", "is not a mapping"),
    ("cases: []", "at least one case"),
    ("wrong: 1\n" + GOOD, "'wrong' is unknown"),
    (GOOD.replace("id: a, ", ""), "the case at place 1: id: Field required"),
    (GOOD.replace("id: a", "id: A b"), "case A b: id:"),
    (GOOD.replace("delete it", "''"), "case a: request:"),
    (GOOD.replace("folder: f", "folder: g"), "case a: folder: unknown folder 'g'"),
    (GOOD.replace("plain", "odd"), "case a: kinds: odd is not one of"),
    (GOOD.replace("deleted", "delted"), "case a: delted:"),
    (GOOD.replace("}\n", ", outcome: asks}\n"), "case a: a turn that asks changes nothing"),
    (GOOD.replace("}\n", ", outcome: maybe}\n"), "case a: outcome:"),
    (GOOD.replace("}\n", ", written: {/etc/x: text}}\n"), "case a: written: '/etc/x' is not a path inside a folder"),
    (GOOD.replace("deleted: [a.txt]", "moved: {a.txt: ../b}"), "case a: moved: '../b' is not a path inside a folder"),
    (GOOD.replace("deleted: [a.txt]", "numbered: {a.txt: b}"), "case a: numbered: 'b' is not a name with a number"),
    (GOOD + GOOD.removeprefix("cases:\n"), "case a: id: used twice"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_bad_file_says_which_case_and_field(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text + FOLDERS if "cases:\n" in text else text)
    with pytest.raises(BadCases) as refused:
        cases.read(file)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("{size: 3 parsecs, age: 1}", "a size is a number"),
        ("{text: a, size: 1 KB, age: 1}", "exactly one of"),
        ("{text: a}", "an age or a date"),
        ("{text: a, date: last year}", "years back, month and day"),
        ("{same: b.txt, age: 1}", "must be a file with its own content"),
    ],
)
def test_bad_folder_names_its_case_and_field(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"{GOOD}folders:\n  f: {{files: {{a.txt: {file}}}}}\n")
    with pytest.raises(BadCases, match=said):
        cases.read(tmp_path / "mine.yaml")


def test_unknown_half_file_or_case_is_reported() -> None:
    with pytest.raises(BadCases, match="unknown half 'third': choose tuned or held-out"):
        cases.half("third")
    with pytest.raises(BadCases, match="cannot be read"):
        cases.read(Path("/nowhere.yaml"))
    with pytest.raises(BadCases, match="no case with id nobody"):
        cases.half("tuned").of(id="nobody")
