"""Case files: the bundled ones are consistent with their folders, and a bad one says where it is bad."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from libs.skills import Skills
from services.cli.evaluating import cases, checking
from services.cli.evaluating.cases import HALVES, KINDS, BadCases, Cases
from services.settings import HOUSE

GOOD = "cases:\n- {id: a, request: delete it, folder: f, kinds: [plain], deleted: [a.txt]}\n"
FOLDERS = "folders:\n  f: {files: {a.txt: {text: a, age: 1}}}\n"


@pytest.fixture(scope="module", params=HALVES)
def half(request: pytest.FixtureRequest) -> Cases:
    return cases.half(request.param)


def test_what_a_case_changes_and_shows_is_there_to_be_changed_and_shown(half: Cases) -> None:
    checking.check(half)


def test_the_tools_that_cases_name_exist(half: Cases) -> None:
    known = {tool.name for tool in Skills.load((HOUSE / "skills",)).tools}
    named = {tool for case in half.cases for way in (*case.ways, *case.before) for tool in way.tools}
    assert named <= known


@pytest.mark.requirement("S4-44")
def test_each_half_has_cases_of_every_kind_and_language(half: Cases) -> None:
    kinds = Counter(kind for case in half.cases for kind in case.kinds)
    languages = Counter(case.language for case in half.cases)
    assert len(half.cases) >= 75
    assert min(kinds[kind] for kind in KINDS) >= 3
    assert min(languages[language] for language in ("en", "de", "es")) >= 15


IMPOSSIBLE = [
    ("deleted: [gone.txt]", "case a: deleted: 'gone.txt' is not there"),
    ("deleted: [a.txt, a.txt]", "case a: deleted: 'a.txt' is deleted twice"),
    ("moved: {'*.pdf': out/}", "case a: moved: '*.pdf' is not there"),
    ("written: {a.txt: text}", "case a: written: 'a.txt' is there already"),
    ("shows: [b.txt]", "case a: shows: 'b.txt' is not there"),
    ("moved: {a.txt: a.txt}", "case a: what it names as changes leaves everything as it was"),
    ("before: [{request: delete it, deleted: [a.txt]}], moved: {a.txt: b.txt}", "case a: moved: 'a.txt' is not there"),
]


@pytest.mark.parametrize(("fields", "said"), IMPOSSIBLE)
def test_changes_that_cannot_be_are_found_before_anything_starts(tmp_path: Path, fields: str, said: str) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.replace("deleted: [a.txt]", fields) + FOLDERS)
    with pytest.raises(BadCases) as refused:
        checking.check(cases.read(tmp_path / "mine.yaml"))
    assert said in str(refused.value)


def test_the_halves_share_neither_requests_nor_folders() -> None:
    tuned, held_out = (cases.half(name) for name in HALVES)
    assert not {case.request.lower() for case in tuned.cases} & {case.request.lower() for case in held_out.cases}
    assert not {case.folder for case in tuned.cases} & {case.folder for case in held_out.cases}


BAD = [
    ("cases: [", "is no YAML"),
    ("- 1", "holds no mapping"),
    ("cases: []", "at least one case"),
    ("wrong: 1\n" + GOOD, "'wrong' is unknown"),
    (GOOD.replace("id: a, ", ""), "the case at place 1: id: Field required"),
    (GOOD.replace("id: a", "id: A b"), "case A b: id:"),
    (GOOD.replace("delete it", "''"), "case a: request:"),
    (GOOD.replace("folder: f", "folder: g"), "case a: folder: there is none called 'g'"),
    (GOOD.replace("plain", "odd"), "case a: kinds: odd is none of"),
    (GOOD.replace("deleted", "delted"), "case a: delted:"),
    (GOOD.replace("}\n", ", outcome: asks}\n"), "case a: a turn that asks changes nothing"),
    (GOOD.replace("}\n", ", outcome: maybe}\n"), "case a: outcome:"),
    (GOOD.replace("}\n", ", language: fr}\n"), "case a: language:"),
    (GOOD.replace("}\n", ", written: {/etc/x: text}}\n"), "case a: written: '/etc/x' is no path inside a folder"),
    (GOOD.replace("deleted: [a.txt]", "moved: {a.txt: ../b}"), "case a: moved: '../b' is no path inside a folder"),
    (GOOD.replace("deleted: [a.txt]", "numbered: {a.txt: b}"), "case a: numbered: 'b' is no name with a number"),
    (GOOD + GOOD.removeprefix("cases:\n"), "case a: id: it is used twice"),
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
        ("{same: b.txt, age: 1}", "no file with a content of its own"),
    ],
)
def test_so_does_a_bad_folder(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"{GOOD}folders:\n  f: {{files: {{a.txt: {file}}}}}\n")
    with pytest.raises(BadCases, match=said):
        cases.read(tmp_path / "mine.yaml")


def test_a_half_a_file_or_a_case_that_there_is_not_is_said() -> None:
    with pytest.raises(BadCases, match="no half 'third': choose tuned or held-out"):
        cases.half("third")
    with pytest.raises(BadCases, match="cannot be read"):
        cases.read(Path("/nowhere.yaml"))
    with pytest.raises(BadCases, match="no case with id nobody"):
        cases.half("tuned").of(id="nobody")
