"""SVG of a stranger's making: keep the elements that only draw, and measure what a reader sees.

Scripts, foreign objects, animations, links, event handlers and references to anything outside the file are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from xml.parsers import expat

from libs.multimodal.renderer.labels import Label, Measure

SVG, XLINK, XML = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/XML/1998/namespace"
DRAWN = {"path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "image", "use"}
UNSEEN = {"defs", "marker", "clipPath", "mask", "pattern", "symbol", "linearGradient", "radialGradient", "filter"}
SILENT = {"title", "desc"}
EFFECTS = {"Blend", "ColorMatrix", "ComponentTransfer", "Composite", "DropShadow", "Flood", "FuncA", "FuncB", "FuncG"}
MORE = {"FuncR", "GaussianBlur", "Merge", "MergeNode", "Morphology", "Offset"}
KEPT = {"svg", "g", "a", "switch", "tspan", "textPath", "stop", "style"} | DRAWN | UNSEEN | SILENT
KEPT |= {f"fe{name}" for name in EFFECTS | MORE}
FOREIGN = re.compile(
    r"url\((?!\s*['\"]?#)|@import|@font-face|image-set|\bimage\(|\bsrc\(|expression\(|javascript:|\\", re.I
)
"""Text of a style or attribute that refers out of the file, or may hide that by an escape."""
FACE = re.compile(r"@font-face\s{0,9}\{[^}]*\}", re.I)
"""A font inside the file; its letters are drawn with a font of the machine that shows it."""
FAMILY = re.compile(r"(font-family\s{0,9}:\s{0,9})([^;{}!]{1,500})", re.I)
FAMILIES = "Liberation Sans, Arial, sans-serif"
"""Follow each font, since a program that lacks all fonts of a text leaves the text out."""
PICTURE = re.compile(r"data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/=\s]*")
DIGITS = r"(\d{1,9}(?:\.\d{0,12})?|\.\d{1,12})"
SIZE = re.compile(rf"font-size\s{{0,9}}:\s{{0,9}}{DIGITS}(px|pt|em|rem|%)?", re.I)
NUMBER = re.compile(rf"\s{{0,9}}{DIGITS}\s{{0,9}}(px|pt|em|rem|%|in|cm|mm)?")
SCALE = re.compile(rf"(?:scale|matrix)\(\s{{0,9}}-?{DIGITS}")
PIXELS = {"px": 1.0, "pt": 4 / 3, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4}
ELEMENTS_MOST, DEEPEST = 150_000, 200
SEVERAL = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
TEXTS_MOST, RULES_MOST = 2_000, 400


class Unsafe(Exception):
    """The file is not an SVG that can be cleaned; the message says why."""


@dataclass
class Drawing:
    """A cleaned SVG. `smallest` is the size of its smallest text and `width`, `height` its size, in CSS pixels."""

    data: bytes = b""
    width: float = 0.0
    height: float = 0.0
    marks: int = 0
    smallest: float = 0.0
    texts: list[str] = field(default_factory=list)


def clean(raw: bytes, measure: Measure | None = None) -> Drawing:
    """Return the cleaned and measured drawing. With `measure` the words of foreign objects are kept as text.

    Raises:
        Unsafe: it is no SVG, or too large.
    """
    cleaner = _Cleaner(measure)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = cleaner.began, cleaner.ended
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = cleaner.said, cleaner.doctype
    parser.buffer_text = True
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        if error.code == SEVERAL:
            raise Unsafe("it is more than one drawing; leave one diagram in the source") from error
        raise Unsafe(f"it is not well-formed XML ({error})") from error
    return cleaner.drawing()


@dataclass
class _Open:
    name: str
    scale: float
    size: float
    unseen: bool
    data: bool


class _Cleaner:
    def __init__(self, measure: Measure | None) -> None:
        self._measure = measure
        self._label: Label | None = None
        self._out: list[str] = []
        self._open: list[_Open] = []
        self._skipping = self._elements = 0
        self._sizes: dict[str, tuple[float, str]] = {}
        self._style: list[str] = []
        self._text: list[str] = []
        self._found = Drawing()
        self._data_marks = 0
        self._charted = False
        self._smallest = float("inf")
        self._shown = 1.0

    def doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            raise Unsafe("it has an internal DTD, which may expand to gigabytes or read files")

    def began(self, tag: str, attributes: Mapping[str, str]) -> None:
        space, _, name = tag.rpartition(" ")
        self._elements += 1
        if self._elements > ELEMENTS_MOST:
            raise Unsafe(f"it has more than {ELEMENTS_MOST:,} elements; draw less")
        if self._label is not None:
            self._label.began(name, attributes)
            return
        if self._measure and self._open and not self._skipping and (space, name) == (SVG, "foreignObject"):
            self._label = Label(attributes, self._measure)
            return
        if self._skipping or space != SVG or name not in KEPT or (not self._open and name != "svg"):
            self._skipping += 1
            return
        if len(self._open) >= DEEPEST:
            raise Unsafe(f"it is nested more than {DEEPEST} levels deep")
        kept = {key: value for key, value in map(_named, attributes.items()) if _safe(name, key, value)}
        above = self._open[-1] if self._open else _Open("", 1.0, 16.0, False, False)
        if not self._open:
            kept = {"font-family": FAMILIES} | self._root(kept)
        if "font-family" in kept:
            kept["font-family"] = _known(kept["font-family"])
        if "style" in kept:
            kept["style"] = _families(kept["style"])
        classes = kept.get("class", "").split()
        unseen = above.unseen or name in UNSEEN or name in SILENT
        data = above.data or "role-mark" in classes
        self._charted = self._charted or data
        size, scale = self._size(name, kept, above.size), above.scale * _scaled(kept.get("transform", ""))
        self._open.append(_Open(name, scale, size, unseen, data))
        if name in DRAWN and not unseen and kept.get("d", "M") and kept.get("fill-opacity") != "0":
            self._found.marks += 1
            self._data_marks += data
        written = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
        self._out.append(f"<{'g' if name == 'a' else name}{written}>")

    def ended(self, tag: str) -> None:
        if self._label is not None:
            if self._label.ended():
                self._labelled(self._label)
                self._label = None
            return
        if self._skipping:
            self._skipping -= 1
            return
        name = self._open.pop().name
        if name == "style":
            self._styled("".join(self._style))
            self._style = []
        elif name == "tspan" and self._text:
            self._text.append(" ")
        elif name == "text":
            self._texted(" ".join("".join(self._text).split()))
            self._text = []
        self._out.append(f"</{'g' if name == 'a' else name}>")

    def said(self, words: str) -> None:
        if self._label is not None:
            self._label.said(words)
            return
        if self._skipping or not self._open:
            return
        inside = self._open[-1]
        if inside.name == "style":
            self._style.append(words)
            return
        self._out.append(escape(words, quote=False))
        if inside.name in ("text", "tspan", "textPath") and words.strip() and not inside.unseen:
            self._text.append(words)
            self._smallest = min(self._smallest, inside.size * inside.scale)
        elif self._text:
            self._text.append(" ")

    def _labelled(self, label: Label) -> None:
        if text := label.text:
            self._out.append(label.drawn())
            self._texted(text)
            self._smallest = min(self._smallest, label.size * self._open[-1].scale)
            self._found.marks += 1

    def _texted(self, text: str) -> None:
        if text and len(self._found.texts) < TEXTS_MOST:
            self._found.texts.append(text[:500])

    def drawing(self) -> Drawing:
        found = self._found
        if not found.width:
            raise Unsafe("its root is not an element svg of SVG")
        found.data = "".join(self._out).encode()
        found.smallest = 0.0 if self._smallest == float("inf") else self._smallest * self._shown
        # In a chart the axes are no marks: a chart without data has none.
        found.marks = self._data_marks if self._charted else found.marks
        return found

    def _root(self, kept: dict[str, str]) -> dict[str, str]:
        """Give the root a size in pixels, which Mermaid leaves to the page."""
        try:
            box = [float(part) for part in re.split(r"[\s,]+", kept.get("viewBox", "").strip())]
        except ValueError:
            box = []
        if len(box) != 4 or not (0 < box[2] < 1e6 and 0 < box[3] < 1e6):
            box = []
        width, height = _pixels(kept.get("width", "")), _pixels(kept.get("height", ""))
        if not width or not height:
            if not box:
                raise Unsafe("it has neither a size nor a viewBox")
            width, height = (width, width * box[3] / box[2]) if width else (box[2], box[3])
        self._shown = width / box[2] if box else 1.0
        self._found.width, self._found.height = width, height
        size = {"width": f"{width:g}", "height": f"{height:g}"}
        return {"xmlns": SVG, "xmlns:xlink": XLINK} | kept | size

    def _styled(self, css: str) -> None:
        css = _families(FACE.sub("", css))
        if FOREIGN.search(css):
            return
        self._out.append(escape(css, quote=False))
        for rule in css.split("}")[:RULES_MOST]:
            selectors, _, body = rule.rpartition("{")
            if found := SIZE.search(body):
                for selector in selectors.split(","):
                    simple = re.split(r"[:>\[]", (selector.split() or [""])[-1])[0]
                    tag, dot, name = simple.rpartition(".")
                    self._sizes[f".{name}" if dot else tag or name] = float(found[1]), found[2] or "px"

    def _size(self, name: str, kept: Mapping[str, str], above: float) -> float:
        own = SIZE.search(kept.get("style", ""))
        if own:
            return _em(float(own[1]), own[2] or "px", above)
        keys = [f".{one}" for one in kept.get("class", "").split()] + [f"#{kept.get('id', '')}", name]
        for key in keys:
            if key in self._sizes:
                return _em(*self._sizes[key], above)
        if given := NUMBER.fullmatch(kept.get("font-size", "")):
            return _em(float(given[1]), given[2] or "px", above)
        return above


def _named(pair: tuple[str, str]) -> tuple[str, str]:
    space, _, name = pair[0].rpartition(" ")
    return {"": name, XLINK: f"xlink:{name}", XML: f"xml:{name}"}.get(space, ""), pair[1]


def _safe(element: str, key: str, value: str) -> bool:
    if not key or key.lower().startswith("on") or key.startswith("xml:base"):
        return False
    if key in ("href", "xlink:href"):
        return element != "a" and (value.startswith("#") or (element == "image" and bool(PICTURE.fullmatch(value))))
    if key.startswith("xlink:"):
        return False
    return not FOREIGN.search(value) if key in ("style", "class", "id") or "(" in value else True


def _families(css: str) -> str:
    return FAMILY.sub(lambda found: found[1] + _known(found[2]), css)


def _known(families: str) -> str:
    """Return font families with the ones of every machine behind them."""
    if families.rstrip().endswith(("serif", "monospace", "inherit")):
        return families
    return f"{families}, {'monospace' if 'mono' in families.lower() else FAMILIES}"


def _pixels(text: str) -> float:
    found = NUMBER.fullmatch(text)
    if found is None or (found[2] or "px") not in PIXELS:
        return 0.0
    value = float(found[1]) * PIXELS[found[2] or "px"]
    return value if 0 < value < 1e6 else 0.0


def _em(value: float, unit: str, above: float) -> float:
    match unit.lower():
        case "em":
            return value * above
        case "%":
            return value * above / 100
        case "rem":
            return value * 16
        case other:
            # A size without the root's unit is in user units, as are points inside a drawing.
            return value * PIXELS.get(other, 1.0)


def _scaled(transform: str) -> float:
    scale = 1.0
    for factor in SCALE.findall(transform[:2000]):
        scale *= float(factor) or 1.0
    return scale
