"""Explaining: what one file or folder is, by its name and by its bytes, and what is in it (S4-59)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from libs.documents import FORMS
from libs.errors import Rejected
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import NoText, decoded
from services.tool_executor.tools.parsing import MAILS, PARSERS, headings_of, parsed, read
from services.tool_executor.tools.tool_context import Args, ToolContext, ToolOutput, human, many
from services.tool_executor.tools.unpacking import form_of, listed

SHOWN = 20
LOOK = 64 * 1024
KINDS: Mapping[str, str] = {
    ending: kind
    for kind, endings in {
        "PNG image": "png",
        "JPEG image": "jpg jpeg",
        "GIF image": "gif",
        "WebP image": "webp",
        "TIFF image": "tif tiff",
        "BMP image": "bmp",
        "SVG image": "svg",
        "PDF document": "pdf",
        "zip archive": "zip jar",
        "tar archive": "tar",
        "gzip archive": "gz tgz",
        "bzip2 archive": "bz2",
        "xz archive": "xz",
        "7z archive": "7z",
        "RAR archive": "rar",
        "Word document": "docx",
        "Excel workbook": "xlsx",
        "PowerPoint presentation": "pptx",
        "OpenDocument text": "odt",
        "OpenDocument spreadsheet": "ods",
        "OpenDocument presentation": "odp",
        "e-book": "epub",
        "MP3 audio": "mp3",
        "WAV audio": "wav",
        "FLAC audio": "flac",
        "Ogg audio": "ogg opus",
        "MP4 video": "mp4 m4v m4a mov",
        "Matroska video": "mkv webm",
        "AVI video": "avi",
        "SQLite database": "sqlite sqlite3 db",
        "program": "exe dll so elf bin",
        "CSV table": "csv",
        "TSV table": "tsv",
        "JSON data": "json",
        "JSON Lines data": "jsonl ndjson",
        "YAML data": "yaml yml",
        "TOML data": "toml",
        "INI settings": "ini cfg",
        "XML document": "xml",
        "web page": "html htm xhtml",
        "Markdown text": "md markdown",
        "mail": "eml",
        "plain text": "txt text log",
        "source code": "py js ts tsx jsx java c h cpp hpp rs go rb php sh sql css",
    }.items()
    for ending in (f".{name}" for name in endings.split())
}
MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"%PDF-", "PDF document"),
    (0, b"PK\x03\x04", "zip archive"),
    (0, b"PK\x05\x06", "zip archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (0, b"ID3", "MP3 audio"),
    (8, b"WAVE", "WAV audio"),
    (8, b"AVI ", "AVI video"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"OggS", "Ogg audio"),
    (4, b"ftyp", "MP4 video"),
    (0, b"\x1aE\xdf\xa3", "Matroska video"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"\x7fELF", "program"),
    (0, b"MZ", "program"),
)
"""Offset, bytes, and what they are the signature of (file(1) knows more)."""
INSIDE_ZIP = frozenset(KINDS[ending] for ending in FORMS if ending != ".pdf")
TEXT = "text"
OTHERS = {"repository": "repository", "bundle": "folder of dependencies, a cache or an application"}


def explain_node(context: ToolContext, args: Args) -> ToolOutput:
    """Describe a file or folder: its type, size, date and contents."""
    node = context.stage.get_metadata(args["path"])
    about: dict[str, Any] = {
        "path": node.path,
        "node_kind": node.kind,
        "size": node.size,
        "modified_at": node.modified_at.isoformat() if node.modified_at else None,
    }
    if node.kind == "directory":
        return _folder(context, node, about)
    if node.kind != "file":
        kind = OTHERS.get(node.kind, "link or device")
        about |= {"kind": kind, "looks_like": "", "agrees": True, "holds": {}}
        return ToolOutput(about, f"{node.path} is a {kind}; what is in it was not read.", reads=(node.path,))
    head = context.stage.read_content(node.path, LOOK).data
    kind, looks = KINDS.get(node.extension, ""), looks_like(head, whole=node.size <= LOOK)
    agrees = fits(kind, looks)
    about |= {"kind": kind or looks, "looks_like": looks, "agrees": agrees}
    about["holds"] = _inside(context, node, head, kind if agrees else looks)
    doubt = "" if agrees else f", but its bytes are those of {looks}"
    return ToolOutput(about, f"{node.path}: {about['kind']}{doubt}, {human(node.size)}.", reads=(node.path,))


def looks_like(head: bytes, *, whole: bool) -> str:
    """Return the type that the first bytes show."""
    if not head:
        return "empty"
    found = next((kind for at, sign, kind in MAGIC if head[at : at + len(sign)] == sign), "")
    if found:
        return found
    try:
        decoded(head, whole=whole)
    except NoText:
        return "binary data"
    return TEXT


def fits(kind: str, looks: str) -> bool:
    """Return whether the bytes can be of the type that the name says. An office document is a zip."""
    if not kind or looks == "empty" or kind == looks:
        return True
    if looks == TEXT:
        return not any(kind == known for _, _, known in MAGIC) and kind not in INSIDE_ZIP
    if looks == "zip archive":
        return kind in INSIDE_ZIP
    # Of these some have no signature, or one of several.
    return looks == "binary data" and kind in ("MP3 audio", "BMP image", "tar archive", "program")


def _folder(context: ToolContext, node: Node, about: dict[str, Any]) -> ToolOutput:
    found = context.stage.totals(node.path)
    children = [child for child in context.stage.get_children(node.path) if not child.left_alone]
    kinds: dict[str, int] = {}
    for inside in context.stage.walk(node.path):
        if inside.kind == "file" and not inside.left_alone:
            kind = context.categories.category_of(inside.name)
            kinds[kind] = kinds.get(kind, 0) + 1
    most = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    holds = {
        "files": found.files,
        "directories": found.directories,
        "kinds": dict(most),
        "names": [f"{child.name}/" if child.kind == "directory" else child.name for child in children[:SHOWN]],
    }
    about |= {"kind": "folder", "looks_like": "folder", "agrees": True, "size": found.size, "holds": holds}
    summary = f"{node.path}: a folder of {many(found.files, 'file')}, {human(found.size)}."
    return ToolOutput(about, summary, reads=(node.path,))


def _inside(context: ToolContext, node: Node, head: bytes, kind: str) -> dict[str, Any]:
    """Describe the content; unreadable content gives nothing."""
    with suppress(Rejected):
        if kind.endswith("image") and (size := dimensions(head)):
            return {"width": size[0], "height": size[1]}
        if node.extension in FORMS and kind == KINDS[node.extension]:
            return _written(context, node)
        if form_of(head) and kind not in INSIDE_ZIP:
            with context.opened(node.path) as stream:
                files = [entry.path for entry in listed(context, stream, node.name) if not entry.directory]
            return {"files": len(files), "names": files[:SHOWN]}
        if looks_like(head, whole=node.size <= LOOK) == TEXT:
            return _said(context, node, head)
    return {}


def _written(context: ToolContext, node: Node) -> dict[str, Any]:
    found = read(context, node)
    about = {"format": found.format, "fields": list(found.fields[:SHOWN]), "rows": found.rows, "unit": found.unit}
    return about | {"begins": " ".join(found.text[:200].split())}


def _said(context: ToolContext, node: Node, head: bytes) -> dict[str, Any]:
    ending = PurePosixPath(node.name).suffix.lower()
    text = decoded(head, whole=node.size <= LOOK)
    about: dict[str, Any] = {"encoding": text.encoding}
    if node.size <= LOOK:
        about["lines"] = len(text.text.splitlines())
    if ending in {*PARSERS, *MAILS} and node.size <= context.limits.read_bytes_most:
        with suppress(Rejected):
            found = parsed(node.name, context.stage.read_content(node.path, context.limits.read_bytes_most).data)
            return about | {"format": found.format, "fields": list(found.fields[:SHOWN]), "rows": found.rows}
    headings = list(headings_of(text.text))[:SHOWN] if ending in ("", ".txt") else []
    first = next((line.strip() for line in text.text.splitlines() if line.strip()), "")
    return about | ({"headings": headings} if headings else {}) | {"begins": first[:200]}


def dimensions(head: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels, from the header of a PNG, GIF or JPEG."""
    if head.startswith(b"\x89PNG") and len(head) >= 24:
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    if head.startswith(b"GIF8") and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return _jpeg(head) if head.startswith(b"\xff\xd8") else None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """From the frame's marker (ITU T.81, B.2.2), passing over the segments before it."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        mark, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(head[at + 7 : at + 9], "big"), int.from_bytes(head[at + 5 : at + 7], "big")
        at += 2 + max(length, 2)
    return None
