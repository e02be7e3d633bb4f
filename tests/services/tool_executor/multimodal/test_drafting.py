"""Drafting: a folder's code, files and tables become diagrams and charts, within bounds and the same each time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from libs.errors import Rejected
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor.multimodal.charts import BadTable
from services.tool_executor.multimodal.diagrams import NODES, NothingToDraw, label
from services.tool_executor.multimodal.drafting import Draft, Incomplete, draft
from services.tool_executor.tools.tool_context import no_cancel

SHOP = {
    "shop/__init__.py": "",
    "shop/main.py": "from shop import cart\nfrom shop.store import Store\n\n\ndef main():\n"
    "    store = Store()\n    store.open()\n    cart.fill(store)\n\n\nif __name__ == '__main__':\n    main()\n",
    "shop/cart.py": "from .store import Store\n\n\ndef fill(store: Store):\n    store.save(price())\n\n\n"
    "def price():\n    return 1\n",
    "shop/store.py": "class Store:\n    def open(self): ...\n    def save(self, it): ...\n",
    "tests/test_cart.py": "import shop.cart\n",
}


def drawn(
    root: Path, files: Mapping[str, str | bytes], args: Mapping[str, Any], method: str = "generate_diagram", **more: Any
) -> Draft:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return draft(Stage(Tree.scan(root)), method, {"title": "T", **args}, **{"check": no_cancel, **more})


def chart(root: Path, files: Mapping[str, str | bytes], **args: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    found = drawn(root, files, args, "generate_chart")
    return json.loads(found.source), found.warnings


def points(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {point["x"]: point["y"] for point in spec["data"]["values"]}


@pytest.mark.requirement("S3-14")
def test_imports_become_edges_between_components(tmp_path: Path) -> None:
    found = drawn(tmp_path, SHOP, {"of": "components"})
    lines = [line.strip() for line in found.source.splitlines()]
    names = {line.partition('["')[2].removesuffix('"]'): line.partition("[")[0] for line in lines if '["' in line}
    assert found.language == "mermaid"
    assert lines[0] == "flowchart LR"
    assert f"{names['main.py']} --> {names['cart.py']}" in lines
    assert f"{names['cart.py']} --> {names['store.py']}" in lines
    assert found.warnings == ("1 files of tests were left out.",)


def test_a_sequence_follows_calls_from_the_entry_point(tmp_path: Path) -> None:
    source = drawn(tmp_path, SHOP, {"of": "sequence"}).source
    assert source.splitlines() == [
        "sequenceDiagram",
        "  participant p1 as main",
        "  participant p2 as store",
        "  participant p3 as cart",
        "  p1->>p2: Store()",
        "  p1->>p2: Store.open()",
        "  p1->>p3: fill()",
        "  p3->>p2: Store.save()",
    ]


def test_scripts_are_joined_by_their_imports_and_calls(tmp_path: Path) -> None:
    files = {
        "src/index.ts": "import { load as get } from './db'\nimport x from 'react'\nconst ui = require('./ui')\n"
        "ui.show(get(1))\n",
        "src/db.ts": "export function load(n) {}\n",
        "src/ui/index.ts": "export function show(n) {}\n",
    }
    assert drawn(tmp_path, files, {"of": "components", "path": "src"}).source.count("-->") == 2
    assert drawn(tmp_path, files, {"of": "sequence"}).source.splitlines()[-2:] == [
        "  p1->>p2: show()",
        "  p1->>p3: load()",
    ]


def test_a_folder_without_code_shows_folders_and_sizes(tmp_path: Path) -> None:
    files = {"letters/a.txt": "x" * 2000, "letters/b.txt": "", "photos/c.jpg": "x"}
    source = drawn(tmp_path, files, {"of": "components"}).source
    assert '["c.jpg 1 B"]' in source
    assert 'subgraph f1["letters"]' in source


def test_a_sequence_of_no_code_is_refused_with_a_mend(tmp_path: Path) -> None:
    with pytest.raises(NothingToDraw, match="draw its components"):
        drawn(tmp_path, {"a.txt": "x"}, {"of": "sequence"})


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    for method, of in (("generate_diagram", "components"), ("generate_chart", "file_types")):
        with pytest.raises(NothingToDraw, match="holds no files"):
            drawn(tmp_path, {}, {"of": of}, method)


def test_later_attempts_draw_fewer_nodes_and_turn(tmp_path: Path) -> None:
    files = {f"p{n}/m{m}.py": "" for n in range(9) for m in range(4)}
    for attempt, direction in ((0, "LR"), (1, "TB"), (2, "LR")):
        source = drawn(tmp_path, files, {"of": "components"}, attempt=attempt + 1).source
        assert source.startswith(f"flowchart {direction}\n")
        assert source.count("  n") <= NODES[attempt]


def test_two_drafts_of_a_folder_are_the_same(tmp_path: Path) -> None:
    assert drawn(tmp_path, SHOP, {"of": "components"}) == drawn(tmp_path, {}, {"of": "components"})


@pytest.mark.parametrize("text", ['a"]; click n1 "x', "end", "The End", "<b>", "x;y#z", "`md`", "%%{init}%%", "a\nb"])
def test_labels_say_nothing_to_mermaid(text: str) -> None:
    assert not set(label(text)) & set('"[]<>`%{}\n')
    assert label(text).casefold().split() != ["end"]


def test_damaged_code_still_shows_its_imports(tmp_path: Path) -> None:
    files = {"a.py": "import b\nprint 'old'\n", "b.py": "", "c.py": "-" * 20_000}
    assert drawn(tmp_path, files, {"of": "components"}).source.count("-->") == 1


def test_a_cancel_stops_the_analysis(tmp_path: Path) -> None:
    def check() -> None:
        raise Rejected("cancelled")

    with pytest.raises(Rejected, match="cancelled"):
        drawn(tmp_path, SHOP, {"of": "components"}, check=check)


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("generate_diagram", {}),
        ("generate_diagram", {"of": "components", "source": "graph TB"}),
        ("generate_diagram", {"of": "components", "path": "a.txt"}),
        ("generate_chart", {"path": "a.txt"}),
    ],
)
def test_a_call_that_names_nothing_to_draw_is_refused(tmp_path: Path, method: str, args: dict[str, Any]) -> None:
    with pytest.raises(Incomplete):
        drawn(tmp_path, {"a.txt": "x"}, args, method)


def test_files_are_counted_by_type_size_and_age(tmp_path: Path) -> None:
    files = {"a.txt": "", "b.txt": "x" * 2000, "c.pdf": "x", "d": "x"}
    assert points(chart(tmp_path, files, of="file_types")[0]) == {".txt": 2, ".pdf": 1, "no ending": 1}
    assert points(chart(tmp_path, {}, of="file_sizes")[0])["1–100 kB"] == 1
    assert sum(points(chart(tmp_path, {}, of="file_ages")[0]).values()) == 4


SALES = 'Month,Sales,Region\nJan,"1,200.50",N\nFeb,300,S\nJan,10,N\nMar,,S\n'


def test_rows_of_a_table_are_put_together_by_month(tmp_path: Path) -> None:
    spec, warnings = chart(tmp_path, {"sales.csv": SALES}, path="sales.csv", x="month", y="sales")
    assert points(spec) == {"Jan": 1210.5, "Feb": 300}
    assert warnings == ("1 rows without a number in 'Sales' were left out.",)
    counted, _ = chart(tmp_path, {}, path="sales.csv", x="region")
    assert points(counted) == {"N": 2, "S": 2}


def test_by_month_uses_the_column_of_dates(tmp_path: Path) -> None:
    table = "date;amount\n2026-01-05;1\n2026-01-09;2\n2026-02-01;4\n"
    spec, _ = chart(tmp_path, {"t.csv": table}, path="t.csv", x="month", y="amount", kind="line")
    assert points(spec) == {"2026-01-01": 3, "2026-02-01": 4}
    assert spec["encoding"]["x"]["type"] == "temporal"


def test_cells_of_a_sheet_stay_in_their_columns(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (("name", "n"), (None, 1), ("a\tb", 2), ("c", 3)):
        book.active.append(row)  # type: ignore[union-attr]
    book.save(raw := BytesIO())
    spec, _ = chart(tmp_path, {"t.xlsx": raw.getvalue()}, path="t.xlsx", x="name", y="n", total="max")
    assert points(spec) == {"(empty)": 1, "a b": 2, "c": 3}


@pytest.mark.requirement("S3-14")
def test_a_chart_is_of_one_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for sheet, number in ((book.create_sheet("Sales"), 1), (book.create_sheet("Costs 2026"), 7)):
        sheet.append(("name", "n"))
        sheet.append(("a", number))
    book.save(raw := BytesIO())
    files: dict[str, str | bytes] = {"t.xlsx": raw.getvalue(), "t.csv": "name,n\na,1\n"}
    asked = {"path": "t.xlsx", "x": "name", "y": "n"}
    spec, warnings = chart(tmp_path, files, **asked)
    assert points(spec) == {"a": 1}
    assert warnings == ("Not in the chart: the sheets 'Sheet', 'Costs 2026'; name one in `sheet`.",)
    spec, warnings = chart(tmp_path, {}, **asked, sheet="costs 2026")
    assert (points(spec), warnings) == ({"a": 7}, ())
    with pytest.raises(BadTable, match=r"no sheet 'Tax'; its sheets are 'Sheet', 'Sales', 'Costs 2026'\."):
        chart(tmp_path, {}, **asked, sheet="Tax")
    with pytest.raises(BadTable, match=r"t\.csv has no sheets"):
        chart(tmp_path, {}, **{**asked, "path": "t.csv"}, sheet="Sales")


def test_an_unknown_column_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match="no column 'profit'; its columns are 'Month', 'Sales', 'Region'"):
        chart(tmp_path, {"sales.csv": SALES}, path="sales.csv", x="month", y="profit")
    with pytest.raises(BadTable, match="no numbers in its column 'Region'"):
        chart(tmp_path, {}, path="sales.csv", x="month", y="region")


def test_the_smallest_of_many_bars_are_drawn_as_one(tmp_path: Path) -> None:
    table = "k,v\n" + "".join(f"k{n},{n}\n" for n in range(100))
    spec, warnings = chart(tmp_path, {"t.csv": table}, path="t.csv", x="k", y="v")
    assert len(points(spec)) == 40
    assert points(spec)["61 others"] == sum(range(61))
    assert warnings == ("The 61 smallest of 100 values of 'k' are drawn as one.",)


def test_a_chart_reads_nothing_from_an_address(tmp_path: Path) -> None:
    spec, _ = chart(tmp_path, {"t.csv": "k,v\nhttp://x/y.csv,1\n"}, path="t.csv", x="k", y="v")
    assert spec["data"] == {"values": [{"x": "http://x/y.csv", "y": 1}]}


def test_pictures_of_the_folder_are_arranged(tmp_path: Path) -> None:
    found = drawn(tmp_path, {"a.png": b"1", "b.JPG": b"2", "c.txt": ""}, {"files": ["a.png", "b.JPG"]}, "compose_image")
    assert [(each.title, each.data, each.media_type) for each in found.inputs] == [
        ("a.png", b"1", "image/png"),
        ("b.JPG", b"2", "image/jpeg"),
    ]
    with pytest.raises(Incomplete, match=r"c\.txt is no picture"):
        drawn(tmp_path, {}, {"files": ["c.txt"]}, "compose_image")
