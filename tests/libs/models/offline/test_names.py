"""Names in answers: a client that renders Markdown shows each as it is, and makes no link of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from libs.events import ApprovalRequested, Diff, DiffEntry, DiffGroup, Observation, StepState
from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.texts import visible
from services.gateway.surfaces import questions
from tests.support.markdown import marked, shown

PIECES = (
    *(
        "www.evil.example",
        "https://evil.example",
        "a@evil.example",
        "[click](mailto:x@evil.example)",
        "<b>",
        "<http:x>",
    ),
    *(
        "![i](x)",
        "[x]: y",
        "**b**",
        "__init__",
        "_",
        "~~s~~",
        "`",
        "``",
        "&amp;",
        "&#64;",
        "\\",
        "#",
        "- ",
        "1.",
        "---",
    ),
    *(
        " ",
        "  ",
        "“",
        "”",
        "(",
        ")",
        ":",
        ",",
        ".",
        "!",
        "?",
        "a",
        "B",
        "ü",
        "日本",
        "x_y",
        "\n",
        "\t",
        "|",
        "=",
        "+",
        ">",
    ),
)
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join).filter(str.strip)


def saw(tool: str, data: Any, state: StepState = StepState.SUCCEEDED, **more: Any) -> Observation:
    return Observation(ordinal=1, tool=tool, **{"description": "-", **more}, state=state, data=data)


def steps(first: str, second: str) -> list[Observation]:
    """Return steps about files with these names, one for each way to tell of them."""
    names, pair = [first, second], {"from": first, "to": second}
    return [
        saw("manage-files.list", {"nodes": names, "count": 2}),
        saw("manage-files.list", {"nodes": names * 3, "count": 6, "denied": {first: second}}),
        saw("manage-files.list", {"nodes": [], "count": 0, "sought": {"path": first, "include": [second]}}),
        saw("manage-files.list", {"nodes": [], "count": 0}, left_alone={"repositories": names, "odd": names}),
        saw("manage-files.delete", {"deleted": names, "files": 2, "bytes": 0, "linked": names}),
        saw("manage-files.move", {"moved": [pair], "files": 1}),
        saw("manage-files.copy", {"copied": [pair], "files": 1}),
        saw("manage-files.create", {"created": names}),
        saw("batch-rename.rename", {"renamed": [pair], "files": 1}),
        saw(
            "analyze-directory.report",
            {"largest": [{"path": first, "size": 1}], "by_category": {second: {"files": 1, "bytes": 1}}},
        ),
        saw("remove-duplicates.scan", {"groups": [{"paths": names}], "files": 1}),
        saw("archive-files.pack", {"files": 1, "archive": first, "deleted": [second]}),
        saw("archive-files.contents", {"files": 1, "entries": names}),
        saw("archive-files.unpack", {"target": first}),
        saw("search-files.search", {"matches": [{"path": first, "excerpt": second}], "missing": names}),
        saw("search-files.search", {"elsewhere": {"count": 2, "paths": names}}),
        saw("parse-content.parse", {"format": "plain text", "rows": 1, "text": first, "fields": names}),
        saw("parse-content.count", {"counts": [{"path": p, "rows": 1, "unit": "row"} for p in names], "unread": names}),
        saw("explain.explain", {"path": first, "kind": "text", "size": 1, "holds": {"headings": names}}),
        saw("summarize.summarize", {"summaries": [{"path": first, "sentences": names}], "without_text": names}),
        saw("workspace.commit", {"operations": 1, "warnings": [f"{first} was left."]}),
        saw("video.transcode", {"x": 1}, summary=f"Cut {first}."),
        saw("x", None, StepState.FAILED, description=f"Cut “{first}”.", error=f"NO_SUCH_PATH: {second} does not exist"),
    ]


async def told(model: OfflineModel, step: Observation) -> str:
    task = Task(text="do it", intent="", observations=(step,))
    return "".join([said.text async for said in model.answer(task)])


def asked(first: str, second: str) -> str:
    """Return a question about changes of files with these names, of which one has the other for its content."""
    entry = DiffEntry(path=first, change="created", preview=second)
    items = ({"id": first, "change": "created"}, {"id": first, "change": "moved", "source": second}, {"id": second})
    group = DiffGroup(change="created", folder=first, count=9, things=9)
    diff = Diff(version=1, count=9, entries=(entry,), groups=(group,))
    title = f"Make “{first}”?"
    asked = ApprovalRequested(
        turn_id="t",
        approval_id="a",
        kind="commit",
        digest="d",
        title=title,
        expires_in=60,
        items=items,
        diff=diff,
        trouble=second,
    )
    return questions.text_of(asked)


@given(NAMES, NAMES)
async def test_no_name_becomes_markup_in_an_answer(model: OfflineModel, first: str, second: str) -> None:
    said = [await told(model, step) for step in steps(first, second)]
    assert {one: found for one in said if (found := marked(one))} == {}
    assert letters(visible(first)) in letters(shown(said[0]))


@given(NAMES, NAMES)
def test_no_name_becomes_markup_in_a_question(first: str, second: str) -> None:
    said = asked(first, second)
    assert marked(said) == [], said


def letters(text: str) -> str:
    """Return a text without what quotes or escapes it."""
    return "".join(text.replace("`", "\\x60").translate(dict.fromkeys(map(ord, '“”"'), None)).split())
