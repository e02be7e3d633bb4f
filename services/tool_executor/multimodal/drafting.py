"""Drafting: from the args of a call and the staged folder to the text that a producer draws.

Pure over the folder, and bounded; it runs in a thread. Each attempt after a critique draws less of it, and larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from libs.errors import Rejected
from libs.multimodal.ports import MEDIA_TYPES, Input, StepType
from libs.workspace.stage import Stage
from services.tool_executor.multimodal import charts, diagrams, source_code
from services.tool_executor.multimodal.diagrams import NothingToDraw

COUNTED_MOST = 200_000
"""Files that a chart counts."""
PAGE_BYTES_MOST, PICTURES_BYTES_MOST = 4 << 20, 64 << 20
FORMATS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}
"""The format of a picture that can be arranged, by its file's ending."""


class Incomplete(Rejected):
    """The call lacks what is to be drawn; add it."""

    code = "INCOMPLETE"


@dataclass(frozen=True, slots=True)
class Draft:
    """The part of a brief that follows from the args and the folder (`libs.multimodal.ports.Brief`)."""

    source: str = ""
    language: str = ""
    prompt: str = ""
    title: str = ""
    content: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    """Pictures of the folder, beside the assets that the args name. They have no id."""
    warnings: tuple[str, ...] = ()


def revised(method: str, args: Mapping[str, Any]) -> bool:
    """Return whether a later attempt's draft differs: it draws less of a folder or a table, and larger."""
    return method == StepType.CHART or bool(args.get("of"))


def draft(
    stage: Stage | None,
    method: str,
    args: Mapping[str, Any],
    *,
    attempt: int = 1,
    check: Callable[[], None],
) -> Draft:
    """Return the draft of an attempt, counted from 1. `check` is called repeatedly, and raises on a cancel. A call
    without a folder has no stage.

    Raises:
        Incomplete: the args name nothing to draw.
        NothingToDraw: the folder holds nothing of the kind.
        BadTable: the table or its column does not fit.
        Rejected: the path cannot be read.
    """
    title, rework = str(args.get("title", "")), attempt - 1
    match method:
        case StepType.DIAGRAM if args.get("source"):
            if args.get("of"):
                raise Incomplete("Both `of` and `source` are given; keep the one that is to be drawn.")
            return Draft(str(args["source"]), str(args.get("language", "mermaid")), title=title)
        case StepType.IMAGE:
            return Draft(prompt=str(args.get("prompt", "")), title=title)
        case StepType.ARRANGE:
            inputs = tuple(_pictures(stage, args.get("files", ()), check))
            return Draft(title=title, content={"layout": args.get("layout", "grid")}, inputs=inputs)
        case StepType.COMPOSE:
            return Draft(title=title, content={"sections": args.get("sections", [])})
    if stage is None:
        raise Incomplete("This session has no folder to draw from; open one, or give the diagram as `source`.")
    if method == StepType.DIAGRAM:
        return _diagram(stage, args, title, rework, check)
    return _chart(stage, args, title, rework, check) if method == StepType.CHART else _page(stage, args, title)


def _diagram(stage: Stage, args: Mapping[str, Any], title: str, rework: int, check: Callable[[], None]) -> Draft:
    if not args.get("of"):
        raise Incomplete("Nothing says what to draw; give `of` (components or sequence) or the diagram's `source`.")
    where = _folder(stage, args)
    files, more = source_code.files(stage, where, most=source_code.FILES_MOST, check=check)
    warnings = [f"Only the first {len(files)} files of {diagrams.shown(where)} were read."] if more else []
    code = source_code.read(stage, files, check)
    sizes = {node.path: node.size for node in files}
    if args["of"] == "sequence":
        source, told = diagrams.sequence(code, where, rework, check)
    elif code.modules:
        source, told = diagrams.code_components(code, sizes, where, rework)
    else:
        source, told = diagrams.folder_components(files, where, rework)
    return Draft(source, "mermaid", title=title, warnings=(*warnings, *told))


def _chart(stage: Stage, args: Mapping[str, Any], title: str, rework: int, check: Callable[[], None]) -> Draft:
    kind = str(args.get("kind", "bar"))
    if args.get("of"):
        where = _folder(stage, args)
        files, more = source_code.files(stage, where, most=COUNTED_MOST, check=check)
        if not files:
            raise NothingToDraw(f"{diagrams.shown(where)} holds no files; name another folder in `path`.")
        source, told = charts.of_files(files, str(args["of"]), kind, title, rework)
        told = [
            *told,
            *([f"Only the first {len(files)} files of {diagrams.shown(where)} were counted."] if more else []),
        ]
    else:
        node = stage.get_metadata(str(args.get("path", ".")))
        if node.kind != "file" or not args.get("x"):
            raise Incomplete(
                "A chart needs data; give `of` (file_types, file_sizes or file_ages), or the file of a table as `path` "
                "with its column `x`."
            )
        x, y, total, sheet = (str(args.get(name) or "") for name in ("x", "y", "total", "sheet"))
        wanted = charts.Wanted(title, x, y, kind, total or "sum", sheet)
        source, told = charts.of_table(stage, node, wanted, rework, check)
    return Draft(source, "vega-lite", title=title, warnings=tuple(told))


def _page(stage: Stage, args: Mapping[str, Any], title: str) -> Draft:
    found = stage.read_content(str(args["page"]), PAGE_BYTES_MOST)
    if found.truncated:
        raise Incomplete(f"{args['page']} is larger than {PAGE_BYTES_MOST >> 20} MB; capture a smaller page.")
    return Draft(title=title, content={"html": found.data.decode("utf-8", "replace")})


def _pictures(stage: Stage | None, paths: Sequence[str], check: Callable[[], None]) -> Iterator[Input]:
    """Yield pictures of the folder, up to a total of `PICTURES_BYTES_MOST`."""
    left = PICTURES_BYTES_MOST
    for path in paths:
        check()
        if stage is None:
            raise Incomplete(f"This session has no folder, so {path} cannot be read; open one.")
        node = stage.get_metadata(path)
        form = FORMATS.get(node.extension)
        if form is None:
            raise Incomplete(f"{path} is no picture; name files of the forms {', '.join(FORMATS)}.")
        found = stage.read_content(node.path, left)
        if found.truncated:
            raise Incomplete(f"The pictures have more than {PICTURES_BYTES_MOST >> 20} MB; arrange fewer at once.")
        left -= len(found.data)
        yield Input("", found.data, MEDIA_TYPES[form], title=node.name)


def _folder(stage: Stage, args: Mapping[str, Any]) -> str:
    path = str(args.get("path") or ".")
    node = stage.get_metadata(path)
    if not node.is_folder:
        raise Incomplete(f"{path} is a file; name a folder in `path`.")
    return node.path
