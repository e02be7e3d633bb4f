"""Writing and editing text files: whole new contents, and exact replacements.

An edit keeps all that it does not name: encoding, line ends, mode. It replaces a text only where it can tell the place.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from posixpath import dirname

from rapidfuzz import fuzz, process

from libs.errors import Rejected
from libs.workspace.errors import AlreadyExists
from libs.workspace.operations import INLINE_MAX, AnyOperation, Content, Create, Inline, Write
from services.tool_executor.tools.decoding import NoText, decoded
from services.tool_executor.tools.tool_context import Args, ToolContext, ToolOutput, TooMuch, human, many

CANDIDATES = 3
CANDIDATE_MOST = 200
"""Characters of a line that is shown or compared as a candidate."""
COMPARED = 20_000
"""Lines that are compared to find candidates."""
PLACES = 10


class CannotEdit(Rejected):
    """The text to replace cannot be located; nothing was changed."""

    code = "CANNOT_EDIT"


def write_file(context: ToolContext, args: Args) -> ToolOutput:
    """Create a text file, with the folders above it; with `replace`, give an existing one this content."""
    path, raw = context.within(args["path"]), _encoded(args["content"], "utf-8", args["path"])
    if context.exists(path):
        if args.get("replace") is not True:
            raise AlreadyExists(f"{path} exists; read it, and say replace: true to give it another content")
        done = "Wrote"
        context.file(path)
        operations: list[AnyOperation] = [Write(path=path, content=_content(context, raw), reason=context.reason)]
    else:
        done = "Created"
        new = Create(path=path, content=_content(context, raw), reason=context.reason)
        operations = [*context.making(dirname(path) or "."), new]
    summary = f"{done} {path} ({human(len(raw))})."
    return ToolOutput({"path": path, "size": len(raw)}, summary, applied=context.put(operations))


def edit_file(context: ToolContext, args: Args) -> ToolOutput:
    """Replace a text in a file that holds it exactly once; with `all`, replace every occurrence."""
    node = context.file(args["path"])
    found = _text(context, node.path)
    old, new = found.ended(args["old"]), found.ended(args["new"])
    if old == new:
        raise CannotEdit("old and new are the same")
    count = found.text.count(old)
    if count == 0:
        raise CannotEdit(f"old is not in {node.path}{_nearest(found.text, old)}")
    lines = _places(found.text, old)
    if count > 1 and args.get("all") is not True:
        where = ", ".join(map(str, lines)) + ("" if count <= PLACES else ", …")
        raise CannotEdit(
            f"old is in {node.path} {count} times, at lines {where}; add lines around it until it is unique, "
            "or say all: true"
        )
    raw = _encoded(found.text.replace(old, new), found.codec, node.path)
    applied = context.put([Write(path=node.path, content=_content(context, raw), reason=context.reason)])
    data = {"path": node.path, "replaced": count, "lines": lines, "size": len(raw)}
    return ToolOutput(data, f"Replaced {many(count, 'place')} in {node.path}.", reads=(node.path,), applied=applied)


@dataclass(frozen=True, slots=True)
class _Exact:
    """A text and the codec that gives back its bytes."""

    text: str
    codec: str

    def ended(self, text: str) -> str:
        """Return the text with the file's line ends, if the file has the same ones throughout."""
        if "\n" in text and "\r" not in text and self.text.count("\n") == self.text.count("\r\n") > 0:
            return text.replace("\n", "\r\n")
        return text


def _text(context: ToolContext, path: str) -> _Exact:
    """Return the whole text of a file, exactly. Raises `TooMuch`, and `CannotEdit` if its bytes would not survive."""
    excerpt = context.stage.read_content(path, context.limits.read_bytes_most)
    if excerpt.truncated:
        raise TooMuch(f"{path} is larger than {human(context.limits.read_bytes_most)}, and is not edited")
    try:
        found = decoded(excerpt.data)
    except NoText as error:
        raise CannotEdit(f"{path} holds no text") from error
    # `utf-16` would write the machine's order of bytes; with an explicit order the mark stays a part of the text.
    codec = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(excerpt.data[:2], found.codec)
    text = excerpt.data.decode(codec)
    if text.encode(codec) != excerpt.data:
        raise CannotEdit(f"{path} cannot be written back as {found.encoding} without a loss")
    return _Exact(text, codec)


def _encoded(text: str, codec: str, path: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        raise CannotEdit(f"{path} is {codec}, which has no {text[error.start]!r}") from error


def _content(context: ToolContext, raw: bytes) -> Content:
    if len(raw) <= INLINE_MAX:
        return Inline.of(raw)
    with context.stage.blob_cache.drafting() as draft:
        draft.write(raw)
        return context.cached(draft)


def _places(text: str, old: str) -> list[int]:
    """Return the line numbers of the first places."""
    lines: list[int] = []
    at, line, before = text.find(old), 1, 0
    while at >= 0 and len(lines) < PLACES:
        line += text.count("\n", before, at)
        lines.append(line)
        before, at = at, text.find(old, at + len(old))
    return lines


def _nearest(text: str, old: str) -> str:
    """Return the lines that are most like the first line of the missing text, as the end of a sentence."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")[:CANDIDATE_MOST]
    lines = [line.strip()[:CANDIDATE_MOST] for line in text.splitlines()[:COMPARED]]
    if not wanted:
        return ""
    found = process.extract(wanted, lines, scorer=fuzz.ratio, limit=CANDIDATES, score_cutoff=60)
    if not found:
        return "; read the file to see what it holds"
    near = "; ".join(f"line {place + 1}: {line!r}" for line, _, place in sorted(found, key=lambda each: each[2]))
    return f". The nearest lines are {near}"
