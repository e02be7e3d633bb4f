"""The child: `python -I composing_child.py` puts sections and pictures together as PDF, HTML or Markdown.

It imports no module of Suma. It reads a JSON line and the pictures from its input, and writes a JSON line and the
document. Text from strangers becomes a tree of known nodes. HTML and Markdown are escaped, and the fixed Typst template
reads the tree as JSON, so no text becomes code. Only the fonts of this machine are read, and no link is followed.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import resource
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

MEMORY_MOST, CPU_SECONDS_MOST, OUTPUT_MOST = 2 << 30, 20, 64 << 20
TEXT_MOST, CELLS_MOST, LEVEL_MOST = 1 << 20, 20_000, 5
RUN_MOST = 24
"""Letters of a word after which a line may break in the middle."""
LINKS = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)
UNSOUND = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\ud800-\udfff]")
"""Control characters, and those that show text in another order than it is written in."""
SUFFIXES = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}
Node = dict[str, Any]
Nodes = list[Node]


class Refused(Exception):
    """The document cannot be composed; the message says why."""


def sound(text: object) -> str:
    return UNSOUND.sub("", str(text))


class Reader:
    """Reads the Markdown of sections as nodes, and gives numbers to figures in the order of their appearance."""

    def __init__(self, assets: dict[str, Node]) -> None:
        self._assets, self._markdown = (
            assets,
            MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]),
        )
        self._level, self._where = 1, ""
        self._waiting: list[tuple[Node, str]] = []
        self.figures: Nodes = []
        self.links: dict[str, None] = {}

    def section(self, heading: str, text: str, assets: Sequence[str]) -> Node:
        """Return a section. Its assets follow the text, unless a picture in the text names them."""
        self._where, self._level = heading, 1
        blocks = self._blocks(SyntaxTreeNode(self._markdown.parse(text)).children)
        for asset in assets:
            if asset not in self._assets:
                raise Refused(f"section {heading!r} names the asset {asset!r}, which is not among the document's")
            blocks += self.figure(asset)
        return {"heading": heading, "blocks": blocks, "rtl": rtl(heading)}

    def figure(self, asset: str) -> Nodes:
        """Return the figure of a picture; none where it is shown already, or is no picture."""
        shown = self._assets[asset]
        if "n" in shown or shown["media_type"] not in SUFFIXES:
            return []
        self.figures.append(shown)
        shown["n"] = len(self.figures)
        return [{"t": "figure", "n": shown["n"]}]

    def resolve(self) -> None:
        """Point the references to the numbers of their figures, now that all are known."""
        for node, asset in self._waiting:
            node |= {"t": "ref", "n": self._assets[asset]["n"]} if "n" in self._assets[asset] else {"t": "group"}

    def _blocks(self, nodes: Sequence[SyntaxTreeNode]) -> Nodes:
        return [block for node in nodes for block in self._block(node)]

    def _block(self, node: SyntaxTreeNode) -> Nodes:
        match node.type:
            case "paragraph":
                return self._paragraph(node)
            case "heading":
                # No level is left out: readers who cannot see the page move by levels.
                self._level = min(int(node.tag[1]) + 1, self._level + 1, LEVEL_MOST)
                return [{"t": "heading", "level": self._level, "c": self._inside(node)}]
            case "bullet_list" | "ordered_list":
                items = [self._blocks(item.children) for item in node.children]
                ordered = node.type == "ordered_list"
                return [{"t": "list", "ordered": ordered, "start": int(node.attrs.get("start", 1)), "items": items}]
            case "blockquote":
                return [{"t": "quote", "c": self._blocks(node.children)}]
            case "fence" | "code_block":
                return [{"t": "code", "v": sound(node.content).rstrip("\n")}]
            case "table":
                return [self._table(node)]
            case "hr":
                return [{"t": "rule"}]
        return [{"t": "p", "c": [{"t": "text", "v": sound(node.content)}], "rtl": False}] if node.content else []

    def _paragraph(self, node: SyntaxTreeNode) -> Nodes:
        """Return a paragraph, and after it the figures that it places."""
        figures: Nodes = []
        inside = self._inside(node, figures)
        words = plain(inside)
        return [*([{"t": "p", "c": inside, "rtl": rtl(words)}] if words.strip() else []), *figures]

    def _table(self, node: SyntaxTreeNode) -> Node:
        rows = [row for part in node.children for row in part.children]
        if (cells := sum(len(row.children) for row in rows)) > CELLS_MOST:
            raise Refused(
                f"a table of section {self._where!r} has {cells} cells; shorten it to {CELLS_MOST}, or attach the data"
            )
        head = rows[0].children
        align = [str(cell.attrs.get("style", "")).removeprefix("text-align:") or "left" for cell in head]
        return {"t": "table", "align": align, "rows": [[self._inside(cell) for cell in row.children] for row in rows]}

    def _inside(self, node: SyntaxTreeNode, figures: Nodes | None = None) -> Nodes:
        return [found for inline in node.children for each in inline.children for found in self._inline(each, figures)]

    def _inline(self, node: SyntaxTreeNode, figures: Nodes | None) -> Nodes:
        within = [found for child in node.children for found in self._inline(child, figures)]
        match node.type:
            case "em" | "strong" | "s":
                return [{"t": node.type, "c": within}]
            case "code_inline":
                return [{"t": "code", "v": sound(node.content)}]
            case "softbreak":
                return [{"t": "text", "v": " "}]
            case "hardbreak":
                return [{"t": "br"}]
            case "link":
                return self._link(str(node.attrs.get("href", "")), within)
            case "image":
                return self._picture(str(node.attrs.get("src", "")), within, figures)
        return [{"t": "text", "v": sound(node.content)}]

    def _link(self, url: str, within: Nodes) -> Nodes:
        if (asset := url.removeprefix("asset:")) != url and asset in self._assets:
            node: Node = {"t": "ref", "c": within}
            self._waiting.append((node, asset))
            return [node]
        if not LINKS.fullmatch(url):
            # The address stays readable, and leads nowhere.
            return [*within, {"t": "text", "v": f" ({sound(url)})"}] if url else within
        self.links[sound(url)] = None
        return [{"t": "link", "url": sound(url), "c": within}]

    def _picture(self, url: str, within: Nodes, figures: Nodes | None) -> Nodes:
        """Return the figure of a picture that the text places, or a link to any other picture."""
        if (asset := url.removeprefix("asset:")) != url and asset in self._assets:
            if figures is None:
                return self._link(url, within)
            figures += self.figure(asset)
            return []
        return self._link(url, within)


def plain(nodes: Nodes) -> str:
    return "".join(
        node.get("v", "") or plain(node.get("c", [])) or ("x" if node["t"] == "ref" else "") for node in nodes
    )


def rtl(text: str) -> bool:
    """Return whether its first strong letter is written from right to left."""
    kinds = (unicodedata.bidirectional(letter) for letter in text[:500])
    return next((kind != "L" for kind in kinds if kind in ("L", "R", "AL")), False)


def built(asked: Node, pictures: Sequence[bytes]) -> Node:
    """Return the document as a tree."""
    assets: dict[str, Node] = {
        asset["id"]: {name: sound(value) for name, value in asset.items() if name != "facts"}
        | {"facts": [[sound(name), sound(value)] for name, value in asset["facts"].items()], "data": picture}
        for asset, picture in zip(asked["assets"], pictures, strict=True)
    }
    sections = asked["sections"]
    if sum(len(section["text"]) for section in sections) > TEXT_MOST:
        raise Refused(f"the sections have more than {TEXT_MOST:,} letters; shorten them, or make several documents")
    reader = Reader(assets)
    read = [reader.section(sound(each["heading"]), each["text"], each["assets"]) for each in sections]
    rest = [figure for asset in assets for figure in reader.figure(asset)]
    if rest:
        read.append({"heading": "Figures" if read else "Figure", "blocks": rest, "rtl": False})
    reader.resolve()
    made_from = (line for asset in assets.values() for line in asset.get("made_from", "").splitlines())
    return {
        "title": sound(asked["title"]) or "Document",
        "date": sound(asked["date"]),
        "day": day(asked["date"]),
        "request": sound(asked["request"]),
        "rtl": rtl(sound(asked["title"])),
        "sections": read,
        "figures": reader.figures,
        "assets": sorted(assets.values(), key=lambda asset: asset.get("n", len(assets) + 1)),
        "sources": list(dict.fromkeys((*filter(None, made_from), *reader.links))),
    }


def day(date: str) -> str:
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return sound(date)
    return f"{found.day} {found:%B %Y}"


def label(asset: Node) -> str:
    """Return how the appendix calls an asset."""
    return f"Figure {asset['n']}: {asset['title']}" if "n" in asset else asset["title"] or asset["id"]


# HTML

STYLE = """
body{margin:0 auto;max-width:46rem;padding:2rem 1.25rem 4rem;color:#1b1f24;background:#fff;
font:17px/1.55 Georgia,'Libertinus Serif',serif;overflow-wrap:anywhere}
h1,h2,h3,h4,h5{line-height:1.25;color:#12324f}h1{font-size:2rem;margin-bottom:.25rem}
.date,.small,figcaption{color:#57606a;font-size:.9rem}nav{border-left:3px solid #d0d7de;padding-left:1rem;margin:2rem 0}
nav ol{padding-left:1.2rem}figure{margin:1.75rem 0;text-align:center}img{max-width:100%;height:auto}
figcaption{margin-top:.5rem}.wide{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;font-size:.92rem}
th,td{border:1px solid #d0d7de;padding:.3rem .6rem;text-align:left;vertical-align:top}th{background:#f3f5f7}
.right{text-align:right}.center{text-align:center}pre{background:#f3f5f7;padding:.75rem;white-space:pre-wrap}
code{font-family:'DejaVu Sans Mono',monospace;font-size:.85em}blockquote{border-left:3px solid #d0d7de;
margin-left:0;padding-left:1rem;color:#57606a}dt{font-weight:bold}dd{margin:0 0 .35rem}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#12161b}h1,h2,h3,h4,h5{color:#9ecbff}
th,pre{background:#1c2229}img{background:#fff}.date,.small,figcaption,blockquote{color:#9aa4ae}a{color:#79b8ff}}
"""


def quoted(text: object) -> str:
    return html.escape(str(text), quote=True)


def data_url(asset: Node) -> str:
    return f"data:{asset['media_type']};base64,{base64.b64encode(asset['data']).decode()}"


def as_html(doc: Node) -> bytes:
    """Return a page that needs nothing else: pictures are inside it, and its policy allows no script and no request."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    figures = {figure["n"]: figure for figure in doc["figures"]}
    chapters = [(f"section-{n}", section["heading"]) for n, section in enumerate(doc["sections"], 1)]
    if doc["sources"]:
        chapters.append(("sources", "Sources"))
    chapters.append(("provenance", "Provenance"))
    toc = "".join(f'<li><a href="#{id}" dir="auto">{quoted(name)}</a></li>' for id, name in chapters)
    body = "".join(
        f'<section id="section-{n}"><h2 dir="auto">{quoted(section["heading"])}</h2>'
        f"{html_blocks(section['blocks'], figures)}</section>"
        for n, section in enumerate(doc["sections"], 1)
    )
    sources = "".join(f"<li>{html_source(source)}</li>" for source in doc["sources"])
    if sources:
        body += f'<section id="sources"><h2>Sources</h2><ol>{sources}</ol></section>'
    facts = "".join(
        f"<h3>{quoted(label(asset))}</h3><dl>"
        + "".join(f"<dt>{quoted(name)}</dt><dd>{quoted(value)}</dd>" for name, value in asset["facts"])
        + "</dl>"
        for asset in doc["assets"]
    )
    request = f'<p class="small">Made for the request: “{quoted(doc["request"])}”</p>' if doc["request"] else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{quoted(policy)}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{quoted(doc['title'])}</title><style>{STYLE}</style></head><body><main>"
        f'<h1 dir="auto">{quoted(doc["title"])}</h1><p class="date">{quoted(doc["day"])}</p>'
        f'<nav aria-label="Contents"><ol>{toc}</ol></nav>{body}'
        f'<section id="provenance"><h2>Provenance</h2>{request}{facts}</section></main></body></html>\n'
    ).encode()


def html_source(source: str) -> str:
    return (
        f'<a href="{quoted(source)}" rel="noreferrer">{quoted(source)}</a>'
        if LINKS.fullmatch(source)
        else quoted(source)
    )


def html_blocks(blocks: Nodes, figures: dict[int, Node]) -> str:
    return "\n".join(html_block(block, figures) for block in blocks)


def html_block(block: Node, figures: dict[int, Node]) -> str:
    match block["t"]:
        case "p":
            return f'<p dir="auto">{html_inline(block["c"])}</p>'
        case "heading":
            return f'<h{block["level"] + 1} dir="auto">{html_inline(block["c"])}</h{block["level"] + 1}>'
        case "list":
            tag, start = ("ol", f' start="{block["start"]}"') if block["ordered"] else ("ul", "")
            items = "".join(f'<li dir="auto">{html_blocks(item, figures)}</li>' for item in block["items"])
            return f"<{tag}{start}>{items}</{tag}>"
        case "quote":
            return f"<blockquote>{html_blocks(block['c'], figures)}</blockquote>"
        case "code":
            return f"<pre><code>{quoted(block['v'])}</code></pre>"
        case "table":
            return html_table(block)
        case "figure":
            shown = figures[block["n"]]
            return (
                f'<figure id="figure-{block["n"]}"><img src="{data_url(shown)}" alt="{quoted(shown["alt"])}">'
                f'<figcaption dir="auto">Figure {block["n"]}: {quoted(shown["caption"])}</figcaption></figure>'
            )
    return "<hr>"


def html_table(block: Node) -> str:
    def row(cells: Sequence[Nodes], tag: str) -> str:
        shown = zip(cells, block["align"], strict=False)
        return "".join(f'<{tag} class="{quoted(side)}" dir="auto">{html_inline(cell)}</{tag}>' for cell, side in shown)

    head, *rows = block["rows"]
    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f'<div class="wide"><table><thead><tr>{row(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'


def html_inline(nodes: Nodes) -> str:
    return "".join(map(html_node, nodes))


def html_node(node: Node) -> str:
    within = html_inline(node.get("c", []))
    match node["t"]:
        case "text":
            return quoted(node["v"])
        case "code":
            return f"<code>{quoted(node['v'])}</code>"
        case "link":
            return f'<a href="{quoted(node["url"])}" rel="noreferrer">{within}</a>'
        case "ref":
            link = f'<a href="#figure-{node["n"]}">Figure {node["n"]}</a>'
            return f"{within} ({link})" if within else link
        case "br":
            return "<br>"
        case "em" | "strong" | "s" as tag:
            return f"<{tag}>{within}</{tag}>"
    return within


# Markdown

SPECIAL = re.compile(
    r"[\\`*_{}\[\]<>|~&]|:(?=//)|^[#+=-]|" + "|".join(rf"(?<=^\d{{{digits}}})[.)]" for digits in range(1, 10))
)
"""Letters with a meaning in Markdown, some only at the beginning of a line."""


def escaped(text: object) -> str:
    """Return text as Markdown that shows exactly it; no HTML, link or address in it works."""
    return SPECIAL.sub(r"\\\g<0>", str(text).replace("\n", " "))


def as_markdown(doc: Node) -> bytes:
    """Return Markdown with its pictures as data URLs at its end."""
    figures = {figure["n"]: figure for figure in doc["figures"]}
    parts = [f"# {escaped(doc['title'])}", *([escaped(doc["day"])] if doc["day"] else [])]
    for section in doc["sections"]:
        parts += [f"## {escaped(section['heading'])}", *markdown_blocks(section["blocks"], figures)]
    if doc["sources"]:
        parts += ["## Sources", "\n".join(f"{n}. {markdown_source(each)}" for n, each in enumerate(doc["sources"], 1))]
    parts.append("## Provenance")
    if doc["request"]:
        parts.append(f"Made for the request: “{escaped(doc['request'])}”")
    for asset in doc["assets"]:
        parts.append(f"### {escaped(label(asset))}")
        if asset["facts"]:
            parts.append("\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in asset["facts"]))
    parts += [f"[figure-{figure['n']}]: {data_url(figure)}" for figure in doc["figures"]]
    return ("\n\n".join(parts) + "\n").encode()


def markdown_source(source: str) -> str:
    return f"<{source}>" if LINKS.fullmatch(source) and not {"<", ">"} & set(source) else escaped(source)


def markdown_blocks(blocks: Nodes, figures: dict[int, Node]) -> Iterator[str]:
    for block in blocks:
        yield markdown_block(block, figures)


def markdown_block(block: Node, figures: dict[int, Node]) -> str:
    match block["t"]:
        case "p":
            return markdown_inline(block["c"])
        case "heading":
            return f"{'#' * (block['level'] + 1)} {markdown_inline(block['c'])}"
        case "list":
            marks = (f"{block['start'] + n}. " if block["ordered"] else "- " for n in range(len(block["items"])))
            return "\n".join(
                indented("\n\n".join(markdown_blocks(item, figures)), mark, " " * len(mark))
                for mark, item in zip(marks, block["items"], strict=True)
            )
        case "quote":
            return indented("\n\n".join(markdown_blocks(block["c"], figures)), "> ", "> ")
        case "code":
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", block["v"])), 0)
            return f"{fence}\n{block['v']}\n{fence}"
        case "table":
            head, *rows = ["| " + " | ".join(map(markdown_inline, row)) + " |" for row in block["rows"]]
            sides = {"right": "---:", "center": ":---:"}
            return "\n".join([head, "|" + "|".join(sides.get(side, "---") for side in block["align"]) + "|", *rows])
        case "figure":
            shown = figures[block["n"]]
            picture = f"![{escaped(shown['alt'])}][figure-{block['n']}]"
            return f"{picture}\n\n*Figure {block['n']}: {escaped(shown['caption'])}*"
    return "---"


def indented(text: str, first: str, others: str) -> str:
    return first + "\n".join(f"{others}{line}".rstrip() for line in text.split("\n")).removeprefix(others)


def markdown_inline(nodes: Nodes) -> str:
    return "".join(map(markdown_node, nodes))


def markdown_node(node: Node) -> str:
    within = markdown_inline(node.get("c", []))
    match node["t"]:
        case "text":
            return escaped(node["v"])
        case "code":
            # A code span in a table would end at a bar, and a fence of backticks needs another length.
            return f"`{node['v']}`" if not {"`", "|"} & set(node["v"]) else escaped(node["v"])
        case "link":
            return f"[{within}](<{node['url'].replace('<', '%3C').replace('>', '%3E')}>)"
        case "ref":
            return f"{within} (Figure {node['n']})" if within else f"Figure {node['n']}"
        case "br":
            return "\\\n"
        case "em" | "strong" | "s" as tag:
            mark = {"em": "*", "strong": "**", "s": "~~"}[tag]
            return f"{mark}{within}{mark}"
    return within


# PDF


def as_pdf(doc: Node) -> tuple[bytes, Node]:
    """Return a tagged PDF: PDF/UA-1 where every letter has a font on this machine, else one that says so."""
    import typst

    for figure in doc["figures"]:
        Path(f"figure-{figure['n']}").write_bytes(figure["data"])
    tree = breakable({name: value for name, value in doc.items() if name != "assets"}, doc["assets"])
    Path("document.json").write_text(json.dumps(tree))
    Path("main.typ").write_bytes(Path(__file__).with_name("document.typ").read_bytes())
    # The root is the empty folder in which the parent started this process.
    compiler = typst.Compiler("main.typ", root=".")
    made: Callable[..., Any] = partial(compiler.compile, format="pdf", timestamp=stamp(doc["date"]))
    try:
        return made(pdf_standards=["ua-1"]), {"standard": "PDF/UA-1"}
    except typst.TypstError as error:
        problem = str(error)
    try:
        return made(), {"standard": "tagged PDF", "short_of_ua": problem[:300]}
    except typst.TypstError as error:
        raise Refused(f"the document could not be typeset: {str(error)[:300]}") from error


def breakable(doc: Node, assets: Nodes) -> Node:
    """Return the tree with places where long words and paths may break, and without the bytes of the pictures."""

    def broken(value: Any) -> Any:
        match value:
            case str():
                return re.sub(rf"\S{{{RUN_MOST},}}", lambda run: cut(run[0]), value)
            case dict():
                kept = ("url", "t", "media_type", "format", "alt")
                return {name: each if name in kept else broken(each) for name, each in value.items() if name != "data"}
            case list():
                return [broken(each) for each in value]
        return value

    named = [{"label": label(asset), "facts": asset["facts"]} for asset in assets]
    for figure in doc["figures"]:
        figure["format"] = SUFFIXES[figure["media_type"]]
    return {**broken(doc), "appendix": broken(named), "plain": {"title": doc["title"], "date": doc["date"]}}


def cut(run: str) -> str:
    return re.sub(r"([/\\_.:?&=#,;@-]+|[^/\\_.:?&=#,;@-]{12})(?=.)", "\\1\u200b", run)


def stamp(date: str) -> int:
    try:
        return int(datetime.fromisoformat(date).timestamp())
    except ValueError:
        return 0


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MOST, CPU_SECONDS_MOST))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MOST, OUTPUT_MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    limit()
    asked = json.loads(sys.stdin.buffer.readline())
    pictures = [sys.stdin.buffer.read(asset.pop("size")) for asset in asked["assets"]]
    forms: dict[str, Callable[[Node], bytes]] = {"html": as_html, "markdown": as_markdown}
    data, facts = b"", Node()
    try:
        doc = built(asked, pictures)
        if asked["format"] == "pdf":
            data, facts = as_pdf(doc)
        else:
            data = forms[asked["format"]](doc)
        facts["figures"] = len(doc["figures"])
    except Refused as error:
        facts = {"refused": str(error)}
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n" + data)


if __name__ == "__main__":
    main()
