"""Source code as modules: what each imports, and which function calls which. It is read as data, and never run.

Python is parsed. JavaScript and TypeScript are scanned for imports and for calls of imported names. Other languages are
known by their files alone.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath, splitext
from typing import Any

from libs.errors import SumaError
from libs.workspace.stage import Stage
from libs.workspace.view import Node

FILES_MOST, BYTES_MOST, FILE_BYTES_MOST = 5_000, 20 << 20, 512 << 10
"""Bounds of what is read. A parser holds about a hundred times the bytes of one file."""
PARTS_MOST, CALLS_MOST, RELAYS_MOST = 20, 2_000, 5
"""Parts of a dotted name, calls of one function, and modules that pass an imported name on."""
PYTHON = frozenset((".py", ".pyi"))
SCRIPT = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
OTHER = frozenset(
    f".{ending}"
    for ending in (
        *("go", "rs", "java", "kt", "kts", "scala", "c", "h", "cc", "cpp", "hpp", "cs", "fs", "rb", "php", "swift"),
        *("m", "lua", "pl", "ex", "exs", "erl", "hs", "clj", "dart", "r", "jl", "zig", "nim", "sql", "sh"),
    )
)
CODE = PYTHON | {*SCRIPT} | OTHER
TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|specs?|testdata|fixtures)(?:/|$)|(?:^|/)(?:test_|conftest\.)[^/]*$")
BODY = ""
"""The name of a module's own statements among its functions."""
SPACE = r"[ \t]{0,20}"
IMPORTED = re.compile(
    rf"\b(?:import|export)\b(?P<names>[^'\"`;()=]{{0,300}})\bfrom{SPACE}['\"](?P<spec>[^'\"\n]{{1,300}})['\"]"
    rf"|\b(?:import|require){SPACE}\(?{SPACE}['\"](?P<bare>[^'\"\n]{{1,300}})['\"]"
)
REQUIRED = re.compile(rf"(?P<names>[\w$]{{1,80}}|\{{[^{{}}]{{0,300}}\}}){SPACE}={SPACE}$")
CALLED = re.compile(r"(?<![\w$.])([\w$]{1,80}(?:\.[\w$]{1,80})?)\(")
PY_IMPORT = re.compile(
    rf"^{SPACE}(?:from[ \t]{{1,20}}([\w.]{{1,200}})|import[ \t]{{1,20}}([\w.]{{1,200}}))", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Target:
    """A name in another module, as the code spells it: a dotted name, or the path of a script without its ending."""

    spec: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """One file. `functions` has the calls of each in their order; `BODY` has those of the module's own statements."""

    path: str
    imports: tuple[Target, ...] = ()
    functions: Mapping[str, tuple[Target, ...]] = field(default_factory=dict)
    guarded: bool = False
    """Whether it runs as a program (`if __name__ == "__main__"`)."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The dotted name of each name that it imports, and so passes on."""


@dataclass(slots=True)
class Code:
    """The modules of a folder by path, in the order of their paths, and a warning for what was left out."""

    modules: dict[str, Module]
    warnings: list[str] = field(default_factory=list)
    root: str = ""
    _named: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for back in range(PARTS_MOST):
            for path in self.modules:
                for name in self._names(path, back):
                    self._named.setdefault(name, path)

    def _names(self, path: str, back: int) -> Iterator[str]:
        """Yield a module's name as seen from `back` folders below the root; packages have their names from outside."""
        ending = splitext(path)[1]
        parts = path.removesuffix(ending).split("/")
        if ending not in PYTHON:
            if back == 0:
                yield from (stem := path.removesuffix(ending), stem.removesuffix("/index"))
            return
        if parts[-1] in ("__init__", "__main__") and len(parts) > 1:
            parts = parts[:-1] if parts[-1] == "__init__" else parts
        if back >= len(parts) or (back and "/".join([*path.split("/")[:back], "__init__.py"]) in self.modules):
            return
        if not back or parts[back] not in sys.stdlib_module_names:
            yield ".".join(parts[back:])
        if not back and self.root:
            yield ".".join([self.root, *parts])

    def resolve(self, origin: str, target: Target) -> tuple[str, str] | None:
        """Return the module's path and the name in it; None for what is not in this folder."""
        if not target.spec:
            return origin, target.name
        if splitext(origin)[1] not in PYTHON:
            found = self._named.get(target.spec) or self._named.get(f"src/{target.spec}")
            return (found, target.name) if found else None
        return self._dotted(target.spec, RELAYS_MOST)

    def _dotted(self, name: str, relays: int) -> tuple[str, str] | None:
        parts = name.split(".")[:PARTS_MOST]
        for size in range(len(parts), 0, -1):
            path = self._named.get(".".join(parts[:size]))
            if path is None:
                continue
            passed = self.modules[path].names.get(parts[size]) if size < len(parts) else None
            onward = ".".join([passed, *parts[size + 1 :]]) if passed and relays else ""
            return (self._dotted(onward, relays - 1) if onward else None) or (path, ".".join(parts[size:]))
        return None


def files(stage: Stage, path: str, *, most: int, check: Callable[[], None]) -> tuple[list[Node], bool]:
    """Return the files below a folder by path, and whether there are more. Repositories, folders of dependencies and
    system files in it are left out.
    """
    found: list[Node] = []
    folders = [stage.get_metadata(path).path]
    while folders:
        check()
        inside = sorted(stage.get_children(folders.pop()), key=lambda node: node.name, reverse=True)
        folders += [node.path for node in inside if node.kind == "directory" and not node.left_alone]
        found += [node for node in inside if node.kind == "file" and not node.left_alone]
        if len(found) > most:
            break
    return sorted(found, key=lambda node: node.path)[:most], len(found) > most


def read(stage: Stage, found: Sequence[Node], check: Callable[[], None]) -> Code:
    """Read the code among files. Tests are left out where there is other code."""
    code = [node for node in found if node.extension in CODE]
    tested = [node for node in code if not TESTS.search(node.path)]
    warnings = [f"{len(code) - len(tested)} files of tests were left out."] if 0 < len(tested) < len(code) else []
    modules: dict[str, Module] = {}
    left, unread = BYTES_MOST, 0
    for node in tested or code:
        check()
        module = Module(node.path)
        if node.extension not in OTHER:
            if node.size <= min(left, FILE_BYTES_MOST):
                left -= node.size
                module = _module(stage, node)
            else:
                unread += 1
        modules[node.path] = module
    if unread:
        warnings.append(f"{unread} large files were not read; their imports are missing.")
    return Code(modules, warnings, stage.tree.root.name)


def _module(stage: Stage, node: Node) -> Module:
    try:
        raw = stage.read_content(node.path, FILE_BYTES_MOST).data
    except SumaError:
        return Module(node.path)
    text = raw.decode("utf-8-sig", "replace")
    return python(node.path, text) if node.extension in PYTHON else script(node.path, text)


def python(path: str, text: str) -> Module:
    """Return a Python module. If it does not parse, only its absolute imports are known."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Module(path, tuple(Target(one or other) for one, other in PY_IMPORT.findall(text)))
    return _Python(path, tree).module()


@dataclass(slots=True)
class _Part:
    """The statements of a function, of a method of `owner`, or of a module itself, as far as they matter here."""

    owner: str = ""
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    imports: list[ast.AST] = field(default_factory=list)
    assigned: list[ast.Assign] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)

    def take(self, node: ast.AST) -> None:
        """Collect what is below a node. Its own stack: code may nest as deep as it likes."""
        stack: list[Any] = [node]
        while stack:
            one = stack.pop()
            match one:
                case ast.Raise():
                    # The making of an error is no step of the program.
                    continue
                case ast.Call():
                    self.calls.append(one)
                case ast.Assign():
                    self.assigned.append(one)
                case ast.Import() | ast.ImportFrom():
                    self.imports.append(one)
            for value in vars(one).values():
                if isinstance(value, list):
                    stack += [each for each in value if isinstance(each, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    stack.append(value)


class _Python:
    """Reads one parsed module: its names, then the calls of each function."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self._path, self._tree = path, tree
        self._package = dirname(path).split("/") if dirname(path) else []
        self._names: dict[str, str] = {}
        """The dotted name of each imported name."""
        self._fields: dict[str, str] = {}
        """The class of `self.x`, by `Class.x`."""

    def module(self) -> Module:
        parts = self._parts()
        imports = [name for part in parts.values() for node in part.imports for name in self._imported(node)]
        known = {name: self._typed(part) for name, part in parts.items()}
        functions = {name: self._calls(part, known[name]) for name, part in parts.items()}
        tests = (node.test for node in self._tree.body if isinstance(node, ast.If))
        guarded = any("__main__" in ast.dump(test)[:500] for test in tests if isinstance(test, ast.Compare))
        return Module(self._path, tuple(map(Target, dict.fromkeys(imports))), functions, guarded, self._names)

    def _parts(self) -> dict[str, _Part]:
        body = _Part()
        parts = {BODY: body}
        for node in self._tree.body:
            inside = node.body if isinstance(node, ast.ClassDef) else [node]
            owner = node.name if isinstance(node, ast.ClassDef) else ""
            for one in inside:
                part = body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    part = parts[f"{owner}.{one.name}" if owner else one.name] = _Part(owner, one)
                part.take(one)
        return parts

    def _imported(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    self._names[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
                    yield alias.name
            case ast.ImportFrom(module=module, names=names, level=level):
                above = self._package[: len(self._package) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                for alias in names:
                    self._names[alias.asname or alias.name] = f"{base}.{alias.name}"
                    yield f"{base}.{alias.name}"

    def _typed(self, part: _Part) -> dict[str, str]:
        """Return the classes of local names: annotated parameters, and names that hold a new object. Those of `self`
        are noted for the whole class.
        """
        known: dict[str, str] = {}
        arguments = part.function.args if part.function is not None else None
        for arg in (*arguments.args, *arguments.kwonlyargs) if arguments is not None else ():
            if arg.annotation is not None and (name := _dotted(arg.annotation)):
                known[arg.arg] = name
        # The stack gave the last first.
        for node in reversed(part.assigned):
            called = isinstance(node.value, ast.Call)
            name = _dotted(node.value.func if isinstance(node.value, ast.Call) else node.value)
            made, place = known.get(name, name if called else ""), _dotted(node.targets[0])
            if made and part.owner and place.startswith("self."):
                self._fields[f"{part.owner}.{place.removeprefix('self.')}"] = made
            elif made and place.isidentifier():
                known[place] = made
        return known

    def _calls(self, part: _Part, known: Mapping[str, str]) -> tuple[Target, ...]:
        # By their ends: the arguments of a call are called before it.
        calls = sorted(part.calls, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
        found = (self._target(_dotted(one.func), known, part.owner) for one in calls[:CALLS_MOST])
        return tuple(target for target in found if target is not None)

    def _target(self, name: str, known: Mapping[str, str], owner: str) -> Target | None:
        if not name:
            return None
        first, _, rest = name.partition(".")
        if first in ("self", "cls") and owner and rest:
            held, _, method = rest.partition(".")
            made = self._fields.get(f"{owner}.{held}")
            if made is None:
                return None if method else Target("", f"{owner}.{held}")
            name = f"{made}.{method}" if method else made
        elif first in known:
            name = f"{known[first]}.{rest}" if rest else known[first]
        first, _, rest = name.partition(".")
        if first in self._names:
            return Target(f"{self._names[first]}.{rest}" if rest else self._names[first])
        return Target("", name)


def _dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a name with attributes, and an empty text for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < PARTS_MOST:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def script(path: str, text: str) -> Module:
    """Return a JavaScript or TypeScript module: its imports of files, and its calls of what it imports."""
    imports: list[Target] = []
    names: dict[str, Target] = {}
    for found in IMPORTED.finditer(text):
        spec = found["spec"] or found["bare"]
        if spec[:1] != "." and spec[:2] not in ("@/", "~/"):
            continue
        place = normpath(join(dirname(path), spec)) if spec[0] == "." else normpath(spec[2:])
        place = place.removesuffix(next((end for end in SCRIPT if place.endswith(end)), ""))
        imports.append(Target(place))
        before = REQUIRED.search(text, max(0, found.start() - 320), found.start()) if found["bare"] else None
        names |= _bound(found["names"] or (before["names"] if before else ""), place)
    calls = (name for name in CALLED.findall(text) if name.partition(".")[0] in names)
    made = []
    for name in calls:
        first, _, method = name.partition(".")
        made.append(Target(names[first].spec, method or names[first].name))
    return Module(path, tuple(dict.fromkeys(imports)), {BODY: tuple(made[:CALLS_MOST])})


def _bound(clause: str, place: str) -> dict[str, Target]:
    """Return the local names of an import clause: `a, {b, c as d}`, `* as e`, or `{f: g}` of a require."""
    found: dict[str, Target] = {}
    for part in re.split(r"[,{}]", clause):
        words = part.replace(":", " as ").split()
        words = words[1:] if words[:1] == ["type"] and len(words) > 1 else words
        if words:
            found[words[-1]] = Target(place, words[-1] if words[0] == "*" else words[0])
    return found
