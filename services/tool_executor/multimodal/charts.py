"""Charts as Vega-Lite specifications with inline values: of the files of a folder, or of a table's columns."""

from __future__ import annotations

import csv
import json
import math
import re
from calendar import month_abbr, month_name
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from libs import documents
from libs.errors import Rejected
from libs.workspace.stage import Stage
from libs.workspace.view import Node
from services.tool_executor.tools import parsing
from services.tool_executor.tools.decoding import NoText, decoded
from services.tool_executor.tools.tool_context import no_cancel

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, HEIGHT = 800, 450
POINTS_MOST, BARS, SLICES = 5_000, (40, 25, 15), (12, 8, 6)
"""The most times; and the most bars and slices in the first, the second and every later attempt."""
ROWS_MOST, TABLE_BYTES_MOST, CELL_MOST, COLUMNS_MOST = 500_000, 20 << 20, 100, 1_000
LOOK_ROWS, CHECK_ROWS, DATES_MOST = 20, 2_000, 20_000
TABLES = (".csv", ".tsv", ".txt", ".xlsx")
SIZES = ((10**3, "below 1 kB"), (10**5, "1–100 kB"), (10**6, "100 kB – 1 MB"), (10**8, "1–100 MB"))
LARGEST = "100 MB and more"
NUMBER = re.compile(r"[-+]?\d[\d.,'\u00a0\u202f ]{0,40}(?:[eE][-+]?\d{1,3})?")
MONEY = "€$£¥% \u00a0"
MONTHS = {name.casefold(): n for names in (month_name, month_abbr) for n, name in enumerate(names) if name}
UNITS = {"day": 10, "month": 7, "year": 4}
"""How many letters of a date, as `2026-01-31`, tell its unit."""
FIRST = "0001-01-01"
"""The rest of a date that only tells its month or year."""
AMBIGUOUS = ("%m/%d/%Y", "%m/%d/%y")
DATES = (
    *("%Y-%m-%d", "%Y-%m", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"),
    *("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%d.%m.%Y", "%d.%m.%y", "%Y/%m", "%m/%Y", *AMBIGUOUS, "%d/%m/%Y"),
    *("%b %Y", "%B %Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
"""Forms of dates, by `datetime.strptime`; the first that fits all of a column is its form."""
Point = dict[str, Any]


class BadTable(Rejected):
    """The table has no such data; name another column."""

    code = "BAD_TABLE"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A chart to draw of a table."""

    title: str
    x: str
    y: str = ""
    kind: str = "bar"
    total: str = "sum"
    sheet: str = ""
    """The sheet of a workbook; empty for the first one with rows."""


@dataclass(frozen=True, slots=True)
class _Series:
    """The values of a chart. A time is a date as `2026-01-31`."""

    points: list[Point]
    axes: tuple[str, str]
    kind: str = "bar"
    timed: bool = False
    ordered: bool = False
    """Whether the order of the values means something."""
    additive: bool = True
    """Whether several values have a sum that means something."""


def of_files(files: Sequence[Node], of: str, kind: str, title: str, attempt: int) -> tuple[str, list[str]]:
    """Return the chart of a folder's files: their types, sizes, or the months of their last change."""
    match of:
        case "file_types":
            counts = Counter(node.extension or "no ending" for node in files)
            return _spec(_Series(_points(counts), ("file type", "files"), kind), title, attempt)
        case "file_sizes":
            steps = [*(name for _, name in SIZES), LARGEST]
            sized = Counter(next((name for most, name in SIZES if node.size < most), LARGEST) for node in files)
            points = _points({name: sized[name] for name in steps})
            return _spec(_Series(points, ("size", "files"), kind, ordered=True), title, attempt)
        case "file_ages":
            known = [node.modified_at for node in files if node.modified_at is not None]
            months = Counter(f"{when:%Y-%m-01}" for when in known)
            series = _Series(
                _points(dict(sorted(months.items()))), ("last changed", "files"), kind, timed=kind != "pie"
            )
            spec, warnings = _spec(series, title, attempt)
            left = len(files) - len(known)
            return spec, [*warnings, *([f"{left} new files have no time yet."] if left else [])]
    raise BadTable(f"{of!r} is no chart of files; use file_types, file_sizes or file_ages.")


def of_table(
    stage: Stage, node: Node, wanted: Wanted, attempt: int, check: Callable[[], None]
) -> tuple[str, list[str]]:
    """Return the chart of a table: the rows with the same x put together. Raises `BadTable`."""
    header, rows, whole, others = _read(stage, node, wanted.sheet, check)
    names = [name.strip() or f"column {n}" for n, name in enumerate(header[:COLUMNS_MOST], start=1)]
    first = list(islice(rows, LOOK_ROWS))
    x, size = _key_column(names, wanted.x, first, node.name)
    y = _column(names, wanted.y, node.name) if wanted.y else None
    values, skipped, count = _values(chain(first, rows), x, y, check)
    if not values:
        told = f"no numbers in its column {names[y]!r}" if y is not None else "no rows"
        raise BadTable(f"{node.name} has {told}; its columns are {_listed(names)}.")
    warnings = [f"{skipped} rows without a number in {names[y]!r} were left out."] if skipped and y is not None else []
    warnings += [f"Not in the chart: the sheets {_listed(others)}; name one in `sheet`."] if others else []
    warnings += [] if whole else [f"Only the first {count} rows of {node.name} were read."]
    form = None if wanted.kind == "pie" and not size else _form(list(values), check)
    if form in AMBIGUOUS:
        warnings.append(f"Dates such as {next(iter(values))} were read as month/day/year.")
    if form is not None:
        merged: defaultdict[str, list[float]] = defaultdict(list)
        for key, each in values.items():
            date = _date(key, form)
            merged[date[:size] + FIRST[size:] if size else date].extend(each)
        values = dict(sorted(merged.items()))
    how = wanted.total if y is not None else "count"
    label = "rows" if y is None else names[y] if how == "sum" else f"{how} of {names[y]}"
    series = _Series(
        _points({key: _put_together(each, how) for key, each in values.items()}),
        (names[x], label),
        wanted.kind,
        timed=form is not None,
        ordered=wanted.kind in ("line", "point"),
        additive=how in ("sum", "count"),
    )
    spec, more = _spec(series, wanted.title, attempt)
    return spec, [*warnings, *more]


def _points(values: Mapping[str, float]) -> list[Point]:
    return [{"x": name, "y": value} for name, value in values.items()]


def _read(
    stage: Stage, node: Node, sheet: str, check: Callable[[], None]
) -> tuple[list[str], Iterator[list[str]], bool, Sequence[str]]:
    """Return the header, the rows, whether they are all, and the sheets that were left out without being asked to."""
    if node.extension not in TABLES:
        raise BadTable(f"{node.name} is no table that can be charted; save it as CSV or Excel (.xlsx).")
    found = stage.read_content(node.path, TABLE_BYTES_MOST)
    if node.extension == ".xlsx":
        if found.truncated:
            raise BadTable(f"{node.name} is larger than {TABLE_BYTES_MOST >> 20} MB; save the sheet as CSV.")
        try:
            read = documents.read_sheet(found.data, sheet, check=check)
        except documents.CannotRead as error:
            raise BadTable(f"{node.name} cannot be read: {error}.") from error
        if not read.name:
            raise BadTable(f"{node.name} has no sheet {sheet!r}; its sheets are {_listed(read.names)}.")
        lines = iter([line.split("\t") for line in _whole_lines(read.text, whole=read.complete).split("\n")])
        return next(lines, []), lines, read.complete, [name for name in read.names if not sheet and name != read.name]
    if sheet:
        raise BadTable(f"{node.name} has no sheets; leave `sheet` out.")
    try:
        text = decoded(found.data, whole=not found.truncated).text
    except NoText as error:
        raise BadTable(f"{node.name} holds no text; save it as CSV.") from error
    _, cells = parsing.cells(_whole_lines(text, whole=not found.truncated), strict=False)
    rows = _sound(cells, node.name)
    return next(rows, []), rows, not found.truncated, ()


def _whole_lines(text: str, *, whole: bool) -> str:
    """Return the text without a last line that may be cut: half of a number is another number."""
    return text if whole else text.rpartition("\n")[0]


def _sound(rows: Iterator[list[str]], name: str) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise BadTable(f"{name} is damaged or no table: {error}.") from error


def _key_column(names: Sequence[str], wanted: str, rows: Sequence[list[str]], table: str) -> tuple[int, int]:
    """Return the place of the column with the names or times, and the letters of its dates that count, or 0.

    "By month" takes the first column of dates if no column has that name.
    """
    size = UNITS.get(wanted.casefold().strip(), 0)
    try:
        return _column(names, wanted, table), 0
    except BadTable:
        for n in range(len(names)) if size else ():
            if (cells := [row[n] for row in rows if n < len(row) and row[n].strip()]) and _form(cells, no_cancel):
                return n, size
        raise


def _column(names: Sequence[str], wanted: str, table: str) -> int:
    """Return the place of a column: by its name, else by the name in other letters, or by the only one with it."""
    plain = [" ".join(name.casefold().split()) for name in names]
    asked = " ".join(wanted.casefold().split())
    if asked in plain:
        return plain.index(asked)
    near = [n for n, name in enumerate(plain) if asked and (asked in name or name in (asked.rstrip("s"), f"{asked}s"))]
    if len(near) == 1:
        return near[0]
    raise BadTable(f"{table} has no column {wanted!r}; its columns are {_listed(names)}.")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(repr(name[:CELL_MOST]) for name in names[:20]) + more


def _values(
    rows: Iterable[list[str]], x: int, y: int | None, check: Callable[[], None]
) -> tuple[dict[str, list[float]], int, int]:
    """Return the values of each x; the number of rows without a number, and of all rows."""
    found: dict[str, list[float]] = {}
    skipped = count = 0
    for count, row in enumerate(islice((row for row in rows if any(row)), ROWS_MOST), start=1):
        if count % CHECK_ROWS == 0:
            check()
        value = 1.0 if y is None else _number(row[y]) if y < len(row) else None
        if value is None:
            skipped += 1
            continue
        key = " ".join((row[x] if x < len(row) else "").split())[:CELL_MOST] or "(empty)"
        found.setdefault(key, []).append(value)
    return found, skipped, count


def _put_together(values: Sequence[float], total: str) -> float:
    match total:
        case "mean":
            value = math.fsum(values) / len(values)
        case "count":
            value = len(values)
        case "max" | "min":
            value = max(values) if total == "max" else min(values)
        case _:
            value = math.fsum(values)
    return int(value) if value == int(value) else round(value, 6)


def _number(cell: str) -> float | None:
    """Return the number of a cell: `1,234.50`, `1.234,50`, `€ 12`, `12 %`. None for any other text."""
    text = cell.strip().strip(MONEY)[:60]
    if not NUMBER.fullmatch(text):
        return None
    text = re.sub("['\u00a0\u202f ]", "", text)
    comma, dot = text.rfind(","), text.rfind(".")
    # The last mark is the decimal one, unless it groups thousands: `1,234` and `1.234.567`.
    if comma > dot and (text.count(",") > 1 or (dot < 0 and len(text) - comma == 4)):
        text = text.replace(",", "")
    elif comma > dot:
        text = text.replace(".", "").replace(",", ".")
    else:
        text = text.replace(",", "") if text.count(".") == 1 else text.replace(",", "").replace(".", "")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _form(cells: Sequence[str], check: Callable[[], None]) -> str | None:
    """Return the form in which all of these are dates; None if they are none."""
    if len(cells) > DATES_MOST:
        return None
    for form in DATES:
        for n, cell in enumerate(cells):
            if n % CHECK_ROWS == 0:
                check()
            if not _date(cell, form):
                break
        else:
            return form
    return None


def _date(cell: str, form: str) -> str:
    """Return a date as `2026-01-31`; empty if it has another form."""
    try:
        return f"{datetime.strptime(cell.strip()[:40], form).replace(tzinfo=UTC):%Y-%m-%d}"
    except ValueError:
        return ""


def _spec(series: _Series, title: str, attempt: int) -> tuple[str, list[str]]:
    """Return the specification. Too many names become the largest ones and the rest; a later attempt draws fewer."""
    points, warnings, order = series.points, list[str](), "-y"
    months = [_month(point["x"]) for point in points]
    most = POINTS_MOST if series.timed else (SLICES if series.kind == "pie" else BARS)[min(attempt, 2)]
    if series.timed and len(points) > most:
        warnings.append(f"Only the last {most} of {len(points)} times are drawn.")
        points = points[-most:]
    elif len(points) > most:
        points = sorted(points, key=lambda point: (-point["y"], point["x"]))
        left = points[most - 1 :]
        rest = [{"x": f"{len(left)} others", "y": math.fsum(point["y"] for point in left)}] if series.additive else []
        told = "drawn as one" if rest else "left out"
        warnings.append(f"The {len(left)} smallest of {len(points)} values of {series.axes[0]!r} are {told}.")
        points = [*points[: most - 1], *rest]
        order = ""
    elif all(month is not None for month in months):
        points = [point for _, point in sorted(zip(months, points, strict=True), key=lambda each: each[0] or 0)]
        order = ""
    letters = 14 + 3 * min(attempt, 2)
    sort = [point["x"] for point in points] if series.ordered or not order else order
    spec = {
        "$schema": SCHEMA,
        "title": {"text": title, "fontSize": letters + 4},
        "data": {"values": points},
        "width": WIDTH,
        "height": HEIGHT,
        "background": "white",
        "config": {
            "axis": {"labelFontSize": letters, "titleFontSize": letters},
            "legend": {"labelFontSize": letters, "titleFontSize": letters, "labelLimit": 300},
        },
        **(_pie(series, sort) if series.kind == "pie" else _axes(series, sort)),
    }
    return json.dumps(spec, ensure_ascii=False), warnings


def _month(name: str) -> int | None:
    """Return the number of a month that is named without a year."""
    return MONTHS.get(str(name).strip(" .").casefold())


def _axes(series: _Series, sort: str | list[str]) -> dict[str, Any]:
    x: dict[str, Any] = {"field": "x", "type": "temporal" if series.timed else "nominal", "title": series.axes[0]}
    if series.timed:
        dates = [point["x"] for point in series.points]
        unit, form = "yearmonthdate", "%d %b %Y"
        if all(date.endswith("-01-01") for date in dates):
            unit, form = "year", "%Y"
        elif all(date[8:] == "01" for date in dates):
            unit, form = "yearmonth", "%b %Y"
        x |= {"timeUnit": unit, "axis": {"format": form, "labelOverlap": True, "labelAngle": -40}}
    else:
        x |= {"sort": sort, "axis": {"labelAngle": -40, "labelLimit": 160}}
    # Whole numbers, such as counts, have no halves between them.
    whole = all(float(point["y"]).is_integer() for point in series.points)
    y = {"field": "y", "type": "quantitative", "title": series.axes[1], "axis": {"tickMinStep": 1} if whole else {}}
    return {
        "mark": {"type": series.kind, **({"point": True} if series.kind == "line" else {})},
        "encoding": {"x": x, "y": y},
    }


def _pie(series: _Series, sort: str | list[str]) -> dict[str, Any]:
    order = sort if isinstance(sort, list) else [point["x"] for point in series.points]
    color = {"field": "x", "type": "nominal", "title": series.axes[0], "sort": order}
    theta = {"field": "y", "type": "quantitative", "title": series.axes[1], "stack": True}
    return {"mark": "arc", "encoding": {"theta": theta, "color": color}}
