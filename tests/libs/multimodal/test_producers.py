"""Local producers, each with its real program, on sources from friends and from strangers."""

import asyncio
import json
import os
import re
import shutil
import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from libs.multimodal.ports import Brief, CannotProduce, Input, Made, Producer, StepType
from libs.multimodal.producers import local
from libs.multimodal.producers.programs import Box
from libs.multimodal.renderer import svg

BARS = {
    "data": {"values": [{"kind": "py", "files": 30}, {"kind": "md", "files": 12}]},
    "mark": "bar",
    "title": "Files by kind",
    "encoding": {"x": {"field": "kind", "type": "nominal"}, "y": {"field": "files", "type": "quantitative"}},
}
FLOW = 'flowchart LR\n a["Gateway"] --> b["Worker"]\n b --> c[("Store")]\n'


def producer(tool: str) -> Producer:
    return next(one for one in local() if one.capability.tool_id == tool)


async def make(tool: str, source: str = "", form: str = "svg", *, check: Callable[[], None] = lambda: None) -> Made:
    step = StepType.CHART if tool == "vega_lite" else StepType.DIAGRAM
    return await producer(tool).produce(Brief(step, form, source=source), check=check)


async def arranged(content: Mapping[str, Any], *pictures: bytes) -> Made:
    inputs = [Input(str(n), data, "image/png") for n, data in enumerate(pictures)]
    brief = Brief(StepType.ARRANGE, "png", content=content, inputs=inputs, max_resolution=400)
    return await producer("pillow").produce(brief, check=lambda: None)


PNG_BEGINS = b"\x89PNG\r\n\x1a\n"


def png(width: int, height: int, colour: str = "navy") -> bytes:
    written = BytesIO()
    Image.new("RGB", (width, height), colour).save(written, "PNG")
    return written.getvalue()


@pytest.mark.requirement("S3-26", "S3-72")
@pytest.mark.parametrize(
    ("tool", "source", "labels"),
    [
        ("mermaid", FLOW, {"Gateway", "Worker", "Store"}),
        ("graphviz", 'digraph { a [label="Gateway"]; a -> worker }', {"Gateway", "worker"}),
        ("vega_lite", json.dumps(BARS), {"Files by kind"}),
    ],
)
async def test_drawing_shows_its_labels(tool: str, source: str, labels: set[str]) -> None:
    made = await make(tool, source)

    drawn = svg.clean(made.data)
    assert set(made.labels) == labels
    assert made.parameters["measured"]["missing"] == []
    assert drawn.marks >= 2
    assert (made.width, made.height) == (round(drawn.width), round(drawn.height))
    assert "landlock" in made.parameters["walls"] or "seccomp" in made.parameters["walls"]


async def test_png_respects_the_longest_side() -> None:
    brief = Brief(StepType.DIAGRAM, "png", source="digraph { rankdir=LR; a -> b -> c -> d }", max_resolution=300)

    made = await producer("graphviz").produce(brief, check=lambda: None)

    assert Image.open(BytesIO(made.data)).size == (made.width, made.height)
    assert made.width == 300


@pytest.mark.parametrize(
    ("tool", "source", "line"),
    [("mermaid", "flowchart LR\n a --> b\n b --> [[[", 3), ("graphviz", "digraph {\n a;\n b -> ;\n}", 3)],
)
async def test_syntax_error_names_its_line(tool: str, source: str, line: int) -> None:
    with pytest.raises(CannotProduce, match="cannot read the source") as refused:
        await make(tool, source)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("tool", "source", "words"),
    [
        ("graphviz", 'digraph { a [image="/etc/passwd"] }', "image reads a file"),
        ("graphviz", 'graph { a [shape=epsf, shapefile="/etc/passwd"] }', "shapefile reads a file"),
        ("graphviz", 'graph { a [label=<<TABLE><TR><TD><IMG SRC="/etc/passwd"/></TD></TR></TABLE>>] }', "<img>"),
        ("vega_lite", json.dumps(BARS | {"data": {"url": "file:///etc/passwd"}}), r"spec\.data\.url"),
        ("vega_lite", json.dumps(BARS | {"data": {"url": "data:text/csv,a"}}), r"spec\.data\.url"),
        ("vega_lite", json.dumps(BARS | {"mark": {"type": "image"}}), "address"),
        ("vega_lite", "[" * 100_000, "not JSON"),
        ("mermaid", 'flowchart LR\n a["<img src=http://a.test/b>"] --> b\n', "HTML"),
        ("mermaid", "", "source is empty"),
    ],
)
async def test_source_that_reads_elsewhere_is_refused(tool: str, source: str, words: str) -> None:
    with pytest.raises(CannotProduce, match=words):
        await make(tool, source)


@pytest.mark.parametrize(
    "source",
    [
        'flowchart LR\n a["<script>alert(1)</script>x<b onclick=alert(1)>y</b>"] --> b\n',
        'flowchart LR\n a --> b\n click a "javascript:alert(1)"\n click b href "https://a.test/b"\n',
        '%%{init: {"securityLevel": "loose", "themeCSS": "* {fill: url(//a.b)}"}}%%\nflowchart LR\n a-->b\n',
    ],
)
async def test_script_in_mermaid_is_left_out(source: str) -> None:
    drawn = (await make("mermaid", source)).data.decode()

    assert not re.search(r"<script|<img|<foreignObject|\bon\w+=|javascript:|url\((?!['\"]?#)|href=\"(?!#)", drawn)


async def test_links_of_graphviz_are_left_out() -> None:
    drawn = (await make("graphviz", 'digraph { a [URL="javascript:alert(1)", tooltip="x"] }')).data

    assert b"javascript" not in drawn
    assert b"<a" not in drawn


@pytest.mark.parametrize(
    ("tool", "source"),
    [
        ("graphviz", "digraph {" + "".join(f"n{n} -> n{n * 7 % 100_000};" for n in range(100_000)) + "}"),
        ("mermaid", "flowchart LR\n" + "".join(f" n{n} --> n{n + 1}\n" for n in range(100_000))),
    ],
)
async def test_hundred_thousand_nodes_are_refused(tool: str, source: str) -> None:
    with pytest.raises(CannotProduce, match=r"draw (fewer|at most)"):
        await make(tool, source)


class Cancelled(Exception):
    pass


@pytest.mark.requirement("S3-72")
async def test_cancel_ends_the_process() -> None:
    before = children()
    seen = set[int]()

    def check() -> None:
        seen.update(children() - before)
        if seen:
            raise Cancelled

    many = "flowchart LR\n" + "".join(f" n{n} --> n{n * 7 % 90}\n" for n in range(90))
    with pytest.raises(Cancelled):
        await make("mermaid", many, check=check)

    assert seen
    assert not seen & children()


async def test_cancelled_task_ends_the_process() -> None:
    before, started = children(), asyncio.Event()

    def check() -> None:
        if children() - before:
            started.set()

    many = "flowchart LR\n" + "".join(f" n{n} --> n{n * 7 % 90}\n" for n in range(90))
    task = asyncio.create_task(make("mermaid", many, check=check))
    await started.wait()
    seen = children() - before
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not seen & children()


def children() -> set[int]:
    threads = Path("/proc/self/task").glob("*/children")
    return {int(child) for one in threads for child in one.read_text().split() if running(int(child))}


def running(pid: int) -> bool:
    try:
        return bool(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False


async def test_pictures_are_put_into_a_row() -> None:
    made = await arranged({"layout": "row", "gap": 10}, png(100, 50), png(200, 100))

    assert (made.width, made.height) == (100 + 10 + 100, 50)


async def test_picture_is_made_smaller() -> None:
    made = await arranged({"layout": "resize"}, png(1000, 500))

    assert Image.open(BytesIO(made.data)).size == (400, 200)


@pytest.mark.parametrize(
    ("content", "count", "words"),
    [
        ({"layout": "spiral"}, 1, "layout 'spiral' is unknown"),
        ({"layout": "resize"}, 2, "takes one picture"),
        ({"layout": "grid", "columns": 0}, 2, "columns is 0"),
        ({"layout": "row"}, 0, "give 1 to 24"),
    ],
)
async def test_impossible_layout_is_refused(content: Mapping[str, Any], count: int, words: str) -> None:
    with pytest.raises(CannotProduce, match=words):
        await arranged(content, *[png(10, 10)] * count)


async def test_picture_of_too_many_pixels_is_refused() -> None:
    header = struct.pack(">4sIIBBBBB", b"IHDR", 20_000, 20_000, 8, 2, 0, 0, 0)
    claim = PNG_BEGINS + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + png(1, 1)[33:]
    with pytest.raises(CannotProduce, match="pixels are more than"):
        await arranged({"layout": "row"}, claim)


@pytest.mark.parametrize("tool", ["chromium", "d2", "plantuml"])
async def test_missing_program_is_a_problem(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert re.search("install|put d2", await producer(tool).problem())


async def test_box_failure_is_believed_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    box = Box(now=lambda: clock[0])
    with monkeypatch.context() as without:
        without.setenv("PATH", "/nowhere")
        missing = await box.problem()

    believed = await box.problem()
    clock[0] = 61.0
    found = await box.problem()

    assert "bubblewrap is missing" in missing
    assert believed == missing
    if shutil.which("bwrap"):
        assert found != missing


async def test_box_that_works_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box()
    if problem := await box.problem():
        pytest.skip(problem)
    monkeypatch.setenv("PATH", "/nowhere")

    assert not await box.problem()


async def test_capture_reads_no_file_of_this_machine() -> None:
    chromium = producer("chromium")
    if problem := await chromium.problem():
        pytest.skip(problem)
    page = "<body style='margin:0;background:#fff'><iframe src='file:///etc/hostname' width=380 height=180></iframe>"
    brief = Brief(StepType.CAPTURE, "png", content={"html": page, "width": 400, "height": 200})

    made = await chromium.produce(brief, check=lambda: None)

    assert (made.width, made.height) == (400, 200)


OPENING = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'


@pytest.mark.parametrize(
    "inner",
    [
        "<script>alert(1)</script>",
        '<rect onclick="alert(1)"/>',
        '<image xlink:href="file:///etc/passwd"/>',
        '<image href="http://a.test/b.png"/>',
        '<image href="data:image/svg+xml;base64,AAAA"/>',
        '<use href="other.svg#a"/>',
        '<a href="javascript:alert(1)"><rect/></a>',
        '<rect style="fill:url(http://a.test/b)"/>',
        '<rect style="fill:u\\72l(http://a.test/b)"/>',
        '<rect fill="url( &quot;//a.test/b&quot;)"/>',
        "<style>@import 'http://a.test/b';</style>",
        "<foreignObject><html xmlns='http://www.w3.org/1999/xhtml'><img src='http://a.test'/></html></foreignObject>",
        '<set attributeName="href" to="javascript:alert(1)"/>',
        '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
    ],
)
def test_svg_keeps_nothing_that_leads_outside(inner: str) -> None:
    kept = svg.clean(f"{OPENING}{inner}</svg>".encode()).data.decode()

    assert not re.search(r"alert|a\.test|passwd|javascript|import|other\.svg|svg\+xml", kept)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ('<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>', "internal DTD"),
        ('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>', "internal DTD"),
        (OPENING + "<g>" * 300 + "</g>" * 300 + "</svg>", "nested"),
        (OPENING + "<rect/>" * 200_000 + "</svg>", "draw less"),
        ("<svg", "not well-formed"),
        ("<html/>", "root"),
    ],
)
def test_svg_that_is_no_drawing_is_refused(raw: str, words: str) -> None:
    with pytest.raises(svg.Unsafe, match=words):
        svg.clean(raw.encode())


def test_smallest_text_counts_styles_and_scales() -> None:
    raw = (
        OPENING.replace('width="9" height="9"', 'width="400" height="200" viewBox="0 0 800 400"')
        + "<style>#x .small{font-size:12px} text{font-size:20px}</style><text>big</text>"
        + '<g transform="scale(0.5)"><text class="small"><tspan>tiny</tspan></text></g></svg>'
    )

    drawn = svg.clean(raw.encode())

    assert drawn.smallest == pytest.approx(12 * 0.5 * 0.5)
    assert drawn.texts == ["big", "tiny"]


@pytest.mark.parametrize("font", ["", 'font-family="Absent"', 'style="font-family: Absent"', 'class="absent"'])
async def test_text_of_a_missing_font_is_drawn(font: str) -> None:
    style = "<style>@font-face {font-family: Absent; src: url(data:,)} .absent {font-family: Absent}</style>"
    sheet = OPENING.replace('"9" height="9"', '"90" height="40"')
    drawn = svg.clean(f'{sheet}{style}<text x="5" y="25" {font}>Gateway</text></svg>'.encode())

    made = await arranged({"layout": "row"}, drawn.data)

    assert sum(Image.open(BytesIO(made.data)).convert("L").histogram()[:100]) > 50


async def test_long_label_is_broken_into_lines() -> None:
    long = "A label so long that its box is two hundred pixels wide<br>and it has a second part"

    made = await make("mermaid", f'flowchart LR\n a["{long}"] -->|"yes"| b["`**bold** words`"]\n')

    drawn = svg.clean(made.data)
    assert drawn.texts == ["yes", long.replace("<br>", " "), "bold words"]
    assert b"<foreignObject" not in made.data
    assert made.data.count(b"<tspan") >= 5
    assert made.parameters["measured"]["missing"] == []


async def test_wide_letters_stay_in_their_box() -> None:
    made = await make("mermaid", 'flowchart TD\n a["漢字の倉庫と長い名前のサービス"]\n')

    drawn = svg.clean(made.data)
    assert drawn.texts == ["漢字の倉庫と長い名前のサービス"]
    assert drawn.smallest * len(drawn.texts[0]) <= drawn.width


WALLS = """
import errno, json, os, socket, sys
sys.path.insert(0, sys.argv[1])
from libs.multimodal.renderer.confine import confine
held = confine(1 << 30, 10, 1 << 20, [])
def tried(work):
    try:
        work()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
print(json.dumps({
    "held": held,
    "read": tried(lambda: open("/etc/passwd").read()),
    "list": tried(lambda: os.listdir("/")),
    "write": tried(lambda: open("/tmp/suma-walls", "w")),
    "socket": tried(socket.socket),
    "fork": tried(os.fork),
    "program": tried(lambda: os.execv("/usr/bin/true", ["true"])),
    "signal": tried(lambda: os.kill(os.getppid(), 0)),
}))
"""


async def test_renderer_reaches_neither_files_nor_network() -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", WALLS, str(Path.cwd()), stdout=asyncio.subprocess.PIPE
    )
    told = json.loads((await child.communicate())[0])

    held = told.pop("held")
    if held != ["limits", "landlock", "seccomp"]:
        pytest.skip(f"this kernel offers only {held}")
    assert set(told.values()) <= {"EACCES", "EPERM"}, told
