"""Renaming many files by one rule: the new names, and a possible order of the renames (S4-59).

The names are worked out first, all of them, and looked at together: two files never want one name, and none wants one
that stays with another. Only then is anything staged, as one batch. In a chain or a cycle of names, some files take a
temporary name first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname, join
from typing import Any

from libs.errors import Rejected
from libs.guards.paths import UNSHOWN
from libs.skills.categories import split_suffix
from libs.skills.name_patterns import reshaped
from libs.texts import composed
from libs.workspace import names
from libs.workspace.operations import AnyOperation, Rename
from libs.workspace.scope import checked_name
from libs.workspace.view import Node
from services.tool_executor.tools.tool_context import READS_MOST, Args, ToolContext, ToolOutput, many

RULES = ("find", "shape", "written", "prefix", "suffix", "case", "base", "dated", "extension")
TOLD_MOST = 5
DIGITS = 3
DATED = {"month": len("2024-05"), "year": len("2024")}
ASIDE = ".suma-aside-{n}"
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The boundary between the two words of `myFile`."""
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

CASES: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": lambda text: WORD.sub(lambda word: word[0][:1].upper() + word[0][1:].lower(), composed(text)),
    "sentence": lambda text: WORD.sub(lambda word: word[0].capitalize(), composed(text).lower(), count=1),
    "snake": lambda text: "_".join(re.findall(r"[^\W_]+", HUMP.sub(" ", composed(text)))).lower() or text,
}
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
WRITTEN = re.compile(
    r"(?<![^\W_])(?P<open>[(\[]?)"
    rf"(?P<date>{_YEAR}(?:[-_. ]?{_MONTH}(?:[-_. ]?{_DAY})?)?|{_DAY}[-_. ]{_MONTH}[-_. ]{_YEAR}"
    rf"|(?:{_DAY}|[1-9])\.(?:{_MONTH}|[1-9])\.{_YEAR})"
    r"(?(open)[)\]]?)(?![^\W_])"
)
"""A date or a year that is a part of a name by itself: in `2024-05-31 notes`, `notes 2.4.2024` and `notes (2024)`."""
APART = " _.-"
"""Separators between a date and the rest of a name."""


class NameTaken(Rejected):
    """Two files would share a name; nothing was renamed."""

    code = "NAME_TAKEN"


@dataclass(frozen=True, slots=True)
class Wish:
    """A thing that shall be called otherwise. Names are as paths spell them."""

    node: int
    path: str
    name: str

    @property
    def folder(self) -> str:
        return dirname(self.path)


def rename_many(context: ToolContext, args: Args) -> ToolOutput:
    """Every listed file by the rule; those whose name would stay are left out. All of them or none."""
    if not any(args.get(rule) for rule in RULES):
        raise Rejected("name a rename rule: find, shape, written, prefix, suffix, case, base, dated or extension")
    nodes, alone = _subjects(context, args)
    wishes = list(_wishes(context, nodes, args))
    _refuse_clashes(context, wishes)
    applied = context.put(list(_steps(context, wishes)))
    renamed = [{"from": wish.path, "to": context.stage.tree.path(wish.node)} for wish in wishes]
    return ToolOutput(
        {"renamed": renamed, "files": len(renamed), **alone},
        f"Renamed {many(len(renamed), 'file')}.",
        reads=tuple(node.path for node in nodes[:READS_MOST]),
        applied=applied,
        warnings=tuple(context.missing),
    )


def renewed(name: str, args: Args, *, number: int, day: str, whole: bool = False) -> str:
    """Return the name that the rule gives. `number` is its place in the listing, `day` its date of change; with `whole`
    it has no extension, like a folder.
    """
    hidden = name[: len(name) - len(name.lstrip("."))]
    stem, end = (name[len(hidden) :], "") if whole else _split(name[len(hidden) :])
    if args.get("base"):
        apart = " " if args["base"][-1].isalnum() else ""
        stem = f"{args['base']}{apart}{number:0{args.get('digits', DIGITS)}}"
    if args.get("find"):
        stem = _replaced(stem, composed(args["find"]), args.get("replace", ""))
    if args.get("shape"):
        stem = reshaped(stem, args["shape"], args["becomes"]) or stem
    if args.get("written"):
        stem = _with_its_date(stem, args["written"])
    if args.get("case"):
        stem = CASES[args["case"]](stem)
    stem = f"{args.get('prefix', '')}{stem}{args.get('suffix', '')}"
    if args.get("dated"):
        date = day[: DATED.get(args["dated"])]
        stem = stem if stem.startswith(date) else f"{date} {stem}"
    if args.get("extension") and not whole:
        end = "." + args["extension"].lstrip(".")
    return f"{hidden}{stem}{end}"


def _replaced(stem: str, text: str, by: str) -> str:
    """Return the name with one text for another. "Trip (1)" without its "(1)" is "Trip"."""
    name = composed(stem)
    if text not in name:
        return stem
    put = name.replace(text, by) if by else _without(name, text)
    return put if by else put.strip() or put


def _without(stem: str, text: str) -> str:
    """Return the name without a text. Between two equal separators one goes too, so that no two blanks are adjacent."""
    between = rf"(?P<sign>[{APART}]){re.escape(text)}(?P=sign)"
    return re.sub(between, lambda found: found["sign"], stem).replace(text, "")


def _with_its_date(stem: str, where: str) -> str:
    """Return the name with its written date at the start or the end, or without it. A name with two dates, or that is
    only a date, stays as it is.
    """
    found = list(WRITTEN.finditer(stem))
    if len(found) != 1:
        return stem
    before, after = stem[: found[0].start()], stem[found[0].end() :]
    sign = (before[len(before.rstrip(APART)) :] or after)[:1]
    apart = sign if sign and sign in APART else " "
    rest = apart.join(part for part in (before.rstrip(APART), after.lstrip(APART)) if part)
    if not rest:
        return stem
    date = found[0]["date"]
    return {"out": rest, "first": f"{date}{apart}{rest}", "last": f"{rest}{apart}{date}"}[where]


def _split(name: str) -> tuple[str, str]:
    """`v1.2 final` has no extension."""
    stem, end = split_suffix(name)
    return (name, "") if " " in end else (stem, end)


def _subjects(context: ToolContext, args: Args) -> tuple[list[Node], dict[str, Any]]:
    """Return the listed files, or the folders if there are no files; and what was left alone."""
    present, alone = context.movable(list(context.present(args["paths"], strict=len(args["paths"]) == 1)), "paths")
    nodes = [context.stage.get_metadata(path) for path in present if path != "."]
    files = [node for node in nodes if not node.is_folder]
    if files and len(files) < len(nodes):
        context.missing.append(f"{many(len(nodes) - len(files), 'folder')} in the list kept their names.")
    return files or nodes, alone


def _wishes(context: ToolContext, nodes: Sequence[Node], args: Args) -> Iterator[Wish]:
    for number, node in enumerate(nodes, 1):
        if args.get("dated") and node.modified_at is None:
            raise Rejected(f"{node.path} is only staged and has no date yet")
        day = node.modified_at.date().isoformat() if node.modified_at else ""
        # A name is bytes: what is no UTF-8 passes through as it is.
        old = os.fsdecode(names.decode(node.name))
        new = renewed(old, args, number=number, day=day, whole=node.is_folder)
        if UNSHOWN.search(new) and not UNSHOWN.search(old):
            raise Rejected(f"{node.path} would get a name that cannot be shown truly")
        if new != old:
            yield Wish(context.stage.locate(node.path), node.path, _checked(new, node.path))


def _checked(name: str, path: str) -> str:
    try:
        raw = os.fsencode(name)
        if b"/" in raw or not name.strip(". "):
            raise Rejected(f"{path} would be called {name!r}, which is no name")
        return checked_name(names.encode(raw))
    except UnicodeEncodeError as error:
        raise Rejected(f"{path} would get a name that cannot be written") from error


def _refuse_clashes(context: ToolContext, wishes: Sequence[Wish]) -> None:
    """Raise NameTaken if two names would clash."""
    leaving = {wish.path for wish in wishes}
    held = {
        (folder, _compared(node.name)): f"{node.path} is there already"
        for folder in {wish.folder for wish in wishes}
        for node in context.stage.get_children(folder or ".")
        if node.path not in leaving
    }
    clashes = []
    for wish in wishes:
        key = wish.folder, _compared(wish.name)
        if key in held:
            clashes.append(f"{wish.path} would become {join(wish.folder, wish.name)}, but {held[key]}")
        held.setdefault(key, f"{wish.path} would become the same")
    if clashes:
        more = f" … and {len(clashes) - TOLD_MOST} more" if len(clashes) > TOLD_MOST else ""
        raise NameTaken(f"nothing was renamed: {'; '.join(clashes[:TOLD_MOST])}{more}")


def _compared(name: str) -> str:
    """Return the name without case and in one form: the folder may be read where these do not count."""
    return composed(name).casefold()


def _steps(context: ToolContext, wishes: Sequence[Wish]) -> Iterator[AnyOperation]:
    """Return the renames in an order in which each name is free: a file in the way gets a temporary name first. The
    deepest folders come first, so that every path is still valid.
    """
    folders = sorted({wish.folder for wish in wishes}, key=lambda folder: (-_depth(folder), folder))
    for folder in folders:
        inside = [wish for wish in wishes if wish.folder == folder]
        wanted = {wish.name for wish in inside}
        now = {wish.path: wish.path for wish in inside}
        for n, wish in enumerate(inside):
            if wish.path.rpartition("/")[2] in wanted:
                aside = _free(context, folder, n)
                now[wish.path] = join(folder, aside)
                yield Rename(path=wish.path, new_name=aside, reason=context.reason)
        for wish in inside:
            yield Rename(path=now[wish.path], new_name=wish.name, reason=context.reason)


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0


def _free(context: ToolContext, folder: str, n: int) -> str:
    name = ASIDE.format(n=n)
    while context.exists(join(folder, name)):
        name += "-"
    return name
