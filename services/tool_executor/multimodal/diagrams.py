"""Diagrams of a folder as Mermaid text: its components with what they import, and the calls of its entry point.

The same folder gives the same text. Labels come from strangers: they are quoted, and say nothing to Mermaid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename, splitext

from libs.errors import Rejected
from libs.workspace.view import Node
from services.tool_executor.multimodal.source_code import BODY, PYTHON, Code, Module
from services.tool_executor.tools.tool_context import human, many

NODES, EDGES, MESSAGES, PARTICIPANTS = (24, 16, 10), (45, 30, 20), (25, 16, 10), (12, 8, 6)
"""The most of each in the first, the second and every later attempt."""
LABEL_MOST = 40
PLAIN = re.compile(r"[^\w ./()-]")
KEYWORD = re.compile(r"\be(?=nd\b)", re.IGNORECASE)
CLASS = re.compile(r"_?[A-Z]\w*[a-z]\w*")
ENTRIES = ("__main__", "main", "cli", "app", "server", "manage", "index")
"""Names of modules that programs start in, the surest first."""
STARTS = ("main", "run", "cli", "app", "start", "serve")
"""Names of functions that programs start in."""
LOOSE = 4
"""As many files beside folders are drawn as one."""
ROOTS_MOST = 400
"""Functions that are tried as the beginning of a sequence."""


class NothingToDraw(Rejected):
    """The folder holds nothing to draw."""

    code = "NOTHING_TO_DRAW"


def shown(where: str) -> str:
    """Return a folder's name within a sentence."""
    return "this folder" if where == "." else where


def label(text: str) -> str:
    """Return a text as a label: short, with everything but letters and digits as entities that Mermaid decodes."""
    text = " ".join(text.split())
    text = text if len(text) <= LABEL_MOST else f"{text[: LABEL_MOST - 1]}…"
    encoded = PLAIN.sub(lambda found: f"#{ord(found[0])};" if found[0] != "…" else "…", text)
    return KEYWORD.sub(lambda found: f"#{ord(found[0])};", encoded) or "#32;"


def folder_components(files: Sequence[Node], where: str, attempt: int) -> tuple[str, list[str]]:
    """Return a folder without code as a diagram of its folders, with the sizes of what they hold."""
    if not files:
        raise NothingToDraw(f"{shown(where)} holds no files; name another folder in `path`.")
    sizes = {node.path: node.size for node in files}
    return _flowchart(_Groups.of(list(sizes), where, _at(NODES, attempt)), sizes, {}, attempt)


def code_components(code: Code, sizes: Mapping[str, int], where: str, attempt: int) -> tuple[str, list[str]]:
    """Return the parts of a program, and which imports which."""
    groups = _Groups.of(list(code.modules), where, _at(NODES, attempt))
    edges: Counter[tuple[str, str]] = Counter()
    for module in code.modules.values():
        for target in module.imports:
            found = code.resolve(module.path, target)
            if found is not None and (pair := (groups.group[module.path], groups.group[found[0]]))[0] != pair[1]:
                edges[pair] += 1
    source, warnings = _flowchart(groups, {path: sizes[path] for path in code.modules}, edges, attempt)
    return source, [*code.warnings, *warnings]


@dataclass(slots=True)
class _Groups:
    """The nodes of a diagram: files and folders, each file in one of them."""

    group: dict[str, str]
    opened: list[str] = field(default_factory=list)
    """The folders that are drawn as frames around their parts."""
    others: int = 0

    @classmethod
    def of(cls, paths: Sequence[str], where: str, most: int) -> _Groups:
        """Open the fullest folders first, those near the top before deeper ones, while at most `most` nodes result."""
        top = "" if where in (".", "") else f"{where}/"
        below: dict[str, dict[str, int]] = {}
        for path in paths:
            parts = path.removeprefix(top).split("/")
            for n in range(len(parts)):
                inside = below.setdefault(top + "/".join(parts[:n]), {})
                child = top + "/".join(parts[: n + 1])
                inside[child] = inside.get(child, 0) + 1
        for folder, inside in below.items():
            loose = [child for child in inside if child not in below]
            if LOOSE <= len(loose) < len(inside):
                below[folder] = {child: n for child, n in inside.items() if child in below}
                below[folder][f"{folder.rstrip('/')}/*".removeprefix("/")] = len(loose)
        nodes, opened = dict(below[top]), list[str]()
        # One folder alone says nothing, however many parts it has: the largest of them are drawn.
        while len(nodes) == 1 and (only := next(iter(nodes))) in below:
            nodes = dict(below[only])
        while True:
            # A folder with one part only is that part; opening it costs nothing.
            able = [n for n in nodes if n in below and len(nodes) - 1 + len(below[n]) <= most]
            if not able:
                break
            fullest = min(able, key=lambda n: (len(below[n]) > 1, -nodes[n] / 4 ** n.count("/"), n))
            opened += [fullest] if len(below[fullest]) > 1 else []
            del nodes[fullest]
            nodes |= below[fullest]
        kept = set(sorted(nodes, key=lambda n: (-nodes[n], n))[: most - 1] if len(nodes) > most else nodes)
        group = {path: _node_of(path, kept) for path in paths}
        return cls(group, sorted(opened), len(nodes) - len(kept))

    def frame(self, node: str) -> str:
        """Return the innermost frame around a node or a frame; empty for none."""
        return max((one for one in self.opened if node.startswith(f"{one}/")), key=len, default="")


OTHERS = "\0"
"""The node of all that has none of its own."""


def _node_of(path: str, kept: set[str]) -> str:
    parts = path.split("/")
    above = ("/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
    return next((one for one in (path, "/".join([*parts[:-1], "*"]), *above) if one in kept), OTHERS)


def _flowchart(
    groups: _Groups, sizes: Mapping[str, int], edges: Mapping[tuple[str, str], int], attempt: int
) -> tuple[str, list[str]]:
    counts, held = Counter(groups.group.values()), Counter[str]()
    for path, node in groups.group.items():
        held[node] += sizes[path]
    names = {node: f"n{n}" for n, node in enumerate(sorted(counts), start=1)}
    lines = [f"flowchart {'LR' if attempt % 2 == 0 else 'TB'}"]

    def drawn(node: str, indent: str) -> str:
        if node in groups.group:
            told = basename(node)
        elif node == OTHERS:
            told = f"{groups.others} others"
        elif basename(node) == "*":
            told = many(counts[node], "file")
        else:
            told = f"{basename(node)} ({many(counts[node], 'file')})"
        told = told if edges else f"{told} {human(held[node])}"
        return f'{indent}{names[node]}["{label(told)}"]'

    def framed(frame: str, indent: str) -> Iterator[str]:
        yield from (drawn(node, indent) for node in names if groups.frame(node) == frame)
        for n, inner in enumerate(groups.opened, start=1):
            if groups.frame(inner) == frame:
                yield f'{indent}subgraph f{n}["{label(basename(inner))}"]'
                yield from framed(inner, f"{indent}  ")
                yield f"{indent}end"

    lines += framed("", "  ")
    arrows = {pair: "<-->" if pair[::-1] in edges else "-->" for pair in edges}
    edges = {pair: count for pair, count in edges.items() if pair[::-1] not in edges or pair[0] < pair[1]}
    heaviest = sorted(edges, key=lambda pair: (-edges[pair], pair))[: _at(EDGES, attempt)]
    lines += [f"  {names[one]} {arrows[one, other]} {names[other]}" for one, other in sorted(heaviest)]
    left = len(edges) - len(heaviest)
    return "\n".join(lines) + "\n", [f"Not drawn: {left} weaker dependencies between components."] if left else []


@dataclass(frozen=True, slots=True)
class _Message:
    origin: str
    target: str
    name: str


def sequence(code: Code, where: str, attempt: int, check: Callable[[], None]) -> tuple[str, list[str]]:
    """Return the calls between modules that follow from the program's entry point, in their order."""
    most, limit = _at(MESSAGES, attempt), _at(PARTICIPANTS, attempt)
    best: list[_Message] = []
    for tried, (path, function) in enumerate(_roots(code)):
        if len(best) > 1 or tried >= ROOTS_MOST:
            break
        check()
        found = _traced(code, path, function, most, limit)
        best = found if len(found) > len(best) else best
    if not best:
        raise NothingToDraw(
            f"No calls from one module to another were found in {shown(where)}, so there is no sequence to draw. Name "
            "a folder of Python, JavaScript or TypeScript in `path`, draw its components, or give the text as `source`."
        )
    seen = list(dict.fromkeys(name for one in best for name in (one.origin, one.target)))
    names = {path: f"p{n}" for n, path in enumerate(seen, start=1)}
    titles = _titles(seen)
    lines = ["sequenceDiagram", *(f"  participant {names[path]} as {label(titles[path])}" for path in seen)]
    lines += [f"  {names[one.origin]}->>{names[one.target]}: {label(one.name)}" for one in best]
    warnings = [f"Only the first {most} calls are drawn."] if len(best) == most else []
    return "\n".join(lines) + "\n", [*code.warnings, *warnings]


def _roots(code: Code) -> Iterator[tuple[str, str]]:
    """Yield the functions in which the program may start, the likeliest first."""

    def rank(module: Module) -> tuple[int, int, str]:
        name = splitext(basename(module.path))[0]
        place = ENTRIES.index(name) if name in ENTRIES else len(ENTRIES)
        return (place if place < 2 else 2 if module.guarded else place + 1, -len(module.imports), module.path)

    ordered = sorted((module for module in code.modules.values() if module.functions), key=rank)
    for module in ordered:
        starts = [name for name in STARTS if name in module.functions]
        yield from ((module.path, name) for name in (BODY, *starts))
    for module in ordered:
        yield from ((module.path, name) for name in module.functions if name not in (BODY, *STARTS))


def _traced(code: Code, path: str, function: str, most: int, limit: int) -> list[_Message]:
    """Follow the calls depth first, each function once. Its own stack: code may nest as deep as it likes."""
    found: list[_Message] = []
    known, done = {path}, {(path, function)}
    stack = [(path, iter(code.modules[path].functions.get(function, ())))]
    while stack and len(found) < most:
        here, calls = stack[-1]
        target = next(calls, None)
        if target is None:
            stack.pop()
            continue
        place = code.resolve(here, target)
        if place is None or not place[1]:
            continue
        there, name = place
        functions = code.modules[there].functions
        called = next((one for one in (name, f"{name}.__init__") if one in functions), "")
        # A class without `__init__` is called by its name; the functions of a script are not known.
        if not called and there != here and (splitext(there)[1] not in PYTHON or CLASS.fullmatch(name)):
            called = name
        if not called or (there, called) in done:
            continue
        if there != here:
            if there not in known and len(known) >= limit:
                continue
            known.add(there)
            found.append(_Message(here, there, f"{name}()"))
        done.add((there, called))
        stack.append((there, iter(functions.get(called, ()))))
    return found


def _titles(paths: Sequence[str]) -> dict[str, str]:
    """Return a short name for each module; those that would be the same get their folder's name."""
    short = {path: _title(path, 1) for path in paths}
    counts = Counter(short.values())
    return {path: short[path] if counts[short[path]] == 1 else _title(path, 2) for path in paths}


def _title(path: str, parts: int) -> str:
    ending = splitext(path)[1]
    names = path.removesuffix(ending).split("/")
    names = names[:-1] if names[-1] in ("__init__", "index") and len(names) > 1 else names
    return "/".join(names[-parts:])


def _at(bounds: tuple[int, int, int], attempt: int) -> int:
    return bounds[min(attempt, len(bounds) - 1)]
