"""The answer says what the steps showed, with their numbers, in the language of the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.events.values import Observation, StepState
from libs.models.offline import OfflineModel
from libs.models.offline.phrasebook import ABILITIES
from libs.models.ports import Answered, Drafted
from libs.retrieval.lexicon import Language
from libs.skills import ToolDefinition

SCANNED = {"groups": [{"id": "g1"}, {"id": "g2"}], "files": 3, "bytes": 12_000_000}
REMOVED = {"deleted": ["a", "b", "c"], "files": 3, "bytes": 12_000_000}
SORTED = {"moved": [], "files": 44, "folders": ["Images", "Documents", "Audio", "Code"]}
REPORTED = {
    "files": 1044,
    "directories": 4,
    "bytes": 1_260_000_000,
    "by_category": {"Images": {"files": 1000, "bytes": 1_259_998_000}, "Audio": {"files": 44, "bytes": 2000}},
    "largest": [{"path": "Images/a.png", "size": 999_949}],
    "duplicates": {"groups": 0, "files": 0, "bytes": 0},
}


def saw(tool: str, data: Any = None, state: StepState = StepState.SUCCEEDED, **more: Any) -> Observation:
    return Observation(ordinal=1, tool=tool, description=f"Did {tool}.", state=state, data=data, **more)


async def told(model: OfflineModel, text: str, *seen: Observation) -> str:
    return "".join([said.text async for said in model.answer(Task(text=text, intent="", observations=seen))])


@pytest.mark.requirement("S4-48")
async def test_the_worked_example_is_told_with_its_numbers(model: OfflineModel) -> None:
    seen = [
        saw("remove-duplicates.scan", SCANNED),
        saw("remove-duplicates.remove", REMOVED),
        saw("manage-files.list", {"nodes": ["x"], "count": 1}),
        saw("organize-by-type.sort", SORTED),
    ]
    answer = await told(model, "clean up: remove duplicates and sort by type", *seen)
    assert answer == "Removed 3 duplicate files (saved 12 MB). Organized 44 files into 4 subfolders."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Lösche die Duplikate", "3 doppelte Dateien entfernt (12 MB gespart)."),
        ("Borra los duplicados", "Eliminé 3 archivos duplicados (12 MB ahorrados)."),
    ],
)
async def test_the_answer_speaks_the_language_of_the_request(model: OfflineModel, text: str, answer: str) -> None:
    assert await told(model, text, saw("remove-duplicates.remove", REMOVED)) == answer


async def test_a_report_counts_and_weighs_by_kind_and_names_the_largest(model: OfflineModel) -> None:
    answer = await told(model, "what is here?", saw("analyze-directory.report", REPORTED))
    assert answer == (
        "There are 1,044 files in 4 folders (1.3 GB). By kind: Images 1,000 (1.3 GB), Audio 44 (2 kB)."
        " Largest: Images/a.png (1 MB)."
    )
    german = await told(model, "Was liegt hier?", saw("analyze-directory.report", REPORTED))
    assert german.startswith("Es sind 1.044 Dateien in 4 Ordner")


async def test_one_is_told_as_one(model: OfflineModel) -> None:
    answer = await told(model, "remove duplicates", saw("remove-duplicates.remove", {"files": 1, "bytes": 1}))
    assert answer == "Removed 1 duplicate file (saved 1 byte)."


async def test_no_duplicates_is_an_answer(model: OfflineModel) -> None:
    assert (
        await told(model, "any duplicates?", saw("remove-duplicates.scan", {"groups": [], "files": 0}))
        == "There are no duplicates."
    )


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("which files are here twice?", "Found 2 groups of identical files: 3 files could go, which would save 12 MB."),
        (
            "welche Dateien sind doppelt?",
            "2 Gruppen gleicher Dateien gefunden: 3 Dateien könnten weg, das spart 12 MB.",
        ),
        ("¿qué archivos están duplicados?", "Encontré 2 grupos de archivos idénticos: sobran 3 archivos, lo que"),
    ],
)
async def test_a_scan_names_the_files_that_are_alike(model: OfflineModel, text: str, head: str) -> None:
    groups = [{"paths": ["a.txt", "b.txt"]}, {"paths": ["c.jpg", "d.jpg", "e.jpg"]}]
    lines = (await told(model, text, saw("remove-duplicates.scan", {**SCANNED, "groups": groups}))).splitlines()
    assert lines[0].startswith(head)
    assert lines[1:] == ["- a.txt, b.txt", "- c.jpg, d.jpg, e.jpg"]


async def test_of_many_groups_the_first_are_named_and_the_rest_counted(model: OfflineModel) -> None:
    groups = [{"paths": [f"{n}.txt", f"{n} copy.txt"]} for n in range(14)]
    answer = await told(model, "any duplicates?", saw("remove-duplicates.scan", {"groups": groups, "files": 14}))
    assert answer.splitlines()[-2:] == ["- 9.txt, “9 copy.txt”", "- and 4 more"]


async def test_a_search_shows_where_and_warns_of_what_the_index_missed(model: OfflineModel) -> None:
    data = {"matches": [{"path": "a.txt", "score": 0.9, "excerpt": "the tax return"}], "stale": 2}
    answer = await told(model, "find tax", saw("search-files.search", data))
    assert answer.splitlines() == [
        "Found in 1 file:",
        "- a.txt: the tax return",
        "2 files changed since they were indexed, so this may be incomplete.",
    ]


@pytest.mark.requirement("S4-36")
@pytest.mark.parametrize("state", [StepState.DENIED, StepState.FAILED, StepState.SKIPPED, StepState.UNKNOWN])
async def test_what_was_not_done_is_said(model: OfflineModel, state: StepState) -> None:
    denied = saw("remove-duplicates.remove", None, state, error="policy: no rule allows this")
    seen = [saw("remove-duplicates.scan", SCANNED), denied]
    answer = await told(model, "remove duplicates", *seen)
    assert "2 groups" in answer
    assert answer.endswith("Not done: Did remove-duplicates.remove (the rules here do not allow it).")


BELOW = {"count": 9, "folders": ["Docs", "My Trips"]}


@pytest.mark.parametrize(
    ("text", "sought", "deeper", "answer"),
    [
        (
            "show JPEGs over 5 MB in Photos",
            {"path": "Photos", "include": ["*.jpg", "*.jpeg"], "larger_than": 5_000_000},
            {},
            "No JPG, JPEG files over 5 MB in “Photos”.",
        ),
        (
            "find the empty folders",
            {"path": ".", "empty": True, "node_kind": "directory", "recursive": True},
            {},
            "No empty folders here, nor in subfolders.",
        ),
        (
            "lösche die leeren Dateien",
            {"path": ".", "empty": True},
            BELOW,
            "Keine leeren Dateien hier, aber 9 in Unterordnern (Docs, „My Trips“): alle davon?",
        ),
        (
            "borra los archivos llamados a*",
            {"path": "Mis fotos", "include": ["a*"]},
            BELOW,
            "No hay archivos como «a*» en «Mis fotos», pero sí 9 en subcarpetas (Docs, «My Trips»): ¿todos esos?",
        ),
    ],
)
async def test_what_was_not_found_is_named_and_asked_about_where_it_is_in_subfolders(
    model: OfflineModel, text: str, sought: Any, deeper: Any, answer: str
) -> None:
    found = saw("manage-files.list", {"nodes": [], "count": 0, "sought": sought, "deeper": deeper})
    idle = saw("manage-files.delete", {"files": 0}, summary="Nothing to do.")
    assert await told(model, text, found, idle) == answer


async def test_a_kind_is_told_by_its_name(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    every = await model.plan(Task(text="find all images", intent="", workspace={"names": []}), catalogue)
    assert isinstance(every, Drafted)
    sought = {"path": ".", "include": every.plan.steps[0].args["include"]}
    found = saw("search-files.find", {"nodes": [], "count": 0, "sought": sought})
    assert await told(model, "busca todas las imágenes", found) == "No hay imágenes aquí."


async def test_of_what_a_person_refused_nothing_else_is_told(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1, "deeper": BELOW})
    dropped = saw("manage-files.delete", REMOVED, StepState.ROLLED_BACK)
    refused = saw("workspace.commit", {"operations": 0, "left_out": 0})
    answer = await told(model, "delete the pdfs", listed, dropped, refused)
    assert answer == "Nothing was changed: the changes were not approved."


async def test_a_step_that_a_person_refused_is_a_refusal_too(model: OfflineModel) -> None:
    listed = saw("manage-files.list", {"nodes": ["a"], "count": 1, "deeper": BELOW})
    denied = saw("manage-files.delete", None, StepState.DENIED, error="a person said no")
    report = saw("analyze-directory.report", {**REPORTED, "by_category": {}, "largest": []})
    answer = await told(model, "borra los pdf y di qué hay", listed, denied, report)
    assert answer == "Hay 1.044 archivos en 4 carpetas (1,3 GB). Nada cambió: los cambios no se aprobaron."


async def test_names_with_blanks_are_quoted(model: OfflineModel) -> None:
    done = saw("manage-files.delete", {"deleted": ["a.txt", "My Trips"]})
    assert await told(model, "lösche das", done) == "2 Einträge gelöscht: a.txt, „My Trips“."


async def test_an_unknown_tool_is_told_by_its_own_summary(model: OfflineModel) -> None:
    assert (
        await told(model, "transcode it", saw("video.transcode", {"x": 1}, summary="Transcoded 2 clips."))
        == "Transcoded 2 clips."
    )


async def test_long_lists_are_cut_and_counted(model: OfflineModel) -> None:
    nodes = [f"f{n}" for n in range(22)]
    answer = await told(model, "list the files", saw("manage-files.list", {"nodes": nodes, "count": 22}))
    assert answer.startswith("22 items: f0, f1")
    assert "f19, and 2 more. Say “show the rest”" in answer


async def test_after_its_steps_have_ended_the_planner_answers_instead_of_planning_again(model: OfflineModel) -> None:
    outcome = await model.plan(
        Task(text="remove duplicates", intent="", observations=(saw("remove-duplicates.remove", REMOVED),)), ()
    )
    assert getattr(outcome, "text", None) == "Removed 3 duplicate files (saved 12 MB)."


COPIED = {"copied": [{"from": "a.txt", "to": "Box/a.txt"}, {"from": "b.txt", "to": "Box/b.txt"}], "bytes": 2000}
TAKEN = {**COPIED, "copied": [*COPIED["copied"], {"from": "c", "to": "Box/c (2)"}], "files": 3}  # type: ignore[misc]
BESIDE = {"copied": [{"from": "a.txt", "to": "a (2).txt"}], "files": 1, "folders": 0, "bytes": 12}


@pytest.mark.parametrize(
    ("text", "data", "answer"),
    [
        ("copy them to Box", {**COPIED, "files": 2}, "Copied 2 files (2 kB) into Box."),
        ("kopiere sie nach Box", {**COPIED, "files": 1200}, "1.200 Dateien (2 kB) nach Box kopiert."),
        ("cópialos a Box por favor", {**COPIED, "files": 2}, "Copié 2 archivos (2 kB) en Box."),
        ("copy all to Box", TAKEN, "Copied 3 files (2 kB) into Box. Names that were taken: c → Box/c (2)."),
        ("duplicate a.txt", BESIDE, "Copied 1 file (12 bytes): a.txt → a (2).txt."),
        ("copy the folder", {**BESIDE, "files": 0, "folders": 1}, "Copied 1 folder (12 bytes): a.txt → a (2).txt."),
        ("copy the pdfs", {"copied": [], "files": 0}, "There was nothing to copy."),
        ("kopiere die PDFs bitte", {"copied": [], "files": 0}, "Es gab nichts zu kopieren."),
    ],
)
async def test_copies_are_told_with_their_numbers_and_with_names_that_changed(
    model: OfflineModel, text: str, data: Any, answer: str
) -> None:
    seen = [saw("manage-files.list", {"nodes": ["a.txt"], "count": 1}), saw("manage-files.copy", data)]
    assert await told(model, text, *seen) == answer


async def test_what_went_to_several_folders_is_told_for_each_of_them(model: OfflineModel) -> None:
    moved = [saw("manage-files.move", {"moved": [{"from": one, "to": f"{to}/{one}"}]}) for one, to in ("aX", "bY")]
    answer = await told(model, "move a to X and b to Y", *moved)
    assert answer == "Moved 1 item into X. Moved 1 item into Y."


async def test_what_goes_to_one_folder_twice_is_told_twice(model: OfflineModel) -> None:
    moved = [saw("manage-files.move", {"moved": [{"from": one, "to": f"X/{one}"}]}) for one in "ab"]
    assert await told(model, "move a to X, and b to X", *moved) == "Moved 1 item into X. Moved 1 item into X."


async def test_what_was_only_asked_for_is_answered_beside_a_change(model: OfflineModel) -> None:
    text = "delete the exe and tell me which photos there are"
    looked = saw("manage-files.list", {"nodes": ["a.exe"], "count": 1})
    asked = saw("manage-files.list", {"nodes": ["b.jpg", "c.jpg"], "count": 2})
    gone = saw("manage-files.delete", {"deleted": ["a.exe"], "files": 1, "bytes": 3})
    assert await told(model, text, looked, gone, asked) == "Deleted 1 item: a.exe. 2 items: b.jpg, c.jpg."


RENAMED = {"renamed": [{"from": "d/a.txt", "to": "d/b.txt"}, {"from": "c", "to": "e"}], "files": 2}
PACKED = {"archive": "a.zip", "files": 2, "bytes": 2000, "packed_bytes": 900, "deleted": []}
PAGES = {"format": "PDF", "unit": "page", "fields": ["Plan"], "rows": 2, "text": "Dear all", "complete": True}
PARSED = {"format": "CSV", "fields": ["id", "name"], "rows": 1, "head": [], "text": "id,name\n1,Ana", "complete": True}
EXPLAINED = {
    "path": "a.jpg",
    "node_kind": "file",
    "kind": "JPEG image",
    "looks_like": "PNG image",
    "agrees": False,
    "size": 1200,
    "modified_at": "2024-05-31T10:00:00+00:00",
    "holds": {"width": 1640, "height": 480},
}
GIST = {
    "summaries": [{"path": "a.txt", "sentences": ["It rains.", "We stay."], "words": 12}],
    "without_text": ["b.jpg"],
}


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("tool", "data", "answer"),
    [
        ("batch-rename.rename", RENAMED, "Renamed 2 files: d/a.txt → b.txt, c → e."),
        ("batch-rename.rename", {"renamed": [], "files": 0}, "No name had to change."),
        ("archive-files.pack", PACKED, "Packed 2 files (2 kB) into a.zip (900 bytes)."),
        (
            "archive-files.pack",
            PACKED | {"deleted": ["x", "y"]},
            "Packed 2 files (2 kB) into a.zip (900 bytes). What was packed is deleted: x, y.",
        ),
        (
            "archive-files.contents",
            {"entries": [{"path": "x", "size": 1}], "files": 1, "bytes": 1},
            "The archive holds 1 file (1 byte): x.",
        ),
        ("archive-files.contents", {"entries": [], "files": 0, "bytes": 0}, "The archive is empty."),
        ("archive-files.unpack", {"files": 2, "bytes": 5, "target": "a"}, "Unpacked 2 files (5 bytes) into a."),
        ("parse-content.parse", PAGES, "It is PDF with 2 pages. In it: Plan. It begins: Dear all"),
        (
            "parse-content.parse",
            PAGES | {"fields": [], "text": ""},
            "It is PDF with 2 pages. There are no words in it that can be read; its pages may be pictures.",
        ),
        ("parse-content.parse", PARSED, "It is CSV with 1 row. Fields: id, name. It begins: id,name 1,Ana"),
        (
            "explain.explain",
            EXPLAINED,
            "a.jpg: JPEG image, 1.2 kB. Its bytes say otherwise, though: PNG image. Last changed on 2024-05-31."
            " It is 1,640 by 480 pixels.",
        ),
        (
            "summarize.summarize",
            GIST,
            "a.txt (12 words), in its own words:\n- It rains.\n- We stay.\nThere is no text to summarise in b.jpg.",
        ),
        ("summarize.summarize", {"summaries": [], "without_text": []}, "Nothing was found."),
    ],
)
async def test_each_tool_is_told_with_the_numbers_of_its_result(
    model: OfflineModel, tool: str, data: Any, answer: str
) -> None:
    assert await told(model, "show me the result", saw(tool, data)) == answer


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Packe die Dateien", "2 Dateien (2 kB) in a.zip gepackt (900 Byte)."),
        ("Empaqueta los archivos", "Empaqueté 2 archivos (2 kB) en a.zip (900 bytes)."),
    ],
)
async def test_an_archive_is_told_in_the_language_of_the_request(model: OfflineModel, text: str, answer: str) -> None:
    listed = saw("manage-files.list", {"nodes": ["x", "y"], "count": 2})
    assert await told(model, text, listed, saw("archive-files.pack", PACKED)) == answer


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("text", "language"),
    [("what can you do?", "en"), ("was kannst du?", "de"), ("¿qué puedes hacer?", "es")],
)
async def test_what_can_be_done_is_told_in_the_language_of_the_question(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, language: Language
) -> None:
    outcome = await model.plan(Task(text=text, intent=""), catalogue)
    assert isinstance(outcome, Answered)
    for skill in {tool.skill for tool in catalogue if tool.in_workspace}:
        assert ABILITIES[skill][language] in outcome.text, skill


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("move the bills that say PAID to Paid", "Left out, since it says otherwise: b.txt (“Not paid yet”)."),
        (
            "verschiebe die Rechnungen, in denen PAID steht, nach Paid",
            "Nicht dabei, denn dort steht es anders: b.txt („Not paid yet“).",
        ),
        ("mueve las facturas que dicen PAID a Paid", "Quedan fuera, porque dicen otra cosa: b.txt («Not paid yet»)."),
    ],
)
async def test_what_says_the_opposite_is_named_after_the_change(model: OfflineModel, text: str, end: str) -> None:
    listed = {"nodes": ["a.txt"], "count": 1, "lines": {"a.txt": "PAID"}, "denied": {"b.txt": "Not paid yet"}}
    moved = {"moved": [{"from": "a.txt", "to": "Paid/a.txt"}], "files": 1}
    answer = await told(model, text, saw("manage-files.list", listed), saw("manage-files.move", moved))
    assert answer.endswith(end)


async def test_a_list_by_text_that_found_nothing_says_what_nobody_could_look_into(model: OfflineModel) -> None:
    sought = {"path": ".", "containing": "PAID"}
    unread = {"count": 2, "why": {"locked": 2}, "paths": ["a.pdf", "b.pdf"]}
    listed = {"nodes": [], "count": 0, "sought": sought, "unread": unread}
    answer = await told(model, "delete the bills that say PAID", saw("manage-files.list", listed))
    assert answer == "No files that contain “PAID” here. Not looked into: 2 documents (2 with a password)."


@pytest.mark.parametrize(
    ("sought", "answer"),
    [
        ({"path": "Old"}, "There are no duplicates among these: files in “Old”."),
        ({"path": ".", "exclude": ["b*"]}, "There are no duplicates among these: files here, without b*."),
    ],
)
async def test_of_a_part_it_is_not_said_that_there_are_no_duplicates(
    model: OfflineModel, sought: dict[str, Any], answer: str
) -> None:
    scanned = saw("remove-duplicates.scan", {"groups": [], "files": 0, "bytes": 0, "sought": sought})
    removed = saw("remove-duplicates.remove", {"deleted": [], "files": 0, "bytes": 0})
    assert await told(model, "any duplicates?", scanned) == answer
    assert await told(model, "remove the duplicates", scanned, removed) == answer
