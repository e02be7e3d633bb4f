"""The process: `python -I __main__.py KIND` reads one request on its standard input and writes its answer.

Libraries are imported before the walls are set, and nothing of the request is read before they are.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import category

if not __package__:
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from libs.multimodal.renderer import svg
from libs.multimodal.renderer.confine import confine
from libs.multimodal.renderer.frames import packed, unpacked
from libs.multimodal.renderer.labels import Measure, is_wide

Answer = tuple[dict[str, Any], list[bytes]]
SCALE_MOST = 2.0
"""A PNG of a drawing has at most this many pixels for each of its own, for sharp text."""
PIXELS_MOST = 40_000_000
"""Pixels of a picture that is decoded: a small file may claim any number."""
FONT = "DejaVu Sans, Liberation Sans, Arial, sans-serif"
PAGES_MOST, PARTS_MOST = 500, 20_000
WITHOUT_FIGURES = frozenset(("/P", "/Table", "/TOC", "/H1", "/H2", "/H3", "/H4", "/H5", "/H6"))
"""The parts of a tagged PDF that hold no figures; the other ones are looked through."""
BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""The errors of libraries on unexpected input."""


class Refused(Exception):
    """The request cannot be done; the message says why, and how to mend it."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


# Diagrams

MERMAID_MOST = 50_000
HTML_IMAGE = re.compile(r"<\s{0,9}img\b", re.I)
LINE = re.compile(r"(?:on|at|near|in) line\s{1,3}(\d{1,6})")
QUOTED = re.compile(r'"([^"\n]{1,200})"')
SECURE = ("secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "htmlLabels", "flowchart", "themeCSS")
"""Settings that a directive in the source cannot change."""


def mermaid(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    import mermaidx

    settings = {
        "securityLevel": "strict",
        "secure": SECURE,
        "maxTextSize": MERMAID_MOST,
        "maxEdges": 500,
        "fontFamily": FONT,
    }
    source = str(head["source"])
    if HTML_IMAGE.search(source):
        raise Refused("a label has an HTML <img>, and pictures are not loaded; leave it out")
    if len(source) > MERMAID_MOST:
        raise Refused(f"Mermaid reads at most {MERMAID_MOST:,} characters; draw fewer nodes")
    try:
        drawn = mermaidx.render(source, config=settings).svg()
    except BROKEN as error:
        raise _wrong("Mermaid", str(error)) from error
    labels = [] if source.lstrip().startswith("%%{") else [_plain(label) for label in QUOTED.findall(source)]
    return _drawing(drawn.encode(), head, labels, f"mermaidx {mermaidx.__version__}", _width)


def _width(text: str, size: float, bold: bool) -> float:
    """Measure with the font that Mermaid's layout is made with. Wide letters, such as Chinese, are not in it."""
    from mermaidx.font_metrics import get_font

    narrow = "".join(letter for letter in text if not is_wide(letter))
    width = float(get_font("bold" if bold else "normal").measure(narrow, size)["width"])
    return width + (len(text) - len(narrow)) * size


READS = frozenset(["image", "imagepath", "shapefile", "fontpath", "stylesheet", "_background"])
"""Attributes of Graphviz that name a file or page."""
BARE = re.compile(r'label\s{0,9}=\s{0,9}""')
NODES_MOST, EDGES_MOST = 1_000, 3_000


def dot(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    import pygraphviz

    source = str(head["source"])
    if HTML_IMAGE.search(source):
        raise Refused("an HTML label has an <img>, and files are not read; leave it out")
    graph = pygraphviz.AGraph()
    with _errors() as said, open(os.memfd_create("source"), "w+b") as given:  # noqa: PTH123
        given.write(source.encode())
        given.seek(0)
        try:
            graph.read(given)
        except BROKEN as error:
            raise _wrong("Graphviz", said() or str(error)) from error
    for attributes in (graph.graph_attr, graph.node_attr, graph.edge_attr):
        declared = set(attributes)
        if found := sorted(READS & declared):
            raise Refused(f"the attribute {found[0]} reads a file; leave it out")
        if "fontname" not in declared:
            attributes["fontname"] = "DejaVu Sans"
    nodes = list(graph.nodes())
    if len(nodes) > NODES_MOST or graph.number_of_edges() > EDGES_MOST:
        raise Refused(f"it has more than {NODES_MOST:,} nodes or {EDGES_MOST:,} edges; draw fewer nodes")
    if not BARE.search(source):
        # The library's reader gives nodes without a label an empty one, where Graphviz shows their names.
        for node in nodes:
            if node.attr.get("label") == "":
                node.attr["label"] = "\\N"
    labels = [str(node) if (label := node.attr.get("label")) in (None, "", "\\N") else label for node in nodes]
    with _errors() as said:
        try:
            drawn = graph.draw(format="svg", prog="dot")
        except BROKEN as error:
            raise _wrong("Graphviz", said() or str(error)) from error
    plain = [_plain(label) for label in labels if "<" not in label]
    return _drawing(drawn, head, plain, f"Graphviz by pygraphviz {pygraphviz.__version__}")


class _errors:
    """Collects what a native library writes to standard error."""

    def __enter__(self) -> Callable[[], str]:
        self._kept = os.dup(2)
        read, write = os.pipe()
        os.set_blocking(write, False)
        os.set_blocking(read, False)
        os.dup2(write, 2)
        os.close(write)
        self._read = read
        return self._said

    def _said(self) -> str:
        try:
            return os.read(self._read, 2000).decode(errors="replace")
        except BlockingIOError:
            return ""

    def __exit__(self, *error: object) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)
        os.close(self._read)


def _wrong(language: str, told: str) -> Refused:
    """Return the error of a parser in one line, with the line of the source that it names."""
    found = LINE.search(told)
    line = int(found[1]) if found else None
    return Refused(f"{language} cannot read the source: {' '.join(told.split())[:400]}", line)


def _plain(label: str) -> str:
    """Return a label's words without its line breaks and markup."""
    label = re.sub(r"<br\s{0,3}/?>|\\[nlr]", " ", label).replace("`", "").replace("**", "")
    return " ".join(label.split())


# Charts


def vega(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    import vl_convert

    try:
        spec = json.loads(head["source"])
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise Refused(f"the chart's specification is not JSON: {error}", line) from error
    if not isinstance(spec, dict):
        raise Refused("the chart's specification is not a JSON object")
    titles: list[str] = []
    _inline(spec, "spec", titles, 0)
    try:
        drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=False)
    except BROKEN as error:
        raise Refused(f"Vega-Lite cannot draw the chart: {' '.join(str(error).split())[:400]}") from error
    return _drawing(drawn.encode(), head, titles, f"vega-lite by vl-convert {_version('vl-convert-python')}")


def _inline(part: Any, path: str, titles: list[str], depth: int) -> None:
    """Refuse each address of data, pictures and links; collect titles."""
    if depth > 60:
        raise Refused("the chart's specification is nested more than 60 levels deep")
    if isinstance(part, dict):
        for name, inner in part.items():
            # In the rows of data these are names of columns.
            if name == "values" and isinstance(inner, list) and depth < 60 and path.endswith("data"):
                continue
            if name in ("url", "href") or (name in ("type", "mark") and inner == "image"):
                raise Refused(f"{path}.{name} refers to an address; put the data into {path}.values instead")
            if name in ("title", "text") and isinstance(inner, str) and inner:
                titles.append(_plain(inner))
            _inline(inner, f"{path}.{name}", titles, depth + 1)
    elif isinstance(part, list):
        for n, inner in enumerate(part):
            _inline(inner, f"{path}[{n}]", titles, depth + 1)


# SVG


def clean(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    """Clean an SVG that another program drew."""
    return _drawing(blobs[0], head, [], str(head.get("model", "")), _about)


def _about(text: str, size: float, bold: bool) -> float:
    """Estimate a width with a font that is not here."""
    return size * sum(1.0 if is_wide(letter) else 0.5 for letter in text)


def _drawing(
    raw: bytes, head: Mapping[str, Any], labels: Sequence[str], model: str, measure: Measure | None = None
) -> Answer:
    drawn = _cleaned(raw, measure)
    side, form = float(head["side"]), head["format"]
    told: dict[str, Any] = {
        "model": model,
        "measured": _measured(drawn),
        "labels": list(dict.fromkeys(head.get("labels") or labels))[:300],
    }
    shown = _flat("".join(drawn.texts))
    told["measured"]["missing"] = [label for label in told["labels"] if _flat(label) not in shown][:20]
    told["measured"] |= _undrawn("".join(drawn.texts))
    if form == "svg":
        return {**told, "width": round(drawn.width), "height": round(drawn.height)}, [drawn.data]
    png = _raster(drawn, side)
    width, height = _size(png)
    return {**told, "width": width, "height": height}, [png]


def _cleaned(raw: bytes, measure: Measure | None = None) -> svg.Drawing:
    try:
        return svg.clean(raw, measure)
    except svg.Unsafe as error:
        raise Refused(str(error)) from error


def _measured(drawn: svg.Drawing) -> dict[str, Any]:
    return {
        "marks": drawn.marks,
        "texts": len(drawn.texts),
        "smallest": round(drawn.smallest, 2),
        "width": round(drawn.width, 1),
        "height": round(drawn.height, 1),
    }


def _flat(text: str) -> str:
    return "".join(text.split()).casefold()


def _raster(drawn: svg.Drawing, side: float) -> bytes:
    import vl_convert

    scale = min(SCALE_MOST, side / max(drawn.width, drawn.height))
    return bytes(vl_convert.svg_to_png(drawn.data.decode(), scale=scale, ppi=72))


NO_LETTER = "\U0010fffe"
"""A code that Unicode gives to no letter: it shows what the rasteriser draws without a font."""
COMMON_MOST = "\u024f"
"""Fonts that come with the rasteriser have all letters up to this one."""
CELL, CELLS_WIDE, LETTERS_MOST = 24, 40, 1_000


def _undrawn(text: str) -> dict[str, Any]:
    """Return the letters that no font here has, and their share in the text."""
    import vl_convert
    from PIL import Image

    counted = Counter(text)
    # Marks and invisible codes have no picture of their own.
    rare = [one for one in counted if one > COMMON_MOST and category(one) not in ("Mn", "Mc", "Me", "Cf", "Zs", "Cs")]
    if not (rare := rare[:LETTERS_MOST]):
        return {}
    places = [(n % CELLS_WIDE * CELL, n // CELLS_WIDE * CELL) for n in range(len(rare) + 1)]
    cells = "".join(
        f'<text x="{x + 4}" y="{y + 18}">{escape(one)}</text>'
        for (x, y), one in zip(places, (NO_LETTER, *rare), strict=True)
    )
    sheet = (
        f'<svg xmlns="{svg.SVG}" width="{CELLS_WIDE * CELL}" height="{places[-1][1] + CELL}" font-size="14"'
        f' font-family="{FONT}">{cells}</svg>'
    )
    picture = Image.open(BytesIO(vl_convert.svg_to_png(sheet, scale=1, ppi=72))).convert("RGBA")
    seen = [picture.crop((x, y, x + CELL, y + CELL)).tobytes() for x, y in places]
    lacking = [one for one, drawn in zip(rare, seen[1:], strict=True) if drawn == seen[0]]
    share = sum(counted[one] for one in lacking) / max(1, len("".join(text.split())))
    return {"undrawn": "".join(lacking[:200]), "undrawn_share": round(share, 3)} if lacking else {}


def letters(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    """Find the letters of a text that no font here has."""
    return _undrawn(str(head["text"])), []


# Pictures


def arrange(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    """Put pictures into a row, a column or a grid on white, none enlarged."""
    import PIL
    from PIL import Image

    layout, gap = head["layout"], head["gap"]
    pictures = [_decoded(blob) for blob in blobs]
    columns = {"row": len(pictures), "column": 1}.get(layout, head["columns"])
    # In a row all have the height of the lowest, in a column the width of the narrowest: so nothing is enlarged.
    if len(pictures) > 1 and layout == "row":
        height = min(one.height for one in pictures)
        pictures = [one.resize((max(1, one.width * height // one.height), height)) for one in pictures]
    elif len(pictures) > 1 and layout == "column":
        width = min(one.width for one in pictures)
        pictures = [one.resize((width, max(1, one.height * width // one.width))) for one in pictures]
    rows = [pictures[at : at + columns] for at in range(0, len(pictures), columns)]
    widths = [max(row[n].width for row in rows if n < len(row)) for n in range(min(columns, len(pictures)))]
    heights = [max(one.height for one in row) for row in rows]
    size = sum(widths) + gap * (len(widths) - 1), sum(heights) + gap * (len(heights) - 1)
    if size[0] * size[1] > PIXELS_MOST:
        raise Refused(f"together they have {size[0]} × {size[1]} pixels, more than {PIXELS_MOST:,}; take fewer")
    sheet, top = Image.new("RGB", size, "white"), 0
    for row, height in zip(rows, heights, strict=True):
        left = 0
        for one, width in zip(row, widths, strict=False):
            sheet.paste(one, (left + (width - one.width) // 2, top + (height - one.height) // 2), one)
            left += width + gap
        top += height + gap
    sheet.thumbnail((head["side"], head["side"]))
    written = BytesIO()
    sheet.save(written, {"png": "PNG", "jpeg": "JPEG", "webp": "WEBP"}[head["format"]])
    told = {"width": sheet.width, "height": sheet.height, "model": f"Pillow {PIL.__version__}", "labels": []}
    return told, [written.getvalue()]


def _decoded(raw: bytes) -> Any:
    """Return a picture with transparency, turned the way it is meant to be seen. An SVG is rasterised."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if raw.lstrip()[:1] == b"<":
        raw = _raster(_cleaned(raw), 4096)
    Image.MAX_IMAGE_PIXELS = None
    try:
        found = Image.open(BytesIO(raw), formats=("PNG", "JPEG", "GIF", "WEBP"))
        if found.width * found.height > PIXELS_MOST:
            raise Refused(f"its {found.width} × {found.height} pixels are more than {PIXELS_MOST:,}; make it smaller")
        return ImageOps.exif_transpose(found).convert("RGBA")
    except UnidentifiedImageError:
        raise Refused("it is not a PNG, JPEG, GIF, WebP or SVG picture") from None


def _size(png: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(BytesIO(png)) as found:
        return found.size


# Measures for the critic


def inspect(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    """Measure a picture: its size, and the share of its pixels that differ from the background."""
    from PIL import Image, ImageChops

    told: dict[str, Any] = {}
    raw = blobs[0]
    if head["format"] == "svg":
        drawn = _cleaned(raw)
        told = _measured(drawn)
        shown = _flat("".join(drawn.texts))
        told["missing"] = [label for label in head["labels"] if _flat(label) not in shown][:20]
        raw = _raster(drawn, 1000)
    picture = _decoded(raw)
    told.setdefault("width", picture.width)
    told.setdefault("height", picture.height)
    picture.thumbnail((1000, 1000))
    flat = Image.new("RGB", picture.size, "white")
    flat.paste(picture, mask=picture)
    background = Image.new("RGB", flat.size, flat.getpixel((0, 0)))
    seen = ImageChops.difference(flat, background).convert("L").histogram()
    return {**told, "ink": round(sum(seen[8:]) / sum(seen), 5)}, []


def pdf(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Answer:
    """Count the pages of a PDF and those without text and picture; find the labels and figures that it lacks."""
    import pypdf

    try:
        reader = pypdf.PdfReader(BytesIO(blobs[0]))
        pages = len(reader.pages)
        empty, words = [], []
        for number, page in enumerate(reader.pages[:PAGES_MOST], 1):
            text = page.extract_text() or ""
            words.append(text)
            if not text.strip() and "/XObject" not in (page.get("/Resources") or {}):
                empty.append(number)
        unshown = _unshown(reader, head["figures"])
    except (*BROKEN, pypdf.errors.PyPdfError) as error:
        raise Refused(f"the PDF cannot be read: {' '.join(str(error).split())[:200]}") from error
    shown = _flat("".join(words))
    missing = [label for label in head["labels"] if _flat(label) not in shown][:20]
    return {"pages": pages, "empty": empty[:20], "missing": missing, "unshown": unshown}, []


def _unshown(reader: Any, figures: Sequence[str]) -> list[int]:
    """Return the numbers of the descriptions that no figure has; none if the PDF has no tags, or too many."""
    if (tags := reader.trailer["/Root"].get("/StructTreeRoot")) is None:
        return []
    left, todo = Counter(map(_bare, figures)), [tags]
    for _ in range(PARTS_MOST):
        if not todo or not +left:
            return [n for n, each in enumerate(figures) if left[_bare(each)] > 0][:20]
        part = todo.pop()
        part = part.get_object() if hasattr(part, "get_object") else part
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict) and part.get("/S") not in WITHOUT_FIGURES:
            left[_bare(str(part.get("/Alt", "")))] -= part.get("/S") == "/Figure"
            todo.append(part.get("/K"))
    return []


def _bare(text: str) -> str:
    return "".join(filter(str.isprintable, _flat(text)))


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


KINDS: Mapping[str, tuple[Callable[[Mapping[str, Any], Sequence[bytes]], Answer], tuple[str, ...]]] = {
    "mermaid": (mermaid, ("mermaidx", "vl_convert", "PIL.Image")),
    "dot": (dot, ("pygraphviz", "vl_convert", "PIL.Image")),
    "vega": (vega, ("vl_convert", "PIL.Image", "importlib.metadata")),
    "clean": (clean, ("vl_convert", "PIL.Image")),
    "letters": (letters, ("vl_convert", "PIL.Image")),
    "arrange": (arrange, ("vl_convert", "PIL.Image")),
    "inspect": (inspect, ("vl_convert", "PIL.Image", "PIL.ImageChops")),
    "pdf": (pdf, ("pypdf",)),
}


def main(kind: str, limits: Mapping[str, Any]) -> None:
    work, libraries = KINDS[kind]
    for library in libraries:
        import_module(library)
    filters = [base64.b64decode(one) for one in limits["filters"]]
    held = confine(limits["memory"], limits["seconds"], limits["output"], filters)
    blobs: list[bytes] = []
    try:
        head, given = unpacked(sys.stdin.buffer.read())
        told, blobs = work(head, given)
    except Refused as error:
        told = {"refused": str(error), "line": error.line}
    except MemoryError:
        told = {"refused": "it takes too much memory; make it smaller", "line": None}
    except BROKEN as error:
        told = {"refused": f"it cannot be drawn: {' '.join(str(error).split())[:300]}", "line": None}
    sys.stdout.buffer.write(packed({**told, "walls": held}, blobs))
    sys.stdout.buffer.flush()
    # Threads of native libraries are not waited for.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
