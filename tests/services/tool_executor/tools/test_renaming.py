"""Renaming many files by one rule: all of them or none, and never over a name that is there."""

from __future__ import annotations

from typing import Any

import pytest

from libs.errors import Rejected
from services.tool_executor.tools.renaming import NameTaken
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")
RENAME = "batch-rename.rename"


@pytest.mark.parametrize(
    ("name", "rule", "new"),
    [
        ("IMG_1.JPG", {"find": "IMG_", "replace": "Trip "}, "Trip 1.JPG"),
        ("a b c.txt", {"find": " "}, "abc.txt"),
        ("Trip (1).jpg", {"find": "(1)"}, "Trip.jpg"),
        ("Copy of trip.jpg", {"find": "Copy of"}, "trip.jpg"),
        ("plant list spring.xlsx", {"find": "list"}, "plant spring.xlsx"),
        ("plant_list_spring.xlsx", {"find": "list"}, "plant_spring.xlsx"),
        ("plant-list spring.xlsx", {"find": "list"}, "plant- spring.xlsx"),
        ("a   b.txt", {"find": " "}, "ab.txt"),
        ("trip .jpg", {"find": "(1)"}, None),
        ("trip-.jpg", {"find": "-", "replace": " "}, "trip .jpg"),
        ("x.jpg.txt", {"find": ".txt", "replace": ".md"}, None),
        ("report.pdf", {"prefix": "2024 "}, "2024 report.pdf"),
        ("report.tar.gz", {"suffix": " old"}, "report old.tar.gz"),
        ("ÄRGER Übung.TXT", {"case": "lower"}, "ärger übung.TXT"),
        ("don't PANIC.txt", {"case": "title"}, "Don't Panic.txt"),
        ("My HolidayPhoto-2.jpg", {"case": "snake"}, "my_holiday_photo_2.jpg"),
        ("beach.jpg", {"base": "Holiday"}, "Holiday 001.jpg"),
        ("beach.jpg", {"base": "holiday_"}, "holiday_001.jpg"),
        ("beach.jpg", {"base": "Cornwall", "digits": 1}, "Cornwall 1.jpg"),
        ("notes.txt", {"dated": True}, "2024-05-31 notes.txt"),
        ("REPORT for Ärzte.pdf", {"case": "sentence"}, "Report for ärzte.pdf"),
        ("2023-05-01 invoice.pdf", {"written": "out"}, "invoice.pdf"),
        ("IMG_20230501_scan.jpg", {"written": "out"}, "IMG_scan.jpg"),
        ("minutes (2021).txt", {"written": "out"}, "minutes.txt"),
        ("minutes_2021.txt", {"written": "first"}, "2021_minutes.txt"),
        ("2021 minutes.txt", {"written": "last"}, "minutes 2021.txt"),
        ("31.12.2023-letter.txt", {"written": "last"}, "letter-31.12.2023.txt"),
        ("rehearsal 2.4.2026.mp3", {"written": "first"}, "2.4.2026 rehearsal.mp3"),
        ("2021 to 2022.txt", {"written": "out"}, None),
        ("photo 1920x1080.jpg", {"written": "out"}, None),
        ("2021.txt", {"written": "out"}, None),
        (
            "Bill Weir 14-03-2026.pdf",
            {"shape": "{text} {day}-{month}-{year}", "becomes": "{year}-{month}-{day} {text}"},
            "2026-03-14 Bill Weir.pdf",
        ),
        ("take 7.wav", {"shape": "take {number}", "becomes": "take {number:3}"}, "take 007.wav"),
        ("take list.txt", {"shape": "take {number}", "becomes": "take {number:3}"}, None),
        ("page.htm", {"extension": "html"}, "page.html"),
        ("page", {"extension": ".txt"}, "page.txt"),
        (".env", {"prefix": "my-"}, ".my-env"),
        (".config.yml", {"case": "upper"}, ".CONFIG.yml"),
        ("v1.2 final", {"suffix": "!"}, "v1.2 final!"),
        ("a\\b.txt", {"prefix": "c\\"}, "c\\\\a\\\\b.txt"),
        ("same.txt", {"case": "lower"}, None),
    ],
)
def test_each_rule_gives_its_new_name(folder: StagedFolder, name: str, rule: dict[str, Any], new: str | None) -> None:
    folder.write(name, "x", at="2024-05-31T10:00")
    folder.scan()
    old = name.replace("\\", "\\\\")
    told = folder.run(RENAME, paths=[old], **rule).data
    assert told == ({"renamed": [{"from": old, "to": new}], "files": 1} if new else {"renamed": [], "files": 0})


@pytest.mark.parametrize("becomes", ["{number}", "{text} {month}"])
def test_shape_with_an_unbound_result_renames_nothing(folder: StagedFolder, becomes: str) -> None:
    folder.files("a b.txt")
    with pytest.raises(Rejected):
        folder.run(RENAME, paths=["a b.txt"], shape="a {text}", becomes=becomes)
    assert folder.stage.version == 0


def test_rules_are_applied_together_and_numbers_follow_the_listing(folder: StagedFolder) -> None:
    folder.files("b.JPG", "a.jpg")
    told = folder.run(RENAME, paths=["b.JPG", "a.jpg"], base="Trip", prefix="x-", extension="jpeg").data["renamed"]
    assert [entry["to"] for entry in told] == ["x-Trip 001.jpeg", "x-Trip 002.jpeg"]


def test_cycle_and_chain_of_renames_are_one_batch(folder: StagedFolder) -> None:
    folder.files("p 001.txt", "p 002.txt", "p 003.txt", "last.txt")
    folder.run(RENAME, paths=["p 002.txt", "p 003.txt", "p 001.txt", "last.txt"], base="p")
    assert folder.stage.version == 1
    folder.commit()
    found = {name: content for name, (_, _, _, content) in folder.seen().items()}
    assert found == {
        "p 001.txt": b"p 002.txt",
        "p 002.txt": b"p 003.txt",
        "p 003.txt": b"p 001.txt",
        "p 004.txt": b"last.txt",
    }


def test_a_batch_is_committed_and_rolled_back_bit_for_bit(folder: StagedFolder) -> None:
    folder.files("A.txt", "b/ü.txt", "b/C.txt")
    before = folder.seen()
    folder.run(RENAME, paths=["A.txt", "b/ü.txt", "b/C.txt"], case="upper", suffix="!")
    folder.commit()
    assert sorted(path for path in folder.seen() if path.endswith(".txt")) == ["A!.txt", "b/C!.txt", "b/Ü!.txt"]
    folder.roll_back()
    assert folder.seen() == before


@pytest.mark.parametrize("taken", ["a.md", "A.MD"])
def test_a_name_that_is_there_refuses_the_whole(folder: StagedFolder, taken: str) -> None:
    folder.files("a.txt", "b.txt", taken)
    with pytest.raises(NameTaken, match=r"nothing was renamed: a\.txt would become a\.md"):
        folder.run(RENAME, paths=["a.txt", "b.txt"], extension="md")
    assert folder.stage.version == 0


def test_two_files_that_would_share_a_name_are_refused(folder: StagedFolder) -> None:
    folder.files("a 1.txt", "a-1.txt")
    with pytest.raises(NameTaken, match="would become the same"):
        folder.run(RENAME, paths=["a 1.txt", "a-1.txt"], case="snake")


def test_another_case_of_its_own_name_is_no_clash(folder: StagedFolder) -> None:
    folder.files("README.TXT").run(RENAME, paths=["README.TXT"], case="lower", extension="txt")
    folder.commit()
    assert list(folder.seen()) == ["readme.txt"]


@pytest.mark.parametrize(
    "rule",
    [
        {"find": "a"},
        {"base": "x" * 199, "suffix": "y" * 100},
        {"prefix": "ü" * 130},
        {"prefix": "x\n"},
        {"suffix": "\u202e"},
    ],
)
def test_a_name_that_no_file_can_have_is_refused(folder: StagedFolder, rule: dict[str, Any]) -> None:
    with pytest.raises(Rejected):
        folder.files("a").run(RENAME, paths=["a"], **rule)
    assert folder.stage.version == 0


def test_folders_among_files_keep_their_names_with_a_warning(folder: StagedFolder) -> None:
    done = folder.files("a.txt", "Sub/b.txt").run(RENAME, paths=["a.txt", "Sub"], case="upper")
    assert [entry["to"] for entry in done.data["renamed"]] == ["A.txt"]
    assert done.warnings == ("1 folder in the list kept their names.",)


def test_folders_alone_are_renamed_also_inside_each_other(folder: StagedFolder) -> None:
    folder.files("One/Two.x/f.txt")
    told = folder.run(RENAME, paths=["One", "One/Two.x"], case="lower").data["renamed"]
    assert told == [{"from": "One", "to": "one"}, {"from": "One/Two.x", "to": "one/two.x"}]


def test_a_name_that_is_no_utf8_keeps_its_bytes(folder: StagedFolder) -> None:
    (folder.root / b"\xff x.txt".decode("utf-8", "surrogateescape")).touch()
    folder.scan()
    told = folder.run(RENAME, paths=["\\xff x.txt"], find=" ", replace="_").data["renamed"]
    assert told == [{"from": "\\xff x.txt", "to": "\\xff_x.txt"}]


def test_repeated_path_is_renamed_once_and_missing_one_skipped(folder: StagedFolder) -> None:
    done = folder.files("a.txt").run(RENAME, paths=["a.txt", "./a.txt", "gone.txt"], prefix="x")
    assert done.data["files"] == 1
    assert done.warnings == ("gone.txt is no longer there and was left out.",)


def test_no_rule_is_a_question_not_a_rename(folder: StagedFolder) -> None:
    with pytest.raises(Rejected, match="name a rename rule"):
        folder.files("a.txt").run(RENAME, paths=["a.txt"], dated=False)
