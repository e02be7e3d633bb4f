"""The answer of the offline model: plain sentences from the results of the steps. Every number comes from a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from string import Formatter
from typing import Any

from typing_extensions import override

from libs.events import reasons
from libs.events.committee import Task
from libs.events.values import Observation, StepState, refused
from libs.skills import Categories
from libs.texts import SHOWN, count, joined, literal, name, names, number, quoted, size, visible

Data = Mapping[str, Any]
IN_A_LINE = 5
"""The most names of a list on one line; a longer list has a line for each."""
LISTED = 20
"""The most matches of a search that an answer lists."""
COMMIT, LIST = "workspace.commit", "manage-files.list"
CHANGED = frozenset({"deleted", "moved", "copied", "renamed", "created", "archive"})
FOUND = frozenset({"nodes", "groups", "entries", "directories"})
"""Fields of the results of changes, and of reads that may find the files for one."""
UNREAD = {
    "too_large": "too large",
    "locked": "with a password",
    "damaged": "damaged",
    "older_form": "in an older format",
    "no_words": "without text, perhaps scanned",
    "later": "timed out; try again",
    "unreadable": "cannot be read",
}
BOUNDS = {
    "larger_than": "over {:size}",
    "smaller_than": "under {:size}",
    "modified_after": "since {:.10}",
    "modified_before": "from before {:.10}",
    "containing": "that contain {:quoted}",
    "lacking": "that do not contain {:quoted}",
}
MEASURED = "{files:n file} in {directories:n folder} ({bytes:size})."
PACKED = "Packed {files:n file} ({bytes:size}) into {archive:name} ({packed_bytes:size})."
Text = tuple[str, str, str]
"""A field, the sentence if it holds something, and the sentence if not."""
TEXTS: Mapping[str, tuple[Text, ...]] = {
    "remove-duplicates.remove": (("files", "Removed {files:n duplicate file}.", "There are no duplicates."),),
    "organize-by-type.sort": (
        ("files", "Organized {files:n file} into {folders:n subfolder}.", "No files needed sorting."),
    ),
    "manage-files.get_metadata": (
        ("directories", MEASURED, "{files:n file} ({bytes:size})."),
        ("modified_at", "Last changed on {modified_at:.10}.", ""),
    ),
    "manage-files.delete": (
        ("files", "Deleted {files:n item}: {deleted:names}.", "Nothing to delete."),
        ("linked", "Other names (hard links) keep the content of {linked:names}.", ""),
    ),
    "manage-files.create": (("created", "Created {created:names}.", ""),),
    "manage-files.rename": (("renamed", "Renamed {renamed:arrows}.", ""),),
    "batch-rename.rename": (("renamed", "Renamed {renamed:n item}: {renamed:arrows}.", "No files needed renaming."),),
    "archive-files.pack": (
        ("files", PACKED, "Nothing to pack."),
        ("deleted", "Deleted the originals: {deleted:names}.", ""),
    ),
    "archive-files.contents": (
        ("entries", "The archive contains {files:n file} ({bytes:size}): {entries:names}.", "The archive is empty."),
    ),
    "archive-files.unpack": (("target", "Unpacked {files:n file} ({bytes:size}) into {target:name}.", ""),),
    "parse-content.parse": (
        ("format", "{format} file, {rows:n {unit}}.", ""),
        ("fields", "Fields: {fields:list}.", ""),
        ("partial", "Only the beginning was read; the file is longer.", ""),
        ("text", "It begins: {text:.200}", "No readable text was found."),
    ),
    "explain.explain": (
        ("path", "{path:name}: {kind}, {size:size}.", ""),
        ("differs", "Its content is something else: {looks_like}.", ""),
        ("modified_at", "Last changed on {modified_at:.10}.", ""),
        ("width", "{width:n} × {height:n pixel}.", ""),
        ("inside", "Contains: {inside:list}.", ""),
        ("begins", "It begins: {begins:.200}", ""),
    ),
}
"""The sentences of each bundled tool's result, from its own fields."""
REFUSED = "Nothing was changed: the changes were not approved."


def answer(task: Task, categories: Categories) -> tuple[str, ...]:
    """Return the sentences of the answer, each with the blank or line break before it."""
    seen, denied = [_clean(step) for step in task.observations], _all_refused(task.observations)
    told: list[str] = []
    for step in _worth_telling(seen, denied=denied):
        told += [one for one in _told(step, categories) if one and (one not in told or _changes(step))]
    told += [REFUSED] if denied else [*_kept(seen), *_left_out(seen)]
    before = " ".join(each.answer for each in task.history)
    told += [one for one in _left_alone(seen) if literal(one) not in before]
    told = [*map(literal, told)] or ["I did nothing."]
    return (told[0], *(f"{chr(10) if chr(10) in before else ' '}{one}" for before, one in pairwise(told)))


def _told(step: Observation, categories: Categories) -> list[str]:
    if step.state is not StepState.SUCCEEDED:
        why = f" ({reasons.plain(step.error)})" if step.error else ""
        return [f"Not done: {step.description.rstrip('.')}{why}."]
    if not step.data or step.tool not in {*TELLERS, *TEXTS}:
        return [step.summary or step.description]
    if sought := _mapping(step.data, "sought"):
        return [_none(step, sought, categories)]
    return TELLERS[step.tool](step.data) if step.tool in TELLERS else _filled(TEXTS[step.tool], step.data)


def _clean(step: Observation) -> Observation:
    """Escape what names, errors and contents may bring: an answer has no line that is not its own."""
    error = visible(step.error) if step.error else step.error
    text = {"description": visible(step.description), "summary": visible(step.summary), "error": error}
    return step.model_copy(update={**text, "data": _escaped(step.data), "left_alone": _escaped(step.left_alone)})


def _escaped(value: Any, key: str = "") -> Any:
    match value:
        case str():
            return visible(" ".join(value.split()) if key in ("text", "excerpt", "begins", "sentences") else value)
        case Mapping():
            return {visible(name): _escaped(held, str(name)) for name, held in value.items()}
        case list() | tuple():
            return [_escaped(held, key) for held in value]
        case _:
            return value


def _all_refused(seen: Sequence[Observation]) -> bool:
    """Return whether a user refused a step or the whole diff, so that nothing was changed."""
    settled = [step.data for step in seen if step.tool == COMMIT and isinstance(step.data, Mapping)]
    if settled:
        return not any(data.get("operations") or data.get("left_out") for data in settled)
    changed = any(_changes(step) and not _idle(step) for step in seen)
    return not changed and any(refused(step.state, step.error) for step in seen)


def _changes(step: Observation) -> bool:
    """Return whether the step changed something, or found that nothing had to change."""
    changed = isinstance(step.data, Mapping) and not CHANGED.isdisjoint(step.data)
    return step.tool != COMMIT and step.state is StepState.SUCCEEDED and (step.staged or changed)


def _idle(step: Observation) -> bool:
    told = step.data if isinstance(step.data, Mapping) else {"staged": step.staged}
    return not any(value for key, value in told.items() if key != "left_alone")


def _worth_telling(seen: Sequence[Observation], *, denied: bool) -> Iterator[Observation]:
    """Yield changes, failures, and the reads that served no later step."""
    empty = any(_mapping(step.data, "sought") for step in seen)
    for n, step in enumerate(seen):
        serves = not _mapping(step.data, "sought") and _serves(step, seen[n + 1 :])
        # The changes tell what was planned; after a partial approval only the commit's figures are true.
        superseded = (_changes(step) and _partly(seen)) or (empty and _idle(step))
        dropped = step.state is StepState.ROLLED_BACK or refused(step.state, step.error) or step.tool == COMMIT
        if not (serves or superseded or (denied and (dropped or _changes(step)))):
            yield step


def _partly(seen: Sequence[Observation]) -> bool:
    return any(step.tool == COMMIT and _number(step.data, "left_out") for step in seen)


def _serves(read: Observation, later: Sequence[Observation]) -> bool:
    """Return whether a later step uses what was found. A step that does not name its files counts as one that does."""
    if read.state is not StepState.SUCCEEDED or FOUND.isdisjoint(read.data or FOUND) or _changes(read):
        return False
    found = {*map(str, _list(read.data, "nodes"))}
    ended = (StepState.SUCCEEDED, StepState.ROLLED_BACK, StepState.DENIED)
    users = [step for step in later if step.state in ended and step.tool != COMMIT and not FOUND & {*(step.data or ())}]
    about = [_files_of(step.data) for step in users]
    return any(not found or not files or any(_within(path, found) for path in files) for files in about)


def _files_of(data: Any) -> set[str]:
    """Return the files of a step, by their old names."""
    told = [one for key in ("deleted", "moved", "copied", "renamed", "summaries", "counts") for one in _list(data, key)]
    told += [one] if (one := _mapping(data, "renamed")) else []
    return {str(one.get("from", one.get("path")) if isinstance(one, Mapping) else one) for one in told}


def _within(path: str, found: set[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:n]) in found for n in range(1, len(parts) + 1))


def _kept(seen: Sequence[Observation]) -> list[str]:
    """Say where deleted bytes are: a deletion frees nothing until the history is purged."""
    deletions = [step.data for step in seen if _changes(step) and _list(step.data, "deleted")]
    amount = sum(_number(data, "bytes") for data in deletions)
    days = next((given for data in deletions if isinstance(given := data.get("kept_days"), int | float)), None)
    freed = f", freed in {count(days, 'day')} or by `suma purge`" if days is not None else ""
    told = f"{size(amount)} kept in history{freed}."
    return [told] if amount and not _partly(seen) else []


def _left_out(seen: Sequence[Observation]) -> list[str]:
    """Report what the lists among the steps leave out, each once."""
    told: list[str] = []
    for data in (step.data for step in seen if "nodes" in (step.data or ())):
        if (more := _mapping(data, "deeper")) and not data.get("sought"):
            noun = {"any": "item", "directory": "folder"}.get(str(more.get("node_kind")), "file")
            further = f"{count(_number(more, 'count'), f'more matching {noun}')} in subfolders"
            told.append(f"{further} ({names(_list(more, 'folders'))}). To include them, add “in all subfolders”.")
        lines = [f"{name(path)} (“{line}”)" for path, line in _mapping(data, "denied").items()]
        told += [f"Left out, since it says otherwise: {joined(lines, 5)}." if lines else "", _unread(data)]
    return [*dict.fromkeys(filter(None, told))]


def _left_alone(seen: Sequence[Observation]) -> list[str]:
    """One sentence on the repositories, system files, odd names and unreadable items that no step touched."""
    found = [step.left_alone for step in seen if step.left_alone]
    repositories, odd, unread = (
        [*dict.fromkeys(path for data in found for path in _list(data, key))]
        for key in ("repositories", "odd", "unread")
    )
    files, ignored = (max((_number(data, key) for data in found), default=0) for key in ("files", "ignored"))
    known = f"{count(len(repositories), 'folder')} ({names(repositories)})" if repositories else ""
    system = count(files, "system or temporary file") if files else ""
    parts = [part for part in (known, count(ignored, "ignored file") if ignored else "", system) if part]
    whose = "its name" if len(odd) == 1 else "their names"
    strange = f"{count(len(odd), 'file')} with unprintable characters in {whose}: {names(odd)}" if odd else ""
    shut = f"{names(unread)}, which cannot be read" if unread else ""
    told = "; ".join(filter(None, (" and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))), strange, shut)))
    return [f"Left alone: {told}."] if told else []


class _Figures(Formatter):
    """Format fields by what they mean: `n file`, `size`, `name`, `names`, `list`, `arrows`, `quoted`."""

    @override
    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return args[key] if isinstance(key, int) else kwargs.get(key, "")

    @override
    def format_field(self, value: Any, spec: str) -> str:
        kind, _, noun = spec.partition(" ")
        several = value if isinstance(value, list) else [value]
        match kind:
            case "n":
                amount = len(value) if isinstance(value, list) else int(value or 0)
                return count(amount, noun) if noun else number(amount)
            case "size":
                return size(int(value or 0))
            case "name":
                return "this folder" if value == "." else name(value)
            case "names":
                return names([one["path"] if isinstance(one, Mapping) else one for one in several])
            case "arrows":
                return joined([f"{name(one['from'])} → {name(one['to'])}" for one in several])
            case "list":
                return joined(several)
            case "quoted":
                return quoted(value)
            case _:
                return str(super().format_field(value, spec))


FIGURES = _Figures()


def _filled(texts: Sequence[Text], data: Data) -> list[str]:
    return [FIGURES.vformat(full if data.get(key) else bare, (), data) for key, full, bare in texts]


def _none(step: Observation, sought: Data, categories: Categories) -> str:
    """Say that nothing was found: of what, and where; what is in subfolders is a question."""
    what, places = _chosen(sought, categories), [*filter(lambda place: place != ".", _places(sought))]
    where = f"in {', '.join(map(quoted, places))}" if places else "here"
    left = names(_list(sought, "exclude"))
    where += f", without {left}" if left else ""
    if step.tool == "remove-duplicates.scan":
        return f"No duplicate {what} {where}."
    if more := _mapping(step.data, "deeper"):
        folders = names(_list(more, "folders"))
        return f"No {what} {where}, but {number(_number(more, 'count'))} in subfolders ({folders}): all of these?"
    return f"No {what} {where}{', nor in subfolders' if sought.get('recursive') else ''}."


def _places(args: Data) -> list[Any]:
    return _list(args, "folders") or [args.get("path", ".")]


def _chosen(args: Data, categories: Categories) -> str:
    """Say what a listing chooses: `PDF files over 5 MB`."""
    patterns = [*map(str, _list(args, "include"))]
    noun = {"directory": "folders", "any": "files or folders"}.get(str(args.get("node_kind")), "files")
    if patterns:
        parts = [pattern.rpartition("*.") for pattern in patterns]
        plain = all(mark and ending.isalnum() and head[:1] in ("", "*") for head, mark, ending in parts)
        endings = [*dict.fromkeys(ending for *_, ending in parts)] if plain else []
        kind = next((key.lower() for key, held in categories.extensions.items() if plain and held == {*endings}), "")
        # "*a*b*" and "*b*a*" are one thing: names with both words.
        words = [one.replace("*", " ").split() for one in reversed([head for head, *_ in parts] if plain else patterns)]
        alike = {frozenset(each): " ".join(each) for each in words if each}
        ends = joined([ending.upper() for ending in endings], 5)
        noun = (kind if kind.endswith("s") else f"{kind or ends} files") if plain else noun
        noun += f" like {joined([*map(quoted, alike.values())], 5)}" if alike else ""
    bounds = (FIGURES.format(text, args[key]) for key, text in BOUNDS.items() if args.get(key) is not None)
    return " ".join((f"{'empty ' if args.get('empty') else ''}{noun}", *bounds))


def _scanned(data: Data) -> list[str]:
    groups = _list(data, "groups")
    head = FIGURES.vformat(
        "Found {groups:n group} of identical files: {files:n} can be removed ({bytes:size}).", (), data
    )
    alike = [names(paths) for group in groups if (paths := _list(group, "paths"))]
    return [_lines(head, alike)] if groups else ["There are no duplicates."]


def _reported(data: Data) -> list[str]:
    kinds = sorted(_mapping(data, "by_category").items(), key=lambda kind: (-_number(kind[1], "files"), kind[0]))
    counted = [FIGURES.format("{} {:n} ({:size})", kind, held["files"], held["bytes"]) for kind, held in kinds]
    largest = [FIGURES.format("{path:name} ({size:size})", **big) for big in _list(data, "largest")[:3]]
    copies = _mapping(data, "duplicates")
    return [
        *_filled(TEXTS["manage-files.get_metadata"], data),
        f"By kind: {', '.join(counted)}." if counted else "",
        f"Largest: {', '.join(largest)}." if largest else "",
        FIGURES.format("Duplicates: {files:n file} ({bytes:size}).", **copies) if copies.get("files") else "",
    ]


def _listed(data: Data) -> list[str]:
    nodes, sizes, by = _list(data, "nodes"), _list(data, "sizes"), _mapping(data, "by")
    if not nodes:
        return ["Nothing was found."]
    whole, folders = _number(data, "count") or len(nodes), _number(data, "folders")
    head = " and ".join(
        count(amount, noun) for amount, noun in ((whole - folders, "file"), (folders, "folder")) if amount
    )
    beside = [*map(size, sizes)] or _list(data, "days")
    shown = [f"{path} ({beside[n]})" if n < len(beside) else path for n, path in enumerate(map(name, nodes))]
    return [
        f"{head}: {', '.join(shown)}." if whole <= IN_A_LINE else _lines(f"{head}:", shown, len(shown), whole=whole),
        f"Together: {size(sum(sizes))}." if len(sizes) == whole > 1 else "",
        f"These {'do not ' if by.get('lacks') else ''}contain {quoted(by['word'])}." if by else "",
    ]


def _searched(data: Data) -> list[str]:
    matches, missing = _list(data, "matches"), [quoted(word) for word in _list(data, "missing")]
    lines = [f"{name(match['path'])}{_lines_of(match)}: {match.get('excerpt', '')}".rstrip(": ") for match in matches]
    stale, whole = _number(data, "stale"), _number(data, "count") or len(matches)
    built = _mapping(data, "by_meaning")
    return [
        _lines(f"Found in {count(whole, 'file')}:", lines, LISTED, whole=whole) if matches else "Nothing was found.",
        _besides("With only some of the words", _mapping(data, "fewer")),
        _besides("Also in other files", _mapping(data, "elsewhere")),
        f"No file name or content matches {', '.join(missing)}." if missing else "",
        _unread(data),
        f"{count(stale, 'file')} changed since they were indexed, so this may be incomplete." if stale else "",
        FIGURES.format("Indexing goes on: {files} of {of:n file} can be found by their meaning.", **built)
        if built
        else "",
    ]


def _lines_of(match: Data) -> str:
    """Return `, line 3` or `, lines 3–5` where an excerpt is known to be."""
    first, last = (*_list(match, "lines"), None, None)[:2]
    return "" if first is None else f", line {first}" if first == last else f", lines {first}–{last}"


def _besides(head: str, data: Data) -> str:
    paths = [quoted(path) for path in _list(data, "paths")]
    return f"{head}: {joined([*paths, *[''] * (_number(data, 'count') - len(paths))], len(paths))}." if paths else ""


def _unread(data: Data) -> str:
    unread = _mapping(data, "unread")
    whole, paths = _number(unread, "count"), _list(unread, "paths")
    why = [(UNREAD[key], int(many)) for key, many in sorted(_mapping(unread, "why").items()) if key in UNREAD]
    told = ", ".join(text if len(why) == 1 else f"{number(many)} {text}" for text, many in why)
    named = joined([*map(name, paths), *[""] * (whole - len(paths))], len(paths)) if paths else ""
    return f"Skipped {count(whole, 'document')} ({told}){named and f': {named}'}." if told else ""


def _moved(data: Data) -> list[str]:
    places = {_parent(move["to"]) for move in _list(data, "moved")}
    into = f" into {FIGURES.format('{:name}', places.pop() or '.')}" if len(places) == 1 else ""
    return [f"Moved {count(_number(data, 'files'), 'item')}{into}." if data.get("files") else "Nothing to move."]


def _copied(data: Data) -> list[str]:
    """Name the folder if most keep their names, else every new name."""
    copied, places = _list(data, "copied"), {_parent(copy["to"]) for copy in _list(data, "copied")}
    renamed = [copy for copy in copied if copy["from"].rpartition("/")[2] != copy["to"].rpartition("/")[2]]
    what = FIGURES.vformat("Copied {files:n file}" if data.get("files") else "Copied {folders:n folder}", (), data)
    what = f"{what} ({size(_number(data, 'bytes'))})"
    if len(places) != 1 or len(renamed) == len(copied):
        return [FIGURES.format("{}: {:arrows}.", what, copied) if copied else "Nothing to copy."]
    taken = FIGURES.format("Names that were taken: {:arrows}.", renamed) if renamed else ""
    return [FIGURES.format("{} into {:name}.", what, places.pop() or "."), taken]


def _parsed(data: Data) -> list[str]:
    form = str(data.get("format", ""))
    unit = "line" if form in ("plain text", "Markdown") else data.get("unit", "row")
    whole = {"format": form[:1].upper() + form[1:], "unit": unit, "partial": data.get("complete") is False}
    return _filled(TEXTS["parse-content.parse"], {**data, **whole})


def _explained(data: Data) -> list[str]:
    holds = {"width": 0, "height": 0, "begins": "", "files": 0, **_mapping(data, "holds")}
    folder = data.get("node_kind") == "directory"
    kind = f"folder with {count(holds['files'], 'file')}" if folder else data.get("kind", "")
    inside = _list(holds, "headings") or _list(holds, "fields") or _list(holds, "names")
    more = {"kind": kind, "inside": inside, "differs": data.get("agrees") is False}
    return _filled(TEXTS["explain.explain"], {**holds, **data, **more})


def _counted(data: Data) -> list[str]:
    counts, unread = _list(data, "counts"), _list(data, "unread")
    part = " (only the beginning was read)"
    told = [
        f"{name(one['path'])}: {count(one['rows'], one['unit'])}{part if one.get('complete') is False else ''}"
        for one in counts
    ]
    units = {one["unit"] for one in counts}
    whole = f"Together: {count(_number(data, 'rows'), units.pop())}." if len(told) > 1 and len(units) == 1 else ""
    rows = _lines("Counted:", told) if len(told) > 1 else "".join(f"{one}." for one in told)
    return [rows, whole, f"No rows to count in {names(unread)}." if unread else "" if told else "Nothing to count."]


def _summarised(data: Data) -> list[str]:
    found, silent = _list(data, "summaries"), _list(data, "without_text")
    why = {str(path): f" ({reason})" for path, reason in _mapping(data, "unread").items()}
    told = [
        _lines(f"{name(one['path'])} ({count(_number(one, 'words'), 'word')}):", _list(one, "sentences"), 50)
        for one in found
    ]
    unread = joined([f"{name(path)}{why.get(path, '')}" for path in silent])
    return [*told, f"No text to summarize in {unread}." if silent else "" if told else "Nothing to summarize."]


def _committed(data: Data) -> list[str]:
    made, left = _number(data, "operations"), _number(data, "left_out")
    none = "Nothing was changed: everything was left out." if left else REFUSED
    figures = _figures(data) if left else f"{count(made, 'change')} made."
    skipped = f"{count(left, 'change')} left out." if left and made else ""
    return [figures if made else none, skipped, *map(str, _list(data, "warnings"))]


def _figures(data: Data) -> str:
    """Return what a commit did, from its own figures: those of the steps are of all that was proposed."""
    into = f" into {count(_number(data, 'folders'), 'folder')}" if _number(data, "folders") else ""
    amounts = {verb: _number(data, key) for key, verb in FIGURES_OF.items()}
    told = [f"{verb} {count(n, 'item')}{into if verb == 'moved' else ''}" for verb, n in amounts.items() if n]
    return f"{', '.join(told).capitalize()}." if told else f"{count(_number(data, 'operations'), 'change')} made."


FIGURES_OF = {
    "deleted": "deleted",
    "overwritten": "overwrote",
    "changed": "changed",
    "moved": "moved",
    "created": "created",
}


TELLERS: Mapping[str, Callable[[Data], list[str]]] = {
    "remove-duplicates.scan": _scanned,
    "analyze-directory.report": _reported,
    "search-files.search": _searched,
    "search-files.find": _listed,
    LIST: _listed,
    "manage-files.move": _moved,
    "manage-files.copy": _copied,
    "parse-content.parse": _parsed,
    "parse-content.count": _counted,
    "explain.explain": _explained,
    "summarize.summarize": _summarised,
    COMMIT: _committed,
}
"""The results whose sentences need more than their fields; the summary of any other tool is repeated."""


def _lines(head: str, lines: Sequence[object], most: int = SHOWN, *, whole: int = 0) -> str:
    """Return a heading and a line for each of the first; `whole`: how many there are in all."""
    more = (whole or len(lines)) - len(lines[:most])
    return "\n".join(
        (head, *(f"- {literal(str(line))}" for line in lines[:most]), *([f"- and {number(more)} more"] if more else []))
    )


def _number(data: Any, key: str) -> int:
    value = data.get(key, 0) if isinstance(data, Mapping) else 0
    return int(value) if isinstance(value, int | float) else 0


def _list(data: Any, key: str) -> list[Any]:
    value = data.get(key) if isinstance(data, Mapping) else None
    return list(value) if isinstance(value, list | tuple) else []


def _mapping(data: Any, key: str) -> Data:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _parent(path: object) -> str:
    return str(path).rpartition("/")[0]
